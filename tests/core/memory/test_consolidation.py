from string import ascii_letters

from hypothesis import given, settings
from hypothesis import strategies as st

from core.fakes import NOW, ago, live_ids, make_item, make_memory, minter, resolvable_ids, settle
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.consolidation import describe_group, group_alike, group_by_tags, plan_consolidation
from mabos_cli.core.memory.item import Prose, is_worded, types_of
from mabos_cli.core.memory.stores import Limits

quick = settings(deadline=None, derandomize=True)
mint = minter()
NEW_ID = "M-1800000000000-0000"


def consolidate(memory, limits=None, **options):
    return plan_consolidation(memory, limits or Limits(), now=NOW, mint=minter(), **options)


def strong(number, content="", **fields):
    return make_item(number, content, **({"importance": 0.8} | fields))


def numbers(groups):
    return [[int(item.id.split("-")[1]) - 1_700_000_000_000 for item in group] for group in groups]


def group(*tag_texts, threshold=0.3):
    items = [make_item(n, tags=tuple(text.split())) for n, text in enumerate(tag_texts)]
    return numbers(group_by_tags(items, threshold))


# Groups


def test_items_with_alike_tags_form_a_group():
    assert group("a b", "c", "a b", "c d") == [[0, 2], [1, 3]]


def test_likeness_must_be_above_the_threshold():
    ten = "a b c d e f g h i j"
    assert group(ten, "a b c") == [[0], [1]]
    assert group(ten, "a b c d") == [[0, 1]]


def test_only_the_first_item_of_a_group_decides():
    assert group("a b", "b c", "c d") == [[0, 1], [2]]


def test_first_group_that_fits_takes_the_item():
    assert group("a x", "b y", "a b") == [[0, 2], [1]]


def test_items_without_tags_stand_alone():
    assert group("", "", "a", "") == [[0], [1], [2], [3]]


def test_tag_given_twice_counts_once():
    assert group("a a a b c", "a d e f") == [[0], [1]]


def group_naively(items, threshold):
    """The definition, item by item against every group's first item."""
    groups = []
    for item in items:
        mine = set(item.tags)
        for members in groups:
            theirs = set(members[0].tags)
            if mine and theirs and len(mine & theirs) / len(mine | theirs) > threshold:
                members.append(item)
                break
        else:
            groups.append([item])
    return [tuple(members) for members in groups]


@quick
@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=5).map(tuple), max_size=30),
    st.sampled_from((0.0, 0.2, 0.25, 0.3, 1 / 3, 0.5, 1.0)),
)
def test_groups_are_those_of_the_definition(tag_lists, threshold):
    items = [make_item(n, tags=tags) for n, tags in enumerate(tag_lists)]
    assert group_by_tags(items, threshold) == group_naively(items, threshold)


def test_ten_thousand_varied_candidates_are_grouped():
    items = [make_item(n, tags=(f"topic{n % 997}", f"area{n % 997 // 2}", f"team{n % 89}")) for n in range(10_000)]
    groups = group_by_tags(items, 0.3)
    assert sorted(item.id for members in groups for item in members) == sorted(item.id for item in items)
    assert len(groups) < 10_000


def test_ten_thousand_candidates_with_the_same_tags_are_one_group():
    [members] = group_by_tags([make_item(n, tags=("a", "b")) for n in range(10_000)], 0.3)
    assert len(members) == 10_000


def test_common_tag_among_many_rare_ones_groups_nothing():
    items = [make_item(n, tags=("common", f"x{n}", f"y{n}", f"z{n}")) for n in range(800)]
    assert len(group_by_tags(items, 0.3)) == 800


# Who takes part


def test_candidates_are_the_important_and_the_used():
    short = [
        strong(1, importance=0.6),
        make_item(2, access_count=2),
        make_item(3, importance=0.59, access_count=1),
    ]
    working = [strong(11, importance=0.6), make_item(12, importance=0.59, access_count=9)]
    plan = consolidate(make_memory(working, short))
    assert numbers(members for _, members in plan.groups) == [[1], [2], [11]]
    assert plan.candidates == 3
    assert numbers([plan.changes.short_term, plan.changes.working]) == [[3], [12]]


