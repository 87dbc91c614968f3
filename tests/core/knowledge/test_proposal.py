import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.ontology import Concept, Ontology, Property
from mabos_cli.core.knowledge.proposal import (
    Proposal,
    Surroundings,
    find_left_out,
    is_merged,
    make_local_name,
    name_proposed,
    order_proposals,
    proposed_node,
    resolve_names,
    validate_proposal,
)
from mabos_cli.core.language.similar import edit_distance, tolerance

ONTOLOGY = Ontology(
    [
        Concept("mabos:Thing", "Thing"),
        Concept(
            "mabos:Customer",
            "Customer",
            ("mabos:Thing",),
            synonyms=("buyer", "account holder"),
            source="business",
        ),
        Concept("mabos:MRR", "MRR", ("mabos:Thing",)),
        Concept("mabos:Fulfillment", "Fulfillment", ("mabos:Thing",)),
        Concept("mabos:Retailer", "Retailer", ("mabos:Thing",)),
    ],
    [
        Property("mabos:places", "places", domains=("mabos:Customer",)),
        Property("mabos:deliveredOn", "delivered on"),
    ],
)
GOOD = Proposal(
    "OP-001", "shop", "class", "shop:Dropship", "Dropship", "mabos:Fulfillment", rationale="needed",
    sbvr_definition="fulfillment that the supplier ships",
)  # fmt: skip
LINK = GOOD._replace(
    node_type="object_property", node_id="shop:shippedBy", label="shipped by", parent_class="",
    domain_class="mabos:Fulfillment", range="mabos:Customer",
)  # fmt: skip
VALUE = LINK._replace(node_type="datatype_property", node_id="shop:hasWeight", label="has weight", range="xsd:decimal")


def found(proposal: Proposal, *pending: Proposal) -> list[tuple[str, str]]:
    around = Surroundings(ONTOLOGY, (proposal, *pending), {"shop"}, {"mabos", "shop"})
    return [(finding.level[0], finding.check) for finding in validate_proposal(proposal, around)]


def test_good_ones_pass():
    assert found(GOOD) == found(LINK) == found(VALUE) == []


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"label": "customer"}, [("e", "duplicate")]),
        ({"label": "Account  Holder"}, [("e", "duplicate")]),  # a synonym, whatever the case and the blanks
        ({"sbvr_synonyms": ("Buyer",)}, [("e", "duplicate")]),
        ({"label": "Custommer"}, [("e", "similar")]),
        ({"label": "Fulfilmennt"}, [("e", "similar")]),  # two letters of eleven
        ({"label": "Fulfilmezz"}, []),  # three
        ({"label": "ARR"}, []),  # one letter of three
        ({"label": "MRRs"}, []),
        ({"label": "Retainer"}, [("e", "similar")]),
        ({"label": "Places"}, []),  # a noun may look like a verb
        ({"node_id": "shop:dropship"}, [("e", "naming")]),
        ({"node_id": "shop:Drop_Ship"}, [("e", "naming")]),
        ({"node_id": "Dropship"}, [("e", "naming")]),  # no prefix
        ({"node_id": "store:Dropship"}, [("e", "naming")]),
        ({"node_id": "http://x.org/Dropship"}, []),
        ({"node_id": "http://x org/Dropship"}, [("e", "naming")]),
        ({"node_id": "mabos:MRR"}, [("e", "duplicate")]),
        ({"node_id": "shop:保証"}, []),
        ({"parent_class": "mabos:Nowhere"}, [("e", "parent")]),
        ({"parent_class": ""}, [("w", "parent")]),
        ({"parent_class": "shop:Dropship"}, [("e", "cycle")]),
        ({"sbvr_definition": " "}, [("e", "definition")]),
        ({"sbvr_definition": "Dropship."}, [("e", "definition")]),
        ({"domain": "other"}, [("w", "domain")]),
        ({"domain": "../x"}, [("e", "domain")]),
        ({"rationale": ""}, [("w", "rationale")]),
    ],
)  # fmt: skip
def test_classes(changes: dict, wrong: list):
    assert found(GOOD._replace(**changes)) == wrong


@pytest.mark.parametrize(
    ("proposal", "changes", "wrong"),
    [
        (LINK, {"node_id": "shop:ShippedBy"}, [("e", "naming")]),
        (LINK, {"label": "Delivered On"}, [("e", "duplicate")]),
        (LINK, {"label": "delivered ton"}, [("e", "similar")]),
        (LINK, {"label": "customer"}, []),
        (LINK, {"domain_class": "mabos:places"}, [("e", "domain_class")]),
        (LINK, {"domain_class": "", "range": ""}, [("w", "domain_class"), ("w", "range")]),
        (LINK, {"range": "mabos:Nowhere"}, [("e", "range")]),
        (LINK, {"range": "xsd:decimal"}, [("e", "range")]),
        (VALUE, {"range": "mabos:Customer"}, [("e", "range")]),
        (VALUE, {"range": "xsd:kilogram"}, [("e", "range")]),
        (VALUE, {"range": "rdfs:Literal"}, []),
    ],
)
def test_properties(proposal: Proposal, changes: dict, wrong: list):
    assert found(proposal._replace(**changes)) == wrong


