"""Cause maps: whys below whys with evidence for and against, and which deepest ones the evidence reaches."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.digraph import causal_order
from mabos_cli.reasoning.input_checks import known_name


class Cause(NamedTuple):
    """A cause in the map: what it explains, its evidence, and the weakest link on the way up to the symptom."""

    name: str
    explains: str
    chain: tuple[str, ...]  # from the symptom down to it
    support: float
    contrary: float
    strength: float | None  # None where some link has no evidence
    has_below: bool  # whether a supported cause lies below it

    @property
    def net(self) -> float:
        return self.support - self.contrary

    @property
    def is_root(self) -> bool:
        """Whether it is supported, all above it is, and nothing below it is."""
        return self.strength is not None and self.strength > 0 and not self.has_below


def read_causes(symptom: str, said: Mapping[str, Mapping[str, Any]]) -> tuple[Cause, ...]:
    """The causes in the order of the input, each with the strength of its chain."""
    if symptom in said:
        raise BadValue(f"causes.{symptom}: is the symptom itself", "name causes apart from it")
    for name, one in said.items():
        known_name(f"causes.{name}.explains", one["explains"] or symptom, (symptom, *said), "cause")
    above = {name: one["explains"] or symptom for name, one in said.items()}
    order = causal_order({name: [up] if up in said else [] for name, up in above.items()}, "causes")
    weighed = {name: (sum(said[name]["for"].values()), sum(said[name]["against"].values())) for name in said}
    chains: dict[str, tuple[str, ...]] = {symptom: (symptom,)}
    strengths: dict[str, float | None] = {}
    for name in order:
        chains[name] = (*chains[above[name]], name)
        up = strengths.get(above[name], float("inf"))
        known = any(weighed[name]) and up is not None
        strengths[name] = min(up, weighed[name][0] - weighed[name][1]) if known else None
    reached = {above[name] for name, strength in strengths.items() if strength is not None and strength > 0}
    return tuple(
        Cause(name, above[name], chains[name], *weighed[name], strengths[name], name in reached) for name in said
    )
