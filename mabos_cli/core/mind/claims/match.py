"""Two claims laid over each other: what both say, what only one says, and which words exclude each other."""

from typing import NamedTuple

from mabos_cli.core.language.moments import same_time
from mabos_cli.core.language.quantities import can_agree
from mabos_cli.core.mind.claims.claim import Claim
from mabos_cli.core.mind.claims.headings import single_valued
from mabos_cli.core.mind.claims.names import Name, find_slot
from mabos_cli.core.mind.claims.opposites import compare_words
from mabos_cli.core.mind.claims.words import root, roots, weak

_SLOT_OF = {"is": "be", "are": "be"}
_SLOTS = ("by", "with", "through", "via", "to", "in", "on", "at", "per", "of", "is", "are")


class Side(NamedTuple):
    """A claim with the terms and names that the other does not have."""

    claim: Claim
    rest: tuple[str, ...]
    names: tuple[Name, ...]


class Topic(NamedTuple):
    """The subject of two claims: its roots, whether it has one value, and which claim is later (-1, 1; 0).

    It may name a quantity, an event or a thing; agreed is whether the texts have a number in common.
    """

    roots: frozenset[str]
    single: bool = False
    later: int = 0
    measure: bool = False
    event: bool = False
    thing: bool = False
    agreed: bool = False


class Match(NamedTuple):
    """Two claims laid over each other; `shared` counts what both say, `own` what of that no subject says."""

    a: Side
    b: Side
    opposed: tuple[tuple[str, str], ...]
    excluded: tuple[tuple[str, str], ...]
    shared: int
    own: int
    topic: Topic | None

    @property
    def sides(self) -> tuple[tuple[Side, Side], tuple[Side, Side]]:
        """Each side with the other."""
        return (self.a, self.b), (self.b, self.a)


class _Open(NamedTuple):
    """A side while it is being laid out."""

    claim: Claim
    rest: list[str]
    names: list[Name]


def match_claims(a: Claim, b: Claim, topic: Topic | None) -> Match:
    """Two claims laid over each other; the words of a subject that both have need not be said."""
    said = topic.roots if topic else frozenset()
    one, two = _lay(a, b, said), _lay(b, a, said)
    common = {*a.terms} & {*b.terms}
    opposed, excluded = [], []
    for x in list(one.rest):
        y = next((y for y in two.rest if compare_words(x, y)[0]), None)
        if y is None:
            continue
        one.rest.remove(x)
        two.rest.remove(y)
        relation = compare_words(x, y)[0]
        if relation == "same":
            common.add(x)
        else:
            (opposed if relation == "opposed" else excluded).append((x, y))
    for side, other in ((one, two), (two, one)):
        side.rest[:] = [term for term in side.rest if term not in said]
        # Staff are everybody, unless the other claim is about visitors.
        everybody = _EVERYBODY if len(other.rest) == 1 and _leads_both(side, other) else frozenset()
        side.rest[:] = [term for term in side.rest if term not in weak() - everybody]
    told = [name for name in a.names if name not in one.names]
    values = _agreeing(a, b)
    _promote_first(one, two)
    _promote_standing(one, two)
    for side in (one, two):
        _absorb(side)
    own = [name for name in told if not roots(name.key) <= said]
    return Match(
        Side(a, tuple(one.rest), tuple(one.names)),
        Side(b, tuple(two.rest), tuple(two.names)),
        tuple(opposed),
        tuple(excluded),
        len(common) + len(told) + values,
        len(common - said) + len(own) + values,
        topic,
    )


_EVERYBODY = roots("employee company")


def _leads_both(one: _Open, two: _Open) -> bool:
    """Whether each claim begins with a word that the other does not have."""
    return all(side.rest and side.rest[0] == next(iter(side.claim.terms), "") for side in (one, two))


def _lay(claim: Claim, other: Claim, said: frozenset[str]) -> _Open:
    """A side with the terms and names that the other claim does not have in any form."""
    named = {term for name in other.names for term in roots(name.key)}
    rest = [term for term in claim.terms if term not in other.terms and term not in named]
    names = [
        name
        for name in claim.names
        if not any(same_name(name.key, known.key) for known in other.names)
        and not roots(name.key) <= {*other.terms}
        and not roots(name.key) <= said
    ]
    return _Open(claim, rest, names)


