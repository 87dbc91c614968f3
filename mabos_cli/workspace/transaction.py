"""The one way to write files of an agent: lock, recovery, plan on fresh values, compare, commit, receipt.

A plan reads files and returns what to write, each file with the bytes that it was read as. When a file was changed meanwhile,
everything is as it was and the plan is called again.
Order: intent (in the lock file) -> archive -> files, of which the last is the commit point -> lines of ledgers -> what follows
from it (journals, logs, derived pages) -> receipt. Whoever is killed in between is finished or rolled back by the next writer.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.stores import Relatives
from mabos_cli.core.memory.trust import Claim, needs_voucher
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import Conflict, MabosError
from mabos_cli.formats.json.text import check_format, dump_line, dump_record, parse_ledger
from mabos_cli.workspace.agent import Agent, Change
from mabos_cli.workspace.archive import append_records
from mabos_cli.workspace.files import (
    ATTEMPTS,
    FileWrite,
    Moved,
    append_bytes,
    check_ledger,
    list_stems,
    read_bytes,
    read_end,
    remove_file,
    replace_file,
)
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.lock import Lock, locked

Result = TypeVar("Result")
Unfinished = dict[str, list[str]]


class Fresh:
    """The means of a plan besides the files that it reads: this call's moment, new ids, and a finder of similar items, which is
    opened when it is asked for."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.now = agent.moment
        self.new_id: Callable[[], str] = lambda: ""
        self.relatives: Callable[[], Relatives | None] = lambda: None


class Write(NamedTuple):
    """Holds what a plan wants written, and how it is noted.

    `part` is the part of the mirror that it changes, with the ids of what changed; without ids the whole part is compared.
    `follow` does what can be done again after a crash and returns warnings. Without counts there is no receipt.
    `texts` is what is new in the files, for the gate, and `claims` what that says of its trust; without them lines are compared.
    Where the program moves text by itself (`is_moved`), a secret in it is replaced, not refused.
    """

    files: Sequence[FileWrite] = ()
    archive: Sequence[tuple[str, bytes]] = ()  # records with the time at which what they tell of left
    lines: Sequence[tuple[Path, bytes]] = ()  # appended to ledgers
    follow: Callable[[], list[str]] | None = None
    part: str = ""
    ids: Sequence[str] = ()
    counts: Mapping[str, int] | None = None
    intent: dict[str, Any] | None = None  # how the next writer finishes this one or rolls it back
    texts: Sequence[str] | None = None
    claims: Sequence[Claim] | None = None
    is_moved: bool = False


Plan = Callable[[Fresh], tuple[Write | None, Result]]


def transact(agent: Agent, command: str, plan: Plan[Result]) -> tuple[Result, list[str]]:
    """Runs a plan under the agent's lock and writes what it returns, all of it or nothing: its result, and warnings.

    Behind the commit point trouble is only a warning: what was asked for is durable, and the next writer finishes the rest.
    """
    started, moved = time.monotonic(), None
    with holding_lock(agent, command) as holding:
        for _ in range(ATTEMPTS):
            write, result = plan(Fresh(agent))
            if (
                agent.confirm and not agent.changes
            ):  # behind the plan: what is saved from here on makes the commit plan again
                agent.confirm()
            if write is None:
                return result, holding.warnings
            if agent.progress and (show := agent.progress("writing")):
                show(0, 0)
            write = _admit(agent, write)
            try:
                _commit(agent, holding, write)
            except Moved as error:
                moved = error
                continue
            warnings = list(holding.warnings)
            try:
                warnings += write.follow() if write.follow else []
            except MabosError as error:
                if write.intent is not None:
                    note_change(agent, command, write.part, write.ids)
                    message = f"the memory is stored, but {error.message}; the next write finishes the rest"
                    return result, [*warnings, message]
                warnings.append(f"derived files are behind: {error.message}")
            if write.intent is not None:
                holding.settle(write.intent["version"])
            if write.counts is not None:
                write_receipt(agent, command, write.counts, write.ids, started, part=write.part)
            return result, warnings
    assert moved is not None
    doing = "another program is writing it" if moved.is_shared else "something writes it without locking"
    raise Conflict(f"{agent.paths.relative(moved.path)} keeps changing", f"{doing}; try again")


def _admit(agent: Agent, write: Write) -> Write:
    """Returns a write without new secrets; BadValue when it has one, unless a person allowed it, or when something from outside
    wants to be trusted and nobody vouches for it. Facts that rules derive say nothing that facts and rules do not say."""
    if write.files if write.claims is None else any(needs_voucher(c.trust, c.source) for c in write.claims):
        from mabos_cli.workspace.secret_gate import refuse_unvouched

        log = (line for path, line in write.lines if path == agent.paths.trust_log)
        refuse_unvouched(write.files, write.claims, lambda: b"".join((read_bytes(agent.paths.trust_log) or b"", *log)))
    if not agent.settings["secrets.refuse"] or agent.admits_secrets:
        return write
    from mabos_cli.workspace.secret_gate import redact_added, refuse_new_secrets

    if write.is_moved:
        return write._replace(files=[redact_added(file) for file in write.files])
    derived = (agent.paths.derived_facts, agent.paths.derived_pages)
    files = [file for file in write.files if not {file.path, file.path.parent} & {*derived}]
    refuse_new_secrets(files, write.texts, [line for _, line in (*write.lines, *write.archive)])
    return write


