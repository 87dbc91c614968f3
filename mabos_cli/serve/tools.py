"""Reads the tables of tools, tools.txt for MCP and ui_calls.txt for the page, and defines the schemas and functions that they name.

A row has the name of a tool, the effect of a call (reads, adds, sets, removes) and the command behind it; then, after a slash, functions
that change arguments or answer, and after a colon a description, if it is not the help of the command. The indented lines below list its
parameters: options of the command with the same name or another one (--tag), or words of it. Names in capitals, such as `TYPES`, are
lists of words or schemas of this module.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mabos_cli.core.context.audit import SCOPES
from mabos_cli.core.knowledge.proposal import NODE_TYPES
from mabos_cli.core.knowledge.rule import KINDS, OPERATORS, SEVERITIES
from mabos_cli.core.language.periods import LEVELS as PERIOD_LEVELS
from mabos_cli.core.memory.item import CLASSES, PRIORITIES, STORES, TRUSTS, TYPES, priority_of
from mabos_cli.core.mind.mind import LEVELS
from mabos_cli.errors import UsageFault
from mabos_cli.reasoning.catalog import ASPECTS, METHODS
from mabos_cli.serve.tool import (
    EFFECTS,
    TEXT,
    TEXTS,
    Param,
    Schema,
    Tool,
    Words,
    choice,
    choices,
    either,
    record,
    unless,
)

_VOCABULARY: Mapping[str, tuple[str, ...]] = {
    "TYPES": TYPES,
    "CLASSES": tuple(CLASSES),
    "STORES": STORES,
    "PRIORITIES": tuple(PRIORITIES),
    "TRUSTS": TRUSTS,
    "SCOPES": tuple(SCOPES),
    "PERIODS": tuple(reversed(PERIOD_LEVELS)),
    "NODE_TYPES": tuple(NODE_TYPES),
    "RULE_KINDS": tuple(KINDS),
    "SEVERITIES": tuple(SEVERITIES),
    "GOAL_LEVELS": tuple(LEVELS),
    "METHODS": tuple(METHODS),
}
_TRIPLE = {"subject": TEXT, "predicate": TEXT, "object": TEXT}
_METRICS = {"type": "object", "additionalProperties": {"type": "number"}}
_SCHEMAS: Mapping[str, Schema] = {
    "SHARE": {"minimum": 0, "maximum": 1},
    "PERCENT": {"type": "integer", "minimum": 0, "maximum": 100},
    "COUNT": {"type": "integer", "minimum": 1},
    "DEPTH": {"type": "integer", "minimum": 0, "maximum": 3},
    "BOOLEAN": {"type": "boolean"},
    "OBJECT": {"type": "object"},
    "TEXT": TEXT,
    "TEXTS": TEXTS,
    "HISTORY": {"type": "array", "items": {"type": "object", "required": ["role"]}},
    "CONDITIONS": {"type": "array", "items": record(("predicate",), **_TRIPLE, operator=choice(*OPERATORS))},
    "CONCLUSION": record(("predicate",), **_TRIPLE),
    "SITUATION": record(beliefs=TEXTS, desires=TEXTS, context=TEXT),
    "SOLUTION": record(plan_id=TEXT, actions=TEXTS),
    "OUTCOME": record(success={"type": "boolean"}, metrics=_METRICS, lessons=TEXT),
    "METRICS": _METRICS,
    "ASPECTS": record((), **{aspect: choice(*words) for aspect, words in ASPECTS.items()}),
}
_BUDGET = 3000  # tokens of an answer of memory_recall, as seed 003 has it
# Names of types in other systems.
_OTHER_TYPES = {
    "decision": "decision",
    "preference": "preference",
    "fact": "fact",
    "action": "plan",
    "pattern": "insight",
}


def load_tools(name: str) -> dict[str, Tool]:
    """Returns the tools of a table by name, in its order."""
    found: dict[str, Tool] = {}
    family = ""
    for line in Path(__file__).with_name(name).read_text("utf-8").split("\n"):
        if line.startswith("["):
            family = line.strip("[]")
        elif line.startswith(" "):
            last, tool = found.popitem()
            found[last] = tool._replace(params=(*tool.params, *_read_params(line)))
        elif line:
            tool = _read_head(line, family)
            found[tool.name] = tool
    return found


def _read_head(line: str, family: str) -> Tool:
    head, _, about = line.partition(" : ")
    head, _, named = head.partition(" / ")
    name, effect, *command = head.split()
    functions = {key: _FUNCTIONS[function] for key, function in (pair.split("=") for pair in named.split())}
    return Tool(name, family, tuple(command), EFFECTS[effect], (), about, **functions)


def _read_params(line: str) -> list[Param]:
    """Returns the parameters of a line, which are all of the same form."""
    head, _, about = line.partition(" : ")
    *names, last = head.strip().split(", ")
    name, *marks = last.split()
    return [_read_param(each, marks, about) for each in (*names, name)]


def _read_param(name: str, marks: list[str], about: str) -> Param:
    param = Param(name, "--" + name.replace("_", "-"), about)
    for mark in marks:
        key, _, value = mark.partition("=")
        if mark == "word":
            param = param._replace(option="")
        elif mark.startswith("--"):
            param = param._replace(option=mark)
        elif mark in ("required", "optional"):
            param = param._replace(required=mark == "required")
        elif mark == "fed":
            param = param._replace(is_fed=True)
        elif key == "blank":
            param = param._replace(blank=value)
        elif key in ("words", "unless", "either"):
            param = param._replace(words=_read_words(key, value))
        else:
            param = param._replace(schema=_read_schema(mark))
    return param


def _read_words(key: str, value: str) -> Words:
    if key == "words":
        words: Words = _FUNCTIONS[value]
        return words
    return unless(value) if key == "unless" else either(*value.split("|"))


def _read_schema(mark: str) -> Schema:
    """Returns a schema of this module, the least number (>=1), one of some words, or in brackets several of them."""
    if mark in _SCHEMAS:
        return _SCHEMAS[mark]
    if mark.startswith(">="):
        return {"minimum": int(mark[2:])}
    words = [word for part in mark.strip("[]").split("|") for word in _VOCABULARY.get(part, (part,))]
    return choices(*words) if mark.startswith("[") else choice(*words)


def _read_line_numbers(arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns a file and its lines as the one word that read takes."""
    first, last = (arguments.pop(name, None) for name in ("line_start", "line_end"))
    if first or last:
        arguments["file_path"] += f":{int(first or 1)}-{int(last) if last else ''}"
    return arguments


