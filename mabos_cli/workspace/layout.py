"""Every path of a workspace, once."""

import os
from pathlib import Path

from mabos_cli.core.records import NamedTuple
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


class _Place:
    """A place below the folder that it is asked of: the workspace's, or an agent's."""

    def __init__(self, below: str) -> None:
        self._below = below

    def __get__(self, paths: "WorkspacePaths | AgentPaths", kind: object = None) -> Path:
        return paths.root / self._below


class _LocalPlace:
    """A place of an agent below .mabos/, apart from its folder and from git; braces stand for the agent's id."""

    def __init__(self, below: str) -> None:
        self._below = below

    def __get__(self, paths: "AgentPaths", kind: object = None) -> Path:
        return paths.workspace.local / self._below.format(paths.id)


class _Root(NamedTuple):
    root: Path


class WorkspacePaths(_Root):
    """The places that belong to the whole workspace. Who names them enters it: no path below it may lead out of it then."""

    __slots__ = ()

    def __new__(cls, root: Path) -> "WorkspacePaths":
        enter_root(os.fspath(root))
        return super().__new__(cls, root)

    settings = _Place(marks.SETTINGS)
    gitignore = _Place(".gitignore")
    gitattributes = _Place(".gitattributes")
    agents = _Place(marks.AGENTS)
    local = _Place(marks.LOCAL)
    # Held while something is committed to git. Apart from the locks of agents, as that of the ontologies is: one of them may
    # have that name.
    git_lock = _Place(f"{marks.LOCAL}/git.lock")
    ontology_lock = _Place(f"{marks.LOCAL}/ontologies.lock")
    settings_cache = _Place(f"{marks.LOCAL}/settings.cache")
    connections = _Place(f"{marks.LOCAL}/hosts.json")
    receipts_folder = _Place(f"{marks.LOCAL}/receipts")
    mirror_ledgers = _Place(f"{marks.LOCAL}/typedb")
    # Says that TypeDB did not answer a moment ago; no ledger has its name.
    mirror_rest = _Place(f"{marks.LOCAL}/typedb/rest")
    postgres_rest = _Place(f"{marks.LOCAL}/postgres.rest")  # says the same of PostgreSQL
    ontologies = _Place("ontologies")
    proposals_folder = _Place("ontologies/proposals")

    def receipts(self, day: str) -> Path:
        return self.receipts_folder / f"{day}.jsonl"

    def schedule_lock(self, job: str) -> Path:
        """Held while a job runs, so that there is no second copy of it."""
        return self.local / "schedule" / f"{job}.lock"

    def ontology(self, domain: str) -> Path:
        return self.ontologies / f"{domain}.jsonld"

    def proposals(self, domain: str) -> Path:
        return self.proposals_folder / f"{domain}-proposals.json"

    def agent(self, agent_id: str) -> "AgentPaths":
        return AgentPaths(self, agent_id)


class _NamedAgent(NamedTuple):
    workspace: WorkspacePaths
    id: str


