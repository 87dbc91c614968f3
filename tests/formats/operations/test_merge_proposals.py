"""Proposals of two branches as one, whichever side is ours."""

import json

from mabos_cli.core.language.ids import distinct_id
from mabos_cli.formats.knowledge.proposals import parse_proposals
from mabos_cli.formats.operations.git_merge import merge_file
from mabos_cli.formats.operations.merge_records import Merged


def merged(kind: str, base: bytes, ours: bytes, theirs: bytes) -> Merged:
    found, swapped = (merge_file(kind, "x", (base, *sides)) for sides in ((ours, theirs), (theirs, ours)))
    assert found and swapped and found.data == swapped.data
    return found


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
