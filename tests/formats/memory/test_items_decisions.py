"""trust.jsonl: what a line says comes back, and what is no decision decides nothing."""

from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core.memory.item import TRUSTS
from mabos_cli.core.memory.trust import Decision
from mabos_cli.formats.memory.items import parse_decisions, render_decision

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_trust = st.sampled_from(TRUSTS)
decisions = st.builds(Decision, _text, _text, _trust, _trust, _text, _text, _text)


@given(st.lists(decisions, max_size=4))
def test_decisions_come_back(said: list[Decision]):
    data = b"".join(map(render_decision, said))
    assert data.count(b"\n") == len(said)
    assert parse_decisions(data) == (sorted(said, key=lambda each: each.at), 0)  # oldest first


def test_line_is_as_people_read_it():
    said = Decision("2026-02-24T14:30:00.000Z", "M-1-aaaa", "untrusted", "trusted", "ada", text="00ff")
    assert render_decision(said) == (
        b'{"at": "2026-02-24T14:30:00.000Z", "id": "M-1-aaaa", "from": "untrusted", "to": "trusted", "by": "ada", '
        b'"text": "00ff"}\n'
    )


def test_what_is_no_decision_is_counted_and_decides_nothing():
    good = render_decision(Decision("", "M-1-aaaa", "agent", "trusted", "ada"))
    bad = [
        b'{"id": "M-1-aaaa", "from": "agent", "to": "blind", "by": "eve"}\n',
        b'{"id": "M-1-aaaa", "to": "trusted", "by": "eve"}\n',
        b'{"id": 7, "from": "agent", "to": "trusted", "by": "eve"}\n',
        b'{"id": "M-1-aaaa", "from": ["agent"], "to": "trusted"}\n',
        b'["M-1-aaaa"]\n',
        b"null\n",
        b'{"id": "M-1-aa',
    ]
    found, skipped = parse_decisions(good + b"".join(bad))
    assert [decision.by for decision in found] == ["ada"]
    assert skipped == len(bad)
