"""Mirrors what a command wrote into TypeDB, if one is configured. Never fails the command: what cannot be written is queued.

Little is loaded as long as the server is down: then a line in the ledger is all that is written.
"""

import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mabos_cli.config import Settings
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import plural
from mabos_cli.core.mirror.records import QUEUED, Entry, Key
from mabos_cli.errors import Conflict, MabosError, Unavailable
from mabos_cli.workspace.agent import Agent, Change
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.mirror_ledger import end_rest, is_resting, let_rest, load_ledger, note_entries

if TYPE_CHECKING:
    from mabos_cli.backends.typedb import Place, Session
    from mabos_cli.services.mirror.sync import Writing

# Parts whose records go by the ids that a command names, and their type; others are small, and looked through as a whole.
_BY_ID = {"memory": "memory_item", "facts": "spo_fact", "cases": "cbr_case"}
_MUCH = "too much for one command: mabos typedb sync-agent writes the rest"
Parts = dict[str, dict[str, None] | None]


def changed_parts(changes: Iterable[Change]) -> Parts:
    """Returns the parts that were changed, with the ids that were named; None where the whole part is to be looked through.

    >>> changed_parts([Change("store", "memory", ("M-1",)), Change("rule create", "rules"), Change("log archive")])
    {'memory': {'M-1': None}, 'rules': None}
    """
    found: Parts = {}
    for change in changes:
        known = found.get(change.part, {})
        if change.part in _BY_ID and change.ids and known is not None:
            found[change.part] = known | dict.fromkeys(change.ids)
        elif change.part:
            found[change.part] = None
    return found


def mirror_changes(agents: Sequence[Agent]) -> list[str]:
    """Mirrors what was written in some agents: warnings. A server that is down is asked once, and warned about once."""
    reasons: dict[str, str] = {}  # by address
    queued: dict[str, int] = {}  # by reason
    warnings: list[str] = []
    for agent in agents:
        parts = changed_parts(agent.changes or ())
        if agent.changes:  # seen to; who commits still wants to know what ran
            agent.changes[:] = [change._replace(part="") for change in agent.changes]
        if not parts:
            continue
        address = agent.settings["typedb.address"]
        try:
            if is_resting(agent.paths.workspace, address):
                reasons.setdefault(address, f"TypeDB at {address} did not answer a moment ago")
                count = _queue(agent, parts)
            else:
                reasons[address], notes, count = _mirror(agent, parts)
                warnings += notes
        except MabosError as error:  # the ledger itself
            warnings.append(f"the mirror is behind, and does not know it: {error.message}")
            continue
        if reasons[address]:
            queued[reasons[address]] = queued.get(reasons[address], 0) + count
    delays = (f"{reason}; {plural(count, 'change')} queued for the mirror" for reason, count in queued.items())
    return [*warnings, *delays]


def _mirror(agent: Agent, parts: Parts) -> tuple[str, list[str], int]:
    """Returns why something could not be mirrored, if so; warnings; and how much was queued."""
    workspace, writing, session = agent.paths.workspace, None, None
    try:
        session = connect(workspace, place_of(workspace, agent.settings))
        from mabos_cli.services.mirror.sync import Writing, sync_touched

        writing = Writing()
        with session:
            session.end_in_time()
            sync_touched(agent, session, parts, writing)
    except (Unavailable, BadValue) as error:
        reason = f"{error.message} ({error.hint})" if error.hint else error.message
        if writing is None or session is None or isinstance(error, BadValue):
            return reason, _notes(writing), _queue(agent, parts)
        rest_after(workspace, session.place, error)
        return reason, _notes(writing), writing.left
    except Conflict:
        return "another process is mirroring this agent", [], _queue(agent, parts)
    return (_MUCH if writing.left else ""), _notes(writing), writing.left


def _notes(writing: "Writing | None") -> list[str]:
    """Returns warnings about records that could not be written."""
    notes = list(writing.warnings) if writing else []
    if writing and writing.failed:
        first, *others = writing.failed
        more = f", and {len(others)} more" if others else ""
        notes.append(f"TypeDB has not taken {first.uid}: {first.error}{more}; see mabos typedb status")
    return notes


def _queue(agent: Agent, parts: Parts) -> int:
    """Queues the records that a command named, without reading them; for parts without ids, those that differ."""
    named = ((part, record_id) for part, ids in parts.items() for record_id in ids or ())
    keys: list[Key] = [(_BY_ID[part], f"{agent.id}/{record_id}") for part, record_id in named]
    whole = {part: None for part, ids in parts.items() if ids is None}
    if whole:
        from mabos_cli.services.mirror.sync import plan_touched

        todo = plan_touched(agent, whole, load_ledger(agent.paths))[0]
        keys += [*todo.put, *todo.drop]
    at = format_time(agent.now())
    note_entries(agent.paths, [Entry(*key, QUEUED, at=at) for key in keys])
    return len(keys)


def place_of(workspace: WorkspacePaths, settings: Settings, database: str = "") -> "Place":
    """Returns where the settings say that the mirror is; Unavailable when they do not."""
    from mabos_cli.backends.typedb import Place

    chosen = {name: settings[f"typedb.{name}"] for name in Place._fields}
    if not chosen["address"]:
        raise Unavailable("TypeDB is not configured", "set typedb.address in mabos.yaml, or MABOS_TYPEDB_ADDRESS")
    folder = re.sub(r"[^a-z0-9]+", "_", workspace.root.name.lower()).strip("_")
    chosen["database"] = database or chosen["database"] or f"mabos_{folder or 'workspace'}"
    return Place(**chosen)


def connect(workspace: WorkspacePaths, place: "Place") -> "Session":
    """Returns a session with the server, in time, or Unavailable. One that does not answer is not asked again for a while."""
    from mabos_cli.backends.typedb import open_session

    try:
        session = open_session(place, os.environ.get("MABOS_TYPEDB_PASSWORD"))
    except Unavailable as error:
        rest_after(workspace, place, error)
        raise
    end_rest(workspace)
    return session


def rest_after(workspace: WorkspacePaths, place: "Place", error: MabosError | BadValue) -> None:
    """Lets a server rest that did not answer; one that said no is well."""
    from mabos_cli.backends.typedb import Unreachable

    if isinstance(error, Unreachable):
        let_rest(workspace, place.address)
