"""agent.json, ontologies and proposals of two branches as one, whichever side is ours."""

import json

import pytest

from mabos_cli.core.language.ids import distinct_id
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.knowledge.jsonld import add_nodes, parse_jsonld, render_new
from mabos_cli.formats.knowledge.proposals import parse_proposals
from mabos_cli.formats.operations.git_merge import merge_file
from mabos_cli.formats.operations.merge_records import Merged


def merged(kind: str, base: bytes, ours: bytes, theirs: bytes) -> Merged:
    found, swapped = (merge_file(kind, "x", (base, *sides)) for sides in ((ours, theirs), (theirs, ours)))
    assert found and swapped and found.data == swapped.data
    return found


def manifest(**keys: object) -> bytes:
    return json.dumps({"id": "cfo", "bdi": {"commitmentStrategy": "cautious"}, **keys}).encode()


def test_keys_of_agent_json():
    ours = manifest(role="finance", settings={"recall": {"limit": 5}})
    theirs = manifest(settings={"recall": {"depth_hits": 2}, "memory": {}}, bdi={"commitmentStrategy": "blind"})
    found = merged("manifest", manifest(), ours, theirs)
    assert json.loads(found.data) == {
        "id": "cfo",
        "bdi": {"commitmentStrategy": "blind"},
        "role": "finance",
        "settings": {"memory": {}, "recall": {"depth_hits": 2, "limit": 5}},
    }
    assert not found.notes


def test_a_key_that_both_changed_is_noted():
    found = merged("manifest", manifest(role="a"), manifest(role="b"), manifest(role="c"))
    assert json.loads(found.data)["role"] == "c"
    assert found.notes == ('role was changed on both sides: kept "c", not "b"',)
    gone = merged("manifest", manifest(role="a"), manifest(), manifest(role="c"))
    assert json.loads(gone.data)["role"] == "c"


def test_a_manifest_that_is_no_object():
    with pytest.raises(InvalidFile, match=r"x \(theirs\):1: must be an object"):
        merge_file("manifest", "x", (b"{}", b"{}", b"[]"))


def proposal(own: str, node: str, **keys: object) -> dict[str, object]:
    return {"id": own, "node_type": "class", "node_id": node, "label": node, "proposed_at": "2026-02-24", **keys}


def proposals(*rows: dict[str, object]) -> bytes:
    return json.dumps({"proposals": rows, "tool": "x"}).encode()


def test_proposals_that_were_given_one_id():
    first = proposal("OP-001", "shop:Cart")
    ours = proposals(first, proposal("OP-002", "shop:Coupon"))
    theirs = proposals(first, proposal("OP-002", "shop:Wallet", proposed_at="2026-02-25"))
    found = merged("proposals", proposals(first), ours, theirs)
    new_id = distinct_id("OP-002", "shop:Wallet")
    rows = parse_proposals(found.data, "x", "shop").proposals
    assert [(row.id, row.node_id) for row in rows] == [
        ("OP-001", "shop:Cart"),
        ("OP-002", "shop:Coupon"),
        (new_id, "shop:Wallet"),
    ]
    assert found.notes == (f"OP-002 was given to two proposals: the younger one is {new_id}",)
    assert json.loads(found.data)["tool"] == "x"


def test_what_became_of_a_proposal_last_counts():
    first = proposal("OP-001", "shop:Cart", status="pending")
    ours = proposals(first | {"status": "rejected", "rejected_at": "2026-02-25", "reason": "no"})
    theirs = proposals(first | {"status": "approved", "merged_at": "2026-02-26"})
    (row,) = parse_proposals(merged("proposals", proposals(first), ours, theirs).data, "x", "shop").proposals
    assert row.status == "approved"


def test_a_bare_list_of_proposals_stays_one():
    ours, theirs = (json.dumps([proposal(f"OP-00{n}", f"shop:N{n}")]).encode() for n in (1, 2))
    assert [row["id"] for row in json.loads(merged("proposals", b"[]", ours, theirs).data)] == ["OP-001", "OP-002"]


def with_node(data: bytes, **keys: object) -> bytes:
    return add_nodes(parse_jsonld(data, "x", "shop"), [{"@type": "owl:Class", **keys}])


def test_nodes_of_an_ontology():
    base = with_node(render_new("shop", "Shop"), **{"@id": "shop:Cart", "rdfs:label": "Cart"})
    ours, theirs = (with_node(base, **{"@id": f"shop:{name}", "rdfs:label": name}) for name in ("Coupon", "Wallet"))
    ours = ours.replace(b'"rdfs:label": "Cart"', b'"rdfs:label": "Cart", "mabos:sbvr_definition": "a basket"')
    theirs = theirs.replace(b'"rdfs:label": "Cart"', b'"rdfs:label": "Trolley"')
    found = merged("ontology", base, ours, theirs)
    nodes = {node["@id"]: node for node in parse_jsonld(found.data, "x", "shop").nodes()}
    assert [*nodes][1:] == ["shop:Cart", "shop:Coupon", "shop:Wallet"]
    assert nodes["shop:Cart"]["rdfs:label"] == "Trolley" and nodes["shop:Cart"]["mabos:sbvr_definition"] == "a basket"
    assert not found.notes and found.data.partition(b"@graph")[0] == base.partition(b"@graph")[0]


def test_contexts_of_an_ontology():
    base = with_node(render_new("shop", "Shop"), **{"@id": "shop:Cart"})
    ours = base.replace(b'"owl":', b'"ada": "http://ada.example/", "owl":')
    theirs = base.replace(b'"owl":', b'"bob": "http://bob.example/", "owl":')
    context = json.loads(merged("ontology", base, ours, theirs).data)["@context"]
    assert context == json.loads(base)["@context"] | {"ada": "http://ada.example/", "bob": "http://bob.example/"}


def test_an_ontology_in_another_layout_is_text():
    tall = json.dumps({"@graph": [{"@id": "shop:Cart"}]}, indent=2).encode()
    assert merge_file("ontology", "x", (tall, tall, tall)) is None
