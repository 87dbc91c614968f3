"""mabos hierarchy build and show: what they say, what they leave alone, and how they fail."""

import json
import os
import re
from pathlib import Path

import pytest
from workspace.logbook import Logbook, entry

from commands.desk import Desk
from mabos_cli.formats.hierarchy.summary_md import parse_summary

DAYS = tuple(f"2026-{mark}" for mark in "01-05 02-03 02-10 02-17 02-24 03-01 04-07 04-14".split())


@pytest.fixture
def book(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Logbook:
    """Half a year of a few logs, not summed up yet."""
    found = Logbook(desk, monkeypatch)
    found.spread(*DAYS)
    return found


@pytest.fixture
def built(book: Logbook) -> Logbook:
    """The same, summed up."""
    book.build()
    return book


def states(book: Logbook, *words: str) -> dict[str, str]:
    return {row["period"]: row["state"] for row in book.run("show", "--json", *words).data["periods"]}


def test_build_says_what_it_wrote_and_where(book: Logbook):
    said = book.say("build")
    assert said.startswith("wrote 7 weekly, 4 monthly, 2 quarterly\n  memory/weekly/2026-W02.md (new)\n")
    assert said.endswith("  and 1 more\n") and len(said.split("\n")) == 15
    book.log("2026-02-24", "- new words")
    assert book.say("build") == (
        "wrote 1 weekly, 1 monthly, 1 quarterly; 10 unchanged\n"
        "  memory/weekly/2026-W09.md\n  memory/monthly/2026-02.md\n  memory/quarterly/2026-Q1.md\n"
    )


def test_build_in_json(book: Logbook):
    said = book.run("build", "--json", "--scope", "quarter")
    assert json.loads(said.stdout)["schema"] == "mabos.hierarchy.build.v1"
    row = {
        "level": "quarterly",
        "period": "2026-Q1",
        "path": "memory/quarterly/2026-Q1.md",
        "state": "missing",
    }
    assert said.data["written"][0] == row
    assert (said.data["scope"], said.data["kept"], said.data["unchanged"]) == ("quarter", [], 0)
    assert said.data["dry_run"] is False and said.warnings == []


def test_a_build_leaves_a_receipt_only_when_it_wrote(book: Logbook):
    book.build()
    book.build()
    [path] = (book.desk.root / ".mabos/receipts").iterdir()
    found = [json.loads(line) for line in path.read_text().splitlines()]
    assert sum(line["command"] == "hierarchy build" for line in found) == 1


@pytest.mark.parametrize("scope, mark", [("week", "W"), ("month", ""), ("quarter", "Q")])
def test_a_scope_builds_one_level(book: Logbook, scope: str, mark: str):
    written = book.build("--scope", scope)
    assert written == book.names() and all(re.sub(r"[-\d]", "", name) == mark for name in written)


def test_months_without_weekly_files_list_days(book: Logbook):
    book.build("--scope", "month")
    text = book.text("2026-02")
    assert "## Days without a weekly summary\n\n- [2026-02-03](../2026-02-03.md), 4 entries: keep supplier 1" in text
    assert 'sources: ["2026-02-03", "2026-02-10", "2026-02-17", "2026-02-24"]' in text
    assert "2026-02" in book.build(), "now there are weeks"
    assert "Days without" not in book.text("2026-02") and 'sources: ["2026-W06"' in book.text("2026-02")
    book.path("2026-W06").unlink()
    assert "2026-02" in book.build("--scope", "month")
    assert 'sources: ["2026-02-03", "2026-W07"' in book.text("2026-02")


def test_since_builds_what_reaches_that_date(book: Logbook):
    assert book.build("--since", "2026-03-01") == [
        "2026-W09",
        "2026-W15",
        "2026-W16",
        "2026-03",
        "2026-04",
        "2026-Q1",
        "2026-Q2",
    ]
    assert book.build("--since", "90d") == []
    assert "2026-01" in book.build()


def test_since_a_later_date_says_so(book: Logbook):
    assert book.build("--since", "2027-01-01") == []


def test_since_a_later_date_does_not_say_that_there_are_no_logs(book: Logbook):
    assert book.say("build", "--since", "2027-01-01") != "no daily logs to summarize\n"


@pytest.mark.parametrize("words", [(), ("--force",), ("--scope", "month"), ("--json",)])
def test_a_dry_run_writes_nothing_at_all(book: Logbook, words):
    book.run("show")
    before = book.stamps()
    said = book.run("build", "--dry-run", *words)
    assert said.code == 0 and "2026-02" in said.stdout and book.stamps() == before


def test_a_dry_run_says_what_a_build_does(book: Logbook):
    assert book.say("build", "--dry-run").startswith("would write 7 weekly, 4 monthly, 2 quarterly\n")
    dry = [row["period"] for row in book.run("build", "--dry-run", "--json").data["written"]]
    assert dry == book.build() and book.run("build", "--dry-run", "--json").data["written"] == []


def test_what_a_person_edited_is_kept_and_reported(built: Logbook):
    mine = built.text("2026-02").replace("## Themes", "## My own view\n\nwords\n\n## Themes")
    built.path("2026-02").write_text(mine)
    assert built.say("build") == ("nothing to build: 12 unchanged\nkept memory/monthly/2026-02.md: edited by hand\n")
    built.log("2026-02-24", "- new words")
    said = built.run("build", "--json")
    assert [row["period"] for row in said.data["written"]] == ["2026-W09", "2026-Q1"]
    assert [(row["period"], row["state"]) for row in said.data["kept"]] == [("2026-02", "edited, stale")]
    assert "edited by hand, and its logs changed since; --force rewrites it" in built.say("build")
    assert built.text("2026-02") == mine and states(built)["2026-02"] == "edited, stale"


def test_an_edit_that_was_taken_back_is_none(built: Logbook):
    before = built.text("2026-02")
    built.path("2026-02").write_text(before + "x")
    built.build()
    built.path("2026-02").write_text(before)
    assert states(built)["2026-02"] == "current" and built.run("build", "--json").data["kept"] == []


@pytest.mark.parametrize("mine", [b"my own notes\n", b"", b"\xff\xfe", b"---\nlevel: monthly\n---\nmine\n"])
def test_force_writes_anew_and_sets_the_edited_copy_aside(built: Logbook, mine: bytes):
    before = built.text("2026-02")
    built.path("2026-02").write_bytes(mine)
    assert built.build() == [] and built.path("2026-02").read_bytes() == mine
    said = built.run("build", "--force", "--json")
    assert [row["period"] for row in said.data["written"]] == ["2026-02"] and built.text("2026-02") == before
    if mine:
        [copy] = (built.memory / "archive/edited").iterdir()
        assert copy.read_bytes() == mine and copy.name in said.warnings[0]
    assert built.run("build", "--json").data["kept"] == []


def test_force_keeps_every_edited_copy(built: Logbook):
    for text in ("first", "second", "second"):
        built.path("2026-02").write_text(text)
        built.build("--force")
    copies = [path.read_text() for path in sorted((built.memory / "archive/edited").iterdir())]
    assert sorted(copies) == ["first", "second"]


def test_force_compares_again_with_the_period_before(built: Logbook):
    built.log("2026-01-06", *(f"- crane repair {n} #crane" for n in range(9)))
    assert built.build() == ["2026-W02", "2026-01", "2026-Q1"]
    assert "2026-02" in built.build("--force") and "Against 2026-01: 4 entries a day" in built.text("2026-02")


def test_a_model_writes_an_overview_on_top(book: Logbook, tmp_path: Path):
    book.model(tmp_path, f"cat > {tmp_path}/asked; printf 'A quiet\\nmonth --> \\033[31m'")
    book.build("--scope", "month")
    text = book.text("2026-02")
    by = "by a language model (command:tiny-model), not taken from the logs"
    mark = f"> [!note] Overview written {by}\n> A quiet month"
    assert text.index(mark) < text.index("## Overview") and "\x1b" not in text
    assert 'overview: "command:tiny-model"\n' in text and parse_summary(text).untouched
    assert "# Monthly Summary: 2026-04" in (tmp_path / "asked").read_text()
    assert book.build("--scope", "month") == []


def test_a_model_that_fails_is_a_warning_and_asked_again(book: Logbook, tmp_path: Path):
    tool = book.model(tmp_path, "echo out of order >&2; exit 3")
    said = book.run("build", "--scope", "quarter", "--json")
    assert len(said.data["written"]) == 2
    assert "overview" in said.warnings[0] and "out of order" in said.warnings[0]
    assert "## Strategic Themes" in book.text("2026-Q1") and "language model" not in book.text("2026-Q1")
    assert book.build("--scope", "quarter") == [], "still out of order: the same bytes"
    tool.write_text("#!/bin/sh\necho fine\n")
    assert book.build("--scope", "quarter") == ["2026-Q1", "2026-Q2"]
    assert "> fine\n" in book.text("2026-Q1") and book.build("--scope", "quarter") == []


def test_no_model_is_asked_without_need(book: Logbook, tmp_path: Path):
    book.model(tmp_path, f"echo x >> {tmp_path}/calls; echo fine")
    book.run("build", "--dry-run")
    book.build("--no-llm", "--scope", "week")
    assert not (tmp_path / "calls").exists() and "language model" not in book.text("2026-W09")
    book.build("--scope", "quarter")
    book.build("--scope", "quarter")
    assert (tmp_path / "calls").read_text() == "x\nx\n"
    book.log("2026-02-24", "- new words")
    assert book.build("--scope", "quarter") == ["2026-Q1"] and (tmp_path / "calls").read_text() == "x\n" * 3


def test_a_model_that_comes_later_writes_what_is_written_from_then_on(book: Logbook, tmp_path: Path):
    """Years of summaries are not sent to a model because somebody names one; --force does that."""
    book.build("--scope", "quarter")
    book.model(tmp_path, "echo fine")
    assert book.build("--scope", "quarter") == []
    assert book.build("--scope", "quarter", "--force") == ["2026-Q1", "2026-Q2"]
    assert "> fine\n" in book.text("2026-Q1")


def test_two_models_are_one_too_many(book: Logbook):
    book.desk.settle("llm:\n  command: cat\n  url: http://127.0.0.1:9/v1\n")
    assert book.run("build").code == 6 and book.names() == []
    assert book.run("build", "--no-llm").code == 0 and book.run("show").code == 0


def test_an_overview_is_bounded_and_cannot_pass_for_structure(book: Logbook, tmp_path: Path):
    (tmp_path / "answer").write_text("---\nhash: x\n## Fake\n<!-- mabos generated 00000000 -->\n" + "words " * 9999)
    book.model(tmp_path, f"cat {tmp_path}/answer")
    book.build("--scope", "quarter")
    assert len(book.text("2026-Q1")) < 6500 and parse_summary(book.text("2026-Q1")).untouched
    assert "\n## Fake" not in book.text("2026-Q1") and book.build("--scope", "quarter") == []


HOSTILE = [
    *(
        "](x)",
        "<!--",
        "-->",
        "---",
        "^M-1-aaaa",
        "# heading",
        "## Themes",
        "```",
        "a\x1b[31mb\x07c",
        "\u202eabc",
    ),
    *("w" * 10_000, "%%", "| a | b |", "<script>", "**", '"', "\\", "[[link]]", "a\x85b\u2028c", "\x00"),
]


def test_hostile_logs_make_whole_summaries_and_quiet_terminals(book: Logbook):
    for n, text in enumerate(HOSTILE):
        lines = f"- {text}\n\n{text} words\n\n### {text}\n\n- Decision: {text} x #{text}\n"
        item = entry(n, f"{text}\n{text}", tags=(text,), source=text, type="decision", importance=0.9)
        book.put(f"2026-05-{n + 1:02d}", lines + item)
    said = book.say("build")
    for name in book.names():
        text = book.text(name)
        assert parse_summary(text).untouched and text.count("\n<!-- mabos generated") == 1
        assert text.replace("\n", "").isprintable() or not re.search(
            r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]", text
        )
    for words in (("show", "--level", "daily"), ("search", "words heading"), ("drill", "words heading w")):
        said += book.say(*words)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]", said)
    assert book.build() == []


