"""Shapes of structured input: what a method needs, in one description that checks values, fills in defaults and becomes a JSON
Schema or a worksheet."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.values import find_value
from mabos_cli.reasoning.answer import suggest_name
from mabos_cli.reasoning.catalog import METHODS

Parsers = Mapping[str, Callable[[Any], Any]]
TRUTHS = {"yes": True, "no": False, "true": True, "false": False, "y": True, "n": False}
# Texts that stand for values of the knowledge base; the caller gives a parser for each.
PARSED = ("fact", "rule", "pattern")
_HEAD = re.compile(r"(?:(optional|usual) )?(@?[\w.-]+)(?: ([^\s=|]\S*))?(?: = (\S+))?(?: \| (.*))?")


class Shape(NamedTuple):
    """A description of one value. `about` says what it means, to the person who fills it in."""

    kind: str  # text, number, truth, list, map, record, fact, rule, pattern, any
    about: str = ""
    choices: tuple[str, ...] = ()  # of a text
    low: float | None = None  # of a number
    high: float | None = None
    is_whole: bool = False
    each: "Shape | None" = None  # of the elements of a list or the values of a map
    least: int = 0  # how many elements a list or map must have
    most: int | None = None  # how many it may have
    fields: tuple[tuple[str, "Shape"], ...] = ()  # of a record
    is_optional: bool = False
    is_usual: bool = False  # may be left out, and yet most people give it: worksheets show it as a field to fill in
    default: Any = None

    def field(self, name: str) -> "Shape":
        """Returns the shape of a field of a record."""
        return dict(self.fields)[name]

    @property
    def element(self) -> "Shape":
        """Returns the shape of each element of a list or value of a map."""
        assert self.each is not None
        return self.each


class Worksheet(NamedTuple):
    """Holds what a method asks for: questions to think about, and the shape of its input."""

    questions: tuple[str, ...]
    shape: Shape


@cache
def find_worksheet(method: str) -> Worksheet:
    """Returns the worksheet of a method, from the file of its category in worksheets/."""
    raw = _read_worksheets(METHODS[method].category)[method]
    return Worksheet(tuple(raw["questions"]), parse_shape([f"record | {raw.get('about', '')}", raw["input"]]))


@cache
def find_part(method: str, name: str) -> Shape:
    """Returns the shape of something that the input of a method holds in several forms, from the same file."""
    return parse_shape(_read_worksheets(METHODS[method].category)[method][name])


@cache
def _read_worksheets(category: str) -> Any:
    return json.loads(Path(__file__).with_name("worksheets").joinpath(f"{category}.json").read_text("utf-8"))


def parse_shape(raw: str | Sequence[Any]) -> Shape:
    """Returns the shape in a notation: `KIND | what it means`, followed by the shape of each element of a list or map, or by the
    fields of a record. Before the kind may stand `optional` or `usual`; after it the bounds of a number, the choices of a text or how
    many elements there must be (`2+`, `2..200`), and `= VALUE` when it is left out. `@METHOD.FIELD` is the shape of that field.

    >>> parse_shape("optional number 0..100 = 5 | a share").default, parse_shape(["list 2+ | all", "text yes/no"]).element.choices
    (5, ('yes', 'no'))
    """
    notation: list[Any] = [raw] if isinstance(raw, str) else [*raw]
    head, *below = notation
    match = _HEAD.fullmatch(head)
    assert match, head
    use, kind, detail, default, about = match.groups("")
    if kind[0] == "@":
        method, _, field = kind[1:].partition(".")
        shape = find_worksheet(method).shape.field(field)
        shape = shape._replace(about=about or shape.about, least=int(detail[:-1]) if detail else shape.least)
    elif kind == "record":
        shape = Shape(kind, about, fields=tuple((name, parse_shape(one)) for name, one in below[0].items()))
    elif kind in ("list", "map"):
        each = parse_shape(below[0] if len(below) == 1 else below)
        least, _, most = detail.rstrip("+").partition("..")
        shape = Shape(kind, about, each=each, least=int(least or 1), most=int(most) if most else None)
    elif kind in ("number", "whole", "probability"):
        ends = "0..1" if kind == "probability" else detail or ".."
        read = (lambda end: int(float(end))) if kind == "whole" else json.loads
        low, high = (read(end) if end else None for end in ends.split(".."))
        shape = Shape("number", about, low=low, high=high, is_whole=kind == "whole")
    else:
        shape = Shape(kind, about, tuple(detail.split("/")) if detail else ())
    read_default = {"text": lambda word: "" if word == "''" else word, "truth": TRUTHS.__getitem__}
    value = read_default.get(shape.kind, json.loads)(default) if default else None
    return shape._replace(is_optional=bool(use), is_usual=use == "usual", default=value)


def read_number(value: Any, path: str, low: float, high: float, about: str = "") -> float:
    """Returns a number within bounds, both included. Texts such as 12 %, $5k and 1e6 are numbers too."""
    return _check_number(Shape("number", about, low=low, high=high), value, {}, path)


def read_share(value: Any, path: str, about: str = "") -> float:
    """Returns a number from 0 to 1."""
    return read_number(value, path, 0, 1, about)


def read_text(value: Any, path: str, about: str = "") -> str:
    """Returns a text; numbers and truth values are texts too."""
    return _check_text(Shape("text", about), value, {}, path)


def conform(shape: Shape, value: Any, parsers: Parsers, path: str = "") -> Any:
    """Returns the value with defaults filled in and numbers as numbers; BadValue names the wrong place and what belongs
    there.

    >>> conform(parse_shape(["record", {"p": "probability", "n": "optional whole = 10"}]), {"p": "30%"}, {})
    {'p': 0.3, 'n': 10}
    """
    if shape.kind == "any" and value is None:
        raise _fail(path, "is not filled in", shape)
    if shape.kind not in PARSED:
        return value if shape.kind == "any" else _CHECKS[shape.kind](shape, value, parsers, path)
    try:
        return parsers[shape.kind](value)
    except BadValue as error:
        raise BadValue(f"{path}: {error.message}", error.hint) from None


def _fail(path: str, wrong: str, shape: Shape) -> BadValue:
    return BadValue(f"{path or 'input'}: {wrong}", f"needed: {shape.about}" if shape.about else "")


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return repr(value[:40])
    named = {bool: "yes or no", int: str(value)[:40], float: str(value), list: "a list", dict: "a map"}
    return "nothing" if value is None else named.get(type(value), repr(value)[:40])


def _check_text(shape: Shape, value: Any, parsers: Parsers, path: str) -> str:
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(value, int | float):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise _fail(path, f"must be text, not {_shown(value)}", shape)
    word = value.strip()
    if shape.choices and word not in shape.choices:
        raise _fail(path, f"must be one of {', '.join(shape.choices)}, not {_shown(word)}", shape)
    return word


def _check_number(shape: Shape, value: Any, parsers: Parsers, path: str) -> float:
    found = find_number(value)
    if found is None or not math.isfinite(found):
        raise _fail(path, f"must be a number, not {_shown(value)}", shape)
    if shape.is_whole and found != int(found):
        raise _fail(path, f"must be a whole number, not {value}", shape)
    if (shape.low is not None and found < shape.low) or (shape.high is not None and found > shape.high):
        raise _fail(path, f"must be {_bounds(shape)}, not {_shown(value)}", shape)
    return int(found) if shape.is_whole else found


def find_number(value: Any) -> float | None:
    """Returns the number that a value is, or that a text such as 12 % or $5k stands for."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    known = find_value(value) if isinstance(value, str) else None
    if known is None or known.kind in ("time", "clock", "measure"):
        return None
    return known.amount / 100 if known.kind == "percent" else known.amount


