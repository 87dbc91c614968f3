import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core import BadValue
from mabos_cli.core.memory.observation import Observation, bound_text, clean, is_observation_id, with_origin

NOW = "2026-02-24T14:30:00.000Z"


def hide_word(text: str) -> tuple[str, tuple[str, ...]]:
    """Redacts the word hush."""
    return (text.replace("hush", "[redacted:word]"), ("word",)) if "hush" in text else (text, ())


@pytest.mark.parametrize(
    ("given_by", "kind", "trust"),
    [
        (Observation("x"), "note", "agent"),
        (Observation("x", source="tool:bash"), "tool", "untrusted"),
        (Observation("x", source="transcript:a.jsonl"), "message", "untrusted"),
        (Observation("x", kind="message"), "message", "untrusted"),
        (Observation("x", kind="note", source="tool:bash"), "note", "untrusted"),
        (Observation("x", trust="untrusted"), "note", "untrusted"),
        (Observation("x", trust="trusted"), "note", "agent"),
        (Observation("x", source="tool:bash", trust="trusted"), "tool", "untrusted"),
        (Observation("x", trust="verified"), "note", "untrusted"),
    ],
)
def test_a_record_cannot_raise_its_own_trust(given_by, kind, trust):
    found = with_origin(given_by, NOW)
    assert (found.kind, found.trust) == (kind, trust)


def test_the_caller_says_how_far_it_may_be_trusted():
    assert with_origin(Observation("x", source="cron"), NOW, "trusted").trust == "trusted"
    assert with_origin(Observation("x", source="cron", trust="agent"), NOW, "trusted").trust == "agent"


@pytest.mark.parametrize("source", ["tool:bash", "web:example.com", " Mail:ada", "transcript:s1"])
def test_what_comes_from_outside_is_untrusted_whatever_the_caller_says(source: str):
    assert with_origin(Observation("x", source=source, trust="trusted"), NOW, "trusted").trust == "untrusted"
    assert with_origin(Observation("x", kind="tool", source="cron"), NOW, "trusted").trust == "untrusted"


def test_what_is_said_stays():
    said = Observation("x", at="2026-01-01T00:00:00.000Z", source="cron")
    assert with_origin(said, NOW)[:5] == ("x", "", said.at, "note", "cron")
    assert with_origin(Observation("x"), NOW).at == NOW


def test_secrets_are_hidden_in_every_word():
    seen = clean(
        Observation("say hush", source="tool:hush", session="hush", author="hush", tags=("a hush",), key="hush"),
        1000,
        hide_word,
    )
    assert "hush" not in repr(seen)
    assert (seen.session, seen.tags, seen.redacted) == ("[redacted:word]", ("a [redacted:word]",), ("word",))


def test_kinds_that_were_redacted_before_are_kept():
    assert clean(Observation("hush", redacted=("jwt",)), 1000, hide_word).redacted == ("jwt", "word")


def test_a_secret_across_the_cut_is_hidden_whole():
    for shift in range(40):
        seen = clean(Observation("a" * (shift + 20) + "hush" + "b" * 200), 100, hide_word)
        assert not any(part in seen.text for part in ("hush", "hus", "ush"))


def test_a_message_about_a_bad_word_holds_no_secret():
    with pytest.raises(BadValue) as error:
        clean(Observation("x", session="hush\n" * 100), 1000, hide_word)
    assert "session" in error.value.message and "hush" not in error.value.message


@pytest.mark.parametrize("text", ["", " ", "\n\r\n", "\t"])
def test_nothing_is_no_observation(text):
    with pytest.raises(BadValue, match="no text"):
        clean(Observation(text), 1000, hide_word)


def test_what_a_text_file_cannot_hold_is_replaced():
    seen = clean(Observation("a\0b\ud800c\n"), 1000, hide_word)
    assert seen.text == "a\ufffdb?c"


@settings(deadline=None, derandomize=True)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=400), st.integers(1, 300))
def test_bounds_hold_and_every_byte_is_accounted_for(text, limit):
    kept, left = bound_text(text, limit)
    size = len(text.encode())
    assert len(kept.encode()) <= limit
    assert (left == 0) == (size <= limit)
    if not left:
        assert kept == text
    elif f"\n[{left:,} bytes left out]\n" in kept:
        head, _, tail = kept.rpartition(f"\n[{left:,} bytes left out]\n")
        assert text.startswith(head) and text.endswith(tail)
        assert len(head.encode()) + len(tail.encode()) + left == size
    else:  # no room for a mark
        assert text.startswith(kept) and len(kept.encode()) + left == size


def test_head_and_tail_are_kept():
    kept, left = bound_text("START" + "x" * 10_000 + "END", 200)
    assert kept.startswith("START") and kept.endswith("END")
    assert f"{left:,} bytes left out" in kept and left > 9_800


def test_of_a_huge_text_only_the_ends_are_looked_at():
    looked = []

    def hide(text: str) -> str:
        looked.append(len(text))
        return text

    kept, left = bound_text("é" * 500_000 + "END", 1000, hide)
    assert looked == [64_000, 64_000]
    head, _, tail = kept.partition(f"\n[{left:,} bytes left out]\n")
    assert len(head.encode()) + len(tail.encode()) + left == 1_000_003
    assert kept.endswith("éEND") and len(kept.encode()) <= 1000


def test_a_huge_text_that_shrinks_is_looked_at_whole():
    kept, _ = bound_text("hush" * 50_000, 1000, lambda text: text.replace("hush", ""))
    assert kept == ""


def test_ids():
    assert is_observation_id("O-1771943400000-00a4") and is_observation_id("O-0123456789abcdef")
    assert not any(map(is_observation_id, ("O-", "O-1", "M-1771943400000-00a4", "O-1771943400000-00A4", "xO-1-0000")))
