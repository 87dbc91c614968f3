"""Running a job: its commands for each agent in turn, each in a process of its own, so that one cannot spoil the next."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from mabos_cli.core.language.text import plural
from mabos_cli.core.operations.schedule import Job
from mabos_cli.errors import Conflict, MabosError
from mabos_cli.services.session import NO_AGENTS, Session
from mabos_cli.terminal.emit import note
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.locate import find_agent, list_agents
from mabos_cli.workspace.lock import Lock
from mabos_cli.workspace.settings import load_settings


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
