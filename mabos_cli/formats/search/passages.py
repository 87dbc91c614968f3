"""Cuts Markdown into passages to search, with line ranges, the headings above and the item they copy."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import accumulate

from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.memory.trust import OUTSIDE, trust_rank
from mabos_cli.core.records import NamedTuple
from mabos_cli.core.search.documents import Piece
from mabos_cli.formats.markdown.blocks import find_blocks, plain_title
from mabos_cli.formats.markdown.scan import BLOCK_ID, Heading, count_head, scan

# 400 and 80 tokens at four characters.
SIZE, OVERLAP = 1600, 320
_FACTS, _CASES, _CHECKPOINTS = "memory/mabos-facts", "memory/mabos-cases", "memory/checkpoints/"
BETWEEN_TITLES = " › "

_LOG_HEADING = compiled(r"## \S+ \(\d\d:\d\d UTC\)\s*$")
_SENTENCE_END = compiled(r"[.!?…][\"')\]]*\s|[。！？]")
_WORD_END = compiled(r"\s(?=\S)")
_LAST_WORD = compiled(r"\s\S*\Z")
_WRITTEN = compiled(r"\S")
# The end of an untrusted entry of a log, or the start of a bullet in MEMORY.md as earlier versions wrote it.
_UNTRUSTED_ID = compiled(r"(?m)\) [01]\.\d\d untrusted \^(\S+)[^\S\n]*$")
_UNTRUSTED_BULLET = compiled(r"(?m)^- \*\*[^\n*]+\*\* \([01]\.\d\d, untrusted\): ")
_LEGACY_LINE = compiled(r"(?m)^- \d{4}-\d\d-\d\d \S+ \([01]\.\d\d\): [^\n]* \^M-\S+$")


class _Section(NamedTuple):
    """Lines up to the next heading. `above` are the titles over its heading, `path` ends with its own."""

    first: int
    last: int
    heading_last: int = -1
    level: int = 0
    above: str = ""
    path: str = ""
    title: str = ""


class _Page(NamedTuple):
    """A text with what is known of its lines. Lines count from zero here; `starts` are offsets, one more than lines."""

    text: str
    lines: list[str]
    starts: list[int]
    marked: list[int]
    ids: dict[int, str]
    whole: dict[int, tuple[int, bool]]
    size: int
    overlap: int


class _Unit(NamedTuple):
    """Holds what is not cut further: characters from `start` to `end`, on lines `first` to `last`."""

    start: int
    end: int
    first: int
    last: int
    is_piece: bool = False


def split_passages(text: str, size: int = SIZE, overlap: int = OVERLAP) -> list[Piece]:
    """Returns the passages of a Markdown text, in order; sizes in characters.

    A passage lies in one section and begins with its heading if it is the first. Sections above `size` are cut between
    blocks, a longer block between lines, a longer line between sentences or words; what follows repeats up to `overlap`
    characters of whole blocks. A passage ends after a block id: an entry of a daily log, or the block with the id, is
    one passage up to four times the size, and every piece of a longer one carries the id. A heading with nothing but a
    deeper heading below it has no passage: those below carry it in their `heading`.

    >>> [(p.text, p.first, p.heading) for p in split_passages("# Deploy\\n## Rollback\\nTake the *old* tag.\\n")]
    [('## Rollback\\nTake the *old* tag.', 2, 'Deploy')]
    """
    page = _read_page(text, max(size, 1), overlap)
    body = count_head(page.lines)
    passages = list(_cut(page, _Section(0, body - 1), 0, body - 1, "")) if body else []
    structure = scan(page.lines, body)
    page.whole.update(structure.whole)
    sections = list(_sections(structure.headings, body, len(page.lines), _head_title(page.lines[:body])))
    for section, below in zip(sections, [*sections[1:], _Section(0, 0)], strict=True):
        if not _is_repeated_below(page, section, below):
            for first, last, item_id in _runs(page, section):
                passages += _cut(page, section, first, last, item_id)
    return passages


def find_untrusted_lines(path: str, text: str) -> AbstractSet[int]:
    """Returns the lines, counted from one, of facts, cases, beliefs and the like, and checkpoints that are untrusted."""
    lines = text.split("\n")
    if path.startswith(_FACTS):
        from mabos_cli.formats.knowledge.fact_text import has_untrusted_fact

        return {number for number, line in enumerate(lines, 1) if has_untrusted_fact(line)}
    if path.startswith(_CASES):
        from mabos_cli.formats.knowledge.case_text import untrusted_case_lines

        return untrusted_case_lines(lines)
    if path.startswith(_CHECKPOINTS):
        from mabos_cli.formats.memory.checkpoint_md import checkpoint_trust

        return frozenset() if trust_rank(checkpoint_trust(text)) else {*range(1, len(lines) + 1)}
    if "/" in path or not any(word in text.casefold() for word in ("trust", *OUTSIDE)):
        return frozenset()
    from mabos_cli.formats.mind.cognitive import parse_cognitive

    return parse_cognitive(text).untrusted_lines()


def _read_page(text: str, size: int, overlap: int) -> _Page:
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    ids = {bisect_right(starts, m.start()) - 1: m[1] for m in BLOCK_ID.finditer(text)}
    lines = [line.removesuffix("\r") for line in lines] if "\r" in text else lines
    lines[0] = lines[0].removeprefix("\ufeff")
    # More than half would make the passages of a section many times the section.
    return _Page(text, lines, starts, list(ids), ids, {}, size, max(0, min(overlap, size // 2)))


def _head_title(head: list[str]) -> str:
    """Returns the title that the front matter gives a page."""
    found = next((line[len("title:") :] for line in head if line.startswith("title:")), "")
    return plain_title(found.strip().strip("\"'"))


def _sections(headings: list[Heading], body: int, count: int, title: str) -> Iterator[_Section]:
    ends = [heading.first - 1 for heading in headings] + [count - 1]
    is_repeated = any(heading.level == 1 and plain_title(heading.title) == title for heading in headings[:1])
    trail = [(0, title)] if title and not is_repeated else []
    yield _Section(body, ends[0], above=trail[0][1] if trail else "", path=trail[0][1] if trail else "")
    for (first, last, level, words), end in zip(headings, ends[1:], strict=True):
        while trail and trail[-1][0] >= level:
            trail.pop()
        above = [title for _, title in trail]
        title = plain_title(words)
        if title:
            trail.append((level, title))
        path = BETWEEN_TITLES.join(title for _, title in trail)
        yield _Section(first, end, last, level, BETWEEN_TITLES.join(above), path, title)


def _is_repeated_below(page: _Page, section: _Section, below: _Section) -> bool:
    """Returns whether a section is only a heading, which the path of the section below it repeats."""
    if not 0 < section.level < below.level or section.title.endswith("…"):
        return False
    marked = bisect_left(page.marked, section.first) != bisect_right(page.marked, section.last)
    return not marked and not _trim(page.lines, section.heading_last + 1, section.last)


def _trim(lines: list[str], first: int, last: int) -> tuple[int, int] | None:
    """Returns the range without blank lines at its ends, or None if there is nothing else."""
    while first <= last and not lines[first].strip():
        first += 1
    while first < last and not lines[last].strip():
        last -= 1
    return (first, last) if first <= last else None


def _runs(page: _Page, section: _Section) -> Iterator[tuple[int, int, str]]:
    """Yields line ranges of a section that passages do not cross, with the item that each is a copy of."""
    marked = page.marked[bisect_left(page.marked, section.first) : bisect_right(page.marked, section.last)]
    begin = section.first
    # In a log all that stands above the id is the memory. Elsewhere a person's words may stand above a copy of one.
    is_log = bool(marked) and bool(_LOG_HEADING.match(page.lines[section.first]))
    span = page.lines, page.whole, page.ids, section.first, section.last
    blocks = [] if is_log or not marked else find_blocks(*span)
    firsts = [block[0] for block in blocks]
    for line in marked:
        if not is_log:
            start = max(begin, firsts[bisect_right(firsts, line) - 1])
            # A heading alone says nothing: it goes with the block below it.
            if _trim(page.lines, max(begin, section.heading_last + 1), start - 1):
                yield begin, start - 1, ""
                begin = start
        yield begin, line, page.ids[line]
        begin = line + 1
    yield begin, section.last, ""


def _cut(page: _Page, section: _Section, first: int, last: int, item_id: str) -> Iterator[Piece]:
    """Yields the passages of a run."""
    found = _trim(page.lines, first, last)
    if not found:
        return
    whole = _unit(page, *found)
    if whole.end - whole.start <= page.size * (4 if item_id else 1):
        groups = [[whole]]
    else:
        groups = list(_pack(_units(page, section, *found), page.size, page.overlap))
    for units in groups:
        begin, end = units[0], units[-1]
        heading = section.above if begin.first <= section.heading_last else section.path
        yield Piece(page.text[begin.start : end.end], begin.first + 1, end.last + 1, heading, item_id)


def _unit(page: _Page, first: int, last: int) -> _Unit:
    return _Unit(page.starts[first], page.starts[last + 1] - 1, first, last)


def _units(page: _Page, section: _Section, first: int, last: int) -> list[_Unit]:
    """Returns blocks, the lines of long blocks, the pieces of long lines. A short heading goes with what follows."""
    units: list[_Unit] = []
    for block in find_blocks(page.lines, page.whole, page.ids, first, last):
        unit = _unit(page, *(_trim(page.lines, *block) or block))
        if unit.end - unit.start <= page.size:
            units.append(unit)
            continue
        for line in range(unit.first, unit.last + 1):
            if page.lines[line].strip():
                single = _unit(page, line, line)
                units += [single] if single.end - single.start <= page.size else _pieces(page, single)
    if len(units) > 1 and units[0].last == section.heading_last and not units[1].is_piece:
        head, body = units[:2]
        if not head.is_piece and head.end - head.start <= page.size // 4:
            units[:2] = [_Unit(head.start, body.end, head.first, body.last)]
    return units


def _pieces(page: _Page, line: _Unit) -> Iterator[_Unit]:
    """Cuts a line at the last sentence or word that fits; each piece starts with the last words of the one before."""
    start = done = line.start
    while written := _WRITTEN.search(page.text, start, line.end):
        start = written.start()
        end = _piece_end(page.text, start, max(start, done), line.end, page.size)
        if not end and start < done:
            # The next word needs the whole size: nothing can be repeated before it.
            start = done
            continue
        end = end or start + page.size
        yield _Unit(start, end, line.first, line.last, True)
        if end == line.end:
            return
        back = _WORD_END.search(page.text, max(start, end - page.overlap - 1), end)
        start, done = back.end() if back and page.overlap else end, end


def _piece_end(text: str, start: int, done: int, line_end: int, size: int) -> int:
    """Returns where a piece from `start` ends, behind `done`; zero if no word ends in time."""
    if line_end - start <= size:
        return line_end
    window = text[start : start + size + 1]
    sentences = [m.start() + len(m[0].rstrip()) for m in _SENTENCE_END.finditer(window)]
    # A sentence that would leave the piece half empty is no better than a word.
    ends = [end for end in sentences if max(done - start, size // 2) < end <= size]
    word = _LAST_WORD.search(window)
    end = start + (ends[-1] if ends else len(window[: word.start()].rstrip()) if word else 0)
    return end if end > done else 0


def _pack(units: list[_Unit], size: int, overlap: int) -> Iterator[list[_Unit]]:
    """Groups neighbouring units as far as they fit, each group starting with those that the overlap holds."""
    held: list[_Unit] = []
    for unit in units:
        alone = unit.is_piece or (bool(held) and held[-1].is_piece)
        if held and (alone or unit.end - held[0].start > size):
            yield held
            # Never all of them: a passage must not lie inside the next. Nor so much that the next unit does not fit.
            keep, reach = len(held), max(held[-1].end - overlap, unit.end - size)
            while not alone and keep > 1 and held[keep - 1].start >= reach:
                keep -= 1
            held = held[keep:]
        held.append(unit)
    if held:
        yield held


def without_legacy_lines(text: str) -> str:
    """Returns the text of Memory.md with a blank line in place of each line of an item: only what people wrote is
    left, on its lines.

    >>> without_legacy_lines("- by hand\\n- 2026-02-24 fact (0.50): x ^M-1-0000\\n")
    '- by hand\\n\\n'
    """
    return _LEGACY_LINE.sub("", text)


def find_untrusted(text: str) -> set[str]:
    """Returns the ids of the entries that say that they are untrusted."""
    return set(_UNTRUSTED_ID.findall(text)) if " untrusted ^" in text else set()


def has_untrusted_bullet(text: str) -> bool:
    """Returns whether a bullet of MEMORY.md says that it is untrusted."""
    return ", untrusted): " in text and bool(_UNTRUSTED_BULLET.search(text))
