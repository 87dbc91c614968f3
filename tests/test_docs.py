"""README.md and docs/ say what is: commands print what is shown, options and files exist, links lead somewhere. UPDATE=1 rewrites
what commands print, and docs/settings.md."""

import json
import os
import re
import shlex
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from difflib import unified_diff
from functools import cache
from pathlib import Path

import pytest
from pages import PAGES, ROOT, anchors, code_spans, links, parse_page, render_settings, run_page
from typer.core import TyperCommand, TyperGroup

from mabos_cli.app import _SWITCHES, _VALUES, COMMANDS, _global_options
from mabos_cli.config import BY_NAME, SECTIONS
from mabos_cli.typer_app import load_command

UPDATE = bool(os.environ.get("UPDATE"))
ANYWHERE = {*_SWITCHES, *_VALUES, "--help", "-h", "--version"}
# Groups that take words of their own: `hook EVENT`, and `reason PROBLEM` for `reason solve PROBLEM`.
FREE = ("hook", "reason")
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def _same(page: Path, actual: str) -> None:
    written = page.read_text("utf-8")
    if UPDATE:
        page.write_text(actual, "utf-8")
    elif actual != written:
        names = (f"{page.name} as written", f"{page.name} as it is")
        lines = unified_diff(written.split("\n"), actual.split("\n"), *names, lineterm="")
        pytest.fail("\n".join(lines), pytrace=False)


@pytest.fixture(scope="module")
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[Path, Future[tuple[str, int]]]]:
    """The chosen pages, run side by side, each in a folder of its own."""
    own = [item for item in request.session.items if item.path == Path(__file__)]
    chosen = [item.callspec.params["page"] for item in own if "running" in item.fixturenames]
    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:  # they wait for files to settle half of the time
        yield {page: pool.submit(_run, page, tmp_path_factory.mktemp(page.stem)) for page in chosen}
        pool.shutdown(cancel_futures=True)


def _run(page: Path, folder: Path) -> tuple[str, int]:
    return run_page(page.read_text("utf-8"), folder.resolve())


@each_page
def test_commands_print_what_is_shown(page: Path, running: dict[Path, Future[tuple[str, int]]]) -> None:
    actual, commands = running[page].result()
    assert commands or page.stem in (
        "settings",
        "glossary",
        "comparison",
        "speed",
        "developing",
        "architecture",
        "promises",
        "seeds",
        "scale",
    ), f"{page.name} shows no command"
    _same(page, actual)


def test_settings_page_is_generated() -> None:
    _same(ROOT / "docs" / "settings.md", render_settings())


@each_page
def test_calls_are_ones_that_the_program_knows(page: Path) -> None:
    wrong = []
    for line in parse_page(page.read_text("utf-8")):
        if line.kind == "prose":
            wrong += [f"{page.name}:{line.number} {fault}" for span in code_spans(line.text) for fault in _faults(span)]
        elif line.kind == "fence":
            for words in _calls(line.text):
                try:
                    _parse(words)
                except Exception as error:
                    wrong.append(f"{page.name}:{line.number} mabos {' '.join(words)}: {error}")
    assert not wrong, "\n".join(wrong)


def _calls(line: str) -> Iterator[list[str]]:
    """The words of each call of mabos in a line of a shell, of a crontab, of a unit or of a host's settings, inside quotes too."""
    if configured := re.search(r'"command": "mabos", "args": (\[[^]]*\])', line):
        yield json.loads(configured[1])
    if "mabos" not in line or configured:
        return
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] | None = None
    for word in lexer:
        if set(word) <= set(";|&()<>"):
            if words:
                yield words
            words = None
        elif words is not None:
            words.append(word)
        elif word == "mabos" or word.endswith("/mabos"):
            words = []
        elif " mabos " in f" {word}" and " " in word:
            yield from _calls(word)
    if words:
        yield words


def _parse(words: list[str]) -> None:
    """Reads a call as the program would, without running it. What is wrong with it is raised."""
    _, rest = _global_options(words)
    command, rest = load_command(rest[0]), rest[1:]
    while getattr(command, "commands", None) and rest and rest[0] in command.commands:
        command, rest = command.commands[rest[0]], rest[1:]
    assert not _is_unknown(command, rest), f"no such command: {command.name} {rest[0]}"
    command.make_context(command.name, list(rest), resilient_parsing=False)


def _is_unknown(command: TyperCommand | TyperGroup, rest: list[str]) -> bool:
    """Whether the next word should name a command of a group, and does not."""
    below = getattr(command, "commands", {})
    return bool(below and command.name not in FREE and rest and re.match(r"[a-z]", rest[0]) and rest[0] not in below)


def _faults(span: str) -> Iterator[str]:
    """What is wrong with code in a sentence that calls a command, names a setting or a file of this project."""
    words = span.split()
    if words[:1] == ["python"] or re.fullmatch(
        r"(benchmarks|fixtures|tests|docs|mabos_cli|completions)/[\w./-]+", span
    ):
        path = words[1] if words[0] == "python" and len(words) > 1 else words[0]
        if "/" in path and not (ROOT / path).exists():
            yield f"`{span}`: no such file"
    if re.fullmatch(r"(core|formats|workspace|index|backends|commands|serve)/[\w*/]+\.py", span) and not [
        *(ROOT / "mabos_cli").glob(span)
    ]:
        yield f"`{span}`: no such module"
    if re.fullmatch(r"[a-z]+\.[a-z_]+", span) and span.split(".")[0] in SECTIONS and not _is_known_name(span):
        yield f"`{span}`: no such setting"
    if words[0] == "mabos" and len(words) > 1:
        yield from _call_faults(span, words[1:])
    elif words[0] in COMMANDS and words[0] != "git" and any(word.startswith("--") for word in words):
        yield from _call_faults(span, words)


