"""A question: what must be found as it is written, and whom it names."""

import re
from collections.abc import Iterable

from mabos_cli.core.text import words

_FIRST_PERSON = frozenset("i me my mine myself we us our ours".split())


def phrases(text: str) -> list[str]:
    """What must be found as it is written: quoted phrases, ids, file names, error codes.

    >>> phrases('why "per seat" in ERR_42 and src/app.py or v2.1 at 7:30pm')
    ['per seat', 'ERR_42', 'src/app.py', 'v2.1']
    """
    text = text[:4000]
    quoted = [part.strip() for part in re.findall(r'"([^"\n]{2,200})"', text)]
    tokens = re.findall(r"[\w@#./:+-]*\w", re.sub(r'"[^"\n]*"', " ", text))
    return [part for part in quoted if words(part)] + [token for token in tokens if _is_identifier(token)]


def _is_identifier(token: str) -> bool:
    """Whether a token is a name that somebody gave to a thing, rather than a word or a number."""
    if re.fullmatch(r"\d+(?:st|nd|rd|th|s|am|pm|k|m|x|d|h)?|\d+[:.,]\d+(?:am|pm)?", token, re.IGNORECASE):
        return False
    if not re.search(r"[^\W\d_]", token):
        return False
    return bool(re.search(r"\d|_|\w[./:@]\w", token))


def names_in(question: str, authors: Iterable[str]) -> frozenset[str]:
    """The authors that a question names: by a whole name, or by a first name.

    >>> sorted(names_in("What did Ada say to Bob Stone?", ["Ada Lovelace", "bob stone", "Eve", ""]))
    ['Ada Lovelace', 'bob stone']
    """
    said = set(words(question))
    found = set()
    for author in authors:
        parts = words(author)
        if parts and (said.issuperset(parts) or (len(parts[0]) > 2 and parts[0] in said)):
            found.add(author)
    return frozenset(found)


def is_first_person(question: str) -> bool:
    """Whether the one who asks speaks of themselves."""
    return not _FIRST_PERSON.isdisjoint(words(question))


def without(question: str, names: Iterable[str]) -> str:
    """The question without the names of authors: a vector of a name says nothing about what was said.

    >>> without("When did Ada's brother visit?", ["Ada"])
    'When did brother visit?'
    """
    parts = sorted({part for name in names for part in words(name)}, key=len, reverse=True)
    if not parts:
        return question
    pattern = rf"\b(?:{'|'.join(map(re.escape, parts))})\b(?:['’]s)?\s*"
    return re.sub(pattern, "", question, flags=re.IGNORECASE).strip() or question
