"""The tools of memory: storing, finding, keeping, and the state of a session."""

from typing import Any

from mabos_cli.core.context.audit import SCOPES
from mabos_cli.core.language.periods import LEVELS
from mabos_cli.core.memory.item import CLASSES, PRIORITIES, STORES, TRUSTS, TYPES
from mabos_cli.serve.tool import ADD, READ, SET, SHARE, TAKE, Tool, choice, choices, option, options, unless, word

# Words that other systems have for a type.
_WRITTEN = {"decision": "decision", "preference": "preference", "fact": "fact", "action": "event", "pattern": "insight"}
_LASTING = ("preference", "instruction", "fact", "project", "person", "decision", "insight")
_TAGS = option("tags", "--tag", "Tags for grouping and retrieval.")
_IMPORTANCE = option("importance", schema=SHARE)
_REDACT = option("redact", about="Store it with secrets replaced; else what holds a secret is refused.")
_ITEM = word("memory_id")
_COUNT = {"type": "integer", "minimum": 1}


def _place(arguments: dict[str, Any]) -> dict[str, Any]:
    """A file and its lines as the one word that read takes."""
    first, last = (arguments.pop(name, None) for name in ("line_start", "line_end"))
    if first or last:
        arguments["file_path"] += f":{int(first or 1)}-{int(last) if last else ''}"
    return arguments


