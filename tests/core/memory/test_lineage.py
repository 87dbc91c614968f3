"""An item is trusted as the least of what it derives from, and a person's word ends the search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.fakes import make_item
from mabos_cli.core.memory import trust as lineage
from mabos_cli.core.memory.item import TRUSTS
from mabos_cli.core.memory.trust import Decision, effective_trust, find_rulings, judge, mark_text, trust_rank


def family(**members):
    """Items by name: (trust, sources), or (trust, sources, content)."""
    items = {}
    for name, (trust, sources, *content) in members.items():
        item = make_item(0, content[0] if content else f"text of {name}", trust=trust, derived_from=tuple(sources))
        items[name] = item._replace(id=name)
    return items


def trust_of(items, name, *decisions):
    return effective_trust(items[name], items.get, find_rulings(decisions))


def decide(item, to, before="untrusted", content=None):
    text = mark_text(item.content if content is None else content)
    return Decision("2026-02-24T14:30:00.000Z", item.id, before, to, "ada", "", text)


def test_without_sources_an_item_is_trusted_as_it_says_and_nobody_is_asked():
    def find(item_id):
        raise AssertionError("there is nothing to look for")

    assert [effective_trust(make_item(1, trust=trust), find) for trust in TRUSTS] == list(TRUSTS)
    assert effective_trust(make_item(1, trust="verified"), find) == "untrusted"
    assert effective_trust(make_item(1, trust="untrusted", derived_from=("x",)), find) == "untrusted"


def test_the_least_trusted_source_decides_however_far_it_is():
    items = family(a=("trusted", "bc"), b=("trusted", "d"), c=("agent", ()), d=("trusted", "e"), e=("untrusted", ()))
    found = judge(items["a"], items.get)
    assert found == ("untrusted", ("a", "b", "d", "e"), lineage.CLAIMED)
    assert [trust_of(items, name) for name in "abcde"] == [
        "untrusted",
        "untrusted",
        "agent",
        "untrusted",
        "untrusted",
    ]


def test_an_observation_is_untrusted_and_what_is_not_known_makes_nothing_trusted():
    items = family(a=("trusted", ["O-1-0000"]), b=("trusted", ["M-1-ffff"]), c=("agent", ["M-1-ffff"]))
    assert judge(items["a"], items.get) == ("untrusted", ("a", "O-1-0000"), lineage.OBSERVED)
    assert judge(items["b"], items.get) == ("agent", ("b", "M-1-ffff"), lineage.UNKNOWN)
    assert judge(items["c"], items.get) == ("agent", ("c",), lineage.CLAIMED)


def test_circles_end():
    items = family(a=("trusted", "ab"), b=("agent", "ca"), c=("trusted", "b"))
    assert [trust_of(items, name) for name in "abc"] == ["agent", "agent", "agent"]


def test_a_lineage_without_end_is_not_trusted():
    """Every source names another one that nobody has seen before."""
    asked = []

    def find(item_id):
        asked.append(item_id)
        return make_item(0, trust="trusted", derived_from=(f"{int(item_id) + 1}",))._replace(id=item_id)

    found = judge(find("0"), find)
    assert (found.trust, found.why) == ("untrusted", lineage.ENDLESS)
    assert len(asked) <= lineage.MOST + 1


def test_a_person_vouches_for_a_text_and_for_what_derives_from_it():
    items = family(a=("trusted", "b"), b=("trusted", ["O-1-0000"]))
    assert trust_of(items, "a") == "untrusted"
    assert trust_of(items, "b", decide(items["b"], "trusted")) == "trusted"
    assert trust_of(items, "a", decide(items["b"], "trusted")) == "trusted"
    assert trust_of(items, "a", decide(items["b"], "agent")) == "agent"
    assert judge(items["b"], items.get, find_rulings([decide(items["b"], "agent")])).why == lineage.VOUCHED


def test_nobody_vouches_for_another_text():
    items = family(a=("trusted", ["O-1-0000"]), b=("trusted", ()))
    for name in "ab":
        vouched = decide(items[name], "trusted", content="what it said before")
        assert trust_of(items, name, vouched) == "untrusted"
    # Two steps up: an edit falls back to where it all began.
    steps = [decide(items["b"], "agent"), decide(items["b"], "trusted", before="agent", content="other")]
    assert judge(items["b"], items.get, find_rulings(steps)) == ("untrusted", ("b",), lineage.EDITED)


def test_the_last_word_counts_and_a_line_that_says_more_does_not():
    [item] = family(a=("trusted", ())).values()
    up, down = decide(item, "trusted"), decide(item, "untrusted", before="trusted")
    assert trust_of({"a": item}, "a", up, down) == "untrusted"
    assert trust_of({"a": item}, "a", down, up) == "trusted"
    assert trust_of({"a": item._replace(trust="agent")}, "a", up) == "agent"


@pytest.mark.parametrize("one, other", [("a", "b"), ("a\n", "a"), ("", " "), ("\ud800", "\ud801")])
def test_texts_have_marks_of_their_own(one: str, other: str):
    assert mark_text(one) != mark_text(other)
    assert mark_text(one) == mark_text(one)


_NAMES = "abcdefgh"
_graphs = st.fixed_dictionaries(
    {name: st.tuples(st.sampled_from(TRUSTS), st.lists(st.sampled_from(_NAMES), max_size=3)) for name in _NAMES}
)


@given(_graphs, st.sets(st.sampled_from(_NAMES), max_size=2))
def test_effective_trust_is_the_minimum_over_all_that_can_be_reached(graph, vouched):
    items = family(**graph)
    decisions = [decide(items[name], "trusted") for name in vouched]
    rulings = find_rulings(decisions)

    def reached(name, seen):
        if name not in seen:
            seen.add(name)
            for source in () if name in vouched else items[name].derived_from:
                reached(source, seen)
        return seen

    for name in _NAMES:
        found = judge(items[name], items.get, rulings)
        assert found.trust == TRUSTS[min(trust_rank(items[n].trust) for n in reached(name, set()))]
        assert (found.path[0], items[found.path[-1]].trust) == (name, found.trust)
        steps = zip(found.path, found.path[1:], strict=False)
        assert all(below in items[above].derived_from for above, below in steps)