def test_limits_decide_who_takes_part():
    memory = make_memory([], [make_item(1, importance=0.4), make_item(2, importance=0.2, access_count=1)])
    assert consolidate(memory, Limits(min_importance=0.4, min_access=5)).candidates == 1
    assert consolidate(memory, Limits(min_importance=0.9, min_access=1)).candidates == 1


def test_nothing_to_consolidate_changes_nothing():
    memory = make_memory([make_item(1)], [make_item(2)])
    plan = consolidate(memory)
    assert plan.groups == ()
    assert (plan.changes.working, plan.changes.short_term) == (memory.working, memory.short_term)
    assert plan.changes.put == plan.changes.archive == plan.changes.log == plan.changes.promoted == ()


def test_candidate_past_its_own_date_is_archived_and_not_consolidated():
    item = strong(1, expires_at=ago(minutes=1))
    changes = consolidate(make_memory([], [item])).changes
    assert changes.put == ()
    assert [(d.item, d.reason) for d in changes.archive] == [(item, "expired")]


def test_what_is_left_is_tidied():
    stale = make_item(1, created_at=ago(hours=3))
    changes = consolidate(make_memory([], [stale, strong(2)])).changes
    assert changes.short_term == ()
    assert [(d.item, d.reason) for d in changes.archive] == [(stale, "expired")]


# What a group becomes


def test_group_of_one_moves_unchanged():
    item = strong(1, tags=("a",), access_count=3, context="why", extra=(("x", 1),))
    plan = consolidate(make_memory([], [item]))
    assert plan.changes.put == plan.changes.promoted == (item,)
    assert plan.changes.short_term == plan.changes.archive == plan.changes.log == ()


def test_group_becomes_one_item_that_names_its_sources():
    one = strong(1, "first", tags=("b", "a"), type="lesson", importance=0.7, created_at=ago(minutes=9))
    two = strong(2, "second", tags=("a", "c"), type="decision", importance=0.9, created_at=ago(minutes=3))
    three = strong(3, "third", tags=("a", "b"), type="fact", importance=0.8, created_at=ago(minutes=5))
    [(item, members)] = consolidate(make_memory([], [one, two, three])).groups
    assert members == (one, two, three)
    assert item.id == NEW_ID
    assert item.content == "[Consolidated from 3 memories] second | third | first"
    assert (item.type, item.importance, item.source) == ("decision", 0.9, "consolidation")
    assert item.tags == ("b", "a", "c")
    assert item.derived_from == (one.id, two.id, three.id)
    assert item.created_at == ago(minutes=3)
    assert item.extra == (("members", {"decision": 1, "fact": 1, "lesson": 1}),)
    assert set(types_of(item)) == {"decision", "fact", "lesson"}, "and it is found by each"


def test_first_of_equally_important_gives_the_type():
    items = [strong(1, tags=("a",), type="lesson"), strong(2, tags=("a",), type="decision")]
    assert consolidate(make_memory([], items)).changes.put[0].type == "lesson"


def test_memories_are_grouped_with_those_that_are_trusted_alike():
    """A planted memory rises by no company, and pulls nobody down."""
    levels = ("trusted", "untrusted", "agent", "trusted", "untrusted")
    items = [strong(n, f"storm damage {n}", tags=("a",), trust=level) for n, level in enumerate(levels)]
    plan = consolidate(make_memory([], items))
    assert [(i.trust, [m.id for m in members]) for i, members in plan.groups] == [
        ("trusted", [items[0].id, items[3].id]),
        ("untrusted", [items[1].id, items[4].id]),
        ("agent", [items[2].id]),
    ]
    assert plan.untrusted == 1


def test_a_group_is_trusted_as_its_lineage_is_whatever_its_members_say():
    items = [strong(n, tags=("a",), trust="trusted") for n in range(3)]
    plan = consolidate(
        make_memory([], items), trust_of=lambda item: "untrusted" if item.id == items[1].id else item.trust
    )
    assert [(i.trust, len(members)) for i, members in plan.groups] == [("trusted", 2), ("untrusted", 1)]


def test_originals_are_archived_with_what_they_became():
    short, working = strong(1, tags=("a",)), strong(2, tags=("a",))
    changes = consolidate(make_memory([working], [short])).changes
    assert [(d.item, d.store, d.reason, d.at, d.into) for d in changes.archive] == [
        (short, "short_term", "consolidated", format_time(NOW), NEW_ID),
        (working, "working", "consolidated", format_time(NOW), NEW_ID),
    ]
    assert changes.working == changes.short_term == ()


