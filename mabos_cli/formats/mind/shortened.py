"""Shortens a long cognitive file to what tells where a new entry goes, and carries an edit of that back into the whole file.

Of a long run of entries of one shape (rows of a table, sections of one level) only the first and the last ones are kept, so that
reading what is left takes no longer in a larger file. Nothing is cut out that could say more than its entries do: a table, code, a
comment, a heading of a revision log.
"""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from mabos_cli.core.records import NamedTuple

_LONG = 50_000  # characters; a shorter file is read whole
_KEPT = 8  # entries at each end of a run
# Rows of tables, and items of flat lists.
_RUNS = {lead: re.compile(rf"(?:\n{re.escape(lead)}.*){{{3 * _KEPT},}}") for lead in ("|", "- ", "* ")}
_LINE = re.compile(r"[^\n]*\n|[^\n]+$")
_MORE = ("```", "~~~", "<!--", "\n|", "\n |", "\n  |")
_LOG = re.compile(r"(?i)\b(?:log|history|revisions?|changes)\b")


class Shortened(NamedTuple):
    """A text without the middle of its long runs, and the cuts: each with its place in the short text and how much is left out."""

    text: str
    cuts: tuple[tuple[int, int], ...]

    def place(self, at: int) -> int:
        """Returns where a place of the short text is in the whole one."""
        return at + sum(size for cut, size in self.cuts if cut <= at)

    def line(self, whole: str, number: int) -> int:
        """Returns the line of the whole text, counted from one, that a line of the short one is."""
        at = -1
        for _ in range(number):
            at = self.text.index("\n", at + 1)
        return whole.count("\n", 0, self.place(at + 1)) + 1

    def restore(self, whole: str, new: str) -> str | None:
        """Returns the whole text with the changes that were made to the short one, which is its short form then; None where they
        touch a cut."""
        old, done, at = _LINE.findall(self.text), list[str](), 0
        starts = [0]
        for line in old:
            starts.append(starts[-1] + len(line))
        lines, shifts = _LINE.findall(new), list[tuple[int, int]]()
        for kind, first, last, a, b in SequenceMatcher(None, old, lines, autojunk=False).get_opcodes():
            if kind == "equal":
                continue
            start, end = starts[first], starts[last]
            if any(start <= cut <= end for cut, _ in self.cuts):
                return None
            done += [whole[at : self.place(start)], *lines[a:b]]
            at = self.place(end)
            shifts.append((end, sum(map(len, lines[a:b])) - (end - start)))
        cuts = tuple((cut + sum(by for end, by in shifts if end < cut), size) for cut, size in self.cuts)
        changed = "".join((*done, whole[at:]))
        _keep(changed, Shortened(new, cuts))
        return changed


_KNOWN: dict[str, Shortened | None] = {}  # an edit looks for its place, and then for what it added


def _keep(text: str, short: Shortened | None) -> Shortened | None:
    """Keeps the short form of a text, and that of the text before it."""
    for other in [*_KNOWN][:-1]:
        del _KNOWN[other]
    _KNOWN[text] = short
    return short


def shorten(text: str) -> Shortened | None:
    """Returns a long text without the middle of its runs of entries; None where there is little to cut."""
    if len(text) < _LONG:
        return None
    return _KNOWN[text] if text in _KNOWN else _keep(text, _cut(text))


def _cut(text: str) -> Shortened | None:
    spans = [*_line_spans(text)]
    spans += [span for level in (2, 3, 4) for span in _section_spans(text, level)]
    kept: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if not kept or first >= kept[-1][1]:
            kept.append((first, last))
    parts, cuts, at, size = [], [], 0, 0
    for first, last in kept:
        parts.append(text[at:first])
        size += first - at
        cuts.append((size, last - first))
        at = last
    short = "".join((*parts, text[at:]))
    return Shortened(short, tuple(cuts)) if 2 * len(short) < len(text) else None


def _line_spans(text: str) -> Iterator[tuple[int, int]]:
    for lead, pattern in _RUNS.items():
        for run in pattern.finditer(text) if text.count(f"\n{lead}") >= 3 * _KEPT else ():
            first, last = run.start(), run.end()
            for _ in range(_KEPT + 2):
                first = text.index("\n", first + 1)
            for _ in range(_KEPT):
                last = text.rindex("\n", 0, last)
            yield first + 1, last + 1


def _section_spans(text: str, level: int) -> Iterator[tuple[int, int]]:
    """Yields the middles of runs of sections of a level: what is between two headings of a higher one."""
    mark = f"\n{'#' * level} "
    if text.count(mark) < 3 * _KEPT:
        return
    borders = sorted(at for above in range(1, level) for at in _places(text, f"\n{'#' * above} ", 0, len(text)))
    for start, end in zip([0, *borders], [*borders, len(text)], strict=True):
        if text.count(mark, start, end) < 3 * _KEPT:
            continue
        first, last = start, end
        for _ in range(_KEPT):
            first = text.index(mark, first) + 1
            last = text.rindex(mark, start, last)
        if any(text.find(sign, first, last) >= 0 for sign in _MORE):
            continue
        if not any(_LOG.search(line) for line in _log_headings(text, first, last)):
            yield first, last + 1


def _log_headings(text: str, start: int, end: int) -> Iterator[str]:
    """Yields the headings of a part of a text that might be those of a revision log."""
    for word in ("Log", " log", "istory", "evision", "hanges", "LOG"):
        for at in _places(text, word, start, end):
            first = text.rfind("\n", start, at) + 1
            if text.startswith("#", first):
                yield text[first : text.find("\n", at)]


def _places(text: str, word: str, start: int, end: int) -> Iterator[int]:
    at = text.find(word, start, end)
    while at >= 0:
        yield at
        at = text.find(word, at + 1, end)
