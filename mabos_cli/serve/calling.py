"""Runs commands for MCP and the page of `mabos ui`: named arguments in, data, text and errors out; nothing is printed.

The command itself checks, computes and writes. Here its words are made, its answer is caught and cut to a size, and what went
wrong becomes one line.
"""

import gc
import io
import json
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from mabos_cli.commands.call import Answer, Call
from mabos_cli.core import BadValue
from mabos_cli.core.language.secrets import redact
from mabos_cli.core.language.text import one_line, plural, visible
from mabos_cli.errors import MabosError, UsageFault
from mabos_cli.formats.json.text import dump_line
from mabos_cli.serve.tool import Line, Schema, Tool, check_arguments, line_of
from mabos_cli.workspace.files import watch_writes
from mabos_cli.workspace.locate import find_agent
from mabos_cli.workspace.settings import load_settings

_LONGEST = 600  # characters of an error
_NOTES = 20  # cuts that an answer names
_ASIDE = 4_000  # characters at most that tell about cuts, and warnings beside them
_LEAST = 2  # characters of the smallest value that can stand for a cut one: "", [] or {}
_JOINT = 4  # characters between a name and its value, and behind it
_CUT = "cut to mcp.max_tokens: ask for less, with a limit or a narrower question"


class Reply(NamedTuple):
    """Holds what a caller gets: data, the same as text, or why there is none."""

    data: dict[str, Any] | None
    text: str

    @property
    def is_error(self) -> bool:
        return self.data is None


def call_tool(call: Call, tool: Tool, schema: Schema, arguments: Mapping[str, Any]) -> Reply:
    """Runs a tool and returns its answer; whatever goes wrong is an answer too."""
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        named, line = _prepare(call, tool, schema, given)
        answer, room = run_line(named, line), _room(named)
        if tool.shape is None:
            return _bounded(answer, room)
        reply = _bounded(answer._replace(data=tool.shape(answer.data, given)), room)
        return reply._replace(text=dump_line(reply.data))
    except Exception as error:  # a bug in one command must not end the server
        return _refusal(error)


def answer_tool(call: Call, tool: Tool, schema: Schema, arguments: Mapping[str, Any]) -> Answer | MabosError:
    """Runs a tool and returns all that its command says, or what went wrong, without secrets."""
    try:
        return run_line(*_prepare(call, tool, schema, dict(arguments)))
    except Exception as error:  # a bug in one command must not end the server
        return _fault(error)


def _prepare(call: Call, tool: Tool, schema: Schema, given: dict[str, Any]) -> tuple[Call, Line]:
    """Returns the call for the agent that arguments name, which is taken out of them, and the words for the rest."""
    check_arguments(schema, given)
    return _named(call, given.pop("agent_id", "")), line_of(tool, given)


def read_text(call: Call, agent: str, words: list[str], key: str) -> str:
    """Reads the text that a command gives under a name, cut to a size; MabosError when it gives none."""
    named = _named(call, agent)
    room = _room(named)
    return fit_lines(run_line(named, Line(words, None)).data[key].split("\n"), room)


def run_line(call: Call, line: Line) -> Answer:
    """Runs a command. A dash is a dash here, and standard input is what the line brings along."""
    assert call.run is not None, "app runs commands"
    answers: list[Answer] = []
    muted = call.with_changes(
        as_json=True, quiet=False, literal_dash=True, opened=[], written=watch_writes(), take=answers.append
    )
    try:
        with _standard_input(line.fed):
            call.run(muted, line.words)
    finally:
        # A connection of Python's own SQLite lies in a circle with its statements: the file stays open until it is looked for.
        gc.collect(1)
    return answers[-1]


@contextmanager
def _standard_input(text: str | None) -> Iterator[None]:
    before = sys.stdin
    sys.stdin = None if text is None else io.TextIOWrapper(io.BytesIO(text.encode("utf-8")), "utf-8")
    try:
        yield
    finally:
        sys.stdin = before


def _named(call: Call, agent: str) -> Call:
    """Returns the call for an agent that exists, also where the command would not look."""
    if not agent:
        return call
    find_agent(call.open_workspace(), agent)
    return call.with_changes(agent=agent)


def _room(call: Call) -> int:
    """Returns the characters that an answer may have."""
    workspace = call.open_workspace()
    agent = find_agent(workspace, call.agent) if call.agent else None
    settings = load_settings(workspace, agent, {})
    room: int = settings["mcp.max_tokens"] * settings["text.chars_per_token"]
    return room


