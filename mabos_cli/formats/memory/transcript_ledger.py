"""The ledger of transcripts: for each how far it was taken, and what the next run has to remember of what lies before."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from mabos_cli.formats.json.text import dump_line, dump_record, parse_lines
from mabos_cli.formats.memory.agent_hosts import HOSTS
from mabos_cli.formats.memory.agent_transcripts import Asked, Scope


class Place(NamedTuple):
    """How much of a file there is, and a checksum of the last block before that."""

    size: int
    crc: int


class Mark(NamedTuple):
    """A transcript was taken up to a place, in a scope. `seen` is how far the observations reached then: whatever was taken of it
    and is not noted here stands behind."""

    file: str
    host: str
    place: Place
    line: int = 0
    session: str = ""
    scope: Scope = Scope()
    calls: tuple[tuple[str, Asked], ...] = ()
    seen: tuple[str, Place] | None = None
    at: str = ""


def find_marks(ledger: bytes, file: str) -> Iterator[Mark]:
    """The marks of transcripts with a name, newest first. No other line is decoded, so that a long ledger costs little."""
    wanted = dump_line({"file": file})[1:-1].encode("utf-8")
    end = len(ledger)
    while (place := ledger.rfind(wanted, 0, end)) >= 0:
        start, stop = ledger.rfind(b"\n", 0, place) + 1, ledger.find(b"\n", place)
        for record in parse_lines(ledger[start : stop if stop >= 0 else None])[0]:
            mark = _mark_from(record)
            if mark and mark.file == file:
                yield mark
        end = start


def _mark_from(record: Any) -> Mark | None:
    """The mark in a record, or None when it is none: then that part is read again, and keys tell what was taken."""
    try:
        scope, seen = record.get("scope", {}), record.get("seen")
        mark = Mark(
            file=str(record["file"]),
            host=str(record["host"]),
            place=Place(int(record["size"]), int(record["crc"])),
            line=int(record["line"]),
            session=str(record.get("session", "")),
            scope=Scope(
                tuple(map(str, scope.get("roles", Scope().roles))),
                bool(scope.get("tools", True)),
                str(scope.get("since", "")),
            ),
            calls=tuple(
                (name, Asked(str(tool), str(given), tuple(map(str, kinds))))
                for name, tool, given, kinds in record.get("calls", ())
            ),
            seen=(str(seen[0]), Place(int(seen[1]), int(seen[2]))) if seen else None,
        )
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None
    return mark if mark.host in HOSTS and mark.place.size >= 0 else None


def render_mark(mark: Mark) -> bytes:
    """The mark as a line of the ledger; what is as usual is left out."""
    usual = Scope()
    scope = {name: value for name, value in mark.scope._asdict().items() if value != getattr(usual, name)}
    record = {
        "at": mark.at,
        "file": mark.file,
        "host": mark.host,
        "session": mark.session,
        "size": mark.place.size,
        "crc": mark.place.crc,
        "line": mark.line,
        "scope": scope,
        "calls": [(name, *asked) for name, asked in mark.calls],
        "seen": (mark.seen[0], *mark.seen[1]) if mark.seen else (),
    }
    told = {name: value for name, value in record.items() if value not in ("", (), [], {})}
    return dump_record(told)
