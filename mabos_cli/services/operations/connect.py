"""Connects agent hosts to an agent: changes all their files or none, tests the result, and remembers it for status and disconnect."""

import json
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import check_choice
from mabos_cli.core.operations.hook_hosts import HOSTS, event_payload, shown_text
from mabos_cli.errors import InvalidFile, MabosError, NotFound, UsageFault
from mabos_cli.formats.json.text import dump_document, dump_line, parse_json
from mabos_cli.formats.memory.items import parse_item
from mabos_cli.services.inputs import Session
from mabos_cli.services.operations.hosts import HostFile, Target, find_program, host_files
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import (
    Moved,
    decode_text,
    is_inside,
    read_bytes,
    remove_file,
    replace_file,
)
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.locate import place_named
from mabos_cli.workspace.plain_files import SETTINGS, drop_folders, machine_token

if TYPE_CHECKING:
    from subprocess import CompletedProcess

_PATIENCE = 30  # seconds for a command of the self-test
_NOTES = {
    "openclaw": ("a gateway that runs already loads this when it is restarted: openclaw gateway restart",),
    "codex": (
        "Codex runs new hooks once you trust them: start codex, type /hooks, and trust those of mabos",
        "codex exec silently skips hooks that are not trusted yet; the MCP server and the skill work at once",
    ),
}
_GREETING = "What do you remember about our work?"


class FileChange(NamedTuple):
    """A file of a host before and after, None where there is none."""

    file: HostFile
    old: bytes | None
    new: bytes | None

    @property
    def is_changed(self) -> bool:
        """Returns whether anything is to be written."""
        return self.old != self.new


class Trial(NamedTuple):
    """An event of the self-test: the prompt, the text that a model would see, and what went wrong."""

    event: str
    asked: str
    text: str
    trouble: str = ""


