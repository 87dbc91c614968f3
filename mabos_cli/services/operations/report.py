"""Gathers a report from the files of agents and writes it as a page; unreadable files are listed."""

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from mabos_cli.core.hierarchy.summary import summarize
from mabos_cli.core.knowledge.fact import Fact, holds_at
from mabos_cli.core.language.periods import periods_of
from mabos_cli.core.memory.item import STORES
from mabos_cli.core.memory.trust import effective_trust, find_rulings, trust_of_item
from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.mind import Attitude, Belief, Branch, build_tree
from mabos_cli.core.operations.report import MONTHS, TIERS, Held, MonthLog, Tally, join_months
from mabos_cli.core.operations.report_graph import draw_graph
from mabos_cli.errors import MabosError, UsageFault
from mabos_cli.formats.operations.report_html import is_generated_page, render_page
from mabos_cli.formats.operations.report_sections import Report
from mabos_cli.services.hierarchy.digests import Digests
from mabos_cli.services.inputs import Session, find_target
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import read_bytes, read_text, replace_file
from mabos_cli.workspace.knowledge.facts import load_facts
from mabos_cli.workspace.layout import WorkspacePaths, template_file
from mabos_cli.workspace.locate import find_agent, list_agents
from mabos_cli.workspace.memory.trust_log import load_decisions
from mabos_cli.workspace.mind import compare_beliefs, load_attitudes, load_beliefs, read_resolved
from mabos_cli.workspace.runtime import now

Found = TypeVar("Found")


class ReportPage(NamedTuple):
    """A page of HTML, its agents, what could not be read, and whether the file changed (None if it is printed)."""

    html: str
    agents: list[str]
    troubles: tuple[str, ...]
    is_written: bool | None


def make_report(session: Session, output: str, *, every: bool, force: bool) -> ReportPage:
    """Renders the report of one agent or of all, and writes it unless the output is `-`."""
    workspace = session.open_workspace()
    named = session.agent or ("" if every else os.environ.get("MABOS_AGENT"))
    agents = [find_agent(workspace, named).id] if named else list_agents(workspace)
    target = None if output == "-" else _find_page(output)
    old = read_bytes(target) if target else None
    if target and not (force or is_generated_page((old or b"").decode("utf-8", "replace"))):
        raise UsageFault(f"{output} is not a report written by mabos", "name another file, or replace it with --force")
    report = _gather(session, workspace, agents, named or workspace.root.name or "workspace")
    html = render_page(report, read_text(template_file("report.css")))
    data = html.encode("utf-8")
    if target and data != old:
        replace_file(target, data, root=target.parent, expect=old)
    return ReportPage(html, agents, tuple(report.troubles), data != old if target else None)


def _find_page(output: str) -> Path:
    target = find_target(output, "name a file, or - for standard output")
    if not target.parent.is_dir():
        raise UsageFault(f"no folder {os.path.dirname(output)}", "create it, or name another file")
    return target


def _gather(session: Session, workspace: WorkspacePaths, names: Sequence[str], title: str) -> Report:
    """Reads the parts of a report; what cannot be read is listed among its troubles."""
    moment, troubles = now(), list[str]()

    def read(agent: str, otherwise: Found, function: Callable[..., Found], *given: object) -> Found:
        try:
            return function(*given)
        except MabosError as error:
            troubles.append(f"{agent}: {error.message}")
            return otherwise

    trees, conflicts = list[tuple[str, Sequence[Branch]]](), list[tuple[str, Conflict]]()
    facts, months, homes = list[Fact](), list[MonthLog](), list[Agent]()
    for name in names:
        paths = read(name, None, find_agent, workspace, name)
        if paths is not None:  # with default settings if its own cannot be read
            homes.append(read(name, None, session.agent_of, paths) or session.agent_of(paths, fallback=True))
    tally = Tally(tuple(home.id for home in homes), moment.date())
    for home in homes:
        read(home.id, None, _count_items, home, tally)
        beliefs = read(home.id, list[Belief](), lambda home: load_beliefs(home)[0], home)
        goals, desires, plans = (
            read(home.id, list[Attitude](), lambda home, kind: load_attitudes(home, kind)[0], home, kind)
            for kind in ("goal", "desire", "plan")
        )
        trees.append((home.id, build_tree(goals, desires, plans, beliefs)))
        resolved: Collection[str] = read(home.id, (), read_resolved, home)
        found = compare_beliefs(home, beliefs).conflicts
        conflicts += [(home.id, conflict) for conflict in found if conflict.key not in resolved]
        facts += read(home.id, list[Fact](), lambda home: list(load_facts(home).all()), home)
        months += read(home.id, list[MonthLog](), _summarize_months, home)
    conflicts.sort(key=lambda pair: (-pair[1].severity, pair[0], pair[1].key))
    holding = sorted((fact for fact in facts if holds_at(fact, moment)), key=lambda fact: (fact.triple, fact.id))
    return Report(
        name=title,
        now=moment,
        agents=tuple(home.id for home in homes),
        memory=tally.view(),
        months=join_months(months),
        conflicts=conflicts,
        goals=trees,
        picture=draw_graph(holding),
        facts=holding,
        lapsed=len(facts) - len(holding),
        troubles=[*dict.fromkeys(troubles)],
    )


def _count_items(agent: Agent, tally: Tally) -> None:
    """Counts the items of an agent, live and archived; of an item that was archived more than once, only the last version.

    All are kept in memory while lineages are followed: to find each source in its file would take quadratic time.
    """
    memory = agent.memory()
    live = {item.id: (store, item) for store in reversed(STORES) for item in getattr(memory, store)}
    gone = {departure.item.id: departure.item for departure in agent.all_departures()}
    known = gone | {item_id: item for item_id, (_, item) in live.items()}
    rulings = find_rulings(load_decisions(agent.paths)[0])
    for store, item in live.values():
        tally.add(Held(agent.id, store, item, effective_trust(item, known.get, rulings)))
    for item_id, item in gone.items():
        if item_id not in live:
            tally.add(Held(agent.id, TIERS[-1], item, trust_of_item(item)))


def _summarize_months(agent: Agent) -> list[MonthLog]:
    """Summarizes the latest months by the logs of an agent; one that cannot be read is left out, as in its hierarchy."""
    digests, found = Digests(agent), []
    for period in periods_of("monthly", digests.days)[-MONTHS:]:
        with suppress(MabosError):
            stretch = digests.stretch(period)
            themes = summarize(period, stretch, digests.history(period)).themes
            found.append(MonthLog(period.name, stretch.extent.entries, themes))
    digests.save()
    return found
