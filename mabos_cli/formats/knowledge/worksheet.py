"""The input of a method as a form: worksheets in Markdown, to be filled in and fed back, and JSON Schema for tools."""

import re
from typing import Any, NamedTuple

from mabos_cli.core.language.text import one_line
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import dump_line
from mabos_cli.formats.knowledge.reason_input import Source, parse_source
from mabos_cli.reasoning.catalog import METHODS, Method
from mabos_cli.reasoning.shape import TRUTHS, Shape, Worksheet

_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*(yaml|yml|json)\b.*", re.IGNORECASE)
_HEADING = "# Worksheet: "
# Names at the top of an input that say what it is for; all others are fields of the method.
_TOP = ("method", "problem", "methods")
_WIDTH = 34
_HUGE = 1e6  # a bound this far out only keeps sums finite: nobody needs to be told
_HOW = """Fill in the values. NAME stands for a name of yours; repeat it, and `-`, as often as needed. Take the `# ` away from optional
fields that you need, and delete fields that you do not use. A text goes in quotes if `: ` or ` #` is in it, or if it begins
with a sign such as [ ! ? or *. Then feed the sheet back: `mabos reason --input FILE`

"""


class Inputs(NamedTuple):
    """Input for reasoning: the problem if it is named, and input by method; under an empty name what says
    not which method it is for."""

    problem: str
    by_method: dict[str, Source]


def render_worksheet(method: Method, worksheet: Worksheet, problem: str) -> str:
    """Returns the worksheet of a method: questions, and the input as YAML with the meaning of each field beside it."""
    asked = "".join(f"- {question}\n" for question in worksheet.questions)
    fields = "".join(f"{line}\n" for line in _record_lines(worksheet.shape, 0))
    needed = f"{worksheet.shape.about}\n" if worksheet.shape.about else ""
    return (
        f"{_HEADING}{method.name}\n\nProblem: {one_line(problem, 500) or '(not given)'}\n\n{method.about}\n"
        f"Computed: false. Nothing is concluded until the input below is filled in.\n\n"
        f"## Questions\n\n{asked}\n## Input\n\n{needed}{_HOW}"
        f"```yaml\nmethod: {method.name}\nproblem: {dump_line(problem)}\n{fields}```\n"
    )


def _record_lines(shape: Shape, depth: int) -> list[str]:
    """Returns the fields with what belongs below each; one that may be left out is a comment."""
    found, indent = [], "  " * depth
    for name, each in shape.fields:
        lines = [_line(f"{indent}{name}:", _describe(each) + _default(each)), *_below(each, depth + 1)]
        is_shown = not each.is_optional or each.is_usual
        found += lines if is_shown else [f"{indent}# {line.removeprefix(indent)}" for line in lines]
    return found


def _below(shape: Shape, depth: int) -> list[str]:
    """Returns what stands below the name of a field: an example element of a list or map, or the fields."""
    indent = "  " * depth
    if shape.kind == "record":
        return _record_lines(shape, depth)
    if shape.each is None:
        return []
    inner = _below(shape.each, depth + 1)
    if shape.kind == "map":
        return [_line(f"{indent}NAME:", _describe(shape.each)), *inner]
    if not inner:
        return [_line(f"{indent}-", _describe(shape.each))]
    if shape.each.kind != "record" or inner[0].lstrip().startswith("#"):
        return [f"{indent}-", *inner]
    return [f"{indent}- {inner[0].lstrip()}", *inner[1:]]


def _line(head: str, note: str) -> str:
    return f"{head:<{_WIDTH}}  # {note}" if note else head


def _describe(shape: Shape) -> str:
    """Returns what a value must be, in a few words."""
    kinds = {"list": "a list", "map": "names with values", "truth": "yes or no", "fact": "subject predicate object"}
    kinds |= {"pattern": "subject predicate object, ?x for anything", "rule": "if ... then ..."}
    if shape.kind == "number":
        bounds = (("from", shape.low), ("to", shape.high))
        spanned = [f" {word} {bound:g}" for word, bound in bounds if bound is not None and abs(bound) < _HUGE]
        kind = ("a whole number" if shape.is_whole else "a number") + "".join(spanned)
    elif shape.choices:
        kind = f"{', '.join(shape.choices[:-1])} or {shape.choices[-1]}"
    else:
        kind = kinds.get(shape.kind, "")
    about = shape.about[:1].upper() + shape.about[1:] if not kind else shape.about
    return "; ".join(part for part in (kind, about) if part)


def _default(shape: Shape) -> str:
    if not shape.is_optional or shape.is_usual:
        return ""
    value = shape.default if not isinstance(shape.default, bool) else "yes" if shape.default else "no"
    return f" (optional, else {value})" if isinstance(value, str | int | float) and value != "" else " (optional)"


