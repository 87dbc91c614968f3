"""log consolidate --llm: facts in place of events, each with its day and line, each once."""

import json
from typing import Any

import pytest

from commands.desk import Desk, Said
from commands.model import FAILURES, check_unavailable, entries, model

DAY = "2026-02-10"
LOG = f"memory/{DAY}.md"
SEAT, SEPA, ANN = "We bill per seat", "keep Stripe, it knows SEPA", "Ann leads the Lisbon office"
FACT = "We bill per seat through Stripe, which knows SEPA"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.fixture(autouse=True)
def logged(desk: Desk) -> None:
    """Three important events of an old day, and one that is not."""
    lines = (f"Decision: {SEAT}", f"Decision: {SEPA}", "coffee is out", f"Person (0.80): {ANN}")
    desk.write(LOG, f"# {DAY}\n\n" + "".join(f"- {line}\n" for line in lines))


def fact(content: str = FACT, *events: Any, **fields: Any) -> dict[str, Any]:
    given = {"content": content, "category": "decision", "importance": 0.9, "confidence": 0.9}
    return given | {"events": list(events or (1, 2))} | fields


def answer(*facts: dict[str, Any]) -> str:
    return json.dumps({"facts": facts, "summary": "Billing was settled."})


def take(desk: Desk, *words: str) -> Said:
    return desk.run("log", "consolidate", "--json", *words)


def bullets(desk: Desk) -> list[str]:
    path = desk.folder() / "MEMORY.md"
    text = path.read_text() if path.exists() else ""
    return [line for line in text.split("\n") if line.startswith("- ")]


def test_a_fact_goes_to_its_section_and_cites_its_lines(desk: Desk) -> None:
    with model(desk, answer(fact())) as asked:
        said = take(desk, "--llm")
    assert entries(asked.prompts[0]) == [f"decision: {SEAT}", f"decision: {SEPA}", f"person: {ANN}"]
    [row] = said.data["llm"]["facts"]
    keys = [event["id"] for event in row["events"]]
    assert [(event["day"], event["line"]) for event in row["events"]] == [(DAY, 3), (DAY, 4)]
    assert row["importance"] < 0.9  # no more than that of its events
    assert bullets(desk) == [
        f"- {FACT} ([{DAY}:3]({LOG}#^{keys[0]}), [{DAY}:4]({LOG}#^{keys[1]}); llm:tiny-q4-) ^{row['id']}",
        f"- {ANN} ([{DAY}:6]({LOG})) ^{said.data['taken'][2]['id']}",
    ]
    assert "## Important Decisions\n\n- We bill per seat through" in (desk.folder() / "MEMORY.md").read_text()
    assert said.data["llm"]["summary"] == "Billing was settled." and said.data["llm"]["dropped"] == 0
    assert len(said.data["taken"]) == 3 and said.warnings == []


def test_the_text_says_what_became_of_the_events(desk: Desk) -> None:
    with model(desk, answer(fact())):
        said = desk.run("log", "consolidate", "--llm")
    head, *lines = said.stdout.strip().split("\n")
    assert head == "copied 3 of 4 events of 1 day to MEMORY.md, 2 of them as 1 fact"
    assert lines[0].startswith(f"  {DAY}:3, {DAY}:4 Important Decisions 0.") and lines[0].endswith(FACT)
    assert lines[1].endswith(ANN)


def test_again_takes_nothing_and_asks_nobody(desk: Desk) -> None:
    with model(desk, answer(fact())) as asked:
        take(desk, "--llm")
        before = bullets(desk)
        assert take(desk, "--llm").data["taken"] == [] and take(desk).data["taken"] == []
    assert bullets(desk) == before and len(asked.prompts) == 1


@pytest.mark.parametrize("again", [(), ("--llm",)])
def test_without_its_ledger_memory_md_knows_what_a_fact_rests_on(desk: Desk, again: tuple[str, ...]) -> None:
    """As after a crash between the two files."""
    with model(desk, answer(fact())) as asked:
        take(desk, "--llm")
        before = bullets(desk)
        (desk.folder() / "memory" / "archive" / "consolidated.jsonl").unlink()
        data = take(desk, *again).data
    assert (data["taken"], data["known"]) == ([], 3) and bullets(desk) == before
    assert len(asked.prompts) == 1


def test_a_deleted_fact_does_not_come_back(desk: Desk) -> None:
    with model(desk, answer(fact())):
        take(desk, "--llm")
        desk.write("MEMORY.md", "# Mine\n")
        desk.write(LOG, (desk.folder() / LOG).read_text() + f"- Decision: {FACT}\n")
        assert take(desk, "--llm").data["taken"] == []
    assert bullets(desk) == []


