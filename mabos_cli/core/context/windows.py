"""Cuts windows: the part of a text that is about a question, in whole sentences, list items, rows or lines of code.

A window is contiguous: what stands between two sentences that match belongs to what they say. It keeps the title above it.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import log

from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.text import one_line, stem, words
from mabos_cli.core.records import NamedTuple

_READ = 16_000  # characters of a text in which a window is looked for
_ENTRY = r"\s*(?:[-*+•]|\d{1,3}[.)]|[a-z][.)])\s+\S"
_HEADING = r"#{1,6}\s+"
_FENCE = r"\s*(?:`{3,}|~{3,})"
_SILENT = r"\s*(?:<!--.*-->|\{\{[<%][^>%]*[>%]\}\})\s*$"  # a comment, or a mark of whatever builds the pages
_ALONE = r"\s*(?:\||<|>|\{\{|:::|[-*_=]{3,}\s*$)"
# A sentence ends where its sign is followed by space and something that can begin one, unless the sign belongs to a short form:
# letters with dots between them, or a short word of which only the beginning is written.
_END = r"[.!?…][\"'”’)\]*_`]*\s+(?=[^\W_a-z]|[\"'“‘(\[*`<{_-])|(?<=[。！？])"
_SHORT = (
    "(?i)"
    r"(?:\b(?:\w\.)+\w?|\b(?:[A-Z]|vs|etc|cf|no|nr|fig|sec|ca|approx|incl|resp|dr|mr|mrs|ms|st|inc|ltd|co|jr|sr))\.$"
)
_LINK = r"\[([^\]]*)\]\([^)]*\)"
_RELATIVE = r"!?\[([^\]]+)\]\((?!\w+:)[^)\s]*\)"  # a link that leads nowhere without the page that it is on
_LINKED, _LINKS = 0.5, 3  # share of the letters of a passage, and links: it points elsewhere, and says nothing itself


class Window(NamedTuple):
    """Part of a text on one line, and whether it is all of it."""

    text: str
    is_whole: bool


class Unit(NamedTuple):
    """Holds what is never cut: a sentence, an entry of a list, a row, a line of code; its place among the lines of the text."""

    text: str
    is_title: bool = False
    leads: bool = False  # ends with a colon: what follows belongs to it


def split_units(text: str) -> list[Unit]:
    """Returns the units of a text in order. Lines of one paragraph or entry are joined before they are cut into sentences.

    >>> [unit.text for unit in split_units("# Rent\\nIt is due, e.g. on\\nMonday. Pay:\\n- cash\\n- card")]
    ['Rent', 'It is due, e.g. on Monday.', 'Pay:', '- cash', '- card']
    """
    return [unit for block in _blocks(text) for unit in _units_of(block)]


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yields the blocks of a text with their kind: title, line (never joined with others), entry or prose."""
    held: list[str] = []
    kind, is_code = "prose", False
    for line in text.split("\n"):
        is_fence = bool(compiled(_FENCE).match(line))
        start = (
            "line" if is_fence or is_code or compiled(_ALONE).match(line)
            else "title" if compiled(_HEADING).match(line)
            else "entry" if compiled(_ENTRY).match(line)
            else "" if line.strip()
            else "gap"
        )  # fmt: skip
        is_code ^= is_fence
        if held and start:
            yield kind, " ".join(held)
            held = []
        if start in ("line", "title"):
            if not is_fence and line.strip() and not compiled(_SILENT).match(line):
                yield start, line
        elif start != "gap":
            kind = start or (kind if held else "prose")
            held.append(line.strip() if held else line.rstrip())
    if held:
        yield kind, " ".join(held)


def _units_of(block: tuple[str, str]) -> Iterator[Unit]:
    kind, text = block
    if kind == "title":
        yield Unit(one_line(compiled(r"\{#[^}]*\}\s*$").sub("", compiled(_HEADING).sub("", text))), is_title=True)
        return
    parts = [text] if kind == "line" else split_prose(text)
    for part in parts:
        if line := one_line(compiled(_RELATIVE).sub(r"\1", part)):
            yield Unit(line, leads=line.rstrip("*_`\"'”’").endswith(":"))


def split_prose(text: str) -> list[str]:
    """Returns the sentences of text in one paragraph.

    >>> split_prose("Use it, i.e. Redis. See Fig. 2 (v1.2). Then go!")
    ['Use it, i.e. Redis.', 'See Fig. 2 (v1.2).', 'Then go!']
    """
    found, start = [], 0
    for match in compiled(_END).finditer(text):
        if not compiled(_SHORT).search(text[max(start, match.start() - 12) : match.start() + 1]):
            found.append(text[start : match.end()].strip())
            start = match.end()
    return [*found, *([text[start:].strip()] if text[start:].strip() else [])]


