"""All TypeQL that the program emits, read by the official parser. Skipped, and said so, where no Python has it."""

import json
import os
import subprocess
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.ontology import Ontology
from mabos_cli.core.mirror.fact_records import fact_records
from mabos_cli.core.mirror.schema import (
    Schema,
    mirror_schema,
    ontology_schema,
    whole_schema,
)
from mabos_cli.formats.knowledge.jsonld_nodes import read_ontology
from mabos_cli.formats.mirror.questions import (
    ask_belief_chains,
    ask_conflict_impact,
    ask_facts_elsewhere,
    ask_goals_behind,
    ask_memories_elsewhere,
    ask_provenance,
    ask_statements,
    ask_uids,
)
from mabos_cli.formats.mirror.typeql import (
    check_read_only,
    literal,
    missing_types,
    render_define,
    render_delete,
    render_links,
    render_new,
    render_upsert,
)
from mabos_cli.workspace.knowledge.ontologies import load_shipped, shipped_names
from typeql.samples import NASTY, fuzzed, nasty_records, world

ROOT = Path(__file__).parent.parent.parent
PLACES = (str(ROOT / ".venv-typeql" / "bin" / "python"), os.environ.get("MABOS_TYPEQL_PYTHON", ""))


@cache
def parser() -> str:
    """A Python with the official parser, or the reason why there is none."""
    for place in filter(None, PLACES):
        if Path(place).exists():
            asked = subprocess.run([place, "-c", "import type_bridge_core"], capture_output=True, check=False)
            if asked.returncode == 0:
                return place
    return ""


def judge(queries: list[str], literals: list[tuple[str, str]] = ()) -> dict[str, Any]:
    if not parser():
        pytest.skip("no Python 3.12 with type-bridge-core: make one with `make typeql`, or set MABOS_TYPEQL_PYTHON")
    done = subprocess.run(
        [parser(), str(Path(__file__).with_name("checker.py"))],
        input=json.dumps({"queries": queries, "literals": literals}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def shipped_ontology() -> Ontology:
    return read_ontology([load_shipped(name) for name in shipped_names()])


def shipped() -> Schema:
    return ontology_schema(shipped_ontology(), mirror_schema().names())


def schema_queries() -> list[str]:
    """Defines of the base, of the ontologies, of both, and of what a server lacks."""
    whole = whole_schema(shipped_ontology())
    lacking = missing_types(whole, render_define(mirror_schema()))
    return [render_define(each) for each in (mirror_schema(), shipped(), whole, lacking)]


def questions() -> list[str]:
    asked = [
        ask_memories_elsewhere("cfo"),
        ask_statements("buys"),
        ask_belief_chains("cfo"),
        ask_conflict_impact("c.fo", "ab12"),
    ]
    asked += [ask_goals_behind(datetime(2026, 2, 24, tzinfo=UTC), level) for level in ("", "strategic")]
    for text in NASTY:
        asked += [
            ask_uids("goal", text),
            ask_provenance(text),
            ask_facts_elsewhere(text, text, text, text, 5),
            ask_memories_elsewhere(text, [text, "b"], 5),
        ]
    return asked


def test_every_query_is_accepted():
    records = nasty_records() + world()
    assert {record.type for record in records} == {
        *(
            "agent",
            "belief",
            "desire",
            "goal",
            "intention",
            "plan",
            "plan_step",
            "spo_fact",
            "knowledge_rule",
        ),
        *("cbr_case", "memory_item", "reasoning_method", "reasoning_result"),
    }
    facts = [
        Fact("F-1", "acme", "type", "Customer"),
        Fact("F-2", "acme", "buys", "lamp"),
        Fact("F-3", "acme", "hasRevenue", "$5.50"),
    ]
    typed = [*fact_records("cfo", facts, shipped_ontology())]
    assert [record.label for record in typed if record.label] == ["customer", "offering"]
    writes = [query for each in (*records, *typed) for query in (*render_upsert(each), *render_links(each))]
    writes += [render_new(records), render_new(typed)]
    writes += [query for each in mirror_schema().entities for query in render_delete(each.name, NASTY[1])]
    queries = [*schema_queries(), *writes, *map(check_read_only, questions())]
    assert len(queries) > 500
    assert judge(queries)["refused"] == []


def test_the_parser_is_asked_in_earnest():
    # Words of the language as labels pass the parser, and are refused later by a server: labels of types are chosen and checked so that none is one.
    broken = [
        "match $x isa;",
        "define entity a owns;",
        'match $x has name "a" b";',
        "match $x isa a fetch",
        "",
    ]
    assert [query for query, _ in judge(broken)["refused"]] == broken


def test_2000_odd_texts_come_back_from_the_parser():
    texts = [*NASTY, *fuzzed(2000)]
    assert judge([], [(text.replace("\0", "\ufffd"), literal(text)) for text in texts])["wrong"] == []