def test_only_new_items_are_logged_but_all_are_promoted():
    memory = make_memory([], [strong(1, tags=("a",)), strong(2, tags=("z",)), strong(3, tags=("a",))])
    changes = consolidate(memory).changes
    assert [i.id for i in changes.log] == [NEW_ID]
    assert [i.id for i in changes.promoted] == [NEW_ID, make_item(2).id]


def test_without_summaries_every_candidate_moves_unchanged():
    items = (strong(1, tags=("a",)), strong(2, tags=("a",)))
    changes = consolidate(make_memory([], items), summarize=False).changes
    assert changes.put == items
    assert changes.archive == changes.log == ()


def test_threshold_is_a_setting():
    items = [strong(1, tags=("a", "b")), strong(2, tags=("a", "c"))]
    assert len(consolidate(make_memory([], items), jaccard=0.3).groups) == 1
    assert len(consolidate(make_memory([], items), jaccard=0.5).groups) == 2


def decode_item(number, code):
    """An item with everything that decides about consolidation, drawn from one number."""
    code, importance = divmod(code, 3)
    code, uses = divmod(code, 4)
    code, age = divmod(code, 200)
    tags = tuple(tag for n, tag in enumerate("abcd") if code >> n & 1)
    return make_item(
        number,
        importance=(0.2, 0.6, 0.9)[importance],
        access_count=uses,
        tags=tags,
        created_at=ago(minutes=age),
    )


codes = st.integers(0, 3 * 4 * 200 * 16 - 1)


@quick
@given(st.lists(codes, max_size=7), st.lists(codes, max_size=15), st.booleans())
def test_consolidation_loses_no_id_and_leaves_no_candidate(working, short_term, summarize):
    memory = make_memory(
        [decode_item(n, code) for n, code in enumerate(working)],
        [decode_item(100 + n, code) for n, code in enumerate(short_term)],
        [make_item(500)],
    )
    plan = consolidate(memory, summarize=summarize)
    assert set(live_ids(memory)) <= resolvable_ids(memory, plan.changes)
    after = settle(memory, plan.changes)
    assert len(live_ids(after)) == len(set(live_ids(after)))
    assert {i for item in plan.changes.put for i in item.derived_from} == {
        d.item.id for d in plan.changes.archive if d.reason == "consolidated"
    }
    assert consolidate(after).groups == ()


# What belongs together


def test_a_shared_catch_all_is_not_enough():
    said = ("Dana prefers tea", "The toll box is empty", "Oven two is hot", "Rent is paid", "Oven two needs a seal")
    items = [strong(n, text, tags=("work",)) for n, text in enumerate(said)]
    groups = consolidate(make_memory([], items)).groups
    assert numbers(members for _, members in groups) == [[0], [1], [2, 4], [3]]


def test_a_catch_all_beside_a_topic_does_not_part_it():
    items = [strong(n, text, tags=("work", "ovens" if n % 2 else "staff")) for n, text in enumerate(ascii_letters[:8])]
    groups = consolidate(make_memory([], items)).groups
    assert numbers(members for _, members in groups) == [[0, 2, 4, 6], [1, 3, 5, 7]]


def test_a_topic_that_all_name_is_no_catch_all():
    items = [
        strong(n, f"Acme {verb}", tags=("acme",)) for n, verb in enumerate(("pays", "calls", "moves", "grows", "hires"))
    ]
    assert len(consolidate(make_memory([], items)).groups) == 1


def test_instructions_preferences_and_people_stay_among_their_kind():
    kinds = ("fact", "instruction", "decision", "preference", "person", "instruction")
    items = [strong(n, f"about storm damage {n}", type=kind, tags=("storm", "harbour")) for n, kind in enumerate(kinds)]
    groups = consolidate(make_memory([], items)).groups
    assert numbers(members for _, members in groups) == [[0, 2], [1, 5], [3], [4]]


def test_ten_thousand_candidates_under_one_catch_all_are_not_compared_with_each_other():
    items = [make_item(n, f"word{n % 4000} thing{n % 4000} other{n}", tags=("work",)) for n in range(10_000)]
    groups = group_by_tags(items, 0.3, {"work"})
    assert len(groups) == 4000 and sum(map(len, groups)) == 10_000


