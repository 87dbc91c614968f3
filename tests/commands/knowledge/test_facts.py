"""Facts through the commands: what is written, what is kept, and what follows."""

import json
from pathlib import Path

import pytest
from forked import tree
from hypothesis import given, settings
from hypothesis import strategies as st

from commands.desk import Desk, Said
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.forward import forward_chain
from mabos_cli.services.memory.upkeep import rebuild_derived
from mabos_cli.workspace.knowledge.facts import load_facts
from mabos_cli.workspace.knowledge.rules import load_rules

PAGED = "facts:\n  materialize_split_above: 3\n"


def do(desk: Desk, *words: str, **more) -> dict:
    return desk.run(*words, "--json", **more).data


def held(desk: Desk, name: str = "facts.json") -> list[dict]:
    path = desk.folder() / name
    return json.loads(path.read_text("utf-8"))["facts"] if path.exists() else []


def refused(said: Said, code: int, told: str) -> None:
    assert (said.code, said.stdout, "Traceback" in said.stderr) == (code, "", False), said
    assert told in said.stderr


def taught(desk: Desk) -> Desk:
    """Two rules: what is part of something is within all that it is part of."""
    do(desk, "rule", "create", "if ?x partOf ?y then ?x within ?y", "--factor", "1")
    do(desk, "rule", "create", "if ?x partOf ?y and ?y within ?z then ?x within ?z")
    return desk


def persisted(desk: Desk) -> set[tuple]:
    keys = ("id", "subject", "predicate", "object", "confidence", "trust", "rule_id")
    return {tuple(row[key] for key in keys) for row in held(desk, "facts-derived.json")}


def inferred(desk: Desk) -> set[tuple]:
    """What forward chaining makes of the facts on disk."""
    home = desk.home()
    found = forward_chain(load_facts(home).asserted.facts(), load_rules(home).rules).derived
    return {(f.id, *f.triple, f.confidence, f.trust, f.rule_id) for f in found}


def test_ids_are_unique_and_sorted_though_time_stands_still(desk: Desk):
    rows = "".join(f'{{"subject": "s{n}", "predicate": "p", "object": "o"}}\n' for n in range(3_000))
    assert do(desk, "fact", "import", "-", stdin=rows.encode())["added"] == 3_000
    do(desk, "fact", "assert", "one", "more", "fact")
    ids = [row["id"] for row in held(desk)]
    assert len(set(ids)) == 3_001 and ids == sorted(ids)


def test_an_id_is_never_given_twice(desk: Desk):
    """Not when the file says nothing of the last one, nor when somebody wrote the next one by hand."""
    first = do(desk, "fact", "assert", "a", "p", "1")["fact"]["id"]
    second = do(desk, "fact", "assert", "a", "p", "2")["fact"]["id"]
    desk.write("facts.json", json.dumps(held(desk)))  # as another tool keeps it
    do(desk, "fact", "retract", second)
    third = do(desk, "fact", "assert", "a", "p", "3")["fact"]["id"]
    assert third not in (first, second)
    data = json.loads((desk.folder() / "facts.json").read_text())
    ahead = [f"F-1771943400000-{n:04x}" for n in range(6, 20, 2)]
    data["facts"] += [{"id": own, "subject": own, "predicate": "p", "object": "o"} for own in ahead]
    desk.write("facts.json", json.dumps(data))
    fourth = do(desk, "fact", "assert", "a", "p", "4")["fact"]["id"]
    assert fourth not in ahead and len({row["id"] for row in held(desk)}) == len(held(desk))


