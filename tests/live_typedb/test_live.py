"""The mirror in a real TypeDB server: what is written is there, what is asked is what the files answer, and a kill leaves no trace."""

import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from commands.desk import Desk, Said, note
from typeql.samples import NASTY

from live_typedb.conftest import ADDRESS, Live
from mabos_cli.services.mirror.source import PARTS, load_part

BELIEFS = """\
# Beliefs

## Cash

ID: B-1
Certainty: 0.9
Supports: G-9
[updated: 2026-02-01]

Costs for five months are in the bank

## Cash

ID: B-2
Certainty: 0.8
Supports: G-1
[updated: 2026-02-20]

Costs for nine months are in the bank
"""
GOALS = """\
# Goals

## G-9: Keep cash

status: active
[deadline: 2026-02-20]
Requires: PL-1

## G-8: Lend some

status: stalled
Type: strategic
"""
PLANS = "# Plans\n\n## PL-1: Collect\n\n1. [ ] Call\n2. [ ] Write, after step 1\n"
INTENTIONS = "# Intentions\n\n## I-1: Call Pagel\n\nstatus: active\nGoal: G-9\n\n## I-2: Follow\n\nPlan: PL-1\n"
SKILLS = "# Capabilities\n\n| Skill | Proficiency |\n| --- | --- |\n| Planning | 0.9 |\n"


def said(desk: Desk, *words: str, agent: str = "main") -> Said:
    done = desk.run(*words, *(() if "--all" in words else ("-a", agent)), "--json")
    assert done.code == 0, done.stderr
    assert not any("TypeDB" in warning or "mirror" in warning for warning in done.warnings)
    return done


def furnish(desk: Desk) -> None:
    """Two agents with something of every kind, written without the server."""
    desk.add_agent("ceo")
    desk.write("Goals.md", "# Goals\n\n## G-1: Stay free\n\nstatus: active\n", "ceo")
    for name, text in (("Beliefs", BELIEFS), ("Goals", GOALS), ("Plans", PLANS), ("Intentions", INTENTIONS)):
        desk.write(f"{name}.md", text)
    desk.write("Commitments.md", "# Commitments\n\n## C-1: Report\n\n[deadline: 2026-03-01]\nTo: bank\n")
    desk.write("Capabilities.md", SKILLS)
    first = note(1, "We bill per seat", type="decision", related_to=("G-9",))
    desk.put([first, note(2, "Sum", derived_from=(first.id,)), *(note(n, text) for n, text in enumerate(NASTY, 3))])


def assert_known(desk: Desk) -> None:
    """Facts in the words of the ontology, and some that a rule makes of them."""
    for triple in (
        ("acme", "isA", "Customer"),
        ("acme", "buys", "lamp"),
        ("lamp", "isA", "Physical Product"),
        ("acme", "hasRevenue", "$1,200.50"),
        ("acme", "hasHeadcount", "12"),
        ("lamp", "issuedOn", "2026-01-05"),
        ("rain", "likes", "snow"),
        ("oslo", "supplies", "acme"),
        ("acme", "supplies", "lamp"),
    ):
        said(desk, "fact", "assert", *triple)
    said(desk, "rule", "create", "if ?x supplies ?y and ?y supplies ?z then ?x reaches ?z")
    said(desk, "rule", "create", "if ?x reaches ?y then ?y reached ?x")
    said(desk, "infer", "forward", "--persist")
    said(desk, "case", "store", "--belief", "x", "--action", "Wait")
    said(desk, "reason", "What now?", "-m", "case-based", "--save")


