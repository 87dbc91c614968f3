"""Any question and any filter: a result or one clear line, never a crash, and never what a filter forbids."""

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from commands.desk import NOW, Desk, note, refs_of
from commands.notes import UNRELATED
from mabos_cli.core.language.clock import format_time, parse_time
from mabos_cli.core.memory.item import CLASSES, STORES, TYPES, has_expired
from mabos_cli.core.memory.stores import Departure
from mabos_cli.core.search.recall import Candidate, Depth, Filters, candidate_of, recall
from mabos_cli.core.search.scoring import AWAY
from mabos_cli.formats.memory.items import render_departure
from mabos_cli.services.search.agent_search import AgentIndex

# Any question

PIECES = [
    *"\"'`()[]{}*^:;,.!?<>=+-_/\\|&%$#@~ \t\n\r\0\x01\x1b\x7f\x85\u2028\ufeff\u202e\u200f\ud800\udfff\udce9",
    *(
        "AND",
        "OR",
        "NOT",
        "NEAR",
        "NEAR(a b, 5)",
        "body:",
        "about :",
        "{about body}:",
        "-col:",
        "^start",
        "pre*",
    ),
    *("'; DROP TABLE passages; --", '" OR 1=1 --', "SELECT * FROM items", "%s", "{0}", "?1", ":name", "$x"),
    *(
        "the",
        "a",
        "of",
        "who are you",
        "I",
        "we",
        "garden",
        "winter",
        "Berlin",
        "fence",
        "M-1770000000003-0003",
    ),
    *(
        "东京",
        "東京都",
        "서울",
        "กรุงเทพ",
        "العربية",
        "שלום",
        "Москва",
        "दिल्ली",
        "café",
        "e\u0301",
        "🎉",
        "👩‍👩‍👧‍👦",
        "ﬁ",
        "İ",
        "ß",
    ),
    *(
        "1e309",
        "-0",
        "0x10",
        "NaN",
        "null",
        "\\u0000",
        "../../etc/passwd",
        "file.md",
        "ERR_42",
        "v2.1",
        "7:30pm",
    ),
]
LONG = [
    "x" * 5000,
    "é" * 999,
    "東" * 999,
    "a-" * 500,
    "1" * 400,
    "_" * 300,
    '"' * 99,
    "(" * 99,
    "*" * 99,
    "NEAR " * 40,
]


def random_question(rnd: Random) -> str:
    if rnd.random() < 0.2:
        return "".join(chr(rnd.randrange(0x110000)) for _ in range(rnd.randint(1, 12)))
    parts = [rnd.choice(LONG if rnd.random() < 0.01 else PIECES) for _ in range(rnd.randint(1, 7))]
    return rnd.choice(["", " ", ""]).join(parts)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    desk = Desk(tmp_path_factory.mktemp("small") / "ws")
    desk.put(
        [
            note(n, text, author="Ada" if n % 5 else "", session="s" if n % 2 else "")
            for n, text in enumerate(UNRELATED[:25])
        ]
    )
    desk.write("notes/garden.md", "# Garden\n\nThe fence in winter, ERR_42 and 東京都.\n")
    return desk


