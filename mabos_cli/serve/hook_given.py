"""A call of an agent host: what it is about, and the two files that a hook writes, the spool and the log. Loads json and os."""

import json
import os
import time

from mabos_cli.core.operations.hook_hosts import HOSTS, find_event, find_host, folders_of, session_of, word_of
from mabos_cli.workspace.append import append_bounded, append_guarded
from mabos_cli.workspace.plain_paths import (
    AGENTS,
    hook_lock,
    hook_log,
    hook_spool,
    is_agent_folder,
    is_workspace,
    workspace_above,
)

TIME = 0.12  # seconds for an answer; with the start of the interpreter that makes 0.15
_LOG = 1 << 16
_WAIT = 0.3  # for whoever empties the spool


class Given:
    """A call of a host: the event, who calls, what it says, and the workspace and agent that it is about."""

    def __init__(self, event: str, host: str, payload: dict, root: str, agent: str) -> None:
        self.event, self.host, self.payload = event, host, payload
        self.root, self.agent = root, agent
        self.folder = os.path.join(root, AGENTS, agent)
        self.deadline = time.monotonic() + _seconds()
        named = os.path.expanduser(word_of(payload, "transcript_path"))
        # Whoever reads it later is somewhere else.
        self.transcript = os.path.abspath(os.path.join(word_of(payload, "cwd"), named)) if named else ""


def _seconds() -> float:
    """How long an answer may take."""
    try:
        return float(os.environ.get("MABOS_HOOK_TIME", TIME))
    except ValueError:
        return TIME


def find_given(options: dict, payload: dict) -> "Given | None":
    """What a call is about; None when it is about nothing of ours."""
    event = find_event(options["event"]) or find_event(word_of(payload, "hook_event_name"))
    root = find_root(options["workspace"], payload)
    if not root:
        return None
    if not event:
        log(root, f"{options['event'][:40]}: no such event")
        return None
    host = options["host"] if options["host"] in HOSTS else find_host(payload, os.environ)
    agent = find_agent_id(root, options["agent"])
    if not agent:
        log(root, f"{event}: which agent? name it with --agent or MABOS_AGENT")
        return None
    return Given(event, host, payload, root, agent)


def find_root(named: str, payload: dict) -> str:
    """The workspace: as named, from MABOS_WORKSPACE, or the nearest one above where the session or this process is."""
    named = named or os.environ.get("MABOS_WORKSPACE", "")
    if named:
        root = os.path.abspath(os.path.expanduser(named))
        return root if is_workspace(root) else ""
    for folder in (*folders_of(payload), _here()):
        if folder and (found := workspace_above(os.path.abspath(folder))):
            return found
    return ""


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def find_agent_id(root: str, named: str) -> str:
    """The agent: as named, from MABOS_AGENT, or the only one; empty when that is nobody."""
    folder = os.path.join(root, AGENTS)
    named = named or os.environ.get("MABOS_AGENT", "")
    if named:
        plain = named == os.path.basename(named) and not named.startswith(".")
        return named if plain and is_agent_folder(os.path.join(folder, named)) else ""
    found = [name for name in os.listdir(folder) if is_agent_folder(os.path.join(folder, name))]
    return found[0] if len(found) == 1 else ""


def spool(given: Given, **more: object) -> None:
    """Notes durably what harvest will look at."""
    record = {
        "at": stamp(),
        "event": given.event,
        "host": given.host,
        "session_id": session_of(given.payload),
        "transcript_path": given.transcript,
        **more,
    }
    path, lock = hook_spool(given.root, given.agent), hook_lock(given.root, given.agent)
    append_guarded(path, lock, json.dumps(record).encode() + b"\n", root=given.root, wait=_WAIT)


def stamp() -> str:
    """This moment, or the one in MABOS_NOW."""
    return os.environ.get("MABOS_NOW") or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def log(root: str, line: str) -> None:
    """Adds a line to the log of the workspace, if there is one."""
    if not root:
        return
    said = " ".join(line.split())[:300]
    path = hook_log(root)
    try:
        if os.path.isdir(os.path.dirname(path)):
            append_bounded(path, f"{stamp()} {said}\n".encode("utf-8", "replace"), _LOG)
    except OSError:
        pass
