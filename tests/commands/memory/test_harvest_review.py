import json
from pathlib import Path

import pytest

from commands.desk import Desk

TALK = (
    ("user", "Please remember: we never deploy on Fridays. Also, we decided to drop Stripe and use Adyen."),
    ("assistant", "Decision: enable chrony on all hosts."),
    ("user", "What time is it?"),
    ("user", "Our office is in Lisbon now."),
)
RULE, ADYEN, CHRONY, OFFICE = (
    "We never deploy on Fridays.",
    "We decided to drop Stripe and use Adyen.",
    "Enable chrony on all hosts.",
    "Our office is in Lisbon now.",
)


def write_talk(path: Path, talk: tuple[tuple[str, str], ...] = TALK, session: str = "s1") -> Path:
    lines = (
        {
            "type": who,
            "sessionId": session,
            "uuid": f"0000000{n}-{session}",
            "timestamp": f"2026-02-24T10:0{n}:00Z",
            "message": {"content": text},
        }
        for n, (who, text) in enumerate(talk)
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def heard(desk: Desk) -> Desk:
    """A desk with a conversation that nobody harvested yet."""
    desk.run("ingest", "transcript", str(write_talk(desk.root / "talk.jsonl")))
    return desk


def review(desk: Desk, *words: str) -> dict[str, dict]:
    """Candidates by their texts."""
    data = desk.run("harvest", "--review", "--json", *words).data
    assert data["writes_performed"] is False and data["count"] == len(data["candidates"])
    return {row["content"]: row for row in data["candidates"]}


def remembered(desk: Desk) -> set[str]:
    store = json.loads((desk.root / "agents/main/memory-store.json").read_text())
    return {item["content"] for item in (*store["short_term"], *store["long_term"])}


def snapshot(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file and folder, of the program's own too, with its time and its bytes."""
    found = ((path, path.stat().st_mtime_ns) for path in root.rglob("*"))
    return {str(path): (at, path.read_bytes() if path.is_file() else b"") for path, at in found}


def test_a_review_lists_what_a_harvest_would_keep_and_writes_nothing(heard: Desk) -> None:
    heard.run(
        "store", "Our office is in Porto", "--type", "fact", "--observed-at", "2026-01-01", "--store", "long_term"
    )
    heard.run("store", RULE, "--type", "instruction")
    before = snapshot(heard.root)
    found = review(heard)
    assert snapshot(heard.root) == before
    assert list(found) == [RULE, ADYEN, CHRONY, OFFICE]
    old = {item["content"]: item["id"] for item in heard.run("recall", "--json").data["results"] if "id" in item}
    does = {text: (row["action"], row["of"]) for text, row in found.items()}
    assert does == {
        RULE: ("reinforces", [old[RULE]]),
        ADYEN: ("new", []),
        CHRONY: ("new", []),
        OFFICE: ("supersedes", [old["Our office is in Porto"]]),
    }
    told = {"type": "decision", "author": "assistant", "session": "s1", "citation": "talk.jsonl:2", "trust": "agent"}
    assert told.items() <= found[CHRONY].items()
    assert {row["id"] for row in found.values()} == {row["id"] for row in review(heard).values()}


def test_some_candidates_are_taken_and_the_rest_waits(heard: Desk) -> None:
    found = review(heard)
    done = heard.run("harvest", "--apply", f"{found[ADYEN]['id']},{found[OFFICE]['id']}", "--json").data
    assert (done["harvested"], done["remaining"]) == (2, 2)
    assert remembered(heard) == {ADYEN, OFFICE}
    # The rule was said in the same turn as one that was taken.
    assert {text: row["id"] for text, row in review(heard).items()} == {
        text: found[text]["id"] for text in (RULE, CHRONY)
    }
    assert heard.run("harvest", "--apply", "all", "--json").data["harvested"] == 2
    assert review(heard) == {} and heard.run("harvest").stdout == "nothing to harvest\n"


def test_what_was_left_is_not_offered_again(heard: Desk) -> None:
    found = review(heard)
    assert heard.run("harvest", "--leave", found[RULE]["id"]).stdout == "left 1 candidate\n"
    assert list(review(heard)) == [ADYEN, CHRONY, OFFICE]
    heard.run("harvest")
    assert remembered(heard) == {ADYEN, CHRONY, OFFICE}
    heard.run("capture", "We never deploy on Mondays", "--type", "instruction")
    assert heard.run("harvest", "--leave", "all").stdout == "left 1 candidate\n"
    assert heard.run("status", "--json").data["due"]["observations"] == 0
    assert heard.run("harvest").stdout == "nothing to harvest\n"


def test_a_limit_takes_one_of_two_statements_in_a_turn(heard: Desk) -> None:
    heard.run("harvest", "--limit", "1")
    assert remembered(heard) == {RULE}
    heard.run("harvest")
    assert remembered(heard) == {RULE, ADYEN, CHRONY, OFFICE}


def test_an_unknown_candidate_is_refused_before_anything_is_stored(heard: Desk) -> None:
    good = review(heard)[RULE]["id"]
    done = heard.run("harvest", "--apply", f"{good} H-0000000000")
    assert done.code == 3 and "no candidate H-0000000000" in done.stderr
    assert list(review(heard)) == [RULE, ADYEN, CHRONY, OFFICE]
    assert heard.run("harvest", "--apply", good, "--review").code == 2


def test_a_workspace_may_be_set_to_keep_nothing_by_itself(heard: Desk) -> None:
    (heard.root / "mabos.yaml").write_text("harvest:\n  review: true\n")
    assert "4 remaining" in heard.run("harvest").stdout
    heard.run("harvest", "--apply", review(heard)[RULE]["id"])
    assert remembered(heard) == {RULE}
