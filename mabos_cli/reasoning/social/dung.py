"""Abstract argumentation (Dung 1995): the sets of arguments that can be held together, by semantics. Sets are bits of whole numbers."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mabos_cli.reasoning.bit_sets import bits

MOST_VISITS = 300_000


class Labels(NamedTuple):
    """Who is in, out and undecided; who is in none of the three has no label yet."""

    inside: int
    out: int
    undecided: int

    @property
    def labelled(self) -> int:
        """Everybody who has a label."""
        return self.inside | self.out | self.undecided


def attackers_of(size: int, attacks: Iterable[tuple[int, int]]) -> list[int]:
    """For each argument the set of those that attack it."""
    attackers = [0] * size
    for one, other in attacks:
        attackers[other] |= 1 << one
    return attackers


def label_grounded(attackers: Sequence[int]) -> Labels:
    """The most cautious labelling: in is who all attackers are out, out is who has an attacker in, again and again."""
    inside = out = 0
    while True:
        more_in = sum(1 << n for n, foes in enumerate(attackers) if not foes & ~out)
        more_out = sum(1 << n for n, foes in enumerate(attackers) if foes & more_in)
        if (more_in, more_out) == (inside, out):
            return Labels(inside, out, (1 << len(attackers)) - 1 & ~inside & ~out)
        inside, out = more_in, more_out


def find_complete(attackers: Sequence[int], most_visits: int = MOST_VISITS) -> list[Labels] | None:
    """Every complete labelling, or None if the search takes too long: each argument is in exactly if all its attackers are
    out, and out exactly if one of them is in."""
    grounded = label_grounded(attackers)
    everybody = (1 << len(attackers)) - 1
    open_ones = [*bits(grounded.undecided)]
    start = Labels(grounded.inside, grounded.out, 0)
    found: list[Labels] = []
    stack, visits = [start], 0
    while stack:
        labels, passes = _propagate(attackers, open_ones, stack.pop())
        visits += passes * len(open_ones) + 1
        if visits > most_visits:
            return None
        if labels is None:
            continue
        free = everybody & ~labels.labelled
        if not free:
            found.append(labels)
            continue
        bit = free & -free
        stack.append(labels._replace(undecided=labels.undecided | bit))
        stack.append(labels._replace(out=labels.out | bit))
        stack.append(labels._replace(inside=labels.inside | bit))
    return found


def _propagate(attackers: Sequence[int], open_ones: list[int], labels: Labels) -> tuple[Labels | None, int]:
    """The labels with all that follows from them, or None if they contradict each other; and how many passes it took."""
    passes = 0
    while True:
        passes, before = passes + 1, labels
        for one in open_ones:
            followed = _follow(attackers[one], 1 << one, labels)
            if followed is None:
                return None, passes
            labels = followed
        if labels == before:
            return labels, passes


def _follow(foes: int, bit: int, labels: Labels) -> Labels | None:
    """What the labels of its attackers say about an argument, and its own about them."""
    inside, out, undecided = labels
    free = foes & ~labels.labelled
    single = free if free & (free - 1) == 0 else 0
    if foes & inside:
        return None if bit & (inside | undecided) else labels._replace(out=out | bit)
    if not foes & ~out:
        return None if bit & (out | undecided) else labels._replace(inside=inside | bit)
    if bit & inside:
        return None if foes & undecided else labels._replace(out=out | foes)
    if bit & out:
        return labels._replace(inside=inside | single) if free else None
    if bit & undecided:
        if foes & undecided:
            return labels
        return labels._replace(undecided=undecided | single) if free else None
    return labels if free else labels._replace(undecided=undecided | bit)


def keep_preferred(complete: Sequence[Labels]) -> list[Labels]:
    """The labellings whose set of arguments inside cannot be enlarged."""
    largest = sorted(complete, key=lambda one: -one.inside.bit_count())
    kept: list[Labels] = []
    for one in largest:
        if not any(one.inside & ~other.inside == 0 for other in kept):
            kept.append(one)
    order = {one: n for n, one in enumerate(complete)}
    return sorted(kept, key=lambda one: order[one])


def keep_stable(complete: Sequence[Labels]) -> list[Labels]:
    """The labellings that leave nothing undecided."""
    return [one for one in complete if not one.undecided]


def find_ideal(attackers: Sequence[int], preferred: Sequence[Labels]) -> int:
    """The largest set that defends itself and lies in every preferred set."""
    common = -1
    for one in preferred:
        common &= one.inside
    while True:
        hit = sum(1 << n for n, foes in enumerate(attackers) if foes & common)
        defended = sum(1 << n for n in bits(common) if not attackers[n] & ~hit)
        if defended == common:
            return common
        common = defended
