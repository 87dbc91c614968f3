"""Games in normal form: every profile of actions with what each player gets, exactly; what follows from pure actions."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from mabos_cli.reasoning.dominance import is_better

Profile = tuple[int, ...]  # an action of each player, by its number


class Game(NamedTuple):
    """Players, what each can do, and the payoffs of every profile. Exact numbers: equilibria hang on equalities."""

    players: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]
    payoffs: dict[Profile, tuple[Fraction, ...]]

    def profiles(self, left: tuple[tuple[int, ...], ...] | None = None) -> Iterator[Profile]:
        """Every profile, or those of the actions that are left."""
        return product(*(left or self.everything()))

    def everything(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of all actions of each player."""
        return tuple(tuple(range(len(own))) for own in self.actions)

    def named(self, profile: Profile) -> dict[str, str]:
        """A profile as player and action."""
        return {who: self.actions[n][profile[n]] for n, who in enumerate(self.players)}


class Removed(NamedTuple):
    """An action that goes, and the action that is better whatever the others do; None if only a mixture is."""

    player: int
    action: int
    by: int | None


def swap(profile: Profile, player: int, action: int) -> Profile:
    """The profile after one player changes."""
    return (*profile[:player], action, *profile[player + 1 :])


def find_pure_equilibria(game: Game) -> list[Profile]:
    """The profiles that nobody gains by leaving alone."""
    best: dict[tuple[int, Profile], Fraction] = {}
    for profile in game.profiles():
        for player, got in enumerate(game.payoffs[profile]):
            others = (player, swap(profile, player, -1))
            best[others] = max(got, best.get(others, got))
    return [
        profile
        for profile in game.profiles()
        if all(got == best[n, swap(profile, n, -1)] for n, got in enumerate(game.payoffs[profile]))
    ]


def remove_dominated(
    game: Game, left: tuple[tuple[int, ...], ...]
) -> tuple[tuple[tuple[int, ...], ...], list[Removed]]:
    """The actions that survive when strictly dominated ones are removed until none is left, and those removed. The order
    of removal makes no difference to what survives."""
    removed: list[Removed] = []
    while found := _find_dominated(game, left):
        removed.append(found)
        left = tuple(tuple(a for a in own if (n, a) != (found.player, found.action)) for n, own in enumerate(left))
    return left, removed


def _find_dominated(game: Game, left: tuple[tuple[int, ...], ...]) -> Removed | None:
    for player, own in enumerate(left):
        others = [*game.profiles((*left[:player], (-1,), *left[player + 1 :]))]
        column = {a: [game.payoffs[swap(o, player, a)][player] for o in others] for a in own}
        for action in own:
            for by in own:
                if all(ours > theirs for ours, theirs in zip(column[by], column[action], strict=True)):
                    return Removed(player, action, by)
    return None


def find_maximin(game: Game, player: int) -> tuple[list[int], Fraction]:
    """The actions with the best worst case, and that worst case."""
    worst: list[Fraction | None] = [None] * len(game.actions[player])
    for profile in game.profiles():
        got, known = game.payoffs[profile][player], worst[profile[player]]
        worst[profile[player]] = got if known is None else min(got, known)
    floor = max(worst)
    return [action for action, value in enumerate(worst) if value == floor], floor


def find_pareto(game: Game) -> list[Profile]:
    """The profiles that no other one improves for somebody at nobody's cost."""
    outcomes = sorted({*game.payoffs.values()}, reverse=True)
    front: list[tuple[Fraction, ...]] = []
    for (
        outcome
    ) in outcomes:  # whatever beats an outcome sorts before it, and is beaten by one on the front if not on it
        if not any(is_better(known, outcome) for known in front):
            front.append(outcome)
    kept = {*front}
    return [profile for profile in game.profiles() if game.payoffs[profile] in kept]


def find_risk_dominant(game: Game, one: Profile, other: Profile) -> Profile | None:
    """Of two strict equilibria of a game of two by two, the one whose deviations cost more (Harsanyi and Selten), if
    one does."""
    if any(a == b for a, b in zip(one, other, strict=True)):
        return None
    losses = []
    for stays, away in ((one, other), (other, one)):
        here = game.payoffs[stays]
        lost = [here[n] - game.payoffs[swap(stays, n, away[n])][n] for n in (0, 1)]
        losses.append(lost[0] * lost[1])
    if losses[0] == losses[1]:
        return None
    return one if losses[0] > losses[1] else other
