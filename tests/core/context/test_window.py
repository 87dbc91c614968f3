"""A whole window: each part within its share, the request as it is, and never more than the window less the reserve."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core import BadValue
from mabos_cli.core.context.texts import END_TOKENS, Turn, total_cost
from mabos_cli.core.context.window import (
    Budget,
    Filling,
    Section,
    Skill,
    Window,
    WindowInput,
    check_shares,
    fit_sections,
    fit_skills,
)
from mabos_cli.core.language.text import token_cost

REQUEST = "How do we bill?"


def count(text: str) -> int:
    return token_cost(text) if text else 0


def talk(turns: int, words: int = 20) -> tuple[Turn, ...]:
    return tuple(Turn(("user", "assistant")[n % 2], f"{n} " + "word " * words) for n in range(turns))


def build(window: int = 1000, memory: int = 0, **given) -> Window:
    filling = Filling(WindowInput(given.pop("request", REQUEST), **given), Budget(window), count)
    return filling.finish("m" * (4 * min(memory, filling.memory_room)))


def test_the_order_of_messages() -> None:
    made = build(
        10_000,
        50,
        system=(Section("Persona.md", "I am Ann."),),
        skills=(Skill("pdf", "Fills forms.", "Do."),),
        history=talk(2),
    )
    assert [turn.role for turn in made.messages] == [
        "system",
        "system",
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert made.messages[0].content == "I am Ann."
    assert made.messages[1].content == "Skills:\n- pdf: Fills forms.\n\n# pdf\n\nDo."
    assert made.messages[-1] == Turn("user", REQUEST)
    assert (made.action, made.notes) == ("ok", ())
    assert made.total == total_cost(made.messages, count) + END_TOKENS == sum(made.tokens.values()) + END_TOKENS


def test_shares_of_the_seed() -> None:
    budget = Budget(200_000)
    shares = [budget.share(part) for part in ("system", "skills", "memory", "history", "request", "reserve")]
    assert shares == [10_000, 15_000, 50_000, 75_000, 30_000, 20_000]
    check_shares(budget)
    with pytest.raises(BadValue, match=r"add up to 1\.1"):
        check_shares(budget._replace(reserve=0.2))


def test_memory_has_its_share_when_the_conversation_is_long() -> None:
    made = build(1000, 10_000, history=talk(100))
    assert made.limits["memory"] == 250
    assert 240 <= made.tokens["memory"] <= 250
    assert made.tokens["history"] > 375
    assert made.history.summarized + made.history.left_out > 0


def test_what_memory_leaves_goes_to_the_conversation() -> None:
    little, much = build(1000, 10, history=talk(100)), build(1000, 10_000, history=talk(100))
    assert little.tokens["history"] > much.tokens["history"] + 100


def test_memory_may_take_what_nobody_needs_but_does_not_fill_the_window() -> None:
    made = build(1000, 10_000)
    assert 800 < made.tokens["memory"] < 850
    assert made.action == "ok"


def test_when_to_compact_and_when_to_flush() -> None:
    actions = {build(1000, history=talk(n)).action for n in (10, 25)}
    assert actions == {"ok"}
    demands = {n: build(1000, history=talk(n)) for n in range(25, 36)}
    for made in demands.values():
        wanted = "flush" if made.demand >= 900 else "compact" if made.demand >= 850 else "ok"
        assert made.action == wanted
    assert {made.action for made in demands.values()} == {"ok", "compact", "flush"}


def test_a_long_request_takes_from_memory_and_conversation_and_stands_as_it_is() -> None:
    request = "why " * 500
    made = build(1000, 10_000, request=request, history=talk(100), system=(Section("a", "I am Ann. " * 5),))
    assert made.messages[-1].content == request
    assert made.tokens["request"] > made.limits["request"] == 150
    assert made.tokens["system"] > 0
    assert 0 < made.tokens["memory"] < 250
    assert 0 < made.tokens["history"] < 375


def test_a_request_larger_than_the_window_is_refused() -> None:
    with pytest.raises(BadValue, match="room for 898") as caught:
        build(1000, request="x" * 4000)
    assert "--window" in caught.value.hint


def test_sections_go_from_the_end_and_the_text_says_so() -> None:
    sections = [Section(name, f"{name} " * 20) for name in ("one", "two", "three")]
    text, note = fit_sections(sections, 60, count)
    assert text == "\n\n".join([sections[0].text, sections[1].text, "[left out for lack of space: three]"])[: len(text)]
    assert note == "left out for lack of space: three"
    assert count(text) <= 60
    short, note = fit_sections(sections, 15, count)
    assert "characters left out" in short
    assert note == "shortened for lack of space: one; left out: two, three"
    assert fit_sections([], 0, count) == ("", "")
    assert fit_sections(sections, 2, count) == ("", "left out for lack of space: one, two, three")


def test_skills_have_lines_first_and_the_one_asked_for_whole() -> None:
    skills = [Skill("excel", "Makes tables.", "e" * 200), Skill("pdf", "Fills in forms.", "p" * 200)]
    text, note = fit_skills(skills, "please fill this form", 80, count)
    assert text == f"Skills:\n- pdf: Fills in forms.\n- excel: Makes tables.\n\n# pdf\n\n{'p' * 200}"
    assert note == "1 skill by a line only"
    text, note = fit_skills(skills, "please fill this form", 9, count)
    assert text == "Skills:\n- pdf: Fills in forms."
    assert note == "1 skill left out for lack of space; 1 skill by a line only"
    assert fit_skills(skills, "", 1, count) == ("", "2 skills left out for lack of space")


def by_words(text: str) -> int:
    return len(text.split()) + text.count("\n")


words = st.text(st.sampled_from("ab .\n"), max_size=200) | st.integers(0, 600).map("word ".__mul__)


@given(
    st.integers(1, 3000),
    words,
    st.lists(st.builds(Section, st.just("S.md"), words), max_size=5),
    st.lists(st.builds(Skill, st.sampled_from("abc"), words, words), max_size=4),
    st.lists(st.builds(Turn, st.sampled_from(["system", "user", "tool"]), words), max_size=9),
    st.integers(0, 3000),
    st.sampled_from([count, by_words]),
)
def test_never_more_than_the_window_less_the_reserve(
    window: int, request: str, system: list, skills: list, history: list, memory: int, counts
) -> None:
    given = WindowInput(request, tuple(system), tuple(skills), tuple(history))
    budget = Budget(window)
    try:
        filling = Filling(given, budget, counts)
    except BadValue:
        assert 4 + counts("user") + counts(request) > budget.room
        return
    assert filling.memory_room >= 0
    made = filling.finish("word " * min(memory, filling.memory_room // 2))
    assert made.total <= window - budget.share("reserve")
    assert made.total == total_cost(made.messages, counts) + END_TOKENS
    assert made.messages[-1] == Turn("user", request)
    assert all(made.tokens[part] <= max(0, made.limits[part]) for part in ("system", "skills", "memory", "history"))
