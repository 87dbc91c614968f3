"""Ontologies on disk: read past broken files, scaffolded without touching what is there, merged once."""

import json
from pathlib import Path

import pytest

from mabos_cli.core.knowledge.proposal import Proposal
from mabos_cli.errors import InvalidFile, NotFound, UsageFault
from mabos_cli.formats.knowledge.jsonld_nodes import read_ontology
from mabos_cli.services.knowledge.ontology import Editor, merge, propose, reject, scaffold, validate
from mabos_cli.workspace.knowledge.ontologies import Library, load_ontology, load_shipped, shipped_names
from mabos_cli.workspace.layout import WorkspacePaths

NOW = "2026-02-24T14:30:00.000Z"
GUEST = Proposal("", "shop", "class", "", "Guest", sbvr_definition="party that buys unnamed", rationale="x")


@pytest.fixture
def editor(quick: Path, still_world: None) -> Editor:
    (quick / "agents").mkdir()
    return Editor(WorkspacePaths(quick), NOW, 1.0)


def put(editor: Editor, name: str, value: object) -> Path:
    path = editor.workspace.ontologies / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_without_ontologies_there_is_nothing(editor: Editor):
    ontology, warnings = load_ontology(editor.workspace)
    assert ontology.nodes() == [] and warnings == []
    assert Library(editor.workspace).proposals() == []


def test_a_broken_file_does_not_stop_the_others(editor: Editor):
    put(editor, "a.jsonld", "{")
    put(editor, "b.jsonld", {"@graph": [{"@id": "b:Thing", "@type": "owl:Class"}]})
    (editor.workspace.ontologies / "c.jsonld").mkdir()
    put(editor, "notes.md", "no ontology")
    ontology, warnings = load_ontology(editor.workspace)
    assert list(ontology.concepts) == ["b:Thing"]
    assert [warning.split(": ")[0] for warning in warnings] == [
        "ontologies/a.jsonld:1",
        f"cannot read {editor.workspace.ontologies / 'c.jsonld'}",
    ]


def test_each_file_is_decoded_once(editor: Editor, monkeypatch: pytest.MonkeyPatch):
    for name in "abc":
        put(editor, f"{name}.jsonld", {"@graph": [{"@id": f"x:{name}", "@type": "owl:Class"}]})
    calls = []
    real = json.loads
    monkeypatch.setattr(json, "loads", lambda *args, **more: calls.append(1) or real(*args, **more))
    load_ontology(editor.workspace)
    assert len(calls) == 3


def test_a_template_brings_what_it_builds_on_once(editor: Editor):
    assert shipped_names()[0] == "business"
    done, _ = scaffold(editor, "saas")
    assert [(each.file, each.is_new) for each in done] == [
        ("ontologies/business.jsonld", True),
        ("ontologies/saas.jsonld", True),
    ]
    assert editor.workspace.ontology("saas").read_bytes() == load_shipped("saas").data
    before = {path: path.read_bytes() for path in editor.workspace.ontologies.iterdir()}
    assert [tuple(each) for each in scaffold(editor, "saas")[0]] == [("ontologies/saas.jsonld", 0, False, 0)]
    assert [each.file for each in scaffold(editor, "agency")[0]] == ["ontologies/agency.jsonld"]
    assert {path: path.read_bytes() for path in before} == before
    ontology = load_ontology(editor.workspace)[0]
    assert all(parent in ontology.concepts for each in ontology.concepts.values() for parent in each.parents)


def test_a_file_that_is_there_gets_only_what_it_lacks(editor: Editor):
    scaffold(editor, "business")
    mine = {
        "@id": "http://mabos.ai/ontology/saas/Churn",
        "@type": "owl:Class",
        "rdfs:label": "My churn",
        "x": 1,
    }
    text = (
        '{"@context": {"rdfs": "http://www.w3.org/2000/01/rdf-schema#"},\n "@graph": [\n '
        + json.dumps(mine)
        + "\n ]}\n"
    )
    path = put(editor, "saas.jsonld", text)
    done = scaffold(editor, "saas")[0]
    shipped = load_shipped("saas")
    assert [tuple(each)[1:] for each in done] == [(len(shipped.top_nodes()) - 2, False, 1)]
    [churn] = [node for node in json.loads(path.read_text())["@graph"] if node["@id"] == mine["@id"]]
    assert mine.items() <= churn.items() and len(churn) > len(mine)  # what it says stays, what it lacks is added
    ontology = load_ontology(editor.workspace)[0]
    assert ontology.concepts["saas:Churn"].label == "My churn" and "saas:Subscription" in ontology.concepts
    assert ontology.concepts["saas:Subscription"].definition
    assert scaffold(editor, "saas")[0][0][1:] == (0, False, 0)


def test_an_old_file_gets_what_was_said_since(editor: Editor):
    """The statements of an older version of a shipped ontology, in other prefixes, become those of the new one."""
    shipped = load_shipped("business")
    nodes = json.loads(shipped.data)["@graph"]
    old = [{k: v for k, v in node.items() if k not in ("owl:disjointWith", "owl:inverseOf")} for node in nodes]
    for node in old:
        if isinstance(node["@type"], list):
            node["@type"] = node["@type"][0]
        node["mabos:sbvr_synonyms"] = ["my own"]
    path = put(editor, "business.jsonld", json.dumps({"@context": json.loads(shipped.data)["@context"], "@graph": old}))
    before, now = load_ontology(editor.workspace)[0], read_ontology([shipped])
    assert sum(p.is_functional for p in before.properties.values()) < sum(
        p.is_functional for p in now.properties.values()
    )
    [done] = scaffold(editor, "business")[0]
    assert (done.added, done.is_new) == (0, False) and done.extended > 100
    after = load_ontology(editor.workspace)[0]
    for own, concept in now.concepts.items():
        assert after.concepts[own]._replace(synonyms=()) == concept._replace(synonyms=())
        assert after.concepts[own].synonyms == ("my own", *concept.synonyms)
    for own, known in now.properties.items():
        assert after.properties[own]._replace(synonyms=()) == known._replace(synonyms=())
    data = path.read_bytes()
    assert scaffold(editor, "business")[0][0][1:] == (0, False, 0) and path.read_bytes() == data


