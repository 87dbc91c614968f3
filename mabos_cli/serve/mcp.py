"""Serves MCP: lists tools and resources, runs one command at a time, and leaves when the host does."""

import gc
import json
import os
import signal
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any, NamedTuple

from mabos_cli import __version__
from mabos_cli.commands.call import Call
from mabos_cli.core import BadValue
from mabos_cli.errors import MabosError, NotFound, Unavailable, UsageFault
from mabos_cli.serve.calling import Reply, call_tool, read_text
from mabos_cli.serve.tool import Tool, about_tool, find_command, input_schema
from mabos_cli.serve.tools_knowledge import TOOLS as KNOWLEDGE
from mabos_cli.serve.tools_memory import TOOLS as MEMORY
from mabos_cli.workspace.locate import list_agents

_ABOUT = "Memory and mind of agents, kept as plain files."
# What a host's model is told at the start, as far as the tools are there.
_ADVICE = {
    "memory_recall": "Before answering about earlier work, decisions, people or preferences, ask memory_recall.",
    "context_pack": "context_pack brings what memory knows about a whole request.",
    "memory_store_item": "Keep what should last with memory_store_item.",
    "memory_checkpoint": "Before the context is compacted or the session ends, write memory_checkpoint.",
    "memory_checkpoint_latest": "memory_checkpoint_latest says where the last session stopped.",
}
TOOLS = {tool.name: tool for tool in (*MEMORY, *KNOWLEDGE)}
FAMILIES = tuple(dict.fromkeys(tool.family for tool in TOOLS.values()))


class Page(NamedTuple):
    """A resource of every agent: the command that shows it, and the name under which its data has the text."""

    about: str
    words: tuple[str, ...]
    key: str


PAGES = {
    "INDEX.md": Page(
        "What memory holds: critical items, projects, domains.", ("context", "index", "--no-write"), "text"
    ),
    "MEMORY.md": Page("Long-term memory as it is kept for people.", ("read", "--", "MEMORY.md"), "content"),
    "checkpoint/latest": Page("The state of the last session.", ("checkpoint", "latest"), "content"),
}


class Offer(NamedTuple):
    """A tool as it is offered: its description, the schema of its arguments, and what checks them."""

    tool: Tool
    about: str
    schema: dict[str, Any]
    validator: Any


def serve(call: Call, tools: Sequence[Tool]) -> None:
    """Serves tools and resources over standard input and output until the host leaves."""
    try:
        import anyio
        import mcp.server.lowlevel  # noqa: F401
    except ImportError:
        raise Unavailable("the package mcp is not installed", "pip install 'mabos-cli[mcp]'") from None
    # A command's process lets garbage lie, for it ends soon; this one stays. What is loaded by now is never garbage.
    gc.set_threshold(5_000, 10, 10)
    offers = {tool.name: offer for tool, offer in zip(tools, _offers(call, tools), strict=True)}
    gc.freeze()
    try:
        anyio.run(_serve, call, offers)
    except* BrokenPipeError:  # the host no longer reads: there is nobody to tell
        pass


def _offers(call: Call, tools: Sequence[Tool]) -> list[Offer]:
    from jsonschema import Draft202012Validator

    assert call.program is not None, "app knows the commands"
    program = call.program()
    found = []
    for tool in tools:
        command = find_command(tool, program)
        schema = input_schema(tool, command)
        found.append(Offer(tool, about_tool(tool, command), schema, Draft202012Validator(schema)))
    return found


async def _serve(call: Call, offers: dict[str, Offer]) -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    turn = anyio.CapacityLimiter(1)  # commands block, and share the standard input that they are given
    server = _build(call, offers, partial(anyio.to_thread.run_sync, limiter=turn))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_leave_on_signal, turn)
        async with stdio_server() as (incoming, outgoing):
            mended, given = anyio.create_memory_object_stream[Any](0)
            tasks.start_soon(_relay, incoming, mended)
            await server.run(given, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _relay(incoming: Any, mended: Any) -> None:
    async with mended:
        async for message in incoming:
            await mended.send(_mend(message))


def _mend(message: Any) -> Any:
    """Returns the message; one that cannot be read for half a character is read again with a mark in its place.

    Hosts that cut text between the halves of a character send such, and the SDK would leave them without an answer.
    """
    import mcp_types as types
    from mcp.shared.message import SessionMessage
    from pydantic import ValidationError

    if not isinstance(message, ValidationError):
        return message
    try:
        text = json.dumps(json.loads(message.errors()[0]["input"]), ensure_ascii=False)
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(text, by_name=False))
    except (ValueError, TypeError, LookupError):  # it is something else that is wrong
        return message


