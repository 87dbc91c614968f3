import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core import BadValue
from mabos_cli.core.memory.item import (
    CLASSES,
    PRIORITIES,
    TYPES,
    MemoryItem,
    check_choice,
    check_content,
    check_importance,
    check_tags,
    check_word,
    has_expired,
    touch,
)

quick = settings(deadline=None, derandomize=True)


def test_every_type_belongs_to_exactly_one_class():
    assert sorted(name for names in CLASSES.values() for name in names) == sorted(TYPES)
    assert len(TYPES) == 12


def test_priorities_name_the_documented_points():
    assert dict(PRIORITIES) == {"critical": 0.95, "high": 0.8, "medium": 0.5, "low": 0.2}


@pytest.mark.parametrize("content", ["", "   ", "\n\t "])
def test_empty_content_is_refused(content):
    with pytest.raises(BadValue, match="empty"):
        check_content(content, 100)


def test_content_with_nul_is_refused():
    with pytest.raises(BadValue, match="NUL"):
        check_content("a\0b", 100)


@pytest.mark.parametrize("content", ["a\ud800", "\udfff", "\udc80bytes"])
def test_content_with_a_lone_surrogate_is_refused(content):
    with pytest.raises(BadValue, match="UTF-8"):
        check_content(content, 100)


def test_content_limit_counts_bytes_not_characters():
    assert check_content("é" * 5, 10) == "é" * 5
    with pytest.raises(BadValue, match="10 bytes; the limit is 9"):
        check_content("é" * 5, 9)


@quick
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(str.strip))
def test_good_content_comes_back_unchanged(content):
    assert check_content(content, 1 << 20) == content


@pytest.mark.parametrize(("value", "kept"), [(0, 0.0), (1, 1.0), (0.5, 0.5), (0.123456, 0.1235), (1e-9, 0.0)])
def test_importance_in_range_is_accepted(value, kept):
    assert check_importance(value) == kept
    assert type(check_importance(value)) is float


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.01, 1.01, 2, -1, True, False, "0.5", None])
def test_importance_out_of_range_is_refused(value):
    with pytest.raises(BadValue, match="outside"):
        check_importance(value)


def test_importance_too_large_for_a_float_is_refused():
    with pytest.raises(BadValue, match="outside"):
        check_importance(10**400)


def test_choice_is_accepted_or_refused_with_the_choices():
    assert check_choice("fact", TYPES, "type") == "fact"
    with pytest.raises(BadValue, match="unknown type 'Fact'") as refused:
        check_choice("Fact", TYPES, "type")
    assert "observation" in refused.value.hint


def test_tags_are_split_at_commas_stripped_and_kept_once_in_order():
    assert check_tags(["b, a", "#a", " b ", "##c", ",,", "  "]) == ("b", "a", "c")
    assert check_tags(()) == ()


def test_tag_may_be_a_phrase_in_any_script():
    assert check_tags(["pricing policy", "価格"]) == ("pricing policy", "価格")


@pytest.mark.parametrize("tag", ["a\nb", "a\x1b[31m", "a\tb", "x\u202ey", "\ud800", "a\0", "t" * 101])
def test_tag_with_control_characters_or_too_long_is_refused(tag):
    with pytest.raises(BadValue, match="bad tag"):
        check_tags([tag])


def test_tag_of_100_characters_is_accepted():
    assert check_tags(["t" * 100]) == ("t" * 100,)


def test_no_leading_hash_survives_blanks_between_hashes():
    assert check_tags(["# #a"]) == ("a",)


@quick
@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=20), max_size=6))
def test_accepted_tags_are_clean_and_checking_again_changes_nothing(tags):
    try:
        kept = check_tags(tags)
    except BadValue as refused:
        assert refused.hint
        return
    assert all(tag == tag.strip() and "," not in tag and not tag.startswith("#") for tag in kept)
    assert len(set(kept)) == len(kept)
    assert check_tags(kept) == kept


def test_word_is_stripped_and_kept():
    assert check_word("  tool:git  ", "source") == "tool:git"
    assert check_word("x" * 200, "source") == "x" * 200
    assert check_word("", "author") == ""


@pytest.mark.parametrize("value", ["a\nb", "a\x00", "a\u2028b", "x" * 201, "\udc80"])
def test_word_of_several_lines_or_too_long_is_refused(value):
    with pytest.raises(BadValue, match="bad source"):
        check_word(value, "source")


def test_touch_counts_uses_and_never_moves_the_time_back():
    item = MemoryItem("M-1-0000", "x", accessed_at="2026-02-24T00:00:00.000Z", access_count=3)
    assert touch(item, "2026-02-25T00:00:00.000Z", 2)._asdict() == item._asdict() | {
        "accessed_at": "2026-02-25T00:00:00.000Z",
        "access_count": 5,
    }
    assert touch(item, "2026-02-23T00:00:00.000Z").accessed_at == item.accessed_at


def test_item_happened_when_observed_or_else_when_stored():
    item = MemoryItem("M-1-0000", "x", created_at="2026-02-24T00:00:00.000Z")
    assert item.happened_at == item.created_at
    assert item._replace(observed_at="2026-01-01T00:00:00.000Z").happened_at == "2026-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("expires", "expired"),
    [
        ("2026-02-24T14:30:00.000Z", True),
        ("2026-02-24T14:30:00.001Z", False),
        ("2026-02-24T16:30:00+08:00", True),
        ("2026-02-24T08:30:00-08:00", False),
        ("2026-02-24", True),
        ("never", False),
        ("0", False),
        ("", False),
    ],
)
def test_an_item_expires_when_its_date_is_there_however_it_is_written(expires, expired):
    item = MemoryItem("M-1-0002", "x", expires_at=expires)
    assert has_expired(item, "2026-02-24T14:30:00.000Z") is expired
    assert has_expired(item, "") is False
