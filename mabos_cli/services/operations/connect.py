"""Connects agent hosts to an agent: changes all their files or none, tries the result, and remembers it for status and disconnect."""

import json
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

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
    def path(self) -> Path:
        return self.file.path

    @property
    def is_changed(self) -> bool:
        """Returns whether anything is to be written."""
        return self.old != self.new


class Connection(NamedTuple):
    """A host that was connected, as the workspace remembers it; the folders are those that were made for it."""

    host: str
    is_user: bool
    folder: str
    agent: str
    program: str
    at: str
    made: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, bool, str]:
        """Returns what tells one connection from another."""
        return self.host, self.is_user, self.folder


class Trial(NamedTuple):
    """An event of the self-test: what was asked, what a model would see, and what went wrong."""

    event: str
    asked: str
    text: str
    trouble: str = ""


class Connected(NamedTuple):
    """A host that is connected or disconnected: the files, what the self-test showed, and what a person must know."""

    target: Target
    changes: list[FileChange]
    trials: tuple[Trial, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def connect(session: Session, host: str, *, user: bool, project: str, dry_run: bool) -> Connected:
    """Connects a host to the agent of a call, and tries it."""
    from mabos_cli.services.search.index import sync_index  # all else is loaded by status, too

    check_choice(host, HOSTS, "host")
    _, user, folder = find_place(host, user, project)
    agent = session.open_agent()
    workspace = agent.paths.workspace
    target = Target(host, user, Path(folder), find_program(), os.path.realpath(workspace.root), agent.id)
    changes = [_planned(file, connect=True) for file in host_files(target)]
    notes = _NOTES.get(host, ())
    if host == "codex" and not user:
        notes = ("Codex reads the settings of a project once you trust the project; --user needs no such step", *notes)
    if dry_run:
        return Connected(target, changes, notes=notes)
    made = apply_changes(changes)
    note_connection(workspace, target, made, format_time(agent.now()))
    warnings = _twice(workspace, target)
    try:
        warnings += sync_index(session, agent)[1]
    except InvalidFile as error:  # an index that cannot be written costs time, and nothing else
        warnings.append(error.message)
    trials = try_connection(agent, target, changes)
    warnings += [f"the self-test of {trial.event} failed: {trial.trouble}" for trial in trials if trial.trouble]
    return Connected(target, changes, tuple(trials), notes, tuple(warnings))


def find_place(host: str, user: bool, project: str) -> tuple[str, bool, str]:
    """Returns a host, whether the settings of a user are meant, and the folder that they are below: home, or the project, which is the
    nearest folder from here up that is a repository or a workspace, and else this folder. OpenClaw has settings of a user alone."""
    if project and (user or host == "openclaw"):
        raise UsageFault("--project given for the settings of a user", "leave it out; OpenClaw has no others")
    home, here = place_named("~"), place_named(project or ".")
    if not here.is_dir():
        raise UsageFault(f"{here} is no folder", "name the folder of the project")
    marked = (up for up in (here, *here.parents) if (up / ".git").exists() or (up / SETTINGS).exists())
    folder = here if project else next(marked, here)
    is_user = user or host == "openclaw" or folder == home
    return host, is_user, str(home if is_user else folder)


def _twice(workspace: WorkspacePaths, target: Target) -> list[str]:
    """Returns a warning when a host runs our hooks for a user and once more for a project."""
    others = [one for one in list_connections(workspace) if one.host == target.host and one.is_user != target.is_user]
    near = [one for one in others if target.is_user or one.is_user]
    places = ", ".join(one.folder for one in near[:3])
    return (
        [f"{target.host} is connected for the user and for a project ({places}): hooks run twice there"] if near else []
    )


def disconnect(session: Session, host: str, *, user: bool, project: str, dry_run: bool) -> list[Connected]:
    """Takes a host's connection out of its files; without a host, all that were made from here."""
    if host:
        check_choice(host, HOSTS, "host")
    try:
        workspace: WorkspacePaths | None = session.open_workspace()
    except NotFound:
        workspace = None  # the settings may outlive it
    known = list_connections(workspace) if workspace else []
    if host:
        places = [find_place(host, user, project)]
    else:
        near = [find_place(name, is_user, "") for is_user in (False, True) for name in HOSTS]
        places = [*dict.fromkeys([*(one.place for one in known), *near])]
    root = str(workspace.root) if workspace else ""
    targets = [Target(name, is_user, Path(folder), ("mabos",), root, "") for name, is_user, folder in places]
    ends = [Connected(target, [_planned(file, connect=False) for file in host_files(target)]) for target in targets]
    ends = [end for end in ends if any(change.is_changed for change in end.changes)]
    if not dry_run:
        apply_changes([*{change.path: change for end in ends for change in end.changes}.values()])
        ours = [str(change.path.parent) for end in ends for change in end.changes if change.file.is_ours]
        drop_folders([*ours, *(folder for one in known if one.place in places for folder in one.made)])
        gone = [one for one in known if one.place in places]
        if workspace and gone:
            _save(workspace, [one for one in known if one not in gone])
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
    """Writes all files, or none: what was written is taken back when another one fails. Returns the folders that were made."""
    done: list[FileChange] = []
    made: list[str] = []
    try:
        for change in changes:
            if change.is_changed:
                made += _missing(change.path.parent)
                _write(change)
                done.append(change)
    except BaseException:
        for change in reversed(done):
            with suppress(MabosError):
                _write(change._replace(old=change.new, new=change.old))
        drop_folders(made)
        raise
    return made


def _missing(folder: Path) -> list[str]:
    return [str(part) for part in (folder, *folder.parents) if not part.exists()]


def _write(change: FileChange) -> None:
    path, root = change.path, change.file.root
    if change.new is not None:
        replace_file(path, change.new, root=root, expect=change.old, shared=True)
        return
    if read_bytes(path) != change.old:
        raise Moved(path)
    remove_file(path, root=root)


# What the workspace remembers.


def list_connections(workspace: WorkspacePaths) -> list[Connection]:
    """Returns the connections that were made from a workspace on this machine."""
    found: Any = {}
    with suppress(
        InvalidFile
    ):  # what is local can be lost: the hosts' own files say the same, but for who made a folder
        found = parse_json(read_bytes(workspace.connections) or b"{}", workspace.connections.name)
    rows = found.get("connections") if isinstance(found, dict) else None
    if not isinstance(rows, list) or not rows:
        return []
    here = machine_token()
    return [_connection(row) for row in rows if isinstance(row, dict) and _is_known(row, here)]


def _is_known(row: dict[str, Any], here: str) -> bool:
    """Returns whether a row is about a host that we know, on this machine: a workspace may come from elsewhere."""
    return row.get("host") in HOSTS and row.get("machine") == here and os.path.isabs(str(row.get("folder")))


def _connection(row: dict[str, Any]) -> Connection:
    words = {name: str(row.get(name, "")) for name in ("host", "folder", "agent", "program", "at")}
    made = row.get("made")
    folders = tuple(map(str, made)) if isinstance(made, list) else ()
    return Connection(**words, is_user=row.get("is_user") is True, made=folders)


def note_connection(workspace: WorkspacePaths, target: Target, made: Sequence[str], at: str) -> None:
    """Notes that a host was connected, in the place of what was noted about it before."""
    folder = str(target.folder)
    new = Connection(target.host, target.is_user, folder, target.agent, target.program[0], at, tuple(made))
    before = list_connections(workspace)
    if old := next((one for one in before if one.place == new.place), None):
        new = new._replace(made=tuple(dict.fromkeys((*old.made, *made))))
        if new._replace(at=old.at) == old:
            return
    _save(workspace, [*(one for one in before if one.place != new.place), new])


def _save(workspace: WorkspacePaths, connections: Sequence[Connection]) -> None:
    old = read_bytes(workspace.connections)
    if connections:
        here = {"machine": machine_token()}
        data = dump_document({"connections": [one._asdict() | here for one in connections]}).encode("utf-8")
        replace_file(workspace.connections, data, root=workspace.root, expect=old)
    elif old is not None:
        remove_file(workspace.connections, root=workspace.root)


def describe_connections(workspace: WorkspacePaths) -> list[dict[str, str]]:
    """Returns the connections of a workspace, and what is wrong with each; empty when all is well."""
    return [
        {
            "host": one.host,
            "scope": "user" if one.is_user else "project",
            "folder": one.folder,
            "agent": one.agent,
            "trouble": _find_trouble(workspace, one),
        }
        for one in list_connections(workspace)
    ]


def _find_trouble(workspace: WorkspacePaths, one: Connection) -> str:
    target = Target(one.host, one.is_user, Path(one.folder), (one.program,), str(workspace.root), one.agent)
    again = f"mabos connect {one.host} {'--user' if one.is_user else f'--project {shlex.quote(one.folder)}'}"
    try:
        is_there = any(_planned(file, connect=False).is_changed for file in host_files(target))
    except MabosError as error:
        return error.message
    if not is_there:
        return f"its files do not name mabos any more: {again}, or disconnect it"
    return "" if os.access(one.program, os.X_OK) else f"stale: {one.program} is gone: {again}"


# The self-test.


def try_connection(agent: Agent, target: Target, changes: Sequence[FileChange]) -> list[Trial]:
    """Plays a session of the host through the commands that its files hold now."""
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
    import subprocess

    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input=json.dumps(payload).encode(),
            capture_output=True,
            cwd=target.folder,
            timeout=_PATIENCE,
            check=False,
        )
        answer = json.loads(done.stdout) if done.stdout.strip() else {}
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return Trial(event, asked, "", one_line(str(error), 200))
    trouble = f"exit code {done.returncode}: {done.stderr.decode('utf-8', 'replace')}" if done.returncode else ""
    return Trial(event, asked, shown_text(answer), one_line(trouble, 200))


def _try_server(target: Target) -> Trial:
    """Asks our MCP server for its tools, as a host does."""
    import subprocess

    calls: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    calls[0]["params"]["clientInfo"] = {"name": "mabos connect", "version": "1"}
    lines = "".join(json.dumps({"jsonrpc": "2.0"} | call) + "\n" for call in calls)
    words = [*target.program, "mcp", *target.options]
    try:
        done = subprocess.run(
            words, input=lines.encode(), capture_output=True, cwd=target.folder, timeout=_PATIENCE, check=False
        )
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        tools = next(one["result"]["tools"] for one in answers if one.get("id") == 2)
    except (OSError, ValueError, KeyError, StopIteration, subprocess.TimeoutExpired) as error:
        return Trial("mcp", "", "", one_line(f"{shlex.join(words)}: {error}", 200))
    return Trial("mcp", "", ", ".join(tool["name"] for tool in tools))


def _latest_memory(agent: Agent) -> str:
    """Returns a prompt about what was remembered last."""
    line = next(iter(reversed([*agent.load().long_term.lines()])), None)
    if line is None:
        return _GREETING
    return f"What do you know about this: {one_line(parse_item(line, 'memory-store.json').content, 100)}"
