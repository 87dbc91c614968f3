"""Shapes of input as JSON Schema, for tools that check or fill in forms."""

from typing import Any

from mabos_cli.reasoning.shape import TRUTHS, Shape

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN = {"truth": {"anyOf": [{"type": "boolean"}, {"enum": [*TRUTHS]}]}, "any": {}}
_TERMS = ({"type": "string"}, {"type": "array", "items": {"type": ["string", "number"]}, "minItems": 3, "maxItems": 3})


def to_json_schema(shape: Shape, title: str) -> dict[str, Any]:
    """The JSON Schema of a method's input."""
    return {"$schema": _DRAFT, "title": title} | _schema(shape)


def _schema(shape: Shape) -> dict[str, Any]:
    found = _KINDS[shape.kind](shape) if shape.kind in _KINDS else dict(_PLAIN[shape.kind])
    if shape.about:
        found["description"] = shape.about
    if shape.is_optional and shape.default is not None:
        found["default"] = list(shape.default) if isinstance(shape.default, tuple) else shape.default
    return found


def _text(shape: Shape) -> dict[str, Any]:
    return {"enum": list(shape.choices)} if shape.choices else {"type": ["string", "number", "boolean"]}


def _number(shape: Shape) -> dict[str, Any]:
    """A number; a text may stand for one too (12 %, $5k), which a schema cannot check."""
    bounds = {"minimum": shape.low, "maximum": shape.high}
    kept = {name: bound for name, bound in bounds.items() if bound is not None}
    number = {"type": "integer" if shape.is_whole else "number"} | kept
    return {"anyOf": [number, {"type": "string"}]}


def _list(shape: Shape) -> dict[str, Any]:
    return {"type": "array", "items": _schema(shape.each), "minItems": shape.least}  # type: ignore[arg-type]


def _map(shape: Shape) -> dict[str, Any]:
    each = _schema(shape.each)  # type: ignore[arg-type]
    return {"type": "object", "additionalProperties": each, "minProperties": shape.least}


def _record(shape: Shape) -> dict[str, Any]:
    """The fields; one that may be left out may be empty too."""
    fields = {name: _or_empty(each) for name, each in shape.fields}
    needed = [name for name, each in shape.fields if not each.is_optional]
    return {"type": "object", "properties": fields, "required": needed, "additionalProperties": False}


def _or_empty(shape: Shape) -> dict[str, Any]:
    found = _schema(shape)
    return {"anyOf": [found, {"type": "null"}]} if shape.is_optional else found


def _triple(shape: Shape) -> dict[str, Any]:
    return {"anyOf": [*_TERMS, {"type": "object"}]}


_KINDS = {
    "text": _text,
    "number": _number,
    "list": _list,
    "map": _map,
    "record": _record,
    "fact": _triple,
    "rule": _triple,
    "pattern": _triple,
}
