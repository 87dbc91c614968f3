"""Serves MCP over standard input and output: tools, resources and prompts, one command at a time, until the host leaves.

The protocol is implemented here, without its SDK: importing that takes ten times as long as a command, and a host that starts a
session for one request does not wait. Both revisions are supported: the handshake of 2024 and 2025, and the requests of 2026-07-28
that carry their version; see docs/agent-author.md.
"""

import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from math import isfinite
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, NamedTuple, TextIO

from mabos_cli import __version__
from mabos_cli.commands.call import Call
from mabos_cli.core import BadValue
from mabos_cli.errors import MabosError, NotFound, UsageFault
from mabos_cli.serve.calling import Reply, call_tool, read_text
from mabos_cli.serve.tool import Tool, about_tool, find_function, input_schema
from mabos_cli.serve.tools import load_tools
from mabos_cli.workspace.locate import list_agents

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
_KEY = "io.modelcontextprotocol/"
_ABOUT = "Memory and mind of agents, kept as plain files."
# Advice for a host's model, as far as the tools are there.
_ADVICE = {
    "memory_recall": "Before answering about earlier work, decisions, people or preferences, call memory_recall.",
    "context_pack": "context_pack returns what memory knows about a whole request.",
    "memory_store": "Store what should last with memory_store.",
    "memory_checkpoint": "Before the context is compacted or the session ends, write memory_checkpoint.",
    "memory_checkpoint_latest": "memory_checkpoint_latest says where the last session stopped.",
}
TOOLS = load_tools("tools.txt")
FAMILIES = tuple(dict.fromkeys(tool.family for tool in TOOLS.values()))
# Listed by default: a host pays for every listed tool in every request. The others can be called all the same.
DAILY = tuple(
    "memory_recall memory_store memory_get memory_update memory_forget memory_timeline memory_checkpoint "
    "memory_checkpoint_latest memory_status context_pack fact_assert fact_query".split()
)
_IDS = (str, int, float)  # what the id of a request may be
_INVALID, _UNKNOWN, _INTERNAL, _VERSION = -32602, -32601, -32603, -32022
_CACHEABLE = (
    "server/discover",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
)


class Page(NamedTuple):
    """A resource of every agent: the command that shows it, and the name under which its data has the text."""

    about: str
    words: tuple[str, ...]
    key: str


PAGES = {
    "INDEX.md": Page(
        "What memory holds: critical items, projects, domains.", ("context", "index", "--no-write"), "text"
    ),
    "observations.md": Page("Memories of the last days.", ("context", "observations", "--no-write"), "text"),
    "MEMORY.md": Page("Long-term memory, curated for people.", ("read", "--", "MEMORY.md"), "content"),
    "checkpoint/latest": Page("The state of the last session.", ("checkpoint", "latest"), "content"),
}


class Prompt(NamedTuple):
    """A prompt that a person may pick in a host: its one argument, and the request that it becomes."""

    about: str
    argument: str
    text: str
    packs: bool = False  # whether what memory knows about the argument goes with it


PROMPTS = {
    "remember": Prompt(
        "Keep something in memory.",
        "what",
        "Store this in memory with memory_store, in one or two sentences that can be understood without this conversation, with "
        "the category that fits. Then say what was stored.\n\n{}",
    ),
    "what_do_you_know_about": Prompt(
        "Tell what memory knows about something.",
        "topic",
        "What do you know about {}? Answer from memory, which holds what follows; use memory_recall for more.",
        packs=True,
    ),
}


