"""Finds what a group prefers: winners by several voting rules, and whether these agree."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, cut, figure, listed, notes, ranking
from mabos_cli.reasoning.inputs import AgentData, check_known
from mabos_cli.reasoning.shape import check_size, conform, find_part, read_text

Pairs = Sequence[Sequence[int]]  # how many prefer one to the other
_MOST_CANDIDATES = 50
_COUNTED = re.compile(r"\s*(\d+)\s*:(.*)", re.S)


class Count(NamedTuple):
    """The outcome by one rule: the winners, all candidates in order, and scores if it gives any."""

    winners: tuple[str, ...]
    order: tuple[str, ...]
    scores: Mapping[str, float] | None = None


class Ballot(NamedTuple):
    """So many voters with the same ranking: groups of candidates, the best first; those in a group are tied. Who is not named
    comes last, tied."""

    voters: int
    groups: tuple[tuple[int, ...], ...]


class Round(NamedTuple):
    """One count of an instant runoff."""

    tally: dict[int, Fraction | int]
    out: int | None  # who leaves; None at the end
    tied: tuple[int, ...]  # who else was last


class Tally(NamedTuple):
    """The ballots with what every rule counts by."""

    names: tuple[str, ...]
    ballots: list[Ballot]
    pairs: list[list[int]]
    rounds: list[Round]


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the ranking by the rule that decides, with the winners by all the others."""
    read = [_read_ballot(one, f"ballots[{n}]") for n, one in enumerate(fields["ballots"], 1)]
    named = dict.fromkeys(name for _, groups, approve in read for group in (*groups, approve or ()) for name in group)
    names = tuple(fields["candidates"] or named)
    check_size("candidates", len(names), _MOST_CANDIDATES, "candidates")
    check_known("candidates", names, names, "candidate")
    for n, (_, groups, approve) in enumerate(read, 1):
        check_known(f"ballots[{n}]", (name for group in groups for name in group), names, "candidate")
        check_known(f"ballots[{n}].approve", approve or (), names, "candidate")
    if len(names) < 2:
        raise BadValue("ballots: there is only one candidate", "a choice needs two")
    index = {name: n for n, name in enumerate(names)}
    alike: dict[tuple[tuple[int, ...], ...], int] = {}
    for count, groups, _ in read:
        order = tuple(tuple(index[name] for name in group) for group in groups)
        alike[order] = alike.get(order, 0) + count
    ballots = [Ballot(count, order) for order, count in alike.items()]
    is_ranked = any(ballot.groups for ballot in ballots)
    tally = Tally(names, ballots, count_pairs(ballots, len(names)), run_off(ballots, len(names)) if is_ranked else [])
    counts = _count_all(tally) if is_ranked else {}
    if any(approve is not None for _, _, approve in read):
        counts["approval"] = _by_score([sum(c for c, _, ok in read if name in (ok or ())) for name in names], names)
    rule = fields["rule"] or ("schulze" if is_ranked else "approval")
    if rule not in counts:
        field = "approve" if rule == "approval" else "rank"
        raise BadValue(f"rule: {rule} cannot be counted here", f"give {field} on the ballots")
    return _tell(rule, tally, counts)


