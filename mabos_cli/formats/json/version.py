"""The format number of JSON files, and what an older version does with a newer one. docs/files.md has the policy."""

import re
from pathlib import PurePath

from mabos_cli.errors import InvalidFile

FORMAT = 1  # of the files that this version writes; a file that names none is of format 1
NUMBERED = (".json", ".jsonl", ".jsonld")  # endings of files that may begin with a number
BEGINNING = 100  # bytes that are enough to see it
_NUMBER = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"format"\s*:\s*(\d{1,9})\s*[,}]')


def format_of(data: bytes) -> int:
    """Returns the format number that a JSON file begins with, or the first line of a ledger; 1 where there is none.

    >>> format_of(b'{"format": 2, "facts": []}'), format_of(b'{"facts": []}'), format_of(b"[]")
    (2, 1, 1)
    """
    found = _NUMBER.match(data[:BEGINNING])
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
    if data and path.suffix in NUMBERED and (told := newer_format(data)):
        raise InvalidFile(f"{path} {told}", "update mabos; nothing was changed")
