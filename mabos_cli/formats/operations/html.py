"""HTML from values: text is escaped unless an element made it, so that content cannot become markup by being forgotten."""

from collections.abc import Iterable
from html import escape

_VOID = frozenset(("meta", "rect", "line", "path", "br"))


class Html(str):
    """Markup that is ready; all other text is escaped when it is put into an element."""

    __slots__ = ()


Part = str | int | float | None | Iterable["Part"]


def element(name: str, /, *parts: Part, **attributes: str | int | float | bool | None) -> Html:
    """An element around its parts. Of an attribute's name the last underscore is dropped and others are dashes; None and
    False leave it out.

    >>> element("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    told = "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    if name in _VOID and not parts:
        return Html(f"<{name}{told}>" if name in ("meta", "br") else f"<{name}{told}/>")
    return Html(f"<{name}{told}>{join(parts)}</{name}>")


def join(parts: Iterable[Part]) -> Html:
    """Parts one after the other, escaped where they are text."""
    return Html("".join(map(_part, parts)))


def _part(part: Part) -> str:
    if isinstance(part, Html):
        return part
    if isinstance(part, str):
        return escape(part)
    if part is None:
        return ""
    return str(part) if isinstance(part, int | float) else join(part)


def _attribute(key: str, value: str | int | float | bool) -> str:
    name = key.removesuffix("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
