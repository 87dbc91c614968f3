"""Evidence against what is about to be packed: two of the best candidates that cannot both be right."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

from mabos_cli.core.context.layers import split_sentences
from mabos_cli.core.context.pack_entry import Against, Entry
from mabos_cli.core.knowledge.fact import find_contradictions
from mabos_cli.core.language.text import terms
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.mind.mind import Belief

_BEST, _LOOKED_AT = 5, 12  # what is contradicted is among so many, what contradicts it among so many
_READ = 600  # characters of each that are read for statements
_COMMON = 1  # terms that sentences must share to be about one thing, and half of those of the shorter one
# How sentences begin whose subject stands in another one; with an article, unless both texts open alike.
_LEANING = re.compile(r"(?i)\W*(?:he|she|it|they|his|her|its|their|this|that|these|those|here|there)\b")
_PERHAPS_LEANING = re.compile(rf"{_LEANING.pattern}|\W*the\b")


def find_against(ranked: Sequence[Entry], functional: Callable[[], frozenset[str]]) -> Against | None:
    """The best candidate that speaks against a better one, or nothing; of two, the less trusted speaks against the other.

    Facts contradict when they give a predicate that has one value at a time two of them. functional, which tells these
    predicates, is asked only when there are such facts.
    """
    near = ranked[:_LOOKED_AT]
    texts = [split_sentences(entry.text[:_READ]) for entry in near]
    said = [[frozenset(terms(told)) for told in text] for text in texts]
    pairs = [(i, j) for i, j in combinations(range(len(near)), 2) if i < _BEST and _is_near(said[i], said[j])]
    if not pairs:
        return None
    told = {n: texts[n] for n in sorted({n for pair in pairs for n in pair}) if not near[n].fact}
    stated = {
        (i, j): why
        for (i, j), why in _of_statements(near, told, _LEANING).items()
        if min(len(told[i]), len(told[j])) == 1
        or _is_near(said[i][:1], said[j][:1])
        or _of_statements(near, {n: told[n] for n in (i, j)}, _PERHAPS_LEANING)
    }
    known = [(i, j, why) for (i, j), why in (_of_facts(near, functional) | stated).items() if i < _BEST]
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
        (min(facts[a.id], facts[b.id]), max(facts[a.id], facts[b.id])): f"{a.predicate} has one value at a time"
        for a, b in pairs
    }


def _of_statements(
    near: Sequence[Entry], told: Mapping[int, Sequence[str]], leaning: re.Pattern[str]
) -> dict[tuple[int, int], str]:
    """The conflicts of texts, given as sentences, by their places. What facts say is compared by their predicates alone.

    In a text of several sentences, those that begin as `leaning` says are about something that another one names.
    """
    alone = {n: [one for one in text if len(text) == 1 or not leaning.match(one)] for n, text in told.items()}
    beliefs = [Belief("", "\n".join(text), 1.0, near[n].at, line=n) for n, text in alone.items() if text]
    if len(beliefs) < 2:
        return {}
    # Reading sentences loads tables of words: only when there is something to compare.
    from mabos_cli.core.mind.conflicts import find_conflicts

    found: dict[tuple[int, int], str] = {}
    for conflict in find_conflicts(beliefs):
        i, j = sorted((conflict.a.line, conflict.b.line))
        found.setdefault((i, j), conflict.reason)
    return found
