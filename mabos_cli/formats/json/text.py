"""JSON as text: strict on the way in, deterministic and safe to print on the way out.

Documents have an array with one element per line: a git diff shows one line per element, and elements can be added, replaced and
removed as raw lines, without decoding the thousands that nobody touches.
"""

import json
import re
from collections.abc import Callable, Sequence
from math import isinf
from pathlib import PurePath
from typing import Any

from mabos_cli.core.language.patterns import compiled_bytes
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import InvalidFile

# Legal in JSON, but harmful when a person prints the file: DEL, C1 controls, direction overrides, line separators.
_HARMFUL = "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"

_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_MEND = "nothing was changed; repair the file or restore it from git, then run mabos doctor"


def dump_line(value: Any) -> str:
    """Returns the value as one line of JSON, without NaN, with harmful characters escaped.

    >>> dump_line({"a": "x\\u202ey"})
    '{"a": "x\\\\u202ey"}'
    """
    text = _ENCODE(value)
    return text if text.isprintable() else _escape(text)


def dump_record(value: Any) -> bytes:
    """Returns the value as a line of a file of JSON lines, with its newline."""
    return dump_line(value).encode("utf-8") + b"\n"


def record_to_dict(record: Any, always: frozenset[str]) -> dict[str, Any]:
    """Returns a record whose last field holds foreign keys, as JSON values: fields in order, empty ones left out
    unless they are always
    there, foreign keys last."""
    found = {}
    for name, value in zip(record._fields[:-1], record, strict=False):
        if value or name in always:
            found[name] = list(value) if type(value) is tuple else value
    return found | dict(record.extra) if record.extra else found


def dump_document(value: Any) -> str:
    """Returns the value as a two-space indented document with a final newline."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    return _escape(text) + "\n"


def has_harmful(text: str) -> bool:
    """Returns whether a text of JSON holds what dump_line would have escaped."""
    return re.search(_HARMFUL, text) is not None


def _escape(text: str) -> str:
    return re.sub(_HARMFUL, lambda m: f"\\u{ord(m.group()):04x}", text)


def parse_json(data: bytes | str, path: str, *, line: int = 0, hint: str = _MEND) -> Any:
    """Returns the value in strict JSON: no NaN, no duplicate keys, no endless nesting; InvalidFile cites path:line."""
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
    """Returns the same of a file too large to look at each key: of two alike the last counts. What is odd is found
    the slow way."""
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
        """Returns how many lines are no record."""
        return self.torn + self.foreign


def parse_ledger(data: bytes) -> Ledger:
    """Returns the records of JSON lines, whatever else is between them; a line with nothing but the format number is none.

    >>> parse_ledger(b'{"format": 2}\\n{"a": 1}\\n[2]\\n{"a": "to')
    Ledger(records=[{'a': 1}], torn=1, foreign=1)
    """
    values, torn = [], 0
    decode = json.JSONDecoder(parse_constant=_refuse_constant).decode
    for line in data.split(b"\n"):
        if not line.strip(b"\0 \t\r"):
            torn += b"\0" in line
            continue
        try:
            values.append(decode(line.strip(b"\0").decode("utf-8")))
        except (ValueError, RecursionError):
            torn += 1
    objects = [value for value in values if isinstance(value, dict)]
    records = [value for value in objects if value.keys() != {"format"}]
    return Ledger(records, torn, len(values) - len(objects))


_CLOSE = b"\n  ]"
# Lines as we write them. JSON strings hold no raw newline, so this cannot match inside content.
_OUR_LINES = rb'(?:    \{"id": "[^\n]*\},\n)*    \{"id": "[^\n]*\}'
# Above this size only the shape of lines is checked: they are copied byte for byte anyway.
FULL_CHECK = 1 << 20


def find_block(
    data: bytes, name: str, is_ours: Callable[[bytes], bool] = lambda block: False
) -> tuple[bytes, bytes] | None:
    """Returns the document without the elements of an array, and the text of those; None when the layout is not ours.
    `is_ours` may know
    that it is by other signs."""
    opening = b'\n  "%s": [\n' % name.encode()
    start = data.find(opening)
    end = data.find(_CLOSE, start + len(opening)) if start >= 0 else -1
    if end < 0:
        return None
    block = data[start + len(opening) : end]
    # Two on a line, or something like it inside one: then the document is decoded as a whole.
    if not is_ours(block) and (not compiled_bytes(_OUR_LINES).fullmatch(block) or b'}, {"id": "' in block):
        return None
    return data[:start] + b'\n  "%s": []' % name.encode() + data[end + len(_CLOSE) :], block


def split_block(block: bytes) -> list[bytes]:
    """Returns the elements of a block, each a line without indentation."""
    return block[4:].split(b",\n    ")


def split_lines(data: bytes, name: str, path: str) -> tuple[bytes, list[bytes]]:
    """Returns the document without the elements of an array, and those as lines; no lines when the layout is not ours."""
    found = find_block(data, name)
    if found is None:
        return data, []
    if len(found[1]) <= FULL_CHECK:
        parse_json(data, path)
    return found[0], split_block(found[1])


def render_document(parts: Sequence[bytes]) -> bytes:
    """Returns a document of arrays and values, in order."""
    return b"{\n" + b",\n".join(parts) + b"\n}\n"


def render_array(name: str, lines: Sequence[bytes]) -> bytes:
    """Returns an array with one element per line."""
    if not lines:
        return b'  "%s": []' % name.encode()
    return b'  "%s": [\n    ' % name.encode() + b",\n    ".join(lines) + b"\n  ]"


def render_list(lines: Sequence[bytes]) -> bytes:
    """Returns a document that is nothing but an array, with one element per line."""
    return b"[\n  " + b",\n  ".join(lines) + b"\n]\n" if lines else b"[]\n"


def renewed(raw: dict[str, Any], old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Returns an element as it was read, with what a change of its value makes different: the rest stays as somebody wrote it."""
    return raw | {key: value for key, value in new.items() if key not in old or value != old[key]}


