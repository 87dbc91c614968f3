import json
from pathlib import Path

import pytest

from commands.desk import Desk

# In two halves, so that nobody who looks for secrets in sources finds one here.
SECRET = "ghp_" + "x7Kq2LmN9pRs4TvW1yZa3BcD5eFg6HjK8uQi"
DAY = "observations/2026-02-24.jsonl"


def lines(desk: Desk) -> list[dict]:
    return [json.loads(line) for line in (desk.folder() / DAY).read_text("utf-8").split("\n") if line]


def batch(desk: Desk, *records: object, words: tuple[str, ...] = ()):
    text = "".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records)
    return desk.run("capture", "--batch", "-", "--json", *words, stdin=text.encode())


def everything(root: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in root.rglob("*") if path.is_file())


def test_a_note_of_the_agent_itself(desk: Desk) -> None:
    data = desk.run("capture", "Deploy went fine", "--json").data
    assert lines(desk) == [
        {
            "id": data["id"],
            "at": "2026-02-24T14:30:00.000Z",
            "kind": "note",
            "text": "Deploy went fine",
            "source": "capture",
            "trust": "agent",
        }
    ]
    assert data["path"] == DAY


def test_every_option_is_kept(desk: Desk) -> None:
    words = "--tool bash --type outcome --session s1 --author ada --tag a,b --tag c --importance 0 --at 2026-02-01"
    assert desk.run("capture", "it works", *words.split()).code == 0
    [seen] = lines(desk)
    assert seen | {"id": ""} == {
        "id": "",
        "at": "2026-02-01T00:00:00.000Z",
        "kind": "tool",
        "text": "it works",
        "source": "tool:bash",
        "session": "s1",
        "author": "ada",
        "type": "outcome",
        "tags": ["a", "b", "c"],
        "trust": "untrusted",
        "importance": 0.0,
    }


def test_ids_go_on_where_nothing_but_the_files_remembers_them(desk: Desk) -> None:
    for number in range(3):
        assert desk.run("capture", f"number {number}").code == 0
        for path in (desk.root / ".mabos" / "locks").iterdir():
            path.unlink()
    ids = [seen["id"] for seen in lines(desk)]
    assert len(set(ids)) == 3 and ids == sorted(ids)


def test_the_memory_is_not_locked_or_read(desk: Desk) -> None:
    (desk.folder() / "memory-store.json").write_text("not even JSON")
    from mabos_cli.workspace.transaction import holding_lock

    with holding_lock(desk.home(), "test"):
        assert desk.run("capture", "busy", "--lock-timeout", "0").code == 0


def test_text_on_standard_input_is_one_observation(desk: Desk) -> None:
    text = 'first\n{"text": "second"}\n'
    assert desk.run("capture", "-", stdin=text.encode()).code == 0
    assert [seen["text"] for seen in lines(desk)] == [text.rstrip()]


def test_records_on_standard_input_are_taken_one_by_one(desk: Desk) -> None:
    text = '{"text": "first"}\n{"content": "second"}\n'
    assert desk.run("capture", "-", stdin=text.encode()).code == 0
    assert [seen["text"] for seen in lines(desk)] == ["first", "second"]


def test_what_a_tool_printed_is_never_read_as_records(desk: Desk) -> None:
    text = '{"text": "first", "trust": "trusted", "importance": 1}\n'
    assert desk.run("capture", "-", "--tool", "cat", stdin=text.encode()).code == 0
    [seen] = lines(desk)
    assert seen["text"] == text.strip() and seen["trust"] == "untrusted" and "importance" not in seen


def test_bytes_that_are_no_text_do_not_stop_a_tool(desk: Desk) -> None:
    assert desk.run("capture", "-", "--tool", "cat", stdin=b"a\xff\0b").code == 0
    assert lines(desk)[0]["text"] == "a\ufffd\ufffdb"


def test_a_dash_behind_two_is_a_dash(desk: Desk) -> None:
    assert desk.run("capture", "--", "-", stdin=b"not this").code == 0
    assert lines(desk)[0]["text"] == "-"


def test_lines_win_over_options_and_options_fill_in(desk: Desk) -> None:
    done = batch(
        desk,
        {"text": "one", "session": "own", "importance": 0.9},
        {"text": "two"},
        {"tool": "git", "output": "three"},
        words=("--session", "all", "--source", "cron", "--tag", "x"),
    )
    assert done.data["captured"] == 3
    seen = [(s["session"], s["source"], s.get("importance"), s["tags"]) for s in lines(desk)]
    assert seen == [
        ("own", "cron", 0.9, ["x"]),
        ("all", "cron", None, ["x"]),
        ("all", "tool:git", None, ["x"]),
    ]


def test_a_line_cannot_say_that_it_is_trusted(desk: Desk) -> None:
    records = (
        {"text": "a", "trust": "trusted"},
        {"tool": "t", "output": "b", "trust": "agent"},
        {"text": "c", "trust": "untrusted"},
    )
    batch(desk, *records)
    assert [seen["trust"] for seen in lines(desk)] == ["agent", "untrusted", "untrusted"]
    batch(desk, *records, words=("--trust", "trusted"))
    assert [seen["trust"] for seen in lines(desk)[3:]] == ["trusted", "untrusted", "untrusted"]


