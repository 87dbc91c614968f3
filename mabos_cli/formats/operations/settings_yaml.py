"""mabos.yaml: nested sections of scalars, read with line numbers. Strings are only what YAML calls strings."""

from typing import Any

from mabos_cli.errors import InvalidFile

_MOST_LISTS = 1000


def parse_settings(text: str, path: str) -> dict[str, tuple[Any, int]]:
    """Parses dotted names with values and lines; InvalidFile cites what is not section: {name: value}."""
    import yaml

    if text.count("[") > _MOST_LISTS:  # PyYAML takes minutes for them, and settings hold no lists
        raise InvalidFile(f"{path}:1: not valid YAML: nested too deeply", "see mabos config")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).split("\n")[0]
        raise InvalidFile(
            f"{path}:{mark.line + 1 if mark else 1}: not valid YAML: {problem}", "see mabos config"
        ) from None
    found: dict[str, tuple[Any, int]] = {}
    if root is not None:
        _walk(root, "", path, found)
    return found


def _walk(node: Any, prefix: str, path: str, found: dict[str, tuple[Any, int]]) -> None:
    import yaml

    line = node.start_mark.line + 1
    if not isinstance(node, yaml.MappingNode):
        raise InvalidFile(f"{path}:{line}: expected `name: value`", "settings are sections of names and values")
    for key, value in node.value:
        name = f"{prefix}{getattr(key, 'value', '?')}"
        here = key.start_mark.line + 1
        if name in found:
            raise InvalidFile(f"{path}:{here}: {name} is set twice", "keep one of them")
        if isinstance(value, yaml.MappingNode) and not prefix:
            _walk(value, f"{name}.", path, found)
        elif isinstance(value, yaml.ScalarNode):
            if value.tag != "tag:yaml.org,2002:null":
                found[name] = (_scalar(value), here)
        else:
            raise InvalidFile(f"{path}:{here}: {name} must be a single value", "see mabos config")


def _scalar(node: Any) -> Any:
    """Numbers as numbers, all else as the text that stands there: `no` stays no, 12:30 stays 12:30."""
    if node.tag in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float"):
        try:
            return (
                float(node.value)
                if "." in node.value or "e" in node.value.lower()
                else int(node.value.replace("_", ""))
            )
        except ValueError:
            return node.value
    return node.value