def same_name(a: str, b: str) -> bool:
    """Whether two names can be of one thing: a part of the other, its beginning, or its initials.

    >>> same_name("anna", "anna schmidt"), same_name("aws", "amazon web services")
    (True, True)
    >>> same_name("redis", "mysql")
    False
    """
    short, long = sorted((a, b), key=len)
    one, two = short.split(), long.split()
    if long == f"{short}s":
        return True
    if {*one} <= {*two} or (len(short) >= 4 and long.startswith(short) and " " not in short):
        return True
    return len(two) > 1 and short == "".join(word[0] for word in two)


def _promote_first(one: _Open, two: _Open) -> None:
    """Takes the first word of a sentence for a name where the other claim has one, or such a word."""
    both = not one.names and not two.names and all(side.claim.first in side.rest for side in (one, two))
    for side, other in ((one, two), (two, one)):
        first = side.claim.first
        if first in side.rest and not side.names and (other.names or both):
            side.names.append(Name(first, side.claim.terms[first], "first", "", 0, 1))
            side.rest.remove(first)


def _promote_standing(one: _Open, two: _Open) -> None:
    """Takes words for names that stand where the other claim has a name: by the head of the department."""
    if not one.rest and not two.rest:
        return
    for slot in _SLOTS:
        if slot not in one.claim.words and slot not in two.claim.words:
            continue
        standing = [_standing(one, slot), _standing(two, slot)]
        if one.names or two.names:
            for n, (side, other) in enumerate(((one, two), (two, one))):
                if side.names or [_SLOT_OF.get(slot, slot)] != [name.slot for name in other.names]:
                    standing[n] = None
        elif not (standing[0] and standing[1] and standing[0].head == standing[1].head):
            continue
        for side, found in zip((one, two), standing, strict=True):
            if found:
                side.names.append(found)
                side.rest.clear()


def _standing(side: _Open, slot: str) -> Name | None:
    """The words that only this claim has as one name, if all of them follow the slot."""
    words = side.claim.words
    if not side.rest or slot not in words:
        return None
    places = [n for n, word in enumerate(words) if root(word) in side.rest]
    at = max((n for n, word in enumerate(words) if word == slot and n < min(places, default=0)), default=-1)
    if at < 0 or any(root(word) in side.claim.terms for word in words[at + 1 : min(places)]):
        return None
    head = root(words[at - 1]) if at else ""
    if not {*side.rest} <= {root(word) for word in words[at + 1 : at + 6]}:
        return None
    if slot in ("is", "are") and (head not in single_valued() or len(side.rest) > 2):
        return None
    text = " ".join(side.claim.terms[term] for term in side.rest)
    return Name(" ".join(side.rest), text, "be" if slot in ("is", "are") else slot, head, at + 1, len(words))


def _absorb(side: _Open) -> None:
    """Makes one name of a thing and where it is, if nothing else is told: from the cooperative in Lenz."""
    if len(side.names) != 1 or len(side.rest) != 1:
        return
    (name,), (term,), words = side.names, side.rest, side.claim.words
    if name.slot in ("in", "of", "at") and root(name.head) == term and name.head in words:
        at = words.index(name.head)
        slot, head = find_slot(words[:at])
        if slot not in ("from", "by", "with", "through", "via", "to"):
            return
        text = f"{name.head} {name.slot} {name.text}"
        side.names[:] = [Name(f"{term} {name.key}", text, slot, head, at, name.end)]
        side.rest.clear()


def _agreeing(a: Claim, b: Claim) -> int:
    """How many numbers and points in time the claims have in common."""
    times = sum(any(same_time(x, y) for y, _ in b.moments) for x, _ in a.moments)
    return times + sum(any(can_agree(x, y) for y, _ in b.quantities) for x, _ in a.quantities)


def leads(claim: Claim, term: str) -> bool:
    """Whether a word stands right before another with content: it tells which one, not how it is."""
    word = claim.terms[term].casefold()
    if word not in claim.words:
        return False
    after = claim.words[claim.words.index(word) + 1 :][:1]
    return bool(after) and root(after[0]) in claim.terms
