"""JSON documents with an array that has one element per line: a git diff shows one line per element, and elements can be
added, replaced and removed as raw lines, without decoding the thousands that nobody touches."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import dump_line, parse_json

_CLOSE = b"\n  ]"
# Lines as we write them. JSON strings hold no raw newline, so this cannot match inside content.
_OUR_LINES = rb'(?:    \{"id": "[^\n]*\},\n)*    \{"id": "[^\n]*\}'
# Above this size only the shape of lines is checked: they are copied byte for byte anyway.
FULL_CHECK = 1 << 20


def find_block(
    data: bytes, name: str, is_ours: Callable[[bytes], bool] = lambda block: False
) -> tuple[bytes, bytes] | None:
    """The document without the elements of an array, and the text of those; None when the layout is not ours. `is_ours` may know
    that it is by other signs."""
    opening = b'\n  "%s": [\n' % name.encode()
    start = data.find(opening)
    end = data.find(_CLOSE, start + len(opening)) if start >= 0 else -1
    if end < 0:
        return None
    block = data[start + len(opening) : end]
    # Two on a line, or something like it inside one: then the document is decoded as a whole.
    if not is_ours(block) and (not re.fullmatch(_OUR_LINES, block) or b'}, {"id": "' in block):
        return None
    return data[:start] + b'\n  "%s": []' % name.encode() + data[end + len(_CLOSE) :], block


def split_block(block: bytes) -> list[bytes]:
    """The elements of a block, each a line without indentation."""
    return block[4:].split(b",\n    ")


def split_lines(data: bytes, name: str, path: str) -> tuple[bytes, list[bytes]]:
    """The document without the elements of an array, and those as lines; no lines when the layout is not ours."""
    found = find_block(data, name)
    if found is None:
        return data, []
    if len(found[1]) <= FULL_CHECK:
        parse_json(data, path)
    return found[0], split_block(found[1])


def render_document(parts: Sequence[bytes]) -> bytes:
    """A document of arrays and values, in order."""
    return b"{\n" + b",\n".join(parts) + b"\n}\n"


def render_array(name: str, lines: Sequence[bytes]) -> bytes:
    """An array with one element per line."""
    if not lines:
        return b'  "%s": []' % name.encode()
    return b'  "%s": [\n    ' % name.encode() + b",\n    ".join(lines) + b"\n  ]"


def render_list(lines: Sequence[bytes]) -> bytes:
    """A document that is nothing but an array, with one element per line."""
    return b"[\n  " + b",\n  ".join(lines) + b"\n]\n" if lines else b"[]\n"


def renewed(raw: dict[str, Any], old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """An element as it was read, with what a change of its value makes different: the rest stays as somebody wrote it."""
    return raw | {key: value for key, value in new.items() if key not in old or value != old[key]}


def cite_line(error: InvalidFile, path: str, line: int) -> InvalidFile:
    """The refusal of an element, with the line that it begins on."""
    return InvalidFile(f"{path}:{line}{error.message.removeprefix(path)}", error.hint)


def render_value(name: str, value: Any) -> bytes:
    """A key and its value on one line."""
    return f"  {dump_line(name)}: {dump_line(value)}".encode()


def line_of(data: bytes, mark: bytes) -> int:
    """The line, counted from one, on which a text first stands; the first line when it stands nowhere."""
    return 1 + data.count(b"\n", 0, max(0, data.find(mark)))


def line_of_element(data: bytes, name: str, number: int) -> int:
    """The line on which an element of an array begins, in a document that is that array or has it under a name."""
    text = data.decode("utf-8", "replace")
    opening = re.match(r"\s*\[", text) or re.search(rf'"{name}"\s*:\s*\[', text)
    at, between, decoder = opening.end() if opening else 0, re.compile(r"[\s,]*"), json.JSONDecoder()
    try:
        for _ in range(number):
            at = decoder.raw_decode(text, between.match(text, at).end())[1]  # type: ignore[union-attr]
    except ValueError:
        return 1
    return 1 + text.count("\n", 0, between.match(text, at).end())  # type: ignore[union-attr]
