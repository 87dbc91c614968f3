"""Extraction: triples that plain statements say outright, with how sure that is.

A statement must have one of a few forms: somebody's something is a value, a name does something to something, something is
somewhere. What is denied, guessed, planned, conditional or over says nothing that holds, and is left out, as is whatever has
another form: a candidate that is missing is found by the next reader, one that is wrong is not.
"""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from mabos_cli.core import read_data
from mabos_cli.core.knowledge.fact import Triple
from mabos_cli.core.language.statements import split_statements
from mabos_cli.core.language.text import STOP_WORDS
from mabos_cli.core.mind.claims.claim import read_claims

_LONGEST = 200  # characters of a statement
_OBJECT_WORDS = 6
_KNOWN, _UNKNOWN = 0.05, 0.0  # more for a predicate that is in use


def _read_patterns() -> dict[str, str]:
    """Returns the patterns of extraction.txt by name, those of forms by number and sureness."""
    found: dict[str, str] = {}
    for number, line in enumerate(read_data("knowledge/extraction.txt").split("\n")):
        name, equals, pattern = line.partition(" = ")
        if equals and not line.startswith("#"):
            key = f"{number} {name}" if name[0].isdigit() else name
            found[key] = re.sub("@([a-z]+)@", lambda place: found[place[1]], pattern)
    return found


_PATTERNS = {name: re.compile(text) for name, text in _read_patterns().items()}
_FORMS = tuple((pattern, float(name.split()[1])) for name, pattern in _PATTERNS.items() if name[0].isdigit())


class Extracted(NamedTuple):
    """A triple that a statement says, how sure that is, the statement, and when it holds if it says so."""

    triple: Triple
    confidence: float
    statement: str
    valid_from: str = ""
    valid_until: str = ""


def extract_triples(text: str, *, speaker: str = "", predicates: Collection[str] = ()) -> Iterator[Extracted]:
    """Yields the triples that the statements of a text say. `speaker` is whom we, our, I and my mean; without one, such
    statements are left out. Predicates that are in use are preferred to new names for the same.

    >>> [found.triple for found in extract_triples("Acme's revenue is $2M. Maybe Dana moves to Rome.")]
    [('Acme', 'hasRevenue', '$2M')]
    """
    known = {_words(name): name for name in sorted(predicates, reverse=True)}
    for statement in split_statements(text):
        if len(statement) <= _LONGEST and not statement.endswith("?"):
            found = _read(statement, speaker)
            if found:
                sure = _KNOWN if _words(found.triple[1]) in known else _UNKNOWN
                who, relation, value = found.triple
                triple = who, known.get(_words(relation), relation), value
                yield found._replace(triple=triple, confidence=round(found.confidence + sure, 2))


def _read(statement: str, speaker: str) -> Extracted | None:
    """Returns what the first clause of a statement says, or None."""
    since, until = _PATTERNS["since"].search(statement), _PATTERNS["until"].search(statement)
    clause = _PATTERNS["until"].sub("", _PATTERNS["since"].sub("", statement))
    clause = _PATTERNS["trail"].sub("", _PATTERNS["clause"].split(clause, maxsplit=1)[0].strip().rstrip(".!"))
    claims = read_claims(clause)
    if len(claims) != 1 or claims[0].negative or claims[0].hedged or claims[0].modes or claims[0].over:
        return None
    for form, sure in _FORMS:
        if match := form.fullmatch(_name_speaker(clause, speaker)):
            found = _make(match, sure, statement)
            times = (since[1] if since else ""), (until[1] if until else "")
            return found._replace(valid_from=times[0], valid_until=times[1]) if found else None
    return None


def _name_speaker(clause: str, speaker: str) -> str:
    """Returns a clause with the name of its speaker in place of we, our, I and my, and the verb to it."""
    if not speaker:
        return clause
    clause = re.sub(r"^(?:Our|My)\b", f"{speaker}'s", clause)
    match = re.match(r"(?:We|I)(?: (now|currently|always))? ([a-z]+)\b(?: are\b)?", clause)
    if not match or match[2].endswith("ed"):
        return clause
    verb = {"are": "is", "am": "is", "have": "has"}.get(match[2], match[2] + ("es" if match[2][-1:] in "sxh" else "s"))
    return f"{speaker} {verb}{clause[match.end() :]}"


def _make(match: re.Match[str], sure: float, statement: str) -> Extracted | None:
    """Returns the triple of a form that fits, or None where its subject or its value is none."""
    parts = match.groupdict()
    who, value = _bare(parts["who"]), _bare(re.sub("^(?:called|named) ", "", parts["value"]))
    opening = parts["who"].replace("’", "'").split()
    if opening[0].casefold().partition("'")[0] in STOP_WORDS and (
        len(opening) == 1 or opening[0].casefold() not in ("the", "this")
    ):
        return None
    if _PATTERNS["unfit"].match(parts["value"]) or len(value.split()) > _OBJECT_WORDS:
        return None
    is_named = bool(_PATTERNS["plain"].match(value)) and not _PATTERNS["linked"].search(value)
    if parts.get("relation"):
        at = _PATTERNS["led"].match(value)
        predicate = _camel("has", f"{parts['relation']} {at[1]}" if at else parts["relation"])
        value = value[at.end() if at else 0 :]
    elif parts.get("isa"):
        predicate = "isA"
    elif "at" in parts or "verb" in parts:
        predicate = _camel(parts.get("verb") or "is", parts.get("at") or "")
        # A capital at the start of a sentence makes no name of a word: Order glazes.
        is_doubtful = len(opening) == 1 and (parts.get("verb") or "").endswith("s")
        sure -= 0 if is_named else 0.3 if is_doubtful else 0.15
        if not parts.get("at") and _PATTERNS["verbal"].match(value):
            return None  # what looks like a verb before it is a noun: images live in, tests are
    else:
        predicate = "is"
        if not is_named:
            return None
    if _PATTERNS["the"].match(parts["who"]):
        sure -= 0.1  # which one is meant, only those know who were there
    return Extracted((who, predicate, value), sure, statement) if who and value else None


def _bare(text: str) -> str:
    return re.sub(r"^(?:the|a|an|this) ", "", text.strip(" \"'`*"), flags=re.IGNORECASE)


def _camel(first: str, rest: str) -> str:
    """Returns words as the name of a predicate.

    >>> _camel("has", "Chief Officer"), _camel("lives", "in"), _camel("has", "CTO")
    ('hasChiefOfficer', 'livesIn', 'hasCTO')
    """
    words = [*first.split(), *re.split(r"[\s-]+", rest)]
    return words[0] + "".join(word[:1].upper() + word[1:] for word in words[1:])


def _words(predicate: str) -> str:
    """Returns the words of a predicate, without the verb that only links."""
    found = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_\s-]+", " ", predicate).casefold()
    return found.removeprefix("has ").removeprefix("is ")
