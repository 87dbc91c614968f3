"""How much of a text is told."""

from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core.context.texts import LAYERS, tell

LONG = (
    "Lead sentence here. " + "Filler says nothing of note. " * 20 + "The budget is 900 euros. " + "More filler. " * 20
)


def test_a_short_text_is_whole_at_every_layer_and_named_by_the_smallest() -> None:
    assert {tell("Rent is due.", layer) for layer in LAYERS} == {("L0", "Rent is due.", True)}
    middle = "Word " * 30
    assert tell(middle, "L2") == ("L1", middle.strip(), True)
    assert tell(middle, "L0").text.endswith("…")


def test_a_summary_has_the_lead_and_the_sentence_that_answers_in_their_order() -> None:
    layer, text, is_whole = tell(LONG, "L1", {"budget"})
    assert (layer, is_whole) == ("L1", False)
    assert text.startswith("Lead sentence here.") and "The budget is 900 euros." in text
    assert text.index("Lead") < text.index("budget") and "…" in text and len(text) <= 280


def test_an_answer_that_is_too_long_is_cut_rather_than_left_out() -> None:
    text = tell("Lead. " + "x y " * 100 + "budget " + "word " * 100, "L1", {"budget"}).text
    assert text.startswith("Lead.") and text.endswith("…") and 200 < len(text) <= 280


def test_detail_is_bounded() -> None:
    told = tell("word " * 20_000, "L2")
    assert told.layer == "L2" and not told.is_whole and len(told.text) <= 4000


@given(st.text(max_size=2000), st.sampled_from(LAYERS), st.sets(st.text("abc", min_size=1, max_size=3)))
def test_a_layer_is_one_line_within_its_width(text: str, layer: str, asked: set[str]) -> None:
    told = tell(text, layer, asked)
    assert len(told.text) <= {"L0": 80, "L1": 280, "L2": 4000}[layer]
    assert "\n" not in told.text and len(told.text.splitlines()) <= 1
    assert LAYERS.index(told.layer) <= LAYERS.index(layer)
