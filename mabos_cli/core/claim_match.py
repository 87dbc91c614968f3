"""Two claims laid over each other: what both say, what only one says, and which words exclude each other."""

from typing import NamedTuple

from mabos_cli.core.claim_words import exclusive, opposites, root, single_valued, weak
from mabos_cli.core.claims import Claim, Name
from mabos_cli.core.moments import same_time
from mabos_cli.core.quantities import can_agree

_SLOTS = ("by", "with", "through", "via", "to", "in", "on", "at", "per", "of", "is", "are")


class Side(NamedTuple):
    """A claim with the terms and names that the other does not have."""

    claim: Claim
    rest: tuple[str, ...]
    names: tuple[Name, ...]


class Topic(NamedTuple):
    """The subject of two claims: its roots, whether it has one value, and which claim is later (-1, 1; 0)."""

    roots: frozenset[str]
    single: bool = False
    later: int = 0


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
        y = next((y for y in two.rest if _relation(x, y)), None)
        if y is None:
            continue
        one.rest.remove(x)
        two.rest.remove(y)
        relation = _relation(x, y)
        if relation == "same":
            common.add(x)
        else:
            (opposed if relation == "opposed" else excluded).append((x, y))
    for side in (one, two):
        side.rest[:] = [term for term in side.rest if term not in said and term not in weak()]
    told = [name for name in a.names if name not in one.names]
    values = _agreeing(a, b)
    _promote_first(one, two)
    _promote_standing(one, two)
    own = [name for name in told if not _roots(name) <= said]
    return Match(
        Side(a, tuple(one.rest), tuple(one.names)),
        Side(b, tuple(two.rest), tuple(two.names)),
        tuple(opposed),
        tuple(excluded),
        len(common) + len(told) + values,
        len(common - said) + len(own) + values,
        topic,
    )


def _lay(claim: Claim, other: Claim, said: frozenset[str]) -> _Open:
    """A side with the terms and names that the other claim does not have in any form."""
    named = {term for name in other.names for term in _roots(name)}
    rest = [term for term in claim.terms if term not in other.terms and term not in named]
    names = [
        name
        for name in claim.names
        if not any(same_name(name.key, known.key) for known in other.names)
        and not _roots(name) <= {*other.terms}
        and not _roots(name) <= said
    ]
    return _Open(claim, rest, names)


def _roots(name: Name) -> set[str]:
    return {root(word) for word in name.key.split()}


def same_name(a: str, b: str) -> bool:
    """Whether two names can be of one thing: a part of the other, its beginning, or its initials.

    >>> same_name("anna", "anna schmidt"), same_name("aws", "amazon web services")
    (True, True)
    >>> same_name("redis", "mysql")
    False
    """
    short, long = sorted((a, b), key=len)
    one, two = short.split(), long.split()
    if {*one} <= {*two} or (len(short) >= 4 and long.startswith(short) and " " not in short):
        return True
    return len(two) > 1 and short == "".join(word[0] for word in two)


def _relation(x: str, y: str) -> str:
    """How two roots stand to each other: same, opposed, excluded, or nothing."""
    one, two = opposites().get(x), opposites().get(y)
    if one and two and one[0] == two[0]:
        return "same" if one[1] == two[1] else "opposed"
    short, long = sorted((x, y), key=len)
    if len(short) >= 4 and long.endswith(short) and long.removesuffix(short) in _NEGATING:
        return "opposed"
    group = exclusive().get(x)
    return "excluded" if group is not None and group == exclusive().get(y) else ""


_NEGATING = ("in", "im", "ir", "il", "dis", "mis", "de")


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
    for slot in _SLOTS:
        standing = [_standing(one, slot), _standing(two, slot)]
        if one.names or two.names:
            for n, (side, other) in enumerate(((one, two), (two, one))):
                if side.names or [name.slot for name in other.names] != [slot]:
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
    at = words.index(slot)
    head = root(words[at - 1]) if at else ""
    if not {*side.rest} <= {root(word) for word in words[at + 1 : at + 6]}:
        return None
    if slot in ("is", "are") and (head not in single_valued() or len(side.rest) > 2):
        return None
    text = " ".join(side.claim.terms[term] for term in side.rest)
    return Name(" ".join(side.rest), text, "be" if slot in ("is", "are") else slot, head, at + 1, len(words))


def _agreeing(a: Claim, b: Claim) -> int:
    """How many numbers and points in time the claims have in common."""
    times = sum(any(same_time(x, y) for y, _ in b.moments) for x, _ in a.moments)
    return times + sum(any(can_agree(x, y) for y, _ in b.quantities) for x, _ in a.quantities)
