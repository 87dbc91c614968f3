import json

import pytest

from mabos_cli.core.knowledge.proposal import Proposal
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.knowledge.proposals import ProposalFile, parse_proposals, render_proposals

ONE = Proposal(
    "OP-001", "shop", "datatype_property", "shop:hasMail", "has mail", domain_class="shop:Guest", range="xsd:string",
    functional=True, sbvr_synonyms=("mail address",), rationale="we write to them", proposed_by="cfo",
    proposed_at="2026-02-24T14:30:00.000Z",
)  # fmt: skip
SEED = {"id": "p-7", "node_type": "class", "node_id": "shop:Guest", "label": "Guest", "votes": {"cfo": 1}}


def parsed(value: object) -> ProposalFile:
    return parse_proposals(json.dumps(value, indent=1).encode(), "p.json", "shop")


def test_one_proposal_per_line_and_back():
    file = ProposalFile()
    file.proposals = (ONE, ONE._replace(id="OP-002", validation_result={"valid": True}))
    data = render_proposals(file)
    assert data.count(b"\n    {") == 2 and data.endswith(b"\n  ]\n}\n")
    again = parse_proposals(data, "p.json", "shop")
    assert again.proposals == file.proposals and render_proposals(again) == data


def test_keys_of_other_tools_stay():
    file = parsed({"proposals": [SEED], "schema": 3})
    assert file.proposals == (Proposal("p-7", "shop", "class", "shop:Guest", "Guest", extra=(("votes", {"cfo": 1}),)),)
    file.proposals = (file.proposals[0]._replace(status="rejected", reason="no"),)
    assert json.loads(render_proposals(file)) == {
        "proposals": [SEED | {"status": "rejected", "reason": "no"}],
        "schema": 3,
    }


def test_a_bare_list_stays_one():
    file = parsed([SEED])
    file.proposals += (ONE,)
    assert [each["id"] for each in json.loads(render_proposals(file))] == ["p-7", "OP-001"]
    assert render_proposals(parsed([])) == b"[]\n"


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (5, "a proposal must be an object"),
        ({"id": "x"}, "proposal x: node_id is required"),
        (SEED | {"node_type": "relation"}, "proposal p-7: node_type must be one of class, "),
        (SEED | {"status": "maybe"}, "proposal p-7: status must be one of pending, "),
        (SEED | {"label": 5}, "proposal p-7: label must be text"),
        (SEED | {"sbvr_synonyms": "x"}, "proposal p-7: sbvr_synonyms must be a list of texts"),
        (SEED, "proposal p-7 occurs twice"),
    ],
)
def test_what_is_off_is_cited(entry: object, told: str):
    line = 2 + len(json.dumps(SEED, indent=1).split("\n"))
    with pytest.raises(InvalidFile) as caught:
        parsed([SEED, entry])
    assert caught.value.message.startswith(f"p.json:{line}: {told}")


def test_the_whole_must_be_a_list_or_hold_one():
    for junk in ("x", {"proposals": 5}):
        with pytest.raises(InvalidFile, match=r"p\.json:1: a file of proposals must be"):
            parsed(junk)
