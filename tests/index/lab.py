"""A workspace for tests of the index, used in process: what commands do to it, what a person does, and what is found."""

import json
import os
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from struct import unpack
from typing import Any

from mabos_cli.commands.call import Call
from mabos_cli.core.memory.consolidation import plan_consolidation
from mabos_cli.core.memory.stores import (
    EVERYTHING,
    FINDABLE,
    Changes,
    Memory,
    locate,
    plan_forget,
    plan_revive,
    plan_update,
)
from mabos_cli.core.search.recall import Filters, Hit, recall
from mabos_cli.index.search_index import SearchIndex
from mabos_cli.index.vectors import open_engine
from mabos_cli.services.inputs import draft_from
from mabos_cli.services.memory.remember import store_drafts
from mabos_cli.services.search.agent_search import AgentIndex, AgentSearch, SearchOptions
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.locate import create_agent, create_workspace

FULL = 1000 if os.environ.get("FULL") else 0  # FULL=1: as many random events as was promised, a minute or two more
_NUMBERS = {"row", "item_row", "stamp", "size", "mtime"}  # what may differ between indexes of the same files


class Lab:
    """Agent `main` of a workspace. Every call opens it anew, as a command does."""

    def __init__(self, root: Path) -> None:
        self.root = root
        if not root.exists():
            workspace, _ = create_workspace(root)
            create_agent(workspace, "main")
        self.agent = root / "agents/main"
        self.index = root / ".mabos/index/main.sqlite"
        self.note = root / ".mabos/index/main.lock"

    def home(self, agent: str = "main") -> Agent:
        return Call(workspace=os.fspath(self.root), agent=agent).open_agent()

    # What commands do

    def draft(self, content: str, **fields: Any):
        home = self.home()
        return draft_from({"content": content, "importance": 0.5, **fields}, home.settings, home.now())

    def store(self, content: str, store: str = "long_term", **fields: Any) -> str:
        """The id of what was stored."""
        return self.store_all([self.draft(content, store=store, **fields)])[0]

    def store_all(self, drafts: list) -> list[str]:
        return [result.item.id for result in store_drafts(self.home(), drafts)[0]]

    def defer(self, content: str, **fields: Any) -> str:
        return self.home().defer([self.draft(content, **fields)])[0].item.id

    def change(self, command: str, plan: Any) -> None:
        """Writes what a plan wants; a plan without an answer (the item expired just now) changes nothing."""

        def planned(memory: Memory, means: Any):
            found = plan(memory, means)
            return found[0] if found else Changes(memory.working, memory.short_term), None

        self.home().change(command, planned)

    def update(self, item_id: str, **fields: Any) -> None:
        home = self.home()
        store = fields.pop("store", "")
        self.change(
            "update",
            lambda memory, _: plan_update(
                memory, item_id, fields, store=store, now=home.now(), limits=home.settings.limits()
            ),
        )

    def forget(self, item_id: str) -> None:
        now = self.home().now()

        def plan(memory: Memory, _: object) -> list[Changes]:
            store, item = locate(memory, item_id)
            return [plan_forget(memory, item, store, "", now=now)]

        self.change("forget", plan)

    def revive(self, item_id: str) -> None:
        home = self.home()
        gone = home.departures(item_id)[-1]
        self.change(
            "revive",
            lambda memory, _: plan_revive(memory, gone.item, gone.store, now=home.now(), limits=home.settings.limits()),
        )

    def consolidate(self) -> None:
        home = self.home()
        limits = home.settings.limits()
        self.change(
            "consolidate",
            lambda memory, means: [
                plan_consolidation(
                    memory, limits, now=home.now(), mint=means.new_id, jaccard=0.3, summarize=True, keep=limits
                ).changes
            ],
        )

    def live(self) -> dict[str, str]:
        """Ids and contents of all live items, from the files."""
        memory = self.home().memory()
        return {i.id: i.content for i in (*memory.working, *memory.short_term, *memory.long_term)}

    # What a person does

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.agent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        return path

    def edit_store(self, edit: Any) -> None:
        """Edits memory-store.json by hand: `edit` changes its JSON."""
        path = self.agent / "memory-store.json"
        data = json.loads(path.read_bytes())
        edit(data)
        path.write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", "utf-8")

    # What is found

    def search(self, *, archived: bool = False, limit: int = 10, filters: Filters | None = None) -> AgentSearch:
        options = SearchOptions(filters or Filters(), EVERYTHING if archived else FINDABLE, limit)
        return AgentSearch([self.home()], options)

    def ask(self, question: str, **how: Any) -> list[Hit]:
        """What recall finds."""
        search = self.search(**how)
        hits = recall(search, question, search.options.limit)
        close(search)
        return hits

    def refs(self, question: str, **how: Any) -> list[str]:
        return [hit.candidate.ref for hit in self.ask(question, **how)]

    def tops(self, questions: list[str], **how: Any) -> dict[str, list[str]]:
        """References of the best ten for each question."""
        search = self.search(**how)
        found = {q: [hit.candidate.ref for hit in recall(search, q, search.options.limit)] for q in questions}
        close(search)
        return found

    def sync(self, *, rebuild: bool = False):
        """The stats of a sync."""
        searching = self.open(rebuild=rebuild)
        assert searching.index is not None
        searching.index.close()
        return searching.stats

    def open(self, *, rebuild: bool = False) -> AgentIndex:
        searching = AgentIndex(self.home())
        searching.refresh(rebuild=rebuild)
        return searching

    def contents(self) -> dict[str, Counter]:
        """What the index file holds, whatever the numbers of the rows."""
        searching = AgentIndex(self.home())
        with closing(searching.plan().engine.connect(os.fspath(self.index), read_only=True)) as db:
            return contents_of(db)

    def fresh_contents(self) -> dict[str, Counter]:
        """What an index would hold that is built from nothing now."""
        searching = AgentIndex(self.home())
        index = SearchIndex(None, searching.plan())
        index.refresh(searching.sources, 0)
        found = contents_of(index.db)
        index.close()
        return found