def test_files_of_other_tools_lose_nothing_by_the_next_assert(desk: Desk):
    rows = [
        {"id": "F-1708800000-ab12", "subject": "acme", "predicate": "size", "object": 42, "note": {"by": "x"}},
        {"id": "f2", "subject": "caf\u00e9", "predicate": "is", "object": "open", "confidence": 0.5},
        {"id": "f3", "subject": "acme", "predicate": "is", "object": "big", "rule_id": "R-9", "derived_from": ["f2"]},
    ]  # fmt: skip
    for text in (json.dumps(rows), json.dumps({"facts": rows, "tool": 1}, indent=4)):
        desk.write("facts.json", text)
        assert do(desk, "fact", "assert", "acme", "size", "42", "--confidence", "0.9")["state"] == "updated"
        assert do(desk, "fact", "assert", "café", "is", "open", "--confidence", "0.5")["state"] == "unchanged"
        do(desk, "fact", "assert", "new", "is", "here")
        kept = held(desk)
        assert [row["id"] for row in kept[:3]] == ["F-1708800000-ab12", "f2", "f3"] and len(kept) == 4
        assert kept[0]["note"] == {"by": "x"} and kept[2]["rule_id"] == "R-9"
        (desk.folder() / "facts.json").unlink()


def test_derived_facts_of_another_tool_are_made_anew_and_can_be_retracted(desk: Desk):
    taught(desk)
    row = {"predicate": "within", "rule_id": "R-001", "derived_from": ["f1"], "confidence": 0.9}
    rows = [
        {"id": "f1", "subject": "a", "predicate": "partOf", "object": "b"},
        {"id": "f2", "subject": "a", "object": "b", **row},
        {"id": "f3", "subject": "x", "object": "y", **row},
        {"id": "f4", "subject": "x", "object": "z", **row, "rule_id": "other"},
    ]
    desk.write("facts.json", json.dumps(rows))
    do(desk, "infer", "forward", "--persist")
    assert [row["id"] for row in held(desk)] == ["f1", "f4"] and persisted(desk) == inferred(desk)
    before = tree(desk.root)
    do(desk, "infer", "forward", "--persist")
    assert tree(desk.root) == before
    assert do(desk, "fact", "retract", "f4")["retracted"][0]["id"] == "f4"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"facts": [', "facts.json:1: not valid JSON"),
        ('[{"id": "f", "subject": "a", "predicate": "b", "object": "c"},\n{"id": "f", "subject": "x", "predicate": "b", "object": "c"}]', "facts.json:2: the id 'f' occurs twice"),
        ('[\n{"id": "f", "subject": "a", "predicate": "b", "object": "c", "confidence": 1.7}]', "facts.json:2: fact f: confidence 1.7"),
        ('[\n\n{"id": "f", "subject": "a", "predicate": "b", "object": "c", "valid_from": "soon"}]', "facts.json:3: fact f: valid_from"),
    ],
)  # fmt: skip
def test_a_broken_file_stops_every_command_and_stays_as_it_is(desk: Desk, text: str, told: str):
    desk.write("facts.json", text)
    for words in ("fact assert a b c", "fact query a", "fact current a", "fact timeline a", "fact lint", "fact retract --subject a",
                  "fact export", "infer forward --persist", "infer backward a b c", "graph export", "constraint check", "policy eval"):  # fmt: skip
        refused(desk.run(*words.split()), 4, told)
    assert (desk.folder() / "facts.json").read_text() == text


def test_text_that_nobody_can_print_breaks_no_command(desk: Desk):
    odd = ["\ud800", "\x1b[31m", "a\nb", "<!-- x -->", "## x", "\u202e", "\ufffe", "|", "`"]
    rows = [{"id": f"f{n}{text}", "subject": text, "predicate": text, "object": odd[-1 - n]} for n, text in enumerate(odd)]  # fmt: skip
    desk.write("facts.json", json.dumps(rows))
    taught(desk)
    do(desk, "fact", "assert", "a", "b", "c")
    for words in ("fact query", "fact lint", "fact export", "fact export --format csv", "fact export --format turtle", "infer forward --persist",
                  "graph export", "graph export --format dot", "graph export --format jsonld", "graph match x", "explain x"):  # fmt: skip
        said = desk.run(*words.split())
        assert said.code == 0, (words, said.stderr)
        assert "\x1b" not in said.stdout
    assert len(held(desk)) == 10