def test_the_name_in_an_id_is_taken_as_well():
    given = GOOD._replace(node_id="shop:Customer", label="Patron of the shop")
    around = Surroundings(ONTOLOGY, (given,), {"shop"}, {"mabos", "shop"})
    assert [finding.message for finding in validate_proposal(given, around)] == [
        "'Customer' is 'Customer' of mabos:Customer"
    ]


def test_other_proposals_count():
    other = GOOD._replace(id="OP-002", node_id="shop:Express", label="Express delivery")
    assert found(GOOD._replace(parent_class="shop:Express"), other) == []
    assert found(GOOD, other._replace(parent_class="shop:Dropship")) == []
    assert found(GOOD._replace(parent_class="shop:Express"), other._replace(parent_class="shop:Dropship")) == [
        ("e", "cycle")
    ]
    assert found(GOOD, other._replace(label="dropship")) == [("e", "duplicate")]
    assert found(GOOD, other._replace(node_id="shop:Dropship")) == [("e", "duplicate")]
    assert found(LINK._replace(range="shop:Express"), other) == []


def test_a_long_circle_is_named():
    chain = [
        GOOD._replace(id=f"OP-{n}", node_id=f"shop:C{n}", label=f"word {n}", parent_class=f"shop:C{(n + 1) % 50}")
        for n in range(50)
    ]
    around = Surroundings(ONTOLOGY, chain, {"shop"}, {"shop"})
    told = next(f.message for f in validate_proposal(chain[7], around) if f.check == "cycle")
    assert told.startswith("a class cannot be below itself: shop:C7 < shop:C8 < ") and told.endswith("shop:C7")


def test_ids_are_made_from_labels():
    assert make_local_name("net promoter-score (NPS)", "class") == "NetPromoterScoreNPS"
    assert make_local_name("Is part of", "object_property") == "isPartOf"
    assert make_local_name("24h delivery", "class") == "N24hDelivery"
    assert make_local_name("保証 期間", "class") == "保証期間"
    with pytest.raises(BadValue, match="has no word"):
        make_local_name("!?", "class")


def test_names_become_ids():
    told = GOOD._replace(parent_class="fulfillment")
    assert resolve_names(told, ONTOLOGY, {}).parent_class == "mabos:Fulfillment"
    assert resolve_names(GOOD._replace(parent_class="Nowhere"), ONTOLOGY, {}).parent_class == "Nowhere"
    assert (
        resolve_names(GOOD._replace(parent_class="dropship"), ONTOLOGY, name_proposed([GOOD])).parent_class
        == "shop:Dropship"
    )
    assert resolve_names(VALUE._replace(range="decimal", domain_class="buyer"), ONTOLOGY, {})[6:8] == (
        "mabos:Customer",
        "xsd:decimal",
    )
    two = Ontology([Concept("mabos:Plan", "Plan", source="business"), Concept("shop:Plan", "Plan", source="shop")])
    assert resolve_names(GOOD._replace(parent_class="plan"), two, {}).parent_class == "shop:Plan"


def test_what_is_there_just_as_proposed_is_merged():
    node = proposed_node(GOOD)
    assert is_merged(GOOD, Ontology([node._replace(source="elsewhere")]))
    assert not is_merged(GOOD, Ontology([node._replace(definition="other words")]))
    assert not is_merged(GOOD, ONTOLOGY)
    spaced = GOOD._replace(sbvr_definition=" fulfillment that\nthe supplier  ships ", sbvr_synonyms=("a  b", "", "a b"))
    assert is_merged(spaced, Ontology([node._replace(synonyms=("a b",))]))
    assert is_merged(LINK, Ontology(properties=[proposed_node(LINK)])) and not is_merged(LINK, Ontology([node]))


def test_what_others_rest_on_comes_first():
    top = GOOD._replace(id="OP-009", node_id="shop:Top", parent_class="")
    mid = GOOD._replace(id="OP-005", node_id="shop:Mid", parent_class="shop:Top")
    link = LINK._replace(id="OP-001", domain_class="shop:Mid", range="shop:Top")
    for order in ([link, mid, top], [mid, link, top], [top, mid, link]):
        assert [each.id for each in order_proposals(order)] == ["OP-009", "OP-005", "OP-001"]


def test_who_rests_on_one_that_is_not_chosen_is_told():
    top = GOOD._replace(id="OP-002", node_id="shop:Top")
    mid = GOOD._replace(parent_class="shop:Top")
    around = Surroundings(ONTOLOGY, [top, mid])
    assert [f.message for f in find_left_out(mid, [mid], around)] == [
        "shop:Top is itself only proposed: merge OP-002 too"
    ]
    assert not list(find_left_out(mid, [mid, top], around)) and not list(find_left_out(GOOD, [GOOD], around))


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.text("ab", min_size=1, max_size=12), min_size=1, max_size=6, unique=True),
    st.text("ab", min_size=1, max_size=12),
)
def test_names_too_near_are_all_found(names: list[str], asked: str):
    """Against a comparison of each with each."""
    around = Surroundings(Ontology([Concept(f"x:{'Zq' * 9}{n}", name) for n, name in enumerate(names)]))
    near = {taken.name: away for away, taken in around.names_like(asked, True)}
    far = {name: edit_distance(asked, name, 3) for name in names}
    assert near == {name: away for name, away in far.items() if away <= tolerance(min(len(asked), len(name)))}
