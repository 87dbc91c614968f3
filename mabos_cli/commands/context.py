"""context: the window an agent lives in. Each command has a module of its own."""

from mabos_cli.commands.call import new_group
from mabos_cli.commands.late_group import late_group

_PLACES = {
    "index": "context_index:index",
    "pack": "context_pack:pack",
    "build": "context_build:build",
    "compress": "context_build:compress",
    "audit": "context_audit:audit",
    "flush-check": "context_flush:flush_check",
    "flush-prompt": "context_flush:flush_prompt",
}

app = new_group(
    "context",
    "Decide what an agent reads: its memory index, packs, whole windows.",
    cls=late_group(_PLACES),
    no_args_is_help=True,
)