def _is_known_name(span: str) -> bool:
    return span in BY_NAME or span.endswith((".py", ".md", ".json", ".jsonl", ".txt", ".jsonld", ".html"))


def _call_faults(span: str, words: list[str]) -> Iterator[str]:
    known = _options(" ".join(words[:2])) or _options(words[0])
    stands_for_one = words[0].isupper() or words[0] in ANYWHERE
    if not stands_for_one and (known is None or _is_unknown(load_command(words[0]), words[1:])):
        yield f"`{span}`: no such command"
    for word in words:
        name = re.split(r"[=\[,]", word)[0]
        if name == "--":
            return
        if re.match(r"--?[a-z]", name) and name not in ANYWHERE and name not in (known or ()):
            yield f"`{span}`: no option {name}"


@cache
def _options(name: str) -> frozenset[str] | None:
    """The options of a command by the words that call it, those of the commands below it included; None if there is none."""
    first, _, below = name.partition(" ")
    command = load_command(first) if first in COMMANDS else None
    if command is not None and below:
        command = getattr(command, "commands", {}).get(below)
    if command is None:
        return None
    every = [command, *getattr(command, "commands", {}).values()]
    return frozenset(
        option for one in every for parameter in one.params for option in (*parameter.opts, *parameter.secondary_opts)
    )


def test_rows_of_the_table_name_options_that_exist() -> None:
    wrong, rows = [], 0
    for line in (ROOT / "README.md").read_text("utf-8").split("\n"):
        cells = line.split(" | ", 1)
        if not line.startswith("| `") or len(cells) != 2:
            continue
        words = code_spans(cells[0])[0].split()
        known = _options(" ".join(words[:2])) or _options(words[0])
        if known is None:
            continue
        rows += 1
        for span in code_spans(cells[1]):
            name = span.split()[0]
            if name.startswith("--") and name not in known | ANYWHERE:
                wrong.append(f"{code_spans(cells[0])[0]}: {name}")
    assert rows > 100 and not wrong, "\n".join(wrong)


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    wrong = []
    for number, target in links(page.read_text("utf-8")):
        path, _, anchor = target.partition("#")
        if re.match(r"https?://", target):
            continue
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file.read_text("utf-8"))):
            wrong.append(f"{page.name}:{number} {target}")
    assert not wrong, "\n".join(wrong)


def test_every_page_is_linked_from_the_first() -> None:
    linked = {target.partition("#")[0] for _, target in links((ROOT / "README.md").read_text("utf-8"))}
    assert {f"docs/{page.name}" for page in PAGES if page.parent == ROOT / "docs"} <= linked


def test_every_promise_names_tests_that_exist() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    rows = [
        row for row in text.partition("\n## Promises\n")[2].partition("\n## ")[0].split("\n") if row.startswith("| **")
    ]
    assert len(rows) >= 8
    for row in rows:
        tests = re.findall(r"\[([^]]+)::(\w+)\]\(([^)]+)\)", row)
        assert tests, row
        for path, name, target in tests:
            assert target == f"tests/{path}"
            assert f"\ndef {name}(" in (ROOT / target).read_text("utf-8"), f"{path} has no {name}"


@each_page
def test_no_place_of_one_machine_is_named(page: Path) -> None:
    assert not re.findall(r"/(?:work|home|root|tmp|Users)/\S*", page.read_text("utf-8"))


@pytest.mark.parametrize(
    ("line", "calls"),
    [
        ("mabos recall 'a b' | head -4", [["recall", "a b"]]),
        ("5 3 * * * sh -c 'mabos log archive -q; mabos status'", [["log", "archive", "-q"], ["status"]]),
        ("ExecStart=/usr/bin/env mabos doctor && mabos --version", [["doctor"], ["--version"]]),
        ('{"mabos": {"command": "mabos", "args": ["mcp", "-w", "x"]}}', [["mcp", "-w", "x"]]),
        ("mabos_cli/app.py and pip install mabos-cli", []),
    ],
)
def test_calls_are_found(line: str, calls: list[list[str]]) -> None:
    assert list(_calls(line)) == calls


@pytest.mark.parametrize(
    "span",
    [
        "mabos recal x",
        "mabos fact assrt",
        "mabos recall --dept 1",
        "store --bach FILE",
        "python benchmarks/no.py",
        "memory.shred",
        "core/no_such.py",
    ],
)
def test_code_that_is_wrong_is_noticed(span: str) -> None:
    assert list(_faults(span))


@pytest.mark.parametrize(
    "span",
    [
        "mabos recall QUERY --depth 2",
        "mabos COMMAND --help",
        "git diff --stat",
        "store --defer",
        "memory.shared",
        "serve/hook_*.py",
    ],
)
def test_code_that_is_right_passes(span: str) -> None:
    assert not list(_faults(span))


def test_a_page_is_run(tmp_path: Path) -> None:
    text = "<!-- setup\n$ export WHO=you\n-->\n```\n$ echo hi $WHO\nold\n$ cat <<E; exit 3\n> two\n> E\n```\n```sh\n$ no\n```\n"
    actual, commands = run_page(text, tmp_path)
    assert commands == 2
    assert actual == text.replace("old", "hi you").replace("> E\n", "> E\ntwo\n[exit 3]\n")
    assert run_page(actual, tmp_path) == (actual, 2)