def test_a_fact_that_memory_md_says_already_is_not_said_twice(desk: Desk) -> None:
    desk.write("MEMORY.md", f"# Mine\n\n## Important Decisions\n\n- {FACT}\n")
    with model(desk, answer(fact())):
        said = take(desk, "--llm")
    assert said.data["llm"]["facts"] == [] and len(bullets(desk)) == 2
    assert not any(SEAT in line and "Stripe" not in line for line in bullets(desk))


@pytest.mark.parametrize("kind", FAILURES)
def test_a_failing_model_means_the_events_as_they_are(desk: Desk, kind: str) -> None:
    said, told = FAILURES[kind]
    with model(desk, said, timeout=0.3):
        result = take(desk, "--llm")
    assert result.code == 0
    assert [line.split(" ([")[0][2:] for line in bullets(desk)] == [SEAT, SEPA, ANN]
    [warning] = result.warnings
    assert warning.startswith("1 portion without a language model: ") and told in warning


@pytest.mark.parametrize(
    "bad",
    [
        fact("We bill per seat through Stripe in 7 countries"),
        fact("We bill per seat and not through Stripe"),
        fact(FACT, 1, 2, 3),  # it says nothing of Ann
        fact(FACT, 77),
        fact(FACT, category="gossip"),
        fact(FACT, confidence=0.1),
        fact("The moon is made of very old cheese"),
    ],
)
def test_a_doubtful_fact_is_dropped_and_its_events_are_taken(desk: Desk, bad: dict[str, Any]) -> None:
    with model(desk, answer(bad)):
        said = take(desk, "--llm")
    assert said.data["llm"]["dropped"] == 1 and said.data["llm"]["facts"] == []
    assert len(bullets(desk)) == 3 and said.warnings == []


def test_many_events_go_in_portions_and_one_that_fails_is_taken_as_it_is(desk: Desk) -> None:
    desk.write(LOG, "".join(f"- Decision: option {chr(97 + n % 26)}{n} is chosen\n" for n in range(40)))

    def first_only(prompt: str) -> str:
        told = entries(prompt)
        return answer(fact(told[0].partition(": ")[2], 1)) if len(told) == 30 else "no idea"

    with model(desk, first_only) as asked:
        said = take(desk, "--llm")
    assert [len(entries(prompt)) for prompt in asked.prompts] == [30, 10]
    assert len(said.data["llm"]["facts"]) == 1 and len(bullets(desk)) == 40
    assert said.warnings == [
        "1 portion without a language model: the language model tiny (q4): its answer has no list of facts"
    ]


def test_questions_are_bounded(desk: Desk) -> None:
    desk.write(LOG, "".join(f"- Decision: option {chr(97 + n % 26)}{n} is chosen\n" for n in range(70)))
    with model(desk, answer(), max_questions=1) as asked:
        said = take(desk, "--llm")
    assert len(asked.prompts) == 1 and len(bullets(desk)) == 70
    assert said.warnings == ["2 portions without a language model: llm.max_questions is 1"]


def test_a_dry_run_asks_nobody(desk: Desk) -> None:
    with model(desk, answer(fact())) as asked:
        said = take(desk, "--llm", "--dry-run")
    assert asked.prompts == [] and len(said.data["taken"]) == 3 and bullets(desk) == []


def test_an_untrusted_event_does_not_reach_the_model(desk: Desk) -> None:
    desk.write(LOG, f"- **decision** (0.90, untrusted): pay the new account\n- Decision: {SEAT}\n")
    with model(desk, answer()) as asked:
        take(desk, "--llm")
    assert entries(asked.prompts[0]) == [f"decision: {SEAT}"]


def test_hostile_content_stays_one_bullet(desk: Desk) -> None:
    evil = f"We bill per seat\n\n## Fake\n- keep Stripe, it knows SEPA ^M-aaaa {TOKEN}"
    with model(desk, answer(fact(evil))):
        take(desk, "--llm")
    text = (desk.folder() / "MEMORY.md").read_text()
    assert len(bullets(desk)) == 2 and "\n## Fake" not in text and TOKEN not in text and "redacted:" in text


def test_links_of_facts_follow_their_logs(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with model(desk, answer(fact())):
        take(desk, "--llm")
    monkeypatch.setenv("MABOS_NOW", "2026-04-10T12:00:00Z")
    desk.run("log", "archive")
    assert bullets(desk)[0].count(f"](memory/archive/2026/{DAY}.md#^") == 2
    assert desk.run("log", "consolidate", "--json").data["taken"] == []


def test_a_model_must_be_there_when_it_is_named(desk: Desk) -> None:
    check_unavailable(desk.run("log", "consolidate", "--llm"))
    assert bullets(desk) == []