_STORE = (
    Tool(
        "memory_store_item",
        "memory",
        ("store",),
        ADD,
        (
            word("content", required=True),
            option("type", schema=choice(*TYPES), about="What kind of memory it is.", required=True),
            option("importance", schema=SHARE, about="0 to 1; graded by its words when left out."),
            option("source"),
            _TAGS,
            option("store", schema=choice(*STORES)),
            *options("context", "observed_at", "author", "session"),
            option("if_new"),
            _REDACT,
        ),
        "Store an item in working, short-term or long-term memory.",
    ),
    Tool(
        "memory_store",
        "memory",
        ("store",),
        ADD,
        (
            option("category", "--type", "What kind of memory it is.", schema=choice(*_LASTING), required=True),
            word("content", required=True),
            option("context", about="Why it is stored."),
            option("priority", schema=choice(*PRIORITIES)),
            _TAGS,
            option("related_to", about="Ids of related memories."),
            option("expires"),
            _REDACT,
        ),
        "Store a memory by category and priority; one that says the same is merged.",
    ),
    Tool(
        "memory_write",
        "memory",
        ("store", "--store=long_term"),
        ADD,
        (
            word("content", required=True),
            option(
                "category",
                "--type",
                "What kind of memory it is.",
                schema=choice(*_WRITTEN),
                words=lambda value: (f"--type={_WRITTEN[value]}",),
            ),
            _IMPORTANCE,
            _TAGS,
            _REDACT,
        ),
        "Write important information to long-term memory.",
    ),
)
_RECALL = (
    Tool(
        "memory_recall",
        "memory",
        ("recall",),
        READ,
        (
            word("query", "What to look for; without it, the most important and recent."),
            option("type", schema=choice(*TYPES), about="Only this type."),
            option("store", schema=choice(*STORES, "all")),
            option("limit", schema={"minimum": 0}),
            option("min_importance", schema=SHARE),
            option("recursive_depth", "--depth", schema={"minimum": 0, "maximum": 3}),
            option("categories", "--category", schema=choices(*CLASSES, *TYPES)),
            option("priority_min", schema=choice(*PRIORITIES)),
            option("token_budget", schema={"minimum": 0}),
            option(
                "include_context",
                "--format",
                "Show in the text why each was stored; the data has it always.",
                schema={"type": "boolean"},
                words=lambda value: ("--format=detailed",) if value else (),
            ),
            option("format", schema=choice("brief", "detailed")),
            option("tags", "--tag", "Only with all of these tags."),
            *options("since", "until"),
            option("min_trust", schema=choice(*TRUSTS)),
            *options("archived", "explain"),
        ),
        "Find memories and passages of memory files by words and meaning. Use it before answering about earlier work, decisions, "
        "people or preferences.",
    ),
    Tool(
        "memory_search",
        "memory",
        ("recall",),
        READ,
        (
            word("query", "What to look for.", required=True),
            option("max_results", "--limit", "At most this many results (default 20).", schema=_COUNT),
            option("memory_types", "--category", "Only these classes of memory.", schema=choices(*CLASSES)),
            option(
                "time_range_days",
                "--since",
                "Only the last so many days.",
                schema=_COUNT,
                words=lambda days: (f"--since={int(days)}d",),
            ),
        ),
        "Search memory by words and meaning.",
    ),
    Tool(
        "memory_shared_recall",
        "memory",
        ("recall", "--shared"),
        READ,
        (word("query", "What to look for.", required=True), option("limit", schema={"minimum": 0})),
        "Search the memory of this agent and of the agents that share theirs.",
    ),
    Tool("memory_get", "memory", ("get",), READ, (word("id"), option("tree"))),
    Tool(
        "memory_read",
        "memory",
        ("read",),
        READ,
        (
            word("file_path", "A file below the agent's folder, as recall cites it: memory/2026-02-24.md."),
            word("line_start", "The first line; else from the beginning.", schema=_COUNT),
            word("line_end", "The last line; else to the end.", schema=_COUNT),
        ),
        "Read a memory file, or lines of it.",
        _place,
    ),
    Tool("memory_timeline", "memory", ("timeline",), READ, (word("query"), *options("before", "after", "live"))),
)
_KEEP = (
    Tool(
        "memory_update",
        "memory",
        ("update",),
        SET,
        (
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
            *options("context", "expires"),
            _REDACT,
        ),
    ),
    Tool("memory_reinforce", "memory", ("reinforce",), ADD, (_ITEM, option("by", schema=SHARE))),
    Tool("memory_forget", "memory", ("forget",), TAKE, (_ITEM, option("reason"))),
    Tool("memory_revive", "memory", ("revive",), SET, (_ITEM, option("store", schema=choice(*STORES)))),
    Tool(
        "memory_consolidate",
        "memory",
        ("consolidate",),
        SET,
        (
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
    ),
    Tool("memory_status", "memory", ("status",), READ),
    Tool("memory_index_status", "memory", ("index", "status"), READ),
    Tool(
        "memory_audit",
        "memory",
        ("context", "audit"),
        READ,
        (option("scope", schema=choice(*SCOPES)), option("recommend")),
    ),
    Tool(
        "memory_checkpoint",
        "memory",
        ("checkpoint",),
        ADD,
        (
            option("context", about="What you are doing.", required=True),
            option("decisions", "--decision", "Decisions that hold."),
            option("findings", "--finding", "What was found out."),
            option("next_steps", "--next", "What to do next."),
            option("open_questions", "--question", "Open questions."),
        ),
        "Write down the state of a session, before its context is compacted or it ends.",
    ),
    Tool("memory_checkpoint_latest", "memory", ("checkpoint", "latest"), READ),
    Tool(
        "memory_build_hierarchy",
        "memory",
        ("hierarchy", "build"),
        SET,
        (option("scope", schema=choice("week", "month", "quarter", "all")), option("since")),
    ),
    Tool(
        "memory_hierarchy_search",
        "memory",
        ("hierarchy", "search"),
        READ,
        (
            word("query"),
            option("level", about="Which level.", schema=choice(*reversed(LEVELS)), required=True),
            option("limit"),
        ),
        "Search the summaries of one level of time.",
    ),
    Tool("memory_hierarchy_drill", "memory", ("hierarchy", "drill"), READ, (word("query"), option("limit"))),
)
TOOLS = (*_STORE, *_RECALL, *_KEEP)
