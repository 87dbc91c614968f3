import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st

from mabos_cli.core.language.text import one_line, plural, stem, terms, token_cost, visible, words

quick = settings(deadline=None, derandomize=True)
BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
MARKS = "\u061c\u200e\u200f\ufeff"
nasty = st.sampled_from("\x00\x07\x08\x0b\x0c\r\x1b\x7f\x85\x9b\u061c\u200e\u200f\u2028\u2029\u202e\u2066\ufeff\ud800")
any_text = st.text(nasty | st.characters(exclude_categories=()) | st.sampled_from("ab \t\n"))


def is_harmful(char):
    return (
        unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")
        or unicodedata.bidirectional(char) in BIDI
        or char in MARKS
    )


def test_no_single_character_gets_through_that_a_terminal_would_obey():
    everything = "".join(map(chr, range(0x110000)))
    assert {char for char in visible(everything) if is_harmful(char)} == {"\t", "\n"}


@quick
@given(any_text)
def test_visible_text_has_no_control_or_direction_characters(text):
    assert not [char for char in visible(text) if is_harmful(char) and char not in "\t\n"]


@quick
@given(any_text)
def test_visible_text_stays_visible_text(text):
    assert visible(visible(text)) == visible(text)


@quick
@given(st.text(st.characters(exclude_categories=("C", "Zl", "Zp"))))
def test_harmless_text_is_shown_as_it_is(text):
    assert visible(text) == text


def test_control_characters_are_drawn():
    assert visible("a\x1b[31m\x7f\x9b\u202e") == "a␛[31m␡<U+009B><U+202E>"
    assert visible("a\tb\nc") == "a\tb\nc"


@quick
@given(any_text, st.integers(1, 60))
@example("x" * 1000, 1)
@example("word " * 100, 12)
@example("\u202e" * 50, 5)
def test_one_line_is_one_safe_line_within_its_width(text, width):
    line = one_line(text, width)
    assert len(line) <= width
    assert not [char for char in line if is_harmful(char)]
    assert line == " ".join(line.split())


@quick
@given(any_text)
def test_one_line_without_width_keeps_every_word(text):
    line = one_line(text)
    assert not [char for char in line if is_harmful(char)]
    assert line.split() == visible(" ".join(text.split())).split()


def test_one_line_cuts_at_a_word_and_says_so():
    assert one_line("alpha beta gamma", 12) == "alpha beta…"
    assert one_line("alphabetagamma", 8) == "alphabe…"
    assert one_line("alpha beta", 10) == "alpha beta"


def test_one_line_shows_what_stands_behind_a_long_run_of_blanks():
    assert one_line("\n" * 1000 + "hello", 10) == "hello"
    assert one_line("hello" + " " * 1000 + "world", 8).endswith("…")


def test_words_are_folded_and_unspaced_scripts_split():
    assert words("Straße, STRASSE; it's v2_x") == ["strasse", "strasse", "it", "s", "v2_x"]
    assert words("東京 tower") == ["東", "京", "tower"]
    assert words("…!?") == []


def test_terms_drop_stop_words_unless_nothing_else_is_left():
    assert terms("What is the budget of the budgets") == ["budget"]
    assert terms("what is it") == ["what", "is", "it"]
    assert terms("") == []


def test_plurals_and_tenses_meet():
    assert stem("deploys") == stem("deployed") == stem("deploying") == "deploy"
    assert stem("policies") == stem("policy") == "policy"
    assert [stem(w) for w in ("glass", "status", "basis", "need", "sing", "naïvetés")] == [
        "glass",
        "status",
        "basis",
        "need",
        "sing",
        "naïvetés",
    ]


def test_nouns_follow_their_count():
    assert [plural(n, "item") for n in (0, 1, 2)] == ["0 items", "1 item", "2 items"]
    assert [plural(n, "memory") for n in (1, 2)] == ["1 memory", "2 memories"]


def test_token_cost_rounds_up_and_is_never_zero():
    assert [token_cost("x" * n) for n in (0, 1, 4, 5, 8, 9)] == [1, 1, 1, 2, 2, 3]
    assert token_cost("x" * 9, 3) == 3
