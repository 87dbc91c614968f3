"""The completion scripts against the program: they are what it generates, and real shells complete with them."""

import os
from pathlib import Path

import pytest
from completion_table import (
    ANY,
    FILES,
    FOLDERS,
    WORDS,
    completion_table,
    describe_program,
    unused_values,
)
from shells import INSTALLED, ROOT, Tab, press_tab, shell_environment

from mabos_cli.app import COMMANDS
from mabos_cli.serve.known_values import KINDS
from mabos_cli.typer_app import build_root, load_command
from tests.commands.desk import Desk, note

TAGS = ("two words", "team:ops", "it's", "$(touch x)", "büro")


@pytest.fixture(scope="module")
def commands() -> dict:
    return {"": build_root(), **{name: load_command(name) for name in COMMANDS}}


def test_the_table_is_what_the_program_makes(commands: dict) -> None:
    """UPDATE=1 writes it again."""
    path = ROOT / "mabos_cli" / "templates" / "completion.txt"
    text = completion_table(commands)
    if os.environ.get("UPDATE"):
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text, "run: UPDATE=1 python -m pytest tests/test_completions.py"


def test_every_kind_of_value_has_somebody_who_knows_it(commands: dict) -> None:
    lines = list(describe_program(commands))
    values = [option.value for line in lines for option in line.options if option.value]
    values += [value for line in lines for value in line.arguments]
    kinds = {value.kind for value in values}
    assert kinds - {ANY, FILES, FOLDERS, WORDS} <= KINDS
    assert all(value.words for value in values if value.kind == WORDS)


def test_the_table_of_values_names_only_what_there_is(commands: dict) -> None:
    used = set()
    for name, command in commands.items():
        for words, each in [
            (name, command),
            *((f"{name} {n}", c) for n, c in getattr(command, "commands", {}).items()),
        ]:
            for parameter in each.params:
                own = parameter.opts if parameter.param_type_name == "option" else [parameter.name]
                used |= {(words, option) for option in own}
    assert unused_values(used) == []


@pytest.fixture
def press(quick: Path, still_world: None):
    """A TAB in a workspace with two agents; main has some memories."""
    desk = Desk(quick / "team")
    desk.add_agent("cfo")
    desk.put([note(n, f"Note {n}", tags=(TAGS[n],)) for n in range(len(TAGS))])
    environment = shell_environment(quick)

    def run(shell: str, *lines: str) -> list[Tab]:
        return press_tab(shell, lines, desk.root, environment)

    return run


@pytest.mark.parametrize("shell", INSTALLED)
def test_words_of_the_program_are_offered(shell: str, press) -> None:
    known = {
        "mabos cons": ["consolidate", "constraint"],
        "mabos -a main schedule ": ["show", "install", "uninstall", "run"],
        "mabos recall --tok": ["--token-budget"],
        "mabos lifecycle run --lock": ["--lock-timeout"],
        "mabos store x --type de": ["decision"],
        "mabos schedule run -- ": ["cycle", "sync", "nightly", "weekly"],
        "mabos config schedule.n": ["schedule.nightly", "schedule.name"],
        "mabos reason 'a problem' --method tempo": ["temporal"],
        "mabos store ": [],
        "mabos nonsense ": [],
    }
    assert [tab.offered for tab in press(shell, *known)] == list(known.values())


@pytest.mark.parametrize("shell", INSTALLED)
def test_values_of_the_workspace_are_offered(shell: str, press, quick: Path) -> None:
    ids = [note(n, "").id for n in reversed(range(len(TAGS)))]
    known = {
        "mabos agent show ": ["cfo", "main"],
        "mabos get -a main ": ids,
        "mabos grade --agent=main M-1 M-17": ids,
        "mabos get -a cfo ": [],
        "mabos get ": [],  # which agent? nobody is asked at a TAB
        f"mabos -w {quick / 'none'} -a ": [],
    }
    assert [tab.offered for tab in press(shell, *known)] == list(known.values())


@pytest.mark.parametrize("shell", INSTALLED)
def test_a_tab_leaves_the_line_that_was_meant(shell: str, press, quick: Path) -> None:
    (quick / "team" / "my notes.ndjson").touch()
    known = {
        "recall --type=de": "--type=decision",
        "recall --tag two": "two words",
        "recall --tag=two": "--tag=two words",
        "recall --tag 'two": "two words",
        "recall --tag team:o": "team:ops",
        "recall --tag it": "it's",
        "recall --tag b": "büro",
        "store --batch my": "my notes.ndjson",
        "-w ag": "agents",
    }
    tabs = press(shell, *(f"mabos -a main {typed}" for typed in known))
    # fish says what it offers, and inserts that quoted.
    found = [tab.offered[-1:] if shell == "fish" else tab.line[-1:] for tab in tabs]
    assert [word.rstrip("/") for words in found for word in words] == list(known.values())


@pytest.mark.parametrize("shell", INSTALLED)
def test_hostile_words_are_never_run(shell: str, press, quick: Path) -> None:
    typed = (
        "recall -a main --tag ",
        "recall -a main --tag \\$",
        "-w '$(touch x)' -a ",
        "-a '`touch x`' get ",
    )
    assert press(shell, *(f"mabos {words}" for words in typed))[0].offered
    assert not list(quick.rglob("x"))
