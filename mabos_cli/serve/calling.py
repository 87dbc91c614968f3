"""Runs commands for MCP and the page of `mabos ui`: named arguments in, data, text and errors out; nothing is printed.

The command itself checks, computes and writes. This module makes its words, catches its answer, cuts it to a size, and turns
errors into one line.
"""

import gc
import io
import json
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, NamedTuple

from mabos_cli.commands.call import Answer, Call
from mabos_cli.core import BadValue
from mabos_cli.core.language.secrets import redact
from mabos_cli.core.language.text import one_line, plural, visible
from mabos_cli.errors import MabosError, UsageFault
from mabos_cli.formats.json.text import dump_line
from mabos_cli.serve.tool import Line, Tool, check_arguments, find_function, input_schema, line_of
from mabos_cli.workspace.files import watch_writes
from mabos_cli.workspace.locate import find_agent
from mabos_cli.workspace.settings import load_settings

_LONGEST = 600  # characters of an error
_NOTES = 20  # cuts that an answer names
_ASIDE = 4_000  # characters at most that tell about cuts, and warnings beside them
_LEAST = 2  # characters of an object without names, and between two entries
_CUT = "cut to mcp.max_tokens: ask for less, with a limit or a narrower question"


class Reply(NamedTuple):
    """The answer to a caller: data and the same as text, or no data and the error as text."""

    data: dict[str, Any] | None
    text: str

    @property
    def is_error(self) -> bool:
        return self.data is None


def call_tool(call: Call, tool: Tool, arguments: Mapping[str, Any]) -> Reply:
    """Runs a tool and returns its answer; whatever goes wrong is an answer too."""
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        named, line = _prepare(call, tool, given)
        answer, room = run_line(named, line), _room(named)
        if tool.shape is None:
            return _bounded(answer, room)
        reply = _bounded(answer._replace(data=tool.shape(answer.data, given)), room)
        return reply._replace(text=dump_line(reply.data))
    except Exception as error:  # a bug in one command must not end the server
        return _refusal(error)


def answer_tool(call: Call, tool: Tool, arguments: Mapping[str, Any]) -> Answer | MabosError:
    """Runs a tool and returns all that its command says, or what went wrong, without secrets."""
    try:
        return run_line(*_prepare(call, tool, dict(arguments)))
    except Exception as error:  # a bug in one command must not end the server
        return _fault(error)


def _prepare(call: Call, tool: Tool, given: dict[str, Any]) -> tuple[Call, Line]:
    """Returns the call for the agent that the arguments name, and the command line for the other arguments."""
    assert call.find_commands is not None, "app knows its commands"
    check_arguments(input_schema(tool, find_function(tool, call.find_commands)[0]), given)
    return _named(call, given.pop("agent_id", "")), line_of(tool, given)


def read_text(call: Call, agent: str, words: list[str], key: str) -> str:
    """Returns a text from the data of a command, by its key, cut to a size."""
    named = _named(call, agent)
    room = _room(named)
    return fit_lines(run_line(named, Line(words, None)).data[key].split("\n"), room)


def run_line(call: Call, line: Line) -> Answer:
    """Runs a command. A dash stands for itself, and standard input is what the line brings along."""
    assert call.run is not None, "app runs commands"
    answers: list[Answer] = []
    muted = call.with_changes(
        as_json=True, quiet=False, literal_dash=True, opened=[], written=watch_writes(), take=answers.append
    )
    try:
        with _standard_input(line.fed):
            call.run(muted, line.words)
    finally:
        # A connection of sqlite3 and its statements refer to each other: the file stays open until they are collected.
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
    """Returns the call for an agent; NotFound if it does not exist, which not every command checks."""
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
        warnings = fit_value({"warnings": [_CUT, *warnings]}, aside // 2)[0].get("warnings", [])
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


def fit_value(value: dict[str, Any], room: int) -> tuple[dict[str, Any], dict[str, int]]:
    """Cuts an object to `room` characters of JSON; also returns by place how many entries or characters were cut.

    The largest list or text loses up to half of its end, repeatedly; lists keep their first entries, and small values stay whole.
    A number is never cut: if there is no room for it, its name goes too.

    >>> fit_value({"count": 3, "results": ["aaaa", "bbbb", "cccc"]}, 40)
    ({'count': 3, 'results': ['aaaa']}, {'results': 2})
    """
    kept, cuts = deepcopy(value), Counter[str]()
    while (over := json_size(kept) - max(room, _LEAST)) > 0:
        size, place, holder, key = max(_find_cuttable(kept, ""), key=lambda found: found[0], default=(0, "", kept, ""))
        if not size:
            del kept[max(kept, key=lambda name: json_size(kept[name]))]
            cuts["."] += 1
            continue
        whole, least = holder[key], max(size - over, size // 2)
        end = min(len(whole) - 1, len(whole) * least // size)
        if isinstance(whole, list):
            end = len(whole)
            while end and size > least:
                end -= 1
                size -= json_size(whole[end]) + _LEAST
        holder[key] = whole[:end]
        cuts[place] += len(whole) - end
    return kept, dict(cuts)


def _find_cuttable(value: Any, place: str) -> Iterator[tuple[int, str, Any, Any]]:
    """Yields the texts and lists within a value that are not empty: size, place, and the container with its key. Of a list with one
    entry, only that entry if it can be cut."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        here = f"{place}.{key}" if place else str(key)
        inner = (
            list(_find_cuttable(each, here))
            if isinstance(each, dict) or (isinstance(each, list) and len(each) == 1)
            else []
        )
        yield from inner
        if each and not inner and isinstance(each, str | list):
            yield json_size(each), here, value, key


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
