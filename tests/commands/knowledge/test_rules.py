"""Rules, inference, constraints and policies through the commands."""

import json

import pytest
from forked import tree

from commands.desk import Desk, Said


def do(desk: Desk, *words: str, **more) -> dict:
    return desk.run(*words, "--json", **more).data


def refused(said: Said, code: int, told: str) -> None:
    assert (said.code, said.stdout, "Traceback" in said.stderr) == (code, "", False), said
    assert told in said.stderr


def test_the_id_of_a_rule_that_is_gone_is_not_given_again(desk: Desk):
    for _ in range(2):
        do(desk, "rule", "create", "if ?x a ?y then ?x b ?y")
    do(desk, "rule", "delete", "R-002")
    assert do(desk, "rule", "create", "if ?x a ?y then ?x c ?y")["rule"]["id"] == "R-003"
    for own in ("R-001", "R-003"):
        do(desk, "rule", "delete", own)
    assert do(desk, "rule", "create", "if ?x a ?y then ?x d ?y")["rule"]["id"] == "R-004"


def test_rules_of_other_tools_keep_what_we_do_not_know(desk: Desk):
    rule = {"id": "tax-1", "type": "inference", "weight": 3,
            "conditions": [{"subject": "?x", "predicate": "age", "object": 18, "operator": "gte", "unit": "years"}],
            "conclusion": {"subject": "?x", "predicate": "is", "object": "adult"}}  # fmt: skip
    desk.write("rules.json", json.dumps([rule]))
    do(desk, "rule", "create", "if ?x a ?y then ?x b ?y")
    do(desk, "rule", "toggle", "TAX-1", "--off")
    kept = json.loads((desk.folder() / "rules.json").read_text())["rules"]
    assert kept[0] == rule | {"enabled": False} and kept[1]["id"] == "R-001"
    before = tree(desk.root)
    do(desk, "rule", "toggle", "tax-1", "--off")
    assert tree(desk.root) == before


def test_a_broken_rule_file_stops_what_needs_it_and_stays(desk: Desk):
    do(desk, "fact", "assert", "a", "b", "c")
    text = '{"rules": [\n{"id": "R-1", "type": "inference"},\n{"id": "R-1", "type": "inference"}]}'
    desk.write("rules.json", text)
    for words in ("rule list", "rule show R-1", "rule toggle R-1", "infer forward", "infer forward --persist", "infer backward a b c",
                  "constraint check", "policy eval", "fact lint"):  # fmt: skip
        refused(desk.run(*words.split()), 4, "rules.json:3: rule R-1 occurs twice")
    refused(desk.run("rule", "create", "if ?x a b then ?x c d"), 4, "rules.json:3: ")
    assert (desk.folder() / "rules.json").read_text() == text


def test_rules_that_cannot_run_are_kept_and_told(desk: Desk):
    desk.write("rules.json", json.dumps([{"id": "R-1", "type": "inference", "conditions": []}]))
    assert "R-1 cannot run" in desk.run("rule", "list", "--json").warnings[0]
    assert "R-1 was not run" in desk.run("infer", "forward", "--json").warnings[0]
    refused(desk.run("rule", "test", "R-1"), 2, "cannot run")


def crowd(desk: Desk, size: int) -> None:
    """So many things in one place."""
    rows = "".join(f'{{"subject": "n{n}", "predicate": "in", "object": "town"}}\n' for n in range(size))
    do(desk, "fact", "import", "-", stdin=rows.encode())


def test_rules_that_explode_are_left_out_and_told(desk: Desk):
    crowd(desk, 180)  # any three of them make six million
    do(desk, "rule", "create", "if ?x in town then ?x is urban")
    do(desk, "rule", "create", "if ?x in town and ?y in ?t and ?z in ?t and ?a in ?t then ?x near ?z")
    do(desk, "rule", "create", "if ?x in town and ?y in town and ?z in town", "--message", "too many")
    found = desk.run("infer", "forward", "--json", "--limit", "1", "--max-work", "300000")
    assert found.data["fixpoint"].startswith("stopped: ") and "too many ways" in found.warnings[0]
    assert "too many ways" in desk.run("constraint", "check", "--json").warnings[0]
    refused(desk.run("rule", "test", "R-003"), 2, "joins facts in too many ways")


def test_limits_say_what_they_cut(desk: Desk):
    crowd(desk, 60)
    do(desk, "rule", "create", "if ?x in ?t and ?y in ?t then ?x near ?y")
    cut = do(desk, "infer", "forward", "--max-facts", "7")
    assert (cut["derived"], cut["fixpoint"]) == (7, "stopped: max_facts 7 cut at least 3,593")
    whole = do(desk, "infer", "forward", "--persist", "--limit", "1")
    assert (whole["derived"], whole["added"], whole["fixpoint"]) == (3_600, 3_600, "reached")
    assert do(desk, "rule", "test", "R-001", "--limit", "2")["count"] == 3_600


def test_policies_and_constraints_only_see_what_holds_now(desk: Desk):
    do(desk, "rule", "create", "if ?x debt > 5", "--action", "call ?x", "--escalate")
    do(
        desk,
        "rule",
        "create",
        "if ?x debt ?d and ?d > 5",
        "--message",
        "?x owes ?d",
        "--severity",
        "critical",
    )
    do(desk, "fact", "assert", "acme", "debt", "9", "--until", "2026-01-31")
    assert do(desk, "policy", "eval")["actions"] == do(desk, "constraint", "check")["violations"] == []
    assert do(desk, "policy", "eval", "--set", "acme:debt=7")["actions"][0]["action"] == "call acme"
    do(desk, "fact", "assert", "acme", "debt", "8")
    assert do(desk, "constraint", "check")["violations"][0]["message"] == "acme owes 8"
    assert desk.run("constraint", "check", "--check").code == 7


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["if ?x a ?y then ?x b ?z"], "no condition binds ?z"),
        (["if ?x a ?y then ?x b ?y", "--factor", "0"], "outside (0, 1]"),
        (["if ?x a ?y then ?x b ?y", "--factor", "nan"], "outside (0, 1]"),
        (["if ?x * ?y then ?x b ?y"], "use a variable"),
        (["if ?x a > ?y and ?y < 5 then ?x b c"], "no condition binds ?y"),
        (["if ?x a ?y", "--type", "policy"], "a policy needs an action"),
        (["if ?x a ?y", "--type", "inference"], "needs a conclusion"),
        (['if ?x a "b then ?x c d'], "a quote is not closed"),
        (["--condition", "{"], "not valid JSON"),
        (["if ?x a b then ?x c d", "--conclusion", "?x e f"], "has a conclusion already"),
        (["if ?x a b", "--severity", "bad"], "unknown severity"),
    ],
)
def test_rules_that_make_no_sense_are_refused(desk: Desk, words: list[str], told: str):
    refused(desk.run("rule", "create", *words), 2, told)
    assert not (desk.folder() / "rules.json").exists()
