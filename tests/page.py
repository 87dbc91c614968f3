"""A page of HTML as tests look at it: strictly nested, with all that it holds in order."""

from html.parser import HTMLParser
from itertools import pairwise
from typing import NamedTuple

VOID = {"meta", "br"}


class Tag(NamedTuple):
    """An element: its name, its attributes, and those that it stands in, outermost first."""

    name: str
    attributes: dict[str, str | None]
    within: tuple[str, ...]


class Page(HTMLParser):
    """Parses a page, and fails where an element is closed that is not open, or stays open."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[Tag] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, f"left open: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len({*names}), f"<{tag}> says something twice"
        self.tags.append(Tag(tag, dict(attrs), tuple(self._open)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in self._open, f"<{tag}/> closes itself outside of SVG"
        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open[-1] == tag, f"</{tag}> closes {self._open}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append((self._open[-1] if self._open else "", data))

    @property
    def text(self) -> str:
        """All that a reader sees or hears, without the style."""
        return " ".join(" ".join(data for name, data in self.texts if name != "style").split())

    @property
    def shape(self) -> list[str]:
        """The elements in order, without what they say."""
        return [tag.name for tag in self.tags]

    def values(self, name: str) -> list[str]:
        """The values of an attribute, in order."""
        return [tag.attributes[name] or "" for tag in self.tags if name in tag.attributes]


def check_page(text: str) -> Page:
    """A page that needs nothing from anywhere, runs nothing, and that a screen reader can find its way through."""
    page = Page(text)
    names = {tag.name for tag in page.tags}
    assert not names & {
        "script",
        "iframe",
        "object",
        "embed",
        "link",
        "img",
        "image",
        "form",
        "base",
        "use",
        "foreignobject",
    }
    attributes = {name for tag in page.tags for name in tag.attributes}
    assert not {
        name for name in attributes if name.startswith("on") or name in ("src", "srcset", "style", "xlink:href")
    }
    ids = page.values("id")
    assert len(ids) == len({*ids})
    assert {*page.values("href")} <= {f"#{name}" for name in ids}
    style = "".join(data for name, data in page.texts if name == "style")
    assert "url(" not in style and "@import" not in style and "<" not in style
    assert {*page.values("marker-end")} <= {"url(#tip)"}
    policy = next(t.attributes["content"] for t in page.tags if t.attributes.get("http-equiv"))
    assert policy and policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    levels = [int(name[1]) for name in page.shape if name in ("h1", "h2", "h3")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for tag in page.tags:
        if tag.name == "svg":
            told = tag.attributes
            assert told.get("aria-hidden") == "true" or (
                told.get("role") in ("img", "group") and told.get("aria-label")
            )
        if tag.name == "th":
            assert tag.attributes.get("scope") in ("col", "row")
    return page