def points_elsewhere(text: str) -> bool:
    """Returns whether a text is a list of links, or only the head of a page.

    >>> points_elsewhere("## Next\\n- [Pods](/p)\\n- [Nodes](/n)\\n- See [Jobs](/j)"), points_elsewhere("See [Pods](/pods).")
    (True, False)
    """
    body = "\n".join(line for line in text.split("\n") if not compiled(_HEADING).match(line))
    if body.startswith("---\n"):
        return True
    linked = [len(re.findall(r"\w", link)) for link in compiled(_LINK).findall(body)]
    return len(linked) >= _LINKS and sum(linked) > _LINKED * len(re.findall(r"\w", compiled(_LINK).sub(r"\1", body)))


def unit_key(text: str) -> str:
    """Returns what two units have in common that say the same: their words, without marks."""
    return " ".join(words(text))


def weigh_terms(asked: Collection[str], texts: Sequence[str]) -> dict[str, float]:
    """Returns what each stem of a question is worth among texts: the fewer of them hold it, the more."""
    every = dict.fromkeys(asked, 1.0)
    held = Counter(term for text in texts for term in _held(text, every))
    return {term: log(1 + (len(texts) + 1) / (held[term] + 1)) for term in every}


class Reading(NamedTuple):
    """A text as windows are cut from it: its title, its units, and of each unit the stems that are asked for and what it says."""

    title: str
    units: list[Unit]
    held: list[frozenset[str]]
    keys: list[str]
    is_cut: bool = False


def read_text(text: str, worth: Mapping[str, float]) -> Reading:
    """Returns a text as windows are cut from it, for a question whose stems are worth something."""
    units = split_units(text[:_READ]) or [Unit(one_line(text[:_READ]))]
    has_title = len(units) > 1 and units[0].is_title
    body = units[has_title:]
    held = [_held(unit.text, worth) for unit in body]
    keys = ["" if unit.is_title else unit_key(unit.text) for unit in body]
    return Reading(units[0].text if has_title else "", body, held, keys, len(text) > _READ)


def cut_window(reading: Reading, width: int, worth: Mapping[str, float], known: Collection[str] = ()) -> Window:
    """Returns the part of a text, within a width, that holds most of what the stems in `worth` are worth together.

    Units that are `known` are shown elsewhere: a window does not begin or end with them.

    >>> text = "A first line. " + "Nothing here. " * 30 + "Rent is 900. And so on."
    >>> cut_window(read_text(text, {"rent": 1.0}), 40, {"rent": 1.0}).text
    '… Rent is 900. And so on.'
    """
    title, body, held, keys, is_longer = reading
    title = f"{one_line(title, width // 4)} – " if title else ""
    room = max(width - len(title) - 4, 1)
    first, last = _best_run(body, held, [key not in known for key in keys], worth, room)
    text = " ".join(unit.text for unit in body[first : last + 1])
    is_cut = len(text) > room
    text = _cut_around(text, room, worth) if is_cut else text
    before, after = "… " if first else "", " …" if last < len(body) - 1 or is_longer else ""
    return Window(f"{title}{before}{text}{after}", not (before or after or is_cut))


def _held(text: str, worth: Mapping[str, float]) -> frozenset[str]:
    """Returns the stems that a text holds of those that are worth something."""
    starts = {term[:2] for term in worth}  # a stem leaves the start of a word alone
    return frozenset(term for word in words(text) if word[:2] in starts and (term := stem(word)) in worth)


def _best_run(
    units: Sequence[Unit], held: Sequence[frozenset[str]], fresh: Sequence[bool], worth: Mapping[str, float], room: int
) -> tuple[int, int]:
    """Returns first and last of the units that fit together and are worth most: each stem once, then how often, then the earliest."""
    best: tuple[float, float, float] = (-1.0, 0.0, 0.0)
    found = (0, 0)
    for first in range(len(units)):
        if not fresh[first] and any(fresh):
            continue
        last, size = first, len(units[first].text)
        while last + 1 < len(units) and size + 1 + len(units[last + 1].text) <= room:
            last += 1
            size += 1 + len(units[last].text)
        while last > first and ((units[last].leads and last + 1 < len(units)) or not fresh[last]):
            last -= 1  # what it leads to is cut off
        terms = frozenset[str]().union(*held[first : last + 1])
        total = sum(worth[term] for term in terms)
        often = sum(worth[term] for each in held[first : last + 1] for term in each)
        # What is asked for stands behind the words of the question more often than before them.
        early = sum(worth[term] / (1 + n) for n, each in enumerate(held[first : last + 1]) for term in each)
        if (value := (total, often, early)) > best:
            best, found = value, (first, last)
        if last == len(units) - 1 and best[0] >= total:
            break
    return found


def _cut_around(text: str, width: int, worth: Mapping[str, float]) -> str:
    """Returns the part of one long unit around the first word that is asked for, cut at words."""
    starts = [m.start() for m in re.finditer(r"\w+", text) if stem(m[0].casefold()) in worth]
    at = max(0, min((starts or [0])[0] - width // 4, len(text) - width))
    if at:
        at = text.find(" ", at) + 1 or at
    cut = one_line(text[at:], max(width - 2, 1))
    return f"… {cut}" if at else cut
