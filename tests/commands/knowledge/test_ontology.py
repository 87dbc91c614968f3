"""Ontologies through the commands: what is proposed, checked, merged, shown, and what facts have of it."""

import json
import shutil
import threading
from itertools import cycle
from pathlib import Path

import pytest
from forked import Fault, run, tree

from commands.desk import Desk, Said

DROPSHIP = ("Dropship fulfillment", "--domain", "ecommerce", "--parent", "Fulfillment")
DEFINED = ("--definition", "fulfillment that the supplier ships")


def do(desk: Desk, *words: str) -> dict:
    return desk.run("ontology", *words, "--json").data


def refused(said: Said, code: int, told: str, hint: str = "") -> None:
    assert (said.code, said.stdout, "Traceback" in said.stderr) == (code, "", False), said
    assert told in said.stderr and hint in said.stderr


@pytest.fixture
def shop(desk: Desk) -> Desk:
    """A workspace with the ontologies of a shop."""
    do(desk, "scaffold", "ecommerce")
    return desk


def graph(desk: Desk, name: str) -> list[dict]:
    return json.loads((desk.root / f"ontologies/{name}.jsonld").read_text("utf-8"))["@graph"]


def test_from_a_proposal_to_a_concept(shop: Desk):
    first = do(
        shop,
        "propose",
        *DROPSHIP,
        *DEFINED,
        "--synonym",
        "dropshipping",
        "--rationale",
        "no stock",
        "--by",
        "cfo",
    )
    assert first["state"] == "added"
    assert first["proposal"] | {"proposed_at": ""} == {
        "id": "OP-001", "domain": "ecommerce", "node_type": "class", "node_id": "ecommerce:DropshipFulfillment",
        "label": "Dropship fulfillment", "parent_class": "ecommerce:Fulfillment", "sbvr_definition": DEFINED[1],
        "sbvr_synonyms": ["dropshipping"], "rationale": "no stock", "proposed_by": "cfo", "status": "pending", "proposed_at": "",
    }  # fmt: skip
    again = do(shop, "propose", *DROPSHIP, *DEFINED, "--synonym", "dropshipping")
    assert again == {"state": "unchanged", "proposal": first["proposal"]}
    refused(
        shop.run("ontology", "propose", *DROPSHIP, *DEFINED),
        2,
        "OP-001 proposes ecommerce:DropshipFulfillment in another way",
    )
    do(shop, "propose", "drop shipped by", "--type", "object_property", "--domain", "ecommerce", "--domain-class", "dropshipping",
       "--range", "supplier", "--functional", "--definition", "the supplier sends it", "--rationale", "x")  # fmt: skip
    checked = do(shop, "validate")["proposals"]
    assert [(row["id"], row["valid"], row["findings"]) for row in checked] == [
        ("OP-001", True, []),
        ("OP-002", True, []),
    ]
    before = graph(shop, "ecommerce")
    assert (
        do(shop, "merge", "--all", "--dry-run")["merged"] == ["OP-001", "OP-002"] and graph(shop, "ecommerce") == before
    )
    done = do(shop, "merge", "OP-002", "OP-001")
    assert done == {
        "dry_run": False,
        "merged": ["OP-001", "OP-002"],
        "unchanged": [],
        "files": ["ontologies/ecommerce.jsonld"],
    }
    assert graph(shop, "ecommerce") == [
        *before,
        {"@id": "ecommerce:DropshipFulfillment", "@type": "owl:Class", "rdfs:label": "Dropship fulfillment",
         "rdfs:subClassOf": {"@id": "ecommerce:Fulfillment"}, "mabos:sbvr_definition": DEFINED[1], "mabos:sbvr_synonyms": ["dropshipping"]},
        {"@id": "ecommerce:dropShippedBy", "@type": ["owl:ObjectProperty", "owl:FunctionalProperty"], "rdfs:label": "drop shipped by",
         "rdfs:domain": {"@id": "ecommerce:DropshipFulfillment"}, "rdfs:range": {"@id": "mabos:Supplier"},
         "mabos:sbvr_definition": "the supplier sends it"},
    ]  # fmt: skip
    held = tree(shop.root)
    assert do(shop, "merge", "OP-001", "OP-002")["unchanged"] == ["OP-001", "OP-002"] and tree(shop.root) == held
    rows = do(shop, "list", "--proposals", "--status", "approved")["proposals"]
    assert [(row["id"], bool(row["merged_at"])) for row in rows] == [("OP-001", True), ("OP-002", True)]
    shown = do(shop, "show", "Dropshipping")["nodes"][0]
    assert shown["path"][:3] == [
        "ecommerce:DropshipFulfillment",
        "ecommerce:Fulfillment",
        "mabos:BusinessProcess",
    ]
    assert [each["id"] for each in shown["properties"]] == ["ecommerce:dropShippedBy"]


