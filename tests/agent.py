"""An agent for tests: the program in forked children, on a workspace of its own, with a clock that the test moves."""

import json
import shutil
from pathlib import Path

from forked import Fault, Outcome, run


class Agent:
    """An agent in a folder that can be copied. Its clock counts minutes from 2026-03-01 10:00 UTC."""

    def __init__(self, root: Path, **settings: str) -> None:
        self.root, self.settings, self.minutes = root, settings, 0

    def run(self, *words: str, fault: Fault | None = None) -> Outcome:
        day, minute = divmod(600 + self.minutes, 1440)
        now = f"2026-03-{1 + day:02d}T{minute // 60:02d}:{minute % 60:02d}:00Z"
        # What these tests are about is memory: an index by words alone is made in a third of the time.
        settings = {"MABOS_NOW": now, "MABOS_INDEX_VECTORS": "lexical"} | self.settings
        return run(*words, "-w", str(self.root), fault=fault, **settings)

    def do(self, *words: str) -> dict:
        """The data of a command that must end 0."""
        done = self.run(*words, "--json")
        assert done.code == 0, done.stderr
        return json.loads(done.stdout)["data"]

    def init(self) -> "Agent":
        self.do("init", str(self.root))
        return self

    def batch(self, rows: list[dict], *words: str) -> dict:
        path = self.root.parent / "batch.ndjson"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return self.do("store", "--batch", str(path), *words)

    def copy(self, root: Path) -> "Agent":
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(self.root, root)
        other = Agent(root, **self.settings)
        other.minutes = self.minutes
        return other

    @property
    def store(self) -> Path:
        return self.root / "agents/main/memory-store.json"

    def live(self) -> list[str]:
        return [row["content"] for row in self.do("recall", "--limit", "0", "--live")["results"]]
