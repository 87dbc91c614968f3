"""What a TAB is answered: known ids, tags and names, and nothing at all when something is off."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mabos_cli.serve.complete import _split, main
from mabos_cli.serve.known_values import MOST, find_values
from mabos_cli.workspace.ids import complete_id
from mabos_cli.workspace.layout import WorkspacePaths
from tests.commands.desk import Desk, note


@pytest.fixture
def desk(quick: Path, still_world: None) -> Desk:
    return Desk(quick / "team")


class Shell:
    """Asks for values of a workspace."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def ask(self, kind: str, start: str = "", **options: str) -> list[tuple[str, str]]:
        return find_values(kind, options.get("w", os.fspath(self.desk.root)), options.get("a", "main"), start)

    def values(self, kind: str, start: str = "", **options: str) -> list[str]:
        return [value for value, _ in self.ask(kind, start, **options)]


@pytest.fixture
def shell(desk: Desk) -> Shell:
    return Shell(desk)


def test_items_come_latest_first_and_bounded(shell: Shell) -> None:
    ids = shell.desk.put([note(n, f"Note {n}\nwith a tab\there") for n in range(300)], working=[note(900, "Now")])
    found = shell.ask("items")
    assert len(found) == MOST
    assert found[0] == (note(900, "").id, "Now")
    assert found[1] == (ids[299], "Note 299 with a tab here")
    assert [value for value, _ in found[1:]] == ids[:-MOST:-1]
    assert shell.values("items", ids[7][:-1]) == [ids[7]]
    assert shell.ask("items", "X") == []


def test_items_of_pages_and_of_other_layouts(shell: Shell) -> None:
    desk = shell.desk
    for month, number in (("2026-01", 1), ("2026-02", 2)):
        page = {"long_term": [{"content": "indented by hand", "id": f"M-{number}-aaaa"}]}
        desk.write(f"memory-store/{month}.json", json.dumps(page, indent=4))
    assert shell.values("items") == ["M-2-aaaa", "M-1-aaaa"]


def test_tags_come_by_use_whatever_is_in_them(shell: Shell) -> None:
    odd = ["two words", "a:b", 'the "best"', "it's", "a]b", "büro", "back\\slash", "$(touch x)"]
    items = [note(n, 'says "tags": ["fake"] inside', tags=("often", odd[n % len(odd)])) for n in range(16)]
    shell.desk.put([*items, note(99, "x", tags=("new\nline",))])
    found = shell.ask("tags")
    assert found[0] == ("often", "16")
    assert sorted(found[1:]) == sorted((tag, "2") for tag in odd)
    assert shell.values("tags", "a") == ["a:b", "a]b"]


def test_ids_of_every_kind(shell: Shell, quick: Path) -> None:
    desk = shell.desk
    live = desk.put([note(1, "We bill per seat")])
    desk.archive([note(1, "Before the edit"), note(2, "Gone for good")])
    assert shell.ask("archived") == [(note(2, "").id, "Gone for good")]
    fact = desk.run("fact", "assert", "Acme", "isA", "Customer", "--json").data["fact"]["id"]
    assert shell.ask("facts") == [(fact, "Acme isA Customer")]
    assert shell.values("ids") == [*live, fact]
    assert shell.values("ids", "F-") == [fact]
    desk.run("rule", "create", "if ?x isA Customer then ?x isA Party")
    assert shell.values("rules") == ["R-001"]
    desk.run("case", "store", "--belief", "late", "--desire", "calm", "--plan", "P-001", "--success")
    assert shell.ask("cases") == [("C-001", "late, calm")]
    desk.run("ontology", "scaffold", "business")
    desk.run("ontology", "propose", "Late Invoice", "--domain", "business", "--definition", "Past due")
    assert shell.ask("proposals") == [("OP-001", "Late Invoice")]
    desk.write("reasoning.jsonl", '{"id": "T-1771943400000-0002", "at": "x", "problem": "Shall we?"}\n')
    assert shell.ask("results") == [("T-1771943400000-0002", "Shall we?")]


def test_ids_of_the_mind_in_every_shape(shell: Shell) -> None:
    desk = shell.desk
    desk.run("belief", "add", "Payment terms", "Northwind pays late")
    desk.run("goal", "add", "Cut churn")
    desk.run("intention", "add", "Write to Northwind", "--goal", "G-001")
    assert shell.ask("beliefs") == [("B-001", "Payment terms")]
    assert shell.ask("goals") == [("G-001", "Cut churn")]
    assert shell.ask("intentions") == [("I-001", "Write to Northwind")]
    desk.write("Plans.md", "| ID | Plan |\n|---|---|\n| P-7 | Call them |\n\n- **PL-002**: Ask G-001 first\n")
    assert shell.ask("plans") == [("P-7", "Call them"), ("PL-002", "Ask G-001 first")]
    assert shell.values("plans", "PL") == ["PL-002"]