def test_retracting_with_cascade_leaves_what_follows_from_the_rest(desk: Desk):
    taught(desk)
    for pair in ("ab", "bc", "cd", "ad"):
        do(
            desk,
            "fact",
            "assert",
            pair[0],
            "partOf",
            pair[1],
            "--trust",
            "untrusted" if pair == "cd" else "agent",
        )
    do(desk, "fact", "assert", "b", "within", "c", "--confidence", "0.8")  # asserted, though it also follows
    do(desk, "infer", "forward", "--persist")
    assert persisted(desk) == inferred(desk)
    trust = {row["subject"] + row["object"]: row["trust"] for row in held(desk, "facts-derived.json")}
    assert (trust["bd"], trust["ab"], trust["cd"]) == ("untrusted", "agent", "untrusted")
    for words in (["--subject", "c", "--predicate", "partOf"], ["--subject", "b", "--predicate", "within"], ["--predicate", "partOf"]):  # fmt: skip
        before = tree(desk.root)
        would = do(desk, "fact", "retract", *words, "--cascade", "--dry-run")
        assert tree(desk.root) == before and would["retracted"]
        done = do(desk, "fact", "retract", *words, "--cascade")
        assert done["unsupported"] == would["unsupported"]
        assert persisted(desk) == inferred(desk)
        assert not json.loads(desk.run("fact", "query", "--json").stdout)["warnings"]
        kept = tree(desk.root)
        do(desk, "infer", "forward", "--persist")
        assert tree(desk.root) == kept
    assert not held(desk)


def test_derived_facts_that_are_behind_are_said_to_be(desk: Desk):
    taught(desk)
    do(desk, "fact", "assert", "a", "partOf", "b")
    do(desk, "infer", "forward", "--persist")
    for words in (["fact", "assert", "b", "partOf", "c"], ["rule", "toggle", "R-002", "--off"], ["rule", "delete", "R-001"]):  # fmt: skip
        do(desk, *words)
        assert "derived facts are older" in desk.run("fact", "query", "a", "--json").warnings[0]
        do(desk, "infer", "forward", "--persist")
        assert not desk.run("fact", "query", "a", "--json").warnings
        assert persisted(desk) == inferred(desk)
    assert not persisted(desk)


def test_every_version_of_a_fact_can_be_shown(desk: Desk):
    own = do(desk, "fact", "assert", "a", "p", "o", "--confidence", "0.5")["fact"]["id"]
    assert do(desk, "get", own)["state"] == "live"
    do(desk, "fact", "assert", "a", "p", "o", "--confidence", "0.6")
    assert [row["reason"] for row in do(desk, "get", own)["history"]] == ["updated"]
    do(desk, "fact", "retract", own, "--reason", "no longer")
    gone = do(desk, "get", own)
    assert (gone["state"], gone["fact"]["confidence"]) == ("archived", 0.6)
    assert "[no longer " in desk.run("fact", "explain", own).stdout
    refused(desk.run("fact", "retract", own), 3, "was no longer on")
    refused(desk.run("get", "F-1-0000"), 3, "never issued")
    rows = do(desk, "fact", "timeline", "a")["facts"]
    assert [row["confidence"] for row in rows] == [0.5, 0.6] and all(row["left"] for row in rows)


def test_time_is_told_from_both_ends_and_ontologies_say_what_has_one_value(desk: Desk):
    (desk.root / "ontologies").mkdir(exist_ok=True)
    (desk.root / "ontologies/x.jsonld").write_text('{"@graph": [{"@id": "x:ceo", "functional": true}]}')
    (desk.root / "ontologies/broken.jsonld").write_text("{")
    do(desk, "fact", "assert", "acme", "ceo", "Tom", "--from", "2025-01-01", "--until", "2025-12-31")
    do(desk, "fact", "assert", "acme", "ceo", "Ines", "--from", "2026-01-01")
    for day, who in (
        ("2025-01-01", "Tom"),
        ("2025-12-31", "Tom"),
        ("2026-01-01", "Ines"),
        ("2024-12-31", ""),
    ):
        found = do(desk, "fact", "query", "acme", "--valid-at", day)["facts"]
        assert [row["object"] for row in found] == [who] * bool(who)
    lint = desk.run("fact", "lint", "--json")
    assert lint.data == {"functional": ["ceo"], "findings": []} and "broken.jsonld" in lint.warnings[0]
    do(desk, "fact", "assert", "acme", "ceo", "Lea", "--from", "2025-12-31")
    assert [row["kind"] for row in do(desk, "fact", "lint")["findings"]] == ["contradiction"] * 2
    assert [row["object"] for row in do(desk, "fact", "current", "acme")["facts"]] == ["Ines"]


