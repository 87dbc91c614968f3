"""Facts from and for other programs: NDJSON and CSV."""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from mabos_cli.core.fact import Fact
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.facts import fact_from_dict, fact_to_dict
from mabos_cli.formats.json_text import dump_line, parse_json

COLUMNS = ("subject", "predicate", "object", "confidence", "source", "trust", "valid_from", "valid_until")
_NOTHING = "nothing was imported"


def parse_ndjson(text: str, path: str) -> Iterator[tuple[str, Fact]]:
    """The facts of JSON lines, each with its place; InvalidFile cites the first line that is off."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{path}:{number}"
            raw = parse_json(line, path, line=number, hint=f"{_NOTHING}; each line must be one JSON object")
            yield where, _fact(raw, where)


def parse_csv(text: str, path: str) -> Iterator[tuple[str, Fact]]:
    """The facts of a table with a header; columns that are not there have their defaults, others are left alone."""
    reader = csv.DictReader(io.StringIO(text, newline=""))
    names = [str(name).strip().lower() for name in reader.fieldnames or ()]
    missing = [name for name in COLUMNS[:3] if name not in names]
    if missing:
        raise InvalidFile(
            f"{path}:1: no column {missing[0]}", f"{_NOTHING}; the header names {', '.join(COLUMNS[:3])}"
        )
    reader.fieldnames = names
    for row in reader:
        where = f"{path}:{reader.line_num}"
        raw: dict[str, Any] = {
            n: row[n].strip() for n in COLUMNS if isinstance(row.get(n), str) and row[n].strip()
        }
        if raw:
            try:
                raw |= {"confidence": float(raw["confidence"])} if "confidence" in raw else {}
            except ValueError:
                raise InvalidFile(
                    f"{where}: confidence {raw['confidence'][:20]!r} is no number", _NOTHING
                ) from None
            yield where, _fact(raw, where)


def _fact(raw: Any, where: str) -> Fact:
    given = {"id": "new"} | raw if isinstance(raw, dict) else raw
    try:
        return fact_from_dict(given, where)
    except InvalidFile as error:
        raise InvalidFile(error.message.replace(": fact new", ""), _NOTHING) from None


def render_ndjson(facts: Iterable[Fact]) -> str:
    """A fact per line."""
    return "".join(f"{dump_line(fact_to_dict(fact))}\n" for fact in facts)


def render_csv(facts: Iterable[Fact]) -> str:
    """A table with a header."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for fact in facts:
        writer.writerow(
            [f"{fact.confidence:g}" if name == "confidence" else getattr(fact, name) for name in COLUMNS]
        )
    return out.getvalue()
