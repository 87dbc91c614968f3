"""A workspace of daily logs, used in process: what is on disk, what a build makes of it, where links lead."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from commands.desk import Desk, Said

from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.formats.memory.derived_md import render_log_entry, render_log_header

LEVELS = ("weekly", "monthly", "quarterly")
_LINK = re.compile(r"\]\(([^)\s]*)\)")


class Logbook:
    """The daily logs of agent main, and what `hierarchy` does with them."""

    def __init__(self, desk: Desk, clock: pytest.MonkeyPatch) -> None:
        self.desk, self.clock = desk, clock
        self.memory = desk.folder() / "memory"
        clock.setenv("MABOS_INDEX_VECTORS", "lexical")
        self.at("2026-06-24")

    def at(self, day: str) -> None:
        self.clock.setenv("MABOS_NOW", f"{day}T12:00:00Z")

    # What is on disk

    def log(self, day: str, *lines: str) -> Path:
        """A log of notes as a person writes them."""
        return self.put(day, render_log_header(day) + "\n" + "".join(f"{line}\n" for line in lines))

    def put(self, day: str, text: str | bytes, folder: str = "") -> Path:
        path = self.memory / folder / f"{day}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        return path

    def spread(self, *days: str) -> None:
        """Logs of a few lines each, one theme among them."""
        for n, day in enumerate(days):
            self.log(day, f"- Decision: keep supplier {n}", *(f"- berth price {k} #pricing" for k in range(3)))

    def path(self, name: str) -> Path:
        """The file of a period."""
        level = "weekly" if "W" in name else "quarterly" if "Q" in name else "monthly"
        return self.memory / level / f"{name}.md"

    def text(self, name: str) -> str:
        return self.path(name).read_bytes().decode("utf-8")

    def names(self) -> list[str]:
        """The periods that have a summary."""
        return sorted(path.stem for level in LEVELS for path in (self.memory / level).glob("*.md"))

    def files(self) -> dict[str, bytes]:
        """Every summary with its bytes."""
        return {name: self.path(name).read_bytes() for name in self.names()}

    def stamps(self) -> dict[str, tuple[int, int]]:
        """What changes for every file of the workspace when it is written, even with the same bytes."""
        found = (path for path in self.desk.root.rglob("*") if path.is_file())
        return {str(p.relative_to(self.desk.root)): (p.stat().st_mtime_ns, p.stat().st_ino) for p in found}

    def broken_links(self) -> list[tuple[str, str]]:
        """The links of summaries that lead to no file, with the period they stand in."""
        found = [(name, target) for name in self.names() for target in _LINK.findall(self.text(name))]
        assert found or not self.names()
        return [(n, t) for n, t in found if not (self.path(n).parent / t.partition("#")[0]).is_file()]

    # What the program does

    def run(self, *words: str, **options: Any) -> Said:
        return self.desk.run("hierarchy", *words, **options)

    def build(self, *words: str) -> list[str]:
        """The periods that a build writes."""
        return [row["period"] for row in self.run("build", "--json", *words).data["written"]]

    def say(self, *words: str) -> str:
        said = self.run(*words)
        assert said.code == 0, said.stderr
        return said.stdout

    def model(self, folder: Path, script: str) -> Path:
        """Lets a small shell script be the language model."""
        tool = folder / "tiny-model"
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)
        self.desk.settle(f"llm:\n  command: {os.fspath(tool)}\n")
        return tool


def entry(number: int, content: str, day: str = "2026-02-24", **fields: Any) -> str:
    """An entry as `store` writes it."""
    return render_log_entry(
        MemoryItem(f"M-{1_770_000_000_000 + number}-00aa", content, created_at=f"{day}T10:00:00.000Z", **fields)
    )