def test_all_or_none(shop: Desk):
    do(shop, "propose", *DROPSHIP, *DEFINED)
    do(shop, "propose", "Custommer", "--domain", "shop", "--definition", "one who buys", "--parent", "Party")
    held = tree(shop.root)
    refused(
        shop.run("ontology", "merge", "--all"),
        2,
        "nothing was merged: OP-002 'Custommer' is nearly 'Customer'",
        "--allow-similar",
    )
    assert tree(shop.root) == held
    assert shop.run("ontology", "validate", "--check").code == 7
    assert [row["findings"][0]["check"] for row in do(shop, "validate", "OP-002")["proposals"]] == ["similar"]
    stored = json.loads((shop.root / "ontologies/proposals/shop-proposals.json").read_text())["proposals"][0]
    assert stored["validation_result"]["valid"] is False
    assert shop.run("ontology", "validate", "--check", "--allow-similar").code == 0
    assert do(shop, "merge", "--all", "--allow-similar")["files"] == [
        "ontologies/ecommerce.jsonld",
        "ontologies/shop.jsonld",
    ]
    assert [node["@id"] for node in graph(shop, "shop")] == [
        "http://mabos.ai/ontology/shop",
        "shop:Custommer",
    ]


def test_checking_twice_writes_once(shop: Desk):
    do(shop, "propose", *DROPSHIP)
    assert do(shop, "validate")["proposals"][0]["valid"] is False
    held = tree(shop.root)
    do(shop, "validate")
    assert tree(shop.root) == held


def test_rejected_ones_stay_with_their_reason(shop: Desk):
    do(shop, "propose", *DROPSHIP, *DEFINED)
    refused(shop.run("ontology", "reject", "OP-001"), 2, "a rejection needs a reason")
    assert do(shop, "reject", "OP-001", "--reason", "not ours")["state"] == "rejected"
    assert do(shop, "reject", "OP-001", "--reason", "again")["proposal"]["reason"] == "not ours"
    refused(shop.run("ontology", "merge", "OP-001"), 2, "OP-001 was rejected")
    assert do(shop, "propose", *DROPSHIP, *DEFINED)["proposal"]["status"] == "rejected"  # the same again
    better = do(shop, "propose", *DROPSHIP, "--definition", "fulfillment by somebody else")
    assert (better["state"], better["proposal"]["id"]) == ("added", "OP-002")
    do(shop, "merge", "OP-002")
    refused(shop.run("ontology", "reject", "OP-002", "--reason", "x"), 2, "OP-002 is merged")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("propose", "X"), 2, "for which ontology?"),
        (("propose", "X", "--domain", "a/b"), 2, "cannot be the name of an ontology"),
        (("propose", "X", "--domain", "owl"), 2, "cannot be the name of an ontology"),
        (("propose", " ", "--domain", "shop"), 2, "the label is empty"),
        (("propose", "?!", "--domain", "shop"), 2, "has no word"),
        (("propose", "X", "--domain", "shop", "--type", "thing"), 2, "unknown type"),
        (("propose", "X", "--domain", "shop", "--range", "Y"), 2, "--range makes no sense for a class"),
        (
            ("propose", "x", "--domain", "shop", "--type", "object_property", "--parent", "Y"),
            2,
            "--parent makes no sense",
        ),
        (("validate", "OP-009"), 3, "no proposal 'OP-009'"),
        (("merge",), 2, "which proposals?"),
        (("merge", "OP-001", "--all"), 2, "which proposals?"),
        (("merge", "OP-009"), 3, "no proposal"),
        (("list", "--status", "maybe"), 2, "unknown status"),
        (("show", "Custmer"), 3, "did you mean Customer"),
        (("show", "zzzz"), 3, "mabos ontology show --tree"),
        (("show", "zzzz", "--tree"), 3, "no ontology names"),
        (("scaffold", "bakery"), 3, "there are: business, "),
        (("scaffold", "saas", "--as", "../x"), 2, "cannot be the name"),
        (("export", "shop"), 3, "no ontology 'shop'"),
        (("export", "--format", "xml"), 2, "unknown format"),
    ],
)
def test_bad_calls(shop: Desk, words: tuple[str, ...], code: int, told: str):
    held = tree(shop.root)
    refused(shop.run("ontology", *words), code, told)
    assert tree(shop.root) == held