def _bounded(answer: Answer, room: int) -> Reply:
    """Cuts an answer to so many characters of JSON, and of text."""
    data = json.loads(dump_line(answer.data))
    warnings = [visible(warning) for warning in answer.warnings]
    if json_size(data | {"warnings": warnings}) > room:
        aside = min(room // 5, _ASIDE)
        data, cuts = fit_value(data, room - aside)
        largest = sorted(cuts, key=lambda place: -cuts[place])[:_NOTES]
        data["truncated"] = fit_value({place: cuts[place] for place in largest}, aside // 3)[0]
        warnings = fit_value([_CUT, *warnings], aside // 2)[0]
    data["warnings"] = warnings
    lines = [*map(visible, answer.lines), *(f"warning: {one_line(text)}" for text in warnings)]
    return Reply(data, fit_lines(lines, room))


def _refusal(error: Exception) -> Reply:
    """Describes an error in one line."""
    found = _fault(error)
    hint = f"; {found.hint}" if found.hint else ""
    return Reply(None, f"{found.code}: {one_line(f'{found.message}{hint}', _LONGEST)}")


def _fault(error: Exception) -> MabosError:
    """Returns an error without secrets. A bug is named by its type; its traceback goes to stderr."""
    if isinstance(error, BadValue):
        error = UsageFault(error.message, error.hint)
    if not isinstance(error, MabosError):
        traceback.print_exception(error, file=sys.stderr)
        error = MabosError(f"{type(error).__name__}: {error}", "a bug in mabos; more on stderr")
    error.message, error.hint = redact(error.message)[0], redact(error.hint)[0]
    return error


def json_size(value: Any) -> int:
    """Returns how many characters a value takes as JSON."""
    return len(json.dumps(value, ensure_ascii=False))


def fit_value(value: Any, room: int) -> tuple[Any, dict[str, int]]:
    """Cuts a value to `room` characters of JSON; also returns by place how many entries or characters were cut.

    Lists keep their first entries; what is small stays whole, what is large shares the rest. A number is never cut: in a room too
    small for it the name goes.

    >>> fit_value({"count": 3, "results": ["aaaa", "bbbb", "cccc"]}, 40)
    ({'count': 3, 'results': ['aaaa']}, {'results': 2})
    """
    cuts: dict[str, int] = {}
    return _fit(value, max(room, _LEAST), "", cuts), cuts


def _fit(value: Any, room: int, place: str, cuts: dict[str, int]) -> Any:
    if json_size(value) <= room:
        return value
    if isinstance(value, str):
        return _fit_text(value, room, place, cuts)
    if isinstance(value, dict):
        return _fit_names(value, room, place, cuts)
    return _fit_list(value, room, place, cuts) if isinstance(value, list) else value


def _fit_text(text: str, room: int, place: str, cuts: dict[str, int]) -> str:
    """Returns the start of a text; what needs escaping takes more room than it seems."""
    kept = text[: room - _LEAST]
    while (over := json_size(kept) - room) > 0:
        kept = kept[: -max(1, over // 6)]
    cuts[place] = len(text) - len(kept)
    return kept


def _fit_list(entries: list[Any], room: int, place: str, cuts: dict[str, int]) -> list[Any]:
    """Returns the first entries that fit; when not even the first does, that one cut down."""
    kept, left = [], room
    for entry in entries:
        left -= json_size(entry) + _LEAST
        if left < 0:
            break
        kept.append(entry)
    if not kept and room >= 3 * _LEAST and not isinstance(entries[0], int | float | None):
        kept = [_fit(entries[0], room - _LEAST, _below(place, "0"), cuts)]
    if len(kept) < len(entries):
        cuts[place] = len(entries) - len(kept)
    return kept


def _fit_names(entries: dict[str, Any], room: int, place: str, cuts: dict[str, int]) -> dict[str, Any]:
    """Fits an object: small values first, each large one gets an equal share of what they leave."""
    sizes = {name: json_size(value) for name, value in entries.items()}
    order = sorted(sizes, key=lambda name: sizes[name])
    kept: dict[str, Any] = {}
    left = room - _LEAST
    for number, name in enumerate(order):
        share = left // (len(order) - number) if sizes[name] > left // (len(order) - number) else left
        left_for_value = share - json_size(name) - _JOINT
        cuttable = isinstance(entries[name], str | list | dict)
        if left_for_value < (_LEAST if cuttable else sizes[name]):
            continue
        kept[name] = _fit(entries[name], left_for_value, _below(place, name), cuts)
        left -= json_size(name) + _JOINT + json_size(kept[name])
    if len(kept) < len(entries):
        cuts[place or "."] = len(entries) - len(kept)
    return {name: kept[name] for name in entries if name in kept}


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def fit_lines(lines: Iterable[str], room: int) -> str:
    """Joins lines into a text of at most `room` characters; the last line says how much did not fit.

    >>> fit_lines(["one", "two", "three"], 100)
    'one\\ntwo\\nthree'
    >>> fit_lines(["a" * 40, "b" * 40, "c" * 40], 80)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\\n(2 lines more did not fit)'
    """
    whole = "\n".join(lines)
    if len(whole) <= room:
        return whole
    count = whole.count("\n") + 1
    end = whole.rfind("\n", 0, max(0, room - len(_rest(count))))
    if end < 0:
        return whole[: max(0, room - 1)] + "…"[:room]
    return f"{whole[:end]}\n{_rest(whole.count(chr(10), end))}"


def _rest(count: int) -> str:
    return f"({plural(count, 'line')} more did not fit)"
