"""`mabos mcp` as hosts meet it: the official client over real pipes lists and calls every tool, rightly and wrongly."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands.desk import Desk
from mcp import MCPError

from mabos_cli.serve.mcp import DAILY, TOOLS
from serve.mcp_examples import EXAMPLES, M, furnish
from serve.seed_tools import SEED_TOOLS
from serve.speaker import Speaker, speaking


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A workspace with agent main."""
    return Desk(tmp_path_factory.mktemp("mcp") / "ws")


@pytest.fixture(scope="module")
def root(desk: Desk) -> Path:
    return desk.root


@pytest.fixture(scope="module")
def speaker(root: Path) -> Iterator[Speaker]:
    """One server for most tests, on a workspace that has something of everything. It answers programs."""
    with speaking(root, "--tools", "all", "--structured") as found:
        furnish(found)
        yield found


@pytest.fixture(scope="module")
def daily(root: Path, speaker: Speaker) -> Iterator[Speaker]:
    """A server as a host starts it."""
    with speaking(root) as found:
        yield found


@pytest.fixture(scope="module")
def listed(speaker: Speaker) -> dict[str, Any]:
    """The tools by name, as the client sees them."""
    return {tool.name: tool for tool in speaker.portal.call(speaker.client.list_tools).tools}


def test_every_tool_has_an_example_and_is_listed(listed: dict[str, Any]) -> None:
    assert [*listed] == [*TOOLS]
    assert {*EXAMPLES} == {*TOOLS}


def test_every_tool_that_hosts_were_told_of_is_there_with_its_parameters(listed: dict[str, Any]) -> None:
    """Each answers too: test_a_call calls every tool."""
    wanted = {(name, each) for name, parameters in SEED_TOOLS.items() for each in (*parameters, "agent_id")}
    assert wanted - {(name, each) for name, tool in listed.items() for each in tool.input_schema["properties"]} == set()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_call(daily: Speaker, name: str) -> None:
    """Every tool answers, listed or not, in text and only once."""
    arguments, said = EXAMPLES[name]
    got = daily.call(name, **arguments)
    assert got.is_error == said.startswith("unavailable"), got.text
    assert said and said in got.text
    assert got.data is None


def test_a_dozen_tools_are_listed_in_few_tokens(daily: Speaker) -> None:
    tools = daily.portal.call(daily.client.list_tools).tools
    assert tuple(tool.name for tool in tools) == DAILY
    assert len(json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in tools])) < 3000 * 4
    assert "agent_id" not in tools[0].input_schema["properties"]


def test_recall_answers_as_seed_003_says(daily: Speaker) -> None:
    answer = json.loads(daily.call("memory_recall", query="seat", token_budget=40).text)
    assert {*answer} - {"warnings"} == {"entries", "token_count", "budget_remaining", "total_entries_matched"}
    assert answer["token_count"] + answer["budget_remaining"] == 40 and answer["total_entries_matched"] >= 1
    assert [*answer["entries"][0]][:7] == ["id", "category", "content", "priority", "score", "stored_at", "tags"]
    whole = json.loads(daily.call("memory_recall", query="seat").text)
    assert whole["token_count"] + whole["budget_remaining"] == 3000


def test_a_budget_of_nothing_is_the_usual_one(daily: Speaker) -> None:
    found = json.loads(daily.call("memory_recall", query="seats", token_budget=0).text)
    assert found["budget_remaining"] == 3000 - found["token_count"]
    assert daily.call("memory_get").text == "usage: neither id nor path given; give an id, or the path of a memory file"


def test_store_get_and_write_take_what_the_seeds_pass(daily: Speaker, root: Path) -> None:
    stored = json.loads(daily.call("memory_store", category="person", content="Ines runs the berth office").text)
    assert stored["category"] == "person" and stored["stored"] and not stored["deduplicated"] and stored["token_cost"]
    (root / "agents/main/memory/quay.md").write_text("one\ntwo\nthree\nfour\n")
    assert daily.call("memory_get", path="memory/quay.md", **{"from": 2, "lines": 2}).text == "two\nthree"
    assert daily.call("memory_get", path="memory/quay.md").text == "one\ntwo\nthree\nfour"
    wrote = daily.call("memory_write", content="Repaint the bollards in May", category="action").text
    assert "plan" in daily.call("memory_get", id=wrote.split()[1]).text, wrote
    assert not daily.call("memory_recall", query="berth", recursive_depth=9).is_error  # the command clamps it


def test_prompts(daily: Speaker) -> None:
    names = [prompt.name for prompt in daily.portal.call(daily.client.list_prompts).prompts]
    assert names == ["remember", "what_do_you_know_about"]
    got = daily.portal.call(daily.client.get_prompt, names[1], {"topic": "seats"})
    assert (
        "What do you know about seats?" in got.messages[0].content.text and "per seat" in got.messages[0].content.text
    )
    with pytest.raises(MCPError):
        daily.portal.call(daily.client.get_prompt, "remember", {})


