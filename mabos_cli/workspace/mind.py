"""The cognitive files of an agent: read as they are, edited under its lock and never over what a person saved meanwhile."""

import time
from collections.abc import Callable

from mabos_cli.core.mind import Attitude, Belief, Problem
from mabos_cli.formats.attitudes import KINDS, read_attitudes
from mabos_cli.formats.beliefs import read_beliefs
from mabos_cli.formats.materialized_mind import render_mind
from mabos_cli.formats.plans import read_plans
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.home import AgentHome
from mabos_cli.workspace.logs import edit_text
from mabos_cli.workspace.materialize import write_derived
from mabos_cli.workspace.receipts import write_receipt
from mabos_cli.workspace.recovery import holding_lock

_MATERIALIZED = ("belief", "desire", "goal")


def read_mind(home: AgentHome, kind: str) -> str:
    """The text of the file of a kind; empty when there is none. Bytes that are not UTF-8 pass through."""
    return (read_bytes(home.paths.root / KINDS[kind].file) or b"").decode("utf-8", "surrogateescape")


def load_beliefs(home: AgentHome) -> tuple[list[Belief], list[Problem]]:
    """What an agent holds true, and what in its file makes no sense."""
    return read_beliefs(read_mind(home, "belief"), KINDS["belief"].file)


def load_attitudes(home: AgentHome, kind: str) -> tuple[list[Attitude], list[Problem]]:
    """The desires, goals, ... of an agent, and what in their file makes no sense."""
    text, name = read_mind(home, kind), KINDS[kind].file
    return read_plans(text, name) if kind == "plan" else read_attitudes(text, kind, name)


def edit_mind(
    home: AgentHome, command: str, kind: str, edit: Callable[[str], str], ids: Callable[[], list[str]]
) -> tuple[bool, list[str]]:
    """Rewrites the file of a kind by a function of its text, under the agent's lock: whether it changed, and warnings. The
    ids are those of the entries that it is about, known when the edit was made."""
    started = time.monotonic()
    with holding_lock(home, command) as holding:
        name = KINDS[kind].file
        changed = edit_text(home.paths, home.paths.root / name, edit)
        warnings = list(holding.warnings)
        if changed:
            warnings += materialize_mind(home)[1] if kind in _MATERIALIZED else []
            write_receipt(home, command, {name: 1}, ids(), started)
    return changed, warnings


def materialize_mind(home: AgentHome) -> tuple[list[str], list[str]]:
    """Writes mabos-beliefs.md if it is not as it should be: its name then, and warnings. Under the agent's lock."""
    beliefs = load_beliefs(home)[0]
    desires, goals = (load_attitudes(home, kind)[0] for kind in ("desire", "goal"))
    if not (beliefs or desires or goals or home.paths.beliefs_md.exists()):
        return [], []
    # What is no UTF-8 is drawn: a derived file is ours to keep clean.
    text = render_mind(home.id, beliefs, desires, goals).encode("utf-8", "replace").decode("utf-8")
    written, warnings = write_derived(home, home.paths.beliefs_md, text)
    return ([home.paths.relative(home.paths.beliefs_md)] if written else []), warnings
