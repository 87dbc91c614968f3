"""A question: what must be found as it is written, and whom it names."""

import re
from collections.abc import Iterable

from mabos_cli.core.language.text import words

_FIRST_PERSON = frozenset("i me my mine myself we us our ours".split())


def phrases(text: str) -> list[tuple[str, bool]]:
    """What is to be found as it is written: quoted phrases, which are sure, and ids, file names, codes, which look like it.

    >>> phrases('why "per seat" in ERR_42 and src/app.py or v2.1.0 at 7:30pm, and/or p.m.')
    [('per seat', True), ('ERR_42', False), ('src/app.py', False), ('v2.1.0', False)]
    """
    text = text[:4000]
    quoted = [part.strip() for part in re.findall(r'"([^"\n]{2,200})"', text)]
    tokens = re.findall(r"[\w@#./:+-]*\w", re.sub(r'"[^"\n]*"', " ", text))
    found = [(part, True) for part in quoted if words(part)]
    return (found + [(token, False) for token in dict.fromkeys(tokens) if _is_identifier(token)])[:20]


def _is_identifier(token: str) -> bool:
    """Whether a token is a name that somebody gave to a thing, rather than a word, an abbreviation, a number or a measure."""
    if len(token) < 4 or not re.search(r"[^\W\d_]", token):
        return False
    if re.fullmatch(r"[\d.,:-]+[^\W\d_]{1,3}", token):  # 7:30pm, 10km, 1990s
        return False
    if re.search(r"\d|_|@|::", token):
        return True
    parts = re.split(r"[./]", token)
    if "." in token:  # app.py and example.org, not p.m or i.e
        return all(len(part) > 1 for part in parts if part) and len(parts) > 1
    return len(parts) > 2  # a path, not and/or


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
