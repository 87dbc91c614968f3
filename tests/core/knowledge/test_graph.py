"""Walking the graph of facts."""

from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.graph import Graph, find_concerns, find_neighbors, find_path, match_idea

quick = settings(deadline=None, derandomize=True)
nodes = st.sampled_from([*"abcdefgh", "5", "true"])
edges = st.lists(st.tuples(nodes, st.sampled_from("pq"), nodes, st.sampled_from([0.2, 0.5, 1.0])), max_size=14)


def graph_of(found):
    return Graph(Fact(f"F-{n}", s, p, o, sure) for n, (s, p, o, sure) in enumerate(found))


def distances(found, start):
    """As simple as can be: how many steps away each node is."""
    known, layer = {start: 0}, {start}
    while layer:
        reach = set()
        for s, _, o, _ in found:
            for a, b in ((s, o), (o, s)):
                if a in layer and b not in known and (a not in ("5", "true") or a == start):
                    reach.add(b)
        known |= {node: max(known.values()) + 1 for node in reach}
        layer = reach
    return known


@quick
@given(edges, nodes)
def test_neighbours_and_ways_are_as_near_as_can_be(found, start):
    graph = graph_of(found)
    far = distances(found, start)
    near = {each.node: each.hops for each in find_neighbors(graph, start, 12)}
    assert near == {node: steps for node, steps in far.items() if steps}
    for goal in "abcdefgh":
        way = find_path(graph, start, goal, 12)
        assert (way is None) == (goal not in far)
        if way is not None:
            assert len(way) == far[goal]
            ends = [start, *(edge.end for edge in way)]
            assert [edge.start for edge in way] == ends[:-1] and ends[-1] == goal
        assert find_path(graph, start, goal, max(0, far.get(goal, 0) - 1)) is None or goal == start


@quick
@given(edges)
def test_a_match_is_justified_and_does_not_depend_on_order(found):
    matches = match_idea(graph_of(found), "a and b", 2, 0)
    assert matches == match_idea(graph_of(found), "b a", 2, 0)
    for each in matches:
        assert each.words or each.path
        assert all(edge.fact.triple for edge in each.path)


def test_ideas_about_thousands_of_things_stay_bounded():
    hub = [Fact(f"F-{n}", f"customer-{n}", "buysFrom", "acme", 0.9) for n in range(8_000)]
    graph = Graph([*hub, Fact("F-x", "acme", "isA", "Company")])
    assert len(match_idea(graph, "customer churn", 3, 10)) == 10
    assert match_idea(graph, "acme", 2, 1)[0].node == "acme"


def test_what_to_know_before_work():
    told = [
        ("x", "isA", "Project"), ("y", "isA", "Project"), ("x", "dependsOn", "store"), ("store", "status", "stalled"),
        ("x", "blockedBy", "review"), ("x", "waitsFor", "legal"), ("legal", "status", "done"), ("x", "approvedBy", "board"),
        ("D-1", "isA", "Decision"), ("D-1", "concerns", "x"), ("y", "blockedBy", "strike"), ("x", "owner", "Ann"),
        ("x", "owner", "Bob"),
    ]  # fmt: skip
    facts = [Fact(f"F-{n}", *triple) for n, triple in enumerate(told)]
    found = find_concerns(Graph(facts), ["x"], 2, [(facts[11], facts[12])])
    kinds = {
        kind: {one.fact.id for one in found if one.kind == kind} for kind in ("decided", "blocked", "contradicted")
    }
    assert kinds == {"decided": {"F-7", "F-9"}, "blocked": {"F-3", "F-4"}, "contradicted": {"F-11", "F-12"}}
    assert [edge.fact.id for one in found if one.fact.id == "F-3" for edge in one.path] == ["F-2"]
    assert "F-10" not in {one.fact.id for one in found}  # another project is of the same kind, and no more
