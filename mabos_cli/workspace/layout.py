"""Every path of a workspace, once."""

import os
from pathlib import Path
from typing import NamedTuple

from mabos_cli.workspace import plain_files as marks
from mabos_cli.workspace.plain_files import enter_root

_PACKAGE = Path(__file__).resolve().parent.parent
TEMP_PREFIX = ".mabos-tmp-"
AGENT_ID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
DAY = r"\d{4}-\d{2}-\d{2}"
LEGACY = "Memory.md"  # a log for people beside MEMORY.md; one file with it on disks that ignore case
STORE = r"memory-store\.json|memory-store/[^/]+\.json"  # the store and its pages, below the folder of an agent
# A page of long-term memory: a month, and a number when it needs several.
PAGE = r"(?:\d{4}-\d\d|undated)(?:-\d+)?"


class _Root(NamedTuple):
    root: Path


class WorkspacePaths(_Root):
    """The places that belong to the whole workspace. Who names them enters it: no path below it may lead out of it then."""

    __slots__ = ()

    def __new__(cls, root: Path) -> "WorkspacePaths":
        enter_root(os.fspath(root))
        return super().__new__(cls, root)

    @property
    def settings(self) -> Path:
        return self.root / marks.SETTINGS

    @property
    def gitignore(self) -> Path:
        return self.root / ".gitignore"

    @property
    def gitattributes(self) -> Path:
        return self.root / ".gitattributes"

    @property
    def agents(self) -> Path:
        return self.root / marks.AGENTS

    @property
    def local(self) -> Path:
        return self.root / marks.LOCAL

    @property
    def git_lock(self) -> Path:
        """Held while something is committed to git. Apart from the locks of agents, as that of the ontologies is."""
        return self.local / "git.lock"

    @property
    def settings_cache(self) -> Path:
        return self.local / "settings.cache"

    @property
    def connections(self) -> Path:
        return self.local / "hosts.json"

    @property
    def receipts_folder(self) -> Path:
        return self.local / "receipts"

    def receipts(self, day: str) -> Path:
        return self.receipts_folder / f"{day}.jsonl"

    @property
    def mirror_ledgers(self) -> Path:
        return self.local / "typedb"

    @property
    def mirror_rest(self) -> Path:
        """Says that TypeDB did not answer a moment ago. Beside the ledgers, and named as none of them."""
        return self.mirror_ledgers / "rest"

    def schedule_lock(self, job: str) -> Path:
        """Held while a job runs, so that there is no second copy of it."""
        return self.local / "schedule" / f"{job}.lock"

    @property
    def ontologies(self) -> Path:
        return self.root / "ontologies"

    def ontology(self, domain: str) -> Path:
        return self.ontologies / f"{domain}.jsonld"

    @property
    def proposals_folder(self) -> Path:
        return self.ontologies / "proposals"

    def proposals(self, domain: str) -> Path:
        return self.proposals_folder / f"{domain}-proposals.json"

    @property
    def ontology_lock(self) -> Path:
        """Apart from the locks of agents: one of them may have that name."""
        return self.local / "ontologies.lock"

    def agent(self, agent_id: str) -> "AgentPaths":
        return AgentPaths(self, agent_id)