class Connected(NamedTuple):
    """The result of connecting or disconnecting a host: changed files, the self-test, and notes for a person."""

    target: Target
    changes: list[FileChange]
    trials: tuple[Trial, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def connect(session: Session, host: str, *, user: bool, project: str, dry_run: bool) -> Connected:
    """Connects a host to the agent of a call, and tests the connection."""
    from mabos_cli.services.search.index import sync_index  # all else is loaded by status, too

    check_choice(host, HOSTS, "host")
    agent = session.open_agent()
    workspace = agent.paths.workspace
    target = find_target(host, user, project)
    target = target._replace(workspace=os.path.realpath(workspace.root), agent=agent.id)
    changes = [_planned(file, connect=True) for file in host_files(target)]
    notes = _NOTES.get(host, ())
    if host == "codex" and not target.is_user:
        notes = ("Codex reads the settings of a project once you trust the project; --user needs no such step", *notes)
    if dry_run:
        return Connected(target, changes, notes=notes)
    made = apply_changes(changes)
    _note_connection(workspace, target, made, format_time(agent.now()))
    warnings = _twice(workspace, target)
    try:
        warnings += sync_index(session, agent)[1]
    except InvalidFile as error:  # without a current index, the first search takes longer
        warnings.append(error.message)
    trials = try_connection(agent, target, changes)
    warnings += [f"the self-test of {trial.event} failed: {trial.trouble}" for trial in trials if trial.trouble]
    return Connected(target, changes, tuple(trials), notes, tuple(warnings))


def find_target(host: str, user: bool, project: str) -> Target:
    """Finds the folder whose settings are meant: home, or the project, which is the nearest folder from here up that is a repository
    or a workspace, and else this folder. OpenClaw has settings of a user alone."""
    if project and (user or host == "openclaw"):
        raise UsageFault("--project cannot be used with settings of a user", "leave it out; OpenClaw has no others")
    home, here = place_named("~"), place_named(project or ".")
    if not here.is_dir():
        raise UsageFault(f"{here} is not a folder", "name the folder of the project")
    marked = (up for up in (here, *here.parents) if (up / ".git").exists() or (up / SETTINGS).exists())
    folder = here if project else next(marked, here)
    is_user = user or host == "openclaw" or folder == home
    return Target(host, is_user, home if is_user else folder, find_program())


def _twice(workspace: WorkspacePaths, target: Target) -> list[str]:
    """Returns a warning if a host runs our hooks twice: for the user and for a project."""
    others = [one for one in _list_connections(workspace) if one.host == target.host and one.is_user != target.is_user]
    places = ", ".join(str(one.folder) for one in others[:3])
    return (
        [f"{target.host} is connected for the user and for a project ({places}): hooks run twice there"]
        if others
        else []
    )


def disconnect(session: Session, host: str, *, user: bool, project: str, dry_run: bool) -> list[Connected]:
    """Removes the connection of a host from its files; without a host, all connections that were made from here."""
    if host:
        check_choice(host, HOSTS, "host")
    try:
        workspace: WorkspacePaths | None = session.open_workspace()
    except NotFound:
        workspace = None  # settings of hosts may outlive it
    known = {one.where: one for one in _list_connections(workspace)} if workspace else {}
    near = (
        [find_target(host, user, project)]
        if host
        else [find_target(name, is_user, "") for is_user in (False, True) for name in HOSTS]
    )
    found = ({} if host else known) | {one.where: known.get(one.where, one) for one in near}
    root = str(workspace.root) if workspace else ""
    targets = [one._replace(program=("mabos",), workspace=root, agent="") for one in found.values()]
    ends = [Connected(target, [_planned(file, connect=False) for file in host_files(target)]) for target in targets]
    ends = [end for end in ends if any(change.is_changed for change in end.changes)]
    if not dry_run:
        apply_changes([*{change.file.path: change for end in ends for change in end.changes}.values()])
        ours = [str(change.file.path.parent) for end in ends for change in end.changes if change.file.is_ours]
        drop_folders([*ours, *(folder for one in targets for folder in one.made)])
        if workspace and known.keys() & found.keys():
            _save(workspace, [one for where, one in known.items() if where not in found])
    return ends


def _planned(file: HostFile, *, connect: bool) -> FileChange:
    path = file.path
    if not is_inside(path, file.root):
        raise InvalidFile(
            f"{path} leads out of {file.root} by a symbolic link", "nothing was changed; replace the link"
        )
    old = read_bytes(path)
    text = None if old is None else decode_text(old, str(path))
    new = file.add(text) if connect else None if text is None else file.remove(text)
    return FileChange(file, old, None if new is None else new.encode("utf-8"))


def apply_changes(changes: Sequence[FileChange]) -> list[str]:
    """Writes all files, or none: if one fails, the others are restored. Returns the folders that were created."""
    done: list[FileChange] = []
    made: list[str] = []
    try:
        for change in changes:
            if change.is_changed:
                made += [str(folder) for folder in change.file.path.parents if not folder.exists()]
                _write(change)
                done.append(change)
    except BaseException:
        for change in reversed(done):
            with suppress(MabosError):
                _write(change._replace(old=change.new, new=change.old))
        drop_folders(made)
        raise
    return made


def _write(change: FileChange) -> None:
    path, root = change.file.path, change.file.root
    if change.new is not None:
        replace_file(path, change.new, root=root, expect=change.old, shared=True)
        return
    if read_bytes(path) != change.old:
        raise Moved(path)
    remove_file(path, root=root)


# What the workspace remembers.


def _list_connections(workspace: WorkspacePaths) -> list[Target]:
    """Returns the connections that were made from a workspace on this machine. Others may be listed, if it was copied here."""
    found: Any = {}
    # This file may be lost: the settings of the hosts say the same, but for which folders were created.
    with suppress(InvalidFile):
        found = parse_json(read_bytes(workspace.connections) or b"{}", workspace.connections.name)
    rows = found.get("connections") if isinstance(found, dict) else None
    if not isinstance(rows, list) or not rows:
        return []
    here = machine_token()
    return [
        _read_connection(row, workspace)
        for row in rows
        if isinstance(row, dict) and row.get("host") in HOSTS and row.get("machine") == here
        if os.path.isabs(str(row.get("folder")))
    ]


def _read_connection(row: dict[str, Any], workspace: WorkspacePaths) -> Target:
    host, folder, agent, program, at = (str(row.get(name, "")) for name in ("host", "folder", "agent", "program", "at"))
    made = tuple(map(str, row["made"])) if isinstance(row.get("made"), list) else ()
    return Target(
        host, row.get("is_user") is True, Path(folder), (program,), os.fspath(workspace.root), agent, at=at, made=made
    )


def _note_connection(workspace: WorkspacePaths, target: Target, made: Sequence[str], at: str) -> None:
    """Records that a host was connected, in place of an earlier record."""
    known = {one.where: one for one in _list_connections(workspace)}
    old = known.pop(target.where, target)
    new = target._replace(program=target.program[:1], at=at, made=tuple(dict.fromkeys((*old.made, *made))))
    if new._replace(at=old.at, workspace=old.workspace) != old:
        _save(workspace, [*known.values(), new])


def _save(workspace: WorkspacePaths, connections: Sequence[Target]) -> None:
    old = read_bytes(workspace.connections)
    if connections:
        here = {"machine": machine_token()}
        rows = [
            {"host": one.host, "is_user": one.is_user, "folder": str(one.folder), "agent": one.agent}
            | {"program": one.program[0], "at": one.at, "made": one.made, **here}
            for one in connections
        ]
        data = dump_document({"connections": rows}).encode("utf-8")
        replace_file(workspace.connections, data, root=workspace.root, expect=old)
    elif old is not None:
        remove_file(workspace.connections, root=workspace.root)


def describe_connections(workspace: WorkspacePaths) -> list[dict[str, str]]:
    """Returns the connections of a workspace, each with what is wrong with it, if anything."""
    return [
        {"host": one.host, "scope": one.scope, "folder": str(one.folder), "agent": one.agent}
        | {"trouble": _find_trouble(one)}
        for one in _list_connections(workspace)
    ]


def _find_trouble(one: Target) -> str:
    again = f"mabos connect {one.host} {'--user' if one.is_user else f'--project {shlex.quote(str(one.folder))}'}"
    try:
        is_there = any(_planned(file, connect=False).is_changed for file in host_files(one))
    except MabosError as error:
        return error.message
    if not is_there:
        return f"its files do not name mabos any more: {again}, or disconnect it"
    return "" if os.access(one.program[0], os.X_OK) else f"stale: {one.program[0]} is gone: {again}"


# The self-test.


def try_connection(agent: Agent, target: Target, changes: Sequence[FileChange]) -> list[Trial]:
    """Plays a session of the host through the commands in its files."""
    texts = [(change.new or b"").decode("utf-8") for change in changes]
    trials = []
    for event, asked in (("session-start", ""), ("user-prompt", _latest_memory(agent)), ("session-end", "")):
        words = [*target.program, "hook", event, "--host", target.host, *target.options]
        line, script = shlex.join(words), json.dumps(words[len(target.program) + 2 :])
        if any(dump_line(line) in text or script in text for text in texts):
            payload = event_payload(target.host, event, str(target.folder), asked)
            trials.append(_try_hook(target, event, asked, line, payload))
        elif (target.host, event) != ("cursor", "user-prompt"):
            trials.append(Trial(event, asked, "", f"no file runs {line}"))
    return [*trials, _try_server(target)]


def _try_hook(target: Target, event: str, asked: str, command: str, payload: dict[str, object]) -> Trial:
    try:
        done = _run(["/bin/sh", "-c", command], json.dumps(payload), target)
        answer = json.loads(done.stdout) if done.stdout.strip() else {}
    except (OSError, ValueError) as error:
        return Trial(event, asked, "", one_line(str(error), 200))
    trouble = f"exit code {done.returncode}: {done.stderr.decode('utf-8', 'replace')}" if done.returncode else ""
    return Trial(event, asked, shown_text(answer), one_line(trouble, 200))


def _try_server(target: Target) -> Trial:
    """Lists the tools of our MCP server, as a host does."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "mabos connect", "version": "1"},
    }
    calls: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    words = [*target.program, "mcp", *target.options]
    try:
        done = _run(words, "".join(json.dumps({"jsonrpc": "2.0"} | call) + "\n" for call in calls), target)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        tools = next(one["result"]["tools"] for one in answers if one.get("id") == 2)
    except (OSError, ValueError, KeyError, StopIteration) as error:
        return Trial("mcp", "", "", one_line(f"{shlex.join(words)}: {error}", 200))
    return Trial("mcp", "", ", ".join(tool["name"] for tool in tools))


def _run(words: Sequence[str], fed: str, target: Target) -> "CompletedProcess[bytes]":
    """Runs a command of a host in its folder; OSError when it takes too long."""
    import subprocess

    try:
        return subprocess.run(
            words, input=fed.encode(), capture_output=True, cwd=target.folder, timeout=_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(str(error)) from None


def _latest_memory(agent: Agent) -> str:
    """Returns a prompt about the latest memory."""
    line = next(iter(reversed([*agent.load().long_term.lines()])), None)
    if line is None:
        return _GREETING
    return f"What do you know about this: {one_line(parse_item(line, 'memory-store.json').content, 100)}"
