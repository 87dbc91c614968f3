"""What an ordinary call gives its command is just what Typer would give it."""

import functools
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mabos_cli.app import COMMANDS, _global_options, find_commands
from mabos_cli.commands.call import Commands, Function
from mabos_cli.commands.parse import plan_calls, read_parameters
from mabos_cli.errors import UsageFault
from mabos_cli.typer_app import _build_command, load_command

ROOT = Path(__file__).parents[2]
NOTHING = "no plain call"


def _lines() -> Iterator[tuple[str, ...]]:
    """Yields the calls that stand in the docs and transcripts, without global options."""
    for path in (*ROOT.glob("docs/*.md"), ROOT / "README.md", *ROOT.glob("tests/transcripts/**/*.*")):
        for line in re.findall(r"^\s*\$ .*?\bmabos (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE):
            try:
                words = shlex.split(line, comments=True)
            except ValueError:  # a text that goes on in the next line
                continue
            ends = (at for at, word in enumerate(words) if re.match(r"[|<>&;]|\d>", word))
            with suppress(UsageFault):
                _, rest = _global_options(words[: next(ends, None)])
                if rest and rest[0] in COMMANDS:
                    yield tuple(rest)


def _plain(words: tuple[str, ...]) -> dict[str, Any] | str:
    """Returns what the last function of a plain call is given."""
    commands = find_commands(words[0])
    plan = plan_calls(commands, words[1:] if commands.name else words)
    return plan[-1][2] if plan else NOTHING


def _by_typer(words: tuple[str, ...]) -> dict[str, Any] | str:
    commands = find_commands(words[0])
    rest = list(words[1:] if commands.name else words)
    if commands.first and not (rest and rest[0] in commands):
        function, name = commands.first, words[0]
    else:
        if commands.opens_first and rest and rest[0] not in commands:
            rest.insert(0, next(iter(commands)))
        name = rest.pop(0)
        function = commands[name]
    seen: list[dict[str, Any]] = []

    @functools.wraps(function)
    def record(ctx: object, **given: Any) -> None:
        seen.append(given)

    copy = Commands()
    copy.command(name)(record)
    with pytest.MonkeyPatch.context() as patched:  # without a workspace no id is made whole
        patched.setattr("mabos_cli.commands.call._complete", lambda call, declared, given: given)
        _build_command(copy, name).main(args=rest, prog_name=name, standalone_mode=False)
    return seen[0] if seen else NOTHING


def test_every_call_of_the_docs_is_read_as_typer_reads_it() -> None:
    lines = sorted({*_lines()})
    plain = [(words, given) for words in lines if (given := _plain(words)) != NOTHING]
    assert len(lines) > 700
    assert len(plain) > 0.9 * len(lines), [words for words in lines if _plain(words) == NOTHING]
    for words, given in plain:
        assert given == _by_typer(words), words


@pytest.mark.parametrize(
    "line",
    [
        "store hi -t fact --tag a --tag b,c -i .5",
        "store --importance=0.5 -- --dashed",
        "store - --type=decision",
        "recall hello -n 3 --mmr --since 2026-01-01",
        "rule toggle R-001 --off",
        "checkpoint --context x --next a --next b",
        "checkpoint restore",
        "reason why --method deductive",
        "case list --success",
        "case list",
        "goal add Ship --priority high",
    ],
)
def test_calls_of_every_shape(line: str) -> None:
    words = tuple(line.split())
    assert _by_typer(words) != NOTHING
    assert _plain(words) in (NOTHING, _by_typer(words))


@pytest.mark.parametrize(
    "line",
    [
        "store --help",
        "store --typ fact x",
        "store x --importance high",
        "store x -t",
        "store x -t --tag",
        "recall x -n -1",
        "recall x -n3",
        "get",
        "get a b c",
        "goal",
        "goal nothing",
        "reason",
        "store x --if-new=yes",
        "recall x --limit 99999999999999999999",
    ],
)
def test_the_rest_is_left_to_typer(line: str) -> None:
    assert _plain(tuple(line.split())) == NOTHING


def test_a_negative_number_is_a_word() -> None:
    given = _plain(("fact", "assert", "account", "balance", "-12.50"))
    assert isinstance(given, dict)
    assert given["object"] == "-12.50"


def test_every_command_can_be_called_plainly() -> None:
    """A new kind of parameter is no reason to load Typer."""
    late = [name for name in COMMANDS for function in _functions(name) if not _is_readable(function)]
    assert late == []


def _functions(name: str) -> Iterator[Function]:
    commands = find_commands(name)
    yield from (commands[each] for each in ([name] if not commands.name else commands))
    assert load_command(name).name == name


def _is_readable(function: Function) -> bool:
    return {each.type for each in read_parameters(function)} <= {bool, str, int, float, list, Path}


def test_a_switch_takes_no_value() -> None:
    with pytest.raises(UsageFault, match="--json takes no value"):
        _global_options(["store", "x", "--json=yes"])
