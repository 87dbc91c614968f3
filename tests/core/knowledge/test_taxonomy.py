from mabos_cli.core.knowledge.ontology import Concept, Ontology, Taxonomy


def tree(**parents: str) -> Taxonomy:
    """A taxonomy from names and the names above each, separated by blanks."""
    return Taxonomy(
        Ontology(
            [Concept(f"x:{name}", name, tuple(f"x:{p}" for p in above.split())) for name, above in parents.items()]
        )
    )


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
    assert (
        found.is_a("x:Customer", "owl:Thing")
        and found.is_a("x:Customer", "x:Organisation")
        and not found.is_a("x:Organisation", "x:Customer")
    )
    assert found.path_up("x:Customer") == ["x:Customer", "x:Person", "x:Party", "x:Top"]


def test_a_circle_ends():
    ring = tree(A="C", B="A", C="B", D="C")
    assert set(ring.ancestors("x:A")) == {"x:A", "x:B", "x:C"}
    assert ring.path_up("x:D") == ["x:D", "x:C", "x:B", "x:A"]