def test_broken_files_are_cited_and_the_others_go_on(shop: Desk):
    (shop.root / "ontologies/bad.jsonld").write_text('{\n"@graph": [,]}')
    said = shop.run("ontology", "list", "--json")
    assert [row["name"] for row in said.data["ontologies"]] == ["business", "ecommerce"]
    assert said.warnings == ["ontologies/bad.jsonld:2: not valid JSON: Expecting value"]
    refused(shop.run("ontology", "export", "bad"), 4, "ontologies/bad.jsonld:2")
    refused(shop.run("ontology", "propose", "X", "--domain", "bad"), 4, "ontologies/bad.jsonld:2")
    refused(shop.run("ontology", "scaffold", "saas", "--as", "bad"), 4, "ontologies/bad.jsonld:2")
    assert "bad.jsonld" in shop.run("ontology", "show", "customer", "--json").warnings[0]
    assert "bad.jsonld" in shop.run("constraint", "check", "--json").warnings[0]


TINY = [
    {"@id": "mabos:Party", "@type": "owl:Class", "rdfs:label": "Party"},
    {"@id": "mabos:Paper", "@type": "owl:Class", "rdfs:label": "Paper"},
    {"@id": "mabos:Buyer", "@type": "owl:Class", "rdfs:label": "Buyer", "rdfs:subClassOf": {"@id": "mabos:Party"},
     "mabos:sbvr_definition": "party that pays", "mabos:sbvr_synonyms": ["patron"]},
    {"@id": "tiny:Regular", "@type": "owl:Class", "rdfs:label": "Regular", "rdfs:subClassOf": {"@id": "mabos:Buyer"}},
    {"@id": "mabos:signs", "@type": "owl:ObjectProperty", "rdfs:label": "signs", "rdfs:domain": {"@id": "mabos:Party"},
     "rdfs:range": {"@id": "mabos:Paper"}, "mabos:reading": "party signs paper", "mabos:inverse_reading": "paper is signed by party"},
    {"@id": "mabos:pays", "@type": ["owl:DatatypeProperty", "owl:FunctionalProperty"], "rdfs:label": "pays",
     "rdfs:domain": {"@id": "mabos:Buyer"}, "rdfs:range": {"@id": "xsd:decimal"}},
    {"@id": "tiny:rule-1", "@type": "mabos:BusinessRule", "rdfs:label": "Small sums", "mabos:modality": "behavioral",
     "mabos:enforcement_level": "strict", "mabos:sbvr_statement": "It is prohibited that a buyer pays more than 100.",
     "mabos:severity": "error", "mabos:violated_when": "if ?x type Buyer and ?x pays ?sum and ?sum > 100",
     "mabos:violation_message": "?x pays ?sum"},
]  # fmt: skip


