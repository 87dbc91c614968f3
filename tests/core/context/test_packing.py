"""Packing: within the budget always, cited, each thing once, whatever the order, and the right things first."""

from collections.abc import Callable

import pytest
from framed import faults
from hostile_payloads import PAYLOADS
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.context.candidates import Against, Entry, Limits, Pack, Receipt
from mabos_cli.core.context.pack import choose, pack
from mabos_cli.core.context.texts import Turn
from mabos_cli.core.language.text import token_cost
from mabos_cli.formats.context.context_pack import WRITING


def long(n: int) -> str:
    """A text of some length, of which no sentence stands in another one."""
    details = "".join(f"Then follow many details {chr(97 + k)}{n} of no note. " for k in range(20))
    return f"The lead {n} says what it is. {details}Rent is 900 euros in house {n}."


def packed(found: list[Entry], budget: int = 1200, **how: object) -> Pack:
    limits = {name: how.pop(name) for name in [*how] if name in Limits._fields}
    within = Limits(budget, **limits)
    return pack(choose(found, within), within, WRITING, **how)


def refs(made: Pack) -> list[str]:
    return [placed.entry.ref for placed in made.placed]


def reason(made: Pack, ref: str) -> str:
    return next(receipt.reason for receipt in made.receipts if receipt.ref == ref)


def words_and_a_half(text: str) -> int:
    """Not additive: a break between two lines costs extra, so that a whole costs more than its parts."""
    return len(text.split()) + 3 * max(0, text.count("\n") - 1) ** 2 // 4


# Order and trust


def test_the_best_come_first_and_trust_is_weighed_and_marked() -> None:
    entries = [
        Entry("M-1", "apples", score=0.6),
        Entry("M-2", "pears", score=0.9, trust="untrusted"),
        Entry("M-3", "plums", score=0.5, trust="trusted"),
    ]
    made = packed(entries)
    assert refs(made) == ["M-1", "M-3", "M-2"]
    assert "[3] observation untrusted: pears" in made.text.split("\n")
    assert [receipt.score for receipt in made.receipts] == [0.6, 0.55, 0.45]


def test_the_newer_of_two_statements_leads_and_the_older_says_so() -> None:
    old = Entry("M-1", "Yara leads support since May", score=0.9, at="2026-05-10")
    made = packed([old, Entry("M-2", "Omar leads support now", score=0.5, at="2026-10-10")])
    assert refs(made) == ["M-2", "M-1"]
    assert "outdated by [1]: Yara" in made.text


def test_who_spoke_in_a_transcript_is_named() -> None:
    said = Entry(
        "sessions/a.jsonl:2-2", "It cost 8,400 euros.", "passage", "cold", "file", at="2026-10-01", author="assistant"
    )
    assert "[1] file 2026-10-01 by assistant: It cost" in packed([said]).text


@pytest.mark.parametrize(("least", "left"), [("", 3), ("agent", 2), ("trusted", 1)])
def test_nothing_below_the_least_trust_is_packed(least: str, left: int) -> None:
    entries = [Entry(f"M-{n}", f"thing {n}", trust=t) for n, t in enumerate(("untrusted", "agent", "trusted"))]
    made = packed(entries, min_trust=least)
    assert len(made.placed) == left and len(made.receipts) == 3
    assert [r.reason for r in made.receipts].count("below min trust") == 3 - left


def test_of_two_that_say_the_same_the_more_trusted_one_is_packed() -> None:
    text = "The office in Lenz opens at eight on every working day of the week"
    made = packed([Entry("M-1", text, score=0.9), Entry("M-2", text + "!", score=0.2, trust="trusted")])
    assert refs(made) == ["M-2"] and reason(made, "M-1") == "duplicate of M-2"


def test_another_number_is_no_duplicate() -> None:
    text = "The office in Lenz on the second floor opens for all of us on working days at"
    assert refs(packed([Entry("M-1", f"{text} 8"), Entry("M-2", f"{text} 9")])) == ["M-1", "M-2"]


