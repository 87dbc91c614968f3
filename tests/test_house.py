"""The house rules: who may import whom, who may write, what loads at the start, and what every command must have."""

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer
from transcript import parse_transcript

from mabos_cli.app import COMMANDS, GROUPS, OTHER_NAMES
from mabos_cli.serve.complete import offer
from mabos_cli.typer_app import load_command

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "mabos_cli"
FILES = sorted(PACKAGE.rglob("*.py"))
HEAVY = (
    "rich",
    "markdown_it",
    "yaml",
    "numpy",
    "typedb",
    "mcp",
    "sqlite3",
    "sqlean",
    "wordllama",
    "tokenizers",
)
LATE = tuple(name for name in HEAVY if name != "mcp")

# room -> the rooms it may import. `version` is the package itself, which holds nothing else.
MAY_IMPORT = {
    "version": set(),
    "errors": set(),
    "core": {"core"},
    "reasoning": {"reasoning", "core"},
    "config": {"config", "core"},
    "formats": {"formats", "core", "reasoning", "errors"},
    "workspace": {"workspace", "formats", "core", "reasoning", "errors", "config", "version"},
    "index": {"index", "core", "errors"},
    "backends": {"backends", "core", "errors"},
    "terminal": {"terminal", "core", "formats", "errors"},
    "__main__": {"app", "serve", "core", "workspace", "version"},
}
MAY_IMPORT["services"] = {"services", "index", "backends"} | MAY_IMPORT["workspace"]
MAY_IMPORT["commands"] = {"commands", "services", "terminal"} | MAY_IMPORT["workspace"]
MAY_IMPORT["serve"] = {"serve"} | MAY_IMPORT["commands"]
MAY_IMPORT["app"] = MAY_IMPORT["typer_app"] = {"app", "typer_app"} | MAY_IMPORT["serve"]
# The commands that open another door.
INTRODUCE = {"serve": [PACKAGE / "commands" / "operations" / "hosts.py"]}
# The sub-packages that core, formats, services and commands share, and those that one of them has besides.
DOMAINS = set("memory hierarchy mind knowledge context search mirror language operations".split())
OWN_FOLDERS = {"core": set(), "formats": {"markdown", "json"}, "services": set(), "commands": set()}
# What commands share: the call, how they declare what they take, and how that is read.
SHARED_BY_COMMANDS = tuple(f"mabos_cli.commands.{name}" for name in ("call", "parse"))
# Doors that somebody else's session depends on: a bug behind them is reported, and nothing more.
OUTLAST = [PACKAGE / "serve" / f"{name}.py" for name in ("calling", "hook")]


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def room_of(module: str) -> str:
    """The room of a dotted name below mabos_cli: `mabos_cli.core.language.text` is in core."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in MAY_IMPORT else "version"


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Line, dotted name and whether it happens as the module loads, for every import in a file."""
    waiting: list[tuple[ast.AST, bool]] = [(tree_of(path), True)]
    while waiting:
        node, at_load = waiting.pop()
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, at_load) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{shown(path)}:{node.lineno} imports relatively"
            yield from ((node.lineno, f"{node.module}.{alias.name}", at_load) for alias in node.names)
        # Imports stand in nothing else.
        elif isinstance(node, ast.stmt | ast.Module | ast.ExceptHandler | ast.match_case):
            late = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            late |= isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            waiting += [(below, at_load and not late) for below in ast.iter_child_nodes(node)]


def test_every_room_is_known() -> None:
    rooms = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in FILES}
    assert rooms - {"__init__"} <= {*MAY_IMPORT}