@pytest.fixture
def tiny(desk: Desk) -> Desk:
    """A workspace with an ontology of a few nodes."""
    names = {"mabos": "http://mabos.ai/ontology/", "owl": "http://www.w3.org/2002/07/owl#"}
    names |= {"rdfs": "http://www.w3.org/2000/01/rdf-schema#", "tiny": "http://tiny.example/"}
    (desk.root / "ontologies/tiny.jsonld").write_text(json.dumps({"@context": names, "@graph": TINY}))
    return desk


def test_showing(tiny: Desk):
    assert tiny.run("ontology", "show", "patron").stdout == (
        "Buyer (mabos:Buyer), class of tiny\n  definition: party that pays\n  synonyms: patron\n  above: Party\n"
        "  children: Regular\n  as a Party: signs\n  mabos:pays: Buyer -> xsd:decimal\n"
    )
    assert tiny.run("ontology", "show", "Signs").stdout == (
        "signs (mabos:signs), object property of tiny\n  domain: Party\n  range: Paper\n"
        "  reading: party signs paper\n  inverse: paper is signed by party\n"
    )
    rule = do(tiny, "show", "small sums")["nodes"][0]
    assert (rule["node"], rule["modality"], rule["enforcement_level"]) == ("rule", "behavioral", "strict")
    drawn = "Paper (mabos:Paper)\nParty (mabos:Party)\n  Buyer (mabos:Buyer)\n    Regular (tiny:Regular)\n"
    assert tiny.run("ontology", "show", "tiny").stdout == tiny.run("ontology", "show").stdout == drawn
    below = do(tiny, "show", "Buyer", "--tree")["tree"]
    assert [(row["id"], row["depth"]) for row in below] == [("mabos:Buyer", 0), ("tiny:Regular", 1)]


def test_the_tree_of_a_template_hangs_from_what_it_builds_on(shop: Desk):
    drawn = do(shop, "show", "ecommerce")["tree"]
    assert drawn[0] == {"id": "mabos:Thing", "label": "Thing", "depth": 0, "ontology": "business"}
    assert {"ecommerce:Cart", "mabos:BusinessEntity"} <= {row["id"] for row in drawn}
    counted = {row["name"]: row["concepts"] for row in do(shop, "list")["ontologies"]}
    assert len(do(shop, "show")["tree"]) == sum(counted.values()) > len(drawn) > counted["ecommerce"]


def test_exports(shop: Desk):
    text = do(shop, "export", "business")["text"]
    assert text == (shop.root / "ontologies/business.jsonld").read_text("utf-8")
    assert json.loads(do(shop, "export")["text"])["@context"]["ecommerce"] == "http://mabos.ai/ontology/ecommerce/"
    turtle = do(shop, "export", "ecommerce", "--format", "turtle")["text"]
    assert "@prefix ecommerce: <http://mabos.ai/ontology/ecommerce/> ." in turtle and "\necommerce:Cart " in turtle
    triples = do(shop, "export", "--format", "ntriples")["text"].split("\n")
    assert triples == [*sorted(triples[:-1]), ""] and len(triples) > 1_500
    typeql = do(shop, "export", "ecommerce", "--format", "typeql")["text"]
    assert "\nentity abandoned_cart, sub cart;\n" in typeql and "entity customer" not in typeql


def test_without_pyoxigraph_turtle_is_unavailable(shop: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "pyoxigraph", None)
    refused(shop.run("ontology", "export", "--format", "turtle"), 6, "needs pyoxigraph")


def test_facts_are_held_against_domains_and_ranges(tiny: Desk):
    for triple in (("acme", "type", "Regular"), ("deed", "isA", "paper"), ("acme", "signs", "deed"), ("deed", "signs", "acme"),
                   ("acme", "pays", "$50"), ("bob", "mabos:pays", "plenty")):  # fmt: skip
        tiny.run("fact", "assert", *triple)
    found = tiny.run("fact", "lint", "--json").data
    assert [(row["kind"], row["message"]) for row in found["findings"]] == [
        ("domain", "deed signs acme: the subject is Paper, not Party"),
        ("range", "deed signs acme: the object is Regular, not Paper"),
        ("range", "bob mabos:pays plenty: the object is no xsd:decimal"),
    ]
    assert found["functional"] == ["mabos:pays", "pays"]
    assert tiny.run("fact", "lint", "--check").code == 7


