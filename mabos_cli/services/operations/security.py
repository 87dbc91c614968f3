"""Finds risks in a workspace: settings that need permission, links that lead out, special files, stored secrets, files that others can
read, dates in the future, trust without a voucher, stale locks, and programs that git would run."""

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from mabos_cli.core.language.clock import as_stamp, format_time
from mabos_cli.core.language.secrets import find_secrets
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.trust import Claim
from mabos_cli.errors import MabosError
from mabos_cli.formats.mind.attitudes import KINDS
from mabos_cli.services.inputs import Session
from mabos_cli.services.operations.setup import list_risky
from mabos_cli.services.operations.soundness import Finding, is_writing
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.entries import FoundEntry, is_open_to_others, walk_entries
from mabos_cli.workspace.files import FileWrite, is_inside, read_bytes
from mabos_cli.workspace.git import find_repository, find_stale_lock, list_named_programs
from mabos_cli.workspace.knowledge.cases import load_cases
from mabos_cli.workspace.knowledge.facts import load_facts
from mabos_cli.workspace.layout import DAY, WorkspacePaths
from mabos_cli.workspace.locate import list_agents
from mabos_cli.workspace.runtime import now
from mabos_cli.workspace.secret_gate import describe_claim, find_unvouched

_LARGEST = 16 << 20  # bytes of a file that are searched for secrets
_PIECE = 1 << 18  # characters that are searched at once, in whole lines
_SHOWN = 20  # secrets of one file
_DATED = re.compile(rf"(?:agents/[^/]+/(?:memory|observations)/(?:\w+/)*)({DAY})[^/]*\.(?:md|jsonl)")
Show = Callable[[int, int], None]


def inspect_workspace(session: Session, show: Show | None = None) -> list[Finding]:
    """Returns what a person should know about a workspace and its agents before trusting it. `show` is called with the number of
    files that were searched for secrets."""
    workspace = session.open_workspace()
    entries = [*walk_entries(workspace.root)]
    found: list[Finding] = []
    checks: tuple[Callable[[], Iterator[Finding]], ...] = (
        lambda: _check_settings(workspace),
        lambda: _check_entries(workspace, entries),
        lambda: _check_modes(workspace, entries),
        lambda: _check_secrets(workspace, entries, show),
        lambda: _check_agents(session, workspace),
        lambda: _check_names(entries),
        lambda: _check_git(workspace),
    )
    for check in checks:
        try:
            found += check()
        except MabosError as error:
            found.append(Finding("problem", "", error.message))
    return found


def _check_settings(workspace: WorkspacePaths) -> Iterator[Finding]:
    for row in list_risky(workspace):
        about = f"{row.name} ({one_line(str(row.value), 60)}) {row.risk}"
        if row.allowed:
            yield Finding("note", row.file, f"{about}; you allowed it")
        else:
            yield Finding("problem", row.file, f"{about}; ignored until you allow it: mabos allow")


def _check_entries(workspace: WorkspacePaths, entries: list[FoundEntry]) -> Iterator[Finding]:
    for entry in entries:
        if entry.target and not is_inside(entry.target, workspace.root):
            yield Finding("problem", entry.name, f"a link that leads out of the workspace to {entry.target}")
        elif entry.special:
            yield Finding("problem", entry.name, f"{entry.special} in the place of a file")
        elif stat.S_ISREG(entry.mode) and not entry.is_file:
            yield Finding("problem", entry.name, "too large to be read")


def _check_modes(workspace: WorkspacePaths, entries: list[FoundEntry]) -> Iterator[Finding]:
    """Finds files that other users of this machine can read or change, if they can enter the folder."""
    if not is_open_to_others(workspace.root):
        return
    plain = [entry for entry in entries if not stat.S_ISLNK(entry.mode)]
    readable = sum(1 for entry in plain if entry.is_file and entry.mode & stat.S_IROTH)
    if readable:
        message = f"{plural(readable, 'file')} that other users of this machine can read: chmod 700 the folder"
        yield Finding("problem", ".", message)
    for entry in plain:
        if entry.mode & stat.S_IWOTH:
            yield Finding("problem", entry.name, "other users of this machine can change it: chmod o-w")