def test_long_texts_that_only_begin_alike_are_no_duplicates() -> None:
    start = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(200))
    ends = [" ".join(f"{end}{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(200)) for end in ("left", "right")]
    entries = [
        Entry("M-1", f"{start} {ends[0]}"),
        Entry("M-2", f"{start} {ends[1]}"),
        Entry("M-3", f"{start} {ends[1]}!"),
    ]
    assert refs(packed(entries)) == ["M-1", "M-2"]


def test_standing_instructions_come_first_and_leave_room() -> None:
    rules = [Entry(f"M-{n}", f"Rule {n}: " + long(n), type="instruction", score=0.1, applies=True) for n in range(9)]
    entries = [*rules, Entry("M-20", long(20), score=0.9), Entry("M-21", "Rent is 900.", score=0.8)]
    made = packed(entries, 600, asked={"rent"})
    first = [placed.entry.applies for placed in made.placed].index(False)
    assert 2 <= first <= 4 and refs(made)[first : first + 2] == ["M-20", "M-21"]
    assert len(made.placed[first].text) > 400, "the best answer has the wide window"
    assert refs(packed(entries, 600, entries=1)) == ["M-20"]
    assert [placed.entry.applies for placed in packed(entries, 9000, entries=8).placed[:3]] == [True, True, False]


def test_a_question_about_many_things_is_answered_in_the_order_of_time() -> None:
    days = {"M-1": "2026-03-01", "M-2": "2026-01-01", "M-3": "", "M-4": "2026-02-01"}
    entries = [Entry(ref, f"thing {ref}", at=at, score=1 - n / 10) for n, (ref, at) in enumerate(days.items())]
    entries.append(Entry("M-5", "Be brief", type="instruction", at="2026-04-01", applies=True))
    made = packed(entries, against=Against("M-2", "M-1", ""), in_time=True)
    assert refs(made) == ["M-5", "M-2", "M-4", "M-1", "M-3"] and faults(made.text, refs(made)) == []
    assert "[2] 2026-01-01 contradicts [4]: thing M-2" in made.text


# Layers, lanes and limits


def test_the_best_get_wide_windows_others_narrow_ones_and_a_short_one_is_whole() -> None:
    entries = [Entry(f"M-{n}", long(n), score=1 - n / 10) for n in range(6)]
    made = packed([*entries, Entry("M-9", "Short.")], 900, asked={"rent"})
    sizes = [len(placed.text) for placed in made.placed]
    assert min(sizes[:2]) > 600 and sizes[4] <= 400 and 6 in sizes
    assert all("Rent is 900" in placed.text for placed in made.placed if placed.entry.ref != "M-9")


def test_little_room_is_filled_with_narrow_windows() -> None:
    made = packed([Entry(f"M-{n}", long(n), score=1 - n / 10) for n in range(6)], 150)
    assert len(made.placed) >= 2 and made.tokens <= 150 and max(len(placed.text) for placed in made.placed) <= 400
    assert reason(made, "M-5") == "over budget"


def test_a_generous_budget_pays_for_wide_windows() -> None:
    entries = [Entry(f"M-{n}", long(n), score=1 - n / 100) for n in range(30)]
    assert {placed.layer for placed in packed(entries, 24_000).placed} == {"L2"}


def test_one_text_stands_in_a_pack_once() -> None:
    said = "Rent is 900 a month from May on."
    entries = [
        Entry("M-1", said, score=0.9),
        Entry("notes.md:1-3", f"# Rent\n\n{said}", "passage", "cold", score=0.8),
        Entry("log.md:4-9", f"{said} Abel pays it.", "passage", "cold", score=0.7),
    ]
    made = packed(entries, 400, asked={"rent"})
    assert made.text.count("Rent is 900") == 1 and "Abel pays it." in made.text
    assert reason(made, "notes.md:1-3") in ("told already", "duplicate of M-1")


def test_a_lane_takes_no_more_than_its_share_while_others_want_room() -> None:
    hot = [Entry(f"M-{n}", f"{n} hot news that stands here", lane="hot", score=0.9) for n in range(40)]
    warm = [Entry(f"M-{n}", f"{n} warm memory that stands here", score=0.1) for n in range(100, 140)]
    made = packed([*hot, *warm], 400)
    spent = sum(placed.tokens for placed in made.placed if placed.entry.lane == "hot")
    assert 100 < spent <= 140 and {reason(made, entry.ref) for entry in hot} == {"included", "lane full"}
    alone = packed(hot, 400)
    assert sum(placed.tokens for placed in alone.placed) > 300, "room that nobody else wants is used"


def test_the_limit_of_entries_holds() -> None:
    made = packed([Entry(f"M-{n}", f"thing number {n}", score=n) for n in range(9)], entries=4)
    assert refs(made) == ["M-8", "M-7", "M-6", "M-5"] and reason(made, "M-4") == "over limit"


# The tail


def turns(*contents: str, role: str = "user") -> list[tuple[int, Turn]]:
    return [*enumerate((Turn(role, content) for content in contents), 1)]


def test_the_last_turns_stand_as_they_were_said_behind_all_else() -> None:
    made = packed([Entry("M-1", "thing")], history=turns("first\n\n  second line", "third"))
    body = made.text.split("\n")[1:-2]
    assert body == [
        "[1] observation: thing",
        "[turn:1] user: first",
        "[turn:1] user:   second line",
        "[turn:2] user: third",
        "Sources: [1] M-1",
    ]


def test_a_tail_that_is_too_large_loses_its_oldest_turns() -> None:
    made = packed([], 400, history=turns("old " * 90, "middle " * 30, "new " * 20))
    assert [placed.entry.ref for placed in made.tail] == ["turn:2", "turn:3"]
    assert reason(made, "turn:1") == "over budget"


def test_a_single_turn_that_is_too_large_is_cut_with_a_mark() -> None:
    made = packed([], 400, history=turns("old", "word " * 1000))
    assert [placed.entry.ref for placed in made.tail] == ["turn:2"]
    assert made.text.split("\n")[-3].endswith("… (cut)") and 120 < made.tail[0].tokens <= 160


def test_what_tools_said_is_untrusted_and_turns_of_the_session_are_exempt() -> None:
    history = [(1, Turn("user", "look")), (2, Turn("tool", "output")), (3, Turn("assistant", "done"))]
    assert "[turn:2] tool untrusted: output" in packed([], history=history).text
    made = packed([], history=history, min_trust="trusted")
    assert [placed.entry.ref for placed in made.tail] == ["turn:1", "turn:3"]
    assert reason(made, "turn:2") == "below min trust"


# The contradiction


def test_a_contradiction_gets_room_behind_what_it_speaks_against() -> None:
    entries = [Entry(f"M-{n}", f"{n} filler that takes room in the pack", score=1 - n / 100) for n in range(30)]
    entries.append(Entry("M-99", "Rent is 900 euros a month, heating and water included.", score=0.01))
    against = Against("M-99", "M-1", "numbers")
    assert "M-99" not in refs(packed(entries, 200))
    made = packed(entries, 200, against=against)
    assert refs(made)[:3] == ["M-0", "M-1", "M-99"] and made.contradiction == against
    assert "[3] observation contradicts [2]: Rent is 900 euros a month" in made.text


@pytest.mark.parametrize("lane", ["hot", "warm"])
def test_a_full_lane_does_not_hide_a_contradiction(lane: str) -> None:
    filler = "a note about seats and the invoice template that somebody wrote down in a long meeting"
    entries = [Entry(f"M-{n}", f"{n} {filler} {n}", lane="hot", score=1 - n / 100) for n in range(3)]
    entries.append(Entry("M-8", "We bill per seat.", lane="hot", score=0.9))
    entries.append(Entry("M-9", "We do not bill per seat.", lane=lane, score=0.1))
    for budget in range(120, 400, 20):
        made = packed(entries, budget, against=Against("M-9", "M-8", "denied"))
        assert {"M-8", "M-9"} <= {*refs(made)}
        assert f"contradicts [{1 + refs(made).index('M-8')}]" in made.text and made.contradiction


def test_what_is_more_trusted_stands_before_the_better_one_that_it_contradicts() -> None:
    entries = [Entry(f"M-{n}", f"thing number {n}", score=1 - n / 10) for n in range(4)]
    made = packed(entries, against=Against("M-0", "M-2", ""))
    assert refs(made) == ["M-2", "M-0", "M-1", "M-3"] and made.placed[1].against == "M-2"


def test_without_what_it_speaks_against_nothing_is_marked() -> None:
    entries = [Entry("M-1", long(1), score=1), Entry("M-2", "Rent.", score=0.5)]
    made = packed(entries, 33, against=Against("M-2", "M-1", ""))
    assert refs(made) == ["M-2"] and made.contradiction is None and "contradicts" not in made.text


# Always


def test_a_budget_too_small_for_anything_gives_nothing() -> None:
    made = packed([Entry("M-1", "thing")], 10, history=turns("a question of some length"))
    assert (made.text, made.tokens, made.placed, made.tail) == ("", 0, (), ())
    assert {r.reason for r in made.receipts} == {"over budget"}


def test_a_count_that_is_not_additive_never_breaks_the_budget() -> None:
    entries = [Entry(f"M-{n}", f"{n} some words", score=-n) for n in range(60)]
    made = packed(entries, 150, count=words_and_a_half)
    assert 100 < made.tokens == words_and_a_half(made.text) <= 150
    assert refs(made) == [f"M-{n}" for n in range(len(made.placed))], "the least go first"


def test_a_receipt_holds_nothing_of_the_content() -> None:
    assert set(Receipt._fields) & {"text", "told", "lines"} == set()
    made = packed([Entry("M-1", "secret plum"), Entry("M-2", "secret plum")], history=turns("secret pear"))
    assert "secret" not in str(made.receipts) and len(made.receipts) == 3


texts = st.one_of(
    st.text(max_size=200),
    st.integers(0, len(PAYLOADS) - 1).map(PAYLOADS.__getitem__),
    st.lists(st.sampled_from("rent is 900 euros the office opens at eight. Ann\n".split(" ")), max_size=120).map(
        " ".join
    ),
)
some = st.builds(
    Entry,
    ref=st.integers(0, 30).map(lambda n: f"M-{n}") | st.sampled_from(("a] b.md:1-2", "x\n[y].md:3-4")),
    text=texts,
    kind=st.just("item"),
    type=st.just("fact"),
    importance=st.just(0.5),
    use=st.just(""),
    fact=st.none(),
    state=st.sampled_from(("", "expired", "unused")),
    lane=st.sampled_from(("hot", "warm", "cold")),
    trust=st.sampled_from(("trusted", "agent", "untrusted", "odd")),
    score=st.sampled_from((0.0, 0.3, 0.5, 1.7)),
    was=texts,
    newer=st.sampled_from(("", "M-31")),
    at=st.sampled_from(("", "2026-02-24T14:30:00.000Z", "2025-01-01T00:00:00.000Z")),
)
counts = st.sampled_from((token_cost, len, words_and_a_half, lambda text: len(text.encode("utf-8", "replace")) // 3))


@settings(deadline=None)
@given(
    st.lists(some, max_size=30, unique_by=lambda entry: entry.ref),
    st.integers(1, 3000),
    counts,
    st.lists(st.tuples(st.sampled_from(("user", "tool")), texts), max_size=4),
    st.sampled_from(("", "agent", "trusted")),
    st.randoms(),
)
def test_every_pack_is_within_budget_cited_and_the_same_whatever_the_order(
    entries: list[Entry],
    budget: int,
    count: Callable[[str], int],
    said: list[tuple[str, str]],
    least: str,
    rnd: object,
) -> None:
    history = [*enumerate((Turn(*each) for each in said), 1)]
    ranked = choose(entries, Limits(budget, min_trust=least)).ranked
    against = Against(ranked[-1].ref, ranked[0].ref, "") if len(ranked) > 1 else None
    how = {"count": count, "history": history, "asked": {"rent"}, "against": against, "min_trust": least}
    how["in_time"] = len(entries) % 2 > 0
    made = packed(entries, budget, **how)
    assert made.tokens <= budget and made.tokens == (count(made.text) if made.text else 0)
    placed = refs(made)
    assert len(placed) == len({*placed}), "nothing twice"
    sources = [" ".join(ref.split()) for ref in (*placed, *(each.entry.ref for each in made.tail))]
    assert faults(made.text, sources) == []
    shuffled = entries.copy()
    rnd.shuffle(shuffled)  # type: ignore[attr-defined]
    assert packed(shuffled, budget, **how) == made
    known = sorted((*(entry.ref for entry in entries), *(f"turn:{n}" for n, _ in history)))
    assert sorted(receipt.ref for receipt in made.receipts) == known
    assert {r.ref for r in made.receipts if r.included} == {*placed, *(each.entry.ref for each in made.tail)}
