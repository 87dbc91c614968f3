"""The table of tools against the commands behind it: schemas fit, and what is given arrives as it was given."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.app import find_commands
from mabos_cli.commands.parse import read_parameters
from mabos_cli.errors import UsageFault
from mabos_cli.serve.mcp import FAMILIES, TOOLS, choose_tools
from mabos_cli.serve.tool import (
    EFFECTS,
    Line,
    Param,
    Tool,
    about_tool,
    either,
    find_function,
    input_schema,
    line_of,
    unless,
)
from mabos_cli.typer_app import load_command

# What the documents that this program comes from call them, with what they require besides the agent.
NAMED = {
    "memory_store_item": {"content", "type"},
    "memory_store": {"category", "content"},
    "memory_write": {"content"},
    "memory_recall": set(),
    "memory_search": {"query"},
    "memory_shared_recall": {"query"},
    "memory_get": set(),
    "memory_read": {"file_path"},
    "memory_update": {"memory_id"},
    "memory_reinforce": {"memory_id"},
    "memory_consolidate": set(),
    "memory_status": set(),
    "memory_checkpoint": {"context"},
    "memory_build_hierarchy": set(),
    "memory_hierarchy_search": {"query", "level"},
    "memory_audit": set(),
    "memory_index_status": set(),
    "fact_assert": {"subject", "predicate", "object", "confidence", "source"},
    "fact_retract": set(),
    "fact_query": set(),
    "fact_explain": {"fact_id"},
    "rule_create": set(),
    "rule_list": set(),
    "rule_toggle": {"rule_id", "enabled"},
    "constraint_check": set(),
    "policy_eval": set(),
    "infer_forward": set(),
    "infer_backward": {"subject", "predicate", "object"},
    "infer_abductive": {"subject", "predicate", "object"},
    "knowledge_explain": set(),
    "cbr_retrieve": set(),
    "cbr_store": {"situation"},
    "ontology_propose_concept": {"label", "domain", "rationale"},
    "ontology_validate_proposal": set(),
    "ontology_merge_approved": set(),
    "ontology_list_proposals": set(),
    "ontology_scaffold_domain": {"template"},
    "reason": {"problem"},
    "typedb_status": set(),
    "typedb_sync_schema": set(),
    "typedb_query": {"query"},
    "typedb_sync_agent_data": set(),
    "goal_seed_business": set(),
}


def schema_of(name: str) -> dict[str, Any]:
    return input_schema(TOOLS[name], find_function(TOOLS[name], find_commands)[0])


@pytest.mark.parametrize("name", NAMED)
def test_tools_have_the_names_and_needs_that_are_known(name: str) -> None:
    assert {*schema_of(name).get("required", ())} == NAMED[name]


@pytest.mark.parametrize("name", TOOLS)
def test_descriptions_speak_of_no_command_line(name: str) -> None:
    tool = TOOLS[name]
    help = find_function(tool, find_commands)[1]
    said = [part["description"] for part in schema_of(name)["properties"].values()]
    for text in (about_tool(tool, help), *said):
        assert text[-1] in ".…" and not re.search(r"--|standard input|repeat|Example|\bmabos ", text), text


def test_what_an_option_takes_is_what_the_command_says() -> None:
    parts = schema_of("fact_query")["properties"]
    assert parts["limit"] == {
        "type": "integer",
        "default": 50,
        "minimum": 0,
        "description": "Show at most this many; 0 for all.",
    }
    assert parts["min_confidence"]["type"] == "number" and parts["include_derived"]["type"] == "boolean"
    assert schema_of("memory_hierarchy_search")["properties"]["limit"]["maximum"] == 1000
    assert schema_of("belief_add")["properties"]["supports"]["type"] == "array"


def test_words_of_a_line() -> None:
    tool = Tool(
        "x",
        "x",
        ("do", "it"),
        EFFECTS["reads"],
        (
            Param("first", blank="*"),
            Param("second"),
            Param("tags", "--tag"),
            Param("loud", "--loud"),
            Param("sure", "--sure", words=either("--yes", "--no")),
            Param("brief", "--brief", words=unless("--long")),
            Param("rows", "--rows", is_fed=True),
        ),
    )
    assert line_of(tool, {}) == Line(["do", "it", "--", "*"], None)
    given_all = {
        "first": "-a",
        "second": 2.0,
        "tags": ["x", "-y"],
        "loud": True,
        "sure": False,
        "brief": False,
        "rows": [{"é": 1}],
    }
    words = ["do", "it", "--tag=x", "--tag=-y", "--loud", "--no", "--long", "--rows=-", "--", "-a", "2"]
    assert line_of(tool, given_all) == Line(words, '[{"é": 1}]')
    assert line_of(tool, {"loud": False, "brief": True, "tags": []}) == Line(["do", "it", "--", "*"], None)


@pytest.mark.parametrize(
    ("first", "last", "place"),
    [(None, None, "a.md"), (3, None, "a.md:3-"), (None, 9, "a.md:1-9"), (3, 9.0, "a.md:3-9")],
)
def test_lines_of_a_file(first: int | None, last: float | None, place: str) -> None:
    given_lines = {"file_path": "a.md", "line_start": first, "line_end": last}
    assert line_of(TOOLS["memory_read"], given_lines).words == ["read", "--", place]


@settings(max_examples=60, deadline=None)
@given(st.text(), st.text(), st.lists(st.text(), max_size=3))
def test_the_command_gets_the_text_that_was_given(content: str, context: str, tags: list[str]) -> None:
    tool = TOOLS["memory_store_item"]
    line = line_of(tool, {"content": content, "context": context, "tags": tags, "if_new": True})
    found = load_command("store").make_context("store", line.words[1:]).params
    assert (found["text"], found["context"], [*(found["tag"] or ())], found["if_new"]) == (
        content,
        context,
        tags,
        True,
    )


def test_families_and_names_choose() -> None:
    assert choose_tools(["all"], read_only=False) == tuple(TOOLS.values())
    assert len(choose_tools([], read_only=False)) == 12
    assert [tool.name for tool in choose_tools(["capture", "fact_lint"], read_only=False)] == [
        "memory_capture",
        "memory_harvest",
        "fact_lint",
    ]
    assert choose_tools(["capture"], read_only=True) == ()
    with pytest.raises(UsageFault) as refused:
        choose_tools(["memry"], read_only=False)
    assert "did you mean memory?" in refused.value.hint and FAMILIES[-1] in refused.value.hint


# What only a person at a terminal needs, or may do: exit codes, other programs, vouching; what others share has tools of its own.
AT_A_TERMINAL = {"--check", "--shared", "--llm", "--trust", "--by", "--review", "--help"}


@pytest.mark.parametrize("name", [n for n, t in TOOLS.items() if t.family in ("fact", "rule", "infer", "graph")])
def test_tools_of_knowledge_take_all_that_their_commands_take(name: str) -> None:
    tool = TOOLS[name]
    declared = read_parameters(find_function(tool, find_commands)[0])
    options = [
        [name for names in each.spellings for name in names.split("/")] for each in declared if not each.is_argument
    ]
    taken = {param.option for param in tool.params} | AT_A_TERMINAL
    assert [names for names in options if taken.isdisjoint(names)] == []