class Refusal(Exception):
    """Raised for a request that is answered with an error of the protocol."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({"data": data} if data is not None else {})


class Request(NamedTuple):
    """A request of the host, and whether it belongs to the revision whose requests carry their version."""

    id: str | int | float
    method: str
    params: dict[str, Any]
    is_modern: bool


def serve(call: Call, tools: Sequence[Tool], *, others: Sequence[Tool] = (), structured: bool = False) -> None:
    """Serves tools and resources over standard input and output until the host leaves. `others` can be called, but are not listed.

    An answer is either text or structured content: a host that gives both to its model would pay twice."""
    # Commands hardly collect garbage, because they end soon; this process stays.
    gc.set_threshold(5_000, 10, 10)
    out, sys.stdout = sys.stdout, sys.stderr  # only the protocol is written to standard output
    server = _Server(call, tools, others, out, structured)
    for number, code in ((signal.SIGTERM, 0), (signal.SIGINT, 130)):
        signal.signal(number, lambda *_, code=code: server.leave(code))
    Thread(target=server.read, args=(sys.stdin.buffer,), daemon=True).start()
    server.run()


class _Server:
    """Answers the messages of one host. A thread reads them, so that pings are answered while a command runs; commands run one
    after the other in the main thread."""

    def __init__(
        self, call: Call, tools: Sequence[Tool], others: Sequence[Tool], out: TextIO, structured: bool
    ) -> None:
        self._call, self._out, self._is_structured = call, out, structured
        self._listed = {tool.name: tool for tool in tools}
        self._known = {tool.name: tool for tool in (*tools, *others)}
        self._waiting: SimpleQueue[Request | None] = SimpleQueue()
        self._cancelled: set[Any] = set()
        self._writing = Lock()
        # Requests that were queued, counted by the thread that reads, and those that were answered, counted by the other.
        self._queued, self._answered, self._exit_code = 0, 0, -1
        advice = (text for name, text in _ADVICE.items() if name in self._listed)
        self._hello = {
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": "mabos", "version": __version__},
            "instructions": " ".join([_ABOUT, *advice]),
        }
        self._at_once: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "initialize": self._initialize,
            "ping": lambda params: {},
            "server/discover": lambda params: _without(self._hello, "serverInfo") | {"supportedVersions": [MODERN]},
        }
        self._in_turn: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
            "resources/list": self._list_resources,
            "resources/templates/list": lambda params: {
                "resourceTemplates": [_page(page) | {"uriTemplate": f"mabos://{{agent}}/{page}"} for page in PAGES]
            },
            "resources/read": self._read_resource,
            "prompts/list": lambda params: {"prompts": [_prompt(name) for name in PROMPTS]},
            "prompts/get": self._get_prompt,
        }

    def read(self, lines: Any) -> None:
        """Reads messages until the host leaves. A malformed one gets no answer, because it names no request."""
        try:
            for line in lines:
                for message in _parse(line):
                    self._hear(message)
        finally:  # no further requests come: run() may end
            self._waiting.put(None)

    def _hear(self, message: dict[str, Any]) -> None:
        if message.get("method") == "notifications/cancelled":
            params = message.get("params")
            cancelled = params.get("requestId") if isinstance(params, dict) else None
            self._cancelled |= {cancelled} if isinstance(cancelled, _IDS) else set()
        elif isinstance(message.get("method"), str) and isinstance(message.get("id"), _IDS):
            self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        """Answers what needs no command, and queues the rest."""
        params = message.get("params") or {}
        version = None
        if isinstance(params, dict) and isinstance(params.get("_meta"), dict):
            version = params["_meta"].get(_KEY + "protocolVersion")
        request = Request(message["id"], message["method"], params, version is not None)
        if not isinstance(params, dict):
            self._refuse(request, Refusal(_INVALID, "params: expected an object"))
        elif version not in (None, MODERN):
            versions = {"supported": [MODERN], "requested": version}
            self._refuse(request, Refusal(_VERSION, "unsupported protocol version", versions))
        elif answer := self._at_once.get(request.method):
            self._reply(request, answer(params))
        elif request.method in self._in_turn:
            self._queued += 1
            self._waiting.put(request)
        else:
            self._refuse(request, Refusal(_UNKNOWN, "method not found", request.method))

    def run(self) -> None:
        """Answers requests in order until the host leaves."""
        while request := self._waiting.get():
            try:
                if request.id in self._cancelled:
                    self._cancelled.discard(request.id)
                else:
                    self._reply(request, self._in_turn[request.method](request.params))
            except Refusal as refusal:
                self._refuse(request, refusal)
            except (MabosError, BadValue) as error:
                message = f"{error.message}; {error.hint}".rstrip("; ")
                self._refuse(request, Refusal(_INVALID, message, {"uri": request.params.get("uri")}))
            self._answered += 1
            if self._exit_code >= 0:
                os._exit(self._exit_code)

    def leave(self, code: int) -> None:
        """Ends the process, once the running command is done. The thread that reads cannot be interrupted."""
        self._exit_code = code
        if self._queued == self._answered:
            os._exit(code)

    def _reply(self, request: Request, result: dict[str, Any]) -> None:
        if request.is_modern:
            result |= {"resultType": "complete", "_meta": {_KEY + "serverInfo": self._hello["serverInfo"]}}
            result |= {"ttlMs": 0, "cacheScope": "private"} if request.method in _CACHEABLE else {}
        self._write({"jsonrpc": "2.0", "id": request.id, "result": result})

    def _refuse(self, request: Request, refusal: Refusal) -> None:
        self._write({"jsonrpc": "2.0", "id": request.id, "error": refusal.error})

    def _write(self, message: dict[str, Any]) -> None:
        data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        try:
            with self._writing:
                self._out.buffer.write(data)
                self._out.flush()
        except OSError:  # the host no longer reads
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._out.fileno())
            self._waiting.put(None)

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        wanted = params.get("protocolVersion")
        return {"protocolVersion": wanted if wanted in HANDSHAKES else HANDSHAKES[-1]} | self._hello

    def _list_tools(self, params: dict[str, Any]) -> dict[str, Any]:
        # Where there is one agent, the short list does without a parameter for it in every tool.
        is_short = len(self._known) > len(self._listed)
        has_one = is_short and (bool(self._call.agent) or len(list_agents(self._call.open_workspace())) == 1)
        return {"tools": [self._describe(tool, has_one) for tool in self._listed.values()]}

    def _describe(self, tool: Tool, has_one_agent: bool) -> dict[str, Any]:
        assert self._call.find_commands is not None, "app knows its commands"
        function, help = find_function(tool, self._call.find_commands)
        schema, effect = input_schema(tool, function), tool.effect
        if has_one_agent:
            schema = schema | {"properties": _without(schema["properties"], "agent_id")}
        hints = {"readOnlyHint": effect.reads} if effect.reads else {"destructiveHint": effect.removes}
        hints |= {"idempotentHint": True} if effect.repeats and not effect.reads else {}
        return {
            "name": tool.name,
            "description": about_tool(tool, help),
            "inputSchema": schema,
            "annotations": hints | {"openWorldHint": False},
        }

    def _call_tool(self, params: dict[str, Any]) -> dict[str, Any]:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict | None):
            raise Refusal(_INVALID, "tools/call takes a name, and arguments that are an object")
        tool = self._known.get(name)
        if tool is None:
            known = "this server does not offer it" if name in TOOLS else "see the list of tools"
            answer = Reply(None, f"not_found: no tool {name[:60]!r}; {known}")
        else:
            answer = call_tool(self._call, tool, arguments or {})
        if self._is_structured and answer.data is not None:
            return {"content": [], "structuredContent": answer.data, "isError": False}
        return {"content": [{"type": "text", "text": answer.text}], "isError": answer.is_error}

    def _list_resources(self, params: dict[str, Any]) -> dict[str, Any]:
        names = [self._call.agent] if self._call.agent else list_agents(self._call.open_workspace())
        pages = ((name, page) for name in names for page in PAGES)
        return {
            "resources": [
                _page(page) | {"name": f"{name}: {page}", "uri": f"mabos://{name}/{page}"} for name, page in pages
            ]
        }

    def _read_resource(self, params: dict[str, Any]) -> dict[str, Any]:
        uri = str(params.get("uri", ""))
        return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": _read_page(self._call, uri)}]}

    def _get_prompt(self, params: dict[str, Any]) -> dict[str, Any]:
        prompt = PROMPTS.get(str(params.get("name")))
        if prompt is None:
            raise Refusal(_INVALID, f"no prompt {str(params.get('name'))[:60]!r}", [*PROMPTS])
        given = params.get("arguments")
        value = str((given if isinstance(given, dict) else {}).get(prompt.argument, "")).strip()
        if not value:
            raise Refusal(_INVALID, f"the argument {prompt.argument} is missing")
        text = prompt.text.format(value)
        if prompt.packs:
            text += "\n\n" + read_text(self._call, "", ["context", "pack", "--", value], "bundle_text")
        return {"description": prompt.about, "messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


def _parse(line: bytes) -> list[dict[str, Any]]:
    """Returns the messages of a line: one, those of a batch, or none. A lone surrogate, as hosts that cut text send it, is replaced,
    and NaN or infinity becomes a text, which no tool accepts as a number."""
    try:
        found = json.loads(line.decode("utf-8-sig", "replace"), parse_constant=str, parse_float=_number)
        if b"\\u" in line:
            whole = json.dumps(found, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            found = json.loads(whole)
    except (ValueError, RecursionError):
        return []
    return [each for each in (found if isinstance(found, list) else [found]) if isinstance(each, dict)]


def _number(text: str) -> float | str:
    return value if isfinite(value := float(text)) else text


def _without(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}


def _page(page: str) -> dict[str, Any]:
    return {"name": page, "description": PAGES[page].about, "mimeType": "text/markdown"}


def _prompt(name: str) -> dict[str, Any]:
    prompt = PROMPTS[name]
    return {"name": name, "description": prompt.about, "arguments": [{"name": prompt.argument, "required": True}]}


def _read_page(call: Call, uri: str) -> str:
    """Reads the text of a resource.

    Some hosts write the agent, which stands where a server's name would, in small letters.
    """
    agent, _, page = uri.removeprefix("mabos://").partition("/")
    if not uri.startswith("mabos://") or page not in PAGES:
        raise NotFound(f"no resource {uri[:100]!r}", f"mabos://AGENT/ with {', '.join(PAGES)}")
    agents = list_agents(call.open_workspace())
    matching = [name for name in agents if name == agent] or [n for n in agents if n.casefold() == agent.casefold()]
    return read_text(call, matching[0] if matching else agent, list(PAGES[page].words), PAGES[page].key)


def choose_tools(wanted: Sequence[str], *, read_only: bool) -> tuple[Tool, ...]:
    """Returns the tools of some families, or some by name; the daily ones if none is named, every tool for `all`. With `read_only`,
    tools that write are left out."""
    for word in wanted:
        if word not in FAMILIES and word not in TOOLS and word != "all":
            close = get_close_matches(word, [*FAMILIES, *TOOLS], n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise UsageFault(f"no tools {word[:60]!r}", f"{hint}all, or families: {', '.join(FAMILIES)}")
    if wanted:
        found = [tool for tool in TOOLS.values() if {tool.family, tool.name, "all"} & {*wanted}]
    else:
        found = [TOOLS[name] for name in DAILY]
    return tuple(tool for tool in found if tool.effect.reads or not read_only)
