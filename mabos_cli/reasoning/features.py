"""Values of features as solvers compare them: numbers, or words."""

import math
from collections.abc import Mapping
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.language.values import find_value
from mabos_cli.reasoning.input_checks import LARGEST
from mabos_cli.reasoning.shape import TRUTHS

Feature = float | str
_UNKNOWN = ("", "?", "unknown")


def parse_feature(value: Any, where: str) -> Feature | None:
    """The value as a number or a word; None for what is not known. yes, true and y are one word, and so are no, false and n.

    >>> parse_feature("12 %", "share"), parse_feature(True, "paid"), parse_feature(" red ", "colour"), parse_feature("?", "age")
    (0.12, 'yes', 'red', None)
    """
    if value is None:
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _number(value, where)
    if not isinstance(value, str):
        raise BadValue(f"{where}: must be a number or a word", "give one value")
    said = value.strip()
    if said.lower() in _UNKNOWN:
        return None
    known = find_value(said)
    if known and known.kind in ("number", "money"):
        return _number(known.amount, where)
    if known and known.kind == "percent":
        return _number(known.amount / 100, where)
    return ("yes" if TRUTHS[said.lower()] else "no") if said.lower() in TRUTHS else said


def _number(value: float, where: str) -> float:
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise BadValue(f"{where}: must be a number of at most {LARGEST:g}", "use a larger unit")
    return value


def parse_features(values: Mapping[str, Any], where: str) -> dict[str, Feature]:
    """The features that are known, by name."""
    found = {name: parse_feature(value, f"{where}.{name}") for name, value in values.items()}
    return {name: value for name, value in found.items() if value is not None}


def feature_text(value: Feature) -> str:
    """A value in a text."""
    return value if isinstance(value, str) else f"{value:g}"
