"""Rules of voting over ranked ballots: pairwise counts and the winners by each rule."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

MOST_KEMENY = 12  # candidates: sets of them are tried, 2 to that power


class Ballot(NamedTuple):
    """So many voters with the same ranking: groups of candidates, the best first; those in a group are tied. Who is not named
    comes last, tied."""

    count: int
    groups: tuple[tuple[int, ...], ...]


Pairs = Sequence[Sequence[int]]  # how many prefer one to the other


def count_pairs(ballots: Sequence[Ballot], size: int) -> list[list[int]]:
    """How many voters prefer each candidate to each other one."""
    pairs = [[0] * size for _ in range(size)]
    for count, groups in ballots:
        below = set(range(size))
        for group in groups:
            below -= {*group}
            for one in group:
                for other in below:
                    pairs[one][other] += count
    return pairs


def score_borda(pairs: Pairs, voters: int) -> list[Fraction]:
    """Points: one for each candidate below on a ballot, half of one for each that is tied; so (voters + for - against) / 2 summed
    over the others."""
    size = range(len(pairs))
    return [sum((Fraction(voters + pairs[a][b] - pairs[b][a], 2) for b in size if b != a), Fraction(0)) for a in size]


def score_first(ballots: Sequence[Ballot], standing: Sequence[int]) -> dict[int, Fraction | int]:
    """First places among those who still stand; a tied first place is shared. Ballots that name none of them are exhausted."""
    tally: dict[int, Fraction | int] = dict.fromkeys(standing, 0)
    for count, groups in ballots:
        for group in groups:
            top = [one for one in group if one in tally]
            if top:
                for one in top:
                    tally[one] += count if len(top) == 1 else Fraction(count, len(top))
                break
    return tally


def score_copeland(pairs: Pairs) -> list[Fraction]:
    """Wins over others, a tie counting half."""
    size = range(len(pairs))
    return [
        sum(
            (Fraction((pairs[a][b] > pairs[b][a]) * 2 + (pairs[a][b] == pairs[b][a]), 2) for b in size if b != a),
            Fraction(0),
        )
        for a in size
    ]


def find_smith(pairs: Pairs) -> list[int]:
    """The smallest set whose members each beat everybody outside it."""
    scores = score_copeland(pairs)
    order = sorted(range(len(pairs)), key=lambda one: -scores[one])
    for size in range(1, len(order) + 1):
        inside, outside = order[:size], order[size:]
        if all(pairs[a][b] > pairs[b][a] for a in inside for b in outside):
            return sorted(inside)
    return sorted(order)


def find_paths(pairs: Pairs) -> list[list[int]]:
    """The strength of the strongest path between every two candidates (Schulze), a link being as strong as the voters
    who win it."""
    size = range(len(pairs))
    paths = [[pairs[a][b] if pairs[a][b] > pairs[b][a] else 0 for b in size] for a in size]
    for via in size:
        for a in size:
            for b in size:
                if a != b and via not in (a, b):
                    paths[a][b] = max(paths[a][b], min(paths[a][via], paths[via][b]))
    return paths


def rank_schulze(paths: Pairs) -> list[int]:
    """How many others each candidate beats by the strongest path, less how many beat it: an order, for the relation is transitive."""
    size = range(len(paths))
    return [sum((paths[a][b] > paths[b][a]) - (paths[b][a] > paths[a][b]) for b in size) for a in size]


def find_schulze(paths: Pairs) -> list[int]:
    """The candidates whom nobody beats by a stronger path."""
    size = range(len(paths))
    return [a for a in size if all(paths[a][b] >= paths[b][a] for b in size)]


class Round(NamedTuple):
    """One count of an instant runoff."""

    tally: dict[int, Fraction | int]
    out: int | None  # who leaves; None at the end
    tied: tuple[int, ...]  # who else was last


def run_off(ballots: Sequence[Ballot], size: int) -> list[Round]:
    """Counts in which the last leaves until one has more than half of the ballots that still count. Of those tied at the
    end the one with fewer first places before leaves, else the later in the list."""
    standing, rounds, history = [*range(size)], [], []
    while True:
        tally = score_first(ballots, standing)
        history.append(tally)
        if len(standing) == 1 or max(tally.values()) * 2 > sum(tally.values()):
            rounds.append(Round(tally, None, ()))
            return rounds
        low = min(tally.values())
        last = [one for one in standing if tally[one] == low]
        out = min(last, key=lambda one: ([past[one] for past in reversed(history)], -one))
        rounds.append(Round(tally, out, tuple(one for one in last if one != out)))
        standing.remove(out)


def find_kemeny(pairs: Pairs) -> tuple[list[int], int, bool]:
    """The ranking with which voters agree most over all pairs, how often they do, and whether it is the only one."""
    size = len(pairs)
    # Of each set of candidates: the best agreement if they fill the last places, who then leads them, and in how many ways.
    best = {0: (0, -1, 1)}
    for members in range(1, 1 << size):
        inside = [one for one in range(size) if members >> one & 1]
        options = []
        for first in inside:
            rest = best[members & ~(1 << first)]
            options.append((rest[0] + sum(pairs[first][other] for other in inside if other != first), first, rest[2]))
        top = max(option[0] for option in options)
        tops = [option for option in options if option[0] == top]
        best[members] = (top, tops[0][1], sum(option[2] for option in tops))
    order, members = [], (1 << size) - 1
    while members:
        order.append(best[members][1])
        members &= ~(1 << order[-1])
    total, _, ways = best[(1 << size) - 1]
    return order, total, ways == 1


def find_cycle(pairs: Pairs) -> list[int]:
    """A shortest ring of candidates, each beating the next by a majority; empty if there is none."""
    size = range(len(pairs))
    beats = [[b for b in size if pairs[a][b] > pairs[b][a]] for a in size]
    shortest: list[int] = []
    for start in size:
        came, queue = {start: start}, [start]
        for one in queue:
            if start in beats[one]:
                ring = [one]
                while ring[-1] != start:
                    ring.append(came[ring[-1]])
                if not shortest or len(ring) < len(shortest):
                    shortest = ring[::-1]
                break
            fresh = [other for other in beats[one] if other not in came]
            came.update(dict.fromkeys(fresh, one))
            queue += fresh
    return shortest
