"""What people see at a terminal, kept as text for 80 and 120 columns. UPDATE=1 writes it again: look at what changed."""

import difflib
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import quick_folder
from forked import run
from screens import Seen, at_terminal

GOLDEN = Path(__file__).parent / "screens"
NOW = "2026-02-25T09:00:00Z"
WORLD = {"MABOS_NOW": NOW, "MABOS_PAGER": "cat", "MABOS_INDEX_VECTORS": "lexical"}
_STEPS = """
goal add "Grow revenue to 1.2 million" --level strategic
goal add "Win ten marinas above 250 berths in Denmark and the south of Sweden" --parent G-002 --deadline 2026-06-30
goal add "Three references that a harbour master may call" --level operational --parent G-003
fact assert Nadia worksFor Harbourline
fact assert Harbourline basedIn Kiel
fact assert Kiel locatedIn Germany
rule create "if ?x worksFor ?o and ?o basedIn ?p then ?x worksIn ?p"
"""
SCREENS = {
    "help": ("--help",),
    "help-recall": ("recall", "--help"),
    "status": ("status",),
    "recall": ("recall", "berth", "price", "-n", "5"),
    "get-tree": ("get", "00fe", "--tree", "--no-use"),
    "drill": ("hierarchy", "drill", "pricing"),
    "hierarchy": ("hierarchy", "show"),
    "timeline": ("timeline", "-B", "3"),
    "goal-tree": ("goal", "tree"),
    "goals": ("goal", "list"),
    "conflicts": ("bdi", "conflicts"),
    "graph-path": ("graph", "path", "Nadia", "Germany"),
    "explain": ("explain", "Nadia", "worksIn", "Kiel"),
    "facts": ("fact", "query"),
    "review": ("review",),
    "doctor": ("doctor",),
    "quarantine": ("trust", "--quarantine"),
    "config": ("config", "git"),
}


@pytest.fixture(scope="module")
def harbour() -> Iterator[Path]:
    """The workspace of the tour, with goals, facts and a rule besides."""
    with quick_folder() as folder:
        root = folder / "harbour"
        done = run("demo", str(root), HOME=str(folder), **WORLD)
        assert done.code == 0, done.stderr
        for line in _STEPS.strip().split("\n"):
            done = run("-w", str(root), *shlex.split(line), HOME=str(folder), **WORLD)
            assert done.code == 0, (line, done.stderr)
        run("-w", str(root), "recall", "x", HOME=str(folder), **WORLD)
        yield root


def look(root: Path, *words: str, width: int = 80, height: int = 400, **environment: str) -> Seen:
    return at_terminal(words, root, WORLD | {"HOME": str(root.parent)} | environment, (width, height))


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", SCREENS)
def test_screen(harbour: Path, name: str, width: int) -> None:
    seen = look(harbour, *SCREENS[name], width=width)
    text = re.sub(r"vectors: [^;]*;", "vectors: ...;", seen.text.replace(str(harbour), "~/harbour"))
    path = GOLDEN / f"{name}-{width}.txt"
    if os.environ.get("UPDATE"):
        path.write_text(text, "utf-8")
    kept = path.read_text("utf-8") if path.exists() else ""
    assert seen.code == 0
    assert text == kept, "\n".join(
        difflib.unified_diff(kept.split("\n"), text.split("\n"), "kept", "seen", lineterm="")
    )
    assert max(map(len, text.split("\n"))) <= width


def test_screens_are_all_asked_for() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {
        f"{name}-{width}.txt" for name in SCREENS for width in (80, 120)
    }