def _check_secrets(workspace: WorkspacePaths, entries: list[FoundEntry], show: Show | None) -> Iterator[Finding]:
    """Finds secrets by file and line, without showing them."""
    files = [entry for entry in entries if entry.is_file]
    for number, entry in enumerate(files, 1):
        if entry.size > _LARGEST:
            yield Finding("note", entry.name, "too large to be searched for secrets")
            continue
        with suppress(MabosError):  # doctor reports unreadable files
            data = read_bytes(workspace.root / entry.name) or b""
            if b"\0" not in data[:8192]:
                places = [*_find_places(data.decode("utf-8", "replace"))]
                for line, kind in places[:_SHOWN]:
                    yield Finding("problem", f"{entry.name}:{line}", f"contains a secret: {kind}")
                if len(places) > _SHOWN:
                    yield Finding("problem", entry.name, f"contains {len(places) - _SHOWN} more secrets")
        if show:
            show(number, len(files))


def _find_places(text: str) -> Iterator[tuple[int, str]]:
    """Yields the lines of a text with a secret, and the kind of each."""
    line, seen = 1, set()
    while text:
        end = text.find("\n", _PIECE) + 1 if len(text) > _PIECE else 0
        piece, text = (text[:end], text[end:]) if end else (text, "")
        for secret in find_secrets(piece):
            place = line + piece.count("\n", 0, secret.start), secret.kind
            if place not in seen:
                seen.add(place)
                yield place
        line += piece.count("\n")


def _check_agents(session: Session, workspace: WorkspacePaths) -> Iterator[Finding]:
    for agent_id in list_agents(workspace):
        agent = session.agent_of(workspace.agent(agent_id), fallback=True)
        if is_writing(agent):
            name = agent.paths.cited(agent.paths.lock)
            yield Finding("note", name, "a write is under way, or was cut off; the next writing command finishes it")
        for check in (_check_items, _check_vouchers):
            with suppress(MabosError):  # doctor reports unreadable files
                yield from check(agent)


def _check_items(agent: Agent) -> Iterator[Finding]:
    latest = format_time(agent.now() + timedelta(days=1))
    memory = agent.memory()
    stored = (*memory.working, *memory.short_term, *memory.long_term)
    ahead = [item.id for item in stored if as_stamp(item.created_at) > latest]
    if ahead:
        message = f"{plural(len(ahead), 'item')} dated in the future, the first is {ahead[0]}"
        yield Finding("problem", agent.paths.cited(agent.paths.store), message)


def _check_vouchers(agent: Agent) -> Iterator[Finding]:
    """Finds facts, cases, beliefs and lessons from outside that claim trust although trust.jsonl names nobody who vouched."""
    paths = agent.paths
    log = read_bytes(paths.trust_log) or b""
    minds = [paths.root / kind.file for kind in KINDS.values()]
    held: list[tuple[Path, list[FileWrite], list[Claim] | None]] = [
        (paths.facts, [], [Claim(fact.id, fact.trust, fact.source) for fact in load_facts(agent).asserted.facts()]),
        (paths.cases, [], [Claim(case.id, case.trust, case.source) for case in load_cases(agent).cases()]),
        *((path, [FileWrite(path, read_bytes(path) or b"", None)], None) for path in minds),
    ]
    for path, files, claims in held:
        for claim in sorted(find_unvouched(files, claims, lambda: log)):
            message = f"{describe_claim(claim)}; trust.jsonl names nobody who vouches for it"
            yield Finding("problem", paths.cited(path), message)


def _check_names(entries: list[FoundEntry]) -> Iterator[Finding]:
    """Finds logs, checkpoints and observations with a future date in their name."""
    latest = format_time(now() + timedelta(days=1))[:10]
    for entry in entries:
        dated = _DATED.fullmatch(entry.name)
        if dated and dated[1] > latest:
            yield Finding("problem", entry.name, "is dated in the future")


def _check_git(workspace: WorkspacePaths) -> Iterator[Finding]:
    repository = find_repository(workspace.root)
    if repository is None:
        return
    if stale := find_stale_lock(repository):
        message = "has kept git from writing for more than ten minutes; remove it if no git is at work"
        yield Finding("problem", os.path.relpath(stale, workspace.root), message)
    if names := list_named_programs(repository):
        message = f"the repository names programs ({', '.join(names)}): mabos runs none of them, your own git does"
        yield Finding("note", ".git/config", message)