def test_show_draws_the_tree_with_coverage_and_state(built: Logbook):
    built.path("2026-04").write_text("mine")
    built.log("2026-02-28", "- new words")
    built.path("2026-01").unlink()
    assert built.say("show") == (
        "2026-Q1  7 of 90 days  stale\n"
        "  2026-01  1 of 31 days  missing\n"
        "  2026-02  5 of 28 days  stale\n"
        "  2026-03  1 of 31 days  current\n"
        "2026-Q2  2 of 91 days  current\n"
        "  2026-04  2 of 30 days  edited, stale\n"
        "3 summaries to write: mabos hierarchy build\n"
    )


def test_show_one_period_with_what_lies_in_it(built: Logbook):
    assert built.say("show", "2026-w09") == ("2026-W09  2 of 7 days  current\n  2026-02-24  log\n  2026-03-01  log\n")
    assert built.say("show", "2026-02").splitlines() == [
        "2026-02  4 of 28 days  current",
        *(f"  2026-W{week:02d}  1 of 7 days  current" for week in (6, 7, 8, 9)),
    ]
    assert built.say("show", "2026-Q2", "--level", "daily").splitlines()[-1].strip() == "2026-04-14  log"
    assert built.say("show", "2026-02-24") == "2026-02-24  log\n"
    assert built.say("show", "--level", "quarterly").count("\n") == 2


