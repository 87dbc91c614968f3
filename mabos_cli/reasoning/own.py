"""What a solver may use besides its input: the agent's knowledge, its past reasoning, and chance by a seed."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from mabos_cli.core.knowledge.case_similarity import Alike, Weights
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.rule import Rule


class Past(NamedTuple):
    """A result that was kept: which method said what, how sure it was, and what came of it."""

    id: str
    method: str
    problem: str
    confidence: float | None
    happened: bool | None  # whether the conclusion turned out right; None as long as nobody knows
    at: str
    classification: tuple[tuple[str, str], ...] = ()
    lesson: str = ""


class Own(NamedTuple):
    """The agent's own part of a problem. Only what the method draws on is loaded."""

    facts: tuple[Fact, ...] = ()
    rules: tuple[Rule, ...] = ()
    cases: tuple[Any, ...] = ()
    beliefs: tuple[str, ...] = ()  # ids of what is held now, or the words of what has none
    desires: tuple[str, ...] = ()
    weights: Weights = Weights()  # what each side of a case counts
    alike: Alike | None = None  # how near two concepts are by the ontologies
    past: tuple[Past, ...] = ()
    now: datetime | None = None
    chance: Callable[[int], Any] | None = None  # a random.Random for a seed
