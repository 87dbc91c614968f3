"""Conflicts between beliefs: precision, recall, F1 on the labelled pairs of fixtures/belief_*.json and beliefs/.

    python benchmarks/conflicts.py [--split dev|test|fresh|blind|files|plain|contrast|unseen|strangers|written|judge] [--show-errors]

Each pair is judged alone, as an agent with these two beliefs and no other. Rows are all pairs, each split,
same and different subjects, and each kind; a kind of conflict has only a recall, another kind only false
alarms. dev, test and fresh were tuned on, one after the other; blind was written by somebody who had not seen the
detector. files are whole Beliefs.md files with two beliefs each, in many shapes, written before the detector was
opened. strangers are 240 files by two writers who had not seen the detector: read its row first. No pair of blind,
files and strangers was looked at, but their totals were, while rules were chosen. written are 60 files from before the
detector was opened; at first sight precision was .917 and recall .733 on them, and their errors were looked at then. judge are 40 files
written after the last change of a rule, by somebody who had not seen the detector.
Expect less of other texts than any of these figures.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from mabos_cli.core.mind.mind import Belief
from mabos_cli.formats.mind.attitudes import parse_beliefs

FIXTURES = Path(__file__).parent.parent / "fixtures"
SPLITS = ("dev", "test", "fresh", "blind", "files", "plain", "contrast", "unseen", "strangers", "written", "judge")
Pair = dict[str, Any]


def judge(pair: Pair) -> bool:
    """Whether the detector sees a conflict between the two beliefs of a pair. All that this script knows
    about the detector is here: its import, how a belief is made from {subject, text, certainty, updated}, and
    what its answer means (a list of conflicts, empty when there are none)."""
    from mabos_cli.core.mind.conflicts import find_conflicts  # here, so that --help works without it

    return bool(find_conflicts(beliefs_of(pair), floor=0.6))


def beliefs_of(pair: Pair) -> list[Belief]:
    """Returns the two beliefs of a pair: those of its file, or its two sides."""
    if "file" in pair:
        return parse_beliefs(pair["file"], "Beliefs.md")[0]
    return [
        Belief(side["subject"], side["text"], side["certainty"], side["updated"], line=line)
        for line, side in enumerate((pair["a"], pair["b"]), 1)
    ]


def read_pairs() -> list[Pair]:
    """Returns all labelled pairs, each with its split."""
    pairs: list[Pair] = json.loads((FIXTURES / "belief_pairs.json").read_text("utf-8"))
    for split in ("files", "strangers", "written", "judge"):
        written = json.loads((FIXTURES / f"belief_{split}.json").read_text("utf-8"))
        pairs += [{"split": split} | each for each in written]
    for path in sorted((FIXTURES / "beliefs").glob("*.txt")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            kind, *told = line[1:].split("|")
            a, b = (
                {"subject": s, "text": t, "certainty": 0.9, "updated": "2026-01-02"} for s, t in (told[:2], told[2:])
            )
            found = {"id": f"{path.stem}-{number}", "split": path.stem, "kind": kind, "conflict": line[0] == "+"}
            pairs.append(found | {"a": a, "b": b})
    return pairs


class Score(NamedTuple):
    """How verdicts compare with labels. A rate with nothing to count is None."""

    hits: int = 0
    false_alarms: int = 0
    misses: int = 0
    quiet: int = 0

    @property
    def precision(self) -> float | None:
        return share(self.hits, self.hits + self.false_alarms)

    @property
    def recall(self) -> float | None:
        return share(self.hits, self.hits + self.misses)

    @property
    def f1(self) -> float | None:
        return share(2 * self.hits, 2 * self.hits + self.false_alarms + self.misses)


def share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def score(judged: Iterable[tuple[Pair, bool]]) -> Score:
    """The counts over pairs and their verdicts."""
    times = Counter((pair["conflict"], verdict) for pair, verdict in judged)
    return Score(times[True, True], times[False, True], times[True, False], times[False, False])


def counts(name: str, got: Score) -> str:
    return f"{name:<22}{sum(got):>6}{got.hits:>6}{got.misses:>8}{got.false_alarms:>14}"


def cell(rate: float | None) -> str:
    return f"{'-' if rate is None else format(rate, '.3f'):>11}"


def row(name: str, got: Score) -> str:
    return counts(name, got) + "".join(map(cell, (got.precision, got.recall, got.f1)))


def kind_row(name: str, got: Score) -> str:
    """A row of one kind, which has one label only: the precision and F1 of that would mislead."""
    return counts(name, got) + "".join(map(cell, (None, got.recall, None)))


def report(judged: list[tuple[Pair, bool]]) -> str:
    """The table: everything, by split, by whether the subjects are the same, and by kind."""
    lines = [
        f"{'':<22}{'pairs':>6}{'hits':>6}{'misses':>8}{'false alarms':>14}{'precision':>11}{'recall':>11}{'F1':>11}",
        row("all", score(judged)),
    ]

    def rows(key: Callable[[Pair], str], line: Callable[[str, Score], str] = row) -> None:
        lines.append("")
        for name in dict.fromkeys(key(pair) for pair, _ in judged):
            lines.append(line(name, score(each for each in judged if key(each[0]) == name)))

    rows(lambda pair: pair["split"])
    rows(
        lambda pair: (
            pair.get("shape") or ("same" if len({pair[s]["subject"] for s in "ab"}) < 2 else "different") + " subject"
        )
    )
    rows(lambda pair: pair["kind"], kind_row)
    return "\n".join(lines)


def errors(judged: list[tuple[Pair, bool]]) -> str:
    """Each wrong verdict, with both beliefs."""
    lines = []
    for pair, verdict in judged:
        if verdict != pair["conflict"]:
            lines.append(f"{pair['id']} {pair['kind']} {pair['split']}: {'false alarm' if verdict else 'missed'}")
            lines += [f"    {side.subject} | {side.text} ({side.certainty})" for side in beliefs_of(pair)]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=SPLITS, help="only these pairs")
    parser.add_argument("--show-errors", action="store_true", help="list the wrong verdicts")
    args = parser.parse_args()
    judged = [(pair, judge(pair)) for pair in read_pairs() if args.split in (None, pair["split"])]
    print(report(judged))
    if args.show_errors:
        print("\n" + (errors(judged) or "no errors"))


if __name__ == "__main__":
    main()
