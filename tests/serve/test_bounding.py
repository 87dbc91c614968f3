"""Values and lines that are cut: always within the room, always a beginning of what was there."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.serve.calling import fit_lines, fit_value, json_size

SCALARS = st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=40)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=30,
)


def begins(cut: Any, whole: Any) -> bool:
    """Whether a value is a beginning of another, part by part."""
    if isinstance(whole, str):
        return whole.startswith(cut)
    if isinstance(whole, list):
        return len(cut) <= len(whole) and all(begins(a, b) for a, b in zip(cut, whole, strict=False))
    if isinstance(whole, dict):
        return all(name in whole and begins(part, whole[name]) for name, part in cut.items())
    return cut == whole


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=6), st.integers(2, 400))
def test_what_is_cut_fits_and_is_a_beginning(value: dict[str, Any], room: int) -> None:
    cut, cuts = fit_value(value, room)
    assert json_size(cut) <= room
    assert begins(cut, value)
    assert json.loads(json.dumps(cut)) == cut
    assert (cut == value) == (not cuts)
    assert all(count > 0 for count in cuts.values())


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=6))
def test_what_fits_stays(value: dict[str, Any]) -> None:
    assert fit_value(value, json_size(value)) == (value, {})


def test_small_things_stay_whole_beside_a_large_one() -> None:
    value = {"text": "x" * 5000, "id": "M-1", "tags": ["a", "b"], "rows": [{"n": n} for n in range(500)]}
    cut, cuts = fit_value(value, 1000)
    assert cut["id"] == "M-1" and cut["tags"] == ["a", "b"] and [*cut] == [*value]
    assert len(cut["text"]) > 300 and len(cut["rows"]) > 30
    assert cuts == {"text": 5000 - len(cut["text"]), "rows": 500 - len(cut["rows"])}


def test_places_of_what_is_inside() -> None:
    cut, cuts = fit_value({"tree": {"parts": [{"text": "y" * 900}]}}, 200)
    assert cuts == {"tree.parts.0.text": 900 - len(cut["tree"]["parts"][0]["text"])}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(alphabet="ab c", max_size=30), max_size=20), st.integers(0, 200))
def test_lines_fit_and_say_how_many_did_not(lines: list[str], room: int) -> None:
    text = fit_lines(lines, room)
    assert len(text) <= room or text == "\n".join(lines) == ""
    kept = text.split("\n")
    if text != "\n".join(lines) and kept[-1].endswith("more did not fit)"):
        assert kept[:-1] == lines[: len(kept) - 1]
        assert int(kept[-1][1:].split()[0]) == len(lines) - len(kept) + 1
