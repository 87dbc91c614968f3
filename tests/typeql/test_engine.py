"""What the emitted queries do, run by a small engine: upserts say it once and take it back, questions get the answers of the files."""

from random import Random

import pytest

from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mirror.mind_records import (
    RecordGraph,
    belief_chains,
    conflict_impact,
    conflict_records,
    goals_behind,
    mind_records,
)
from mabos_cli.core.mirror.records import Record, agent_record
from mabos_cli.core.mirror.schema import mirror_schema
from mabos_cli.formats.mirror.questions import (
    ask_belief_chains,
    ask_conflict_impact,
    ask_facts_elsewhere,
    ask_goals_behind,
    ask_memories_elsewhere,
    plain_rows,
)
from mabos_cli.formats.mirror.typeql import render_delete, render_links, render_new, render_upsert
from typeql.elsewhere import facts_elsewhere, memories_elsewhere
from typeql.engine import Engine
from typeql.samples import CFO, NOW, known, world


def write(engine: Engine, records: list[Record], is_new: bool = False) -> Engine:
    for record in [] if is_new else records:
        for query in render_upsert(record):
            engine.run(query)
    if is_new:
        engine.run(render_new([record for record in records if record.type == "agent"]))
        engine.run(render_new([record for record in records if record.type != "agent"]))
    for record in {(each.type, each.uid): each for each in records}.values():
        for query in render_links(record, is_owned=is_new):
            engine.run(query)
    return engine


def filled(records: list[Record], is_new: bool = False) -> Engine:
    return write(Engine(mirror_schema()), records, is_new)


def expected(records: list[Record]) -> tuple[list, list]:
    """What the graph should hold, straight from the records."""
    things, relations = [], []
    for record in records:
        held = {("uid", record.uid)}
        for name, value in record.attributes:
            values = value if isinstance(value, tuple) else (value,)
            held |= {(name, each.replace("\0", "\ufffd") if isinstance(each, str) else each) for each in values}
        things.append((record.type, sorted(held, key=repr)))
        for links in record.links:
            ends = ([(links.role, record.uid), (links.other, uid)] for uid in links.uids)
            relations += [(links.relation, sorted(each)) for each in ends]
    return sorted(things), sorted(relations)


def test_the_graph_holds_what_the_records_say_in_any_order_and_once():
    records = world()
    assert filled(records).state() == expected(records) == filled(records, is_new=True).state()
    mixed = Random(3).sample([*records, *records], 2 * len(records))
    assert filled(mixed).state() == expected(records)


def test_what_is_no_longer_said_is_taken_back():
    before, bare = mind_records(CFO), []
    for each in mind_records(CFO):
        links = tuple(li if li.relation == "agent_owns" else li._replace(uids=()) for li in each.links)
        bare.append(each._replace(attributes=(), links=links))
    agents = [agent_record("cfo")]
    assert write(filled(agents + before), bare).state() == expected(agents + bare)


def test_one_link_of_two_is_taken_back():
    goal = next(each for each in mind_records(CFO) if each.uid == "cfo/G-9")
    records = [agent_record("cfo"), *mind_records(CFO)]
    assert goal.linked("goal_requires_plan") == ("cfo/PL-1", "cfo/PL-2")
    fewer = goal._replace(
        links=tuple(li._replace(uids=li.uids[:1]) if li.role == "requirer" else li for li in goal.links)
    )
    now = [fewer if each is goal or each == goal else each for each in records]
    assert write(filled(records), [fewer]).state() == expected(now)


def test_tags_change():
    item = known("cfo", "x")[1]
    other = item._replace(attributes=tuple((n, ("a", "z") if n == "tag" else v) for n, v in item.attributes))
    engine = write(filled([agent_record("cfo"), item]), [other])
    assert engine.state() == expected([agent_record("cfo"), other])


def test_a_deletion_leaves_no_relation_behind():
    records = [agent_record("cfo"), *mind_records(CFO)]
    engine = filled(records)
    for query in (*render_delete("goal", "cfo/G-9"), *render_delete("goal", "cfo/G-9")):
        engine.run(query)
    kept = [each for each in records if each.uid != "cfo/G-9"]
    gone = [
        each._replace(links=tuple(li._replace(uids=tuple(u for u in li.uids if u != "cfo/G-9")) for li in each.links))
        for each in kept
    ]
    assert engine.state() == expected(gone)


def test_the_engine_refuses_what_a_server_would():
    engine = filled([agent_record("cfo")])
    for query in (
        'put $e isa nobody, has uid "x";',
        'insert $e isa agent, has uid "cfo";',
        'match $e isa agent, has uid "cfo"; update $e has tag "x";',
        'match $e isa agent, has uid "cfo"; update $e has name 5;',
        'match $e isa agent, has uid "cfo"; put $r isa agent_owns, links (owned: $e);',
        'match $e isa agent; fetch { "x": $e.certainty };',
    ):
        with pytest.raises((AssertionError, KeyError)):
            engine.run(query)


CLASH = Conflict(*CFO.beliefs[:2], "antonym", "Rate", 0.4, "", "up against down", "ab12cd")
TOLD = [*world(), *conflict_records("cfo", [CLASH], {})]
ASKED = [
    (ask_belief_chains("cfo"), lambda g: belief_chains(g, "cfo"), 3),
    (ask_goals_behind(NOW), lambda g: goals_behind(g, NOW), 2),
    (ask_goals_behind(NOW, "tactical"), lambda g: goals_behind(g, NOW, "tactical"), 1),
    (ask_conflict_impact("cfo", "ab"), lambda g: conflict_impact(g, ["cfo/B-001", "cfo/B-002"]), 3),
    (ask_facts_elsewhere("cfo"), lambda g: facts_elsewhere(g, "cfo"), 2),
    (ask_facts_elsewhere("x", "Acme", "owns"), lambda g: facts_elsewhere(g, "x", "Acme", "owns"), 2),
    (ask_facts_elsewhere("x", limit=3), lambda g: facts_elsewhere(g, "x", limit=3), 3),
    (
        ask_facts_elsewhere("cfo", object="boats"),
        lambda g: facts_elsewhere(g, "cfo", object="boats"),
        1,
    ),
    (ask_memories_elsewhere("ceo"), lambda g: memories_elsewhere(g, "ceo"), 2),
    (
        ask_memories_elsewhere("x", ["PLAIN", "ord"]),
        lambda g: memories_elsewhere(g, "x", ["PLAIN", "ord"]),
        2,
    ),
]


@pytest.mark.parametrize("number", range(len(ASKED)))
def test_a_question_has_the_same_answer_in_the_graph_and_in_the_files(number):
    query, answer, count = ASKED[number]
    rows = answer(RecordGraph(TOLD))
    assert len(rows) == count
    asked = [{k: v.isoformat() if k.endswith("_at") and v else v for k, v in row.items()} for row in ENGINE.run(query)]
    assert plain_rows(query, asked) == rows and [list(row) for row in asked] == [list(row) for row in rows]


ENGINE = filled(TOLD)