def _read_ballot(ballot: Any, path: str) -> tuple[int, tuple[tuple[str, ...], ...], tuple[str, ...] | None]:
    """Returns how many voters, their groups of candidates, and whom they approve."""
    if isinstance(ballot, str):
        counted = _COUNTED.fullmatch(ballot)
        count, order = (int(counted[1][:12]), counted[2]) if counted else (1, ballot)
        ballot = {"count": count, "rank": [[*map(str.strip, group.split("="))] for group in order.split(">")]}
    elif isinstance(ballot, list):
        ballot = {"rank": ballot}
    elif isinstance(ballot, dict) and len(ballot) == 1 and str(next(iter(ballot))).isdecimal():
        # YAML reads `12: a > b` without quotes as a map, and so it does `12: [a, b]`.
        ((count, order),) = ballot.items()
        if not isinstance(order, list):
            return _read_ballot(f"{count}: {order}", path)
        ballot = {"count": count, "rank": order}
    found = conform(find_part("social-choice", "ballot"), ballot, {}, path)
    groups = []
    for n, group in enumerate(found["rank"], 1):
        members = group if isinstance(group, list) else [group]
        groups.append(tuple(read_text(one, f"{path}.rank[{n}]", "a candidate") for one in members))
    if not any(groups) and found["approve"] is None:
        raise BadValue(f"{path}: names nobody", "write `12: a > b = c`, or the fields count and rank")
    approve = found["approve"]
    return found["count"], tuple(filter(None, groups)), None if approve is None else tuple(approve)


def _count_all(tally: Tally) -> dict[str, Count]:
    names, ballots, pairs, rounds = tally
    paths = find_paths(pairs)
    schulze = _by_score(rank_schulze(paths), names)
    counts = {"schulze": schulze._replace(winners=tuple(names[n] for n in find_schulze(paths)))}
    counts["borda"] = _by_score(score_borda(pairs, sum(ballot.voters for ballot in ballots)), names)
    last = rounds[-1].tally
    gone = [one.out for one in reversed(rounds) if one.out is not None]
    order = tuple(names[n] for n in (*sorted(last, key=lambda n: -last[n]), *gone))
    counts["instant-runoff"] = Count(order[:1], order)
    first = score_first(ballots, range(len(names)))
    counts["plurality"] = _by_score([first[n] for n in range(len(names))], names)
    return counts


def _by_score(scores: Sequence[Fraction | int], names: tuple[str, ...]) -> Count:
    order = sorted(range(len(names)), key=lambda n: -scores[n])
    best = scores[order[0]]
    return Count(
        tuple(name for name, score in zip(names, scores, strict=True) if score == best),
        tuple(names[n] for n in order),
        {name: float(score) for name, score in zip(names, scores, strict=True)},
    )


def _tell(rule: str, tally: Tally, counts: dict[str, Count]) -> Answer:
    chosen, detail = counts[rule], _detail(rule, tally, counts)
    winner = detail["condorcet_winner"]
    by_winner: dict[str, list[str]] = {}
    for name, count in counts.items():
        by_winner.setdefault(" and ".join(count.winners), []).append(name)
    steps = [f"{plural(detail['voters'], 'voter')}, {plural(len(tally.names), 'candidate')}"]
    if tally.rounds:
        steps.append(f"{winner or 'nobody'} beats every other one by a majority")
    steps += [f"{who}: {', '.join(rules)}" for who, rules in by_winner.items()]
    steps.append(f"order by {rule}: {_order_line(chosen)}")
    steps += [_round_line(n, one, tally.names) for n, one in enumerate(tally.rounds, 1)]
    scores = chosen.scores or {name: float(len(tally.names) - n) for n, name in enumerate(chosen.order, 1)}
    agree = f"{len(by_winner)} different winners by {len(counts)} rules" if len(by_winner) > 1 else "all rules agree"
    summary = f"{' and '.join(chosen.winners)} by {rule}" + (f"; {agree}" if len(counts) > 1 else "")
    is_tied = len(chosen.winners) > 1
    has_ties = chosen.scores is not None and len({*chosen.scores.values()}) < len(tally.names)
    broken = "a tie for the last place in the runoff was broken by earlier counts, then by the order of the candidates"
    caveats = notes(
        (len(by_winner) > 1, "the rules disagree: which was agreed on beforehand decides"),
        (is_tied, f"tie for the first place by {rule}: {', '.join(chosen.winners)}"),
        (has_ties and not is_tied, f"ties by {rule} further down stand in the order of the candidates"),
        (any(one.tied for one in tally.rounds), broken),
    )
    return Answer(ranking(chosen.order, scores), None, summary, cut(steps), detail, caveats)


