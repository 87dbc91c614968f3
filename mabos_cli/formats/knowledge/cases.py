"""cases.json: an array of cases, one per line. The only place that knows the order of their keys.

Every case is decoded when the file is read, by the json module and without making values of it: a search looks at the features
of all, and at the rest of a few.
"""

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from mabos_cli.core.knowledge.case import Case, CaseDeparture, Key, Revision, Worth
from mabos_cli.core.knowledge.case_similarity import Features, Standing
from mabos_cli.core.memory.trust import bound_by_source
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import (
    FULL_CHECK,
    cite_line,
    dump_line,
    dump_record,
    line_of_element,
    parse_json,
    parse_large,
    render_array,
    render_document,
    render_list,
    render_value,
)
from mabos_cli.formats.knowledge.fields import TWIN, foreign_keys, read_departures, read_list

_MEND = "repair the case by hand, or restore the file from git"
_PARTS = {
    "situation": ("beliefs", "desires", "context"),
    "solution": ("plan_id", "actions"),
    "outcome": ("success", "metrics", "lessons"),
}
_RECORD_KEYS = ("stored_at", "uses", "last_used", "merged", "adapted_from", "source", "trust", "revisions")
_LISTS = ("beliefs", "desires", "actions")
_COUNTS = ("uses", "merged")
_TEXT = frozenset((str,))
_OUTCOMES = (bool, type(None))
_NOTHING: dict[str, Any] = {}
_LARGEST = sys.float_info.max


class CaseFile:
    """A file of cases: entries as the json module gives them, and other keys if the file is an object that has them."""

    def __init__(
        self,
        entries: Sequence[dict[str, Any]] = (),
        others: dict[str, Any] | None = None,
        path: str = "cases.json",
        data: bytes = b"",
    ) -> None:
        self.entries, self.others, self.path, self.data = entries, others, path, data

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def sides(self) -> list[Features]:
        """Returns the beliefs and the desires of every case, and whether it has a context."""
        found: list[Features] = []
        for n, entry in enumerate(self.entries):
            situation = entry.get("situation")
            situation = situation if type(situation) is dict else _NOTHING
            beliefs, desires, context = situation.get("beliefs"), situation.get("desires"), situation.get("context")
            if type(beliefs) is list is type(desires) and _TEXT.issuperset(map(type, (*beliefs, *desires, context))):
                found.append((beliefs, desires, context != ""))
            else:  # what is left out may be; what makes no sense is said to make none
                case = self.case(n)
                found.append((case.beliefs, case.desires, bool(case.context)))
        return found

    @cached_property
    def places(self) -> dict[str, int]:
        """Returns where the case with an id is."""
        return {entry["case_id"]: n for n, entry in enumerate(self.entries)}

    def ids(self) -> Collection[str]:
        """Returns the ids of all cases."""
        return self.places.keys()

    def alike(self, key: Key) -> Iterator[Case]:
        """Yields the cases of a situation."""
        return map(self.case, self._groups.get(key, ()))

    @cached_property
    def _groups(self) -> dict[Key, list[int]]:
        """Returns the places of cases by their situation."""
        found: dict[Key, list[int]] = {}
        for n, (beliefs, desires, _) in enumerate(self.sides):
            found.setdefault((frozenset(beliefs), frozenset(desires)), []).append(n)
        return found

    def case(self, n: int) -> Case:
        """Returns a case as a value; InvalidFile cites its line."""
        try:
            return case_from_dict(self.entries[n], self.path)
        except InvalidFile as error:
            raise cite_line(error, self.path, self.line(n)) from None

    def cases(self) -> list[Case]:
        """Returns all cases as values: whatever is wrong in the file comes out."""
        return [self.case(n) for n in range(len(self))]

    def standing(self, n: int) -> Standing:
        """Returns what decides between this case and one that is equally near."""
        success, _, at = self._record(n)
        return Standing(self.entries[n]["case_id"], success, at)

    def is_trusted(self, n: int) -> bool:
        """Returns whether the agent may rely on a case; one that names neither source nor trust is not even decoded."""
        return not {"source", "trust"} & self.entries[n].keys() or self.case(n).is_trusted

    def worths(self) -> Iterator[Worth]:
        """Yields what the usefulness of each case depends on."""
        for n, (beliefs, desires, _) in enumerate(self.sides):
            success, uses, at = self._record(n)
            yield Worth(self.entries[n]["case_id"], (frozenset(beliefs), frozenset(desires)), uses, success, at)

    def _record(self, n: int) -> tuple[bool | None, int, str]:
        """Returns whether a case went well, how often it was used, and when it was used or stored last."""
        entry = self.entries[n]
        outcome, uses = entry.get("outcome"), entry.get("uses", 0)
        success = outcome.get("success") if type(outcome) is dict else None
        at = entry.get("last_used") or entry.get("stored_at") or ""
        if type(success) not in _OUTCOMES or type(uses) is not int or type(at) is not str:
            self.case(n)  # says what makes no sense
        return success, uses, at

    def line(self, n: int) -> int:
        """Returns the line on which a case begins."""
        return line_of_element(self.data, "cases", n)

    def lines(self) -> list[bytes]:
        """Returns the cases as lines of a file: as they stand there if they are in our layout, which is not looked into."""
        found = re.findall(rb'(?m)^ +(\{"case_id": "[^\n]*\}),?$', self.data)
        if len(found) == len(self) and _render(found, self.others) == self.data:
            return found
        if len(self.data) > FULL_CHECK:
            parse_json(self.data, self.path)  # a key that occurs twice must not be lost unnoticed
        return [_dump({"case_id": entry["case_id"]} | entry) for entry in self.entries]

    def changed(self, put: Sequence[Case], drop: Sequence[str]) -> "CaseFile":
        """Returns the file with cases added, replaced by id, and dropped."""
        new = {case.id: case_to_dict(case) for case in put}
        gone = frozenset(drop)
        entries: list[dict[str, Any]] = []
        lines: list[bytes] = []
        for entry, line in zip(self.entries, self.lines(), strict=True):
            renewed = new.pop(entry["case_id"], None)
            if entry["case_id"] not in gone:
                entries.append(renewed or entry)
                lines.append(_dump(renewed) if renewed else line)
        entries += new.values()
        lines += map(_dump, new.values())
        return CaseFile(entries, self.others, self.path, _render(lines, self.others))


