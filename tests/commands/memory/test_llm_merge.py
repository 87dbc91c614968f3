"""store --llm: near duplicates in long-term memory become one, if the model says so and its text holds."""

import json

import pytest

from commands.desk import Desk, note
from commands.model import FAILURES, check_unavailable, entries, model

OLD = "The staging database is restored every night at two by the ops team"
NEW = "The staging database is restored every night at two by the ops crew"
BOTH = "The staging database is restored every night at two by the ops team, the ops crew"
ITEM = note(1, OLD, importance=0.5, tags=("ops",))
SAME = json.dumps({"same": True, "text": BOTH})


@pytest.fixture(autouse=True)
def there(desk: Desk) -> None:
    desk.put([ITEM])


def store(desk: Desk, *words: str, text: str = NEW):
    return desk.run("store", text, "--store", "long_term", "--llm", "--json", *words)


def long_term(desk: Desk) -> dict[str, str]:
    found = json.loads((desk.folder() / "memory-store.json").read_text())["long_term"]
    return {item["id"]: item["content"] for item in found}


def test_the_same_memory_becomes_one(desk: Desk) -> None:
    with model(desk, SAME) as asked:
        said = store(desk, "--importance", "0.7", "--tag", "db")
    assert said.data["id"] == ITEM.id and said.data["deduplicated"] and said.warnings == []
    assert said.data["llm"] == {"model": "tiny (q4)", "asked": 1, "merged": 1}
    assert entries(asked.prompts[0]) == [OLD, NEW]
    assert long_term(desk) == {ITEM.id: BOTH}
    got = desk.run("get", ITEM.id, "--json").data["item"]
    assert (got["importance"], got["tags"], got["written_by"]) == (0.7, ["ops", "db"], "llm:tiny-q4-")
    archive = [json.loads(line) for line in (desk.folder() / "archive" / "2026-02.jsonl").read_text().splitlines()]
    assert [(row["reason"], row["item"]["content"]) for row in archive] == [("updated", OLD), ("merged", NEW)]
    assert got["derived_from"] == [archive[1]["id"]]


def test_the_text_says_merged(desk: Desk) -> None:
    with model(desk, SAME):
        said = desk.run("store", NEW, "--store", "long_term", "--llm")
    assert said.stdout.startswith(f"merged into {ITEM.id} in long_term")


def test_another_memory_is_linked(desk: Desk) -> None:
    with model(desk, '{"same": false}'):
        said = store(desk)
    assert said.data["related_to"] == [ITEM.id] and not said.data["deduplicated"] and said.warnings == []
    assert said.data["llm"]["merged"] == 0


@pytest.mark.parametrize("kind", FAILURES)
def test_a_failing_model_means_a_link(desk: Desk, kind: str) -> None:
    answer, told = FAILURES[kind]
    with model(desk, answer, timeout=0.3):
        said = store(desk)
    assert said.code == 0 and said.data["related_to"] == [ITEM.id]
    assert long_term(desk)[ITEM.id] == OLD
    [warning] = said.warnings
    assert warning.startswith("1 near duplicate without a language model: ") and told in warning


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BOTH.replace("two", "four"), "number"),
        (BOTH.replace(" at two", ""), "leaves out a number"),
        (BOTH.replace("is restored", "is not restored"), "denies"),
        ("The ops team", "leaves out"),
        ("x" * 500, "characters"),
        ("", "no text"),
    ],
)
def test_a_text_that_does_not_hold_means_a_link(desk: Desk, text: str, told: str) -> None:
    with model(desk, json.dumps({"same": True, "text": text})):
        said = store(desk)
    assert said.data["related_to"] == [ITEM.id] and told in said.warnings[0]
    assert long_term(desk)[ITEM.id] == OLD


@pytest.mark.parametrize(
    "words",
    [
        (OLD + "!",),
        ("The harbour office opens at seven",),
        (OLD.replace("restored", "never restored"),),
        (NEW, "--trust", "untrusted"),
    ],
)
def test_no_question_where_likeness_decides(desk: Desk, words: tuple[str, ...]) -> None:
    with model(desk, SAME) as asked:
        said = store(desk, *words[1:], text=words[0])
    assert asked.prompts == [] and said.code == 0 and said.data["llm"]["asked"] == 0


def test_short_term_memory_is_left_alone(desk: Desk) -> None:
    with model(desk, SAME) as asked:
        said = desk.run("store", NEW, "--llm", "--json")
    assert said.data["store"] == "short_term" and asked.prompts == []


def test_an_item_that_changes_while_the_model_thinks_is_linked(desk: Desk) -> None:
    changed = OLD.replace("ops team", "ops team of Lisbon")

    def meanwhile(prompt: str) -> str:
        desk.put([ITEM._replace(content=changed)])
        return SAME

    with model(desk, meanwhile):
        said = store(desk)
    assert long_term(desk) == {ITEM.id: changed, said.data["id"]: NEW}
    assert said.data["related_to"] == [ITEM.id] and said.data["llm"]["merged"] == 0


def test_a_batch_asks_a_bounded_number_of_questions(desk: Desk) -> None:
    places = ("Lisbon", "Porto", "Faro")
    desk.put([note(n, f"The harbour office of {place} opens every day at seven") for n, place in enumerate(places)])
    lines = [{"content": f"The harbour office of {p} opens each day at seven", "store": "long_term"} for p in places]

    def merge(prompt: str) -> str:
        known = entries(prompt)[0]
        return json.dumps({"same": True, "text": known.replace("every day", "every day, each day,")})

    with model(desk, merge, max_questions=2) as asked:
        said = desk.run("store", "--batch", "-", "--llm", "--json", stdin="\n".join(map(json.dumps, lines)).encode())
    assert len(asked.prompts) == 2
    assert said.data["llm"] == {"model": "tiny (q4)", "asked": 2, "merged": 2}
    assert (said.data["stored"], said.data["deduplicated"]) == (1, 2)
    assert said.warnings == ["1 near duplicate without a language model: llm.max_questions is 2"]
    assert len(long_term(desk)) == 4


def test_a_queue_is_no_place_for_a_question(desk: Desk) -> None:
    with model(desk, SAME) as asked:
        said = desk.run("store", NEW, "--llm", "--defer")
    assert said.code == 2 and "--llm" in said.stderr and asked.prompts == []


def test_a_model_must_be_there_when_it_is_named(desk: Desk) -> None:
    check_unavailable(desk.run("store", NEW, "--store", "long_term", "--llm"))
    assert long_term(desk) == {ITEM.id: OLD}