def test_facts_are_recalled_and_edits_by_hand_are_set_aside(desk: Desk):
    desk.settle(PAGED)
    for number in range(5):
        do(desk, "fact", "assert", f"service {number}", "runs on", f"cluster {number}")
    assert any("mabos-facts" in ref for ref in desk.recall("what does service 3 run on").refs)
    page = next((desk.folder() / "memory/mabos-facts").glob("*.md"))
    page.write_text(page.read_text("utf-8") + "\nmine\n", "utf-8")
    said = [desk.run("fact", "assert", f"service {n}", "runs on", "metal", "--json") for n in range(5)]
    assert sum("was edited by hand" in warning for each in said for warning in each.warnings) == 1
    assert "mine" not in page.read_text("utf-8")
    assert any("mine" in path.read_text("utf-8") for path in desk.folder().rglob("*.md"))
    assert not facts_md_behind(desk)


def facts_md_behind(desk: Desk) -> list[str]:
    """What a full rebuild would write of mabos-facts.md."""
    return [name for name in rebuild_derived(desk.home())[0] if "facts" in name]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("assert"), st.integers(0, 7), st.integers(0, 7), st.sampled_from(["1", "0.5"])),
        st.tuples(st.just("retract"), st.integers(0, 7), st.booleans()),
        st.tuples(st.just("infer")),
        st.tuples(st.just("toggle")),
        st.tuples(st.just("edit"), st.integers(0, 7)),
    ),
    min_size=4,
    max_size=14,
)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("worlds")


@settings(max_examples=25, deadline=None, derandomize=True)
@given(steps)
def test_the_pages_are_those_of_a_rebuild_whatever_was_done(worlds: Path, taken: list[tuple]):
    desk = taught(Desk(worlds / f"w{len(list(worlds.iterdir()))}"))
    desk.settle(PAGED)
    for name, *given_ in taken:
        if name == "assert":
            desk.run("fact", "assert", f"s {given_[0]}", "partOf", f"s {given_[1]}", "--confidence", given_[2])
        elif name == "retract":
            desk.run("fact", "retract", "--subject", f"s {given_[0]}", *(["--cascade"] if given_[1] else []))
        elif name == "edit":
            for page in sorted((desk.folder() / "memory").glob("mabos-facts*/*.md"))[: given_[0] % 3]:
                page.write_text(page.read_text("utf-8") + "mine\n", "utf-8")
        else:
            desk.run(*{"infer": ("infer", "forward", "--persist"), "toggle": ("rule", "toggle", "R-001")}[name])
    # An edited page stays until its facts change; a rebuild sets that aside as well.
    wrong = [n for n in facts_md_behind(desk) if not any(step[0] == "edit" for step in taken)]
    assert not wrong and not facts_md_behind(desk)
    desk.run("infer", "forward", "--persist")
    assert persisted(desk) == inferred(desk)
    before = tree(desk.root)
    desk.run("infer", "forward", "--persist")
    assert tree(desk.root) == before


def test_what_a_killed_writer_left_behind_is_written_by_the_next(desk: Desk):
    """facts.json is replaced before its pages: a kill in between leaves them behind."""
    desk.settle(PAGED)
    taught(desk)
    for number in range(6):
        do(desk, "fact", "assert", f"s{number}", "partOf", "all")
    pages = {path: path.read_bytes() for path in (desk.folder() / "memory").rglob("mabos-facts*.md")}
    pages |= {path: path.read_bytes() for path in (desk.folder() / "memory/mabos-facts").iterdir()}
    do(desk, "fact", "assert", "s3", "partOf", "more")
    for path, data in pages.items():
        path.write_bytes(data)
    do(desk, "fact", "assert", "s5", "partOf", "more")
    assert not facts_md_behind(desk)
    for path, data in pages.items():
        path.write_bytes(data)
    do(desk, "infer", "forward", "--persist")
    do(desk, "infer", "forward", "--persist")
    assert not facts_md_behind(desk)