# Over the weeks


def week_of(number, *texts, **fields):
    """What was consolidated so many weeks ago."""
    members = [strong(100 * number + n, text, tags=("ovens",)) for n, text in enumerate(texts)]
    created = ago(days=7 * number + 1)
    extra = (("members", {"observation": len(members)}),)
    return make_item(
        100 * number + 99,
        f"[Consolidated from {len(members)} memories] {' | '.join(texts)}",
        **({"importance": 0.8, "source": "consolidation", "tags": ("ovens",), "created_at": created} | fields),
        derived_from=tuple(member.id for member in members),
        extra=extra,
    )


def test_a_topic_is_consolidated_again_over_the_weeks():
    weeks = [week_of(n, f"Oven {n} lost heat", f"Seal {n} was old") for n in (3, 2, 1)]
    memory = make_memory([], [strong(1)], weeks)
    plan = consolidate(memory)
    [(moved, _), (standing, members)] = plan.groups
    assert (moved.id, members) == (strong(1).id, tuple(weeks))
    assert standing.content.startswith("[Consolidated from 6 memories] ")
    assert standing.derived_from == tuple(week.id for week in weeks)
    assert plan.changes.drop == standing.derived_from and standing.id not in {i.id for i in plan.changes.promoted}
    assert {(d.item.id, d.store, d.into) for d in plan.changes.archive} == {
        (w.id, "long_term", standing.id) for w in weeks
    }
    assert len(consolidate(settle(memory, plan.changes)).groups) == 0, "once"


def test_what_was_consolidated_lately_rests_and_so_does_all_without_new_memories():
    weeks = [week_of(2, "Oven 2 lost heat"), week_of(1, "Oven 1 lost heat", created_at=ago(days=3))]
    assert [len(members) for _, members in consolidate(make_memory([], [strong(1)], weeks)).groups] == [1]
    assert consolidate(make_memory([], [], [week_of(2, "a b"), week_of(1, "a b")])).groups == ()


def test_a_standing_item_stays_small_and_its_tree_narrow():
    memory = make_memory([], [], [])
    for number in range(60, 0, -1):
        long = week_of(
            number, *(f"Oven {number}{n} lost {number * n} degrees in the night of Monday {n}" for n in range(9))
        )
        memory = make_memory([], [strong(1)], [*memory.long_term, long])
        memory = settle(memory, plan_consolidation(memory, Limits(), now=NOW, mint=mint).changes)
        memory = make_memory([], [], [item for item in memory.long_term if item.id != strong(1).id])
    [standing] = memory.long_term
    assert standing.content.startswith("[Consolidated from 540 memories] ")
    assert len(standing.content) < 3100 and len(standing.derived_from) <= 12 and standing.tags == ("ovens",)


# Words of a model


def test_a_worded_group_keeps_all_but_the_joined_text():
    items = [strong(1, "Acme wants EUR", tags=("acme",)), strong(2, "Acme pays late", tags=("acme",))]
    memory = make_memory(short_term=items)
    plain = consolidate(memory).groups[0][0]
    prose = {describe_group(items): Prose("Acme wants EUR and pays late", "llm:m")}
    worded = consolidate(memory, prose=prose).groups[0][0]
    assert worded.content == "[Consolidated from 2 memories] Acme wants EUR and pays late"
    assert worded.extra == (("written_by", "llm:m"), *plain.extra)
    assert worded._replace(content=plain.content, extra=plain.extra) == plain


def test_a_group_that_changed_since_it_was_told_is_joined():
    items = [strong(1, "Acme wants EUR", tags=("acme",)), strong(2, "Acme pays late", tags=("acme",))]
    prose = {describe_group(items): Prose("Acme wants EUR and pays late", "llm:m")}
    for now in (
        [items[0], items[1]._replace(content="Acme pays")],
        [*items, strong(3, "Acme moved", tags=("acme",))],
    ):
        [(item, _)] = consolidate(make_memory(short_term=now), prose=prose).groups
        assert " | " in item.content and not is_worded(item)


def test_what_is_critical_stays_as_it_was_said():
    items = [make_item(n, tags=("quay",), importance=0.95 if n == 2 else 0.7) for n in range(4)]
    assert [len(group) for group in group_alike(items, 0.3)] == [3, 1]
