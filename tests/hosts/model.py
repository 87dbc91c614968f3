"""A scripted model on loopback. It speaks to hosts as Anthropic, OpenAI (responses and chat) and Gemini do, and keeps every request."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, NamedTuple

SAYS = "All right."
TOKENS = 100  # in every answer: a host that counts must not compact


class Line(NamedTuple):
    """A line of the script: the tool that the model calls when a prompt holds these words, what it gives it, and whose it is."""

    words: str
    tool: str
    given: dict[str, Any]
    server: str = ""


class Request(NamedTuple):
    """What a host sent: when, the names of the tools, all text in it, and what the person or a tool said last."""

    at: float
    tools: tuple[str, ...]
    text: str
    last: str
    is_result: bool


class Answer(NamedTuple):
    """What the model says, or the tool that it calls (with Codex's namespace of it) and what it gives it."""

    id: str
    text: str = ""
    tool: str = ""
    space: str = ""
    given: Mapping[str, Any] = MappingProxyType({})


class Asked(NamedTuple):
    """A request as its protocol has it: (namespace, name) of tools, and the message that is to be answered."""

    tools: list[tuple[str, str]]
    last: Any
    is_result: bool


def texts(value: Any) -> Iterator[str]:
    """Yields every text within a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value if isinstance(value, list) else value.values():
            yield from texts(part)


def _spoken(messages: Sequence[Any], *roles: str) -> Any:
    """Returns the last message that one of several roles said."""
    return next((each for each in reversed(messages) if isinstance(each, dict) and each.get("role") in roles), {})


def _unanswered(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the messages behind the last one of the model: hosts add some to what a person said."""
    place = max((number for number, each in enumerate(messages) if each.get("role") == "assistant"), default=-1)
    return [each for each in messages[place + 1 :] if each.get("role") in ("user", "tool")]


# How each protocol asks.


def _ask_anthropic(body: dict[str, Any]) -> Asked:
    last = _spoken(body.get("messages", []), "user").get("content", "")
    is_result = isinstance(last, list) and any(block.get("type") == "tool_result" for block in last)
    return Asked([("", tool.get("name", "")) for tool in body.get("tools", [])], last, is_result)


def _ask_responses(body: dict[str, Any]) -> Asked:
    sent = body.get("input", [])
    results = [item for item in sent[-1:] if str(item.get("type", "")).endswith("_output")]
    tools = []
    for tool in body.get("tools", []):
        inner = tool.get("tools") or [tool]
        tools += [(tool.get("name", "") if "tools" in tool else "", each.get("name", "")) for each in inner]
    return Asked(tools, results or _spoken(sent, "user"), bool(results))


def _ask_chat(body: dict[str, Any]) -> Asked:
    last = _unanswered(body.get("messages", []))
    tools = [("", tool.get("function", {}).get("name", "")) for tool in body.get("tools") or []]
    return Asked(tools, [each.get("content") for each in last], any(each["role"] == "tool" for each in last))


def _ask_gemini(body: dict[str, Any]) -> Asked:
    last = _spoken(body.get("contents", []), "user", "function").get("parts", [])
    tools = [
        ("", each.get("name", "")) for tool in body.get("tools", []) for each in tool.get("functionDeclarations", [])
    ]
    return Asked(tools, last, any("functionResponse" in part for part in last))


# How each protocol is answered: the whole answer, or the events of a stream.


def _say_anthropic(body: dict[str, Any], answer: Answer) -> Any:
    block: dict[str, Any] = {"type": "text", "text": answer.text}
    if answer.tool:
        block = {"type": "tool_use", "id": f"toolu_{answer.id}", "name": answer.tool, "input": dict(answer.given)}
    stop = {"stop_reason": "tool_use" if answer.tool else "end_turn", "stop_sequence": None}
    message = {"id": f"msg_{answer.id}", "type": "message", "role": "assistant", "model": body.get("model", "")}
    message |= {"usage": {"input_tokens": TOKENS, "output_tokens": 5}}
    if not body.get("stream"):
        return message | {"content": [block]} | stop
    piece = {"type": "text_delta", "text": answer.text}
    if answer.tool:
        piece = {"type": "input_json_delta", "partial_json": json.dumps(dict(answer.given))}
    empty = block | {"input" if answer.tool else "text": {} if answer.tool else ""}
    return [
        {"type": "message_start", "message": message | {"content": [], "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": piece},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]


def _say_responses(body: dict[str, Any], answer: Answer) -> Any:
    content = [{"type": "output_text", "text": answer.text, "annotations": []}]
    item: dict[str, Any] = {"type": "message", "id": f"m_{answer.id}", "role": "assistant", "content": content}
    if answer.tool:
        item = {"type": "function_call", "id": f"fc_{answer.id}", "call_id": f"call_{answer.id}", "name": answer.tool}
        item |= {"arguments": json.dumps(dict(answer.given))} | ({"namespace": answer.space} if answer.space else {})
    usage = {"input_tokens": TOKENS, "output_tokens": 5, "total_tokens": TOKENS + 5}
    done = {"id": f"resp_{answer.id}", "output": [item], "usage": usage}
    return [
        {"type": "response.created", "response": {"id": done["id"]}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]


def _say_chat(body: dict[str, Any], answer: Answer) -> Any:
    said: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.tool:
        called = {"name": answer.tool, "arguments": json.dumps(dict(answer.given))}
        said["tool_calls"] = [{"index": 0, "id": f"call_{answer.id}", "type": "function", "function": called}]
    end = "tool_calls" if answer.tool else "stop"
    head = {"id": answer.id, "object": "chat.completion.chunk", "created": 1, "model": body.get("model", "")}
    usage = {"prompt_tokens": TOKENS, "completion_tokens": 5, "total_tokens": TOKENS + 5}
    if not body.get("stream"):
        return head | {"choices": [{"index": 0, "message": said, "finish_reason": end}], "usage": usage}
    return [
        head | {"choices": [{"index": 0, "delta": said, "finish_reason": None}]},
        head | {"choices": [{"index": 0, "delta": {}, "finish_reason": end}]},
        head | {"choices": [], "usage": usage},
    ]


def _say_gemini(body: dict[str, Any], answer: Answer) -> Any:
    part: dict[str, Any] = {"text": answer.text}
    if answer.tool:
        part = {"functionCall": {"name": answer.tool, "args": dict(answer.given)}}
    elif body.get("generationConfig", {}).get("responseMimeType") == "application/json":
        part = {"text": json.dumps({"reasoning": "", "next_speaker": "user", "complexity_score": 1})}
    told = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": TOKENS, "candidatesTokenCount": 5, "totalTokenCount": TOKENS + 5}
    return {"candidates": [told], "usageMetadata": usage}


# The end of a path -> how it asks, and how it is answered.
PROTOCOLS: dict[str, tuple[Callable[[dict[str, Any]], Asked], Callable[[dict[str, Any], Answer], Any]]] = {
    "/messages": (_ask_anthropic, _say_anthropic),
    "/responses": (_ask_responses, _say_responses),
    "/chat/completions": (_ask_chat, _say_chat),
    ":generateContent": (_ask_gemini, _say_gemini),
    ":streamGenerateContent": (_ask_gemini, _say_gemini),
}


def _find_claude(line: Line) -> tuple[Answer, dict[str, Any]]:
    name = f"mcp__{line.server}__{line.tool}"
    return Answer("", tool=name, given=line.given), {"query": f"select:{name}", "max_results": 1}


def _find_openclaw(line: Line) -> tuple[Answer, dict[str, Any]]:
    wanted = {"id": f"{line.server}__{line.tool}", "args": line.given}
    return Answer("", tool="tool_call", given=wanted), {"query": f"{line.server} {line.tool}", "limit": 20}


# Tools that find those of servers, where a host shows a model few of them: the call that follows, and what to ask first.
_SEARCHES = {"ToolSearch": _find_claude, "tool_search": _find_openclaw}


class Model(ThreadingHTTPServer):
    """The model: `requests` grows while hosts ask it; it answers by the script, and with SAYS where that has no line."""

    daemon_threads = True
    request_queue_size = 50

    def __init__(self, script: Sequence[Line]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script, self.requests = script, list[Request]()
        self._looked_up: Answer | None = None
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def answer(self, asked: Asked, body: dict[str, Any]) -> Answer:
        """Keeps a request, and returns what the script says to it."""
        last = "\n".join(texts(asked.last))
        names = tuple(name for _, name in asked.tools)
        self.requests.append(Request(time.time(), names, "\n".join(texts(body)), last, asked.is_result))
        number = str(len(self.requests))
        if asked.is_result and (called := self._looked_up):
            self._looked_up = None
            return called._replace(id=number)
        for line in () if asked.is_result else self.script:
            if line.words not in last:
                continue
            if found := next((tool for tool in asked.tools if tool[1].endswith(line.tool)), None):
                return Answer(number, tool=found[1], space=found[0], given=line.given)
            if line.server and (search := next((name for name in names if name in _SEARCHES), None)):
                hidden, given = _SEARCHES[search](line)
                self._looked_up = hidden
                return Answer(number, tool=search, given=given)
        return Answer(number, SAYS)


def _event(told: dict[str, Any]) -> str:
    head = f"event: {told['type']}\n" if "type" in told else ""
    return f"{head}data: {json.dumps(told)}\n\n"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Model

    def log_message(self, format: str, *args: object) -> None:
        """Prints nothing."""

    def do_HEAD(self) -> None:
        self._send(b"", "application/json")

    def do_GET(self) -> None:
        self._send(json.dumps({"object": "list", "data": [], "models": []}).encode(), "application/json")

    def do_POST(self) -> None:
        sent, path = self._read(), self.path.partition("?")[0]
        body = json.loads(sent) if sent else {}
        found = next((pair for end, pair in PROTOCOLS.items() if path.endswith(end)), None)
        if found is None:
            counts = {"input_tokens": TOKENS, "totalTokens": TOKENS}
            return self._send(json.dumps(counts).encode(), "application/json")
        said = found[1](body, self.server.answer(found[0](body), body))
        if path.endswith(":streamGenerateContent"):
            said = [said]
        if not isinstance(said, list):
            return self._send(json.dumps(said).encode(), "application/json")
        events = [_event(each) for each in said]
        end = "data: [DONE]\n\n" if path.endswith("/chat/completions") else ""
        self._send(("".join(events) + end).encode(), "text/event-stream")

    def _read(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        data = b""
        while size := int(self.rfile.readline(), 16):
            data += self.rfile.read(size + 2)[:-2]
        self.rfile.readline()
        return data

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
