"""`infer forward --persist` after a change: what from scratch would write, with little looked at."""

import json
import random
import shutil
import sqlite3

import pytest

from commands.desk import Desk
from mabos_cli.services.knowledge import renewal

RULES = (
    "if ?x partOf ?y then ?x within ?y",
    "if ?x partOf ?y and ?y within ?z then ?x within ?z",
    "if ?x partOf ?y and not ?y partOf ?x and not ?x isA Gadget then ?x leans ?y",
    "if ?x isA Box and ?n = count ?p of (?p partOf ?x) and ?n > 1 then ?x is full",
)


def do(desk: Desk, *words: str, **more) -> dict:
    return desk.run(*words, "--json", **more).data


def held(desk: Desk) -> list[dict]:
    """The derived facts on disk without the times at which they were written, in their order."""
    paths = sorted([desk.folder() / "facts-derived.json", *(desk.folder() / "facts-derived").glob("*.json")])
    facts = [json.loads(path.read_bytes())["facts"] for path in paths]
    rows = [row for listed in facts if listed != "on pages" for row in listed]
    return [{k: v for k, v in row.items() if k not in ("created_at", "updated_at")} for row in rows]


@pytest.mark.parametrize("split", [10_000, 5])
def test_a_walk_writes_what_from_scratch_would(desk: Desk, monkeypatch, split: int):
    monkeypatch.setattr(renewal, "_WORTH", 3)
    (desk.root / "mabos.yaml").write_text(f"facts:\n  split_above: {split}\n")
    for rule in RULES:
        do(desk, "rule", "create", rule)
    if split > 5:
        do(desk, "ontology", "scaffold", "consulting")
    draw, renewed = random.Random(split), 0
    for step in range(30):
        one, two = f"t{draw.randrange(7)}", f"t{draw.randrange(7)}"
        act = draw.randrange(12)
        if act < 6:
            times = ("--from", "2026-01-01") if draw.random() < 0.3 else ()
            do(desk, "fact", "assert", one, "partOf", two, "--confidence", f"0.{draw.randint(1, 9)}", *times)
        elif act < 8:
            do(desk, "fact", "assert", one, "isA", draw.choice(("Box", "Gadget", "Customer", "Supplier")))
        elif act < 11:
            desk.run("fact", "retract", "--subject", one, "--predicate", "partOf")
        else:
            do(desk, "rule", "toggle", "R-003")
        if step % 3 or step < 6:
            continue
        answer = do(desk, "infer", "forward", "--persist")
        renewed += answer["renewed"]
        found, count = held(desk), answer["derived"]
        kept = desk.home().paths.fact_rows
        if not kept.exists():
            continue
        shutil.copy(kept, kept.with_suffix(".kept"))
        kept.unlink()
        again = do(desk, "infer", "forward", "--persist")
        assert (again["added"], again["changed"], again["removed"], again["renewed"]) == (0, 0, 0, False)
        assert (held(desk), again["derived"]) == (found, count)
        kept.with_suffix(".kept").replace(kept)
    assert renewed > 3
    assert desk.run("doctor", "--check").code == 0, desk.run("doctor").stdout


def test_what_the_last_run_left_is_disposable(desk: Desk, monkeypatch):
    monkeypatch.setattr(renewal, "_WORTH", 0)
    do(desk, "rule", "create", RULES[0])
    for damage in (b"", b"no database", None):
        do(desk, "fact", "assert", f"a{damage}", "partOf", "b")
        path = desk.home().paths.fact_rows
        if damage is None:
            with sqlite3.connect(path) as db:
                db.execute("DROP TABLE rows")
        elif path.exists():
            path.write_bytes(damage)
        answer = do(desk, "infer", "forward", "--persist")
        assert (answer["renewed"], answer["added"]) == (False, 1)
    do(desk, "fact", "assert", "last", "partOf", "b")
    answer = do(desk, "infer", "forward", "--persist")
    assert (answer["renewed"], answer["added"], answer["derived"]) == (True, 1, 4)
    assert [fact["subject"] for fact in answer["facts"]] == ["last"]
