"""facts.json and facts-derived.json: one fact per line, found by text, decoded when asked for."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from mabos_cli.core.knowledge.fact import Fact, FactDeparture
from mabos_cli.core.language.clock import find_time
from mabos_cli.core.memory.trust import bound_by_source
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json import text as json_text
from mabos_cli.formats.knowledge import fields

_ID = rb'\n    \{"id": ("[^"\\]*+(?:\\.[^"\\]*+)*+")'
_ON_PAGES = "on pages"
_TIMES = rb'"valid_(?:from|until)": "([^"\n]*)"'


class FactFile:
    """A file of facts: raw lines, the version, the last id issued, how many facts its pages hold if it has some, and other keys as
    they were. The lines are one block of text until somebody needs them apart."""

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
        self.pages: dict[str, int] = {}

    @property
    def lines(self) -> list[bytes]:
        if self._lines is None:
            self._lines, self._block = json_text.split_block(self._block), b""
        return self._lines

    @lines.setter
    def lines(self, lines: list[bytes]) -> None:
        self._lines, self._block = lines, b""

    def __len__(self) -> int:
        return self._block.count(b"\n") + 1 if self._lines is None else len(self._lines)

    def add(self, lines: Sequence[bytes]) -> None:
        """Puts lines behind the others."""
        if self._lines is None:
            self._block = b",\n    ".join((self._block, *lines))
        else:
            self._lines = [*self._lines, *lines]

    def text(self) -> bytes:
        """Returns the lines as they stand in a file."""
        return self._block if self._lines is None else b"    " + b",\n    ".join(self._lines)

    def has_id(self, fact_id: str) -> bool:
        """Returns whether a fact had this id when the file was first searched for ids."""
        return json_text.dump_line(fact_id).encode() in self.ids()

    def ids(self) -> frozenset[bytes]:
        """Returns the ids of the facts, as JSON; InvalidFile when two have one."""
        if self._ids is None:
            listed = re.findall(_ID, b"\n" + self.text()) if len(self) else []
            self._ids = frozenset(listed)
            if len(listed) != len(self._ids):
                first = {fact_id: n for n, fact_id in reversed(list(enumerate(listed)))}
                twin = next(n for n, fact_id in enumerate(listed) if first[fact_id] != n)
                where = f"{self.path}:{self.first_line + twin}: the id {listed[twin].decode('utf-8', 'replace')}"
                raise InvalidFile(f"{where} occurs twice", fields.TWIN)
        return self._ids

    def facts(self) -> Iterator[Fact]:
        """Yields the facts, decoded as they are asked for."""
        for number, line in enumerate(self.lines, self.first_line):
            yield parse_fact(line, f"{self.path}:{number}")

    def where(self, name: str, value: str) -> Iterator[Fact]:
        """Yields the facts whose field, a part of the triple or the id, is exactly this; found by text, so that nothing else is
        decoded."""
        wanted = f'"{name}": {json_text.dump_line(value)}, "'.encode()
        for line in self._lines_with(wanted):
            fact = parse_fact(line, self.path)
            if getattr(fact, name) == value:
                yield fact

    def with_triple(self, triple: tuple[str, str, str]) -> list[Fact]:
        """Returns the facts that say this, each for another time."""
        subject, predicate, obj = map(json_text.dump_line, triple)
        wanted = f'"subject": {subject}, "predicate": {predicate}, "object": {obj}, "'.encode()
        found = (parse_fact(line, self.path) for line in self._lines_with(wanted))
        return [fact for fact in found if fact.triple == triple]

    def find_united(self, fact_id: str) -> Fact | None:
        """Returns the fact that a merge united with this id, where two branches had asserted the same under two ids."""
        lines = (line for line in self._lines_with(json_text.dump_line(fact_id).encode()) if b'"same_as": [' in line)
        found = (parse_fact(line, self.path) for line in lines)
        return next((fact for fact in found if fact_id in dict(fact.extra).get("same_as", ())), None)

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
    """Parses a fact file. Lines in our layout stay text and are only scanned; everything else is decoded and checked."""
    are_ours = False

    def look(block: bytes) -> bool:
        """Returns whether each line of a block is as we would write it, as far as it matters for finding it."""
        nonlocal are_ours
        is_shaped = _shapes()[1].fullmatch(block) and (block.isascii() or _is_clean(block))
        are_ours = bool(is_shaped) and all(is_time(text.decode("utf-8")) for text in set(re.findall(_TIMES, block)))
        return are_ours

    head, block = json_text.find_block(data, "facts", look) or (data, b"")
    if len(data) <= json_text.FULL_CHECK:
        json_text.parse_json(data, path)
    raw = json_text.parse_json(head, path)
    if isinstance(raw, dict) and raw.get("facts") == _ON_PAGES and raw.get("pages"):
        del raw["facts"]
    # Other tools keep a bare list.
    entries, others = fields.take_list(raw, "facts", path, "a fact store must be an object with a list of facts", MEND)
    version, last_id = fields.take_version(others, path, MEND)
    pages = others.pop("pages", {})
    if not isinstance(pages, dict) or not all(
        re.fullmatch("[0-9a-f]{2}", name) and type(pages[name]) is int for name in pages
    ):
        raise InvalidFile(f"{path}: pages must say how many facts each page holds", MEND)

    def read(entry: Any) -> Fact:
        return fact_from_dict(entry, path)

    found = fields.read_elements(entries, "facts", path, data, read, lambda fact_id: f"the id {fact_id[:60]!r}")
    file = FactFile([render_fact(fact) for fact, _ in found], version, last_id, others, path)
    file.pages = pages
    if block:
        file.first_line = 2 + data.count(b"\n", 0, data.find(b'\n  "facts": [\n') + 2)
        if are_ours:
            file._lines, file._block = None, block  # as they stand in the file, not yet split
        else:
            lines = enumerate(json_text.split_block(block), file.first_line)
            file.lines = [_ours(line, f"{path}:{number}") for number, line in lines]
        if len(data) <= json_text.FULL_CHECK:
            file.ids()
    return file


@cache
def _shapes() -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Returns a line in our layout, and a block of them."""
    line = line_shape().encode()
    return re.compile(line), re.compile(b"(?:    %s,\n)*+    %s" % (line, line))


