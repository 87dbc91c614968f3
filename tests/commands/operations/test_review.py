"""review: what an agent learned since a commit, read through the codecs of its files."""

from pathlib import Path

import pytest
from repositories import commit_all, git, settle_git, start_repository

from commands.desk import Desk


@pytest.fixture
def desk(quick: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A workspace in a repository of its own, with a first commit."""
    settle_git(monkeypatch, quick)
    made = Desk(quick / "ws")
    start_repository(made.root)
    return made


def commit(desk: Desk) -> None:
    commit_all(desk.root)


def found(desk: Desk, *words: str) -> dict:
    report = desk.run("review", "--json", *words).data["agents"]
    assert len(report) == 1
    return report[0]


def changes(desk: Desk, *words: str) -> set[tuple[str, str, str]]:
    sections = found(desk, *words)["sections"]
    return {(name, row["state"], row.get("id", row["text"])) for name, rows in sections.items() for row in rows}


def test_nothing_new(desk: Desk):
    assert desk.run("review").stdout == "main: nothing new since the last commit\n"


def test_memories(desk: Desk):
    kept, gone, used = (
        desk.run("store", "--json", "--store", "long_term", text).data["id"]
        for text in ("We bill per seat", "Lunch is at noon", "Harbor pays late")
    )
    commit(desk)
    desk.run("update", kept, "--content", "We bill per user")
    desk.run("forget", gone, "--reason", "stale")
    desk.run("reinforce", used)
    new = desk.run("store", "--json", "--type", "decision", "Raise prices").data["id"]
    report = found(desk)
    assert changes(desk) == {
        ("memories", "changed", kept),
        ("memories", "gone", gone),
        ("decisions", "new", new),
    }
    rows = {row["id"]: row for row in report["sections"]["memories"]}
    assert rows[kept]["change"].endswith("was: We bill per seat")
    assert rows[gone]["change"] == "forgotten: stale"
    assert report["files"] == []
    commit(desk)
    assert changes(desk) == set() and len(changes(desk, "HEAD~1")) == 3 and len(changes(desk, "HEAD~2")) == 3


def test_only_changed_lines_are_decoded(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    desk.run(
        "store",
        "--batch",
        "-",
        stdin=b"".join(b'{"content": "note %d", "store": "long_term"}\n' % n for n in range(50)),
    )
    commit(desk)
    desk.run("store", "--store", "long_term", "Something quite different")
    decoded = []
    from mabos_cli.services.operations import review as reviewing

    parse = reviewing.parse_item
    monkeypatch.setattr(reviewing, "parse_item", lambda *words: decoded.append(words) or parse(*words))
    assert len(changes(desk)) == 1 and len(decoded) == 1


def test_items_that_move_to_pages_are_no_news(desk: Desk):
    desk.settle("memory: {split_above: 3}\n")
    texts = ("alpha bills", "beta ships", "gamma pays")
    for text in texts:
        desk.run("store", "--store", "long_term", text)
    commit(desk)
    own = desk.run("store", "--json", "--store", "long_term", "delta sails").data["id"]
    assert (desk.folder() / "memory-store").is_dir()
    assert changes(desk) == {("memories", "new", own)}


def test_knowledge_and_mind(desk: Desk):
    desk.run("belief", "add", "Demand", "growing", "--certainty", "0.8")
    desk.run("goal", "add", "Grow")
    desk.run("fact", "assert", "acme", "owns", "river")
    commit(desk)
    desk.run("belief", "revise", "B-001", "--certainty", "0.6")
    desk.run("fact", "assert", "acme", "owns", "river", "--confidence", "0.4")
    desk.run("rule", "create", "if ?x owns river then ?x likes water")
    desk.run("case", "store", "--belief", "B-001", "--action", "call")
    desk.run("checkpoint", "-c", "Migrating billing")
    desk.run("capture", "The build is green")
    desk.write("notes.md", "mine\n")
    told = changes(desk)
    assert {(name, state) for name, state, _ in told} == {
        ("beliefs", "changed"),
        ("facts", "changed"),
        ("rules", "new"),
        ("cases", "new"),
        ("checkpoints", "new"),
    }
    report = found(desk)
    assert report["observations"] == {"captured": 1, "harvested": 0}
    assert report["files"] == ["notes.md"]


def test_trust_and_conflicts(desk: Desk):
    own = desk.run("store", "--json", "Harbor moved", "--trust", "untrusted").data["id"]
    desk.run("belief", "add", "Churn", "churn is high", "--certainty", "0.9")
    desk.run("belief", "add", "Churn", "churn is not high", "--certainty", "0.9")
    commit(desk)
    desk.run("trust", own, "--set", "agent", "--by", "ada", "--reason", "checked")
    desk.run("bdi", "cycle")
    sections = found(desk)["sections"]
    assert [(row["id"], row["text"], row["change"]) for row in sections["trust"]] == [
        (own, "untrusted -> agent by ada", "checked")
    ]
    (conflict,) = sections["conflicts"]
    assert conflict["place"] == "memory/bdi-conflicts/2026-02-24.md:5"
    commit(desk)
    desk.run("bdi", "resolve", conflict["id"], "--keep", "a", "--reason", "measured")
    (resolved,) = found(desk)["sections"]["conflicts"]
    assert (resolved["id"], resolved["state"], resolved["change"]) == (conflict["id"], "changed", "measured")


def test_all_agents_and_dates(desk: Desk):
    desk.add_agent("cfo")
    commit_all(desk.root, "old", GIT_COMMITTER_DATE="2026-02-01T00:00:00Z")
    desk.run("store", "-a", "cfo", "We bill per seat")
    names = [report["agent"] for report in desk.run("review", "--all", "--json").data["agents"]]
    assert names == ["cfo", "main"]
    assert desk.run("review", "--all").stdout.split("\n")[-2] == "main: nothing new since the last commit"
    assert found(desk, "-a", "cfo", "--since", "2026-02-10")["counts"] == {
        "memories": {"new": 1, "changed": 0, "gone": 0}
    }
    assert "Persona.md" in found(desk, "-a", "cfo", "--since", "2020-01-01")["files"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("nope",), 3, "no commit 'nope'"),
        (("--", "--output=x"), 3, "no commit '--output=x'"),
        (("HEAD", "--since", "7d"), 2, "both a commit and --since given"),
        (("--since", "someday"), 2, "someday"),
        (("--all", "-a", "main"), 2, "both --all and --agent given"),
    ],
)
def test_bad_words(desk: Desk, words: tuple[str, ...], code: int, said: str):
    told = desk.run("review", *words)
    assert (told.code, told.stdout) == (code, "") and said in told.stderr


def test_without_a_repository(quick: Path):
    told = Desk(quick / "elsewhere").run("review")
    assert told.code == 3 and "is in no git repository" in told.stderr


def test_before_the_first_commit_everything_is_new(desk: Desk):
    git(desk.root, "update-ref", "-d", "HEAD")
    desk.run("store", "We bill per seat")
    assert found(desk)["counts"] == {"memories": {"new": 1, "changed": 0, "gone": 0}}


def test_a_file_that_cannot_be_read_is_cited(desk: Desk):
    desk.write("facts.json", "{")
    told = desk.run("review")
    assert told.code == 4 and "agents/main/facts.json:1" in told.stderr


def test_a_report_that_lists_no_conflict(desk: Desk):
    desk.write("memory/bdi-conflicts/2026-02-24.md", "# Conflicts\n\nNone are left.\n")
    assert desk.run("review").code == 0
