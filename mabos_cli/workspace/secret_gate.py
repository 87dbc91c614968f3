"""The one gate for writing: what a transaction adds to a file holds no secret, and is trusted no more than its source unless a
person vouches for it, whichever command planned it.

What stood in the files before is not looked at again: a secret that somebody allowed, or that a person wrote by hand, blocks
nobody. `doctor --security` finds those.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.language.patterns import compiled_bytes
from mabos_cli.core.language.secrets import find_secrets, redact
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.trust import VOUCHED_BY, Claim, needs_voucher
from mabos_cli.formats.json.text import dump_line
from mabos_cli.workspace.files import FileWrite

_PART = 1 << 16  # characters that are searched at a time: a rule without a key in them costs nothing
_IDS = rb'"(?:case_)?id"\s*:\s*("(?:[^"\\]|\\.)*")'


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


def refuse_unvouched(files: Sequence[FileWrite], claims: Sequence[Claim] | None, read_log: Callable[[], bytes]) -> None:
    """Raises BadValue when an entry from outside that was not there before claims to be trusted, and the log of trust does not
    name it. `claims` are those of the new entries where a plan knows them; without them the files are compared."""
    for claim in find_unvouched(files, claims, read_log):
        raise BadValue(describe_claim(claim), "--by NAME says who vouches for it; nothing was written")


def find_unvouched(
    files: Sequence[FileWrite], claims: Sequence[Claim] | None, read_log: Callable[[], bytes]
) -> list[Claim]:
    """Returns what refuse_unvouched refuses."""
    if claims is None:
        claims = [claim for file in files for claim in _new_claims(file)]
    wanting = [claim for claim in claims if needs_voucher(claim.trust, claim.source)]
    log = read_log() if wanting else b""
    return [claim for claim in wanting if dump_line(claim.id).encode("utf-8", "replace") not in log]


def describe_claim(claim: Claim) -> str:
    """Returns what an entry claims, on a line."""
    return f"{one_line(claim.id, 60)} from {one_line(claim.source, 60)} claims to be {claim.trust}"


def _new_claims(file: FileWrite) -> Iterator[Claim]:
    """Yields what the new entries of a cognitive file, of facts or of cases say of their trust."""
    old = file.read_as or b""
    if file.path.suffix == ".md" and b"trust" in file.data.lower():
        from mabos_cli.formats.mind.attitudes import KINDS  # late: a store needs nothing of the mind
        from mabos_cli.formats.mind.cognitive import parse_cognitive

        if file.path.name not in {kind.file for kind in KINDS.values()}:
            return
        known, entries = (parse_cognitive(data.decode("utf-8", "replace")).entries for data in (old, file.data))
        yield from {entry.claim for entry in entries} - {entry.claim for entry in known}
    elif file.path.suffix == ".json":
        lines = _added_lines(old, file.data)
        claims = [each for line in lines for each in _claims_of(line) if needs_voucher(each.trust, each.source)]
        ids = set(compiled_bytes(_IDS).findall(old)) if claims else set()
        yield from (each for each in claims if dump_line(each.id).encode("utf-8", "replace") not in ids)


def _claims_of(line: bytes) -> Iterator[Claim]:
    """Yields the claim of a fact or a case on a line."""
    if b'"source": "' not in line or (b'"trust": "' not in line and VOUCHED_BY.encode() not in line):
        return
    try:
        record = json.loads(line.strip().rstrip(b","))
    except (ValueError, RecursionError):
        return
    named = str(record.get("id") or record.get("case_id") or "") if isinstance(record, dict) else ""
    if named:
        trust = record.get("trust") or ("agent" if record.get(VOUCHED_BY) else "")
        yield Claim(named, str(trust), str(record.get("source") or ""))


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
                f"a secret in {place}: {', '.join(sorted(set(kinds)))}", "remove the secret; nothing was written"
            )


def _parts(texts: Iterable[str]) -> Iterator[str]:
    """Yields the texts, joined by lines into parts of a size that is searched quickly."""
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
    """Returns the lines that a file has and did not have before; its common beginning and end are not even split."""
    start = new.rfind(b"\n", 0, _common(old, new)) + 1
    rest_old, rest_new = old[start:], new[start:]
    tail = rest_new[len(rest_new) - _common(rest_old[::-1], rest_new[::-1]) :]
    end = len(tail) - tail.index(b"\n") if b"\n" in tail else 0  # whole lines only
    before = set(rest_old[: len(rest_old) - end].split(b"\n"))
    return [line for line in rest_new[: len(rest_new) - end].split(b"\n") if line not in before]


def _common(one: bytes, other: bytes) -> int:
    """Returns how many bytes two texts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _plain(line: bytes) -> str:
    """Returns a line as people read it: the texts of a JSON record, else the line itself."""
    text = line.decode("utf-8", "replace")
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return "\n".join(_texts(json.loads(text.strip().rstrip(","))))
    except (ValueError, RecursionError):
        return text


def _texts(value: Any, name: str = "") -> Iterator[str]:
    """Yields the texts in a JSON value, each behind its name; a triple reads as a sentence."""
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
