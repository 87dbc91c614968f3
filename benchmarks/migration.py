"""Old notes as memories: how much of them becomes items, how many types are right, what INDEX.md and the domain files cost beside the
notes, and how much text packs and recalls over the migrated workspace repeat.

    python benchmarks/migration.py [FOLDER...]

Each FOLDER holds MEMORY.md and memory/*.md; by default those of fixtures/notes, of which labels.json knows some types.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from timing import MABOS

NOTES = Path(__file__).parent.parent / "fixtures" / "notes"
NOW = "2026-02-24T14:30:00Z"
MARK = re.compile(r"^\W*(?:\d+[.)]\s+)?(?:\*\*)?(?:[A-Za-z]+[ -]?[A-Za-z]*(?:\*\*)?:(?:\*\*)?\s+(?=\S))?")
PROPER = re.compile(r"\b[A-Z]\w+(?: [A-Z]\w+)*\b")


def run(root: Path, *words: str) -> str:
    argv = [MABOS, "-w", str(root), *words]
    done = subprocess.run(
        argv, capture_output=True, text=True, check=True, env={"MABOS_NOW": NOW, "PATH": "/usr/bin:/bin"}
    )
    return done.stdout


def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def statements(path: Path, boilerplate: list[str]) -> list[str]:
    """The written lines of a file that are no heading, rule, table head, front matter or boilerplate, without number and label."""
    text = re.sub(r"\A---\n.*?\n---\n", "", path.read_text("utf-8"), flags=re.DOTALL)
    lines = (line for line in text.split("\n") if not re.match(r"\s*(?:#|\||```|<!--)", line))
    said = (MARK.sub("", line) for line in lines if not any(mark in line for mark in boilerplate))
    return [line for line in said if len(words_of(line)) > 1]


def share_kept(files: list[Path], items: list[dict], boilerplate: list[str]) -> tuple[float, list[str]]:
    """The share of statements whose words are, nine of ten, in one item; and those that are not."""
    held = [words_of(f"{item['content']} {' '.join(item['tags'])}") for item in items]
    said = [line for path in files for line in statements(path, boilerplate)]
    lost = [x for x in said if not any(len(words_of(x) & each) >= 0.9 * len(words_of(x)) for each in held)]
    return 1 - len(lost) / len(said), lost


def share_typed(labels: dict[str, list[str]], items: list[dict]) -> tuple[int, int, list[str]]:
    """How many labelled lines became items of their type, of how many, and those that did not."""
    wrong, total = [], 0
    for kind, fragments in labels.items():
        for fragment in fragments:
            total += 1
            found = [item["type"] for item in items if fragment in item["content"]]
            if kind not in found:
                wrong.append(f"{fragment}: {kind}, not {', '.join(found) or 'found'}")
    return total - len(wrong), total, wrong


def repeated(text: str) -> float:
    """The share of the words of a text that stand in a run of eight that was there before."""
    said = re.findall(r"\w+", re.sub(r"(?m)^\[[^\]]*\] \S+(?: \d{4}-\d\d-\d\d)?(?: untrusted)?:", "", text))
    runs, again = set(), set()
    for at in range(len(said) - 7):
        run = tuple(said[at : at + 8])
        again |= set(range(at, at + 8)) if run in runs else set()
        runs.add(run)
    return len(again) / len(said) if said else 0.0


def questions(items: list[dict]) -> list[str]:
    """Names and types that the items hold: one question for each of forty."""
    names = dict.fromkeys(name for item in items for name in PROPER.findall(item["content"]) if len(name) > 4)
    return [f"what about {name}" for name in [*names][:40]]


def tokens(*paths: Path) -> int:
    return sum(-(-len(path.read_text("utf-8")) // 4) for path in paths)


def measure(folder: Path, labels: dict[str, list[str]], root: Path) -> None:
    run(root, "init", "-q")
    agent = root / "agents" / "main"
    shutil.copytree(folder, agent, dirs_exist_ok=True, ignore=shutil.ignore_patterns("README.md"))
    files = [agent / "MEMORY.md", *sorted((agent / "memory").glob("*.md"))]
    before = {path: path.read_bytes() for path in files}
    cost = tokens(*files)
    run(root, "migrate", "-q")
    assert {path: path.read_bytes() for path in files} == before, "the notes were changed"
    items = json.loads((agent / "memory-store.json").read_text("utf-8"))["long_term"]
    boilerplate = labels.pop("boilerplate", [])
    kept, lost = share_kept(files, items, boilerplate)
    right, total, wrong = share_typed(labels, items)
    index, domains = tokens(agent / "memory" / "INDEX.md"), tokens(*(agent / "memory" / "domains").glob("*.md"))
    run(root, "hierarchy", "build", "-q")
    asked = questions(items)
    packs = [repeated(run(root, "context", "pack", question, "--budget", "600")) for question in asked]
    recalls = [repeated(run(root, "recall", question, "-n", "10")) for question in asked]
    print(f"{folder.name}: {cost} tokens of notes in {len(files)} files, {len(items)} items")
    print(f"  statements in items   {kept:6.1%}   {f'not: {lost[:5]}' if lost else 'boilerplate aside'}")
    if total:
        print(
            f"  types as labelled     {right / total:6.1%}   {right} of {total}{''.join(f'{chr(10)}    {each}' for each in wrong)}"
        )
    print(
        f"  INDEX.md {index} + domains/ {domains} = {(index + domains) / cost:.2f} of the notes; INDEX.md alone {index / cost:.2f}"
    )
    print(
        f"  repeated in packs     {sum(packs) / len(packs):6.1%}   in recalls {sum(recalls) / len(recalls):.1%}, {len(asked)} questions"
    )


def main() -> None:
    labels = json.loads((NOTES / "labels.json").read_text("utf-8"))
    for folder in [Path(name) for name in sys.argv[1:]] or [NOTES / name for name in labels]:
        with tempfile.TemporaryDirectory() as place:
            measure(folder, labels.get(folder.name, {}), Path(place))


if __name__ == "__main__":
    main()