def _commit(agent: Agent, holding: "Holding", write: Write) -> None:
    """Writes everything up to the commit point and the lines behind it; nothing where a file is of a newer format."""
    for file in write.files:
        check_format(file.path, file.read_as)
    for path, _ in write.lines:
        check_ledger(path)
    if write.archive or write.intent is not None:
        for file in write.files[-1:]:  # before anything grows that would grow again
            if read_bytes(file.path) != file.read_as:
                raise Moved(file.path, file.is_shared)
    if write.intent is not None:
        holding.lock.declare(dump_line({**write.intent, "carried": holding.unfinished}).encode())
    try:
        if write.archive:
            append_records(agent.paths, write.archive)
        write_files(write.files, agent.paths.workspace.root)
    except BaseException:
        if write.intent is not None and all(map(_is_untouched, write.files)):
            holding.lock.settled = not holding.is_unfinished
        raise
    for path, line in write.lines:
        append_bytes(path, line, root=agent.paths.workspace.root)


def write_files(files: Sequence[FileWrite], root: Path) -> None:
    """Replaces files one after the other. As long as this process lives all are written or none: what was replaced before one
    that cannot be is put back."""
    begun: list[FileWrite] = []
    try:
        for file in files:
            begun.append(file)
            replace_file(file.path, file.data, root=root, expect=file.read_as, shared=file.is_shared)
    except BaseException:
        if read_bytes(files[-1].path) != files[-1].data:
            for file in begun:
                _put_back(file, root)
        raise


def _is_untouched(file: FileWrite) -> bool:
    """Returns whether a file does not hold what was to be written."""
    return file.read_as == file.data or read_bytes(file.path) != file.data


def _put_back(file: FileWrite, root: Path) -> None:
    """Makes a file what it was, unless somebody else wrote it since."""
    if _is_untouched(file):
        return
    if file.read_as is None:
        remove_file(file.path, root=root)
    else:
        replace_file(file.path, file.read_as, root=root, expect=file.data, shared=file.is_shared)


class Holding:
    """The held lock: whether the holder before was killed, and what of its work could not be finished even now."""

    def __init__(self, lock: Lock, crashed: bool, unfinished: Unfinished, warnings: list[str]) -> None:
        self.lock = lock
        self.crashed = crashed
        self.unfinished = unfinished
        self.warnings = warnings

    @property
    def is_unfinished(self) -> bool:
        return any(self.unfinished.values())

    def settle(self, version: int) -> None:
        """Says that this holder's own work is done; what it could not finish for others is left to the next."""
        if self.is_unfinished:
            self.lock.declare(dump_line({"version": version, "carried": self.unfinished}).encode())
        else:
            self.lock.settled = True


@contextmanager
def holding_lock(agent: Agent, command: str) -> Iterator[Holding]:
    """The agent's lock; what a killed holder left is finished first, as far as it can be."""
    root, timeout = agent.paths.workspace.root, agent.settings["lock.timeout"]
    with locked(agent.paths.lock, root, timeout, f"mabos {command}") as lock:
        holding = Holding(lock, bool(lock.left_behind.strip(b"\0\n")), {}, [])
        if holding.crashed:
            from mabos_cli.workspace.recovery import recover

            holding.unfinished, holding.warnings = recover(agent, lock.left_behind)
        lock.settled = not holding.is_unfinished
        yield holding


def write_receipt(
    agent: Agent,
    command: str,
    counts: Mapping[str, int],
    ids: Sequence[str] = (),
    started: float | None = None,
    *,
    part: str = "",
) -> None:
    """Adds a receipt, and notes on the agent what changed, for the mirror. Best effort: the write itself is done."""
    note_change(agent, command, part, ids)
    at = format_time(agent.moment)
    add_receipt(agent.paths.workspace, at, command, counts, ids, started, agent=agent.id)


def note_change(agent: Agent, command: str, part: str, ids: Sequence[str]) -> None:
    """Notes on the agent what a command changed, for who mirrors or commits it."""
    if agent.changes is not None:
        agent.changes.append(Change(command, part, tuple(ids)))


def add_receipt(
    workspace: WorkspacePaths,
    at: str,
    command: str,
    counts: Mapping[str, int],
    ids: Sequence[str],
    started: float | None = None,
    agent: str = "",
) -> None:
    """Adds a receipt about an agent, or about what the workspace has in common: one line in .mabos/receipts/."""
    record = {
        "at": at,
        "agent": agent,
        "command": command,
        "ids": list(ids[:20]),
        "counts": {name: count for name, count in counts.items() if count},
        "ms": round((time.monotonic() - started) * 1000) if started else 0,
    }
    with suppress(MabosError):
        append_bytes(workspace.receipts(at[:10]), dump_record(record), root=workspace.root)


_TAIL = 1 << 16


def last_runs(agent: Agent) -> dict[str, dict[str, Any]]:
    """Returns the latest receipt of each command for this agent, from the end of the two latest days: the cost stays flat."""
    latest = latest_receipts(agent.paths.workspace)
    return {str(record.get("command")): record for record in latest if record.get("agent") == agent.id}


def latest_receipts(workspace: WorkspacePaths) -> Iterator[dict[str, Any]]:
    """Yields the receipts at the end of the two latest days, oldest first."""
    for day in list_stems(workspace.receipts_folder, ".jsonl")[-2:]:
        records = parse_ledger(read_end(workspace.receipts(day), _TAIL)).records
        yield from (record for record in records if isinstance(record.get("at"), str))
