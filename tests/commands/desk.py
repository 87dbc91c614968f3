"""A workspace for tests of recall, used in process: what is on disk, what the program says, and what a search finds."""

import io
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from mabos_cli.app import main
from mabos_cli.commands.call import Call
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.stores import EVERYTHING, FINDABLE, Departure
from mabos_cli.core.search.recall import Depth, Filters, Hit, recall
from mabos_cli.errors import MabosError
from mabos_cli.formats.memory.items import StoreFile, render_departure, render_item, render_store
from mabos_cli.services.operations.setup import allow_settings
from mabos_cli.services.search.agent_search import AgentSearch, SearchOptions
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.locate import create_agent, create_workspace

NOW = "2026-02-24T14:30:00Z"


class Said(NamedTuple):
    """What a command printed."""

    code: int
    stdout: str
    stderr: str

    @property
    def data(self) -> dict[str, Any]:
        assert self.code == 0, self.stderr
        return json.loads(self.stdout)["data"]

    @property
    def warnings(self) -> list[str]:
        return json.loads(self.stdout)["warnings"]

    @property
    def refs(self) -> list[str]:
        return [row["ref"] for row in self.data["results"]]


class Desk:
    """A workspace with agent `main`. Every call opens it anew, as a command does."""

    def __init__(self, root: Path) -> None:
        self.root = root
        workspace, _ = create_workspace(root)
        create_agent(workspace, "main")

    # What is on disk

    def add_agent(self, name: str, **settings: Any) -> None:
        """Another agent; `shared=True` lets the others read its memory."""
        create_agent(WorkspacePaths(self.root), name)
        path = self.folder(name) / "agent.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"settings": settings}))

    def folder(self, agent: str = "main") -> Path:
        return self.root / "agents" / agent

    def put(self, items: list[MemoryItem], agent: str = "main", **others: list[MemoryItem]) -> list[str]:
        """Writes a whole memory-store.json: items of long-term memory, and of the stores that are named."""
        lines = [render_item(item) for item in items]
        store = StoreFile(tuple(others.get("working", ())), tuple(others.get("short_term", ())), lines)
        (self.folder(agent) / "memory-store.json").write_bytes(render_store(store))
        return [item.id for item in items]

    def archive(self, items: list[MemoryItem], agent: str = "main", reason: str = "forgotten") -> None:
        path = self.folder(agent) / "archive" / "2026-02.jsonl"
        path.parent.mkdir(exist_ok=True)
        gone = [Departure(item, "long_term", reason, "2026-02-20T00:00:00.000Z") for item in items]
        path.write_bytes(b"".join(map(render_departure, gone)))

    def write(self, name: str, text: str, agent: str = "main") -> None:
        path = self.folder(agent) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def settle(self, text: str) -> None:
        """Settings of the workspace, as YAML; the person at this desk allows them."""
        (self.root / "mabos.yaml").write_text(text)
        with suppress(MabosError):  # what cannot be read is what the test is about
            allow_settings(WorkspacePaths(self.root))

    # What the program says

    def run(self, *words: str, stdin: bytes = b"") -> Said:
        """A command line, in this process."""
        before = sys.stdin, sys.stdout, sys.stderr
        streams = [io.TextIOWrapper(io.BytesIO(data), "utf-8") for data in (stdin, b"", b"")]
        sys.stdin, sys.stdout, sys.stderr = streams
        try:
            code = main(["-w", os.fspath(self.root), *words])
        finally:
            sys.stdin, sys.stdout, sys.stderr = before
        out, err = (stream.buffer.getvalue().decode("utf-8") for stream in streams[1:])
        return Said(code, out, err)

    def recall(self, *words: str, **options: Any) -> Said:
        """`mabos recall` with JSON."""
        return self.run("recall", "--json", "-a", "main", *words, **options)

    # What a search finds

    def home(self, agent: str = "main") -> Agent:
        return Call(workspace=os.fspath(self.root), agent=agent).open_agent()

    def search(
        self, limit: int = 10, filters: Filters | None = None, archived: bool = False, **way: Any
    ) -> AgentSearch:
        """The search of a recall; kept for many questions, the index is opened once."""
        reach = EVERYTHING if archived else FINDABLE
        return AgentSearch([self.home()], SearchOptions(filters or Filters(), reach, limit, **way))

    def ask(self, question: str, limit: int = 10, depth: int = 0, **how: Any) -> list[Hit]:
        return recall(self.search(limit, **how), question, limit, Depth(depth))

    def refs(self, question: str, limit: int = 10, **how: Any) -> list[str]:
        return refs_of(self.ask(question, limit, **how))


def refs_of(hits: list[Hit]) -> list[str]:
    return [hit.candidate.ref for hit in hits]


def note(number: int, text: str, **fields: Any) -> MemoryItem:
    """An item with an id made from a number; a second later with each number."""
    at = f"2026-02-{1 + number // 86400 % 20:02d}T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
    values = {"type": "fact", "created_at": at, "accessed_at": at, **fields}
    return MemoryItem(f"M-{1770000000000 + number}-{number % 65536:04x}", text, **values)
