"""HTML from values: whatever text goes in comes out as text, in elements and in attributes."""

from hypothesis import given, settings
from page import Page

from formats.samples import any_text
from mabos_cli.formats.operations.report_parts import Html, element, join

quick = settings(deadline=None, derandomize=True)


@quick
@given(any_text, any_text)
def test_text_stays_text(inside: str, told: str) -> None:
    page = Page(element("p", inside, title=told))
    assert page.shape == ["p"]
    assert page.tags[0].attributes == {"title": told}
    assert "".join(data for _, data in page.texts) == inside


def test_elements_within_elements_are_not_escaped_twice() -> None:
    inner = element("b", "a & b")
    assert element("p", inner, " <", 3, None, ["x", inner]) == ("<p><b>a &amp; b</b> &lt;3x<b>a &amp; b</b></p>")
    assert isinstance(join(("<",)), Html) and join(("<",)) == "&lt;"


def test_attributes_and_elements_without_content() -> None:
    assert element("meta", charset="utf-8", http_equiv=None) == '<meta charset="utf-8">'
    assert element("rect", x=1, class_="c1") == '<rect x="1" class="c1"/>'
    assert element("details", open=True, hidden=False) == "<details open></details>"