@pytest.mark.parametrize(("provider", "count"), [("wordllama", 3000), ("none", 7000)])
def test_thousands_of_questions(small, provider, count):
    """Ten thousand with FULL=1, a third of that otherwise."""
    check_questions(small, provider, count if os.environ.get("FULL") else count // 3)


def test_hundreds_of_questions_to_postgresql(small, postgres):
    check_questions(small, "wordllama", 3000 if os.environ.get("FULL") else 300)
    for piece in (*PIECES, *LONG):
        assert small.search(5)(piece) is not None


@pytest.mark.parametrize(
    "question", ["word " * 200_000, "東京" * 170_000, "\0" * 10**6], ids=["words", "unspaced", "nothing"]
)
def test_a_question_of_a_megabyte_to_postgresql(small, postgres, question):
    said = small.recall("-", stdin=question.encode())
    assert said.code == 0 and said.data["query"] == question and said.warnings == []


def check_questions(small: Desk, provider: str, count: int) -> None:
    """Any question finds a few of what is known, or nothing."""
    small.settle(f"embeddings:\n  provider: {provider}\n")
    rnd = Random(20260224 + count)
    search = small.search(5)
    known = {note(n, "").id for n in range(25)} | {"notes/garden.md:1-3"}
    answered = 0
    for number in range(count):
        question = random_question(rnd)
        if '"' in question:  # see the next test
            question = question.encode("utf-8", "replace").decode()
        try:
            hits = recall(search, question, 5, Depth(number % 20 == 0))
        except Exception as error:
            raise AssertionError(f"{question!r} raised") from error
        found = refs_of(hits)
        assert len(found) <= 5 and len({*found}) == len(found) and {*found} <= known, repr(question)
        answered += bool(found)
    assert answered > count / 4
    assert search.warnings() == []


def test_a_lone_surrogate_in_a_quoted_phrase(small):
    assert isinstance(small.ask('what "a \ud800 b" is'), list)


def test_a_few_of_them_at_the_shell(small):
    rnd = Random(7)
    for number in range(100):
        question = random_question(rnd)
        words = ["--json"] * (number % 2) + ["--explain"] * (number % 3 == 0) + ["--mmr"] * (number % 5 == 0)
        said = small.run("recall", *words, "--", question)
        assert said.code == 0 and said.stdout.strip() and said.stderr == "", repr(question)
        if number % 2:
            assert json.loads(said.stdout)["schema"] == "mabos.recall.v1"


@pytest.mark.parametrize(
    "question",
    [
        "word " * 200_000,
        "x" * 1_000_000,
        "東京" * 170_000,
        "a.b_c1 " * 150_000,
        '"quoted phrase" ' * 70_000,
        "\0" * 10**6,
    ],
    ids=["words", "one word", "unspaced", "names", "phrases", "nothing"],
)
def test_a_question_of_a_megabyte(small, question):
    assert isinstance(small.ask(question, depth=1), list)
    said = small.recall("-", stdin=question.encode())
    assert said.code == 0 and said.data["query"] == question


def test_a_pasted_document_asks_with_its_first_words(small):
    assert small.refs(f"{UNRELATED[2]} " + "lorem ipsum dolor " * 50_000)[0] == note(2, "").id


@pytest.mark.parametrize("question", [[], [""], ["   "], ["\t\n"], ["", ""]])
def test_an_empty_question_gives_the_most_important_and_recent(desk, question):
    desk.put([note(1, "old", importance=0.5), note(2, "new", importance=0.5), note(0, "top", importance=0.9)])
    desk.write("Playbooks.md", "# Playbooks\n\nA passage is no memory.\n")
    said = desk.recall(*question)
    assert [row["content"] for row in said.data["results"]] == ["top", "new", "old"]
    assert [row["score"] for row in said.data["results"]] == [0.9, 0.5, 0.5]


def test_an_empty_question_from_standard_input(desk):
    desk.put([note(1, "old"), note(2, "new")])
    assert len(desk.recall("-", stdin=b"").refs) == 2
    assert len(desk.recall("-", stdin=b" \n").refs) == 2


def test_no_memories_yet(desk):
    assert desk.run("recall").stdout == "no memories yet\n"
    assert desk.run("recall", "anything").stdout == "nothing found among 0 memories and passages\n"
    assert desk.run("recall", "--tag", "x").stdout == "no memory passes the filters\n"


def test_only_stop_words_are_words_after_all(desk):
    ids = desk.put([note(1, "who are you"), note(2, "garden")])
    assert desk.refs("who are you?") == ids[:1]


@pytest.mark.parametrize("question", ["???", "...", "()", '"', "*", "-", "--"])
def test_only_punctuation_finds_nothing_and_says_so(small, question):
    assert small.run("recall", "--", question).stdout == "nothing found among 26 memories and passages\n"


def test_a_question_from_standard_input(small):
    said = small.recall("-", stdin=b"the fence\nin spring")
    assert said.data["query"] == "the fence\nin spring"
    assert said.refs[0] == note(0, "").id


def test_a_dash_behind_two_dashes_is_a_dash(small):
    assert small.recall("--", "-", stdin=b"fence").data["query"] == "-"


def test_standard_input_that_is_no_text_is_refused(small):
    said = small.run("recall", "-", stdin=b"fence \xff")
    assert (said.code, said.stdout) == (2, "")
    assert "not valid UTF-8" in said.stderr and "iconv" in said.stderr


def test_words_need_no_quotes(small):
    assert small.recall("garden", "fence").data["query"] == "garden fence"


def test_arguments_that_are_no_utf8(small):
    """As the shell hands them over: bytes."""
    program = Path(sys.executable).with_name("mabos")
    for question in (b"fence \xff\xfe", b"\xe9\xe9", b"caf\xe9 fence"):
        for extra in ([], [b"--json"]):
            done = subprocess.run(
                [program, b"recall", b"-w", os.fsencode(small.root), *extra, question],
                capture_output=True,
                check=False,
            )
            assert (done.returncode, done.stderr) == (0, b""), question
            assert done.stdout.decode("utf-8").strip()
            if b"fence" in question:
                assert note(0, "").id in done.stdout.decode()


def test_output_cannot_control_the_terminal(desk):
    desk.put([note(1, "red \x1b[31m alert \u202e evil")])
    said = desk.run("recall", "red alert \x1b[2J", "--explain", "--format", "detailed")
    assert "\x1b" not in said.stdout and "\u202e" not in said.stdout


# Filters

TAGS = ["red", "green", "blue", "red-hot", "r", "ed", "日本", "a b"]


def random_item(rnd: Random, number: int):
    at = f"2026-{rnd.randint(1, 2):02d}-{rnd.randint(1, 22):02d}T{rnd.randint(0, 23):02d}:00:00.000Z"
    return note(
        number,
        f"common word{number} and {rnd.choice(UNRELATED)}",
        type=rnd.choice(TYPES),
        importance=rnd.choice([0, 0.1, 0.25, 0.5, 0.5, 0.75, 0.9, 1.0, round(rnd.random(), 4)]),
        tags=tuple(rnd.sample(TAGS, rnd.randint(0, 4))),
        created_at=at,
        observed_at=f"2026-01-{rnd.randint(1, 28):02d}T00:00:00.000Z" if rnd.random() < 0.2 else "",
        expires_at=rnd.choice(
            ["", "", "", "2026-02-23T00:00:00.000Z", "2026-02-24T14:30:00.000Z", "2027-01-01T00:00:00.000Z"]
        ),
    )


def random_filters(rnd: Random) -> Filters:
    maybe = lambda value: value if rnd.random() < 0.4 else type(value)()  # noqa: E731
    types = rnd.choice([tuple(rnd.sample(TYPES, rnd.randint(1, 3))), CLASSES[rnd.choice([*CLASSES])]])
    moment = lambda: format_time(parse_time(f"2026-0{rnd.randint(1, 2)}-{rnd.randint(1, 22):02d}T12:00:00Z"))  # noqa: E731
    return Filters(
        maybe(types),
        maybe((rnd.choice(STORES),)),
        maybe(tuple(rnd.sample(TAGS, rnd.randint(1, 2)))),
        maybe(rnd.choice([0.1, 0.5, 0.75, 0.9, 1.0])),
        maybe(moment()),
        maybe(moment()),
        rnd.choice(["", format_time(parse_time(NOW))]),
    )


def vary(desk: Desk, archived: int) -> list[Candidate]:
    """300 items of all kinds, of which some are archived, and two files: every one of them holds a common word."""
    rnd = Random(5)
    items = [random_item(rnd, n) for n in range(300)]
    live, half = items[archived:], archived // 2
    gone = {"forgotten": items[:half], "unused: 40 days": items[half:archived]}
    held = {"working": live[:7], "short_term": live[7:60], "long_term": live[60:]}
    desk.put(held["long_term"], short_term=held["short_term"], working=held["working"])
    for month, (reason, rows) in enumerate(gone.items(), 1):
        left = [Departure(item, "long_term", reason, f"2026-0{month}-20T00:00:00.000Z") for item in rows]
        desk.write(f"archive/2026-0{month}.jsonl", b"".join(map(render_departure, left)).decode("utf-8"))
    desk.write("Playbooks.md", "# Playbooks\n\nA common passage without a date.\n")
    desk.write("memory/2026-02-10.md", "# 2026-02-10\n\nA common passage of that day.\n")
    day = "2026-02-10T00:00:00.000Z"
    return [
        *(candidate_of(i, name, "expired" if has_expired(i, NOW) else "") for name, rows in held.items() for i in rows),
        *(candidate_of(i, "long_term", reason) for reason, rows in gone.items() for i in rows),
        Candidate("A common passage", 0.5, "", path="Playbooks.md", lines=(1, 3)),
        Candidate("A common passage", 0.5, day, path="memory/2026-02-10.md", lines=(1, 3)),
    ]


def check_filters(desk: Desk, everything: list[Candidate], seed: int) -> None:
    """What a search with random filters finds is what they admit, no more and no less."""
    rnd = Random(seed)
    filters, archived = random_filters(rnd), rnd.random() < 0.4
    admitted = [c for c in everything if filters.admit(c) and (archived or c.archived != "forgotten")]
    search = desk.search(10_000, filters, archived)
    hits = recall(search, "common", 10_000)
    assert sorted(refs_of(hits)) == sorted(c.ref for c in admitted), filters
    gone = {c.ref for c in admitted if c.archived}
    assert {hit.candidate.ref for hit in hits if hit.candidate.archived} == gone
    items = sorted((c for c in admitted if c.item), key=lambda c: c.at, reverse=True)
    items.sort(key=lambda c: -round(c.importance * (AWAY if c.archived else 1), 4))
    best = search.best()
    assert search.warnings() == []
    assert sorted(refs_of(best)) == sorted(c.ref for c in items), filters
    assert [(h.candidate.importance, h.candidate.at) for h in best] == [(c.importance, c.at) for c in items]


@pytest.fixture(scope="module")
def varied(tmp_path_factory):
    desk = Desk(tmp_path_factory.mktemp("varied") / "ws")
    return desk, vary(desk, archived=0)


@pytest.mark.parametrize("seed", range(60))
def test_filters_admit_what_they_say(varied, seed):
    check_filters(*varied, seed)


def test_filters_admit_what_they_say_beside_an_archive(desk):
    everything = vary(desk, archived=90)
    for seed in range(60):
        check_filters(desk, everything, seed)


@pytest.mark.parametrize("step", ["scan", "lexical"])
def test_filters_admit_what_they_say_beside_an_archive_without_sqlite_vec(desk, step):
    desk.settle(f"index:\n  vectors: {step}\n")
    everything = vary(desk, archived=90)
    for seed in range(20):
        check_filters(desk, everything, seed)


def test_filters_admit_what_they_say_in_postgresql(desk, postgres):
    everything = vary(desk, archived=90)
    for seed in range(40):
        check_filters(desk, everything, seed)
    assert "PostgreSQL" not in str(desk.recall("common").warnings)


def test_an_archived_item_lets_no_live_one_through_a_filter(desk):
    desk.put([note(n, f"the garden fence, part {n}", type="fact") for n in range(5)])
    desk.archive([note(50 + n, f"an old fence {n}", type="plan") for n in range(5)])
    assert desk.recall("garden fence", "--type", "plan").refs == []


@pytest.mark.parametrize("seed", range(8))
def test_filters_of_the_shell_are_the_same(varied, seed):
    desk, everything = varied
    filters = random_filters(Random(1000 + seed))._replace(now=format_time(parse_time(NOW)))
    words = [word for name in filters.types for word in ("--type", name)]
    words += [word for name in filters.stores for word in ("--store", name)]
    words += [word for name in filters.tags for word in ("--tag", name)]
    words += ["--min-importance", str(filters.min_importance)] if filters.min_importance else []
    words += [w for n, v in (("--since", filters.since), ("--until", filters.until)) if v for w in (n, v)]
    said = desk.recall("common", "--limit", "0", "--live", *words)
    assert {*said.refs} == {c.ref for c in everything if filters.admit(c)}
    shown = desk.recall("common", "--limit", "0", "--archived", *words)  # shows what is past its date, too
    assert {*shown.refs} == {c.ref for c in everything if filters._replace(now="").admit(c)}


def test_categories_are_classes_of_types(varied):
    desk, everything = varied
    for name, types in CLASSES.items():
        said = desk.recall("common", "--limit", "0", "--category", name)
        admit = Filters(types).admit
        assert {*said.refs} == {c.ref for c in everything if admit(c)}


def test_times_of_transcripts_are_times(desk):
    said = [
        ("2026-02-01T00:00:00+05:00", "far east"),
        ("yesterday", "no time"),
        ("2026-02-01T00:00:00Z", "exact"),
    ]
    rows = [{"role": "user", "content": f"zebra {text}", "timestamp": at} for at, text in said]
    desk.write("sessions/a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert desk.recall("zebra", "--since", "2026-02-01").refs == ["sessions/a.jsonl:3-3"]
    assert desk.recall("zebra", "--until", "2026-01-31").refs == ["sessions/a.jsonl:1-1"]


@pytest.mark.parametrize("preset", ["default", "seed", "balanced", "rrf"])
def test_answers_do_not_depend_on_the_order_in_the_files(desk, preset):
    items = [note(n, f"budget of team {n % 7} and {n % 3}", importance=n % 5 / 5) for n in range(100)]
    questions = ("budget", "team 2", "what about team 3 and 1")
    desk.put(items)
    before = [desk.refs(question, 30, preset=preset) for question in questions]
    Random(1).shuffle(items)
    desk.put(items)
    assert [desk.refs(question, 30, preset=preset) for question in questions] == before
    (desk.root / ".mabos/index/main.sqlite").unlink()
    assert [desk.refs(question, 30, preset=preset) for question in questions] == before


@pytest.mark.parametrize("preset", ["default", "seed", "balanced", "rrf"])
def test_a_rare_match_is_not_cut_off_by_the_pool(desk, preset):
    """The one that passes the filter is the worst of a thousand by every lane."""
    crowd = [note(n, f"budget budget plan {n}", importance=1.0) for n in range(1000)]
    rare = note(5000, "long talk about other things " * 40 + "budget", importance=0.1, type="plan", tags=("rare",))
    desk.put([*crowd, rare])
    for filters in (Filters(types=("plan",)), Filters(tags=("rare",)), Filters(since=rare.created_at)):
        assert desk.refs("budget plan", 3, filters=filters, preset=preset) == [rare.id]
    assert rare.id not in desk.refs("budget plan", 3)


def test_archived_items_do_not_crowd_out_live_ones(desk):
    live = note(1, "a word about the budget")
    desk.put([live])
    desk.archive([note(10 + n, f"budget {n}") for n in range(500)])
    assert desk.refs("budget", 3) == [live.id]
    assert len(desk.refs("budget", 3, archived=True)) == 3


@pytest.mark.parametrize("count", [3, 30])
def test_nothing_in_sight_points_at_the_archive(desk, count):
    desk.archive([note(10 + n, f"budget {n}") for n in range(count)])
    assert desk.run("recall", "budget").stdout == (
        f"nothing found, but {count} memories forgotten, merged or superseded: add --archived\n"
    )
    said = desk.run("recall", "budget", "--live").stdout
    assert (
        said == f"nothing live, but {count} memories in the archive: leave --live and --store out, or add --archived\n"
    )
    assert desk.run("recall", "budget", "--live", "--archived").code == 2


@pytest.mark.parametrize("words", [["recall"], ["index", "search", "x"]])
def test_a_limit_beyond_all_numbers(small, words):
    assert small.run(*words, "--limit", "9" * 20).code in (0, 2)


@pytest.mark.parametrize("name", ["pool", "candidate_multiplier"])
def test_settings_beyond_all_numbers(desk, name):
    desk.put([note(1, "budget")])
    desk.settle(f"recall:\n  {name}: {'9' * 20}\n")
    assert desk.run("recall", "budget").code in (0, 4)


@pytest.mark.parametrize("name", ["pool", "candidate_multiplier", "depth_hits", "depth_terms"])
def test_the_smallest_settings_still_find_something(desk, name):
    desk.put([note(n, text) for n, text in enumerate(UNRELATED)])
    desk.settle(f"recall:\n  {name}: 1\n")
    assert desk.recall("the garden fence in spring", "--depth", "2").refs[0] == note(0, "").id


# Without SQLite


@pytest.fixture
def bare(desk, monkeypatch):
    """A Python without SQLite: memory is searched in the files themselves."""

    def plan(self):
        raise ImportError("no SQLite")

    monkeypatch.setattr(AgentIndex, "plan", plan)
    desk.put([note(n, text) for n, text in enumerate(UNRELATED)])
    desk.write("Playbooks.md", "# Playbooks\n\nPaint the gate.\n")
    return desk


NONE = "this Python has no SQLite: searched by words in the files themselves"


def test_recall_without_sqlite(bare):
    said = bare.recall("the garden fence", "--explain", "--depth", "1")
    assert said.refs[0] == note(0, "").id
    assert said.warnings == [NONE]
    assert bare.recall("gate").refs == ["Playbooks.md:1-3"]
    assert len(bare.recall("--limit", "0").refs) == 50
    assert bare.recall("fence", "--type", "plan").refs == []


def test_any_question_without_sqlite(bare):
    rnd, search = Random(3), bare.search(5)
    for _ in range(150):
        question = random_question(rnd)
        assert isinstance(recall(search, question, 5), list), repr(question)


def test_shared_memory_without_sqlite_names_its_agent(bare):
    bare.add_agent("cfo", memory={"shared": True})
    bare.put([note(900, "fence of the cfo")], "cfo")
    rows = bare.recall("fence", "--shared").data["results"]
    assert f"cfo/{note(900, '').id}" in [row["ref"] for row in rows]


def test_index_status_without_sqlite(bare):
    assert bare.run("index", "status").code in (0, 6)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--type", "memo"], "unknown type"),
        (["--category", "emotional"], "unknown category"),
        (["--store", "attic"], "unknown store"),
        (["--min-importance", "2"], "outside 0..1"),
        (["--min-importance", "nan"], "outside 0..1"),
        (["--priority-min", "urgent"], "unknown priority"),
        (["--since", "soon"], "not a date"),
        (["--until", "2026-99-99"], "not a date"),
        (["--limit", "-1"], "is less than 0"),
        (["--token-budget", "-1"], "cannot be negative"),
        (["--limit", "many"], "many"),
        (["--format", "long"], "unknown format"),
        (["--min-importance", "0.5", "--priority-min", "high"], "both"),
    ],
)
def test_filters_that_mean_nothing(small, words, message):
    said = small.run("recall", "x", *words)
    assert (said.code, said.stdout) == (2, "")
    assert message in said.stderr
