"""Lists the tools of memory: items, capture, sessions, context."""

from typing import Any

from mabos_cli.core.context.audit import SCOPES
from mabos_cli.core.language.periods import LEVELS as PERIOD_LEVELS
from mabos_cli.core.memory.item import CLASSES, PRIORITIES, STORES, TRUSTS, TYPES, priority_of
from mabos_cli.errors import UsageFault
from mabos_cli.serve.tool import (
    ADD,
    READ,
    SET,
    SHARE,
    TAKE,
    TEXT,
    Param,
    Tool,
    choice,
    choices,
    option,
    options,
    tool,
    unless,
    word,
)

# Words that other systems have for a type.
_WRITTEN = {"decision": "decision", "preference": "preference", "fact": "fact", "action": "plan", "pattern": "insight"}
_LASTING = ("preference", "instruction", "fact", "project", "person", "decision", "insight")
_TAGS = option("tags", "--tag", "Tags for grouping and retrieval.")
_IMPORTANCE = option("importance", schema=SHARE)
_REDACT = option("redact", about="Store it with secrets replaced; else what holds a secret is refused.")
_ITEM = word("memory_id")
_COUNT = {"type": "integer", "minimum": 1}
_BUDGET = 3000  # tokens of an answer of memory_recall, as seed 003 has it
_HISTORY = {"type": "array", "items": {"type": "object", "required": ["role"]}}


