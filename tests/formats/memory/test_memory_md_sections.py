import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from formats.samples import HOSTILE, hostile_texts, make_item, plain_texts
from mabos_cli.core.hierarchy.log_event import LogEvent
from mabos_cli.core.hierarchy.log_taking import Candidate
from mabos_cli.core.language.text import fold
from mabos_cli.formats.markdown.scan import find_headings, hidden_lines
from mabos_cli.formats.memory.memory_md import (
    Texts,
    add_consolidated,
    add_to_sections,
    find_block_ids,
    render_log_bullet,
)

quick = settings(deadline=None, derandomize=True)
ID = "M-1700000000001-00aa"
PATH = "memory/2026-02-24.md"
NASTY = (
    "](x)",
    "[a](b) ](x)",
    "[open",
    "![img",
    "`tick",
    "<a href=",
    "back\\",
    "^M-1-aaaa",
    "tail ^log-000000000000",
    "<!-- x",
    "# lead",
    "[[wiki",
    "a ([2026-02-24:7](memory/2026-02-24.md)) ^M-1-aaaa",
    "<http://x",
    "$$ %%",
)
page_lines = st.sampled_from(
    (
        *HOSTILE,
        "## Facts",
        "## Facts ##",
        "  ## fACTS",
        "# Top",
        "### Below",
        "## Other",
        "Title",
        "=====",
        "-----",
        "- a fact",
        "  more of it",
        "````",
        "<!-- ## Facts",
        "x -->",
    )
)
pages = st.lists(page_lines | plain_texts, max_size=12).flatmap(
    lambda lines: st.sampled_from(("\n", "\r\n")).map(lambda end: end.join(lines))
)


def bullet(text, event_id="", **fields):
    event = LogEvent("2026-02-24", 7, text, "decision", id=event_id, **fields)
    return render_log_bullet(Candidate(event, PATH, 0.8, "Facts", ()), PATH)


def add(text, *bullets, title="Facts"):
    return add_to_sections(text, {title: [*bullets]})


def test_bullet_links_to_day_and_line_and_ends_with_its_block_id():
    assert bullet("We ship", ID) == f"- We ship ([2026-02-24:7]({PATH}#^{ID})) ^{ID}"
    plain = bullet("We\n ship")
    assert plain.startswith(f"- We ship ([2026-02-24:7]({PATH})) ^log-")
    assert find_block_ids(plain + "\n") == {plain[-16:]}


def test_long_text_is_cut():
    assert len(bullet("word " * 200)) < 400 and "… ([" in bullet("word " * 200)


@quick
@given(st.lists(st.sampled_from((*NASTY, *HOSTILE)) | plain_texts, min_size=1, max_size=4).map(" ".join))
def test_no_text_breaks_the_link_or_passes_for_structure(text):
    line = bullet(text, ID)
    assert "\n" not in line and find_block_ids(f"{line}\n") == {ID}
    kinds = MarkdownIt().parse(f"{line}\n\n- next\n")
    shown = [token.type for token in kinds if token.type.endswith("_open")]
    assert shown == [
        "bullet_list_open",
        *["list_item_open", "paragraph_open"] * 2,
    ], "one item of a list, and in it a paragraph"
    inline = next(token for token in kinds if token.type == "inline")
    links = [token.attrs["href"] for token in inline.children if token.type == "link_open"]
    assert links[-1] in (f"{PATH}#^{ID}", f"{PATH}#%5E{ID}")
    assert "".join(t.content for t in inline.children).endswith(f"(2026-02-24:7) ^{ID}")


@pytest.mark.parametrize("text", NASTY)
def test_nasty_text_is_known_again(text):
    page = add("# M\n", bullet(text))
    assert fold(text) in Texts(page)


def test_bullet_goes_to_the_end_of_its_section():
    page = "# M\n\n## FACTS\n\n- one\n\n### Old\n\n- two\n\n## Other\n\nwords\n"
    assert add(page, "- new") == page.replace("- two\n", "- two\n- new\n")


def test_missing_sections_come_last_in_order():
    page = add_to_sections("# M\n\n## Mine\n\nwords", {"Facts": ["- a", "- b"], "Decisions": ["- c"]})
    assert page == "# M\n\n## Mine\n\nwords\n\n## Facts\n\n- a\n- b\n\n## Decisions\n\n- c\n"
    assert add(page, "- d").endswith("## Facts\n\n- a\n- b\n- d\n\n## Decisions\n\n- c\n")


