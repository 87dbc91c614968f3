"""Finds what a group prefers: winners by several voting rules, and whether these agree."""

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, cut, notes, ranking
from mabos_cli.reasoning.inputs import AgentData, check_known
from mabos_cli.reasoning.shape import check_size, conform, find_part, read_text

Pairs = Sequence[Sequence[int]]  # how many prefer one to the other
_MOST_CANDIDATES = 50
_COUNTED = re.compile(r"\s*(\d+)\s*:(.*)", re.S)


class Ballot(NamedTuple):
    """So many voters with the same ranking: groups of candidates, the best first; those in a group are tied. Who is not named
    comes last, tied."""

    voters: int
    groups: tuple[tuple[int, ...], ...]


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the ranking by the rule that decides, with the winners by all the others."""
    read = [_read_ballot(one, f"ballots[{n}]") for n, one in enumerate(fields["ballots"], 1)]
    named = dict.fromkeys(name for _, groups in read for group in groups for name in group)
    names = tuple(fields["candidates"] or named)
    check_size("candidates", len(names), _MOST_CANDIDATES, "candidates")
    check_known("candidates", names, names, "candidate")
    for n, (_, groups) in enumerate(read, 1):
        check_known(f"ballots[{n}]", (name for group in groups for name in group), names, "candidate")
    if len(names) < 2:
        raise BadValue("ballots: there is only one candidate", "a choice needs two")
    ballots = [Ballot(count, tuple(tuple(map(names.index, group)) for group in groups)) for count, groups in read]
    return _answer(fields["rule"], names, ballots, count_pairs(ballots, len(names)))


def _read_ballot(ballot: Any, path: str) -> tuple[int, tuple[tuple[str, ...], ...]]:
    """Returns how many voters, and their groups of candidates."""
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
    if not any(groups):
        raise BadValue(f"{path}: names nobody", "write `12: a > b = c`, or the fields count and rank")
    return found["count"], tuple(filter(None, groups))


def _score_all(ballots: Sequence[Ballot], pairs: Pairs, paths: Pairs) -> dict[str, Sequence[Fraction | int]]:
    """Returns the score of each candidate by each rule."""
    # How many others each beats by the strongest path, less how many beat it: the relation is transitive.
    wins = [
        sum((a > b) - (b > a) for a, b in zip(row, column, strict=True))
        for row, column in zip(paths, zip(*paths, strict=True), strict=True)
    ]
    first = [Fraction(0)] * len(pairs)
    for voters, (best, *_) in ballots:
        for n in best:  # who is tied at the top shares the vote
            first[n] += Fraction(voters, len(best))
    points = score_borda(pairs, sum(ballot.voters for ballot in ballots))
    return {"schulze": wins, "borda": points, "plurality": first}


def _answer(rule: str, names: tuple[str, ...], ballots: Sequence[Ballot], pairs: Pairs) -> Answer:
    size, paths = range(len(names)), find_paths(pairs)
    every = _score_all(ballots, pairs, paths)
    orders = {name: sorted(size, key=lambda n: -found[n]) for name, found in every.items()}
    scores = {name: {names[n]: float(found[n]) for n in size} for name, found in every.items()}
    winners = {name: [names[n] for n in size if found[n] == max(found)] for name, found in every.items()}
    winners["schulze"] = [names[n] for n in find_schulze(paths)]
    beats_all = [names[a] for a in size if all(pairs[a][b] > pairs[b][a] for b in size if b != a)]
    detail: dict[str, Any] = {
        "rule": rule,
        "voters": sum(ballot.voters for ballot in ballots),
        "winners": winners,
        "orders": {name: [names[n] for n in order] for name, order in orders.items()},
        "scores": scores,
        "pairs": {names[a]: {names[b]: pairs[a][b] for b in size if b != a} for a in size},
        "condorcet_winner": beats_all[0] if beats_all else None,
    }
    by_winner: dict[str, list[str]] = {}
    for name, found in winners.items():
        by_winner.setdefault(" and ".join(found), []).append(name)
    steps = [f"{plural(detail['voters'], 'voter')}, {plural(len(names), 'candidate')}"]
    steps.append(f"{detail['condorcet_winner'] or 'nobody'} beats every other one by a majority")
    steps += [f"{who}: {', '.join(rules)}" for who, rules in by_winner.items()]
    line, deciding = names[orders[rule][0]], every[rule]
    for one, other in pairwise(orders[rule]):
        line += f" {'=' if deciding[one] == deciding[other] else '>'} {names[other]}"
    steps.append(f"order by {rule}: {line}")
    agree = f"{len(by_winner)} different winners by {len(every)} rules" if len(by_winner) > 1 else "all rules agree"
    is_tied = len(winners[rule]) > 1
    caveats = notes(
        (len(by_winner) > 1, "the rules disagree: which was agreed on beforehand decides"),
        (is_tied, f"tie for the first place by {rule}: {', '.join(winners[rule])}"),
        (
            not is_tied and len({*deciding}) < len(names),
            f"ties by {rule} further down stand in the order of the candidates",
        ),
    )
    summary = f"{' and '.join(winners[rule])} by {rule}; {agree}"
    conclusion = ranking(tuple(names[n] for n in orders[rule]), scores[rule])
    return Answer(conclusion, None, summary, cut(steps), detail, caveats)


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
    return [Fraction(sum(voters + pairs[a][b] - pairs[b][a] for b in size if b != a), 2) for a in size]


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


def find_schulze(paths: Pairs) -> list[int]:
    """Returns the candidates whom nobody beats by a stronger path."""
    size = range(len(paths))
    return [a for a in size if all(paths[a][b] >= paths[b][a] for b in size)]
