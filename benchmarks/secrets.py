"""Secrets: what the rules find of the labelled values in fixtures/secrets.json, what they find in benign lines, how fast.

    python benchmarks/secrets.py [--set FILE] [--brief]

A value counts as found when every character of it would be replaced; of values above 200 characters, such as whole
private keys, nine tenths are enough. Misses are listed by kind and number, false alarms by line and rule; no value is
ever printed. The set was written by people who had not seen the rules. Another set may be measured too: samples with
`line` and `parts` as in the fixture, or with `text` and `secret`.
"""

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from mabos_cli.core.language.secrets import find_secrets

SET = Path(__file__).parent.parent / "fixtures" / "secrets.json"


class Findings(NamedTuple):
    """What the rules make of the set: numbers of found and missed values by kind, and alarms on benign lines."""

    found: dict[str, list[int]]
    missed: dict[str, list[int]]
    alarms: list[tuple[int, str]]
    benign: int

    @property
    def recall(self) -> float:
        found, missed = (sum(map(len, part.values())) for part in (self.found, self.missed))
        return found / (found + missed)


def line_of(sample: dict[str, Any]) -> tuple[str, int, int]:
    """The line of a sample, and where its value starts and ends."""
    if "text" in sample:
        start = sample["text"].index(sample["secret"])
        return sample["text"], start, start + len(sample["secret"])
    before, after = sample["line"].split("{secret}", 1)
    value = "".join(sample["parts"])
    return before + value + after.replace("{secret}", value), len(before), len(before) + len(value)


def is_found(line: str, start: int, end: int) -> bool:
    """Whether what is found in a line covers the value from start to end, or nearly all of a long one."""
    covered = sum(max(0, min(end, secret.end) - max(start, secret.start)) for secret in find_secrets(line))
    return covered == end - start or (end - start > 200 and covered >= 0.9 * (end - start))


def judge(labelled: dict[str, Any]) -> Findings:
    """The findings on a labelled set."""
    outcome: dict[bool, dict[str, list[int]]] = {True: defaultdict(list), False: defaultdict(list)}
    for number, sample in enumerate(labelled["secrets"]):
        outcome[is_found(*line_of(sample))][sample["kind"]].append(number)
    alarms = [(number, secret.kind) for number, line in enumerate(labelled["benign"]) for secret in find_secrets(line)]
    return Findings(outcome[True], outcome[False], alarms, len(labelled["benign"]))


def speed(lines: list[str]) -> float:
    """Milliseconds of CPU time for each KiB of text, the best of five."""
    pages = ["\n".join(lines[at : at + 16]) for at in range(0, len(lines), 16)]
    best = float("inf")
    for _ in range(5):
        started = time.process_time()
        for page in pages:
            find_secrets(page)
        best = min(best, time.process_time() - started)
    return best * 1000 / (sum(len(page.encode("utf-8")) for page in pages) / 1024)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--set", type=Path, default=SET, metavar="FILE")
    options.add_argument("--brief", action="store_true", help="totals only, no kinds and lines")
    given = options.parse_args()
    labelled = json.loads(given.set.read_text("utf-8"))
    got = judge(labelled)
    for kind in () if given.brief else sorted({*got.found, *got.missed}):
        found, missed = len(got.found.get(kind, ())), got.missed.get(kind, [])
        listed = f"  missed {', '.join(map(str, missed))}" if missed else ""
        print(f"{kind:<32}{found:>4} of {found + len(missed):<4}{listed}")
    print(f"{'recall':<32}{got.recall:.3f} of {len(labelled['secrets'])} values")
    print(f"{'false alarms':<32}{len({number for number, _ in got.alarms})} of {got.benign} benign lines")
    for number, kind in () if given.brief else got.alarms:
        print(f"    line {number}: {kind}")
    mixed = [line_of(sample)[0] for sample in labelled["secrets"]]
    print(f"{'ms per KiB, benign lines':<32}{speed(labelled['benign']):.3f}")
    print(f"{'ms per KiB, lines with secrets':<32}{speed(mixed):.3f}")


if __name__ == "__main__":
    main()