def _wrong(schema: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Arguments that do not fit a schema, one of each kind, with what must be said about it."""
    parts, needed = schema["properties"], schema.get("required", ())
    fine = {name: _value(parts[name]) for name in needed}
    yield fine | {"agent_id": "nobody"}, "not_found: no agent 'nobody'"
    yield fine | {"colour": "red"}, "usage: colour: no such parameter"
    for name in needed[:1]:
        yield {n: v for n, v in fine.items() if n != name}, f"usage: {name}: missing"
    last = [*parts][-1]
    yield fine | {last: {"a": 1} if parts[last]["type"] != "object" else 3}, f"usage: {last}: "
    for name in [name for name in parts if "enum" in parts[name]][:1]:
        yield fine | {name: "mauve"}, f"usage: {name}: 'mauve' is not one of"
    for name in [name for name in parts if "maximum" in parts[name]][:1]:
        if name not in _CLAMPED:
            yield fine | {name: parts[name]["maximum"] + 1}, "usage: "


_CLAMPED = ("recursive_depth", "min_certainty")


def _value(part: dict[str, Any]) -> Any:
    fitting = {"string": "x", "integer": 1, "number": 0.5, "boolean": True, "array": [], "object": {}}
    return part["enum"][0] if "enum" in part else fitting[part["type"]]


@pytest.mark.parametrize("name", TOOLS)
def test_wrong_arguments_are_an_error_of_the_tool(speaker: Speaker, listed: dict[str, Any], name: str) -> None:
    for arguments, said in _wrong(listed[name].input_schema):
        got = speaker.call(name, **arguments)
        assert got.is_error and got.data is None
        assert got.text.startswith(said), (arguments, got.text)
        assert "\n" not in got.text


def test_the_command_refuses_what_the_schema_cannot(speaker: Speaker) -> None:
    got = speaker.call("fact_assert", subject="", predicate="p", object="o", confidence=1, source="x")
    assert got.is_error and got.text.startswith("usage: ")
    assert speaker.call("memory_get", id="M-1-beef").text.startswith("not_found: no item 'M-1-beef'")
    assert speaker.call("memory_read", file_path="../../x").text.startswith("usage: ")
    assert speaker.call("memory_read", file_path="a\0b").text.startswith("usage: ")
    assert speaker.call("memory_read", file_path="a" * 5000).text.startswith("invalid_file: ")
    assert speaker.call("knowledge_explain", subject="acme", predicate="p").text.startswith(
        "usage: give a question, or"
    )
    got = speaker.call("memory_write", content="the key is AKIAIOSFODNN7EXAMPLQ")
    assert got.is_error and "aws" in got.text and "AKIA" not in got.text
    assert speaker.do("memory_write", content="key AKIAIOSFODNN7EXAMPLQ", redact=True)["warnings"]


def test_a_tool_that_is_not_there(speaker: Speaker) -> None:
    assert speaker.call("memory_dream") == (
        True,
        "not_found: no tool 'memory_dream'; see the list of tools",
        None,
    )


@pytest.mark.parametrize(
    "text", ["-", "--", "--json", "-a\nb", "--type=fact", "@x", "=", " - ", "é\u202e\t漢", "$(x) `y` %s"]
)
def test_text_arrives_as_it_is(speaker: Speaker, text: str) -> None:
    stored = speaker.do(
        "memory_store_item", content=text, type="event", importance=0.1, context=text, store="long_term"
    )
    item = speaker.do("memory_get", id=stored["id"])["item"]
    assert item["content"] == text
    assert item["context"] == text


def test_null_is_as_good_as_nothing(speaker: Speaker) -> None:
    assert speaker.do("memory_recall", query="seat", type=None, agent_id=None)["entries"]


def test_whole_numbers_may_have_a_point(speaker: Speaker) -> None:
    assert len(speaker.do("memory_recall", query="seat", limit=1.0)["entries"]) == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("memory_timeline", {"query": M[0]}, ["timeline", M[0]]),
        (
            "fact_query",
            {"subject": "acme", "include_derived": False},
            ["fact", "query", "acme", "--no-derived"],
        ),
        ("rule_show", {"rule_id": "R-001"}, ["rule", "show", "R-001"]),
        (
            "infer_backward",
            {"subject": "acme", "predicate": "isTaxable", "object": "true"},
            "infer backward acme isTaxable true".split(),
        ),
        (
            "memory_hierarchy_search",
            {"query": "seat", "level": "daily"},
            "hierarchy search seat --level daily".split(),
        ),
        ("ontology_show", {"name": "Churn"}, ["ontology", "show", "Churn"]),
        ("cbr_retrieve", {"beliefs": ["B-001"]}, ["case", "retrieve", "--belief", "B-001"]),
    ],
)
def test_the_data_is_that_of_the_command(
    speaker: Speaker, desk: Desk, still_world: None, tool: str, arguments: dict[str, Any], words: list[str]
) -> None:
    printed = desk.run("--json", *words)
    got = speaker.call(tool, **arguments)
    assert got.data == printed.data | {"warnings": printed.warnings} and not got.text


def test_hints_tell_who_writes(listed: dict[str, Any]) -> None:
    hints = {name: tool.annotations for name, tool in listed.items()}
    assert hints["memory_recall"].read_only_hint and hints["memory_recall"].destructive_hint is None
    assert not hints["memory_store"].read_only_hint and not hints["memory_store"].idempotent_hint
    assert hints["fact_assert"].idempotent_hint and not hints["fact_assert"].destructive_hint
    assert {name for name, hint in hints.items() if hint.destructive_hint} == {
        "memory_forget",
        "fact_retract",
        "rule_delete",
    }
    assert not any(hint.open_world_hint for hint in hints.values())


def test_tools_that_only_read_change_no_file(speaker: Speaker, root: Path) -> None:
    def files() -> dict[str, bytes]:
        found = (path for path in root.rglob("*") if path.is_file() and ".mabos" not in path.parts)
        return {str(path): path.read_bytes() for path in found}

    before = files()
    for name, (arguments, _) in EXAMPLES.items():
        if TOOLS[name].effect.reads:
            speaker.call(name, **arguments)
    assert files() == before


def test_resources(speaker: Speaker, root: Path) -> None:
    found = speaker.portal.call(speaker.client.list_resources).resources
    assert [each.uri for each in found] == [
        f"mabos://main/{page}" for page in ("INDEX.md", "observations.md", "MEMORY.md", "checkpoint/latest")
    ]

    def read(uri: str) -> str:
        return speaker.portal.call(speaker.client.read_resource, uri).contents[0].text

    assert "# Memory index — main" in read("mabos://main/INDEX.md")
    assert read("mabos://main/observations.md").startswith("# Observations — main")
    assert read("mabos://main/MEMORY.md") + "\n" == (root / "agents/main/MEMORY.md").read_text()
    assert read("mabos://MAIN/checkpoint/latest").startswith("# Session Checkpoint")
    for uri in (
        "mabos://main/agent.json",
        "mabos://nobody/INDEX.md",
        "file:///etc/passwd",
        "mabos://../INDEX.md",
    ):
        with pytest.raises(MCPError):
            read(uri)


@pytest.fixture(scope="module")
def small(root: Path, speaker: Speaker) -> Iterator[Speaker]:
    """A server that offers a few tools, and says little."""
    some = (
        "--structured",
        "--tools",
        "capture,memory_get,memory_recall,memory_read,memory_store_item",
        "--agent",
        "main",
    )
    with speaking(root, *some, MABOS_MCP_MAX_TOKENS="500") as found:
        yield found


def test_a_set_of_tools(small: Speaker) -> None:
    names = {tool.name for tool in small.portal.call(small.client.list_tools).tools}
    assert names == {
        "memory_capture",
        "memory_harvest",
        *(f"memory_{n}" for n in ("get", "recall", "read", "store_item")),
    }
    assert small.call("fact_assert").text == "not_found: no tool 'fact_assert'; this server does not offer it"
    assert "memory_recall" in small.client.instructions and "checkpoint" not in small.client.instructions


def test_a_long_list_is_cut_at_its_end(speaker: Speaker, small: Speaker) -> None:
    got, full = small.call("memory_recall", limit=0, format="detailed"), speaker.do("memory_recall", limit=0)
    assert len(json.dumps(got.data, ensure_ascii=False)) <= 2000 and len(got.text) <= 2000
    kept = len(got.data["entries"])
    assert kept and [found["id"] for found in got.data["entries"]] == [found["id"] for found in full["entries"][:kept]]
    assert got.data["truncated"] == {"entries": len(full["entries"]) - kept}
    assert "ask for less" in got.data["warnings"][0]


def test_a_long_text_is_cut_at_its_end(root: Path, small: Speaker) -> None:
    lines = "".join(f"line {number} of a long file\n" for number in range(2000))
    (root / "agents/main/memory/long.md").write_text(lines)
    got = small.call("memory_read", file_path="memory/long.md")
    assert lines.startswith(got.data["content"]) and got.data["truncated"]["content"] > 40_000
    uri = "mabos://main/MEMORY.md"
    (root / "agents/main/MEMORY.md").write_text(lines)
    text = small.portal.call(small.client.read_resource, uri).contents[0].text
    assert len(text) <= 2000 and text.startswith("line 0 of") and text.endswith("more did not fit)")


def test_two_servers_on_one_workspace(speaker: Speaker, small: Speaker) -> None:
    """What one stores the other finds, also when both write at once."""
    calls = [
        each.portal.start_task_soon(
            each.client.call_tool,
            "memory_store_item",
            {
                "content": f"{who} saw heron {number}",
                "type": "fact",
                "importance": 0.9,
                "store": "long_term",
            },
        )
        for number in range(10)
        for who, each in (("one", speaker), ("two", small))
    ]
    assert not any(call.result().is_error for call in calls)
    ids = {call.result().structured_content["id"] for call in calls}
    for each in (speaker, small):
        assert not any(each.call("memory_get", id=own).is_error for own in ids)
