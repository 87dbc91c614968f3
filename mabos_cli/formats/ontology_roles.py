"""What ontologies say about predicates: which of them have one value at a time."""

from typing import Any

from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json_text import parse_json

_FUNCTIONAL = (
    "FunctionalProperty",
    "owl:FunctionalProperty",
    "http://www.w3.org/2002/07/owl#FunctionalProperty",
)


def read_functional(data: bytes, path: str) -> set[str]:
    """The names of the functional properties in a JSON-LD document: their labels and the last parts of their IRIs."""
    document = parse_json(data, path)
    if not isinstance(document, dict | list):
        raise InvalidFile(
            f"{path}:1: an ontology must be an object", "repair the file or restore it from git"
        )
    return {name for node in _nodes(document) if _is_functional(node) for name in _names(node)}


def _nodes(value: Any) -> list[dict[str, Any]]:
    """All objects of a document, however deep."""
    found, waiting = [], [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            found.append(each)
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return found


def _is_functional(node: dict[str, Any]) -> bool:
    types = node.get("@type")
    types = types if isinstance(types, list) else [types]
    return any(name in types for name in _FUNCTIONAL) or node.get("functional") is True


def _names(node: dict[str, Any]) -> set[str]:
    own = str(node.get("@id", ""))
    label = node.get("rdfs:label", node.get("label", ""))
    label = label.get("@value", "") if isinstance(label, dict) else label
    short = own.replace("#", "/").rstrip("/").rpartition("/")[2].rpartition(":")[2]
    return {name for name in (short, label) if isinstance(name, str) and name}