def _bounds(shape: Shape) -> str:
    if shape.low is None or shape.high is None:
        return f"at most {shape.high:g}" if shape.low is None else f"at least {shape.low:g}"
    return f"from {shape.low:g} to {shape.high:g}"


def _check_truth(shape: Shape, value: Any, parsers: Parsers, path: str) -> bool:
    found = TRUTHS.get(value.strip().lower()) if isinstance(value, str) else value
    if isinstance(found, bool):
        return found
    raise _fail(path, f"must be yes or no, not {_shown(value)}", shape)


def _check_list(shape: Shape, value: Any, parsers: Parsers, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise _fail(path, f"must be a list, not {_shown(value)}", shape)
    _check_count(shape, value, path)
    return [conform(shape.element, one, parsers, f"{path}[{n}]") for n, one in enumerate(value, 1)]


def _check_map(shape: Shape, value: Any, parsers: Parsers, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _fail(path, f"must be names with values, not {_shown(value)}", shape)
    _check_count(shape, value, path)
    found: dict[str, Any] = {}
    for key, one in value.items():
        name = _check_text(Shape("text"), key, parsers, f"{path}: a name")
        if name in found:
            raise _fail(path, f"{name!r} occurs twice", shape)
        found[name] = conform(shape.element, one, parsers, f"{path}.{name}" if path else name)
    return found


def _check_count(shape: Shape, value: Any, path: str) -> None:
    if len(value) < shape.least:
        wanted = f"at least {shape.least}" if shape.least > 1 else "something"
        raise _fail(path, f"must hold {wanted}" + (f", not {len(value)}" if value else ", and is empty"), shape)
    if shape.most is not None:
        check_size(path, len(value), shape.most, path.rpartition(".")[2])


def check_size(path: str, found: float, most: int, noun: str, hint: str = "") -> None:
    """Raises BadValue if there is more than an exact method can handle."""
    if found > most:
        raise BadValue(f"{path}: {found:,.0f} {noun} are too many; the limit is {most:,}", hint or "make it smaller")


def _check_record(shape: Shape, value: Any, parsers: Parsers, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _fail(path, f"must be fields with values, not {_shown(value)}", shape)
    known = dict(shape.fields)
    for key in value:
        if key not in known:
            place = f"{path}.{str(key)[:40]}" if path else str(key)[:40]
            raise BadValue(f"{place}: unknown field", suggest_name(str(key), known, f"known: {', '.join(known)}"))
    found = {}
    for name, each in known.items():
        here = f"{path}.{name}" if path else name
        if value.get(name) is not None:
            found[name] = conform(each, value[name], parsers, here)
        elif each.is_optional:
            found[name] = each.default
        else:
            raise _fail(here, "is missing" if name not in value else "is not filled in", each)
    return found


_CHECKS = {
    "text": _check_text,
    "number": _check_number,
    "truth": _check_truth,
    "list": _check_list,
    "map": _check_map,
    "record": _check_record,
}