def cite_line(error: InvalidFile, path: str, line: int) -> InvalidFile:
    """Returns the refusal of an element, with the line that it begins on."""
    return InvalidFile(f"{path}:{line}{error.message.removeprefix(path)}", error.hint)


def render_value(name: str, value: Any) -> bytes:
    """Returns a key and its value on one line."""
    return f"  {dump_line(name)}: {dump_line(value)}".encode()


def line_of(data: bytes, mark: bytes) -> int:
    """Returns the line, counted from one, on which a text first stands; the first line when it stands nowhere."""
    return 1 + data.count(b"\n", 0, max(0, data.find(mark)))


def line_of_element(data: bytes, name: str, number: int) -> int:
    """Returns the line on which an element of an array begins, in a document that is that array or has it under a name."""
    text = data.decode("utf-8", "replace")
    opening = re.match(r"\s*\[", text) or re.search(rf'"{name}"\s*:\s*\[', text)
    at, between, decoder = opening.end() if opening else 0, re.compile(r"[\s,]*"), json.JSONDecoder()
    try:
        for _ in range(number):
            at = decoder.raw_decode(text, between.match(text, at).end())[1]  # type: ignore[union-attr]
    except ValueError:
        return 1
    return 1 + text.count("\n", 0, between.match(text, at).end())  # type: ignore[union-attr]


FORMAT = 1  # of the files that this version writes; a file that names none is of format 1
NUMBERED = (".json", ".jsonl", ".jsonld")  # endings of files that may begin with a number
BEGINNING = 100  # bytes that are enough to see it
_NUMBER = rb'(?:\xef\xbb\xbf)?\s*\{\s*"format"\s*:\s*(\d{1,9})\s*[,}]'


def format_of(data: bytes) -> int:
    """Returns the format number that a JSON file begins with, or the first line of a ledger; 1 where there is none.

    >>> format_of(b'{"format": 2, "facts": []}'), format_of(b'{"facts": []}'), format_of(b"[]")
    (2, 1, 1)
    """
    found = compiled_bytes(_NUMBER).match(data[:BEGINNING])
    return int(found[1]) if found else 1


def newer_format(data: bytes) -> str:
    """Returns what is said about a file of a newer format; empty when it is none.

    >>> newer_format(b'{"format": 2}'), newer_format(b'{"format": 1}')
    ('is of format 2; this mabos knows format 1: it reads what it can and does not write over it', '')
    """
    number = format_of(data)
    known = f"this mabos knows format {FORMAT}: it reads what it can and does not write over it"
    return f"is of format {number}; {known}" if number > FORMAT else ""


def check_format(path: PurePath, data: bytes | None) -> None:
    """Refuses a file that a newer version of mabos wrote: it may be read, but never written over. `data` is how it begins."""
    if data and path.suffix in NUMBERED and (reason := newer_format(data)):
        raise InvalidFile(f"{path} {reason}", "update mabos; nothing was changed")