class AgentPaths(NamedTuple):
    """The places that belong to one agent."""

    workspace: WorkspacePaths
    id: str

    @property
    def root(self) -> Path:
        return self.workspace.root / marks.AGENTS / self.id

    @property
    def manifest(self) -> Path:
        return self.root / "agent.json"

    @property
    def store(self) -> Path:
        return self.root / "memory-store.json"

    @property
    def store_pages(self) -> Path:
        return self.root / "memory-store"

    def store_page(self, name: str) -> Path:
        return self.store_pages / f"{name}.json"

    @property
    def facts(self) -> Path:
        return self.root / "facts.json"

    @property
    def derived_facts(self) -> Path:
        """What rules made of the facts: apart from them, because it can be made again."""
        return self.root / "facts-derived.json"

    @property
    def rules(self) -> Path:
        return self.root / "rules.json"

    @property
    def reasoning(self) -> Path:
        """Results of reasoning that were kept, and what became of them."""
        return self.root / "reasoning.jsonl"

    @property
    def trust_log(self) -> Path:
        """What persons decided about the trust of items."""
        return self.root / "trust.jsonl"

    @property
    def cases(self) -> Path:
        return self.root / "cases.json"

    @property
    def memory_md(self) -> Path:
        return self.root / "MEMORY.md"

    @property
    def beliefs(self) -> Path:
        return self.root / "Beliefs.md"

    @property
    def archive(self) -> Path:
        return self.root / "archive"

    @property
    def observations(self) -> Path:
        return self.root / "observations"

    @property
    def harvest_ledgers(self) -> Path:
        return self.observations / "harvested"

    def harvest_ledger(self, name: str) -> Path:
        """Which observations of a file became items: under git, so that they do so once for everybody."""
        return self.harvest_ledgers / name

    @property
    def transcript_ledger(self) -> Path:
        """How far transcripts became observations: under git beside them, so that they do so once for everybody."""
        return self.observations / "transcripts.jsonl"

    @property
    def memory(self) -> Path:
        return self.root / "memory"

    @property
    def checkpoints(self) -> Path:
        return self.memory / "checkpoints"

    @property
    def items_md(self) -> Path:
        return self.memory / "mabos-memory-items.md"

    @property
    def items_pages(self) -> Path:
        return self.memory / "mabos-memory-items"

    def items_page(self, name: str) -> Path:
        return self.items_pages / f"{name}.md"

    @property
    def index_md(self) -> Path:
        return self.memory / "INDEX.md"

    @property
    def observations_md(self) -> Path:
        return self.memory / "observations.md"

    @property
    def domains(self) -> Path:
        return self.memory / "domains"

    def domain(self, name: str, page: str = "") -> Path:
        return self.domains / (f"{name}/{page}.md" if page else f"{name}.md")

    @property
    def survey_cache(self) -> Path:
        """What each page of memory comes to, for the index: read from there while the page is as it was."""
        return self.workspace.local / "survey" / f"{self.id}.cache"

    @property
    def facts_md(self) -> Path:
        return self.memory / "mabos-facts.md"

    @property
    def facts_pages(self) -> Path:
        return self.memory / "mabos-facts"

    @property
    def cases_md(self) -> Path:
        return self.memory / "mabos-cases.md"

    @property
    def cases_pages(self) -> Path:
        return self.memory / "mabos-cases"

    @property
    def beliefs_md(self) -> Path:
        return self.memory / "mabos-beliefs.md"

    @property
    def conflict_reports(self) -> Path:
        return self.memory / "bdi-conflicts"

    @property
    def conflict_ledger(self) -> Path:
        """Which conflicts were resolved, and how: under git, so that they stay resolved for everybody."""
        return self.conflict_reports / "resolved.jsonl"

    @property
    def old_logs(self) -> Path:
        """Where daily logs go past their active life, with what else is kept of derived and consolidated files."""
        return self.memory / "archive"

    @property
    def set_aside(self) -> Path:
        return self.old_logs / "edited"

    def daily_log(self, day: str) -> Path:
        return self.memory / f"{day}.md"

    def archived_log(self, day: str) -> Path:
        return self.old_logs / day[:4] / f"{day}.md"

    def find_log(self, day: str) -> Path:
        """Returns the place of a day's log now: in the archive if it was moved there, else in memory/."""
        active, archived = self.daily_log(day), self.archived_log(day)
        return archived if archived.exists() and not active.exists() else active

    @property
    def log_ledger(self) -> Path:
        """Which events of daily logs were taken into MEMORY.md: under git, for it is the only thing that knows."""
        return self.old_logs / "consolidated.jsonl"

    @property
    def migration_ledger(self) -> Path:
        """Which entries of notes became items: under git, so that they do so once for everybody."""
        return self.old_logs / "migrated.jsonl"

    def summaries(self, level: str) -> Path:
        return self.memory / level

    def summary(self, level: str, name: str) -> Path:
        return self.summaries(level) / f"{name}.md"

    @property
    def digests(self) -> Path:
        return self.workspace.local / "hierarchy" / self.id

    @property
    def compared(self) -> Path:
        """What came of comparing beliefs: told from there while they are as they were."""
        return self.workspace.local / "beliefs" / f"{self.id}.cache"

    @property
    def _locks(self) -> Path:
        return self.workspace.local / marks.LOCKS

    @property
    def _queues(self) -> Path:
        return self.workspace.local / marks.QUEUE

    @property
    def lock(self) -> Path:
        return self._locks / f"{self.id}.lock"

    @property
    def queue(self) -> Path:
        return self._queues / f"{self.id}.jsonl"

    @property
    def queue_lock(self) -> Path:
        return self._locks / f"{self.id}.queue.lock"

    @property
    def capture_lock(self) -> Path:
        """Apart from the agent's lock: a capture waits for captures only. It remembers the last id."""
        return self._locks / f"{self.id}.capture.lock"

    @property
    def harvest_lock(self) -> Path:
        """Held by one harvest at a time, all the way through; the agent's lock is held for a chunk."""
        return self._locks / f"{self.id}.harvest.lock"

    @property
    def ingest_lock(self) -> Path:
        """Held by one reader of transcripts at a time, all the way through."""
        return self._locks / f"{self.id}.ingest.lock"

    @property
    def hook_spool(self) -> Path:
        """Which sessions ended or were compacted: noted by hooks, until harvest has looked at their transcripts."""
        return Path(marks.hook_spool(os.fspath(self.workspace.root), self.id))

    @property
    def hook_lock(self) -> Path:
        return Path(marks.hook_lock(os.fspath(self.workspace.root), self.id))

    @property
    def access_journal(self) -> Path:
        return self._queues / f"{self.id}.access.jsonl"

    @property
    def flush_state(self) -> Path:
        return self._queues / f"{self.id}.flush"

    @property
    def mirror_ledger(self) -> Path:
        """What of the agent is in TypeDB, as far as we know."""
        return self.workspace.mirror_ledgers / f"{self.id}.jsonl"

    @property
    def mirror_lock(self) -> Path:
        """Apart from the agent's lock: it is held while TypeDB is waited for."""
        return self._locks / f"{self.id}.typedb.lock"

    @property
    def index_file(self) -> Path:
        return self.workspace.local / "index" / f"{self.id}.sqlite"

    @property
    def similar(self) -> Path:
        """Apart from the index, because a store asks it under the agent's lock and must never wait for a search."""
        return self.index_file.with_suffix(".similar.sqlite")

    def cited(self, path: Path) -> str:
        """A path as messages cite it: below the workspace, so that it names the agent."""
        return path.relative_to(self.workspace.root).as_posix()

    def relative(self, path: Path) -> str:
        """A path as recall and read use it: below the agent's folder, or below the workspace."""
        for base in (self.root, self.workspace.root):
            if path.is_relative_to(base):
                return path.relative_to(base).as_posix()
        return os.fspath(path)


def template_folder() -> Path:
    """workspace-template/: inside the installed package, or beside it in a checkout."""
    inside = _PACKAGE / "workspace-template"
    return inside if inside.is_dir() else _PACKAGE.parent / "workspace-template"


def shipped_folder(name: str) -> Path:
    """A folder that comes with the program: ontologies, or demo, the tour of `mabos demo` and its data."""
    return _PACKAGE / name


def template_file(name: str) -> Path:
    """A text that comes with the program and is filled in: a page's style, a skill, a completion script."""
    return _PACKAGE / "templates" / name
