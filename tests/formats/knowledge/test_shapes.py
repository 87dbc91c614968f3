"""SHACL: shapes become constraints and ontologies shapes."""

import pytest

from mabos_cli.backends.rdf import parse_shapes
from mabos_cli.core.knowledge.constraints import check_with_ontology, ground_pattern
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.ontology import Concept, Ontology, Property
from mabos_cli.core.knowledge.rule import check_rule
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.knowledge.shapes import Shapes, read_shapes, render_shapes, update_shapes

_HEAD = """@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <http://example.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
"""


def read(text: str) -> Shapes:
    return read_shapes(parse_shapes(_HEAD + text, "s.ttl", "turtle"))


def broken(shape: str, facts: str, ontology: Ontology | None = None) -> list[str]:
    """What of some facts, one on each line, breaks a shape: the last words of its rules, with the thing."""
    known = ontology or Ontology()
    rules = read(shape).rules
    assert [check_rule(rule) for rule in rules] == [[]] * len(rules)
    given = [rule._replace(conditions=tuple(ground_pattern(c, known) for c in rule.conditions)) for rule in rules]
    held = [Fact(f"F-{n}", *line.split(" ", 2)) for n, line in enumerate(facts.strip().split("\n"))]
    found = check_with_ontology(held, (), given, known).found
    assert not check_with_ontology(held, (), given, known).problems
    return sorted({f"{dict(each.bindings).get('?x', '')} {each.rule.name.split(' ', 1)[1]}" for each in found})


@pytest.mark.parametrize(
    ("asked", "values", "expected"),
    [
        ("sh:minCount 1", ["", "p 1"], ["a0 p minCount"]),
        ("sh:minCount 2", ["", "p 1", "p 1;p 2"], ["a0 p minCount", "a1 p minCount"]),
        ("sh:maxCount 1", ["p 1", "p 1;p 2"], ["a1 p maxCount"]),
        ("sh:maxCount 0", ["", "p 1"], ["a1 p maxCount"]),
        ("sh:datatype xsd:integer", ["p 12", "p 12.5", "p soon"], ["a1 p datatype", "a2 p datatype"]),
        ("sh:class ex:Dog", ["p rex", "p tom"], ["a1 p class"]),
        ('sh:in ( "x" "y" ex:z )', ["p x", "p z", "p http://example.org/z", "p w"], ["a3 p in"]),
        ('sh:pattern "^b" ; sh:flags "i"', ["p Bob", "p tim"], ["a1 p pattern"]),
        ("sh:minLength 2 ; sh:maxLength 3", ["p x", "p xyz", "p wxyz"], ["a0 p minLength", "a2 p maxLength"]),
        ("sh:minInclusive 3", ["p 3", "p $2", "p many"], ["a1 p minInclusive", "a2 p minInclusive"]),
        ("sh:maxExclusive 3", ["p 3", "p 2"], ["a0 p maxExclusive"]),
        ('sh:hasValue "x"', ["p x", "p y", ""], ["a1 p hasValue", "a2 p hasValue"]),
        ("sh:lessThan ex:q", ["p 1;q 2", "p 2;q 2"], ["a1 p lessThan"]),
        ("sh:disjoint ex:q", ["p 1;q 2", "p 2;q 2"], ["a1 p disjoint"]),
        ("sh:or ( [ sh:datatype xsd:date ] [ sh:class ex:Dog ] )", ["p 2026-01-01", "p rex", "p x"], ["a2 p or"]),
        ("sh:node [ sh:property [ sh:path ex:q ; sh:minCount 1 ] ]", ["p rex", "p tom"], ["a0 p q minCount"]),
    ],
)
def test_what_a_shape_asks_of_values(asked: str, values: list[str], expected: list[str]) -> None:
    facts = "rex isA Dog\ntom isA Cat\ntom q 1\n"
    for number, given in enumerate(values):
        facts += f"a{number} isA Boat\n" + "".join(f"a{number} {each}\n" for each in given.split(";") if each)
    found = broken(f"ex:S sh:targetClass ex:Boat ; sh:property [ sh:path ex:p ; {asked} ] .", facts)
    assert [each.replace("S p ", "p ") for each in found] == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("sh:targetClass ex:Boat", ["dinghy1 p minCount", "tug1 p minCount"]),
        ("a owl:Class", []),
        ("sh:targetNode ex:tug1", [" tug1 p minCount"]),
        ("sh:targetSubjectsOf ex:owner", ["tug1 p minCount"]),
        ("sh:targetObjectsOf ex:owner", ["ada p minCount"]),
    ],
)
def test_whom_a_shape_is_about(target: str, expected: list[str]) -> None:
    boats = Ontology([Concept("x:Boat", "Boat"), Concept("x:Dinghy", "Dinghy", ("x:Boat",))])
    facts = "tug1 isA Boat\ndinghy1 isA Dinghy\nbus1 isA Bus\ntug1 owner ada"
    assert broken(f"ex:S {target} ; sh:property [ sh:path ex:p ; sh:minCount 1 ] .", facts, boats) == expected


