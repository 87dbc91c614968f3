"""Running a job: its commands for each agent in turn, each in a process of its own, so that one cannot spoil the next."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from mabos_cli.core.language.text import plural
from mabos_cli.core.operations.schedule import Job
from mabos_cli.errors import Conflict, MabosError
from mabos_cli.formats.operations.timers import render_mark
from mabos_cli.services.session import NO_AGENTS, Session
from mabos_cli.terminal.emit import note
from mabos_cli.workspace.files import list_names, read_bytes, remove_file, replace_file
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.locate import find_agent, list_agents
from mabos_cli.workspace.lock import Lock
from mabos_cli.workspace.settings import load_settings

_ENDINGS = (".service", ".timer")


class Run(NamedTuple):
    """How a command went for an agent: exit code, answer (a value, or lines), warnings, why it failed and what to do then."""

    agent: str
    command: str
    exit: int
    answer: Any
    warnings: list[str]
    error: str
    hint: str

    @property
    def name(self) -> str:
        return f"{self.agent} {self.command}"


def run_job(call: Session, job: Job) -> None:
    """Runs a job and prints what came of it. While another process runs the same job, nothing is done."""
    workspace = call.open_workspace()
    agents = [find_agent(workspace, call.agent).id] if call.agent else list_agents(workspace)
    patience = call.lock_timeout or str(load_settings(workspace, None, {})["schedule.patience"])
    try:
        with _only_copy(workspace, job):
            base = ["-w", os.fspath(workspace.root), "--lock-timeout", patience]
            runs = [_run(call, [*base, "-a", a], a, words) for a in agents for words in job.commands]
    except _Running as other:
        return call.emit("schedule.run", _summary(job, (), skipped=True), [other.message])
    lines = [line for each in runs for line in _lines(each)]
    warnings = [f"{each.name}: {text}" for each in runs for text in each.warnings]
    call.emit("schedule.run", _summary(job, runs), lines or [NO_AGENTS], warnings)
    failed = [each for each in runs if each.exit]
    if failed:
        for each in failed if call.quiet and not call.as_json else ():
            for line in (f"mabos: {each.name}: {each.error}", *_hint(each)):
                note(line)
        raise _fault(failed, len(runs))


class _Running(Conflict):
    """The job runs already."""


@contextmanager
def _only_copy(workspace: WorkspacePaths, job: Job) -> Iterator[None]:
    lock = Lock(workspace.schedule_lock(job.name), workspace.root)
    try:
        lock.acquire(0, f"mabos schedule run {job.name}")
    except Conflict:
        raise _Running(f"{job.name} is running already") from None
    try:
        yield
    finally:
        lock.release()


def _run(call: Session, options: list[str], agent: str, words: tuple[str, ...]) -> Run:
    """One command for one agent, in the form of output that this call has."""
    form = [*(["--json"] if call.as_json else ()), *(["--commit"] if call.commit else ())]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "mabos_cli", *options, *form, *words],
        stdin=subprocess.DEVNULL, capture_output=True, check=False,
    )  # fmt: skip
    out, err = (data.decode("utf-8", "replace") for data in (done.stdout, done.stderr))
    read = _read_json if call.as_json else _read_text
    return Run(agent, " ".join(words), done.returncode, *read(out, err))


def _read_json(out: str, err: str) -> tuple[Any, list[str], str, str]:
    """Answer, warnings, error and hint of a command that was asked for JSON; one that broke down leaves text instead."""
    try:
        found = json.loads(out) if out else {}
        told = json.loads(err)["error"] if err else {"message": "", "hint": ""}
        return found.get("data"), found.get("warnings", []), told["message"], told.get("hint") or ""
    except (ValueError, KeyError, TypeError):
        return _read_text(out, err)


def _read_text(out: str, err: str) -> tuple[Any, list[str], str, str]:
    """The same of one that prints text."""
    said = [line for line in err.split("\n") if line.strip()]
    warnings = [line.removeprefix("warning: ") for line in said if line.startswith("warning: ")]
    told = [line.removeprefix("mabos: ") for line in said if line.startswith("mabos: ")]
    hints = [line.removeprefix("  hint: ") for line in said if line.startswith("  hint: ")]
    return out.removesuffix("\n").split("\n"), warnings, (told or said or [""])[-1], "".join(hints[-1:])


def _summary(job: Job, runs: Any, *, skipped: bool = False) -> dict[str, Any]:
    rows = [
        {"agent": each.agent, "command": each.command, "exit": each.exit, "data": each.answer,
         "error": each.error if each.exit else None, "hint": each.hint if each.exit else None}
        for each in runs
    ]  # fmt: skip
    return {"job": job.name, "skipped": skipped, "runs": rows}


def _lines(each: Run) -> Iterator[str]:
    if each.exit:
        yield f"{each.name}: failed ({each.exit}): {each.error}"
        yield from _hint(each)
        return
    first, *more = each.answer or ["done"]
    yield f"{each.name}: {first or 'done'}"
    yield from (f"  {line}" for line in more)


def _hint(each: Run) -> list[str]:
    return [f"  hint: {each.hint}"] if each.hint else []


def _fault(failed: list[Run], total: int) -> MabosError:
    """The error of a job: the code of its first failure. What was done is told already."""
    first = failed[0]
    kinds = {kind.exit_code: kind for kind in MabosError.__subclasses__()}
    told = ", ".join(each.name for each in failed[:5]) + (", ..." if len(failed) > 5 else "")
    fault = kinds.get(first.exit, MabosError)(
        f"{len(failed)} of {plural(total, 'run')} failed: {told}", "each can be run by hand"
    )
    fault.exit_code, fault.is_told = (first.exit if first.exit > 0 else 128 - first.exit), True
    return fault


class UnitChanges(NamedTuple):
    """What has to happen so that the folder holds just the units that are wanted: names, sorted."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.gone)


def units_folder() -> Path:
    """Where the user's systemd looks for units that the user made."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(os.path.abspath(base)) / "systemd" / "user"


def find_units(folder: Path, root: str) -> list[str]:
    """The units of a workspace: those whose first line bears its mark."""
    mark = render_mark(root).encode()
    names = [name for name in list_names(folder) if name.startswith("mabos-") and name.endswith(_ENDINGS)]
    return [name for name in names if (read_bytes(folder / name) or b"").partition(b"\n")[0] == mark]


def plan_units(folder: Path, root: str, wanted: Mapping[str, str]) -> UnitChanges:
    """What differs between the folder and the units that are wanted; Conflict when a name is taken by somebody else."""
    ours = find_units(folder, root)
    held = {name: read_bytes(folder / name) for name in wanted}
    for name, data in held.items():
        if data is not None and name not in ours:
            raise Conflict(f"{folder / name} is not a unit of this workspace",
                           "call this one otherwise in mabos.yaml, schedule.name, or remove the file")  # fmt: skip
    return UnitChanges(
        tuple(sorted(name for name, data in held.items() if data is None)),
        tuple(sorted(n for n, data in held.items() if data is not None and data != wanted[n].encode())),
        tuple(sorted(set(ours) - set(wanted))),
    )


def write_units(folder: Path, wanted: Mapping[str, str], changes: UnitChanges) -> None:
    """Writes and removes the units that a plan names."""
    for name in (*changes.new, *changes.changed):
        path = folder / name
        replace_file(path, wanted[name].encode(), root=folder, expect=read_bytes(path))
    for name in changes.gone:
        # Where systemd does not answer, nobody else takes away the link that made the timer start.
        if os.path.lexists(link := folder / "timers.target.wants" / name):
            remove_file(link, root=folder)
        remove_file(folder / name, root=folder)
