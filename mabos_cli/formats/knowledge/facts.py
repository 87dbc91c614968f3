"""facts.json and facts-derived.json: one fact per line, found by text, decoded when asked for."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.lines import (
    FULL_CHECK,
    cite_line,
    find_block,
    line_of_element,
    render_document,
    render_value,
    split_block,
)
from mabos_cli.formats.json.text import dump_line, has_harmful, parse_json
from mabos_cli.formats.knowledge.fact_line import MEND, fact_from_dict, is_time, line_shape, parse_fact, render_fact

_TWIN = "give one of the two another id"
_ID = rb'\n    \{"id": ("[^"\\]*+(?:\\.[^"\\]*+)*+")'
_TIMES = rb'"valid_(?:from|until)": "([^"\n]*)"'


class FactFile:
    """A file of facts: raw lines, the version, the last id issued, and other keys as they were. The lines are one block of text
    until somebody needs them apart."""

    def __init__(
        self,
        lines: list[bytes] | None = None,
        version: int = 0,
        last_id: str = "",
        extra: dict[str, Any] | None = None,
        path: str = "facts.json",
        first_line: int = 3,
    ) -> None:
        self._lines: list[bytes] | None = lines or []
        self._block = b""
        self.version = version
        self.last_id = last_id
        self.extra = extra or {}
        self.path = path
        self.first_line = first_line
        self._ids: frozenset[bytes] | None = None

    @property
    def lines(self) -> list[bytes]:
        if self._lines is None:
            self._lines, self._block = split_block(self._block), b""
        return self._lines

    @lines.setter
    def lines(self, lines: list[bytes]) -> None:
        self._lines, self._block = lines, b""

    def keep_block(self, block: bytes) -> None:
        """Takes the lines as they stand in a file, not yet split."""
        self._lines, self._block = None, block

    def __len__(self) -> int:
        return self._block.count(b"\n") + 1 if self._lines is None else len(self._lines)

    def add(self, lines: Sequence[bytes]) -> None:
        """Puts lines behind the others."""
        if self._lines is None:
            self._block = b",\n    ".join((self._block, *lines))
        else:
            self._lines = [*self._lines, *lines]

    def text(self) -> bytes:
        """The lines as they stand in a file."""
        return self._block if self._lines is None else b"    " + b",\n    ".join(self._lines)

    def has_id(self, own: str) -> bool:
        """Whether a fact had this id when this was first asked."""
        return dump_line(own).encode() in self.ids()

    def ids(self) -> frozenset[bytes]:
        """The ids of the facts, as JSON; InvalidFile when two have one."""
        if self._ids is None:
            listed = re.findall(_ID, b"\n" + self.text()) if len(self) else []
            self._ids = frozenset(listed)
            if len(listed) != len(self._ids):
                seen: set[bytes] = set()
                twin = next(n for n, own in enumerate(listed) if own in seen or seen.add(own))
                told = f"{self.path}:{self.first_line + twin}: the id {listed[twin].decode('utf-8', 'replace')}"
                raise InvalidFile(f"{told} is there twice", _TWIN)
        return self._ids

    def facts(self) -> Iterator[Fact]:
        """The facts, decoded as they are asked for."""
        for number, line in enumerate(self.lines, self.first_line):
            yield parse_fact(line, f"{self.path}:{number}")

    def where(self, name: str, value: str) -> Iterator[Fact]:
        """The facts whose field, a part of the triple or the id, is exactly this; found by text, so that nothing else is decoded."""
        wanted = f'"{name}": {dump_line(value)}, "'.encode()
        for line in self._lines_with(wanted):
            fact = parse_fact(line, self.path)
            if getattr(fact, name) == value:
                yield fact

    def find_triple(self, triple: tuple[str, str, str]) -> Fact | None:
        """The fact that says this."""
        subject, predicate, obj = map(dump_line, triple)
        wanted = f'"subject": {subject}, "predicate": {predicate}, "object": {obj}, "'.encode()
        found = (parse_fact(line, self.path) for line in self._lines_with(wanted))
        return next((fact for fact in found if fact.triple == triple), None)

    def find_united(self, own: str) -> Fact | None:
        """The fact that took over an id, where two branches had asserted the same under two."""
        lines = (line for line in self._lines_with(dump_line(own).encode()) if b'"same_as": [' in line)
        found = (parse_fact(line, self.path) for line in lines)
        return next((fact for fact in found if own in dict(fact.extra).get("same_as", ())), None)

    def _lines_with(self, wanted: bytes) -> Iterator[bytes]:
        if self._lines is not None:
            yield from (line for line in self._lines if wanted in line)
            return
        block, at = self._block, self._block.find(wanted)
        while at >= 0:
            start, end = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at)
            end = len(block) if end < 0 else end
            yield block[start:end].strip(b" ").removesuffix(b",")
            at = block.find(wanted, end)


def parse_facts(data: bytes, path: str) -> FactFile:
    """The facts in a file. What is in our layout stays text, and is only looked over; all else is decoded and checked."""
    looks = _Looks()
    head, block = find_block(data, "facts", looks) or (data, b"")
    if len(data) <= FULL_CHECK:
        parse_json(data, path)
    raw = parse_json(head, path)
    if isinstance(raw, list):  # other tools keep a bare list
        raw = {"facts": raw}
    if not isinstance(raw, dict) or not isinstance(raw.get("facts", []), list):
        raise InvalidFile(f"{path}:1: a fact store must be an object with a list of facts", MEND)
    entries = raw.pop("facts", [])
    version, last_id = raw.pop("version", 0), raw.pop("last_id", "")
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise InvalidFile(f"{path}: version must be a whole number", MEND)
    file = FactFile(_decode(entries, path, data), version, str(last_id), raw, path)
    if block:
        file.first_line = 2 + data.count(b"\n", 0, data.find(b'\n  "facts": [\n') + 2)
        if looks.are_ours:
            file.keep_block(block)
        else:
            lines = enumerate(split_block(block), file.first_line)
            file.lines = [_ours(line, f"{path}:{number}") for number, line in lines]
        if len(data) <= FULL_CHECK:
            file.ids()
    return file


@cache
def _shapes() -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """A line in our layout, and a block of them."""
    line = line_shape().encode()
    return re.compile(line), re.compile(b"(?:    %s,\n)*+    %s" % (line, line))


class _Looks:
    """Looks a block of lines over: whether each is as we would write it, as far as it matters for finding it."""

    are_ours = False

    def __call__(self, block: bytes) -> bool:
        shape = _shapes()[1].fullmatch(block)
        self.are_ours = bool(shape) and (block.isascii() or _is_clean(block)) and _has_times(block)
        return self.are_ours


def _has_times(block: bytes) -> bool:
    return all(is_time(text.decode("utf-8")) for text in set(re.findall(_TIMES, block)))


def _is_clean(block: bytes) -> bool:
    try:
        return not has_harmful(block.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _ours(line: bytes, where: str) -> bytes:
    """The line, or what we would make of it."""
    if _shapes()[0].fullmatch(line) and (line.isascii() or _is_clean(line)) and b'"valid_' not in line:
        return line
    return render_fact(parse_fact(line, where))


def _decode(entries: list[Any], path: str, data: bytes) -> list[bytes]:
    """Entries in another layout as lines."""
    lines, seen = [], set()
    for number, entry in enumerate(entries):
        try:
            fact = fact_from_dict(entry, path)
            if fact.id in seen:
                raise InvalidFile(f"{path}: the id {fact.id[:60]!r} is there twice", _TWIN)
        except InvalidFile as error:
            raise cite_line(error, path, line_of_element(data, "facts", number)) from None
        seen.add(fact.id)
        lines.append(render_fact(fact))
    return lines


def render_facts(file: FactFile) -> bytes:
    """The file's bytes."""
    parts = [b'  "facts": [\n%s\n  ]' % file.text() if len(file) else b'  "facts": []']
    parts += [render_value(key, value) for key, value in file.extra.items()]
    parts += [render_value("last_id", file.last_id)] if file.last_id else []
    return render_document([*parts, render_value("version", file.version)])
