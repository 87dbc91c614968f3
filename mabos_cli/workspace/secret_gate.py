"""The one gate for writing: what a transaction adds to a file holds no secret, whichever command planned it.

What stood in the files before is not looked at again: a secret that somebody allowed, or that a person wrote by hand, blocks
nobody. `doctor --security` finds those.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.language.secrets import find_secrets, redact
from mabos_cli.workspace.files import FileWrite

_PART = 1 << 16  # characters that are searched at a time: a rule without a key in them costs nothing


def refuse_new_secrets(files: Sequence[FileWrite], texts: Iterable[str] | None, lines: Iterable[bytes]) -> None:
    """Raises BadValue when what is added holds a secret that the files did not hold before.

    `texts` is what is added where a plan knows it; without it the lines are compared that the files had and will have.
    """
    known = [file.read_as for file in files if file.read_as]
    if texts is not None:
        _check("what is stored", texts, known)
    else:
        for file in files:
            _check(file.path.name, map(_plain, _added_lines(file.read_as or b"", file.data)), known)
    _check("what is noted", map(_plain, lines), known)


def redact_added(file: FileWrite) -> FileWrite:
    """Returns the write of a text file with the secrets in what it adds replaced, for text that the program moves by itself."""
    added = {line for line in _added_lines(file.read_as or b"", file.data) if _may_hold(line)}
    if not added:
        return file
    return file._replace(data=b"\n".join(_redacted(line) if line in added else line for line in file.data.split(b"\n")))


def _may_hold(line: bytes) -> bool:
    return bool(find_secrets(line.decode("utf-8", "replace")))


def _redacted(line: bytes) -> bytes:
    return redact(line.decode("utf-8", "surrogateescape"))[0].encode("utf-8", "surrogateescape")


def _check(place: str, texts: Iterable[str], known: Sequence[bytes]) -> None:
    for part in _parts(texts):
        kinds = [found.kind for found in find_secrets(part) if not _is_known(part[found.start : found.end], known)]
        if kinds:
            raise BadValue(
                f"a secret in {place}: {', '.join(sorted(set(kinds)))}", "say it without; nothing was written"
            )


def _parts(texts: Iterable[str]) -> Iterator[str]:
    """The texts, joined by lines into parts of a size that is searched quickly."""
    held: list[str] = []
    size = 0
    for text in texts:
        held.append(text)
        size += len(text)
        if size > _PART:
            yield "\n".join(held)
            held, size = [], 0
    yield "\n".join(held)


def _is_known(secret: str, known: Sequence[bytes]) -> bool:
    """Tells whether a secret stood in one of the files before, as text or as JSON spells it."""
    spellings = {
        secret.encode("utf-8", "replace"),
        json.dumps(secret, ensure_ascii=False)[1:-1].encode("utf-8", "replace"),
    }
    return any(spelling in data for spelling in spellings for data in known)


def _added_lines(old: bytes, new: bytes) -> list[bytes]:
    """The lines that a file has and did not have before; its common beginning and end are not even split."""
    start = new.rfind(b"\n", 0, _common(old, new)) + 1
    rest_old, rest_new = old[start:], new[start:]
    tail = rest_new[len(rest_new) - _common(rest_old[::-1], rest_new[::-1]) :]
    end = len(tail) - tail.index(b"\n") if b"\n" in tail else 0  # whole lines only
    before = set(rest_old[: len(rest_old) - end].split(b"\n"))
    return [line for line in rest_new[: len(rest_new) - end].split(b"\n") if line not in before]


def _common(one: bytes, other: bytes) -> int:
    """How many bytes two texts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _plain(line: bytes) -> str:
    """A line as people read it: the texts of a JSON record, else the line itself."""
    text = line.decode("utf-8", "replace")
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return "\n".join(_texts(json.loads(text.strip().rstrip(","))))
    except (ValueError, RecursionError):
        return text


def _texts(value: Any, name: str = "") -> Iterator[str]:
    """The texts in a JSON value, each behind its name; a triple reads as a sentence."""
    if isinstance(value, str):
        yield f"{name}: {value}"
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, name)
    elif isinstance(value, dict):
        if "predicate" in value and "object" in value:
            yield f"{value.get('subject')} {value['predicate']}: {value['object']}"
        for key, each in value.items():
            yield from _texts(each, key)
