"""Opens the model that refutes conflicts: its weights from a template, and the vectors of words."""

import json
from base64 import b64decode
from collections.abc import Sequence
from functools import cache
from struct import unpack

from mabos_cli.backends.wordllama import open_wordllama
from mabos_cli.core.mind.claims.overlay import ConflictModel, Vector, WordUse
from mabos_cli.core.mind.conflicts import Show
from mabos_cli.core.mind.mind import Belief
from mabos_cli.errors import Unavailable
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.layout import template_file
from mabos_cli.workspace.mind import Comparison, compare_beliefs


def find_among(
    agent: Agent,
    beliefs: Sequence[Belief],
    floor: float | None = None,
    show: Show | None = None,
    known: Comparison | None = None,
) -> Comparison:
    """Returns the conflicts among an agent's beliefs that the model does not refute."""
    return compare_beliefs(agent, beliefs, floor, show, known, open_conflict_model)


def open_conflict_model() -> ConflictModel | None:
    """Returns the model that comes with the program; None where there are no word vectors: then rules alone find conflicts."""
    try:
        return _open_model()
    except Unavailable:
        return None


@cache
def _open_model() -> ConflictModel:
    wordllama = open_wordllama()

    def vectors(words: Sequence[str]) -> Sequence[Vector]:
        return [unpack(f"<{len(row) // 4}f", row) for row in wordllama.embed(words)]

    found = json.loads(read_bytes(template_file("conflicts.model")) or b"")
    step, packed = found["centre"]
    centre = [step * value for value in memoryview(b64decode(packed)).cast("b")]
    return ConflictModel(found["weights"], found["bias"], found["floor"], WordUse(vectors, centre))
