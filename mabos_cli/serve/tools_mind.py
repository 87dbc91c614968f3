"""The tools of the mind: beliefs, desires, goals, intentions, plans, promises, lessons, and the cycle over them."""

from mabos_cli.core.memory.item import PRIORITIES
from mabos_cli.core.mind.mind import LEVELS
from mabos_cli.serve.tool import ADD, READ, SET, SHARE, Effect, Param, Tool, choice, option, options, word

_CERTAINTY = option("certainty", schema=SHARE)
_STATUS = options("status")
_PERCENT = {"type": "integer", "minimum": 0, "maximum": 100}


def _tool(name: str, effect: Effect, *params: Param, about: str = "") -> Tool:
    """A tool whose name is that of its command."""
    return Tool(name, "bdi", tuple(name.split("_")), effect, params, about)


TOOLS = (
    _tool("bdi_cycle", SET, *options("all", "dry_run", "compacted")),
    _tool("bdi_status", READ),
    _tool("bdi_conflicts", READ, option("floor", schema=SHARE), option("all")),
    _tool("bdi_resolve", SET, word("id"), option("keep", schema=choice("a", "b", "both")), option("reason")),
    _tool(
        "belief_add",
        ADD,
        word("subject"),
        word("text", "What holds."),
        _CERTAINTY,
        option("source"),
        option("supports", about="Goals that it supports."),
        option("group"),
    ),
    _tool("belief_revise", SET, word("belief"), _CERTAINTY, *options("value", "source", "reason")),
    _tool("belief_list", READ, option("min_certainty", schema=SHARE)),
    _tool(
        "desire_add",
        ADD,
        word("title"),
        option("priority"),
        option("motivates", about="Goals that it motivates."),
        *options("status", "group"),
    ),
    _tool("desire_list", READ, *_STATUS),
    _tool(
        "goal_add",
        ADD,
        word("title"),
        option("level", schema=choice(*LEVELS)),
        *options("priority", "deadline", "parent"),
        option("desires", "--desire", "Desires behind it."),
        option("requires", about="Plans that it requires."),
        option("group"),
    ),
    _tool(
        "goal_update",
        SET,
        word("goal"),
        option("status"),
        option("progress", schema=_PERCENT),
        option("priority", about=f"0 to 1, or {', '.join(PRIORITIES)}."),
        *options("deadline", "reason"),
    ),
    _tool("goal_list", READ, *_STATUS),
    _tool("goal_tree", READ),
    _tool("intention_add", ADD, word("title"), *options("goal", "plan", "deadline", "group")),
    _tool(
        "intention_progress",
        ADD,
        word("intention"),
        word("note"),
        option("percent", schema=_PERCENT),
        option("deadline"),
    ),
    _tool("intention_complete", SET, word("intention"), option("outcome")),
    _tool("intention_drop", SET, word("intention"), option("reason")),
    _tool("intention_list", READ, *_STATUS),
    _tool(
        "plan_add",
        ADD,
        word("title"),
        option("goals", "--goal", "Goals that require it."),
        option("steps", "--step", "Its steps, in order."),
    ),
    _tool("plan_step", SET, word("plan"), word("text"), option("done")),
    _tool("plan_list", READ, option("steps")),
    _tool("commitment_add", ADD, word("title"), *options("to", "due", "status", "group")),
    _tool("commitment_list", READ, *_STATUS),
    _tool("learning_add", ADD, word("lesson"), word("text", "More about it."), option("source")),
    _tool("learning_list", READ),
)