def parse_inputs(text: str, path: str) -> Inputs:
    """Returns the input in a filled-in worksheet or several, or in YAML or JSON. A file may have input for several
    methods."""
    text = text.replace("\r\n", "\n")
    sources = _blocks(text, path)
    if sources is None:
        sources = [parse_source(text, path)]
    problem, by_method = "", {}
    for source in sources:
        if source.value is None:
            source = source._replace(value={})
        if not isinstance(source.value, dict):
            hint = "see mabos reason show METHOD"
            raise InvalidFile(f"{path}:{source.line_of('')}: input must be names with values", hint)
        asked = source.value.get("problem")
        if isinstance(asked, list | dict):
            raise InvalidFile(f"{path}:{source.line_of('problem')}: problem: must be text", "say it in words")
        problem = problem or str("" if asked is None else asked).strip()
        for name, part in _split(source):
            if name in by_method:
                where = f"{path}:{source.line_of('method')}"
                raise InvalidFile(f"{where}: input for {name or 'one method'} occurs twice", "keep one of them")
            by_method[name] = part
    return Inputs(problem, by_method)


def _split(source: Source) -> list[tuple[str, Source]]:
    """Returns the input by method: one method's, or of each method that is named at the top."""
    named = [name for name in source.value if name in METHODS and isinstance(source.value[name], dict | None)]
    method = source.value.get("method")
    rest = source.without(*_TOP)
    if method is None and named and set(named) == set(rest.value):
        parts = [(name, source.part(name)) for name in named]
        return [(name, part._replace(value=part.value or {})) for name, part in parts]
    if method is not None and not (isinstance(method, str) and method in METHODS):
        where = f"{source.path}:{source.line_of('method')}"
        raise InvalidFile(f"{where}: unknown method {str(method)[:40]!r}", "see mabos reason list")
    return [(str(method or ""), rest)]


def _blocks(text: str, path: str) -> list[Source] | None:
    """Returns the input in the fenced blocks of a Markdown text; None when it has none."""
    found, lines = [], text.split("\n")
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if not opening:
            at += 1
            continue
        end = next((n for n in range(at + 1, len(lines)) if lines[n].rstrip() == opening[1]), len(lines))
        found.append(parse_source("\n".join(lines[at + 1 : end]) + "\n", path, at + 2))
        at = end + 1
    if not found and text.lstrip().startswith(_HEADING):
        raise InvalidFile(f"{path}:1: the worksheet has no block of input", "keep the lines between ```yaml and ```")
    return found or None


def to_json_schema(shape: Shape, title: str) -> dict[str, Any]:
    """Returns the JSON Schema of a method's input."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title} | _schema(shape)


def _schema(shape: Shape) -> dict[str, Any]:
    found = _kind_schema(shape)
    if shape.about:
        found["description"] = shape.about
    if shape.is_optional and shape.default is not None:
        found["default"] = list(shape.default) if isinstance(shape.default, tuple) else shape.default
    return found


def _kind_schema(shape: Shape) -> dict[str, Any]:
    """Returns the schema of a value of one kind, without its description."""
    if shape.kind == "record":
        fields = {name: _schema(each) for name, each in shape.fields}
        needed = [name for name, each in shape.fields if not each.is_optional]
        # A field that may be left out may be empty too.
        fields = {n: each if n in needed else {"anyOf": [each, {"type": "null"}]} for n, each in fields.items()}
        return {"type": "object", "properties": fields, "required": needed, "additionalProperties": False}
    if shape.kind == "text":
        return {"enum": list(shape.choices)} if shape.choices else {"type": ["string", "number", "boolean"]}
    if shape.kind == "number":
        bounds = {"minimum": shape.low, "maximum": shape.high}
        kept = {name: bound for name, bound in bounds.items() if bound is not None}
        # A text may stand for a number too (12 %, $5k), which a schema cannot check.
        return {"anyOf": [{"type": "integer" if shape.is_whole else "number"} | kept, {"type": "string"}]}
    if shape.kind == "list":
        most = {"maxItems": shape.most} if shape.most else {}
        return {"type": "array", "items": _schema(shape.element), "minItems": shape.least} | most
    if shape.kind == "map":
        most = {"maxProperties": shape.most} if shape.most else {}
        return {"type": "object", "additionalProperties": _schema(shape.element), "minProperties": shape.least} | most
    if shape.kind == "truth":
        return {"anyOf": [{"type": "boolean"}, {"enum": [*TRUTHS]}]}
    return {} if shape.kind == "any" else {"anyOf": [{"type": "string"}, {"type": "object"}]}