def test_facts_derived_from_themselves_are_told_and_go(desk: Desk):
    made = {"predicate": "within", "confidence": 0.9, "rule_id": "R-001", "source": "inference"}
    rows = [{"id": "F-inf-1", "subject": "a", "object": "b", "derived_from": ["F-inf-2"], **made},
            {"id": "F-inf-2", "subject": "b", "object": "a", "derived_from": ["F-inf-1"], **made}]  # fmt: skip
    taught(desk)
    desk.write("facts-derived.json", json.dumps(rows))
    assert "[cycle]" in desk.run("fact", "explain", "F-inf-1", "--depth", "99").stdout
    assert {row["kind"] for row in do(desk, "fact", "lint")["findings"]} == {"cycle"}
    assert desk.run("fact", "lint", "--check").code == 7
    assert do(desk, "infer", "forward", "--persist")["removed"] == 2


def test_explain_answers_questions_and_triples(desk: Desk):
    taught(desk)
    do(desk, "fact", "assert", "bolt", "partOf", "door")
    do(desk, "fact", "assert", "door", "partOf", "car")
    do(desk, "store", "The bolt of the door was replaced in May", "--type", "event")
    found = do(desk, "explain", "bolt", "within", "car")
    assert found["proofs"][0]["status"] == "PROVEN" and found["memories"]
    missing = do(desk, "explain", "wheel", "within", "car")
    assert missing["proofs"][0]["status"] == "POTENTIALLY_DERIVABLE" and missing["hypotheses"]
    asked = do(desk, "explain", "what is the bolt within?")
    assert {tuple(row["triple"]) for proof in asked["proofs"] for row in proof["proofs"]} >= {("bolt", "within", "car")}
    assert do(desk, "explain", "moon")["facts"] == []
    assert json.loads(desk.run("explain", "-", "--json", stdin=b"where is the door?").stdout)["data"]["facts"]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("fact assert a b c --confidence 1.7", 2, "outside 0..1"),
        ("fact assert a b c --confidence nan", 2, "outside 0..1"),
        ("fact assert a b c --from 2026-02-02 --until 2026-02-01", 2, "before it begins"),
        ("fact assert a b c --until never", 2, "not a"),
        ("fact query --limit -1", 2, "is less than 0"),
        ("fact query --min-confidence 2", 2, "0..1"),
        ("fact query --valid-at soon", 2, "not a"),
        ("fact explain F-1", 3, "no fact"),
        ("infer forward --limit -1", 2, "is less than 0"),
        ("infer forward --min-confidence 2", 2, "0..1"),
        ("infer abductive a b c --limit -1", 2, "is less than 0"),
        ("graph neighbors a --limit -1", 2, "is less than 0"),
        ("graph neighbors a --hops 0", 2, "outside 1..12"),
        ("graph path a nobody", 3, "names 'nobody'"),
        ("graph match a --limit -2", 2, "is less than 0"),
        ("fact export --format xml", 2, "unknown format"),
        ("policy eval --set a:b=", 2, "the object is empty"),
    ],
)
def test_bad_words_are_refused(desk: Desk, words: str, code: int, told: str):
    do(desk, "fact", "assert", "a", "b", "c")
    refused(desk.run(*words.split()), code, told)


def test_many_facts_stay_quick_to_ask(desk: Desk):
    """20,000 here; benchmarks/facts.py takes 100,000."""
    rows = (Fact("new", f"s{n // 4}", f"p{n % 4}", f"o{n % 977}") for n in range(20_000))
    text = "".join(
        json.dumps({"subject": f.subject, "predicate": f.predicate, "object": f.object}) + "\n" for f in rows
    )
    do(desk, "fact", "import", "-", stdin=text.encode())
    assert do(desk, "fact", "query", "s77")["count"] == 4
    assert do(desk, "fact", "query", "*", "p1", "o1*", "--limit", "3")["count"] > 3
    assert do(desk, "graph", "neighbors", "s77", "--hops", "2")["count"] > 4
    assert do(desk, "fact", "assert", "s77", "p0", "new")["state"] == "added"