def expected(desk: Desk) -> tuple[list[Any], list[Any]]:
    """What the graph should hold, straight from the files."""
    records = [r for name in ("ceo", "main") for part in PARTS for r in load_part(desk.home(name), part).records]
    labels = {(each.type, each.uid): each.label or each.type for each in records}
    things, relations = [], []
    for each in records:
        own = labels[each.type, each.uid]
        things.append((own, each.uid, "uid", each.uid))
        for name, value in each.attributes:
            things += [(own, each.uid, name, value) for value in (value if isinstance(value, tuple) else (value,))]
        relations += [
            [
                li.relation,
                *sorted([(li.role, own, each.uid), (li.other, li.type, uid)]),
            ]
            for li in each.links
            for uid in li.uids
        ]
        if said := each.statement:
            ends = [("evidence", "spo_fact", each.uid), ("subject", *said.subject), ("object", *said.object)]
            relations.append([said.relation, *sorted(ends)])
    return things, sorted(relations)


def same_things(found: list[Any], wanted: list[Any]) -> None:
    """Moments and numbers have several ways to be written: of them only that they are there."""
    assert [each[:3] for each in found] == sorted(each[:3] for each in wanted)
    texts = {(*each[:3], each[3].replace("\0", "\ufffd")) for each in wanted if isinstance(each[3], str)}
    assert texts <= {*found}


def test_the_graph_holds_what_the_files_hold(desk: Desk, live: Live) -> None:
    furnish(desk)
    assert_known(desk)
    rows = said(desk, "typedb", "sync-agent", "--all").data["agents"]
    assert [row["failed"] for row in rows] == [[], []]
    assert {*PARTS} == {part for part in PARTS if load_part(desk.home(), part).records}  # something of each
    things, relations = live.graph()
    wanted = expected(desk)
    assert relations == wanted[1]
    same_things(things, wanted[0])
    again = said(desk, "typedb", "sync-agent", "--all").data["agents"]
    assert [(row["written"], row["deleted"]) for row in again] == [(0, 0), (0, 0)]
    (desk.root / ".mabos/typedb/main.jsonl").unlink()  # all is written once more, over what is there
    said(desk, "typedb", "sync-agent", "--all")
    assert live.graph() == (things, relations)