def parse_cases(data: bytes, path: str) -> CaseFile:
    """Parses a case file: a list, or an object with one. Ids are checked to be unique; a case is decoded when it is asked for."""
    raw = parse_large(data, path) if len(data) > FULL_CHECK else parse_json(data, path)
    others = None if isinstance(raw, list) else raw
    # An object without cases is something else, such as a single case, unless it holds nothing.
    entries = raw.pop("cases", None if raw else []) if isinstance(raw, dict) else raw
    if not isinstance(entries, list):
        raise InvalidFile(f"{path}:1: a case file must be a list of cases", _MEND)
    file = CaseFile(entries, others, path, data)
    seen: set[str] = set()
    for n, entry in enumerate(entries):
        case_id = entry.get("case_id") if type(entry) is dict else None
        if type(case_id) is not str or not case_id:
            raise InvalidFile(f"{path}:{file.line(n)}: a case must be an object with a case_id", _MEND)
        if case_id in seen:
            raise InvalidFile(f"{path}:{file.line(n)}: case {case_id[:60]} occurs twice", TWIN)
        seen.add(case_id)
    return file


def _dump(entry: dict[str, Any]) -> bytes:
    return dump_line(entry).encode("utf-8")


def _render(lines: Sequence[bytes], others: dict[str, Any] | None) -> bytes:
    if others is not None:
        rest = [render_value(key, value) for key, value in others.items()]
        return render_document([render_array("cases", lines), *rest])
    return render_list(lines)


def case_to_dict(case: Case) -> dict[str, Any]:
    """Returns the case as JSON values in a fixed order; empty ones are left out, keys of other tools come last."""
    extra = dict(case.extra)
    found: dict[str, Any] = {"case_id": case.id}
    for part, names in _PARTS.items():
        values = {name: _plain(name, getattr(case, name)) for name in names}
        values = {n: v for n, v in values.items() if part != "outcome" or (v is not None and v not in ("", {}))}
        found[part] = values | extra.pop(part, {})
    found["stored_at"] = case.stored_at
    found |= {name: value for name in _RECORD_KEYS[1:-1] if (value := getattr(case, name))}
    if case.trust == "agent":
        del found["trust"]
    if case.revisions:
        found["revisions"] = [
            {"at": r.at, "by": r.by, "was": {n: _plain(n, v) for n, v in r.was}, **dict(r.extra)}
            for r in case.revisions
        ]
    return found | extra


