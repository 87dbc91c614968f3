"""Finds which arguments stand when all attacks are weighed (Dung's semantics)."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.closures import bits
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, cut, listed, names, notes, yes_no
from mabos_cli.reasoning.inputs import AgentData, known_name

_MEANS = {
    "accepted": "in every preferred set of arguments",
    "defensible": "in some preferred sets of arguments, not in all",
    "rejected": "attacked by every preferred set of arguments",
    "undecided": "in no preferred set of arguments, and not attacked by all of them",
}
MOST_VISITS = 300_000
_MOST_LISTED = 50


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns whether the claim stands in every preferred set of arguments, or which arguments do."""
    if fields["claim"] is not None:
        known_name("claim", fields["claim"], fields["arguments"], "argument")
    known = tuple(fields["arguments"])
    return _answer(fields, known, attackers_of(len(known), _read_attacks(fields["attacks"], known)))


def _read_attacks(lines: Sequence[str], known: tuple[str, ...]) -> list[tuple[int, int]]:
    """Returns who attacks whom, by number, from links such as `a -> b`."""
    found: list[tuple[int, int]] = []
    for n, line in enumerate(lines, 1):
        ends = [known.index(known_name(f"attacks[{n}]", end.strip(), known, "argument")) for end in line.split("->")]
        if len(ends) < 2:
            raise BadValue(f"attacks[{n}]: must be `a -> b`", f"not {line[:60]}")
        found += pairwise(ends)
    return found


class Labels(NamedTuple):
    """The arguments that are in, out and undecided; one that is in none of the three has no label yet."""

    inside: int
    out: int
    undecided: int

    @property
    def labelled(self) -> int:
        """Returns everybody who has a label."""
        return self.inside | self.out | self.undecided


def _answer(fields: dict[str, Any], known: tuple[str, ...], attackers: list[int]) -> Answer:
    grounded, complete, claim = label_grounded(attackers), find_complete(attackers), fields["claim"]
    preferred = [grounded] if complete is None else keep_preferred(complete)
    stable = keep_stable(complete or ())

    def named(members: int) -> list[str]:
        return [known[n] for n in bits(members)]

    def shown(found: list[Labels]) -> dict[str, Any]:
        return {"count": len(found), "sets": [named(one.inside) for one in found[:_MOST_LISTED]]}

    status = {}
    for n, name in enumerate(known):
        inside = sum(labels.inside >> n & 1 for labels in preferred)
        is_out = all(labels.out >> n & 1 for labels in preferred)
        word = "accepted" if inside == len(preferred) else "defensible"
        status[name] = word if inside else "rejected" if is_out else "undecided"
    standing = tuple(name for name in known if status[name] == "accepted")
    # The grounded set is part of every preferred one: what is in it stands, and more may.
    by, least = ("every preferred set", "") if complete is not None else ("the grounded set", "at least ")
    conclusion = names(standing, f"arguments that stand in {by}")
    summary = f"{least}{len(standing)} of {len(known)} arguments stand: {listed(standing) or 'none'}"
    lines = [f"{plural(len(known), 'argument')}, {plural(sum(map(int.bit_count, attackers)), 'effective attack')}"]
    lines.append(f"grounded: {listed(named(grounded.inside), 10) or 'nothing'}")
    detail: dict[str, Any] = {"status": status, "grounded": {name: named(found) for name, found in _by_label(grounded)}}
    left = f"the search for all sets stopped after {MOST_VISITS:,} steps, {grounded.undecided.bit_count()} arguments being open"
    caveats = notes((complete is None, f"grounded semantics only: {left}"))
    if complete is not None:
        lines += [f"preferred: {listed(named(one.inside), 10) or 'nothing'}" for one in preferred[:4]]
        lines += [f"... and {len(preferred) - 4} more preferred sets"] if len(preferred) > 4 else []
        lines.append(
            f"stable: {'; '.join(cut([listed(named(s.inside), 10) or 'nothing' for s in stable], 5)) or 'none'}"
        )
        detail |= {"complete": shown(complete), "preferred": shown(preferred), "stable": shown(stable)}
        several = f"{len(preferred)} preferred sets exclude each other: the attacks alone do not decide between them"
        odd = "no stable set: some arguments attack themselves or each other in an odd circle"
        caveats = notes((not stable, odd), (len(preferred) > 1, several))
    if claim is not None:
        conclusion = yes_no({"accepted": True, "rejected": False}.get(status[claim]), fields["arguments"][claim])
        summary = f"{claim} is {status[claim]}: {_MEANS[status[claim]]}"
        foes = attackers[known.index(claim)]
        against = [f"{name} ({label})" for label, found in _by_label(grounded) for name in named(foes & found)]
        lines.append(f"attackers of {claim}, by the grounded labels: {listed(against, 8) or 'none'}")
    return Answer(conclusion, None, summary, cut(lines), detail, caveats)


def _by_label(labels: Labels) -> Iterator[tuple[str, int]]:
    return zip(("in", "out", "undecided"), labels, strict=True)


def attackers_of(size: int, attacks: Iterable[tuple[int, int]]) -> list[int]:
    """Returns for each argument the set of those that attack it."""
    attackers = [0] * size
    for one, other in attacks:
        attackers[other] |= 1 << one
    return attackers


def label_grounded(attackers: Sequence[int]) -> Labels:
    """Returns the most cautious labelling: in are those with all attackers out, out those with one in."""
    inside = out = 0
    while True:
        more_in = sum(1 << n for n, foes in enumerate(attackers) if not foes & ~out)
        more_out = sum(1 << n for n, foes in enumerate(attackers) if foes & more_in)
        if (more_in, more_out) == (inside, out):
            return Labels(inside, out, (1 << len(attackers)) - 1 & ~inside & ~out)
        inside, out = more_in, more_out


def find_complete(attackers: Sequence[int], most_visits: int = MOST_VISITS) -> list[Labels] | None:
    """Returns every complete labelling, or None if the search takes too long: each argument is in exactly if all its
    attackers are out, and out exactly if one of them is in."""
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
    """Returns the labels with all that follows from them, None if they contradict; and the number of passes."""
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
    """Returns what the labels of its attackers say about an argument, and its own about them."""
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
    """Returns the labellings whose set of arguments inside cannot be enlarged."""
    largest = find_maximal(one.inside for one in complete)
    return [one for one in complete if one.inside in largest]


def find_maximal(sets: Iterable[int]) -> set[int]:
    """Returns the sets that are part of no other."""
    kept: set[int] = set()
    for one in sorted({*sets}, key=int.bit_count, reverse=True):
        if all(one & ~other for other in kept):
            kept.add(one)
    return kept


def keep_stable(complete: Sequence[Labels]) -> list[Labels]:
    """Returns the labellings that leave nothing undecided."""
    return [one for one in complete if not one.undecided]