def _place(arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns a file and its lines as the one word that read takes."""
    first, last = (arguments.pop(name, None) for name in ("line_start", "line_end"))
    if first or last:
        arguments["file_path"] += f":{int(first or 1)}-{int(last) if last else ''}"
    return arguments


def _as_it_is(data: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    return data


def _located(arguments: dict[str, Any]) -> Tool | None:
    """Returns the tool that reads a file, for a call that names a path in place of an id; UsageFault where it names neither."""
    if "path" not in arguments and "id" not in arguments:
        raise UsageFault("which memory?", "give an id, or the path of a memory file")
    return _READ if "path" in arguments else None


def _lines(arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns a file, its first line and the number of lines as the one word that read takes."""
    first = int(arguments.pop("from", None) or 1)
    count = int(arguments.pop("lines", None) or 0)
    if first > 1 or count:
        arguments["path"] += f":{first}-{first + count - 1 if count else ''}"
    return arguments


def _as_entries(data: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns what recall found as seed 003 shapes it; what a result has beyond that follows where it says something."""
    budget = int(arguments.get("token_budget") or _BUDGET)
    extra = ["trust", "author", "session", "archived", "was", "superseded_by"]
    extra += ["context"] if arguments.get("include_context") or arguments.get("format") == "detailed" else []
    entries = [
        {
            "id": found["ref"],
            "category": found.get("type", found["kind"]),
            "content": found["content"],
            "priority": priority_of(found.get("importance", 0.5)),
            "score": found["score"],
            "stored_at": found.get("created_at", ""),
            "tags": found.get("tags", []),
        }
        | {name: found[name] for name in extra if found.get(name) and found[name] != "agent"}
        for found in data["results"]
    ]
    return {
        "entries": entries,
        "token_count": data["token_count"],
        "budget_remaining": max(0, budget - data["token_count"]),
        "total_entries_matched": data["candidates"],
    }


def _history(about: str, *, required: bool = False) -> Param:
    return option("history", about=about, schema=_HISTORY, is_fed=True, required=required)


_STORE = (
    tool(
        "memory_store_item",
        "memory",
        "store --store=short_term",
        ADD,
        "Store an item in working, short-term or long-term memory.",
    )(
        word("content", required=True),
        option("type", schema=choice(*TYPES), about="What kind of memory it is.", required=True),
        option("importance", schema=SHARE, about="0 to 1; graded by its words when left out."),
        option("source"),
        _TAGS,
        option("store", schema=choice(*STORES), about="Default short_term; long_term for what should stay loaded."),
        *options("context", "observed_at", "author", "session"),
        option("if_new"),
        _REDACT,
    ),
    tool(
        "memory_store",
        "memory",
        "store",
        ADD,
        "Store a memory by category and priority; one that says the same is merged.",
        shape=lambda data, arguments: data | {"category": data["type"]},
    )(
        option("category", "--type", "What kind of memory it is.", schema=choice(*_LASTING), required=True),
        word("content", required=True),
        option("context", about="Why it is stored."),
        option("priority", schema=choice(*PRIORITIES)),
        _TAGS,
        option("related_to", about="Ids of related memories."),
        option("expires"),
        _REDACT,
    ),
    tool(
        "memory_write",
        "memory",
        "store",
        ADD,
        "Write important information to memory; its category says how long it lasts.",
    )(
        word("content", required=True),
        option(
            "category",
            "--type",
            "What kind of memory it is.",
            schema=choice(*_WRITTEN),
            words=lambda value: [f"--type={_WRITTEN[value]}"],
        ),
        _IMPORTANCE,
        _TAGS,
        _REDACT,
    ),
)
_READ = tool("memory_get", "memory", "read", READ, recast=_lines)(word("path"))
_RECALL = (
    tool(
        "memory_recall",
        "memory",
        "recall",
        READ,
        "Find memories and passages of memory files by words and meaning. Use it before answering about earlier work, decisions, "
        "people or preferences.",
        recast=lambda arguments: arguments | {"token_budget": arguments.get("token_budget") or _BUDGET},
        shape=_as_entries,
    )(
        word("query", "What to look for; without it, the most important and recent."),
        option("type", schema=choice(*TYPES), about="Only this type."),
        option("store", schema=choice(*STORES, "all")),
        option("limit", schema={"minimum": 0}),
        option("min_importance", schema=SHARE),
        option("recursive_depth", "--depth", schema={"type": "integer", "minimum": 0, "maximum": 3}),
        option("categories", "--category", schema=choices(*CLASSES, *TYPES)),
        option("priority_min", schema=choice(*PRIORITIES)),
        option("token_budget", schema={"minimum": 0}),
        option(
            "include_context",
            "--format",
            "Show why each was stored.",
            schema={"type": "boolean"},
            words=lambda value: ["--format=detailed"] if value else [],
        ),
        option("format", schema=choice("brief", "detailed")),
        option("tags", "--tag", "Only with all of these tags."),
        *options("since", "until"),
        option("min_trust", schema=choice(*TRUSTS)),
        *options("live", "archived", "all_about", "explain"),
    ),
    tool("memory_search", "memory", "recall", READ, "Search memory by words and meaning.")(
        word("query", "What to look for.", required=True),
        option("max_results", "--limit", "At most this many results (default 20).", schema=_COUNT),
        option("memory_types", "--category", "Only these classes of memory.", schema=choices(*CLASSES)),
        option(
            "time_range_days",
            "--since",
            "Only the last so many days.",
            schema=_COUNT,
            words=lambda days: [f"--since={int(days)}d"],
        ),
    ),
    tool(
        "memory_shared_recall",
        "memory",
        "recall --shared",
        READ,
        "Search the memory of this agent and of the agents that share theirs.",
    )(word("query", "What to look for.", required=True), option("limit", schema={"minimum": 0})),
    tool("memory_get", "memory", "get", READ, "Show a memory by its id, or lines of a memory file.", instead=_located)(
        word("id", required=False),
        option("tree"),
        word("path", "In place of an id, a file as recall cites it: memory/2026-02-24.md.", schema=TEXT),
        word("from", "The first line of the file.", schema=_COUNT),
        word("lines", "How many lines.", schema=_COUNT),
    ),
    tool("memory_read", "memory", "read", READ, "Read a memory file, or lines of it.", recast=_place)(
        word("file_path", "A file below the agent's folder, as recall cites it: memory/2026-02-24.md."),
        word("line_start", "The first line; else from the beginning.", schema=_COUNT),
        word("line_end", "The last line; else to the end.", schema=_COUNT),
    ),
    tool("memory_timeline", "memory", "timeline", READ)(word("query"), *options("before", "after", "live", "archived")),
)
_KEEP = (
    tool("memory_update", "memory", "update", SET)(
        _ITEM,
        option("content", about="The new text."),
        _IMPORTANCE,
        option("type", schema=choice(*TYPES)),
        option(
            "tags",
            "--tag",
            "The new tags in place of the old; an empty list clears them.",
            words=lambda tags: [f"--tag={tag}" for tag in tags or [""]],
        ),
        option("store", schema=choice(*STORES)),
        *options("context", "expires", "supersedes"),
        _REDACT,
    ),
    tool("memory_reinforce", "memory", "reinforce", ADD)(_ITEM, option("by", schema=SHARE)),
    tool("memory_forget", "memory", "forget", TAKE)(_ITEM, option("reason")),
    tool("memory_revive", "memory", "revive", SET)(_ITEM, option("store", schema=choice(*STORES))),
    tool("memory_consolidate", "memory", "consolidate", SET)(
        option("min_importance", schema=SHARE),
        option("min_access_count", "--min-access", schema={"minimum": 0}),
        option("dry_run"),
        option(
            "summarize",
            "--no-summarize",
            "Group and sum up related items (default true).",
            words=unless("--no-summarize"),
        ),
    ),
    tool("memory_status", "memory", "status", READ)(),
    tool("memory_index_status", "memory", "index status", READ, shape=_as_it_is)(),
    tool("memory_audit", "memory", "context audit", READ, shape=_as_it_is)(
        option("scope", schema=choice(*SCOPES)), option("recommend")
    ),
    tool(
        "memory_checkpoint",
        "memory",
        "checkpoint",
        ADD,
        "Write down the state of a session, before its context is compacted or it ends.",
    )(
        option("context", about="What you are doing.", required=True),
        option("decisions", "--decision", "Decisions that hold."),
        option("findings", "--finding", "What was found out."),
        option("next_steps", "--next", "What to do next."),
        option("open_questions", "--question", "Open questions."),
    ),
    tool("memory_checkpoint_latest", "memory", "checkpoint latest", READ)(),
    tool("memory_build_hierarchy", "memory", "hierarchy build", SET)(
        option("scope", schema=choice("week", "month", "quarter", "all")), option("since")
    ),
    tool("memory_hierarchy_search", "memory", "hierarchy search", READ, "Search the summaries of one level of time.")(
        word("query"),
        option("level", about="Which level.", schema=choice(*reversed(PERIOD_LEVELS)), required=True),
        option("limit"),
    ),
    tool("memory_hierarchy_drill", "memory", "hierarchy drill", READ)(word("query"), option("limit")),
)
_CAPTURE = (
    tool(
        "memory_capture",
        "capture",
        "capture",
        ADD,
        "Note down what happened, with secrets replaced; memory_harvest makes memories of it.",
    )(
        word("text", "What happened.", required=True),
        option("tool"),
        option("type", schema=choice(*TYPES)),
        *options("session", "author"),
        option("tags", "--tag", "Tags for grouping and retrieval."),
        option("importance", schema=SHARE),
    ),
    tool("memory_harvest", "capture", "harvest", SET)(
        option("since"), option("limit", schema={"minimum": 1}), *options("review", "apply", "leave", "dry_run")
    ),
)


_CONTEXT = (
    tool("context_index", "context", "context index", SET)(),
    tool("context_pack", "context", "context pack", READ)(
        word("query", "What is asked, also a whole request."),
        option("budget", schema={"minimum": 1}),
        _history("The conversation, messages with role and content; its last turns are kept."),
        option("tail", about="How many last turns are kept (default 4)."),
        option("min_trust", schema=choice(*TRUSTS)),
        *options("limit", "live", "shared", "trace", "no_use"),
    ),
    tool("context_build", "context", "context build", READ)(
        option("request"),
        _history("The conversation so far: messages with role and content."),
        option("window", schema={"minimum": 1}),
        option("shared"),
    ),
    tool("context_compress", "context", "context compress", READ)(
        _history("The conversation: messages with role and content.", required=True),
        option("budget", schema={"minimum": 1}),
        option("keep", schema={"minimum": 0}),
    ),
    tool("context_flush_check", "context", "context flush-check", ADD)(
        *options("total_tokens", "window", "compaction_count", "session", "soft", "reserve")
    ),
    tool("context_flush_prompt", "context", "context flush-prompt", READ)(),
    tool("agent_list", "agent", "agent list", READ)(),
    tool("agent_show", "agent", "agent show", READ)(),
)

TOOLS = (*_STORE, *_RECALL, *_KEEP, *_CAPTURE, *_CONTEXT)