def _read_line_count(arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns a file, its first line and the number of lines as the one word that read takes."""
    first = int(arguments.pop("from", None) or 1)
    count = int(arguments.pop("lines", None) or 0)
    if first > 1 or count:
        arguments["path"] += f":{first}-{first + count - 1 if count else ''}"
    return arguments


_READ_PATH = Tool("memory_get", "memory", ("read",), EFFECTS["reads"], (Param("path"),), recast=_read_line_count)


def _find_path(arguments: dict[str, Any]) -> Tool | None:
    """Returns the tool that reads a file, for a call that names a path in place of an id; UsageFault where it names neither."""
    if "path" not in arguments and "id" not in arguments:
        raise UsageFault("neither id nor path given", "give an id, or the path of a memory file")
    return _READ_PATH if "path" in arguments else None


def _as_entries(data: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns the results of recall in the shape of seed 003; further fields follow if they are not empty."""
    budget = int(arguments.get("token_budget") or _BUDGET)
    extra = ["trust", "author", "session", "archived", "was", "superseded_by"]
    extra += ["context"] if arguments.get("include_context") or arguments.get("format") == "detailed" else []
    entries = [
        {
            "id": found["ref"],
            "category": found.get("type", found["kind"]),
            "content": found["content"],
            "priority": priority_of(found.get("importance", 0.5)),
            "score": found["score"],
            "stored_at": found.get("created_at", ""),
            "tags": found.get("tags", []),
        }
        | {name: found[name] for name in extra if found.get(name) and found[name] != "agent"}
        for found in data["results"]
    ]
    return {
        "entries": entries,
        "token_count": data["token_count"],
        "budget_remaining": max(0, budget - data["token_count"]),
        "total_entries_matched": data["candidates"],
    }


def _classify(found: dict[str, str]) -> list[str]:
    return [f"--classify={','.join(f'{aspect}={word}' for aspect, word in found.items())}"] if found else []


# Functions that tables name: they rewrite arguments, shape answers, or turn a value into words.
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "line_numbers": _read_line_numbers,
    "path": _find_path,
    "entries": _as_entries,
    "data": lambda data, arguments: data,
    "with_category": lambda data, arguments: data | {"category": data["type"]},
    "with_budget": lambda arguments: arguments | {"token_budget": arguments.get("token_budget") or _BUDGET},
    "situation": lambda case: {"situation": case},
    "type": lambda category: [f"--type={_OTHER_TYPES[category]}"],
    "detailed": lambda value: ["--format=detailed"] if value else [],
    "days": lambda days: [f"--since={int(days)}d"],
    "tags": lambda tags: [f"--tag={tag}" for tag in tags or [""]],
    "metrics": lambda found: [f"--metric={name}={number}" for name, number in found.items()],
    "methods": lambda names: [f"--methods={','.join(names)}"],
    "nothing": lambda value: (),
    "classify": _classify,
}