def test_paths_go_back_and_on() -> None:
    shape = "ex:S sh:targetClass ex:Boat ; sh:property [ sh:path ( ex:owner ex:email ) ; sh:minCount 1 ] , [ sh:path [ sh:inversePath ex:repairs ] ; sh:maxCount 1 ] ."
    facts = "tug isA Boat\ntug owner ada\nw1 repairs tug\nw2 repairs tug\nyawl isA Boat\nyawl owner tom\ntom email t@x"
    assert broken(shape, facts) == ["tug ^repairs maxCount", "tug owner email minCount"]


def test_what_is_not_understood_is_said() -> None:
    shapes = read("""ex:S sh:targetClass ex:Boat ; sh:closed true ; sh:property [ sh:path ex:p ; sh:uniqueLang true ; sh:minCount 1 ],
        [ sh:path [ sh:zeroOrMorePath ex:q ] ; sh:minCount 1 ] . ex:Lost a sh:NodeShape . ex:U sh:targetClass ex:T ; sh:not [ sh:class ex:B ] .""")
    told = "; ".join(shapes.notes)
    assert [word in told for word in ("sh:closed", "sh:uniqueLang", "sh:path", "Lost has no target", "sh:not")] == [
        True
    ] * 5
    assert [rule.name for rule in shapes.rules] == ["S p minCount"]


def test_severity_message_and_switch() -> None:
    [one, two] = (
        read("""ex:S sh:targetClass ex:Boat ; sh:property [ sh:path ex:p ; sh:minCount 1 ; sh:severity sh:Info ;
        sh:message "{$this} lacks p" ] , [ sh:path ex:q ; sh:minCount 1 ; sh:deactivated true ] .""").rules
    )
    assert (one.severity, one.violation_message, one.enabled) == ("info", "?x lacks p", True)
    assert (two.severity, two.violation_message, two.enabled) == ("error", "", False)


def test_shapes_that_are_read_again_replace_what_they_asked_for() -> None:
    ids = iter(f"R-{n}" for n in range(1, 9))
    shape = "ex:S sh:targetClass ex:Boat ; sh:property [ sh:path ex:p ; sh:minCount 1 ; %s ] ."
    first, counts = update_shapes((), read(shape % "sh:maxCount 3"), lambda: next(ids), "t1")
    assert counts == {"added": 2, "updated": 0, "unchanged": 0, "removed": 0}
    off = [rule._replace(enabled=False) for rule in first]
    second, counts = update_shapes(off, read(shape % 'sh:pattern "a" , "b"'), lambda: next(ids), "t2")
    assert counts == {"added": 2, "updated": 0, "unchanged": 1, "removed": 1}
    assert [(rule.id, rule.enabled) for rule in second] == [("R-2", False), ("R-3", True), ("R-4", True)]
    assert update_shapes(second, read(shape % 'sh:pattern "a" , "b"'), lambda: next(ids), "t3")[0] == second


def test_a_bad_expression_or_list_is_refused() -> None:
    with pytest.raises(InvalidFile, match="no regular expression"):
        read('ex:S sh:targetClass ex:B ; sh:property [ sh:path ex:p ; sh:pattern "(" ] .')
    loop = "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . ex:l rdf:first 1 ; rdf:rest ex:l ."
    with pytest.raises(InvalidFile, match="is circular"):
        read(f"{loop} ex:S sh:targetClass ex:B ; sh:property [ sh:path ex:p ; sh:in ex:l ] .")


def test_an_ontology_as_shapes_finds_what_does_not_fit_it() -> None:
    ontology = Ontology(
        [Concept("x:Boat", "Boat"), Concept("x:Owner", "Owner"), Concept("x:Firm", "Firm")],
        [
            Property("x:length", "length", "datatype", ("x:Boat",), ("xsd:decimal",), is_functional=True),
            Property("x:owner", "owner", domains=("x:Boat",), ranges=("x:Owner", "x:Firm")),
        ],
    )
    text = render_shapes(ontology, lambda own: f"http://x.org/{own[2:]}")
    facts = "tug isA Boat\ntug length 1\ntug length long\ntug owner ada\nada isA Owner\nyawl isA Boat\nyawl owner rex\nrex isA Dog"
    found = broken(text.split("\n\n", 1)[1], facts, ontology)
    assert found == ["tug length datatype", "tug length maxCount", "yawl owner or"]
    assert not read(text.split("\n\n", 1)[1]).notes
