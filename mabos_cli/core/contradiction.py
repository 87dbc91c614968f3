"""Evidence against what is about to be packed: two of the best candidates that cannot both be right."""

from collections.abc import Callable, Sequence
from itertools import combinations

from mabos_cli.core.fact_time import find_contradictions
from mabos_cli.core.layers import split_sentences
from mabos_cli.core.mind import Belief
from mabos_cli.core.pack_entry import Against, Entry
from mabos_cli.core.text import terms
from mabos_cli.core.trust import trust_rank

_BEST, _LOOKED_AT = 5, 12  # what is contradicted is among so many, what contradicts it among so many
_READ = 600  # characters of each that are read for statements
_COMMON = 2  # terms that sentences must share to be about one thing, and half of those of the shorter one


def find_against(ranked: Sequence[Entry], functional: Callable[[], frozenset[str]]) -> Against | None:
    """The best candidate that speaks against a better one, or nothing; of two, the less trusted speaks against the other.

    Facts contradict when they give a predicate that has one value at a time two of them. functional, which tells these
    predicates, is asked only when there are such facts.
    """
    near = ranked[:_LOOKED_AT]
    said = [[frozenset(terms(told)) for told in split_sentences(entry.text[:_READ])] for entry in near]
    pairs = [(i, j) for i, j in combinations(range(len(near)), 2) if i < _BEST and _is_near(said[i], said[j])]
    if not pairs:
        return None
    found = _of_facts(near, functional) | _of_statements(near, {n for pair in pairs for n in pair})
    known = [(i, j, why) for (i, j), why in found.items() if i < _BEST]
    if not known:
        return None
    i, j, why = min(known)
    if trust_rank(near[j].trust) > trust_rank(near[i].trust):
        i, j = j, i
    return Against(near[j].ref, near[i].ref, why)


def _is_near(one: Sequence[frozenset[str]], other: Sequence[frozenset[str]]) -> bool:
    """Whether a sentence of each, given by its terms, may be about one thing."""
    return any(len(x & y) >= max(_COMMON, min(len(x), len(y)) / 2) for x in one for y in other)


def _of_facts(near: Sequence[Entry], functional: Callable[[], frozenset[str]]) -> dict[tuple[int, int], str]:
    facts = {entry.fact.id: n for n, entry in enumerate(near) if entry.fact}
    held = [near[n].fact for n in facts.values()]
    told = [(fact.subject, fact.predicate) for fact in held if fact]
    if len(told) == len({*told}):
        return {}
    pairs = find_contradictions([fact for fact in held if fact], functional())
    return {
        (
            min(facts[a.id], facts[b.id]),
            max(facts[a.id], facts[b.id]),
        ): f"{a.predicate} has one value at a time"
        for a, b in pairs
    }


def _of_statements(near: Sequence[Entry], places: set[int]) -> dict[tuple[int, int], str]:
    """The conflicts of texts, by their places. What facts say is compared by their predicates alone."""
    beliefs = [
        Belief("", near[n].text[:_READ], 1.0, near[n].at, line=n) for n in sorted(places) if not near[n].fact
    ]
    if len(beliefs) < 2:
        return {}
    # Reading sentences loads tables of words: only when there is something to compare.
    from mabos_cli.core.conflicts import find_conflicts

    found: dict[tuple[int, int], str] = {}
    for conflict in find_conflicts(beliefs):
        i, j = sorted((conflict.a.line, conflict.b.line))
        found.setdefault((i, j), conflict.reason)
    return found
