"""Facts from and for other programs: NDJSON and CSV."""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.memory.trust import lowest_trust
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import dump_line, parse_json
from mabos_cli.formats.knowledge.fact_line import fact_from_dict, fact_to_dict

COLUMNS = ("subject", "predicate", "object", "confidence", "source", "trust", "valid_from", "valid_until")
_NOTHING = "nothing was imported"


class Silent(NamedTuple):
    """What holds of facts that do not say it themselves; and the trust that the others get at most, if any is given."""

    source: str = "manual"
    trust: str = ""


def parse_ndjson(text: str, path: str, silent: Silent = Silent()) -> Iterator[tuple[str, Fact]]:
    """The facts of JSON lines, each with its place; InvalidFile cites the first line that is off."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{path}:{number}"
            raw = parse_json(line, path, line=number, hint=f"{_NOTHING}; each line must be one JSON object")
            yield where, _fact(raw, where, silent)


def parse_csv(text: str, path: str, silent: Silent = Silent()) -> Iterator[tuple[str, Fact]]:
    """The facts of a table with a header; columns that are not there have their defaults, others are left alone."""
    reader = csv.DictReader(io.StringIO(text, newline=""))
    names = [str(name).strip().lower() for name in reader.fieldnames or ()]
    missing = [name for name in COLUMNS[:3] if name not in names]
    if missing:
        raise InvalidFile(f"{path}:1: no column {missing[0]}", f"{_NOTHING}; the header names {', '.join(COLUMNS[:3])}")
    reader.fieldnames = names
    for row in _rows(reader, path):
        where = f"{path}:{reader.line_num}"
        raw: dict[str, Any] = {n: row[n].strip() for n in COLUMNS if isinstance(row.get(n), str) and row[n].strip()}
        if raw:
            try:
                raw |= {"confidence": float(raw["confidence"])} if "confidence" in raw else {}
            except ValueError:
                raise InvalidFile(f"{where}: confidence {raw['confidence'][:20]!r} is no number", _NOTHING) from None
            yield where, _fact(raw, where, silent)


def _rows(reader: "csv.DictReader[str]", path: str) -> Iterator[dict[str, str]]:
    try:
        yield from reader
    except csv.Error as error:
        raise InvalidFile(f"{path}:{reader.line_num + 1}: not valid CSV: {error}", _NOTHING) from None


def _fact(raw: Any, where: str, silent: Silent) -> Fact:
    if isinstance(raw, dict):
        said = {name: value for name, value in raw.items() if value not in (None, "")}
        raw = {"id": "new", "source": silent.source, "trust": silent.trust or "agent"} | said
    try:
        fact = fact_from_dict(raw, where)
        return (
            fact._replace(trust=lowest_trust((fact.trust, silent.trust))) if silent.trust and "trust" in said else fact
        )
    except InvalidFile as error:
        raise InvalidFile(error.message.replace(": fact new", ""), _NOTHING) from None


def render_ndjson(facts: Iterable[Fact]) -> str:
    """A fact per line."""
    return "".join(f"{dump_line(fact_to_dict(fact))}\n" for fact in facts)


def _share(fact: Fact) -> str:
    """The confidence, every digit of it."""
    return repr(fact.confidence).removesuffix(".0")


def render_csv(facts: Iterable[Fact]) -> str:
    """A table with a header."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for fact in facts:
        writer.writerow([_share(fact) if name == "confidence" else getattr(fact, name) for name in COLUMNS])
    return out.getvalue()
