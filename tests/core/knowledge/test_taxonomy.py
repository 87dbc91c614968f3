from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.knowledge.ontology import Concept, Ontology, Taxonomy


def tree(**parents: str) -> Taxonomy:
    """A taxonomy from names and the names above each, separated by blanks."""
    return Taxonomy(
        Ontology(
            [Concept(f"x:{name}", name, tuple(f"x:{p}" for p in above.split())) for name, above in parents.items()]
        )
    )


ANIMALS = tree(Thing="", Animal="Thing", Mammal="Animal", Bird="Animal", Dog="Mammal", Cat="Mammal", Rock="Thing")


def test_known_answers_of_wu_and_palmer():
    """Twice the depth of what both share over the sum of their depths: the root has depth 1."""
    assert ANIMALS.similarity("Dog", "Cat") == 2 * 3 / (4 + 4)
    assert ANIMALS.similarity("Dog", "Bird") == 2 * 2 / (4 + 3)
    assert ANIMALS.similarity("Dog", "Mammal") == 2 * 3 / (4 + 3)
    assert ANIMALS.similarity("Rock", "Dog") == 2 * 1 / (2 + 4)
    assert ANIMALS.similarity("x:Dog", "dog") == 1.0
    assert ANIMALS.similarity("Dog", "Unicorn") == ANIMALS.similarity("Unicorn", "Unicorn") == 0.0


def test_trees_without_a_common_root_have_nothing_in_common():
    two = tree(A="", B="", A1="A", B1="B")
    assert two.similarity("A1", "B1") == two.similarity("A", "B") == 0.0


def test_everything_being_a_thing_says_nothing():
    found = Taxonomy(Ontology([Concept("x:A", "A", ("owl:Thing",)), Concept("x:B", "B", ("owl:Thing",))]))
    assert found.similarity("A", "B") == 0.0 and found.depth("x:A") == 1
    assert found.is_a("x:A", "owl:Thing")


def test_of_several_parents_the_nearest_way_counts():
    found = tree(
        Top="",
        Party="Top",
        Person="Party",
        Organisation="Party",
        Customer="Person Organisation",
        Firm="Organisation",
    )
    assert dict(found.ancestors("x:Customer")) == {
        "x:Customer": 0,
        "x:Person": 1,
        "x:Organisation": 1,
        "x:Party": 2,
        "x:Top": 3,
    }
    assert found.similarity("Customer", "Firm") == 2 * 3 / (4 + 4)
    assert found.is_a("x:Customer", "x:Organisation") and not found.is_a("x:Organisation", "x:Customer")
    assert found.path_up("x:Customer") == ["x:Customer", "x:Person", "x:Party", "x:Top"]


def test_a_parent_that_no_file_defines_still_joins():
    found = tree(Order="Document", Invoice="Document")
    assert found.similarity("Order", "Invoice") == 0.5 and found.is_a("x:Order", "x:Document")


def test_a_circle_ends():
    ring = tree(A="C", B="A", C="B", D="C")
    assert set(ring.ancestors("x:A")) == {"x:A", "x:B", "x:C"}
    assert ring.similarity("A", "A") == 1.0 and 0 < ring.similarity("A", "B") < 1
    assert ring.path_up("x:D") == ["x:D", "x:C", "x:B", "x:A"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=15), st.data())
def test_in_any_tree_it_is_the_textbook_formula(numbers: list[int], data: st.DataObject):
    parents = {n + 1: number % (n + 1) for n, number in enumerate(numbers)}  # the parent has a smaller number
    found = tree(N0="", **{f"N{n}": f"N{p}" for n, p in parents.items()})

    def up(n: int) -> list[int]:
        return [n, *up(parents[n])] if n else [0]

    a, b = data.draw(st.integers(0, len(numbers))), data.draw(st.integers(0, len(numbers)))
    lowest = next(n for n in up(a) if n in up(b))
    textbook = 2 * len(up(lowest)) / (len(up(a)) + len(up(b)))
    assert found.similarity(f"N{a}", f"N{b}") == found.similarity(f"N{b}", f"N{a}") == textbook
