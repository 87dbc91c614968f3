"""Shapes of structured input: what a method needs, in one description that checks values, fills in defaults and becomes a JSON
Schema or a worksheet."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.values import find_value
from mabos_cli.reasoning.answer import meant

Parsers = Mapping[str, Callable[[Any], Any]]
TRUTHS = {"yes": True, "no": False, "true": True, "false": False, "y": True, "n": False}
# Texts that stand for values of the knowledge base; the caller gives a parser for each.
PARSED = ("fact", "rule", "pattern")


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


def text(about: str, *choices: str) -> Shape:
    """Returns the shape of a text, one of some choices if there are any."""
    return Shape("text", about, choices)


def number(about: str, low: float | None = None, high: float | None = None) -> Shape:
    """Returns the shape of a number within bounds, both included. Texts such as 12 %, $5k and 1e6 are numbers too."""
    return Shape("number", about, low=low, high=high)


def whole(about: str, low: int | None = None, high: int | None = None) -> Shape:
    """Returns the shape of a whole number within bounds."""
    return Shape("number", about, low=low, high=high, is_whole=True)


def probability(about: str) -> Shape:
    """Returns the shape of a number from 0 to 1."""
    return number(about, 0, 1)


def truth(about: str) -> Shape:
    """Returns the shape of yes or no."""
    return Shape("truth", about)


def list_of(each: Shape, about: str, least: int = 1) -> Shape:
    """Returns the shape of a list with at least `least` elements."""
    return Shape("list", about, each=each, least=least)


def map_of(each: Shape, about: str, least: int = 1) -> Shape:
    """Returns the shape of names with a value each."""
    return Shape("map", about, each=each, least=least)


def record(about: str = "", **fields: Shape) -> Shape:
    """Returns the shape of named fields, each with its own shape."""
    return Shape("record", about, fields=tuple(fields.items()))


def parsed(kind: str, about: str) -> Shape:
    """Returns the shape of a fact, rule or pattern, as text or as values."""
    return Shape(kind, about)


def anything(about: str) -> Shape:
    """Returns the shape of a value that the solver checks itself."""
    return Shape("any", about)


def optional(shape: Shape, default: Any = None) -> Shape:
    """Returns the same shape for a field that may be left out, or left empty."""
    return shape._replace(is_optional=True, default=default)


def usual(shape: Shape, default: Any = None) -> Shape:
    """Returns the same shape for a field of the usual form of input, where a method takes several."""
    return shape._replace(is_optional=True, is_usual=True, default=default)


def conform(shape: Shape, value: Any, parsers: Parsers, path: str = "") -> Any:
    """Returns the value with defaults filled in and numbers as numbers; BadValue names the wrong place and what belongs
    there.

    >>> conform(record(p=probability("chance"), n=optional(whole("draws"), 10)), {"p": "30%"}, {})
    {'p': 0.3, 'n': 10}
    """
    if shape.kind in PARSED:
        return _parse(shape, value, parsers, path)
    return _CHECKS[shape.kind](shape, value, parsers, path)


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
    found = _find_number(value)
    if found is None or not math.isfinite(found):
        raise _fail(path, f"must be a number, not {_shown(value)}", shape)
    if shape.is_whole and found != int(found):
        raise _fail(path, f"must be a whole number, not {value}", shape)
    if (shape.low is not None and found < shape.low) or (shape.high is not None and found > shape.high):
        raise _fail(path, f"must be {_bounds(shape)}, not {_shown(value)}", shape)
    return int(found) if shape.is_whole else found


def _find_number(value: Any) -> float | None:
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
    _check_least(shape, value, path)
    return [conform(shape.element, one, parsers, f"{path}[{n}]") for n, one in enumerate(value, 1)]


def _check_map(shape: Shape, value: Any, parsers: Parsers, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _fail(path, f"must be names with values, not {_shown(value)}", shape)
    _check_least(shape, value, path)
    found: dict[str, Any] = {}
    for key, one in value.items():
        name = _check_text(Shape("text"), key, parsers, f"{path}: a name")
        if name in found:
            raise _fail(path, f"{name!r} is there twice", shape)
        found[name] = conform(shape.element, one, parsers, f"{path}.{name}" if path else name)
    return found


def _check_least(shape: Shape, value: Any, path: str) -> None:
    if len(value) < shape.least:
        wanted = f"at least {shape.least}" if shape.least > 1 else "something"
        raise _fail(path, f"must hold {wanted}" + (f", not {len(value)}" if value else ", and is empty"), shape)


def _check_record(shape: Shape, value: Any, parsers: Parsers, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _fail(path, f"must be fields with values, not {_shown(value)}", shape)
    known = dict(shape.fields)
    for key in value:
        if key not in known:
            place = f"{path}.{str(key)[:40]}" if path else str(key)[:40]
            raise BadValue(f"{place}: unknown field", meant(str(key), known, f"known: {', '.join(known)}"))
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


def _parse(shape: Shape, value: Any, parsers: Parsers, path: str) -> Any:
    try:
        return parsers[shape.kind](value)
    except BadValue as error:
        raise BadValue(f"{path}: {error.message}", error.hint) from None


def _check_any(shape: Shape, value: Any, parsers: Parsers, path: str) -> Any:
    if value is None:
        raise _fail(path, "is not filled in", shape)
    return value


_CHECKS = {
    "text": _check_text,
    "number": _check_number,
    "truth": _check_truth,
    "list": _check_list,
    "map": _check_map,
    "record": _check_record,
    "any": _check_any,
}
