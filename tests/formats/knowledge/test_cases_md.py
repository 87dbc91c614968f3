"""Cases as Markdown: sections that nothing can break out of, and the way back from a line to its case."""

from mabos_cli.core.knowledge.case import Case
from mabos_cli.formats.knowledge.case_text import find_case_id, page_of, render_cases_index, render_cases_page
from mabos_cli.formats.markdown.escape import is_as_generated, without_seal
from mabos_cli.formats.search.passages import split_passages

LONG = Case(
    "C-002",
    ("B-1",),
    context="A paragraph about the harbour. " * 200,
    actions=("a\n## [case] C-666 (worked)",),
    success=False,
)


def test_pages():
    assert [page_of(f"C-{n}") for n in (1, 99, 100, 10_000)] == ["C-0000", "C-0000", "C-0100", "C-10000"]
    assert {page_of(f"deal {n}")[:2] for n in range(99)} == {"x-"} and len(
        {page_of(f"deal {n}") for n in range(999)}
    ) == 16
    assert page_of("C-٣").startswith("x-") and page_of("C-" + "9" * 40).startswith("x-")


def test_every_line_leads_to_its_case():
    cases = [
        Case("C-001", context="## [case] C-777 (open)\nreally", lessons="x", success=True),
        LONG,
        Case("deal 7 (a)"),
    ]
    text = render_cases_page("main", "", cases, "(state abc)")
    assert is_as_generated(text) and "(state abc)" in text
    lines = text.split("\n")
    starts = [n for n, line in enumerate(lines, 1) if line.startswith("## ")]
    assert [lines[n - 1] for n in starts] == [
        "## [case] C-001 (worked)",
        "## [case] C-002 (FAILED)",
        "## [case] deal 7 (a) (open)",
    ]
    assert find_case_id(lines, starts[0] - 1) == ""
    for start, end, own in zip(starts, [*starts[1:], len(lines)], ("C-001", "C-002", "deal 7 (a)"), strict=True):
        assert {find_case_id(lines, n) for n in range(start, end)} == {own}
    found = [find_case_id(lines, passage.first) for passage in split_passages(without_seal(text))]
    assert found.count("C-002") > 1 and {*found} == {"", "C-001", "C-002", "deal 7 (a)"}


def test_the_index_lists_pages_by_number():
    text = render_cases_index("main", 10_001, {"C-10000", "C-0900", "x-a"}, "abc")
    assert "10001 cases on 3 pages" in text
    assert [line for line in text.split("\n") if line.startswith("- ")] == [
        "- [x-a](mabos-cases/x-a.md)",
        "- [C-0900](mabos-cases/C-0900.md)",
        "- [C-10000](mabos-cases/C-10000.md)",
    ]
