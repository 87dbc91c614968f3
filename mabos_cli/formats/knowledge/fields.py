"""The fields of JSON objects that people and other tools edit: read as values, or refused with the place and the field."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import cite_line, line_of_element, parse_ledger

Value = TypeVar("Value", bound=Any)  # something with an id
TWIN = "give one of the two another id"
_TEXT = frozenset((str,))


def take_list(raw: Any, name: str, path: str, what: str, mend: str) -> tuple[list[Any], dict[str, Any]]:
    """Returns the list that a document is or holds under a name, and its other keys; InvalidFile says `what` it must be."""
    document = {name: raw} if isinstance(raw, list) else raw
    if not isinstance(document, dict) or not isinstance(document.get(name, []), list):
        raise InvalidFile(f"{path}:1: {what}", mend)
    return document.pop(name, []), document


def take_version(document: dict[str, Any], path: str, mend: str) -> tuple[int, str]:
    """Returns the version of a document and the last id that was issued, which are taken out of it."""
    version, last_id = document.pop("version", 0), document.pop("last_id", "")
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise InvalidFile(f"{path}: version must be a whole number", mend)
    return version, str(last_id)


def read_elements(
    entries: Iterable[Any], name: str, path: str, data: bytes, read: Callable[[Any], Value], title: Callable[[str], str]
) -> Iterator[tuple[Value, Any]]:
    """Yields each element of a list as a value with an id of its own, and as it was; InvalidFile cites the line of one that is off.
    `title` says how it is called by its id."""
    seen: set[str] = set()
    for number, entry in enumerate(entries):
        try:
            value = read(entry)
            if value.id in seen:
                raise InvalidFile(f"{path}: {title(value.id)} occurs twice", TWIN)
        except InvalidFile as error:
            raise cite_line(error, path, line_of_element(data, name, number)) from None
        seen.add(value.id)
        yield value, entry


def read_texts(raw: Mapping[str, Any], names: Iterable[str], label: str, mend: str) -> dict[str, Any]:
    """Returns the texts under some names, as far as they are there."""
    found = {name: raw[name] for name in names if raw.get(name) is not None}
    wrong = next((name for name, value in found.items() if not isinstance(value, str)), "")
    if wrong:
        raise InvalidFile(f"{label}: {wrong} must be text", mend)
    return found


def read_list(value: Any, label: str, mend: str, what: str = "texts") -> tuple[str, ...]:
    """Returns a list of texts."""
    if not isinstance(value, list | tuple) or not _TEXT.issuperset(map(type, value)):
        raise InvalidFile(f"{label} must be a list of {what}", mend)
    return tuple(value)


def foreign_keys(raw: Mapping[str, Any], known: Iterable[str]) -> tuple[tuple[str, Any], ...]:
    """Returns what other tools keep in an object."""
    return tuple((key, value) for key, value in raw.items() if key not in known)


def read_departures(
    data: bytes, kind: str, read: Callable[[Any], Value], names: Iterable[str]
) -> Iterator[tuple[Value, list[str]]]:
    """Returns what left, from the lines of an archive, oldest first, each with what the line says under some names; records of
    other kinds and unreadable ones are passed over."""
    for record in parse_ledger(data).records:
        if record.get("kind") == kind:
            try:
                value = read(record.get(kind))
            except InvalidFile:
                continue
            yield value, [str(record.get(name) or "") for name in names]
