"""Share of the entries in Markdown files of a mind that the readers list with the right id, title, status, priority and date.

    python benchmarks/reading.py FOLDER [--show-errors]

Files count whose names begin with beliefs, desires, goals, intentions, plan or end with playbooks.md, wherever they
are below FOLDER. What should be read is found here by a scan of lines that shares nothing with the readers: headings
that begin with an id, bullets and rows below headings that do not. Also checked: each file renders to the same bytes.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mabos_cli.formats.mind.attitudes import parse_attitudes, parse_beliefs
from mabos_cli.formats.mind.cognitive import parse_cognitive

KINDS = {"beliefs": "belief", "desires": "desire", "goals": "goal", "intentions": "intention", "plan": "plan"}
HEADING = re.compile(r"(#+) +(.*?) *$")
ID = re.compile(r"([A-Z]+(?:-[A-Za-z0-9]+)*-\d+): +(.*)")
WORDS = {"Critical": 0.95, "High": 0.8, "Medium": 0.5, "Low": 0.2}
KEY = re.compile(r"- \*\*(.+?):\*\* *(.*)")
ITEM = re.compile(r"(?:-|\d+\.) +(.*)")


class Label(NamedTuple):
    """One entry as a reader should list it; steps only of plans."""

    line: int
    id: str
    title: str
    status: str = ""
    priority: str = ""
    date: str = ""
    steps: int = 0


def find_labels(kind: str, text: str) -> Iterator[Label]:
    """Yields what a person would call the entries of a file."""
    named: Label | None = None
    is_log, in_steps, level = False, False, 0
    header = ""
    for number, line in enumerate(text.splitlines(), 1):
        heading, item = HEADING.match(line), ITEM.match(line)
        if heading:
            found = ID.match(heading[2])
            in_steps = heading[2].startswith("Steps")
            if named and (found or len(heading[1]) <= level):
                yield named
                named = None
            is_log = bool(re.search(r"\bLog\b|Hierarchy", heading[2]))
            if found:
                named, level = Label(number, found[1], found[2]), len(heading[1])
        elif named:
            named = with_line(named, line, is_step=bool(item) and (in_steps or line[0].isdigit()))
        elif line.startswith("|"):
            if header and not is_log and not re.fullmatch(r"[|\s:-]+", line):
                yield row_label(number, *(split_row(each) for each in (header, line)))
            header = header or line
        elif item and not is_log and kind in ("belief", "goal"):
            yield Label(number, "", item[1])
        header = header if line.startswith("|") else ""
    if named:
        yield named


def split_row(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def row_label(number: int, names: list[str], cells: list[str]) -> Label:
    """Returns a row as a label: by the names of its columns where one is the id, else its first two cells."""
    if names[0] != "ID":
        return Label(number, "", ": ".join(cells[:2]))
    row = dict(zip(names, cells, strict=False))
    priority = str(WORDS.get(row.get("Priority", ""), row.get("Priority", "")))
    return Label(number, cells[0], cells[1], row.get("Status", ""), priority)


def with_line(label: Label, line: str, is_step: bool) -> Label:
    """Returns a label with what one more line of its section says."""
    key = KEY.match(line)
    if key and key[1] in ("Status", "Priority Score", "Priority"):
        return label._replace(**{key[1].split()[0].lower(): key[2]})
    if key and key[1] in ("Adopted", "Started", "Created", "Updated"):
        return label._replace(date=key[2])
    return label._replace(steps=label.steps + is_step)


def read_entries(kind: str, text: str) -> dict[int, Label]:
    """Returns what the readers list, by line."""
    if kind == "belief":
        beliefs = [(b, f"{b.subject}: {b.text}" if b.text else b.subject) for b in parse_beliefs(text, "")[0]]
        return {b.line: Label(b.line, b.id, title, b.status, "", b.updated) for b, title in beliefs}
    found = parse_attitudes(text, kind, "")[0]
    return {
        a.line: Label(
            *(a.line, a.id, a.title, a.status, "" if a.priority is None else f"{a.priority:g}", a.updated, len(a.steps))
        )
        for a in found
    }


def is_same(label: Label, read: Label | None) -> bool:
    """Returns whether an entry was read right. A status that only a heading gives is not judged."""
    if read is None or (label.id, plain(label.title)) != (read.id, plain(read.title)):
        return False
    priority = f"{float(label.priority):g}" if label.priority else ""
    status = read.status if label.status else ""
    return (label.status, priority, label.date, label.steps) == (status, read.priority, read.date, read.steps)


def plain(text: str) -> str:
    return " ".join(re.sub(r"[*_`\\]", "", text).split())


def kind_of(path: Path) -> str:
    name = path.name.lower()
    return "plan" if name.endswith("playbooks.md") else next((k for n, k in KINDS.items() if name.startswith(n)), "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show-errors", action="store_true", help="list what is missing, wrong or too much")
    args = parser.parse_args()
    there, right, extra, files, same = Counter[str](), Counter[str](), Counter[str](), Counter[str](), 0
    for path in sorted(args.folder.rglob("*.md")):
        kind = kind_of(path)
        if not kind:
            continue
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        labels, entries = {label.line: label for label in find_labels(kind, text)}, read_entries(kind, text)
        wrong = [label for label in labels.values() if not is_same(label, entries.get(label.line))]
        more = [entry for line, entry in entries.items() if line not in labels]
        files[kind] += 1
        there[kind] += len(labels)
        right[kind] += len(labels) - len(wrong)
        extra[kind] += len(more)
        same += parse_cognitive(text).render() == text
        for label in wrong if args.show_errors else ():
            print(f"{path}:{label.line}: expected {label[1:]}, read {entries.get(label.line, ('',))[1:]}")
        for entry in more if args.show_errors else ():
            print(f"{path}:{entry.line}: not an entry: {entry[1:]}")
    print(f"{'kind':<12}{'files':>7}{'entries':>9}{'right':>7}{'share':>8}{'too many':>10}")
    for kind in KINDS.values():
        share = f"{right[kind] / there[kind]:.3f}" if there[kind] else "-"
        print(f"{kind:<12}{files[kind]:>7}{there[kind]:>9}{right[kind]:>7}{share:>8}{extra[kind]:>10}")
    print(f"same bytes: {same} of {files.total()} files")


if __name__ == "__main__":
    main()