@pytest.mark.parametrize(
    ("page", "new"),
    [
        ("## Facts", "## Facts\n\n- new\n"),
        ("## Facts\n## Other\n", "## Facts\n\n- new\n\n## Other\n"),
        ("## Facts\n\nwords\n", "## Facts\n\nwords\n\n- new\n"),
        ("## Facts\n\n- a\n  more\n", "## Facts\n\n- a\n  more\n- new\n"),
        ("## Facts\n\n- a\n\n---\n\n## Other\n", "## Facts\n\n- a\n- new\n\n---\n\n## Other\n"),
        ("Facts\n-----\n\n- a\n", "Facts\n-----\n\n- a\n- new\n"),
        ("## Facts\n\n- a\n\nTitle\n===\n", "## Facts\n\n- a\n- new\n\nTitle\n===\n"),
        ("## Facts\r\n\r\n- a\r\n", "## Facts\r\n\r\n- a\r\n- new\r\n"),
        ("# M\r\n\r\n## Facts\r\n- a", "# M\r\n\r\n## Facts\r\n- a\r\n- new\r\n"),
        ("\ufeff## Facts\n- a\n\n\n", "\ufeff## Facts\n- a\n- new\n\n\n"),
        ("", "## Facts\n\n- new\n"),
    ],
)
def test_bullet_keeps_to_the_form_of_the_file(page, new):
    assert add(page, "- new") == new


@pytest.mark.parametrize("fence", ["```", "~~~~ md", "<!--"])
def test_heading_in_code_or_a_comment_is_no_section(fence):
    close = "-->" if fence == "<!--" else fence.split()[0]
    page = f"# M\n\n{fence}\n## Facts\n{close}\n\nwords\n"
    assert add(page, "- new") == f"{page}\n## Facts\n\n- new\n"
    assert add(f"## Facts\n\n{page[5:]}", "- new") == f"## Facts\n\n{page[5:]}\n- new\n"


def test_fence_that_is_never_closed_hides_nothing():
    assert hidden_lines(["```", "a", "~~~", "b", "~~~", "<!-- c"]) == {2, 3, 4}
    once = add("# M\n\n```\nforgot to close it\n", "- new")
    assert add(once, "- more").count("## Facts") == 1


def test_front_matter_and_lists_above_a_rule_are_no_headings():
    assert find_headings(["---", "title: x", "---", "", "- a", "---", "", "T", "---"])[0].title == "T"
    assert [h.level for h in find_headings("a\n===\nb\n---\n# c\n### d\n    # e\n#f".split("\n"))] == [
        1,
        2,
        1,
    ]


@quick
@given(pages, st.lists(st.sampled_from(("- new 1", "- new 2")), min_size=1, max_size=2, unique=True))
def test_every_line_that_was_there_stays_as_it_was(page, bullets):
    new = add_to_sections(page, {"Facts": bullets, "Other": ["- last"]})
    end = "\r\n" if page.partition("\n")[0].endswith("\r") else "\n"
    old = page if not page or page.endswith("\n") else page + end
    left = iter(new.split("\n"))
    assert all(line in left for line in old.split("\n")[:-1]), "lines in their order"
    added = len(new) - len(old)
    assert added == sum(len(line) + 1 for line in _difference(old.split("\n"), new.split("\n")))
    assert all(f"{line}{end}" in new for line in (*bullets, "- last"))
    again = add_to_sections(new, {"Facts": ["- once more"]})
    assert _sections(again) == _sections(new)


def _difference(old, new):
    """The lines that came in between, by walking both."""
    found, at = [], 0
    for line in new:
        if at < len(old) and line == old[at]:
            at += 1
        else:
            found.append(line)
    return found


def _sections(page):
    return [(h.level, h.title) for h in find_headings(page.split("\n"))]


def test_texts_of_bullets_paragraphs_and_consolidated_memories_are_known():
    group = make_item(1, "[Consolidated from 2 memories] Acme asked\nfor SSO | # Pay", tags=("a", "b"))
    page = add_consolidated("# M\n\nMy own\nwords.\n\n* [x] Decision: Keep Stripe\n", (group,), "2026-02-24")
    told = Texts(page)
    assert all(text in told for text in ("my own words.", "keep stripe", "acme asked for sso", "# pay"))
    assert "acme" not in told and "m" not in told


@quick
@given(hostile_texts)
@example("## Fake heading\n\\[")
def test_text_of_an_item_is_found_in_its_bullet(content):
    page = add_consolidated("# M\n", (make_item(1, content, type="lesson", tags=("x",)),), "2026-02-24")
    if any(c.isalnum() for c in content):
        assert fold(content) in Texts(page)


@pytest.mark.parametrize(
    "text", ["- [\n" * 3000, "```\n" * 3001, "`" * 9000, "~~~\n<!--\n" * 3000, "a\n" * 9000 + "---"]
)
def test_long_pages_take_no_time(text):
    assert add(text, "- new")
    _ = fold(text.split("\n")[0].removeprefix("- ")) in Texts(text)
