"""Compares two claims together with the words of their headings: what both say, what only one says, whether they are about one thing."""

from collections.abc import Iterator, Set
from itertools import pairwise

from mabos_cli.core.language.quantities import can_agree
from mabos_cli.core.mind.claims.claim import Claim, Name
from mabos_cli.core.mind.claims.words import compare_words, denies, root, roots, word_class

# Words that lead to a name, and so to what stands in its place.
_LEADING = frozenset("by through via per as".split())
# Two claims that go on with other words behind the same one of these are about two cases.
_SCOPES = frozenset("in at on for during under with".split())
Heads = tuple[frozenset[str], frozenset[str]]


class Overlap:
    """The common part of two claims, a name counting for two, and for each side what the other does not say: words, those
    of them that carry weight, and names."""

    def __init__(self, a: Claim, b: Claim, heads: Heads) -> None:
        self.a, self.b = self.claims = (a, b)
        self.is_headed = bool(heads[0]) and heads[0] == heads[1]
        one, two = ({*c.terms, *head}.union(*map(_roots, c.names)) for c, head in zip(self.claims, heads, strict=True))
        pairs = {(x, y): compare_words(x, y)[0] for x in one - two for y in two - one}
        self.same = {(x, x) for x in one & two} | {pair for pair, how in pairs.items() if how == "same"}
        # In the order of the texts: that of sets differs from run to run.
        in_texts = [(x, y, pairs[x, y]) for x in a.terms for y in b.terms if (x, y) in pairs]
        opposed = [(x, y) for x, y, how in in_texts if how == "opposed"]
        # A word has one opposite: lifted against remains in force.
        self.opposed = [(x, y) for n, (x, y) in enumerate(opposed) if not any(x == u or y == v for u, v in opposed[:n])]
        self.excluded = [(x, y) for x, y, how in in_texts if how == "excluded"]
        known = {x for x, _ in self.same}, {y for _, y in self.same}
        self.names = _other_names(a, b, known[0]), _other_names(b, a, known[1])
        self.agreed = sum(any(can_agree(x, y) for y in b.quantities) for x in a.quantities)
        self.common = len(known[0]) + len(a.names) - len(self.names[0]) + self.agreed
        rests = [{*claim.terms} - each for claim, each in zip(self.claims, known, strict=True)]
        self._take_first_words(rests)
        self._take_standing_words(rests)
        self.rest = rests[0], rests[1]
        self.plain = self._weighty(rests[0]), self._weighty(rests[1])

    @staticmethod
    def _weighty(rest: Set[str]) -> set[str]:
        return {term for term in rest if not denies(term)} - word_class("light")

    def _take_first_words(self, rests: list[set[str]]) -> None:
        """Takes the first word of a sentence for a name where the other claim has one, or such a word."""
        firsts = [claim.first if claim.first in rest else "" for claim, rest in zip(self.claims, rests, strict=True)]
        named = [bool(names) for names in self.names]
        for at, first in enumerate(firsts):
            if first and not named[at] and (named[1 - at] or firsts[1 - at]):
                self.names[at].append(Name(first, self.claims[at].terms[first], "first", "", 0, 1))
                rests[at].discard(first)

    def _take_standing_words(self, rests: list[set[str]]) -> None:
        """Takes the words for a name that stand where the other claim has a name, or such words: by the head of the department."""
        found = [_standing_words(claim, rest) for claim, rest in zip(self.claims, rests, strict=True)]
        places = [
            name or next(((each.slot, each.head) for each in names), None)
            for names, name in zip(self.names, [each and (each.slot, each.head) for each in found], strict=True)
        ]
        if self.opposed or places[0] is None or places[1] is None or places[0][0] != places[1][0]:
            return
        for names, name, rest in zip(self.names, found, rests, strict=True):
            if name and not names and (len(self.names[0]) + len(self.names[1]) or places[0] == places[1]):
                names.append(name)
                rest.clear()

    def is_about_one(self, least: int = 3, part: float = 0.5, *, is_claimed: bool = False) -> bool:
        """Returns whether the claims share so much, and such a part of the shorter one, and no word tells two things apart:
        before one that both have, behind one that leads to a case, or as what a sentence begins with."""
        size = min(len(claim.terms) + 2 * len(claim.names) for claim in self.claims)
        if self.common < max(least, part * (size - 2 * min(map(len, self.names)))):
            return False
        known = {x for pair in self.same for x in pair}
        # A name that is what is claimed does not tell which thing it is claimed of; nor does one under a heading that both have.
        named = [() if self.is_headed or is_claimed else names for names in self.names]
        only = [rest.union(*map(_roots, names)) - known for rest, names in zip(self.rest, named, strict=True)]
        judged = {x for pair in self.opposed if not compare_words(*pair)[1] for x in pair}
        sides = [(claim, rest - judged) for claim, rest in zip(self.claims, only, strict=True)]
        leading = [{*followers(claim, rest)} & {*claim.terms} for claim, rest in sides]
        if any(x in leading[0] and y in leading[1] for x, y in self.same):
            return False
        firsts = [next((root(w) for w in c.words if root(w) in rest or root(w) in c.terms), "") for c, rest in sides]
        is_named = all(first not in rest for first, rest in zip(firsts, self.rest, strict=True))
        return is_named or not all(first in rest for first, (_, rest) in zip(firsts, sides, strict=True))


def _standing_words(claim: Claim, rest: Set[str]) -> Name | None:
    """Returns the words that only this claim has as one name, if all of them follow one that leads to a name."""
    places = [n for n, word in enumerate(claim.words) if root(word) in rest]
    at = max((n for n in range(min(places, default=0)) if claim.words[n] in _LEADING), default=-1)
    if at < 0 or max(places) > at + 5 or any(root(word) in claim.terms for word in claim.words[at + 1 : places[0]]):
        return None
    text = " ".join(claim.words[n] for n in places)
    return Name(
        " ".join(sorted(rest)), text, claim.words[at], root(claim.words[at - 1]) if at else "", at + 1, len(claim.words)
    )


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


def is_same_name(a: str, b: str) -> bool:
    """Returns whether two names can be of one thing: a part of the other, its beginning, or its initials.

    >>> is_same_name("anna", "anna schmidt"), is_same_name("aws", "amazon web services"), is_same_name("redis", "mysql")
    (True, True, False)
    """
    short, long = sorted((a, b), key=len)
    one, two = short.split(), long.split()
    if {*one} <= {*two} or long == f"{short}s" or (len(one) == 1 and len(short) >= 4 and long.startswith(short)):
        return True
    return len(two) > 1 and short == "".join(word[0] for word in two)


def leads(claim: Claim, term: str) -> bool:
    """Returns whether a word stands right before another with content: it tells which one, not how it is."""
    word = claim.terms[term].casefold()
    after = claim.words[claim.words.index(word) + 1 :][:1] if word in claim.words else ()
    return bool(after) and root(after[0]) in claim.terms
