"""A new entry in a long file: only a part of it is read, and what is written is the same as if all of it was."""

import pytest

from mabos_cli.core.mind.mind import Belief
from mabos_cli.formats.mind import shortened
from mabos_cli.formats.mind.mind_edit import add_entry, belief_draft
from mabos_cli.services.mind.attitudes import find_added

ROWS = "".join(f"| B-{n:04d} | Price of part {n} | {n} EUR | 0.8 | report | 2026-01-02 |\n" for n in range(1, 400))
TABLE = "| ID | Belief | Value | Certainty | Source | Updated |\n|---|---|---|---|---|---|\n" + ROWS
SECTIONS = "".join(f"## Weight of part {n}\n\nCertainty: 0.8\n\nIt weighs {n} kg.\n\n" for n in range(1, 400))
ITEMS = "".join(f"- B-{n:03d}: Part {n} is kept in hall {n % 7} [certainty: 0.8]\n" for n in range(1, 400))
LOG = "## Revision log\n\n| Date | Entry | Change |\n|---|---|---|\n| 2026-01-02 | B-0001 | added |\n"
TEXTS = {
    "a table": f"# Beliefs\n\n## World\n\n{TABLE}",
    "sections": f"# Beliefs\n\n{SECTIONS}",
    "a list": f"# Beliefs\n\n{ITEMS}",
    "a table and sections": f"# Beliefs\n\n## World\n\n{TABLE}\n{SECTIONS}",
    "two groups": f"# Beliefs\n\n## World\n\n{TABLE}\n## Old\n\n{TABLE.replace('B-', 'O-')}",
    "a log": f"# Beliefs\n\n## World\n\n{TABLE}\n{LOG}",
    "sections and a log": f"# Beliefs\n\n{SECTIONS}{LOG}",
    "an id named before": f"# Beliefs\n\nB-0400 went to the archive.\n\n## World\n\n{TABLE}",
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_written_is_as_if_all_was_read(name: str, monkeypatch: pytest.MonkeyPatch):
    draft = belief_draft(Belief("Colour of part 7", "It is red.", 0.8, "2026-02-24"))
    monkeypatch.setattr(shortened, "_LONG", 1 << 30)
    shortened._KNOWN.clear()
    whole = add_entry(TEXTS[name], draft, "2026-02-24")
    place = find_added(whole[0], "belief", whole[1], "Colour of part 7")
    monkeypatch.setattr(shortened, "_LONG", 1000)
    shortened._KNOWN.clear()
    short = shortened.shorten(TEXTS[name])
    assert short and len(short.text) < 6000
    assert add_entry(TEXTS[name], draft, "2026-02-24") == whole
    assert find_added(whole[0], "belief", whole[1], "Colour of part 7") == place
    shortened._KNOWN.clear()


@pytest.mark.parametrize("odd", ["```\n## Not a heading\n```\n", "<!-- aside -->\n", "| a | table |\n|---|---|\n"])
def test_sections_that_hold_more_are_not_cut(odd: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shortened, "_LONG", 1000)
    shortened._KNOWN.clear()
    assert shortened.shorten(f"# Beliefs\n\n{SECTIONS}{odd}{SECTIONS}") is None
    shortened._KNOWN.clear()
