"""rules.json: what other tools wrote into it stays, whatever is changed beside it."""

import json

import pytest

from mabos_cli.errors import InvalidFile
from mabos_cli.formats.knowledge.rules import parse_rules, render_rules

RULE = {
    "id": "R-001",
    "name": "old enough",
    "type": "inference",
    "conditions": [
        {"subject": "?x", "predicate": "age", "object": 18, "operator": "gte", "unit": "years"},
        {"subject": "?x", "predicate": "isA"},
    ],
    "conclusion": {"subject": "?x", "predicate": "is", "object": "adult", "note": "law"},
    "priority": 3,
    "escalate": "maybe",
}


def rules_of(*rules, **others):
    return json.dumps({"rules": list(rules), **others}, indent=2).encode()


def test_only_what_changed_is_written_anew():
    file = parse_rules(rules_of(RULE, version=4, tool={"name": "x"}), "rules.json")
    assert file.rules[0].conditions[0].object == "18" and file.rules[0].conditions[1].object == "?_object"
    assert json.loads(render_rules(file)) == {"rules": [RULE], "version": 4, "tool": {"name": "x"}}
    file.rules = (file.rules[0]._replace(enabled=False),)
    assert json.loads(render_rules(file))["rules"] == [RULE | {"enabled": False}]
    again = parse_rules(render_rules(file), "rules.json")
    assert again.rules == file.rules and render_rules(again) == render_rules(file)


def test_a_bare_list_without_a_version_opens():
    file = parse_rules(json.dumps([RULE]).encode(), "rules.json")
    assert (len(file.rules), file.version, file.last_id) == (1, 0, "")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"id": "R-001"}, "rule R-001 occurs twice"),
        ({"type": "guess"}, "a type of inference, constraint, policy"),
        ({"conditions": {}}, "conditions must be a list"),
        ({"conditions": [3]}, "a condition must be an object"),
        ({"conditions": [{"subject": []}]}, "must be text"),
        ({"confidence_factor": "0.9"}, "confidence_factor must be a number"),
        ({"severity": "bad"}, "severity must be one of"),
        ({"name": 3}, "name must be text"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(fields, told):
    data = rules_of(RULE, RULE | {"id": "R-002"} | fields)
    with pytest.raises(InvalidFile) as error:
        parse_rules(data, "rules.json")
    assert told in error.value.message
    at = int(error.value.message.split(":")[1])
    assert data.decode().split("\n")[at - 1] == "    {" and at > 10


@pytest.mark.parametrize("data", [b"", b"3", b'{"rules": 3}', b'{"rules": [], "version": "1"}', b'{"rules": [3]}'])
def test_broken_files_are_refused(data):
    with pytest.raises(InvalidFile, match=r"^rules\.json(:\d+)?: "):
        parse_rules(data, "rules.json")
