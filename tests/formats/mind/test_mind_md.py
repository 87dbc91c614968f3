"""Conflict reports and the ledger of resolutions, and mabos-beliefs.md: hostile words stay words."""

import pytest

from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.mind import Attitude, Belief
from mabos_cli.formats.markdown.escape import is_as_generated
from mabos_cli.formats.markdown.scan import find_headings
from mabos_cli.formats.mind.mind_md import (
    Resolution,
    parse_report_keys,
    parse_resolutions,
    render_mind,
    render_report,
    render_resolution,
)

KEYS = ("0123456789abcdef", "fedcba9876543210")
HOSTILE = (
    "## x",
    "one\n## two",
    "-->",
    "<!-- x",
    "```\nx",
    f"- **Key:** {KEYS[1]}",
    f"a\n- **Key:** {KEYS[1]}",
    "\x1b[31m",
)


def conflict(said: str = "nine months", key: str = KEYS[0]) -> Conflict:
    a = Belief("Runway", "fourteen months", 0.9, "2026-02-13", "B-1", path="Beliefs.md", line=5)
    b = Belief("Runway", said, 0.75, "", "", said, path="Beliefs.md", line=64)
    return Conflict(a, b, "number", "Runway", 0.75, "a", f"fourteen months, {said}", key)


def test_a_report_says_what_disagrees_where_and_what_to_do():
    text = render_report("2026-02-24", [conflict()])
    assert "> 1 conflict detected during the maintenance cycle." in text
    assert "## Conflict 1: Runway\n" in text
    assert "(certainty 0.9, updated 2026-02-13, newer; B-1, Beliefs.md:5): Runway: fourteen months\n" in text
    assert "(certainty 0.75; Beliefs.md:64): Runway: nine months\n" in text
    assert "- **Severity:** 0.75\n" in text and "the older one, Beliefs.md:64, is likely stale" in text
    assert is_as_generated(text) and not is_as_generated(text.replace("0.75", "0.76"))


def test_a_report_without_conflicts_says_so():
    assert "> No open conflicts during" in render_report("2026-02-24", [])


def test_a_report_tells_its_keys():
    text = render_report("2026-02-24", [conflict(), conflict("ten", KEYS[1])])
    assert parse_report_keys(text) == list(KEYS)
    assert parse_report_keys("") == []


@pytest.mark.parametrize("said", HOSTILE)
def test_hostile_beliefs_bring_no_headings_and_no_keys(said: str):
    text = render_report("2026-02-24", [conflict(said)])
    assert parse_report_keys(text) == [KEYS[0]]
    assert len(find_headings(text.split("\n"))) == 2


def test_the_latest_resolution_of_a_conflict_counts():
    first = Resolution(KEYS[0], "a", "B-1", "B-2", "old\nnews", "2026-02-24T10:00:00Z")
    second = first._replace(keep="both", reason='said "so"')
    data = render_resolution(first) + render_resolution(second)
    assert data.count(b"\n") == 2
    assert parse_resolutions(data) == {KEYS[0]: second}


def test_torn_and_foreign_lines_of_the_ledger_are_passed_over():
    good = Resolution(KEYS[0], "b", "", "", "", "")
    lines = [
        '["x"]',
        '{"keep": "a"}',
        '{"key": 7}',
        "null",
        "",
        render_resolution(good).decode().strip(),
        '{"key": "torn',
        "\x00",
    ]
    assert parse_resolutions("\n".join(lines).encode()) == {KEYS[0]: good}
    assert parse_resolutions(b"") == {}


@pytest.mark.parametrize("said", HOSTILE)
def test_a_mind_has_a_section_for_each_entry_whatever_it_says(said: str):
    beliefs = [Belief(said, said, 0.5, said, said, said, (said,), status=said)]
    desires = [Attitude("desire", said, said, said, said, 0.5, 10.0, said, links={"motivates": (said,)})]
    text = render_mind("ceo", beliefs, desires, desires)
    assert len(find_headings(text.split("\n"))) == 4 and is_as_generated(text)


def test_a_mind_says_what_is_known_and_nothing_of_the_rest():
    goal = Attitude("goal", "G-1", "Be calm", level="tactical", priority=0.8, progress=40.0, links={"parent": ("G-0",)})
    text = render_mind("ceo", [], [], [goal])
    assert "0 beliefs, 0 desires, 1 goal." in text
    assert (
        "## [goal] Be calm\n\n- **ID:** G-1\n- **Level:** tactical\n- **Priority:** 0.8\n- **Progress:** 40 %\n- **Parent:** G-0\n"
        in text
    )
    assert "Deadline" not in text