async def _leave_on_signal(turn: Any) -> None:
    """Ends the process when it is told to, once the running command is done.

    Standard input is being read in a thread that nothing can interrupt: leaving any other way would wait for the
    host's next line.
    """
    import anyio

    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            async with turn:
                os._exit(0 if number == signal.SIGTERM else 130)


def _build(call: Call, offers: dict[str, Offer], run: Callable[..., Any]) -> Any:
    """Builds the server of the SDK, with handlers that run commands in a thread of their own."""
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    async def list_tools(ctx: Any, params: Any) -> Any:
        return types.ListToolsResult(tools=[_described(offer) for offer in offers.values()])

    async def use_tool(ctx: Any, params: Any) -> Any:
        offer = offers.get(params.name)
        if offer is None:
            known = "it is left out here" if params.name in TOOLS else "see the list of tools"
            answer = Reply(None, f"not_found: no tool {params.name[:60]!r}; {known}")
        else:
            answer = await run(call_tool, call, offer.tool, offer.validator, params.arguments or {})
        return types.CallToolResult(
            content=[types.TextContent(text=answer.text)], structured_content=answer.data, is_error=answer.is_error
        )

    async def list_resources(ctx: Any, params: Any) -> Any:
        names = [call.agent] if call.agent else await run(lambda: list_agents(call.open_workspace()))
        return types.ListResourcesResult(resources=[_resource(name, page) for name in names for page in PAGES])

    async def list_templates(ctx: Any, params: Any) -> Any:
        found = [types.ResourceTemplate(**_page(page), uri_template=f"mabos://{{agent}}/{page}") for page in PAGES]
        return types.ListResourceTemplatesResult(resource_templates=found)

    async def read_resource(ctx: Any, params: Any) -> Any:
        uri = str(params.uri)
        try:
            text = await run(_read_page, call, uri)
        except (MabosError, BadValue) as error:
            raise MCPError(types.INVALID_PARAMS, f"{error.message}; {error.hint}".rstrip("; "), {"uri": uri}) from None
        content = types.TextResourceContents(uri=uri, mime_type="text/markdown", text=text)
        return types.ReadResourceResult(contents=[content])

    return Server(
        "mabos",
        version=__version__,
        instructions=" ".join([_ABOUT, *(advice for name, advice in _ADVICE.items() if name in offers)]),
        on_list_tools=list_tools,
        on_call_tool=use_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )


def _described(offer: Offer) -> Any:
    import mcp_types as types

    effect = offer.tool.effect
    hints = types.ToolAnnotations(
        read_only_hint=effect.reads,
        idempotent_hint=effect.repeats,
        destructive_hint=effect.removes,
        open_world_hint=False,
    )
    return types.Tool(
        name=offer.tool.name,
        description=offer.about,
        input_schema=offer.schema,
        output_schema={"type": "object"},
        annotations=hints,
    )


def _page(page: str) -> dict[str, Any]:
    return {"name": page, "description": PAGES[page].about, "mime_type": "text/markdown"}


def _resource(agent: str, page: str) -> Any:
    import mcp_types as types

    return types.Resource(**_page(page) | {"name": f"{agent}: {page}"}, uri=f"mabos://{agent}/{page}")


def _read_page(call: Call, uri: str) -> str:
    """Reads the text of a resource.

    Some hosts write the agent, which stands where a server's name would, in small letters.
    """
    agent, _, page = uri.removeprefix("mabos://").partition("/")
    if not uri.startswith("mabos://") or page not in PAGES:
        raise NotFound(f"no resource {uri[:100]!r}", f"mabos://AGENT/ with {', '.join(PAGES)}")
    agents = list_agents(call.open_workspace())
    meant = [name for name in agents if name == agent] or [n for n in agents if n.casefold() == agent.casefold()]
    return read_text(call, meant[0] if meant else agent, list(PAGES[page].words), PAGES[page].key)


def choose_tools(wanted: Sequence[str], *, read_only: bool) -> tuple[Tool, ...]:
    """Returns the tools of some families, or some by name; all when none is named. Read-only leaves out what writes."""
    for word in wanted:
        if word not in FAMILIES and word not in TOOLS:
            close = get_close_matches(word, [*FAMILIES, *TOOLS], n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise UsageFault(f"no tools {word[:60]!r}", f"{hint}families: {', '.join(FAMILIES)}")
    found = [tool for tool in TOOLS.values() if not wanted or {tool.family, tool.name} & {*wanted}]
    return tuple(tool for tool in found if tool.effect.reads or not read_only)
