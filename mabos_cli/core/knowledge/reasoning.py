"""Results of reasoning that the agent keeps, so that their outcome can be noted later."""

from typing import NamedTuple


class KeptResult(NamedTuple):
    """A kept result: which method concluded it, how sure it was, and what came of it."""

    id: str
    method: str
    problem: str
    confidence: float | None
    happened: bool | None  # whether the conclusion turned out right; None as long as nobody knows
    at: str
    classification: tuple[tuple[str, str], ...] = ()
    lesson: str = ""
