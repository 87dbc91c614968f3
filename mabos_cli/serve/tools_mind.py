"""Lists the tools of the mind: beliefs to lessons, the cycle."""

from mabos_cli.core.memory.item import PRIORITIES
from mabos_cli.core.mind.mind import LEVELS
from mabos_cli.serve.tool import ADD, READ, SET, SHARE, choice, option, options, tool, word

_CERTAINTY = option("certainty", schema=SHARE)
_STATUS = options("status")
_PERCENT = {"type": "integer", "minimum": 0, "maximum": 100}
TOOLS = (
    tool("bdi_cycle", "bdi", "bdi cycle", SET)(*options("all", "dry_run", "compacted")),
    tool("bdi_deliberate", "bdi", "bdi deliberate", SET)(*options("adopt", "decline", "deadline", "reason")),
    tool("bdi_status", "bdi", "bdi status", READ)(option("all")),
    tool("mind", "bdi", "mind", READ)(),
    tool("bdi_conflicts", "bdi", "bdi conflicts", READ)(option("floor", schema=SHARE), option("all")),
    tool("bdi_resolve", "bdi", "bdi resolve", SET)(
        word("id"), option("keep", schema=choice("a", "b", "both", "stronger")), option("reason")
    ),
    tool("belief_add", "bdi", "belief add", ADD)(
        word("subject"),
        word("text", "What holds."),
        _CERTAINTY,
        option("source"),
        option("supports", about="Goals that it supports."),
        option("rests_on", about="Facts and beliefs that it rests on."),
        option("group"),
    ),
    tool("belief_revise", "bdi", "belief revise", SET)(
        word("belief"), _CERTAINTY, *options("value", "source", "status", "reason")
    ),
    tool("belief_list", "bdi", "belief list", READ)(option("min_certainty", schema=SHARE)),
    tool("desire_add", "bdi", "desire add", ADD)(
        word("title"),
        option("priority"),
        option("motivates", about="Goals that it motivates."),
        *options("status", "group"),
    ),
    tool("desire_update", "bdi", "desire update", SET)(
        word("desire"),
        *options("status", "priority"),
        option("motivates", about="Goals that it motivates."),
        option("reason"),
    ),
    tool("desire_list", "bdi", "desire list", READ)(*_STATUS),
    tool("goal_add", "bdi", "goal add", ADD)(
        word("title"),
        option("level", schema=choice(*LEVELS)),
        *options("priority", "deadline", "parent"),
        option("desires", "--desire", "Desires behind it."),
        option("requires", about="Plans that it requires."),
        option("resources", "--resource", "What it takes and others cannot have then."),
        option("excludes", about="Goals that it cannot go with."),
        option("group"),
    ),
    tool("goal_update", "bdi", "goal update", SET)(
        word("goal"),
        option("status"),
        option("progress", schema=_PERCENT),
        option("priority", about=f"0 to 1, or {', '.join(PRIORITIES)}."),
        *options("deadline", "reason"),
    ),
    tool("goal_close", "bdi", "goal close", SET)(
        word("goal"),
        option("outcome", "--as", schema=choice("achieved", "abandoned", "failed", "impossible")),
        option("reason"),
    ),
    tool("goal_list", "bdi", "goal list", READ)(*options("status", "level", "behind", "all")),
    tool("goal_tree", "bdi", "goal tree", READ)(),
    tool("intention_add", "bdi", "intention add", ADD)(word("title"), *options("goal", "plan", "deadline", "group")),
    tool("intention_progress", "bdi", "intention progress", ADD)(
        word("intention"), word("note"), option("percent", schema=_PERCENT), option("deadline")
    ),
    tool("intention_complete", "bdi", "intention complete", SET)(word("intention"), option("outcome")),
    tool("intention_drop", "bdi", "intention drop", SET)(word("intention"), option("reason")),
    tool("intention_list", "bdi", "intention list", READ)(*_STATUS),
    tool("plan_add", "bdi", "plan add", ADD)(
        word("title"),
        option("goals", "--goal", "Goals that require it."),
        option("steps", "--step", "Its steps, in order."),
    ),
    tool("plan_step", "bdi", "plan step", SET)(word("plan"), word("text"), option("done")),
    tool("plan_list", "bdi", "plan list", READ)(option("steps")),
    tool("commitment_add", "bdi", "commitment add", ADD)(word("title"), *options("to", "due", "status", "group")),
    tool("commitment_update", "bdi", "commitment update", SET)(
        word("commitment"), *options("status", "to", "due", "reason")
    ),
    tool("commitment_complete", "bdi", "commitment complete", SET)(word("commitment"), option("reason")),
    tool("commitment_break", "bdi", "commitment break", SET)(word("commitment"), option("reason")),
    tool("commitment_list", "bdi", "commitment list", READ)(*options("status", "to_me")),
    tool("learning_add", "bdi", "learning add", ADD)(word("lesson"), word("text", "More about it."), option("source")),
    tool("learning_adopt", "bdi", "learning adopt", SET)(word("lesson")),
    tool("learning_list", "bdi", "learning list", READ)(),
)
