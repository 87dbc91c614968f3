"""Which beliefs are worth comparing with each other, and how many of them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

from mabos_cli.core.records import NamedTuple

# In a larger group not all pairs are compared: each belief meets those next to it in order of their words.
_GROUP, _NEIGHBOURS = 24, 5
# So many may have a word, or two words, in common that are compared for that alone; of so many words of a belief pairs are looked at.
_RARE, _PAIRED = 6, 8
# So much may comparing the beliefs of one subject cost, in pairs of claims: more than a file that people wrote needs, and some
# seconds. Two beliefs that are compared cost about four pairs besides.
_COST, _FIXED_COST = 200_000, 4
Cut = Callable[[str, int], None]


class Marks(NamedTuple):
    """Holds what a belief is found by: its subject and the roots of its words; and how many claims it makes."""

    subject: str
    words: frozenset[str]
    claims: int


def candidate_pairs(marks: Sequence[Marks]) -> list[tuple[int, int]]:
    """Returns the pairs worth comparing, in order: of one subject, or with a rare word or two words in common that few have."""
    pairs: set[tuple[int, int]] = set()
    by_subject: dict[str, list[int]] = defaultdict(list)
    by_words: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, each in enumerate(marks):
        if each.subject:
            by_subject[each.subject].append(number)
        for key in (*((word,) for word in each.words), *combinations(sorted(each.words)[:_PAIRED], 2)):
            by_words[key].append(number)
    for group in by_subject.values():
        pairs.update(_within(group, marks))
    for group in by_words.values():
        if 1 < len(group) <= _RARE:
            pairs.update(combinations(group, 2))
    return sorted(pairs)


def _within(group: Sequence[int], marks: Sequence[Marks]) -> Iterable[tuple[int, int]]:
    """Returns the pairs of a subject: all of a few; of many, neighbours by words. Those that share rare ones are found anyway."""
    if len(group) <= _GROUP:
        return combinations(group, 2)
    ordered = sorted(group, key=lambda n: (sorted(marks[n].words), n))
    near = ((ordered[at], other) for at in range(len(ordered)) for other in ordered[at + 1 : at + 1 + _NEIGHBOURS])
    return ((min(pair), max(pair)) for pair in near)


def affordable_pairs(
    pairs: Iterable[tuple[int, int]], marks: Sequence[Marks], cut: Cut | None
) -> Iterator[tuple[int, int]]:
    """Yields the pairs until the beliefs of their subject have cost enough."""
    cost: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    for i, j in pairs:
        subject = marks[i].subject if marks[i].subject == marks[j].subject else ""
        if subject and cost[subject] >= _COST:
            left_out[subject] += 1
            continue
        cost[subject] += _FIXED_COST + marks[i].claims * marks[j].claims
        yield i, j
    if cut:
        for subject, count in left_out.items():
            cut(subject, count)