class AgentPaths(_NamedAgent):
    """The places that belong to one agent."""

    __slots__ = ()

    @property
    def root(self) -> Path:
        return self.workspace.root / marks.AGENTS / self.id

    manifest = _Place("agent.json")
    store = _Place("memory-store.json")
    store_pages = _Place("memory-store")
    facts = _Place("facts.json")
    derived_facts = _Place("facts-derived.json")  # what rules made of the facts: it can be made again
    fact_pages = _Place("facts")
    derived_pages = _Place("facts-derived")
    rules = _Place("rules.json")
    reasoning = _Place("reasoning.jsonl")  # results of reasoning that were kept, and what became of them
    trust_log = _Place("trust.jsonl")  # what persons decided about the trust of items
    cases = _Place("cases.json")
    memory_md = _Place("MEMORY.md")
    beliefs = _Place("Beliefs.md")
    archive = _Place("archive")
    observations = _Place("observations")
    # Ledgers of what became something else: under git beside it, so that it does so once for everybody.
    harvest_ledgers = _Place("observations/harvested")
    transcript_ledger = _Place("observations/transcripts.jsonl")
    log_ledger = _Place("memory/archive/consolidated.jsonl")
    migration_ledger = _Place("memory/archive/migrated.jsonl")
    conflict_ledger = _Place("memory/bdi-conflicts/resolved.jsonl")
    memory = _Place("memory")
    checkpoints = _Place("memory/checkpoints")
    index_md = _Place("memory/INDEX.md")  # the memory index, which an agent always has before it
    observations_md = _Place("memory/observations.md")
    items_md = _Place("memory/mabos-memory-items.md")
    items_pages = _Place("memory/mabos-memory-items")
    domains = _Place("memory/domains")
    facts_md = _Place("memory/mabos-facts.md")
    facts_pages = _Place("memory/mabos-facts")
    cases_md = _Place("memory/mabos-cases.md")
    cases_pages = _Place("memory/mabos-cases")
    beliefs_md = _Place("memory/mabos-beliefs.md")
    conflict_reports = _Place("memory/bdi-conflicts")
    # Daily logs past their active life, and what else is kept of files that were rewritten.
    old_logs = _Place("memory/archive")
    set_aside = _Place("memory/archive/edited")
    lock = _LocalPlace(f"{marks.LOCKS}/{{}}.lock")
    queue_lock = _LocalPlace(f"{marks.LOCKS}/{{}}.queue.lock")
    # A capture waits for captures only; knows the last id.
    capture_lock = _LocalPlace(f"{marks.LOCKS}/{{}}.capture.lock")
    embedding_lock = _LocalPlace(f"{marks.LOCKS}/{{}}.embedding.lock")  # held by who embeds for a model that takes long
    harvest_lock = _LocalPlace(f"{marks.LOCKS}/{{}}.harvest.lock")  # held all the way through; the agent's for a chunk
    # Held by one reader of transcripts all the way through.
    ingest_lock = _LocalPlace(f"{marks.LOCKS}/{{}}.ingest.lock")
    mirror_lock = _LocalPlace(f"{marks.LOCKS}/{{}}.typedb.lock")  # held while TypeDB is waited for
    queue = _LocalPlace(f"{marks.QUEUE}/{{}}.jsonl")
    access_journal = _LocalPlace(f"{marks.QUEUE}/{{}}.access.jsonl")
    flush_state = _LocalPlace(f"{marks.QUEUE}/{{}}.flush")
    index_file = _LocalPlace("index/{}.sqlite")
    # Facts and what follows from them, as the last run of inference left them.
    fact_rows = _LocalPlace("facts/{}.sqlite")
    # Apart from the index, because a store asks it under the agent's lock and must never wait for a search.
    similar = _LocalPlace("index/{}.similar.sqlite")
    status_cache = _LocalPlace("status/{}.cache")  # what archive and receipts come to, while they are as they were
    survey_cache = _LocalPlace("survey/{}.cache")  # what each page of memory comes to, while it is as it was
    seen = _LocalPlace("seen/{}")  # what was found to be in order, while it is as it was
    compared = _LocalPlace("beliefs/{}.cache")  # what came of comparing beliefs, while they are as they were
    settled = _LocalPlace("beliefs/{}.settled")  # what the last cycle came to, while its files are as they were
    digests = _LocalPlace("hierarchy/{}")
    mirror_ledger = _LocalPlace("typedb/{}.jsonl")  # what of the agent is in TypeDB, as far as we know

    @property
    def hook_spool(self) -> Path:
        """Returns which sessions ended or were compacted: noted by hooks, until harvest has looked at their transcripts."""
        return Path(marks.hook_spool(os.fspath(self.workspace.root), self.id))

    @property
    def hook_lock(self) -> Path:
        return Path(marks.hook_lock(os.fspath(self.workspace.root), self.id))

    def store_page(self, name: str) -> Path:
        return self.store_pages / f"{name}.json"

    def harvest_ledger(self, name: str) -> Path:
        return self.harvest_ledgers / name

    def items_page(self, name: str) -> Path:
        return self.items_pages / f"{name}.md"

    def domain(self, name: str, page: str = "") -> Path:
        return self.domains / (f"{name}/{page}.md" if page else f"{name}.md")

    def daily_log(self, day: str) -> Path:
        return self.memory / f"{day}.md"

    def archived_log(self, day: str) -> Path:
        return self.old_logs / day[:4] / f"{day}.md"

    def find_log(self, day: str) -> Path:
        """Returns the place of a day's log now: in the archive if it was moved there, else in memory/."""
        active, archived = self.daily_log(day), self.archived_log(day)
        return archived if archived.exists() and not active.exists() else active

    def summaries(self, level: str) -> Path:
        return self.memory / level

    def summary(self, level: str, name: str) -> Path:
        return self.summaries(level) / f"{name}.md"

    def cited(self, path: Path) -> str:
        """Returns a path as messages cite it: below the workspace, so that it names the agent."""
        return path.relative_to(self.workspace.root).as_posix()

    def relative(self, path: Path) -> str:
        """Returns a path as recall and read use it: below the agent's folder, or below the workspace."""
        for base in (self.root, self.workspace.root):
            if path.is_relative_to(base):
                return path.relative_to(base).as_posix()
        return os.fspath(path)


def template_folder() -> Path:
    """workspace-template/: inside the installed package, or beside it in a checkout."""
    inside = _PACKAGE / "workspace-template"
    return inside if inside.is_dir() else _PACKAGE.parent / "workspace-template"


def shipped_folder(name: str) -> Path:
    """Returns a folder that comes with the program: ontologies, or demo, the tour of `mabos demo` and its data."""
    return _PACKAGE / name


def template_file(name: str) -> Path:
    """Returns a text that comes with the program and is filled in: a page's style, a skill, a completion script."""
    return _PACKAGE / "templates" / name
