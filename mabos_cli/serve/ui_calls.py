"""Lists the calls that the page of `mabos ui` may make: the commands behind it, and nothing else."""

from mabos_cli.core.memory.item import STORES, TRUSTS
from mabos_cli.serve.tool import READ, SET, TAKE, TEXTS, choice, option, options, tool, word

_TRUST = option("min_trust", schema=choice(*TRUSTS))
CALLS = {
    each.name: each
    for each in (
        tool("agents", "workspace", "agent list", READ)(),
        tool("status", "workspace", "status", READ)(),
        tool("review", "workspace", "review", READ)(word("rev"), *options("since", "limit")),
        tool("recall", "memory", "recall --explain", READ)(
            word("query"),
            option("store", schema=choice(*STORES, "all")),
            _TRUST,
            *options("type", "tag", "since", "until", "depth", "limit", "archived", "live"),
        ),
        tool("timeline", "memory", "timeline", READ)(word("query"), *options("before", "after", "live", "archived")),
        tool("get", "memory", "get --tree --no-use", READ)(word("id")),
        tool("read", "memory", "read", READ)(word("path")),
        tool("forget", "memory", "forget", TAKE)(word("id"), option("reason")),
        tool("revive", "memory", "revive", SET)(word("id")),
        tool("trust", "memory", "trust", READ)(word("id", required=True)),
        tool("quarantine", "memory", "trust --quarantine", READ)(option("limit")),
        tool("set_trust", "memory", "trust", SET)(
            word("id", required=True),
            option("set", schema=choice(*TRUSTS), required=True),
            option("by", required=True),
            option("reason"),
        ),
        tool("candidates", "memory", "harvest --review", READ)(option("limit")),
        tool("harvest", "memory", "harvest", SET)(option("apply", required=True)),
        tool("leave", "memory", "harvest", SET)(option("leave", required=True)),
        tool("periods", "memory", "hierarchy show", READ)(word("period"), option("level")),
        tool("drill", "memory", "hierarchy drill", READ)(word("query", required=True)),
        tool("build", "memory", "hierarchy build", SET)(),
        tool("checkpoints", "memory", "checkpoint list", READ)(),
        tool("pack", "memory", "context pack --trace --no-use", READ)(
            word("query"), option("budget"), _TRUST, option("live")
        ),
        tool("mind", "mind", "mind", READ)(),
        tool("goals", "mind", "goal tree", READ)(),
        tool("beliefs", "mind", "belief list", READ)(),
        tool("intentions", "mind", "intention list", READ)(),
        tool("conflicts", "mind", "bdi conflicts", READ)(*options("all", "with")),
        tool("resolve", "mind", "bdi resolve", SET)(
            word("id"), option("keep", schema=choice("a", "b", "both", "stronger")), option("reason")
        ),
        tool("proposals", "mind", "bdi deliberate", READ)(),
        tool("adopt", "mind", "bdi deliberate", SET)(option("adopt", required=True), *options("deadline", "reason")),
        tool("decline", "mind", "bdi deliberate", SET)(option("decline", required=True), option("reason")),
        tool("facts", "knowledge", "fact query", READ)(
            word("subject", blank="*"), word("predicate", blank="*"), word("object", blank="*"), option("limit")
        ),
        tool("neighbors", "knowledge", "graph neighbors", READ)(word("entity"), *options("hops", "limit")),
        tool("explain", "knowledge", "fact explain", READ)(word("id", required=True)),
        tool("concepts", "knowledge", "ontology list --proposals", READ)(
            option("status", schema=choice("pending", "approved", "rejected"))
        ),
        tool("merge", "knowledge", "ontology merge", SET)(
            word("ids", schema=TEXTS, required=True), option("allow_similar")
        ),
        tool("reject", "knowledge", "ontology reject", SET)(word("id"), option("reason")),
    )
}