def close(search: AgentSearch) -> None:
    """Gives the files of a search back."""
    for opened in search._opened:
        if opened.index:
            opened.index.close()


def settle() -> None:
    """Waits until what was just written counts as settled."""
    time.sleep(0.03)


def rows_of(db: Any, table: str) -> list[tuple[int, dict[str, Any]]]:
    """The rows of a table by name, with their numbers; without what may differ between indexes of the same files."""
    cursor = db.execute(f"SELECT rowid, * FROM {table}")
    names = [column[0] for column in cursor.description][1:]
    return [
        (number, {n: v for n, v in zip(names, values, strict=True) if n not in _NUMBERS}) for number, *values in cursor
    ]


def words_of(db: Any) -> dict[int, list[str]]:
    """The words of each passage with their places, as the lane of words has them."""
    found: dict[int, list[str]] = {number: [] for (number,) in db.execute("SELECT id FROM passages_fts_docsize")}
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.held USING fts5vocab (main, passages_fts, 'instance')")
    for term, number, column, place in db.execute(
        "SELECT term, doc, col, offset FROM temp.held ORDER BY doc, col, offset"
    ):
        found[number].append(f"{column} {place} {term}")
    return found


def contents_of(db: Any) -> dict[str, Counter]:
    """All tables of an index by what they say: passages, their words and vectors, items and files."""
    names = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    pieces = {number: tuple(row.items()) for number, row in rows_of(db, "passages")}
    found = {
        "passages": Counter(pieces.values()),
        "words": Counter((pieces.get(number), *words) for number, words in words_of(db).items()),
        "items": Counter(tuple(row.items()) for _, row in rows_of(db, "items")),
        "files": Counter(tuple(row.items()) for _, row in rows_of(db, "files")),
        "vectors": Counter(),
    }
    for table, row in (("passages_vec", "rowid"), ("passages_blob", "row")):
        if table in names:
            vectors = db.execute(f"SELECT {row}, embedding FROM {table}")
            found["vectors"] += Counter((pieces.get(row), bytes(vector)) for row, vector in vectors)
    owners = db.execute(
        "SELECT p.item, i.id, i.shown FROM passages p LEFT JOIN items i ON i.row = p.item_row WHERE p.item != ''"
    )
    found["owners"] = Counter(owners.fetchall())
    return found


def differences(one: dict[str, Counter], two: dict[str, Counter]) -> dict[str, tuple[list, list]]:
    """What only one of two indexes holds; nothing when they are alike. Of vectors, the last digits do not count."""
    found = {name: (list((one[name] - two[name]).elements()), list((two[name] - one[name]).elements())) for name in one}
    mine, theirs = (sorted(held, key=repr) for held in found["vectors"])
    if [piece for piece, _ in mine] == [piece for piece, _ in theirs]:
        pairs = [(a, b) for (_, a), (_, b) in zip(mine, theirs, strict=True)]
        if all(len(a) == len(b) and _is_near(a, b) for a, b in pairs):
            del found["vectors"]
    return {name: (mine[:3], theirs[:3]) for name, (mine, theirs) in found.items() if mine or theirs}


def _is_near(one: bytes, two: bytes) -> bool:
    numbers = zip(unpack(f"{len(one)}b", one), unpack(f"{len(two)}b", two), strict=True)
    return all(abs(a - b) <= 1 for a, b in numbers)


def check_sound(db: Any) -> None:
    """The tables agree with one another: words and vectors belong to passages that are shown, and items to their rows."""
    held = contents_of(db)
    shown = Counter({piece: n for piece, n in held["passages"].items() if dict(piece)["shown"]})
    assert Counter(piece for piece, *_ in held["words"].elements()) == shown
    with_vector = Counter({p: n for p, n in shown.items() if dict(p)["vector"] == 1})
    assert Counter(piece for piece, _ in held["vectors"].elements()) == with_vector
    vectors = [unpack(f"{len(vector)}b", vector) for _, vector in held["vectors"].elements()]
    written = dict(db.execute("SELECT key, value FROM meta")).get("passages_sum", "")
    count, _, *sums = map(int, written.split() or (0, 0))
    assert count == len(vectors) and (not count or sums == [*map(sum, zip(*vectors, strict=True))])
    assert all(item == owner and is_shown for item, owner, is_shown in held["owners"])


def engines() -> list[str]:
    """The steps that work here."""
    return [step for step in ("extension", "wheel", "scan", "lexical") if open_engine(step).step == step]
