"""Gathers a report from the files of agents and writes it as a page; unreadable files are listed."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

from mabos_cli.core.hierarchy.summary import summarize
from mabos_cli.core.knowledge.fact import Fact, holds_at
from mabos_cli.core.language.periods import periods_of
from mabos_cli.core.memory.item import STORES
from mabos_cli.core.memory.trust import effective_trust, find_rulings, trust_of_item
from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.mind import Attitude, Belief, Problem, build_tree
from mabos_cli.core.operations.report import MONTHS, TIERS, Held, MemoryView, MonthLog, Tally, join_months
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
    report = Gathering(session, workspace, agents, now()).report(named or workspace.root.name or "workspace")
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


class Mind(NamedTuple):
    """The beliefs of an agent, and its attitudes by kind."""

    agent: str
    beliefs: Sequence[Belief]
    attitudes: Mapping[str, Sequence[Attitude]]


class Gathering:
    """Reads the parts of a report, and lists what cannot be read."""

    def __init__(self, call: Session, workspace: WorkspacePaths, names: Sequence[str], now: datetime) -> None:
        self.troubles: list[str] = []
        self._workspace = workspace
        self._now = now
        self._homes = [home for name in names if (home := self._open(call, name))]

    def _open(self, call: Session, name: str) -> Agent | None:
        """Opens an agent, with default settings if its own cannot be read."""
        found = self._read(name, None, find_agent, self._workspace, name)
        if found is None:
            return None
        return self._read(name, None, call.agent_of, found) or call.agent_of(found, fallback=True)

    def _read(self, agent: str, otherwise: Found, read: Callable[..., Found], *given: object) -> Found:
        """Calls a function that reads; if it fails, lists the error and returns `otherwise`."""
        try:
            return read(*given)
        except MabosError as error:
            self.troubles.append(f"{agent}: {error.message}")
            return otherwise

    def report(self, name: str) -> Report:
        """Gathers everything, under a name."""
        agents = tuple(home.id for home in self._homes)
        minds = [self._mind(home) for home in self._homes]
        facts, lapsed = self._facts()
        trees = [
            (m.agent, build_tree(m.attitudes["goal"], m.attitudes["desire"], m.attitudes["plan"], m.beliefs))
            for m in minds
        ]
        return Report(
            name=name,
            now=self._now,
            agents=agents,
            memory=self._memory(),
            months=join_months(self._months()),
            conflicts=sorted(self._conflicts(minds), key=lambda pair: (-pair[1].severity, pair[0], pair[1].key)),
            goals=trees,
            picture=draw_graph(facts),
            facts=facts,
            lapsed=lapsed,
            troubles=[*dict.fromkeys(self.troubles)],
        )

    def _memory(self) -> MemoryView:
        tally = Tally(tuple(home.id for home in self._homes), self._now.date())
        for home in self._homes:
            self._read(home.id, None, _count_items, home, tally)
        return tally.view()

    def _mind(self, home: Agent) -> Mind:
        no_beliefs: tuple[list[Belief], list[Problem]] = [], []
        no_attitudes: tuple[list[Attitude], list[Problem]] = [], []
        beliefs = self._read(home.id, no_beliefs, load_beliefs, home)[0]
        kinds = ("desire", "goal", "plan")
        held = {kind: self._read(home.id, no_attitudes, load_attitudes, home, kind)[0] for kind in kinds}
        return Mind(home.id, beliefs, held)

    def _conflicts(self, minds: Sequence[Mind]) -> list[tuple[str, Conflict]]:
        """Returns the open conflicts, each with its agent."""
        return [
            (home.id, conflict)
            for home, mind in zip(self._homes, minds, strict=True)
            for conflict in self._open_conflicts(home, mind.beliefs)
        ]

    def _open_conflicts(self, home: Agent, beliefs: Sequence[Belief]) -> list[Conflict]:
        resolved: Collection[str] = self._read(home.id, (), read_resolved, home)
        return [conflict for conflict in compare_beliefs(home, beliefs).conflicts if conflict.key not in resolved]

    def _facts(self) -> tuple[list[Fact], int]:
        """Returns the facts of all agents that hold now, sorted, and the number of those that do not."""
        no_facts: list[Fact] = []
        found = [fact for home in self._homes for fact in self._read(home.id, no_facts, _all_facts, home)]
        holding = [fact for fact in found if holds_at(fact, self._now)]
        return sorted(holding, key=lambda fact: (fact.triple, fact.id)), len(found) - len(holding)

    def _months(self) -> list[MonthLog]:
        """Summarizes the latest months of each agent by its logs."""
        no_logs: list[MonthLog] = []
        return [log for home in self._homes for log in self._read(home.id, no_logs, _summarize_months, home)]


def _all_facts(agent: Agent) -> list[Fact]:
    return list(load_facts(agent).all())


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