def _detail(rule: str, tally: Tally, counts: dict[str, Count]) -> dict[str, Any]:
    names, ballots, pairs, rounds = tally
    size = range(len(names))
    winners = [names[a] for a in size if all(pairs[a][b] > pairs[b][a] for b in size if b != a)]
    return {
        "rule": rule,
        "voters": sum(ballot.voters for ballot in ballots),
        "winners": {name: [*count.winners] for name, count in counts.items()},
        "orders": {name: [*count.order] for name, count in counts.items()},
        "scores": {name: dict(count.scores) for name, count in counts.items() if count.scores},
        "pairs": {names[a]: {names[b]: pairs[a][b] for b in size if b != a} for a in size},
        "condorcet_winner": winners[0] if winners else None,
        "rounds": [{names[n]: float(got) for n, got in one.tally.items()} for one in rounds],
    }


def _order_line(count: Count) -> str:
    """Returns all candidates in order, those with the same score tied."""
    line = count.order[0]
    for one, other in pairwise(count.order):
        is_tied = count.scores is not None and count.scores[one] == count.scores[other]
        line += f" {'=' if is_tied else '>'} {other}"
    return line


def _round_line(n: int, one: Round, names: tuple[str, ...]) -> str:
    order = sorted(one.tally, key=lambda who: -one.tally[who])
    places = listed([f"{names[who]} {figure(float(one.tally[who]))}" for who in order], 5)
    return f"runoff {n}: {places}" + (f"; {names[one.out]} leaves" if one.out is not None else "")


def count_pairs(ballots: Sequence[Ballot], size: int) -> list[list[int]]:
    """Returns how many voters prefer each candidate to each other one."""
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
    """Returns the points: one for each candidate below on a ballot, half of one for each that is tied; so (voters + for
    - against) / 2 summed over the others."""
    size = range(len(pairs))
    return [sum((Fraction(voters + pairs[a][b] - pairs[b][a], 2) for b in size if b != a), Fraction(0)) for a in size]


def score_first(ballots: Sequence[Ballot], standing: Sequence[int]) -> dict[int, Fraction | int]:
    """Returns the first places among those who still stand, shared if tied; ballots that name none are exhausted."""
    tally: dict[int, Fraction | int] = dict.fromkeys(standing, 0)
    for count, groups in ballots:
        for group in groups:
            top = [one for one in group if one in tally]
            if top:
                for one in top:
                    tally[one] += count if len(top) == 1 else Fraction(count, len(top))
                break
    return tally


def find_paths(pairs: Pairs) -> list[list[int]]:
    """Returns the strength of the strongest path between every two candidates (Schulze), a link being as strong as the
    voters who win it."""
    size = range(len(pairs))
    paths = [[pairs[a][b] if pairs[a][b] > pairs[b][a] else 0 for b in size] for a in size]
    for via in size:
        for a in size:
            for b in size:
                if a != b and via not in (a, b):
                    paths[a][b] = max(paths[a][b], min(paths[a][via], paths[via][b]))
    return paths


def rank_schulze(paths: Pairs) -> list[int]:
    """Returns how many others each candidate beats by the strongest path, less how many beat it; the relation is
    transitive."""
    size = range(len(paths))
    return [sum((paths[a][b] > paths[b][a]) - (paths[b][a] > paths[a][b]) for b in size) for a in size]


def find_schulze(paths: Pairs) -> list[int]:
    """Returns the candidates whom nobody beats by a stronger path."""
    size = range(len(paths))
    return [a for a in size if all(paths[a][b] >= paths[b][a] for b in size)]


def run_off(ballots: Sequence[Ballot], size: int) -> list[Round]:
    """Returns the counts in which the last leaves until one has more than half of the ballots that still count. Of
    those tied at the end the one with fewer first places before leaves, else the later in the list."""
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
