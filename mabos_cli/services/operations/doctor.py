"""Checks an agent's files, and repairs what can be repaired without guessing."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.stores import Changes, Departure, Memory
from mabos_cli.core.memory.trust import lowered
from mabos_cli.errors import MabosError
from mabos_cli.formats.json.text import parse_json, parse_ledger
from mabos_cli.formats.memory.items import render_store
from mabos_cli.formats.mind.attitudes import KINDS
from mabos_cli.formats.operations.git_merge import DRIVER, add_rules, names_driver
from mabos_cli.services.memory.checkpoints import checkpoint_names, current_checkpoints
from mabos_cli.services.memory.status import answer_line, describe_answers
from mabos_cli.services.memory.upkeep import finish_merge, rebuild_derived
from mabos_cli.services.operations.connect import describe_connections
from mabos_cli.services.operations.soundness import CHECKS, Finding, is_writing, page_sizes
from mabos_cli.services.search.agent_search import AgentIndex
from mabos_cli.services.search.index import describe_index
from mabos_cli.workspace import archive
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.entries import find_newer, find_newer_in_folders
from mabos_cli.workspace.files import (
    append_bytes,
    find_temps,
    list_names,
    read_bytes,
    replace_file,
    sweep_temps,
)
from mabos_cli.workspace.git import find_repository, find_stale_lock
from mabos_cli.workspace.knowledge.cases import are_materialized, load_cases
from mabos_cli.workspace.knowledge.facts import is_materialized, load_facts, refile_facts
from mabos_cli.workspace.knowledge.ontologies import Library
from mabos_cli.workspace.knowledge.rules import load_rules
from mabos_cli.workspace.locate import ensure_ignored, find_other_case, missing_rules, shares_a_file
from mabos_cli.workspace.memory.trust_log import overrated_items
from mabos_cli.workspace.merging import forget_merge
from mabos_cli.workspace.mind import list_unread, load_attitudes, load_beliefs
from mabos_cli.workspace.seen import Seen
from mabos_cli.workspace.settings import load_settings
from mabos_cli.workspace.transaction import holding_lock

_FILES = (".md", ".json", ".jsonl")


class Diagnosis(NamedTuple):
    """The result of a check: repairs, remaining findings, and the state of the index."""

    repaired: list[str]
    findings: list[Finding]
    index_state: dict[str, Any]

    @property
    def serious(self) -> list[Finding]:
        """Returns the findings that need attention."""
        return [finding for finding in self.findings if finding.level != "note"]


def diagnose(agent: Agent, *, mend: bool, full: bool) -> Diagnosis:
    """Checks an agent, after repairing it if `mend` is set. Files that were in order the last time and have not changed are read again
    only with `full` or `mend`."""
    repaired = repair(agent) if mend else finish_merge(agent)
    findings = examine(agent, full=full or mend)
    index = describe_index(AgentIndex(agent))
    names = ("state", "step", "vectors", "model", "indexed_model", "waiting_for_the_better_model")
    return Diagnosis(repaired, findings, {name: index[name] for name in names if name in index})


def examine(agent: Agent, *, full: bool = True) -> list[Finding]:
    """Returns all findings. One unreadable file does not hide the others."""
    seen = Seen(agent, forgets=full)
    checks: tuple[Callable[[], Iterator[Finding]], ...] = (
        *(partial(check, agent) for check in (_check_settings, _check_manifest, _check_formats)),
        *(partial(check, agent, seen) for check in CHECKS),
        *(partial(check, agent) for check in _OTHERS),
    )
    found: list[Finding] = []
    for check in agent.each("checking", checks):
        try:
            found += check()
        except MabosError as error:
            found.append(Finding("problem", "", error.message))
    seen.save()
    first: dict[tuple[str, str], Finding] = {}
    for finding in found:
        first.setdefault(finding[1:], finding)
    return list(first.values())


def _check_settings(agent: Agent) -> Iterator[Finding]:
    load_settings(agent.paths.workspace, agent.paths, {})
    for rule in missing_rules(agent.paths.workspace):
        yield Finding("flaw", ".gitignore", f"does not ignore {rule}")
    if other := find_other_case(agent.paths.workspace, agent.id):
        message = f"differs from {other} only in case: one folder on many disks; rename one of them"
        yield Finding("problem", f"agents/{agent.id}", message)
    if shares_a_file(agent.paths):
        yield Finding("note", "MEMORY.md", "Memory.md and MEMORY.md are one file on this disk; only MEMORY.md is used")


def _check_hosts(agent: Agent) -> Iterator[Finding]:
    for row in describe_connections(agent.paths.workspace):
        if row["trouble"]:
            yield Finding("problem", f"{row['host']}:", row["trouble"])
    for row in describe_answers(agent):
        yield Finding("note", f"hook of {row['host']}:", answer_line(row))


def _check_manifest(agent: Agent) -> Iterator[Finding]:
    data = read_bytes(agent.paths.manifest)
    if data is None:
        yield Finding("note", "agent.json", "is missing; defaults apply")
    elif not isinstance(parse_json(data, "agent.json"), dict):
        yield Finding("problem", "agent.json:1", "must be an object")


def _check_formats(agent: Agent) -> Iterator[Finding]:
    for path, about in (*find_newer(agent.paths), *find_newer_in_folders(agent.paths)):
        yield Finding("problem", agent.paths.relative(path), about)


def _check_knowledge(agent: Agent) -> Iterator[Finding]:
    """Decodes all facts, rules and cases, and counts pages; an error in one file does not hide the others."""
    level = "note" if is_writing(agent) else "flaw"
    reads = (lambda: list(load_facts(agent).all()), lambda: load_rules(agent), lambda: load_cases(agent).cases())
    with suppress(MabosError):  # unreadable files are reported below
        yield from (Finding(level, *found) for store in load_facts(agent) for found in store.misfiled())
    for read in reads:
        try:
            read()
        except MabosError as error:
            yield Finding("problem", "", error.message)
    for warning in Library(agent.paths.workspace).warnings:
        yield Finding("problem", "", warning)


def _check_ledgers(agent: Agent) -> Iterator[Finding]:
    paths = agent.paths
    ledgers = [paths.harvest_ledger(name) for name in list_names(paths.harvest_ledger(""))]
    ledgers += [paths.transcript_ledger, paths.log_ledger, paths.migration_ledger, paths.conflict_ledger]
    for path in (paths.queue, paths.access_journal, paths.reasoning, *ledgers):
        try:
            skipped = parse_ledger(read_bytes(path) or b"").skipped
        except MabosError as error:
            yield Finding("problem", "", error.message)
            continue
        if skipped:
            yield Finding("note", paths.relative(path), f"{skipped} torn lines are skipped")


def _check_places(agent: Agent) -> Iterator[Finding]:
    """Finds names of files that are folders or broken links."""
    for here, folders, names in os.walk(agent.paths.root):
        shown = agent.paths.relative(Path(here))
        for name in folders:
            if name.endswith(_FILES):
                yield Finding("problem", f"{shown}/{name}".removeprefix("./"), "a folder in the place of a file")
        for name in names:
            if name.endswith(_FILES) and not os.path.exists(f"{here}/{name}"):
                message = "a symbolic link that leads nowhere"
                yield Finding("problem", f"{shown}/{name}".removeprefix("./"), message)


def _check_mind(agent: Agent) -> Iterator[Finding]:
    """Finds invalid values in cognitive files, and lines that belong to no entry."""
    for kind in KINDS:
        with suppress(MabosError):  # unreadable files are reported above
            problems = load_beliefs(agent)[1] if kind == "belief" else load_attitudes(agent, kind)[1]
            for path, line, message in [*problems, *list_unread(agent, kind)]:
                yield Finding("note", f"{path}:{line}", message)


def _check_leftovers(agent: Agent) -> Iterator[Finding]:
    if is_writing(agent):
        yield Finding(
            "note",
            agent.paths.relative(agent.paths.lock),
            "a write is under way, or was cut off; the next writing command finishes it",
        )
    for temp in find_temps(agent.paths.root) + find_temps(agent.paths.workspace.local):
        yield Finding("note", agent.paths.relative(temp), "left by a killed process; the next repair removes it")


def _check_derived_knowledge(agent: Agent) -> Iterator[Finding]:
    """Finds pages of facts or cases that are out of date, after a merge or a change by another tool."""
    paths, level = agent.paths, "note" if is_writing(agent) else "flaw"
    with suppress(MabosError):  # what cannot be read is reported above
        if paths.facts_md.exists() and not is_materialized(agent, load_facts(agent).versions):
            yield Finding(level, paths.relative(paths.facts_md), "does not match facts.json")
    with suppress(MabosError):
        if paths.cases_md.exists() and not are_materialized(agent, load_cases(agent)):
            yield Finding(level, paths.relative(paths.cases_md), "does not match cases.json")


def _check_git(agent: Agent) -> Iterator[Finding]:
    """Looks for a stale lock of git, and for the merge driver if .gitattributes names it: without the driver, git merges
    as text."""
    repository = find_repository(agent.paths.workspace.root)
    if repository is None:
        return
    if stale := find_stale_lock(repository):
        message = "has kept git from writing for more than ten minutes; remove it if no git is at work"
        yield Finding("problem", agent.paths.relative(stale), message)
    rules = agent.paths.workspace.gitattributes
    text = (read_bytes(rules) or b"").decode("utf-8", "replace")
    names = names_driver(text)
    if names and add_rules(text) != text:
        yield Finding("note", rules.name, "names other files than this version merges: mabos git install")
    if names and not repository.read_config(f"merge.{DRIVER}.driver"):
        yield Finding(
            "note", rules.name, f"names the merge driver {DRIVER}, not known to this clone: mabos git install"
        )


def _check_dates(agent: Agent) -> Iterator[Finding]:
    current = set(current_checkpoints(agent))
    for name in checkpoint_names(agent):
        if name not in current:
            message = "is dated in the future and therefore ignored as the latest one"
            yield Finding("note", agent.paths.relative(agent.paths.checkpoints / name), message)


_OTHERS = (
    _check_knowledge,
    _check_ledgers,
    _check_places,
    _check_mind,
    _check_leftovers,
    _check_derived_knowledge,
    _check_git,
    _check_dates,
    _check_hosts,
)


def repair(agent: Agent) -> list[str]:
    """Repairs every flaw and returns what was done. Problems, where one would have to guess, stay."""
    done: list[str] = []
    try:
        with holding_lock(agent, "doctor") as holding:
            if holding.crashed:
                done.append("finished or rolled back an interrupted write")
            for step in (_sweep, _complete_rules, _complete_archive, _recount_pages, refile_facts):
                done += step(agent)
        fallen = agent.change("doctor", lambda memory, _: _lower_trust(agent, memory))[0]
        done += [f"lowered the trust of {plural(fallen, 'item')}"] if fallen else []
        done += [f"rewrote {path}" for path in rebuild_derived(agent, full=True)[0]]
        forget_merge(agent.paths)
    except MabosError as error:
        done.append(f"stopped: {error.message}")
    return done


def _lower_trust(agent: Agent, memory: Memory) -> tuple[Changes, int]:
    """Lowers the trust of items to what their lineage allows; returns the changes and their number."""
    found = list(overrated_items(agent, memory))
    fallen = {item.id: lowered(item, trust) for _, item, trust in found}
    recent = [tuple(fallen.get(i.id, i) for i in items) for items in (memory.working, memory.short_term)]
    put = tuple(fallen[item.id] for store, item, _ in found if store == "long_term")
    at = format_time(agent.now())
    away = tuple(Departure(item, store, "trust", at) for store, item, _ in found)
    return Changes(recent[0], recent[1], put=put, archive=away), len(found)


def _sweep(agent: Agent) -> list[str]:
    swept = sweep_temps(agent.paths.root, locked=True) + sweep_temps(agent.paths.workspace.local, locked=False)
    return [f"removed {plural(swept, 'temporary file')}"] if swept else []


def _complete_rules(agent: Agent) -> list[str]:
    missing = missing_rules(agent.paths.workspace)
    ensure_ignored(agent.paths.workspace)
    return [f"added {rule} to .gitignore" for rule in missing]


def _complete_archive(agent: Agent) -> list[str]:
    """Completes the last line of every archive file, so that the next record starts on a new line."""
    done = []
    for name in archive.archive_files(agent.paths):
        data = read_bytes(agent.paths.archive / name) or b""
        if data and not data.endswith(b"\n"):
            append_bytes(agent.paths.archive / name, b"", root=agent.paths.workspace.root)
            done.append(f"completed the last line of archive/{name}")
    return done


def _recount_pages(agent: Agent) -> list[str]:
    """Makes memory-store.json list every page with the number of items that it holds."""
    loaded = agent.load()
    wrong = {name: size for name, size in page_sizes(agent) if size != loaded.head.pages.get(name, 0)}
    if not wrong:
        return []
    loaded.head.pages |= wrong
    loaded.head.version += 1
    replace_file(agent.paths.store, render_store(loaded.head), root=agent.paths.workspace.root, expect=loaded.data)
    return [f"listed {size} items of memory-store/{name}.json" for name, size in sorted(wrong.items())]
