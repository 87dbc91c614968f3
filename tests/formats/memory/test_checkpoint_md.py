from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.samples import hostile_texts
from mabos_cli.core.memory.checkpoint import Checkpoint
from mabos_cli.formats.markdown.escape import unescape_block
from mabos_cli.formats.memory.checkpoint_md import (
    checkpoint_title,
    checkpoint_trust,
    render_checkpoint,
    render_flush_prompt,
    restore_into_beliefs,
)
from mabos_cli.formats.mind.attitudes import parse_beliefs

quick = settings(deadline=None, derandomize=True)
AT = datetime(2026, 2, 24, 14, 30, tzinfo=UTC)
STAMP = "2026-02-24T14:35:00.000Z"
SOURCE = "memory/checkpoints/2026-02-24-1430.md"
FULL = Checkpoint(
    AT, "Closing the books", ("use accruals",), ("VAT is due",), ("who signs?",), ("call the bank", "file")
)


def headings(text):
    return [line for line in text.split("\n") if line.startswith("#")]


def test_sections_come_in_the_documented_order():
    assert headings(render_checkpoint(FULL)) == [
        "# Session Checkpoint — 2026-02-24 14:30 UTC",
        "## Current Task Context",
        "## Active Decisions",
        "## Key Findings",
        "## Open Questions",
        "## Next Steps",
    ]


def test_entries_stand_under_their_sections():
    text = render_checkpoint(FULL)
    assert "## Current Task Context\n\nClosing the books\n" in text
    assert "## Active Decisions\n\n- use accruals\n" in text
    assert "## Key Findings\n\n- VAT is due\n" in text
    assert "## Open Questions\n\n- who signs?\n" in text
    assert text.endswith("## Next Steps\n\n- call the bank\n- file\n")


def test_sections_without_entries_are_left_out():
    assert headings(render_checkpoint(Checkpoint(AT, "x", next_steps=("y",))))[1:] == [
        "## Current Task Context",
        "## Next Steps",
    ]


@quick
@given(hostile_texts, st.lists(hostile_texts, max_size=2), st.lists(hostile_texts, max_size=2))
def test_content_adds_no_heading_and_no_entry(context, decisions, steps):
    text = render_checkpoint(Checkpoint(AT, context, tuple(decisions), next_steps=tuple(steps)))
    expected = 2 + bool(decisions) + bool(steps)
    assert len(headings(text)) == expected
    assert sum(line.startswith("- ") for line in text.split("\n")) == len(decisions) + len(steps)
    body = text.split("## Current Task Context\n\n", 1)[1].split("\n## ", 1)[0].removesuffix("\n")
    assert unescape_block(body) == context


def test_title_is_the_first_heading():
    assert checkpoint_title(render_checkpoint(FULL)) == "Session Checkpoint — 2026-02-24 14:30 UTC"
    assert checkpoint_title("no heading") == "Session Checkpoint"


def test_restored_checkpoint_is_a_belief_at_the_end():
    beliefs = "# Beliefs\n\n## Market\n\nCertainty: 0.8\n"
    restored = restore_into_beliefs(beliefs, render_checkpoint(FULL), SOURCE, STAMP)
    assert restored.startswith(beliefs + "\n## Restored Session — 2026-02-24 14:30 UTC\n\nCertainty: 0.9\n")
    assert f"\nSource: {SOURCE}\n[updated: 2026-02-24]\n\nCurrent Task Context:\n\n  Closing the books\n" in restored
    assert restored.endswith("Next Steps:\n\n  - call the bank\n  - file\n")
    assert headings(restored) == ["# Beliefs", "## Market", "## Restored Session — 2026-02-24 14:30 UTC"]
    assert "who signs?" not in restored