def _plain(name: str, value: Any) -> Any:
    return list(value) if name in _LISTS else dict(value) if name == "metrics" else value


def case_from_dict(raw: Any, where: str) -> Case:
    """Returns the case in a JSON object; InvalidFile names the place and the invalid field."""
    if not isinstance(raw, dict):
        raise InvalidFile(f"{where}: a case must be an object", _MEND)
    label = f"{where}: case {str(raw.get('case_id', '?'))[:60]}"
    values: dict[str, Any] = {}
    keys = [name for name in _RECORD_KEYS[:-1] if name not in ("source", "trust") or isinstance(raw.get(name), str)]
    extra = {key: value for key, value in raw.items() if key not in {"case_id", *_PARTS, *keys, "revisions"}}
    for part, names in _PARTS.items():
        given = raw.get(part)
        if not isinstance(given, dict | None):
            raise InvalidFile(f"{label}: {part} must be an object", _MEND)
        given = given or _NOTHING
        values |= {n: _value(n, given[n], f"{label}: {part}.{n}") for n in names if given.get(n) is not None}
        foreign = {key: value for key, value in given.items() if key not in names}
        extra |= {part: foreign} if foreign else {}
    for name in keys:
        if raw.get(name) is not None:
            values[name] = _value(name, raw[name], f"{label}: {name}")
    revisions = raw.get("revisions") or []
    if not isinstance(revisions, list):
        raise InvalidFile(f"{label}: revisions must be a list", _MEND)
    values["revisions"] = tuple(_revision(each, f"{label}: revisions") for each in revisions)
    case_id = _value("case_id", raw.get("case_id") or "", f"{label}: case_id")
    return bound_by_source(Case(case_id, **values, extra=tuple(extra.items())))


def _revision(raw: Any, label: str) -> Revision:
    if not isinstance(raw, dict) or not isinstance(raw.get("was"), dict):
        raise InvalidFile(f"{label}: each must be an object with what was", _MEND)
    names = {name for names in _PARTS.values() for name in names}
    was = tuple(
        (n, _value(n, v, f"{label}: {n}") if n in names and v is not None else v) for n, v in raw["was"].items()
    )
    return Revision(str(raw.get("at") or ""), str(raw.get("by") or ""), was, foreign_keys(raw, ("at", "by", "was")))


def _value(name: str, value: Any, label: str) -> Any:
    """Returns a field as a value, or InvalidFile when it is of another kind."""
    if name in _LISTS:
        return read_list(value, label, _MEND)
    if name == "success":
        is_right, kind = value is True or value is False, "true or false"
    elif name == "metrics":  # as isfinite, but for any whole number
        numbers: Iterable[Any] = value.values() if isinstance(value, dict) else ("",)
        is_right, kind = (
            all(type(one) in (int, float) and abs(one) <= _LARGEST for one in numbers),
            "an object of numbers",
        )
    elif name in _COUNTS:
        is_right, kind = type(value) is int and value >= 0, "a whole number"
    else:
        is_right, kind = isinstance(value, str), "text"
    if not is_right:
        raise InvalidFile(f"{label} must be {kind}", _MEND)
    return tuple(value.items()) if name == "metrics" else value


def render_case_departure(departure: CaseDeparture, case: Case) -> bytes:
    """Returns the archive line of a case that left, with its newline."""
    record = {"id": case.id, "kind": "case", "reason": departure.reason, "at": departure.at}
    return dump_record(record | {"case": case_to_dict(case)})


def parse_case_departures(data: bytes, where: str) -> list[CaseDeparture]:
    """Returns the cases that left, oldest first; records of other kinds and unreadable ones are passed over."""
    left = read_departures(data, "case", lambda raw: case_from_dict(raw, where), ("reason", "at"))
    return [CaseDeparture(case.id, reason, at, case) for case, (reason, at) in left]
