"""What TypeDB answers, as values in JSON. The driver's objects are only asked, not imported."""

import json
import math
from collections.abc import Iterator
from typing import Any


def take_values(answer: Any, room: int | None) -> tuple[list[Any], bool]:
    """The rows or documents of an answer, and whether that is all: with room, no more than fill so many bytes."""
    found: list[Any] = []
    for value in _values(answer):
        if room is not None:
            room -= len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")) + 1
            if room < 0:
                return found, False
        found.append(value)
    return found, True


def _values(answer: Any) -> Iterator[Any]:
    """Rows and documents of an answer as JSON values."""
    if answer.is_concept_documents():
        yield from map(_plain, answer.as_concept_documents())
    elif answer.is_concept_rows():
        for row in answer.as_concept_rows():
            yield {name: _concept(row.get(name)) for name in row.column_names()}


def _concept(concept: Any) -> Any:
    """A value as it is, an attribute by its type and value, everything else by its type and internal id."""
    if concept is None:
        return None
    if concept.is_value():
        return _plain(concept.try_get_value())
    label = concept.try_get_label()
    if concept.is_attribute():
        return {"type": label, "value": _plain(concept.try_get_value())}
    iid = concept.try_get_iid()
    return {"type": label} | ({"iid": iid} if iid else {})


def _plain(value: Any) -> Any:
    """A value in JSON. Moments, decimals and durations are texts."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