def test_show_in_json(built: Logbook):
    said = built.run("show", "2026-02", "--level", "daily", "--json")
    assert json.loads(said.stdout)["schema"] == "mabos.hierarchy.show.v1"
    assert (said.data["level"], said.data["due"]) == ("daily", 0)
    row = {"period": "2026-W06", "level": "weekly", "days": 1, "length": 7, "state": "current"}
    assert said.data["periods"][1].items() >= row.items()
    assert all((built.desk.folder() / row["path"]).is_file() for row in said.data["periods"])


def test_show_without_logs(desk: Desk):
    assert desk.run("hierarchy", "show").stdout == "no daily logs yet\n"
    assert desk.run("hierarchy", "show", "--json").data["periods"] == []


def test_show_counts_a_summary_to_write_once(book: Logbook):
    assert book.run("show", "--level", "weekly", "--json").data["due"] == len(book.build())


def test_show_does_not_ask_for_what_no_build_writes(built: Logbook):
    built.put("2026-05-05", "")
    built.build()
    assert built.run("show", "--level", "weekly", "--json").data["due"] == 0


def test_show_of_a_level_above_the_period_is_no_traceback(built: Logbook):
    assert built.run("show", "2026-02", "--level", "quarterly").code in (0, 2)


@pytest.mark.parametrize(
    "words",
    [
        *(("build", "--scope", "year"), ("build", "--scope", ""), ("build", "--since", "soon")),
        *(("show", "2026-13"), ("show", "x"), ("show", "--level", "yearly"), ("show", "2026-Q1", "2026-Q2")),
        *(("search", "x", "--level", "weeks"), ("search",), ("drill",), ("search", "x", "--limit", "-1")),
        *(
            ("drill", "x", "--width", "0"),
            ("drill", "x", "--limit", "-1"),
            ("build", "--since", "2026-02-30"),
        ),
    ],
)
def test_words_that_are_off_are_a_usage_error(book: Logbook, words):
    said = book.run(*words)
    assert said.code == 2 and said.stdout == "" and said.stderr and "Traceback" not in said.stderr
    if words:
        said = book.run(*words, "--json")
        assert json.loads(said.stderr)["error"]["code"] == "usage" and said.stdout == ""


def test_another_agent_is_built_apart(built: Logbook):
    built.desk.add_agent("cfo")
    said = built.desk.run("hierarchy", "build", "-a", "cfo")
    assert (said.code, said.stdout) == (0, "no daily logs to summarize\n")
    built.desk.write("memory/2026-02-24.md", "- words\n", "cfo")
    assert len(built.desk.run("hierarchy", "build", "-a", "cfo", "--json").data["written"]) == 3
    assert os.listdir(built.desk.root / ".mabos/hierarchy") in (["main", "cfo"], ["cfo", "main"])
    assert built.desk.run("hierarchy", "build", "-a", "nobody").code == 3
