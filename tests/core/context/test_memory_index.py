from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.context.memory_index import (
    LONGEST,
    Foremost,
    Lines,
    add_digests,
    digest_items,
    find_topics,
    may_be_shown,
)
from mabos_cli.core.memory.item import TYPES, MemoryItem, glance_of

quick = settings(deadline=None, derandomize=True)
NOW = "2026-02-24T14:30:00.000Z"
ROOM = 6000


def item(number, text="A short sentence", **fields):
    at = f"2026-01-{number % 28 + 1:02d}T00:00:00.000Z"
    return MemoryItem(f"M-{number}-0000", text, created_at=at, **fields)


def survey(items, room=ROOM, **how):
    return digest_items(map(glance_of, items), items, {}, NOW, room, **how)


def ids(lines):
    return [line.id for line in lines]


def test_critical_items_stand_by_importance_then_newest():
    found, lines = survey(
        [
            item(1, importance=0.95, type="preference"),
            item(2, importance=0.95, type="event"),
            item(3, importance=1.0),
            item(4, importance=0.94),
        ]
    )
    assert ids(lines.critical) == ["M-3-0000", "M-2-0000", "M-1-0000"]
    assert found.shown == {"critical": 3, "lately": 1}


def test_projects_and_instructions_stand_by_importance_then_newest_and_critical_ones_are_not_listed_twice():
    high = {"importance": 0.8}
    for type, name in (("project", "projects"), ("instruction", "instructions")):
        _, lines = survey(
            [item(1, type=type, **high), item(2, type=type), item(3, type=type), item(4, type=type, importance=1.0)]
        )
        assert ids(getattr(lines, name)) == ["M-1-0000", "M-3-0000", "M-2-0000"]
        assert ids(lines.critical) == ["M-4-0000"]


def test_what_happened_lately_stands_by_time_and_what_merely_passes_behind_it():
    kinds = {1: "decision", 2: "observation", 3: "plan", 4: "fact", 5: "preference"}
    _, lines = survey([item(n, type=kind, importance=0.9 if n == 1 else 0.5) for n, kind in kinds.items()])
    assert ids(lines.lately) == ["M-3-0000", "M-1-0000", "M-2-0000"]
    assert (ids(lines.known), ids(lines.instructions)) == (["M-4-0000"], ["M-5-0000"])


def test_lines_of_one_moment_stand_in_the_order_of_their_ids():
    at = "2026-01-05T00:00:00.000Z"
    rules = [MemoryItem(f"M-{n}-0000", "x", "instruction", created_at=at) for n in (2, 3, 1)]
    assert ids(survey(rules)[1].instructions) == ["M-1-0000", "M-2-0000", "M-3-0000"]


def test_topics_are_first_tags_that_enough_facts_share():
    kiln = [item(n, type="fact", tags=("Kiln room", "studio")) for n in range(5)]
    shop = [item(n + 5, type="plan", tags=("facts", "studio")) for n in range(4)]
    decided = [item(n + 9, type="decision", tags=("studio",)) for n in range(5)]
    assert find_topics([*kiln, *shop, *decided]) == {x.id: "kiln-room" for x in kiln}
    assert find_topics([*kiln[1:], *shop]) == {x.id: "studio" for x in (*kiln[1:], *shop)}


def test_untrusted_and_expired_items_are_not_shown():
    found, lines = survey(
        [
            item(1, importance=1.0, trust="untrusted"),
            item(2, importance=1.0, trust="sworn"),
            item(3, importance=1.0, expires_at=NOW),
            item(4, importance=1.0, expires_at="2026-03-01T00:00:00.000Z"),
        ]
    )
    assert ids(lines.critical) == ["M-4-0000"]
    assert (found.shown, found.untrusted) == ({"critical": 1}, 2)
    assert found.until == "2026-03-01T00:00:00.000Z"
    assert found.priorities == {"critical": 4}


def test_trust_is_what_the_judge_says():
    found, lines = survey([item(1, importance=1.0, derived_from=("M-9-0000",))], trust_of=lambda _: "untrusted")
    assert (lines.critical, found.untrusted, found.derived) == ((), 1, True)


def test_text_stands_on_one_line_and_a_long_one_is_cut_and_known_as_such():
    texts = ("Ask first.\n- always", "Parts:\n- a\n- b", "word " * LONGEST)
    lines = survey([item(n, text, importance=1.0) for n, text in enumerate(texts)])[1]
    told = {line.id: line for line in lines.critical}
    assert told["M-0-0000"].text == "Ask first. always"
    assert told["M-1-0000"].text == "Parts: a; b"
    assert told["M-2-0000"].text.endswith("word…")
    assert told["M-2-0000"].size > LONGEST >= len(told["M-2-0000"].text)


def test_use_and_size_are_counted():
    found, _ = survey([item(1, "four", access_count=2, accessed_at=NOW), item(2, "four", accessed_at="2027-01-01")])
    assert (found.size, found.used_at) == (8, NOW)


items = st.lists(
    st.builds(
        lambda n, **fields: item(n, **fields),
        st.integers(0, 200),
        importance=st.sampled_from((0.2, 0.8, 0.95, 1.0)),
        type=st.sampled_from(TYPES),
        trust=st.sampled_from(("untrusted", "agent", "trusted")),
        expires_at=st.sampled_from(("", NOW, "2026-05-01T00:00:00.000Z", "2026-04-01T00:00:00.000Z")),
    ),
    unique_by=lambda x: x.id,
    max_size=30,
)


@quick
@given(items, st.lists(st.integers(0, 30), max_size=4), st.sampled_from((20, 40, 200, ROOM)))
def test_parts_add_up_to_the_whole(found, cuts, room):
    ends = [0, *sorted(cuts), len(found)]
    parts = [survey(found[start:end], room) for start, end in pairwise(ends)]
    digest, lines = survey(found, room)
    assert add_digests([each for each, _ in parts]) == digest
    foremost = Foremost()
    for number, (_, shown) in enumerate(parts[:-1]):
        foremost.put(f"page {number}", shown, room)
    assert texts(foremost.choose(parts[-1][1], room)) == texts(lines)


def texts(lines):
    return [[line.id for line in section] for section in lines]


def test_foremost_lines_are_told_only_as_long_as_they_are_known(monkeypatch):
    monkeypatch.setattr("mabos_cli.core.context.memory_index._SPARE", 3)
    foremost, room = Foremost(), 60
    for page in range(4):
        found = [item(4 * n + page, importance=1.0) for n in range(6)]
        foremost.put(str(page), survey(found, room)[1], room)
    best = ids(foremost.choose(Lines(), room).critical)
    assert len(best) == 3 and len(foremost.lines.critical) == 6 and foremost.floors
    gone = foremost.lines.critical[0].part
    foremost.put(gone, Lines(), room)
    told = foremost.choose(Lines(), room)
    assert told is None or ids(told.critical) == ids(foremost.lines.critical)[:3]
    for page in range(4):
        foremost.put(str(page), Lines(), room)
    assert foremost.choose(Lines(), room) is None


def test_nothing_adds_up_to_nothing():
    assert add_digests([]) == survey([])[0]
    assert Foremost().choose(Lines(), ROOM) == survey([])[1]


@quick
@given(items)
def test_only_what_may_be_shown_needs_to_be_decoded(found):
    needed = [x for x in found if may_be_shown(x) or x.expires_at]
    assert digest_items(map(glance_of, found), needed, {}, NOW, ROOM) == survey(found)