def test_lines_that_a_tool_printed_are_untrusted_whatever_they_say(desk: Desk) -> None:
    lied = (
        {"text": "a", "kind": "note"},
        {"text": "b", "source": "capture"},
        {"text": "c", "trust": "agent"},
    )
    batch(desk, *lied, words=("--tool", "cat"))
    assert [seen["trust"] for seen in lines(desk)] == ["untrusted"] * 3
    assert [seen["source"] for seen in lines(desk)] == ["tool:cat", "capture", "tool:cat"]


def test_spaces_do_not_hide_a_tool(desk: Desk) -> None:
    batch(desk, {"text": "a", "source": " tool:bash"}, {"text": "b", "source": "  "})
    assert [(seen["source"], seen["trust"]) for seen in lines(desk)] == [
        ("tool:bash", "untrusted"),
        ("capture", "agent"),
    ]


def test_a_line_cannot_bring_an_id(desk: Desk) -> None:
    batch(desk, {"text": "a", "id": "O-1-0000"}, {"text": "b", "id": "O-1-0000"})
    assert [seen["id"] for seen in lines(desk)] == ["O-1771943400000-0000", "O-1771943400000-0002"]


def test_malformed_lines_are_told_and_the_rest_is_taken(desk: Desk) -> None:
    bad = ("torn {", "[]", {"no": "text"}, {"text": "x", "at": "noon"}, {"text": "x", "importance": 7})
    done = batch(desk, {"text": "one"}, *bad, {"text": "x", "session": "s" * 500}, "", {"text": "two"})
    assert [seen["text"] for seen in lines(desk)] == ["one", "two"]
    assert [fault["place"] for fault in done.data["malformed"]] == [f"standard input:{n}" for n in range(2, 8)]
    assert len(done.warnings) == 6


def test_no_more_than_ten_faults_are_named(desk: Desk) -> None:
    done = batch(desk, *(["bad"] * 25))
    assert (len(done.data["malformed"]), done.data["malformed_total"], done.data["captured"]) == (10, 25, 0)
    assert len(done.warnings) == 11 and done.warnings[-1] == "and 15 more malformed lines"


def test_strict_takes_all_or_nothing(desk: Desk) -> None:
    done = batch(desk, {"text": "one"}, "bad", words=("--strict",))
    assert done.code == 4 and "standard input:2: not valid JSON" in done.stderr
    assert not (desk.folder() / DAY).exists()
    assert batch(desk, {"text": "one"}, words=("--strict",)).data["captured"] == 1


def test_no_secret_touches_the_disk(desk: Desk) -> None:
    """In whatever field it comes, and whatever is said about it."""
    batch(
        desk,
        {"text": f"token {SECRET} here"},
        {
            "tool": "bash",
            "input": {"command": f"curl -H 'Authorization: token {SECRET}'"},
            "output": {"x": SECRET},
        },
        {"text": "a", "session": SECRET, "author": SECRET, "source": SECRET, "tags": [SECRET], "key": SECRET},
        {"text": "b", "session": f"{SECRET}\n{SECRET}"},
        {"text": "c", "at": SECRET},
        {"text": "d", "importance": SECRET},
        {"text": "e", "type": SECRET, "kind": SECRET, "unknown": SECRET},
        {"text": "f", "redacted": [SECRET, "jwt", "hunter2"]},
    )
    assert lines(desk)[-1]["redacted"] == ["jwt"]
    assert desk.run("capture", f"my {SECRET}", "--session", SECRET, "--tool", SECRET).code == 0
    first = lines(desk)[0]
    assert first["text"] == f"token [redacted:{first['redacted'][0]}] here"
    assert SECRET.encode() not in everything(desk.root)


def test_no_secret_is_said(desk: Desk) -> None:
    done = batch(
        desk,
        {"text": "b", "session": f"{SECRET}\n"},
        {"text": "c", "at": SECRET},
        {"text": "d", "importance": SECRET},
    )
    assert done.data["malformed_total"] == 2
    assert SECRET[:20] not in done.stdout + done.stderr


def test_a_long_text_keeps_its_ends_and_no_half_of_a_secret(desk: Desk) -> None:
    desk.settle("capture:\n  max_bytes: 300\n")
    text = "START " + "x" * 100 + f" {SECRET} " + "y" * 5000 + " END"
    data = desk.run("capture", text, "--json").data
    [seen] = lines(desk)
    assert seen["text"].startswith("START") and seen["text"].endswith("END")
    assert f"\n[{seen['truncated']:,} bytes left out]\n" in seen["text"]
    assert len(seen["text"].encode()) <= 300 and data["truncated"] == seen["truncated"] > 4500
    assert SECRET[:8] not in seen["text"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "nothing to capture"),
        (("",), "nothing to capture"),
        (("  ",), "nothing to capture"),
        (("x", "--type", "thing"), "unknown type"),
        (("x", "--trust", "blindly"), "unknown trust"),
        (("x", "--importance", "2"), "outside 0..1"),
        (("x", "--at", "noon"), "not a date"),
        (("x", "--session", "a\nb"), "bad session"),
        (("x", "--batch", "y"), "--batch takes the text from the file"),
    ],
)
def test_bad_words_change_nothing(desk: Desk, words: tuple[str, ...], message: str) -> None:
    done = desk.run("capture", *words)
    assert (done.code, done.stdout) == (2, "") and message in done.stderr
    assert not (desk.folder() / "observations").exists()


def test_a_file_that_is_not_there(desk: Desk) -> None:
    assert desk.run("capture", "--batch", "nowhere.ndjson").code == 3
