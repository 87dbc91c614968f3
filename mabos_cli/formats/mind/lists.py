"""Lists of cognitive files: which of their items are entries, however they are nested."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from mabos_cli.formats.markdown.escape import BULLET, unescape_block
from mabos_cli.formats.mind.cognitive_fields import (
    ASIDE,
    INLINE,
    MARK,
    NAMES,
    Field,
    Key,
    aside_fields,
    bare,
    fields_of,
    find_key,
    find_stars,
    inline_fields,
    is_only_fields,
    is_placeholder,
    marks_of,
    plain,
    split_head,
    split_key,
)
from mabos_cli.formats.mind.entries import ANY, HEADING, ITEM, Entry, Heading, Table

_NESTED = re.compile(rf"([ \t]+){BULLET}[ \t]+(?:\[[ xX]\][ \t]+)?(.*)")
_RULE = re.compile(r"\s*([-*_])(?:\s*\1){2,}\s*")
_INDENTED = re.compile(r"(?: {2}|\t)\s*\S")
# Lists below these headings are about the entries, and hold none.
_ASIDES = re.compile(
    r"(?i)\b(?:log|history|revisions?|changes|notes?|hierarchy|legend|references?|links|see also|how to)\b"
)
# A heading or an item of these words gathers others, whatever prose stands below it.
_GATHERS = re.compile(
    r"(?i)\b(?:strategic|tactical|operational|active|current|completed|achieved|suspended|paused|dropped|abandoned|archived|"
    r"expired|beliefs|desires|goals|sub-?goals|objectives|intentions|plans|commitments|learnings|lessons)\b"
)


class Lists:
    """The lists of a file, and which of their items are entries: those with fields or an id, wherever they stand, and all
    that stand below a heading which is no entry itself."""

    def __init__(
        self, lines: Sequence[str], hidden: AbstractSet[int], headings: Sequence[Heading], tables: Sequence[Table]
    ) -> None:
        self._lines, self._hidden, self._headings = lines, hidden, headings
        self._tabled = {number for table in tables for number in range(table.header, table.last + 1)}
        self._apart = self._hidden | self._tabled

    def items(self) -> Iterator[Entry]:
        """Yields the items that are entries, in order; those within another one behind it."""
        named: list[int] = []
        starts = [-1, *(heading.line for heading in self._headings)]
        for at, heading in enumerate([None, *self._headings]):
            end = self._headings[at].line if at < len(self._headings) else len(self._lines)
            body = range(starts[at] + 1, end)
            named = [level for level in named if heading is not None and level < heading.level]
            is_free = not named
            if heading and heading.level > 1 and split_head(heading.title, ANY)[0]:
                named.append(heading.level)
            group = heading.title if heading and heading.level > 1 else ""
            blocks = list(self._blocks(body, group)) if is_free and not named else []
            yield from blocks
            spans = self._spans(body, {number for block in blocks for number in range(block.first, block.last + 1)})
            gathers = bool(spans) and is_free and not named and self._gathers(heading, body, spans)
            for first, last in spans:
                yield from self._item(first, last, group, gathers)

    def _blocks(self, body: range, group: str) -> Iterator[Entry]:
        """Yields the entries that are blocks of lines which begin with keys, the first of which tells what they are: `-
        **Belief:** Rent is due`, `- **Certainty:** 0.8`. One block below a heading of its own is the section's."""
        found = ((number, find_key(self._lines[number], number)) for number in body if number not in self._apart)
        keys = {number: key for number, key in found if key}
        if not any(key.is_naming for key in keys.values()):
            return
        lead = next((key.name for key in keys.values() if key.is_naming), "")
        # An id in place of words is a link, but not where others begin so.
        keys = {
            n: key._replace(is_naming=key.is_naming or (key.name == lead and bool(key.field.value)))
            for n, key in keys.items()
        }
        starts = [n for n, key in keys.items() if key.is_naming and self._lines[n][:1] not in " \t"]
        times = Counter(keys[number].name for number in starts)
        is_alone = bool(group) and not _GATHERS.search(group) and max(times.values(), default=0) < 2
        last = -1
        for first in starts if not (is_alone or _ASIDES.search(group) or MARK.search(group)) else ():
            if first > last:
                end = self._end_of_block(first, body.stop, keys)
                inner = [keys[number] for number in range(first, end + 1) if number in keys]
                is_bold = self._lines[first].lstrip("\ufeff-*+0123456789.) ")[:1] == "_" or "**" in self._lines[first]
                has_words = any(key.is_naming and key.name != "id" for key in inner)
                if (has_words and len(inner) > 1) or (is_bold and (end > first or times[inner[0].name] > 1)):
                    last = end
                    yield self._block(first, last, group, inner)

    def _end_of_block(self, first: int, stop: int, keys: Mapping[int, Key]) -> int:
        """Returns the last line of a block: before its first key again, or other words that tell what something is."""
        seen, last, after_gap = {keys[first].name}, first, False
        for number in range(first + 1, stop):
            line, key = self._lines[number], keys.get(number)
            if not line.strip():
                after_gap = True
                continue
            if line[:1] not in " \t" and number not in self._hidden:
                is_apart = after_gap or ITEM.fullmatch(bare(line))
                is_field = key and (key.name in NAMES or not after_gap)
                is_over = number in self._tabled or _RULE.fullmatch(line)
                is_next = key and key.is_naming and (key.name in seen or (after_gap and seen != {"id"}))
                if is_over or is_next or (is_apart and not is_field and (after_gap or not is_only_fields(line))):
                    break
                seen |= {key.name} if key and key.is_naming else set()
            last, after_gap = number, False
        return last

    def _block(self, first: int, last: int, group: str, keys: Sequence[Key]) -> Entry:
        """Returns a block as an entry. Of several keys that could be its words, goals and desires are what it is for."""
        named = [key.name for key in keys if key.is_naming and key.name != "id"]
        title = next((name for name in named if name not in ("goal", "desire")), named[0] if named else "")
        fields: dict[str, Field] = {}
        for key in keys:
            is_title = key.name == title and "title" not in fields
            meaning = NAMES.get(key.name, key.name)
            fields.setdefault("title" if is_title else key.name if meaning == "title" else meaning, key.field)
        taken = {key.field.line for key in keys} | self._hidden
        # Behind an id in bold there may be words.
        prose = [self._lines[key.field.line][key.field.end :].strip("*_: \t\r") for key in keys if key.name == "id"]
        for number in range(first, last + 1):
            fields = marks_of(self._lines[number], number) | fields
            prose += [unescape_block(bare(self._lines[number]).strip(" \t-*+"))] if number not in taken else []
        text = fields["text"].value if "text" in fields else " ".join(filter(None, prose))
        return Entry("item", group, plain(fields["title"].value if title else ""), plain(text), fields, first, last)

    def _spans(self, body: range, taken: AbstractSet[int]) -> list[tuple[int, int]]:
        """Returns the first and the last lines of the items at the margin that are not taken."""
        spans: list[tuple[int, int]] = []
        apart = self._hidden | taken
        for number in body:
            line = self._lines[number]
            is_item = line[:1] in "-*+0123456789" and number not in apart and ITEM.fullmatch(bare(line))
            if is_item and not is_only_fields(line):
                spans.append((number, end_of_item(self._lines, number, self._hidden)))
        return spans

    def _gathers(self, heading: Heading | None, body: range, spans: Sequence[tuple[int, int]]) -> bool:
        """Returns whether a heading only gathers the items below it, and says nothing itself."""
        if heading is None or heading.level == 1:
            return True
        if _ASIDES.search(heading.title) or MARK.search(heading.title):
            return False
        inner = {number for first, last in spans for number in range(first, last + 1)}
        outer = [number for number in body if number not in inner and number not in self._apart]
        words = [self._lines[number] for number in outer if self._lines[number].strip()]
        if any(fields_of(line, 0) for line in words):
            return False
        has_text = any(
            not is_placeholder(line) and not line.rstrip().endswith(":") and line[:1] != ">" for line in words
        )
        return not has_text or bool(_GATHERS.search(heading.title))

    def _item(self, first: int, last: int, group: str, gathers: bool, above: str = "") -> Iterator[Entry]:
        """Yields an item, if it is an entry, and those within it that are."""
        line = self._lines[first]
        match = ITEM.fullmatch(bare(line).lstrip()) or re.fullmatch("()(.*)", bare(line))
        assert match
        stars = find_stars(line)
        words = match[2].rstrip("* _")[: -len(stars[0])].rstrip() if stars else match[2]
        words = ASIDE.sub(lambda a: "" if INLINE.search(a[0]) or aside_fields(a) else a[0], MARK.sub("", words))
        kept = INLINE.sub("", words)
        if kept != words:
            kept = re.sub(r"(?: \|)+(?=\s*(?:\||$))", "", re.sub(r"([.,;])(?:\s*[.,;])+(?=\s|$)", r"\1", kept))
        words = re.sub(r"(?:\s*[—–;,])+(?=\s*[;,]|$)", "", kept.strip()).rstrip(" ,;—–-")
        nested = list(self._nested(first, last, _is_label(words)))
        inner = {number for start, end, _ in nested for number in range(start, end + 1)}
        fields, sentences = inline_fields(line, first), []
        for below in range(first + 1, last + 1):
            if below in inner or below in self._hidden:
                continue
            if is_only_fields(self._lines[below]):
                fields = fields_of(self._lines[below], below) | fields
            else:
                sentences.append(unescape_block(bare(self._lines[below]).strip()))
        is_group = gathers and bool(nested) and not fields and _is_label(words)
        has_id = bool(split_head(words, ANY)[0]) and (gathers or bool(above) or words[:2] in ("**", "__"))
        if not is_group and (fields or has_id or (gathers and not is_placeholder(line))):
            key, value = ("", "") if has_id else split_key(words)
            text = fields["text"].value if "text" in fields else " ".join([*([value] if value else []), *sentences])
            yield Entry("item", group, plain(key or words), plain(text), fields, first, last, above=above)
        outer = above if is_group else split_head(words, ANY)[0] or plain(words)
        for start, end, is_named in nested:
            if is_named or is_group:
                yield from self._item(start, end, plain(words).rstrip(":") if is_group else group, True, outer)

    def _nested(self, first: int, last: int, is_label: bool) -> Iterator[tuple[int, int, bool]]:
        """Yields the items right below another one that may be entries: their lines, and whether they begin with an id."""
        number, width = first + 1, 0
        while number <= last:
            match = _NESTED.fullmatch(bare(self._lines[number])) if number not in self._hidden else None
            indent = len(match[1].expandtabs(4)) if match else 0
            width = width or indent
            end = number
            if match and indent <= width and not is_only_fields(self._lines[number]):
                while end < last and self._indent(end + 1) > indent:
                    end += 1
                is_named = bool(split_head(match[2], ANY)[0])
                if is_named or is_label:
                    yield number, end, is_named
            number = end + 1

    def _indent(self, number: int) -> int:
        line = self._lines[number].expandtabs(4)
        return len(line) - len(line.lstrip()) if line.strip() else 10**6


def _is_label(words: str) -> bool:
    """Returns whether an item only names what stands below it: `Strategic goals:`."""
    bare_words = words.strip().strip("*_").rstrip()
    is_short = len(bare_words.split()) <= 3 and bool(_GATHERS.search(bare_words))
    return (bare_words.endswith(":") or is_short) and not split_head(words, ANY)[0]


def end_of_item(lines: Sequence[str], first: int, hidden: AbstractSet[int]) -> int:
    """Returns the last line of an item: what is indented behind it belongs to it, and code and comments that begin
    there."""
    last = number = first
    while number + 1 < len(lines):
        number += 1
        if _INDENTED.match(lines[number]) and (number in hidden or not HEADING.match(bare(lines[number]))):
            while number in hidden and number + 1 in hidden:
                number += 1
            last = number
        elif lines[number].strip():
            break
    return last