def test_imports_go_one_way() -> None:
    wrong = []
    for path in FILES:
        room = room_of(module_of(path))
        for line, name, at_load in imports_of(path):
            if name.split(".")[0] != "mabos_cli":
                continue
            introduced = not at_load and path in INTRODUCE.get(room_of(name), ())
            if room_of(name) not in MAY_IMPORT[room] and not introduced:
                wrong.append(f"{shown(path)}:{line} {room} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_domains_are_the_same_in_every_layer() -> None:
    for room, more in OWN_FOLDERS.items():
        folders = {path.name for path in (PACKAGE / room).iterdir() if path.is_dir() and path.name != "__pycache__"}
        assert folders <= DOMAINS | more, room


def test_no_folder_is_crowded() -> None:
    crowded = {}
    for folder in {path.parent for path in FILES}:
        modules = [path for path in FILES if path.parent == folder and path.name != "__init__.py"]
        if len(modules) > 25:
            crowded[shown(folder)] = len(modules)
    assert not crowded


def test_no_command_imports_a_command() -> None:
    wrong = [
        f"{shown(path)}:{line} {name}"
        for path in FILES
        if path.is_relative_to(PACKAGE / "commands") and module_of(path) not in SHARED_BY_COMMANDS
        for line, name, _ in imports_of(path)
        if name.startswith("mabos_cli.commands.") and not name.startswith(SHARED_BY_COMMANDS)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_architecture_page_says_who_may_import_whom() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    told = dict(re.findall(r"^\| `mabos_cli/(\w+)/` \|.*\| ([\w, ]+) \|$", page, re.MULTILINE))
    folders = {room for room in MAY_IMPORT if (PACKAGE / room).is_dir()}
    assert told == {room: ", ".join(sorted(MAY_IMPORT[room])) for room in folders}


def test_core_needs_only_the_standard_library() -> None:
    allowed = {*sys.stdlib_module_names, "mabos_cli"}
    wrong = [
        f"{shown(path)}:{line} {name}"
        for path in FILES
        if path.is_relative_to(PACKAGE / "core")
        for line, name, _ in imports_of(path)
        if name.split(".")[0] not in allowed
    ]
    assert not wrong, "\n".join(wrong)


def test_core_reads_no_clock_and_no_environment() -> None:
    """Time, chance, files and the environment are arguments."""
    forbidden = re.compile(
        r"\b(open|print|input)\(|\b(datetime\.now|date\.today|time\.time)\b|^\s*(import|from) (os|random|secrets|time|sys|io|pathlib)\b",
        re.MULTILINE,
    )
    wrong = [
        f"{shown(path)}:{number} {line.strip()}"
        for path in FILES
        if path.is_relative_to(PACKAGE / "core")
        for number, line in enumerate(path.read_text("utf-8").split("\n"), 1)
        if forbidden.search(line)
    ]
    assert not wrong, "\n".join(wrong)


def test_heavy_libraries_load_late() -> None:
    wrong = [
        f"{shown(path)}:{line} {name}"
        for path in FILES
        for line, name, at_load in imports_of(path)
        if at_load and name.split(".")[0] in HEAVY
        if not (name.split(".")[0] == "sqlite3" and path.is_relative_to(PACKAGE / "index"))
        if not (
            name.split(".")[0] == "rich" and path.parent == PACKAGE / "terminal" and path.stem in ("screen", "views")
        )
    ]
    assert not wrong, "\n".join(wrong)


_METHODS = set("write_text write_bytes unlink rmdir mkdir touch rename symlink_to hardlink_to".split())
_CALLS = {f"os.{name}" for name in "rename replace remove truncate open write link symlink makedirs".split()}


def _writes(node: ast.AST) -> str:
    """How a call changes the disk, or nothing."""
    if not isinstance(node, ast.Call):
        return ""
    called = ast.unparse(node.func)
    owner, _, last = called.rpartition(".")
    if (owner and last in _METHODS) or called in _CALLS or called.startswith(("shutil.", "tempfile.")):
        return called
    if last == "open":
        modes = [*node.args[0 if owner else 1 :][:1], *(k.value for k in node.keywords if k.arg == "mode")]
        if any(not isinstance(mode, ast.Constant) or set(str(mode.value)) - set("rbt") for mode in modes):
            return ast.unparse(node)
    return ""


def test_only_one_module_writes() -> None:
    """workspace/files.py writes, with plain_files.py and platform.py below it, and lock.py its locks; index/ may handle its own SQLite file, output may
    point stdout at the null device."""
    writers = [PACKAGE / "workspace" / name for name in ("files.py", "plain_files.py", "platform.py", "lock.py")]
    wrong = [
        f"{shown(path)}:{node.lineno} {_writes(node)}"
        for path in FILES
        if path not in writers and not path.is_relative_to(PACKAGE / "index")
        for node in ast.walk(tree_of(path))
        if _writes(node)
        and ast.unparse(node) != "os.open(os.devnull, os.O_WRONLY)"
        and "os.O_RDONLY" not in ast.unparse(node)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "code",
    [
        "open(p, 'w')",
        "open(p, mode='ab')",
        "p.open('x')",
        "p.write_text(t)",
        "os.replace(a, b)",
        "p.unlink()",
    ],
)
def test_writing_is_noticed(code: str) -> None:
    assert _writes(ast.parse(code, mode="eval").body)


@pytest.mark.parametrize(
    "code",
    ["open(p)", "open(p, 'rb')", "p.open()", "p.read_text()", "os.path.exists(p)", "text.replace(a, b)"],
)
def test_reading_is_no_writing(code: str) -> None:
    assert not _writes(ast.parse(code, mode="eval").body)


def _loaded_by(code: str, *words: str, **environment: str) -> list[str]:
    """The late libraries that a program in a fresh interpreter has loaded when it is done."""
    script = f"import sys\n{code}\nprint('\\n' + ' '.join(name for name in {LATE!r} if name in sys.modules))"
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MABOS_")}
    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        capture_output=True,
        text=True,
        env=clean | environment,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[-2].split()


def test_the_start_is_light() -> None:
    assert _loaded_by("import mabos_cli.app") == []
    assert _loaded_by("import yaml") == ["yaml"]


def test_status_is_light(workspace: Path, mabos) -> None:
    assert mabos("store", "We bill per seat", "--store", "long_term", cwd=workspace).code == 0
    (workspace / "mabos.yaml").write_text("memory:\n  working_capacity: 5\n")
    assert "of 5" in mabos("status", cwd=workspace).stdout
    run = "from mabos_cli.app import main\nassert main(['-w', sys.argv[1], 'status']) == 0"
    assert _loaded_by(run, str(workspace)) == []


def test_reason_list_is_light(workspace: Path) -> None:
    """The catalogue is a table: no solver is loaded to print it."""
    run = "from mabos_cli.app import main\nassert main(['-w', sys.argv[1], 'reason', 'list']) == 0\n"
    run += "assert not [n for n in sys.modules if n.startswith('mabos_cli.reasoning.') and 'catalog' not in n]"
    assert _loaded_by(run, str(workspace)) == []


def _commands() -> Iterator[tuple[str, typer.core.TyperCommand]]:
    """Every command and subcommand, by the words that call it."""
    for name in COMMANDS:
        command = load_command(name)
        yield name, command
        for below, child in getattr(command, "commands", {}).items():
            yield f"{name} {below}", child


def test_the_help_has_every_command_in_one_group() -> None:
    assert sorted(name for names in GROUPS.values() for name in names.split()) == sorted(COMMANDS)


def test_other_names_are_no_commands_and_lead_to_one() -> None:
    others = [other for names in OTHER_NAMES.values() for other in names.split()]
    assert len(others) == len({*others}) and not {*others} & {*COMMANDS}
    assert {name.split()[0] for name in OTHER_NAMES} <= {*COMMANDS, "--version", "--help"}


ALL = dict(_commands())
CALLABLE = [name for name, command in ALL.items() if not getattr(command, "no_args_is_help", False)]


def _docstring(name: str) -> str:
    callback = ALL[name].callback
    return (callback.__doc__ if callback else "") or ALL[name].help or ""


def test_commands_are_found() -> None:
    assert len(ALL) > 20
    assert {"store", "agent create", "checkpoint", "checkpoint latest", "context flush-check"} <= {*CALLABLE}
    assert "agent" in ALL and "agent" not in CALLABLE


@pytest.mark.parametrize("name", COMMANDS)
def test_first_line_of_help(name: str) -> None:
    about = dict(offer([], ""))[name]
    assert _docstring(name).split("\n")[0] == (ALL[name].help or "").split("\n")[0] == f"{about}."


@pytest.mark.parametrize("name", CALLABLE)
def test_example_parses(name: str) -> None:
    """The docstring's example calls this very command, and its words are ones that the command knows."""
    examples = re.findall(r"^ *Example: mabos (.+)$", _docstring(name), re.MULTILINE)
    assert len(examples) == 1, f"{name} has {len(examples)} lines `Example: mabos ...`"
    words = shlex.split(examples[0])
    depth = len(name.split())
    assert " ".join(words[:depth]) == name
    assert f"Example: mabos {examples[0]}" in (ALL[name].help or ""), f"mabos {name} --help does not show it"
    ALL[name].make_context(name, _without_global_options(words[depth:]), resilient_parsing=False)


def _without_global_options(words: list[str]) -> list[str]:
    from mabos_cli.app import _global_options

    return _global_options(words)[1]


@cache
def _transcribed() -> tuple[tuple[str, ...], ...]:
    """The words of every mabos call in the transcripts, without global options."""
    calls = []
    for path in sorted((ROOT / "tests" / "transcripts").glob("*.txt")):
        for step in parse_transcript(path.read_text("utf-8")):
            for call in re.findall(r"\bmabos ([^|\n]*)", step.command):
                words = [word.strip("\"'") for word in call.split()]
                calls.append(tuple(_without_global_options([*words, "x"])[:-1]))
    return tuple(calls)


@pytest.mark.parametrize("name", CALLABLE)
def test_transcript_shows_it(name: str) -> None:
    words = tuple(name.split())
    below = getattr(ALL[name], "commands", {})
    assert any(call[: len(words)] == words and not {*call[1:2]} & {*below} for call in _transcribed())


@pytest.mark.parametrize("name", CALLABLE)
def test_readme_has_a_row(name: str) -> None:
    rows = [line for line in (ROOT / "README.md").read_text("utf-8").split("\n") if line.startswith("| `")]
    named = [code for row in rows for code in re.findall(r"`([^`]+)`", row.split("|")[1])]
    taken = {other for other in CALLABLE if other.startswith(f"{name} ")}
    mine = [code for code in named if f"{code} ".startswith(f"{name} ")]
    assert [code for code in mine if not any(f"{code} ".startswith(f"{other} ") for other in taken)], (
        f"README.md has no table row `| `{name} ...` |`"
    )


def _options() -> Iterator[tuple[str, typer.core.TyperOption]]:
    """Every option of every command, with the words that call the command."""
    for name in CALLABLE:
        yield from ((name, each) for each in ALL[name].params if each.param_type_name == "option")


def test_options_speak_alike() -> None:
    """One flag has one short name and one meaning, and each help is a sentence."""
    wrong = []
    for name, option in _options():
        flag, said = max(option.opts, key=len), option.help or ""
        place = f"{name} {flag}: {said}"
        wrong += [place] if not said.endswith((".", "...")) or said != said.strip() else []
        if flag == "--limit":
            wrong += (
                [place] if "-n" not in option.opts or "at most this many" not in said or "0 for all" not in said else []
            )
            wrong += [place] if option.type.min != 0 else []
        if flag == "--dry-run":
            wrong += [place] if said != "Show what would happen." else []
        if flag in ("--since", "--until", "--deadline"):
            wrong += [place] if option.metavar != "DATE" else []
        if flag == "--check":
            wrong += [place] if not said.startswith("Exit 7 if ") else []
    assert not wrong, "\n".join(wrong)


def test_a_flag_has_one_short_name() -> None:
    shorts: dict[str, set[str]] = {}
    for _, option in _options():
        short = [each for each in option.opts if len(each) == 2]
        shorts.setdefault(max(option.opts, key=len), set()).update(short)
    assert not {flag: found for flag, found in shorts.items() if len(found) > 1}


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of what a function does; a command's options and its docstring are a table, not logic."""
    body = function.body[1:] if ast.get_docstring(function) and function.body[1:] else function.body
    return body[-1].end_lineno - body[0].lineno + 1


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_sizes(path: Path) -> None:
    """A command opens, computes, applies and emits: what takes more than 40 lines is a thought that wants a name in core."""
    assert path.read_text("utf-8").count("\n") <= 400
    most = 40 if path.is_relative_to(PACKAGE / "commands") else 50
    long = [
        f"{shown(path)}:{node.lineno} {node.name} has {body_lines(node)} lines"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if body_lines(node) > most
    ]
    assert not long, "\n".join(long)


def test_names() -> None:
    vague = re.compile("Manager|Helper|Util|Service|Base|Processor")
    wrong = [
        f"{shown(path)}:{node.lineno} {node.name}"
        for path in FILES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef) and vague.search(node.name)
    ]
    wrong += [shown(path) for path in FILES if path.stem in ("utils", "util", "helpers")]
    assert not wrong, "\n".join(wrong)


def test_docstrings_are_sentences_and_no_riddles() -> None:
    """The first line says what something is or does: it begins with a noun or a verb, not with What or Whether."""
    wrong = [
        f"{shown(path)}: {docstring.splitlines()[0]}"
        for path in FILES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if (docstring := ast.get_docstring(node)) and docstring.startswith(("What ", "Whether "))
    ]
    assert not wrong, "\n".join(wrong)


def test_exceptions_are_named() -> None:
    """BaseException may be caught to clean up, if it is raised again. Doors outlast a bug in what they call."""
    wrong = []
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.ExceptHandler):
                continue
            caught = ast.unparse(node.type) if node.type else ""
            cleanup = caught == "BaseException" and any(
                isinstance(last, ast.Raise) and last.exc is None for last in node.body[-1:]
            )
            door = path in OUTLAST and caught == "Exception"
            if re.search(r"^$|\b(Base)?Exception\b", caught) and not cleanup and not door:
                wrong.append(f"{shown(path)}:{node.lineno} except {caught}")
    assert not wrong, "\n".join(wrong)


def test_names_that_two_rooms_spell_are_the_same() -> None:
    """The settings list what the rooms offer; neither may import the other."""
    from mabos_cli.backends.embeddings import PROVIDERS
    from mabos_cli.config import BY_NAME
    from mabos_cli.index.vectors import STEPS

    assert BY_NAME["embeddings.provider"].choices == (*PROVIDERS, "none")
    assert BY_NAME["index.vectors"].choices == ("auto", *STEPS)