def test_under_another_name(editor: Editor):
    assert scaffold(editor, "saas", "product")[0][-1].file == "ontologies/product.jsonld"
    with pytest.raises(NotFound, match="no ontology 'nope' comes with mabos"):
        scaffold(editor, "nope")


def test_ids_go_on_where_files_are_broken(editor: Editor):
    put(editor, "proposals/x-proposals.json", '{"proposals": [{"id": "OP-041", ')
    (new, is_new), warnings = propose(editor, GUEST)
    assert (new.id, new.node_id, is_new) == (
        "OP-042",
        "shop:Guest",
        True,
    ) and "x-proposals.json:1" in warnings[0]
    with pytest.raises(InvalidFile, match="x-proposals"):
        propose(editor, GUEST._replace(domain="x"))


def test_the_prefix_is_the_one_that_most_nodes_have(editor: Editor):
    scaffold(editor, "business")
    (new, _), _ = propose(editor, GUEST._replace(domain="business"))
    assert new.node_id == "mabos:Guest"
    put(
        editor,
        "shop.jsonld",
        {"@context": {"s": "http://shop.example/#"}, "@graph": [{"@id": "s:A", "@type": "owl:Class"}]},
    )
    (new, _), _ = propose(editor, GUEST._replace(label="Walk-in visitor"))
    assert new.node_id == "s:WalkInVisitor"
    merge(editor, [new.id])
    node = json.loads(editor.workspace.ontology("shop").read_text())["@graph"][1]
    assert node["@id"] == "s:WalkInVisitor" and node["http://www.w3.org/2000/01/rdf-schema#label"] == "Walk-in visitor"


def test_a_new_ontology_is_one_for_other_programs_too(editor: Editor):
    import pyoxigraph as rdf

    propose(editor, GUEST)
    done, _ = merge(editor, [])
    assert done.files == ["ontologies/shop.jsonld"]
    data = editor.workspace.ontology("shop").read_bytes()
    subjects = {quad.subject.value for quad in rdf.parse(data, format=rdf.RdfFormat.JSON_LD)}
    assert subjects == {"http://mabos.ai/ontology/shop", "http://mabos.ai/ontology/shop/Guest"}
    assert list(load_ontology(editor.workspace)[0].concepts) == ["shop:Guest"]


def test_what_was_merged_by_hand_or_before_a_crash_is_only_noted(editor: Editor):
    (new, _), _ = propose(editor, GUEST)
    merge(editor, [new.id])
    path = editor.workspace.proposals("shop")
    raw = json.loads(path.read_text())
    raw["proposals"][0] |= {"status": "pending"}
    path.write_text(json.dumps(raw))
    before = editor.workspace.ontology("shop").read_bytes()
    verdict = validate(editor, [])[0][0]
    assert verdict.is_valid and "already" in verdict.findings[0].message
    done, _ = merge(editor, [new.id])
    assert (done.new, [each.id for each in done.before], done.files) == ([], [new.id], [])
    assert editor.workspace.ontology("shop").read_bytes() == before
    assert Library(editor.workspace).find_proposal(new.id).status == "approved"


def test_an_id_that_two_branches_gave_needs_its_domain(editor: Editor):
    for domain in ("a", "b"):
        entry = {
            "id": "OP-001",
            "node_type": "class",
            "node_id": f"{domain}:Guest",
            "label": f"Guest {domain}",
        }
        put(
            editor,
            f"proposals/{domain}-proposals.json",
            {"proposals": [entry | {"sbvr_definition": "who comes"}]},
        )
    with pytest.raises(UsageFault) as caught:
        reject(editor, "OP-001", "no")
    assert caught.value.hint == "write a/OP-001 or b/OP-001"
    reject(editor, "b/OP-001", "no")
    assert [each.status for each in Library(editor.workspace).proposals()] == ["pending", "rejected"]


def test_an_edit_meanwhile_is_not_lost(editor: Editor, monkeypatch: pytest.MonkeyPatch):
    """Somebody saves the ontology between reading and writing: the merge starts anew, on what they saved."""
    import mabos_cli.workspace.transaction as changes

    path = put(editor, "shop.jsonld", '{"@graph": [\n{"@id": "shop:A", "@type": "owl:Class"}\n]}\n')
    (new, _), _ = propose(editor, GUEST)
    real, edits = changes.replace_file, []

    def edited(target: Path, data: bytes, **more) -> None:
        if target == path and not edits:
            edits.append(path.write_text(path.read_text().replace("shop:A", "shop:Mine")))
        real(target, data, **more)

    monkeypatch.setattr(changes, "replace_file", edited)
    merge(editor, [new.id])
    assert edits and sorted(load_ontology(editor.workspace)[0].concepts) == ["shop:Guest", "shop:Mine"]