def test_rules_hold_for_what_is_below_their_class(tiny: Desk):
    for triple in (("acme", "a", "Regular"), ("acme", "mabos:pays", "$150"), ("bob", "pays", "$900")):
        tiny.run("fact", "assert", *triple)
    found = tiny.run("constraint", "check", "--json").data["violations"]
    assert [(row["rule"], row["message"], len(row["facts"]), row["ontology"]) for row in found] == [
        ("tiny:rule-1", "acme pays $150", 2, "tiny")
    ]


def test_only_ontologies_of_the_workspace_count(desk: Desk):
    for triple in (
        ("x", "approvedBy", "tom"),
        ("x", "requestedBy", "tom"),
        ("r", "type", "refund"),
        ("r", "hasAmount", "much"),
    ):
        desk.run("fact", "assert", *triple)
    assert desk.run("constraint", "check", "--json").data == {"violations": []}
    assert desk.run("fact", "lint", "--json").data["findings"] == []
    do(desk, "scaffold", "business")
    found = desk.run("constraint", "check", "--json").data["violations"]
    assert [(row["rule"], row["severity"], row["modality"], row["enforcement_level"]) for row in found] == [
        ("mabos:rule-four-eyes", "critical", "behavioral", "strict")
    ]
    assert desk.run("constraint", "check", "--no-ontology", "--json").data == {"violations": []}
    desk.run(
        "rule",
        "create",
        "if ?x hasAmount much",
        "--type",
        "constraint",
        "--message",
        "?x: how much?",
        "--severity",
        "error",
    )
    desk.run("fact", "assert", "d", "hasDiscountRate", "120")
    told = desk.run("constraint", "check", "--check")
    assert told.code == 7 and [line.split(": ")[0] for line in told.stdout.split("\n")[:3]] == [
        "critical",
        "error",
        "error",
    ]
    assert "(mabos:rule-discount-within-price, definitional; F-" in told.stdout and "(R-001; F-" in told.stdout


def test_a_rule_that_cannot_run_is_told(desk: Desk):
    rule = {"@id": "x:rule-1", "@type": "mabos:BusinessRule", "mabos:violated_when": "if ?x"}
    odd = {
        "@id": "x:rule-2",
        "@type": "mabos:BusinessRule",
        "mabos:violated_when": "if ?x p ?y",
        "mabos:severity": "awful",
    }
    (desk.root / "ontologies/x.jsonld").write_text(json.dumps({"@graph": [rule, odd]}))
    desk.run("fact", "assert", "a", "p", "b")
    said = desk.run("constraint", "check", "--json")
    assert said.data == {"violations": []}
    assert [warning.split(": ")[0] for warning in said.warnings] == [
        "x:rule-1 cannot run",
        "x:rule-2 cannot run",
    ]


MERGE = ("ontology", "merge", "--all")
NOW = {"MABOS_NOW": "2026-02-24T12:00:00Z"}


def test_a_fault_anywhere_in_a_merge_is_made_good_by_the_next(shop: Desk):
    """Two ontologies, one of them new: after a kill at any change, another run ends where an undisturbed one does."""
    do(shop, "propose", *DROPSHIP, *DEFINED)
    do(
        shop,
        "propose",
        "Walk-in guest",
        "--domain",
        "shop",
        "--definition",
        "party that buys unnamed",
        "--parent",
        "Party",
    )
    root, words = shop.root, (*MERGE, "-w", str(shop.root))
    seed = shutil.copytree(root, root.parent / "seed")
    clean = run(*words, **NOW)
    wanted = tree(root)
    assert clean.code == 0 and clean.calls > 12
    for at, fault in zip(range(1, clean.calls + 1, 2), cycle(("kill", "powerloss", "ENOSPC")), strict=False):
        shutil.rmtree(root)
        shutil.copytree(seed, root)
        outcome = run(*words, fault=Fault(fault, at), **NOW)
        assert "Traceback" not in outcome.stderr, outcome.stderr
        for name in ("ecommerce", "shop"):
            path = root / f"ontologies/{name}.jsonld"
            assert (
                path.read_bytes() in (wanted[f"ontologies/{name}.jsonld"], _bytes(seed, name))
                if path.exists()
                else name == "shop"
            )
        again = run(*words, **NOW)
        assert again.code == 0, again.stderr
        assert _settled(tree(root)) == _settled(wanted), f"{fault} at change {at} of {clean.calls}"


