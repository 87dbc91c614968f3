"""What a pack is made of: candidates, bounds, what was placed, and a receipt for each candidate."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mabos_cli.core.context.turns import Turn
from mabos_cli.core.knowledge.fact import Fact


class Entry(NamedTuple):
    """A candidate. kind is item, fact or passage; lane hot, warm or cold; use is the id whose use counts, if any."""

    ref: str
    text: str
    kind: str = "item"
    lane: str = "warm"
    type: str = "observation"
    trust: str = "agent"
    importance: float = 0.5
    score: float = 0.0
    at: str = ""
    use: str = ""
    fact: Fact | None = None


class Against(NamedTuple):
    """Evidence against something better: its reference, that of what it speaks against, and in which words."""

    ref: str
    against: str
    why: str


class Limits(NamedTuple):
    """What bounds a pack: tokens, entries (0: any number), trust, and the shares of the tail and of lanes."""

    budget: int
    entries: int = 0
    min_trust: str = ""
    tail_share: float = 0.4
    hot_share: float = 0.35
    cold_share: float = 0.6
    hot_bonus: float = 0.1
    trusted_weight: float = 1.1
    untrusted_weight: float = 0.5
    duplicate: float = 0.9


class Writing(NamedTuple):
    """How a pack is written: the line of an entry (with what it speaks against), the lines of a turn, the whole."""

    line: Callable[[Entry, str, str], str]
    turn: Callable[[int, Turn, bool], str]
    bundle: Callable[[Sequence[str]], str]


class Placed(NamedTuple):
    """What stands in a pack: an entry at a layer, or a turn of the tail; what is told of it, its lines and what they cost."""

    entry: Entry
    layer: str
    told: str
    lines: str
    tokens: int
    against: str = ""
    is_whole: bool = False


class Receipt(NamedTuple):
    """Why a candidate is in the pack or not. Nothing of its content."""

    ref: str
    kind: str
    lane: str
    layer: str
    score: float
    trust: str
    importance: float
    tokens: int
    included: bool
    reason: str


class Pack(NamedTuple):
    """A bundle of text that never costs more than its budget, what stands in it, and a receipt for each candidate."""

    text: str
    tokens: int
    placed: tuple[Placed, ...]
    tail: tuple[Placed, ...]
    contradiction: Against | None
    receipts: tuple[Receipt, ...]


def receipt_of(entry: Entry, reason: str, layer: str = "", tokens: int = 0) -> Receipt:
    """The receipt of a candidate: in the pack when the reason is `included`."""
    about = entry.ref, entry.kind, entry.lane, layer, entry.score, entry.trust, entry.importance
    return Receipt(*about, tokens, reason == "included", reason)