def test_what_becomes_something_else_is_that_in_the_graph(
    desk: Desk, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.add_agent("ceo")
    assert_known(desk)
    with monkeypatch.context() as patch:
        patch.setenv("MABOS_TYPEDB_ADDRESS", "")
        said(desk, "fact", "assert", "lamp", "isA", "Bundle")
        said(desk, "fact", "assert", "acme", "hasRevenue", "900")
    said(desk, "typedb", "sync-agent", "--all")
    things, relations = live.graph()
    wanted = expected(desk)
    assert ("bundle", "main/lamp", "name", "lamp") in things
    assert relations == wanted[1]
    same_things(things, wanted[0])


def test_ready_questions_get_the_answers_of_the_files(desk: Desk, live: Live) -> None:
    furnish(desk)
    assert_known(desk)
    said(desk, "typedb", "sync-agent", "--all")

    def ask(*words: str) -> list[Any]:
        return said(desk, "typedb", "query", *words, "--full").data["rows"]

    def by_files(*words: str) -> list[Any]:
        return said(desk, "graph", "impact", *words).data["rows"]

    assert ask("chains") == by_files() and len(by_files()) == 2
    assert ask("behind") == by_files("--behind") and len(by_files("--behind")) == 2
    assert ask("behind", "strategic") == by_files("--behind", "--level", "strategic")
    [conflict] = said(desk, "bdi", "conflicts").data["conflicts"]
    touched = by_files("--conflict", conflict["key"])
    assert ask("conflict", conflict["key"][:6]) == touched and len(touched) == 2
    facts = {row["id"]: row for row in said(desk, "fact", "query").data["facts"]}
    for row in ask("statements", "buys") + ask("statements", "supplies"):
        fact = facts[row["fact"].removeprefix("main/")]
        assert [row[name] for name in ("subject", "object", "confidence")] == [
            fact[name] for name in ("subject", "object", "confidence")
        ]
    assert [(r["subject_type"], r["object_type"]) for r in ask("statements", "buys")] == [
        ("customer", "physical_product")
    ]
    assert len(ask("statements", "supplies")) == 2
    reached = next(fact for fact in facts.values() if fact["predicate"] == "reached")
    rows = ask("provenance", reached["id"])
    made_of = {f["id"] for f in facts.values() if f["predicate"] in ("reaches", "supplies")} | {"R-001", "R-002"}
    assert [row["origin"] for row in rows] == sorted(f"main/{own}" for own in made_of)
    assert ask("provenance", note(2, "").id) == [{"origin": f"main/{note(1, '').id}", "type": "memory_item"}]


def test_what_commands_change_is_there_when_they_are_done(desk: Desk, live: Live) -> None:
    desk.add_agent("ceo")
    assert_known(desk)
    own = said(desk, "store", "Bill per seat", "--type", "decision", "--tag", "x").data["id"]
    said(desk, "goal", "add", "Grow")
    said(desk, "belief", "add", "Market grows", "--supports", "G-001")
    said(desk, "belief", "add", "Market shrinks", "--supports", "G-001")
    said(desk, "commitment", "add", "Report")
    said(desk, "update", own, "--content", "Bill per month", "--type", "fact")
    said(desk, "fact", "assert", "acme", "isA", "Person")
    said(desk, "fact", "retract", "--subject", "acme", "--predicate", "buys")
    said(desk, "typedb", "sync-agent", "ceo")
    rows = said(desk, "typedb", "sync-agent", "--all").data["agents"]
    assert [(row["agent"], row["written"], row["deleted"]) for row in rows] == [("ceo", 0, 0), ("main", 0, 0)]
    things, relations = live.graph()
    wanted = expected(desk)
    assert relations == wanted[1]
    same_things(things, wanted[0])


def test_killed_in_the_middle_and_run_again_the_graph_is_the_same(desk: Desk, live: Live) -> None:
    furnish(desk)
    assert_known(desk)
    desk.put([note(number, f"Note {number}", tags=("a",)) for number in range(900)])
    said(desk, "typedb", "sync-agent", "--all")
    whole = live.graph()
    program = [sys.executable, "-m", "mabos_cli", "-w", str(desk.root), "typedb", "sync-agent", "main", "-q"]
    for wait in (0.4, 0.6, 0.8, 1.2, 1.6):
        live.wipe()
        said(desk, "typedb", "sync-schema")
        (desk.root / ".mabos/typedb/main.jsonl").unlink(missing_ok=True)
        process = subprocess.Popen(program)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        said(desk, "typedb", "sync-agent", "--all")
        assert live.graph() == whole


def test_what_others_share_is_read_from_the_graph(desk: Desk, live: Live) -> None:
    desk.add_agent("ceo", memory={"shared": True})
    said(desk, "fact", "assert", "acme", "owes", "us", agent="ceo")
    desk.put([note(1, "acme writes letters", tags=("b", "a"))], "ceo")
    said(desk, "typedb", "sync-agent", "--all")
    (desk.root / "agents/ceo").rename(desk.root / "elsewhere")
    [fact] = said(desk, "fact", "query", "--shared").data["facts"]
    assert (fact["agent"], fact["via"], fact["subject"]) == ("ceo", "typedb", "acme")
    [found] = said(desk, "recall", "acme letters", "--shared").data["results"]
    assert (found["agent"], found["store"], found["content"]) == ("ceo", "typedb", "acme writes letters")


def test_what_the_server_refuses_is_told(desk: Desk, live: Live) -> None:
    done = desk.run("typedb", "query", "match $x isa nobody; select $x;")
    assert done.code == 2 and "TypeDB refused" in done.stderr and "nobody" in done.stderr
    done = desk.run("typedb", "query", "chains", "-a", "main", "--database", "mabos_no_such")
    assert done.code == 6 and "TypeDB has no database mabos_no_such" in done.stderr
    status = said(desk, "typedb", "status").data
    assert status["reachable"] and status["address"] == ADDRESS and "TypeDB" in status["version"]