def test_agents_and_paths(shell: Shell) -> None:
    shell.desk.add_agent("cfo")
    assert shell.values("agents") == ["cfo", "main"]
    assert shell.values("agents", "c") == ["cfo"]
    for day in ("2026-02-01", "2026-02-03"):
        shell.desk.write(f"memory/{day}.md", "x")
    assert shell.values("paths", "memory/2") == ["memory/2026-02-03.md", "memory/2026-02-01.md"]
    assert "memory/" in shell.values("paths", "mem")
    assert shell.values("paths", "../") == shell.values("paths", "/etc/") == []


def test_what_is_off_means_that_nothing_is_offered(shell: Shell) -> None:
    assert shell.ask("nonsense") == shell.ask("") == []
    assert shell.ask("items", w="/nowhere") == shell.ask("items", a="nobody") == shell.ask("items", a="../x") == []
    shell.desk.write("memory-store.json", '{"broken": [{"id": "M-1-aaaa", "tags": ["x"')
    assert shell.ask("items") == [("M-1-aaaa", "")]
    assert shell.ask("tags") == []
    shell.desk.write("memory-store.json", '{"id": "M-1-aaaa", "tags": ["x",], "y": ' + "[" * 100_000)
    assert shell.ask("items") == [("M-1-aaaa", "")] and shell.ask("tags") == []
    shell.desk.write("memory-store.json", "[" * 100_000)
    assert shell.ask("items") == []
    (shell.desk.folder() / "memory-store.json").unlink()
    (shell.desk.folder() / "memory-store.json").mkdir()
    assert shell.ask("items") == shell.ask("tags") == []
    assert main([]) == main(["words"]) == main(["bash", "", ""]) == main(["nonsense", "--", "x"]) == 0


def test_a_case_that_is_malformed_is_offered_without_a_description(shell: Shell) -> None:
    shell.desk.write("cases.json", '{"cases": [{"case_id": "C-1", "situation": {"beliefs": null, "desires": 3}}]}')
    assert shell.ask("cases") == [("C-1", "")]
    shell.desk.write("cases.json", '{"cases": [""case_id": "C-2"]}')
    assert shell.ask("cases") == [("C-2", "")]


@pytest.mark.parametrize(
    ("line", "words", "raw", "current"),
    [
        ("mabos rec", ["mabos"], "rec", "rec"),
        ("mabos  get ", ["mabos", "get"], "", ""),
        ("mabos -w 'my team' --tag two\\ w", ["mabos", "-w", "my team", "--tag"], "two\\ w", "two w"),
        ('mabos recall "a \\"b', ["mabos", "recall"], '"a \\"b', 'a "b'),
        ("mabos store ''  x", ["mabos", "store", ""], "x", "x"),
    ],
)
def test_a_line_is_split_as_a_shell_splits_it(line: str, words: list[str], raw: str, current: str) -> None:
    assert _split(line) == (words, raw, current)


def test_a_tab_does_not_wait_for_the_command_line(desk: Desk) -> None:
    code = (
        "import sys; sys.argv = ['mabos', 'complete', 'words', '--', '-w', sys.argv[1], *sys.argv[2:]]\n"
        "from mabos_cli.__main__ import run; run()\n"
        "print([name for name in ('typer', 'click', 'mabos_cli.app', 'mabos_cli.config', *sys.argv[7:]) if name in sys.modules])"
    )

    def ask(*words: str) -> str:
        line = [sys.executable, "-c", code, str(desk.root), *words]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout

    assert ask("agent", "show", "") == "main\n[]\n"
    assert ask("belief", "li", "re", "json", "pathlib").endswith("[]\n")


def test_facts_on_pages_are_known_by_their_end(shell: Shell) -> None:
    fact = '{"id": "F-1771943400000-0bcd", "subject": "Acme", "predicate": "isA", "object": "Customer"}'
    shell.desk.write("facts/ab.json", f'{{\n  "facts": [\n    {fact}\n  ]\n}}\n')
    assert shell.ask("facts") == [("F-1771943400000-0bcd", "Acme isA Customer")]
    paths = WorkspacePaths(shell.desk.root).agent("main")
    assert complete_id(lambda: paths, "0bcd", ["facts"]) == "F-1771943400000-0bcd"
