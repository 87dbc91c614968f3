"""The tools of what goes into memory by itself, and of what an agent reads of it."""

from mabos_cli.core.memory.item import TRUSTS, TYPES
from mabos_cli.serve.tool import ADD, READ, SET, SHARE, Param, Tool, choice, option, options, word

_HISTORY = {"type": "array", "items": {"type": "object", "required": ["role"]}}


def _history(about: str, *, required: bool = False) -> Param:
    return option("history", about=about, schema=_HISTORY, is_fed=True, required=required)


_CAPTURE = (
    Tool(
        "memory_capture",
        "capture",
        ("capture",),
        ADD,
        (
            word("text", "What happened.", required=True),
            option("tool"),
            option("type", schema=choice(*TYPES)),
            *options("session", "author"),
            option("tags", "--tag", "Tags for grouping and retrieval."),
            option("importance", schema=SHARE),
        ),
        "Note down what happened, with secrets replaced; memory_harvest makes memories of it.",
    ),
    Tool(
        "memory_harvest",
        "capture",
        ("harvest",),
        SET,
        (option("since"), option("limit", schema={"minimum": 1}), option("dry_run")),
    ),
)
_CONTEXT = (
    Tool("context_index", "context", ("context", "index"), SET),
    Tool(
        "context_pack",
        "context",
        ("context", "pack"),
        READ,
        (
            word("query", "What is asked, also a whole request."),
            option("budget", schema={"minimum": 1}),
            _history("The conversation, messages with role and content; its last turns are kept."),
            option("tail", about="How many last turns are kept (default 4)."),
            option("min_trust", schema=choice(*TRUSTS)),
            *options("limit", "trace", "no_use"),
        ),
    ),
    Tool(
        "context_build",
        "context",
        ("context", "build"),
        READ,
        (
            option("request"),
            _history("The conversation so far: messages with role and content."),
            option("window", schema={"minimum": 1}),
        ),
    ),
    Tool(
        "context_compress",
        "context",
        ("context", "compress"),
        READ,
        (
            _history("The conversation: messages with role and content.", required=True),
            option("budget", schema={"minimum": 1}),
            option("keep", schema={"minimum": 0}),
        ),
    ),
    Tool(
        "context_flush_check",
        "context",
        ("context", "flush-check"),
        ADD,
        options("total_tokens", "window", "compaction_count", "session", "soft", "reserve"),
    ),
    Tool("context_flush_prompt", "context", ("context", "flush-prompt"), READ),
    Tool("agent_list", "agent", ("agent", "list"), READ),
    Tool("agent_show", "agent", ("agent", "show"), READ),
)

TOOLS = (*_CAPTURE, *_CONTEXT)