@pytest.mark.parametrize("source, trust", [("", "agent"), ("transcript:s1", "untrusted"), ("manual", "agent")])
def test_words_of_a_transcript_never_become_a_trusted_belief(source, trust):
    text = render_checkpoint(FULL, source)
    assert checkpoint_trust(text) == trust
    (belief,) = parse_beliefs(restore_into_beliefs("# Beliefs\n", text, SOURCE, STAMP), "Beliefs.md")[0]
    assert belief.trust == trust
    assert checkpoint_trust(text.replace("Trust: untrusted", "Trust: trusted")) == trust


def test_checkpoint_is_restored_only_once():
    restored = restore_into_beliefs("# Beliefs\n", render_checkpoint(FULL), SOURCE, STAMP)
    assert restore_into_beliefs(restored, render_checkpoint(FULL), SOURCE, STAMP) is None
    assert restore_into_beliefs(restored.replace("\n", "\r\n"), render_checkpoint(FULL), SOURCE, STAMP) is None


BY_HEADINGS = """## Restored Session — 2026-02-23 09:00 UTC

Certainty: 0.9
Source: memory/checkpoints/2026-02-23-0900.md
[updated: 2026-02-23]

### Current Task Context

Something old

### Open Questions

- who?

"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("before, behind", [("# Beliefs\n\n", ""), ("", "## Market\n\nCertainty: 0.8\n\nGrows.\n")])
def test_another_checkpoint_takes_the_place_of_the_first(before, behind, newline):
    beliefs = (before + BY_HEADINGS + behind).replace("\n", newline)
    restored = restore_into_beliefs(beliefs, render_checkpoint(FULL), SOURCE, STAMP)
    again = restore_into_beliefs(restored, render_checkpoint(FULL), SOURCE.replace("1430", "1430_00002"), STAMP)
    for text in (restored, again):
        assert text.count("## Restored Session") == 1 and "Something old" not in text and "### " not in text
        assert (before + behind).replace("\n", newline).rstrip() in text
        assert text.count("\n") == text.count(newline)
    assert again == restored.replace("1430.md", "1430_00002.md")


def test_what_people_wrote_below_a_restored_session_stays():
    beliefs = "# Beliefs\n\n" + BY_HEADINGS + "### Mine\n\nCertainty: 0.7\n\nI saw it.\n"
    restored = restore_into_beliefs(beliefs, render_checkpoint(FULL), SOURCE, STAMP)
    assert "### Mine\n\nCertainty: 0.7\n\nI saw it.\n" in restored and "Something old" not in restored


@quick
@given(hostile_texts, st.lists(hostile_texts, max_size=2))
def test_a_restored_checkpoint_is_one_belief(context, decisions):
    text = render_checkpoint(
        Checkpoint(AT, context, tuple(decisions), next_steps=("- **B-001** [status: done]",)), "transcript:s"
    )
    beliefs = parse_beliefs(restore_into_beliefs("# Beliefs\n", text, SOURCE, STAMP), "Beliefs.md")[0]
    assert [(belief.trust, belief.source, belief.certainty, belief.status) for belief in beliefs] == [
        ("untrusted", SOURCE, 0.9, "")
    ]


@quick
@given(hostile_texts, hostile_texts)
def test_beliefs_are_kept_byte_for_byte(beliefs, context):
    checkpoint = render_checkpoint(Checkpoint(AT, context))
    restored = restore_into_beliefs(beliefs, checkpoint, SOURCE, STAMP)
    assert restored.startswith(beliefs)
    assert len([line for line in headings(restored[len(beliefs) :]) if line.startswith("## ")]) == 1
    assert restore_into_beliefs(restored, checkpoint, SOURCE, STAMP) is None


def test_empty_beliefs_start_with_the_restored_session():
    assert restore_into_beliefs("", render_checkpoint(FULL), SOURCE, STAMP).startswith("## Restored Session")


def test_flush_prompt_names_agent_files_and_the_way_out():
    prompt = render_flush_prompt("cfo", "2026-02-24", "1430")
    assert "memory/2026-02-24.md" in prompt
    assert "memory/checkpoints/2026-02-24-1430.md" in prompt
    assert "mabos store --agent cfo" in prompt
    assert "NO_REPLY" in prompt
