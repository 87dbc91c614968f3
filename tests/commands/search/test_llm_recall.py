"""recall --llm: other words and another order; without the model's help whatever it does wrong."""

import json
import os
import sys

import pytest

from commands.desk import Desk, note
from commands.model import FAILURES, check_unavailable, entries, model

ACME, NORTH, HARBOUR = (
    note(1, "Acme settles its bills in EUR"),
    note(2, "Northwind pays invoices by card"),
    note(3, "The harbour office opens at seven"),
)


@pytest.fixture(autouse=True)
def by_words(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three memories that are found by words alone."""
    monkeypatch.setenv("MABOS_INDEX_VECTORS", "lexical")
    desk.put([ACME, NORTH, HARBOUR])


def helping(expansions: str, order: str):
    return lambda prompt: expansions if "variations" in prompt else order


def test_other_words_find_what_the_question_does_not(desk: Desk) -> None:
    assert desk.recall("invoices").refs == [NORTH.id]
    with model(desk, helping('["settle bills", "payment of bills"]', "nothing")) as asked:
        said = desk.recall("invoices", "--llm")
    assert said.refs == [NORTH.id, ACME.id]
    assert said.data["llm"] == {
        "model": "tiny (q4)",
        "expansions": ["settle bills", "payment of bills"],
        "reranked": False,
    }
    assert said.data["results"][1]["via"] == ["settle bills"]
    assert entries(asked.prompts[0]) == ["invoices"]
    assert entries(asked.prompts[1]) == ["invoices", NORTH.content, ACME.content]
    [warning] = said.warnings
    assert "1 search step" in warning and "no order of numbers" in warning


def test_the_model_helps_to_order(desk: Desk) -> None:
    before = desk.recall("bills invoices office").refs
    with model(desk, helping("none", "[4, 3, 2]")):
        said = desk.recall("bills invoices office", "--llm")
    assert said.data["llm"]["reranked"] and said.refs == [before[0], before[2], before[1]]
    with model(desk, helping("none", "[4, 99, 4]")):
        assert desk.recall("bills invoices office", "--llm").refs == said.refs


def test_the_limit_holds_and_more_is_put_to_the_model(desk: Desk) -> None:
    with model(desk, helping("[]", "[4, 2, 3]")) as asked:
        said = desk.recall("bills invoices office", "--llm", "--limit", "2")
    assert len(said.refs) == 2 and len(entries(asked.prompts[1])) == 4


def test_at_most_twenty_are_ordered_and_none_is_lost(desk: Desk) -> None:
    items = [note(n, f"memory of the lighthouse number {n}") for n in range(30)]
    desk.put(items)
    before = desk.recall("lighthouse", "--limit", "25").refs
    with model(desk, helping("[]", json.dumps(list(range(21, 1, -1))))) as asked:
        said = desk.recall("lighthouse", "--llm", "--limit", "25")
    assert len(entries(asked.prompts[1])) == 21
    assert sorted(said.refs) == sorted(before) and said.refs[20:] == before[20:]
    assert said.refs[0] == before[0]


def test_filters_hold_for_other_words_too(desk: Desk) -> None:
    desk.put([ACME._replace(type="decision"), NORTH])
    with model(desk, helping('["settle bills"]', "[2]")):
        assert desk.recall("invoices", "--llm", "--type", "fact").refs == [NORTH.id]


def test_explain_says_what_the_model_did(desk: Desk) -> None:
    with model(desk, helping('["settle bills"]', "[3, 2]")):
        said = desk.run("recall", "invoices", "--llm", "--explain")
    head, *lines = said.stdout.split("\n")
    assert head == 'tiny (q4) asked for "settle bills" too, and helped to order them'
    assert any('asked as "settle bills"' in line and "expansion 0." in line for line in lines)
    assert "reranked 0." in said.stdout


def test_without_a_question_nobody_is_asked(desk: Desk) -> None:
    with model(desk, "x") as asked:
        said = desk.recall("--llm")
    assert len(said.refs) == 3 and asked.prompts == [] and said.warnings == []


@pytest.mark.parametrize("kind", FAILURES)
def test_a_failing_model_changes_nothing(desk: Desk, kind: str) -> None:
    said, told = FAILURES[kind]
    before = desk.recall("bills invoices")
    with model(desk, said, timeout=0.3) as asked:
        after = desk.recall("bills invoices", "--llm")
    assert after.code == 0 and after.refs == before.refs
    assert after.data["llm"] == {"model": "tiny (q4)", "expansions": [], "reranked": False}
    assert told in after.warnings[0] and "without a language model" in after.warnings[0]
    # One that does not answer is not asked again.
    assert len(asked.prompts) == (2 if kind == "prose" else 1)


def test_a_program_as_the_model(desk: Desk) -> None:
    script = desk.root / "m.py"
    script.write_text("import sys\np = sys.stdin.read()\nprint('- settle bills' if 'variations' in p else '3, 2')")
    desk.settle(f"llm:\n  command: '{sys.executable} {os.fspath(script)}'\n")
    said = desk.recall("invoices", "--llm")
    assert said.refs == [NORTH.id, ACME.id] and said.data["llm"]["reranked"]
    assert said.data["llm"]["model"].startswith("command:python")


def test_a_model_must_be_there_when_it_is_named(desk: Desk) -> None:
    check_unavailable(desk.run("recall", "invoices", "--llm", "-a", "main"))


def test_without_the_option_nothing_is_asked_or_loaded(desk: Desk) -> None:
    names = ("mabos_cli.core.search.second_opinion", "mabos_cli.services.search.llm_ask")
    for name in names:
        sys.modules.pop(name, None)
    with model(desk, "x") as asked:
        said = desk.recall("invoices")
    assert "llm" not in said.data and asked.prompts == []
    assert not {*names} & {*sys.modules}


def test_a_long_question_is_shortened_for_the_model(desk: Desk) -> None:
    with model(desk, helping('["settle bills"]', "[2]")) as asked:
        desk.recall("-", "--llm", stdin=b"invoices " * 20_000)
    assert all(len(prompt) < 5000 for prompt in asked.prompts)