def _is_clean(block: bytes) -> bool:
    try:
        return not json_text.has_harmful(block.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _ours(line: bytes, where: str) -> bytes:
    """Returns the line, or what we would make of it."""
    if _shapes()[0].fullmatch(line) and (line.isascii() or _is_clean(line)) and b'"valid_' not in line:
        return line
    return render_fact(parse_fact(line, where))


def render_facts(file: FactFile) -> bytes:
    """Returns the file's bytes. Where all facts are on pages, it says so in place of the facts: a version that knows no pages refuses
    that, and would take an empty list for no facts."""
    parts = [json_text.render_value(key, value) for key, value in file.extra.items()]
    parts += [json_text.render_value("last_id", file.last_id)] if file.last_id else []
    parts += [json_text.render_value("pages", dict(sorted(file.pages.items())))] if file.pages else []
    none = json_text.render_value("facts", _ON_PAGES) if file.pages else b'  "facts": []'
    return render_fact_page(file, none, [*parts, json_text.render_value("version", file.version)])


def render_fact_page(file: FactFile, none: bytes = b'  "facts": []', more: Sequence[bytes] = ()) -> bytes:
    """Returns the bytes of a page, which has facts only, or with more behind them; `none` stands for no facts."""
    return json_text.render_document([b'  "facts": [\n%s\n  ]' % file.text() if len(file) else none, *more])


MEND = "repair the value by hand, or restore the file from git"
_TEXT = tuple(name for name in Fact._fields if name not in ("confidence", "derived_from", "extra"))
_ORDER = Fact._fields[:-1]  # all but extra
_ALWAYS = frozenset(("id", "subject", "predicate", "object", "confidence", "source", "trust", "created_at"))
_KNOWN = frozenset(_ORDER)
# A number from 0 to 1 as we write it.
_SHARE = r"(?:0(?:\.[0-9]++)?+|1(?:\.0)?+|[0-9](?:\.[0-9]++)?+e-(?:0[1-9]|[1-9][0-9]*+))"


def _line_pattern(needed: str, text: str, ids: str, share: str, more: str) -> str:
    """Returns a line as we write it, from expressions for a text that may not be empty, any text, ids, a number from 0 to 1,
    and more keys."""
    found = []
    for name in _ORDER:
        value = {"derived_from": rf"\[{ids}\]", "confidence": share}.get(name, text)
        value = needed if name in ("id", "subject", "predicate", "object") else value
        part = rf'{", " * (name != "id")}"{name}": {value}'
        found.append(part if name in _ALWAYS else f"(?:{part})?+")
    return rf"\{{{''.join(found)}{more}\}}"


@cache
def line_shape() -> str:
    """Returns what a line must look like so that it can be found by its text: the keys in our order, texts escaped as we do
    it."""
    rest = r'[^"\\\x00-\x1f]*+(?:\\[^u/][^"\\\x00-\x1f]*+)*+"'
    foreign = rf'(?:, (?![^\n]*"(?:{"|".join(_ORDER)})": )[^\n]*)?'
    return _line_pattern(f'"(?!"){rest}', f'"{rest}', f'"{rest}(?:, "{rest})*+', _SHARE, foreign)


@cache
def _plain_line() -> re.Pattern[str]:
    """Returns a line without escapes and foreign keys, with a group for each value: it need not be decoded as JSON."""
    rest = r'[^"\\\x00-\x1f]*+'
    return re.compile(
        _line_pattern(f'"((?!"){rest})"', f'"({rest})"', f'"({rest}(?:", "{rest})*+)"', f"({_SHARE})", "")
    )


@lru_cache(maxsize=4096)
def is_time(text: str) -> bool:
    """Returns whether a text names a day or a moment; one that says nothing is as good."""
    return not text or find_time(text) is not None


def parse_fact(line: bytes, where: str) -> Fact:
    """Returns the fact on a JSON line; InvalidFile cites the place."""
    try:
        found = _plain_line().fullmatch(line.decode("utf-8"))
    except UnicodeDecodeError:
        found = None
    values: list[Any] = list(found.groups("")) if found else []
    if not values or not (is_time(values[7]) and is_time(values[8])):
        path, _, number = where.rpartition(":")  # a place such as facts.json:12
        path, at = (path, int(number)) if number.isdigit() else (where, 0)
        return fact_from_dict(json_text.parse_json(line, path, line=at), where)
    values[4] = float(values[4]) if len(values[4]) > 1 else int(values[4])
    values[9] = tuple(values[9].split('", "')) if values[9] else ()
    return bound_by_source(Fact(*values))


def render_fact(fact: Fact) -> bytes:
    """Returns the fact as one JSON line, without the newline."""
    return json_text.dump_line(fact_to_dict(fact)).encode("utf-8")


def fact_to_dict(fact: Fact) -> dict[str, Any]:
    """Returns the fact as JSON values in a fixed order; empty optional fields are left out, foreign keys come last."""
    return json_text.record_to_dict(fact, _ALWAYS)


def fact_from_dict(raw: Any, where: str) -> Fact:
    """Returns the fact in a JSON object; InvalidFile names the place and the invalid field."""
    if not isinstance(raw, dict):
        raise InvalidFile(f"{where}: a fact must be an object", MEND)
    label = f"{where}: fact {str(raw.get('id', '?'))[:60]}"
    if isinstance(raw.get("object"), bool | int | float):
        raw = raw | {"object": json_text.dump_line(raw["object"])}  # other tools write numbers as numbers
    values = fields.read_texts(raw, _TEXT, label, MEND)
    missing = [name for name in ("id", "subject", "predicate", "object") if not values.get(name)]
    if missing:
        raise InvalidFile(f"{label}: {missing[0]} is missing", MEND)
    confidence = raw.get("confidence", 1.0)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise InvalidFile(f"{label}: confidence {confidence!r} is outside 0..1", MEND)
    for name in ("valid_from", "valid_until"):
        if not is_time(values.get(name, "")):
            raise InvalidFile(f"{label}: {name} {values[name][:40]!r} is no date", MEND)
    sources = fields.read_list(raw.get("derived_from") or (), f"{label}: derived_from", MEND, "ids")
    made = Fact(confidence=confidence, derived_from=sources, extra=fields.foreign_keys(raw, _KNOWN), **values)
    return bound_by_source(made)


def render_fact_departure(departure: FactDeparture) -> bytes:
    """Returns the archive line of a fact that left, with its newline."""
    record = {"id": departure.fact.id, "kind": "fact", "reason": departure.reason, "at": departure.at}
    record |= {"into": departure.into} if departure.into else {}
    return json_text.dump_record(record | {"fact": fact_to_dict(departure.fact)})


def parse_fact_departures(data: bytes, where: str) -> list[FactDeparture]:
    """Returns the facts that left, oldest first; records of other kinds and unreadable ones are passed over."""
    left = fields.read_departures(data, "fact", lambda raw: fact_from_dict(raw, where), ("reason", "at", "into"))
    return [FactDeparture(fact, *details) for fact, details in left]


class Derived(NamedTuple):
    """Holds what a run of the rules changes on disk."""

    added: int
    changed: int
    removed: int


class Renewed(NamedTuple):
    """Holds what a renewal of derived facts changes: how many, about which subjects, and what no longer follows: for the archive, so that
    its id can still be looked up."""

    done: Derived
    subjects: frozenset[str]
    gone: tuple[FactDeparture, ...] = ()


STOPPED = "stopped"  # the mark of derived facts that a run left incomplete, and why


def renew_derived(file: FactFile, facts: Sequence[Fact], now: str, *, drops: bool) -> Renewed:
    """Puts the facts that follow now into a file, in place of those that followed before. What no longer follows is dropped: it can
    be derived again, and its id with it. A run that was stopped does not know what no longer follows, and drops nothing."""
    known = {fact.id: (fact, line) for fact, line in zip(file.facts(), file.lines, strict=True)}
    lines, subjects, changed, added = [], set(), 0, 0
    for fact in sorted(facts, key=lambda each: each.triple):
        before, line = known.pop(fact.id, (None, b""))
        if before and fact[:11] == before[:11] and not before.extra:  # all but the times at which it was written
            lines.append(line)
            continue
        changed, added = changed + bool(before), added + (not before)
        subjects.add(fact.subject)
        born = before.created_at if before else now
        lines.append(render_fact(fact._replace(created_at=born, updated_at=now)))
    if not drops and known:
        lines = sorted(
            [*lines, *(line for _, line in known.values())], key=lambda line: parse_fact(line, file.path)[1:4]
        )
        known = {}
    subjects |= {fact.subject for fact, _ in known.values()}
    if lines != file.lines:
        file.lines = lines
    gone = tuple(FactDeparture(fact, "no longer derived", now) for fact, _ in known.values())
    return Renewed(Derived(added, changed, len(known)), frozenset(subjects), gone)
