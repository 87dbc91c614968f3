"""Compares two claims together with the words of their headings: what both say, what only one says, whether they are about one thing."""

from collections.abc import Iterator, Set
from itertools import pairwise

from mabos_cli.core.language.quantities import can_agree
from mabos_cli.core.mind.claims.claim import Claim, Name
from mabos_cli.core.mind.claims.match import is_same_name
from mabos_cli.core.mind.claims.words import compare_words, denies, root, roots

# Words that lead to what is said, and say little themselves.
LIGHT = roots(
    "take cost count present time start get need put run make go hold give come keep happen do bring let set use live "
    "sit stand lie locate say"
)
# Two claims that go on with other words behind the same one of these are about two cases.
_SCOPES = frozenset("in at on for during under with".split())
Heads = tuple[frozenset[str], frozenset[str]]


class Overlap:
    """The common part of two claims, a name counting for two, and for each side what the other does not say: words, those
    of them that carry weight, and names."""

    def __init__(self, a: Claim, b: Claim, heads: Heads) -> None:
        self.a, self.b = self.claims = (a, b)
        one, two = ({*c.terms, *head}.union(*map(_roots, c.names)) for c, head in zip(self.claims, heads, strict=True))
        pairs = [(x, y, compare_words(x, y)[0]) for x in one - two for y in two - one]
        self.same = {(x, x) for x in one & two} | {(x, y) for x, y, how in pairs if how == "same"}
        in_texts = [(x, y, how) for x, y, how in pairs if x in a.terms and y in b.terms]
        self.opposed = [(x, y) for x, y, how in in_texts if how == "opposed"]
        self.excluded = [(x, y) for x, y, how in in_texts if how == "excluded"]
        known = {x for x, _ in self.same}, {y for _, y in self.same}
        self.names = _other_names(a, b, known[0]), _other_names(b, a, known[1])
        self.agreed = sum(any(can_agree(x, y) for y in b.quantities) for x in a.quantities)
        self.common = len(known[0]) + len(a.names) - len(self.names[0]) + self.agreed
        rests = [{*claim.terms} - each for claim, each in zip(self.claims, known, strict=True)]
        self._take_first_words(rests)
        self.rest = rests[0], rests[1]
        self.plain = self._weighty(rests[0]), self._weighty(rests[1])

    @staticmethod
    def _weighty(rest: Set[str]) -> set[str]:
        return {term for term in rest if not denies(term)} - LIGHT

    def _take_first_words(self, rests: list[set[str]]) -> None:
        """Takes the first word of a sentence for a name where the other claim has one, or such a word."""
        firsts = [claim.first if claim.first in rest else "" for claim, rest in zip(self.claims, rests, strict=True)]
        named = [bool(names) for names in self.names]
        for at, first in enumerate(firsts):
            if first and not named[at] and (named[1 - at] or firsts[1 - at]):
                self.names[at].append(Name(first, self.claims[at].terms[first], "first", "", 0, 1))
                rests[at].discard(first)

    def is_about_one(self, least: int = 3, part: float = 0.5) -> bool:
        """Returns whether the claims share so much, and such a part of the shorter one, and no word tells two things apart:
        before one that both have, behind one that leads to a case, or as what a sentence begins with."""
        size = min(len(claim.terms) + 2 * len(claim.names) for claim in self.claims)
        if self.common < max(least, part * (size - 2 * min(map(len, self.names)))):
            return False
        known = {x for pair in self.same for x in pair}
        only = [rest.union(*map(_roots, names)) - known for rest, names in zip(self.rest, self.names, strict=True)]
        sides = [*zip(self.claims, only, strict=True)]
        leading = [{*followers(claim, rest)} for claim, rest in sides]
        if any(x in leading[0] and y in leading[1] for x, y in self.same):
            return False
        firsts = [next((root(w) for w in c.words if root(w) in rest or root(w) in c.terms), "") for c, rest in sides]
        is_named = all(first not in rest for first, rest in zip(firsts, self.rest, strict=True))
        return is_named or not all(first in rest for first, rest in zip(firsts, only, strict=True))


def _roots(name: Name) -> frozenset[str]:
    return roots(name.key)


def _other_names(claim: Claim, other: Claim, known: Set[str]) -> list[Name]:
    """Returns the names of a claim that the other does not have in any form."""
    return [
        name
        for name in claim.names
        if not _roots(name) <= known and not any(is_same_name(name.key, each.key) for each in other.names)
    ]


def followers(claim: Claim, rest: Set[str]) -> Iterator[str]:
    """Yields the roots of words that stand right behind one which only this claim has: that tells which one it is."""
    return (root(word) for before, word in pairwise(claim.words) if root(before) in rest)


def scopes_of(claim: Claim, rest: Set[str]) -> Iterator[str]:
    """Yields the words that lead to something which only this claim names."""
    for at, word in enumerate(claim.words):
        if word in _SCOPES and any(root(each) in rest for each in claim.words[at + 1 : at + 3]):
            yield word
