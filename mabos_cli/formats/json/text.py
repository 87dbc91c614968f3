"""JSON as text: strict on the way in, deterministic and safe to print on the way out."""

import json
import re
from math import isinf
from typing import Any, NamedTuple

from mabos_cli.errors import InvalidFile

# Legal in JSON, but harmful when a person prints the file: DEL, C1 controls, direction overrides, line separators.
_HARMFUL = "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"

_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_MEND = "nothing was changed; repair the file or restore it from git, then run mabos doctor"


def dump_line(value: Any) -> str:
    """The value as one line of JSON, without NaN, with harmful characters escaped.

    >>> dump_line({"a": "x\\u202ey"})
    '{"a": "x\\\\u202ey"}'
    """
    text = _ENCODE(value)
    return text if text.isprintable() else _escape(text)


def dump_record(value: Any) -> bytes:
    """The value as a line of a file of JSON lines, with its newline."""
    return dump_line(value).encode("utf-8") + b"\n"


def record_to_dict(record: Any, always: frozenset[str]) -> dict[str, Any]:
    """A record whose last field holds foreign keys, as JSON values: fields in order, empty ones left out unless they are always
    there, foreign keys last."""
    found = {}
    for name, value in zip(record._fields[:-1], record, strict=False):
        if value or name in always:
            found[name] = list(value) if type(value) is tuple else value
    return found | dict(record.extra) if record.extra else found


def dump_document(value: Any) -> str:
    """The value as a two-space indented document with a final newline."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    return _escape(text) + "\n"


def has_harmful(text: str) -> bool:
    """Whether a text of JSON holds what dump_line would have escaped."""
    return re.search(_HARMFUL, text) is not None


def _escape(text: str) -> str:
    return re.sub(_HARMFUL, lambda m: f"\\u{ord(m.group()):04x}", text)


def parse_json(data: bytes | str, path: str, *, line: int = 0, hint: str = _MEND) -> Any:
    """The value in strict JSON: no NaN, no duplicate keys, no endless nesting; InvalidFile cites path:line."""
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        return json.loads(
            text, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_refuse_duplicates
        )
    except json.JSONDecodeError as error:
        where, problem = error.lineno, f"not valid JSON: {error.msg}"
        if not text.strip():
            problem = "the file is empty"
        elif text[max(0, error.pos - 1) : error.pos + 7].lstrip().startswith(("<<<<<<<", "=======", ">>>>>>>")):
            problem = "not valid JSON: git conflict markers"
    except UnicodeDecodeError as error:
        where, problem = data[: error.start].count(b"\n") + 1, "not valid UTF-8"  # type: ignore[arg-type]
    except RecursionError:
        where, problem = 1, "not valid JSON: nested too deeply"
    except ValueError as error:
        where, problem = 1, f"not valid JSON: {error}"
    raise InvalidFile(f"{path}:{line or where}: {problem}", hint)


def parse_large(data: bytes, path: str) -> Any:
    """The same of a file too large to look at each key: of two alike the last counts. What is odd is found the slow way."""
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError):
        return parse_json(data, path)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text[:20]} is too large a number")
    return number


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key {key!r} appears twice")
            seen.add(key)
    return found


class Ledger(NamedTuple):
    """The records of JSON lines in their order, each with all its keys; how many lines are torn or broken, and how many hold a
    value that is no object. Those are passed over: a file that is only ever appended to may end in the middle of a line."""

    records: list[dict[str, Any]]
    torn: int = 0
    foreign: int = 0

    @property
    def skipped(self) -> int:
        """How many lines are no record."""
        return self.torn + self.foreign


def parse_ledger(data: bytes) -> Ledger:
    """Returns the records of JSON lines, whatever else is between them.

    >>> parse_ledger(b'{"a": 1}\\n[2]\\n{"a": "to')
    Ledger(records=[{'a': 1}], torn=1, foreign=1)
    """
    values, torn = [], 0
    for line in data.split(b"\n"):
        if not line.strip(b"\0 \t\r"):
            torn += b"\0" in line
            continue
        try:
            values.append(json.loads(line.strip(b"\0").decode("utf-8"), parse_constant=_refuse_constant))
        except (ValueError, RecursionError):
            torn += 1
    records = [value for value in values if isinstance(value, dict)]
    return Ledger(records, torn, len(values) - len(records))