def _bytes(root: Path, name: str) -> bytes:
    path = root / f"ontologies/{name}.jsonld"
    return path.read_bytes() if path.exists() else b""


def _settled(files: dict[str, bytes]) -> dict[str, object]:
    """Files of ontologies, proposals without what the validation found: a rerun finds them in the ontology."""
    found: dict[str, object] = {}
    for name, data in files.items():
        if name.endswith("-proposals.json"):
            rows = json.loads(data)["proposals"]
            found[name] = [{key: value for key, value in row.items() if key != "validation_result"} for row in rows]
        elif name.startswith("ontologies/"):
            found[name] = data
    return found


def test_many_hands_lose_no_proposal(shop: Desk):
    problems: list[str] = []

    def propose(number: int) -> None:
        for n in range(3):
            label = f"Thing{'abcdefgh'[number] * 4}{'xyz'[n] * 4}"
            done = run(
                "ontology",
                "propose",
                label,
                "--domain",
                f"d{n % 2}",
                "--definition",
                f"kind {label}",
                "-w",
                str(shop.root),
                **NOW,
            )
            problems.extend([done.stderr] if done.code else [])

    threads = [threading.Thread(target=propose, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, problems[0]
    rows = do(shop, "list", "--proposals")["proposals"]
    assert sorted(row["id"] for row in rows) == [f"OP-{n:03d}" for n in range(1, 13)]
    assert len(do(shop, "merge", "--all")["merged"]) == 12


def test_what_was_merged_and_taken_out_again_can_be_proposed_again(shop: Desk):
    path = shop.root / "ontologies/ecommerce.jsonld"
    before = path.read_bytes()
    do(shop, "propose", *DROPSHIP, *DEFINED)
    do(shop, "merge", "OP-001")
    path.write_bytes(before)  # as git does with an older version
    assert do(shop, "merge", "--all")["merged"] == []  # whoever took it out may have meant it
    again = do(shop, "propose", *DROPSHIP, "--definition", "said in another way")
    assert (again["state"], again["proposal"]["id"]) == ("added", "OP-002")


def test_a_proposal_in_a_file_that_cannot_be_read_is_not_said_to_be_missing(shop: Desk):
    do(shop, "propose", *DROPSHIP, *DEFINED)
    path = shop.root / "ontologies/proposals/ecommerce-proposals.json"
    path.write_text(path.read_text() + "<<<<<<< HEAD\n")
    for words in (("merge", "OP-001"), ("reject", "OP-001", "--reason", "x"), ("validate", "OP-001")):
        refused(shop.run("ontology", *words), 4, "ontologies/proposals/ecommerce-proposals.json:6: not valid JSON")


def test_an_id_of_a_domain_without_a_file_is_known_again_after_a_merge(desk: Desk):
    do(desk, "propose", "Apple", "--domain", "fruit", "--definition", "fruit of a tree")
    do(desk, "propose", "Pear", "--domain", "garden", "--id", "fruit:Pear", "--definition", "another one")
    assert do(desk, "merge", "OP-002")["merged"] == ["OP-002"]
    assert do(desk, "merge", "OP-002")["unchanged"] == ["OP-002"]


def test_a_context_elsewhere_is_not_fetched(desk: Desk):
    path = desk.root / "ontologies" / "far.jsonld"
    path.write_text('{"@context": "https://example.org/context.jsonld", "@graph": [{"@id": "x:A"}]}')
    said = desk.run("ontology", "export", "far", "--format", "turtle")
    refused(said, 4, "far.jsonld:1: not readable as RDF: its @context is elsewhere, and is not fetched")
