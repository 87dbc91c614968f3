"""context: the window an agent lives in. Each command has a module of its own."""

from mabos_cli.commands.call import late_group, new_group

_PLACES = {
    "index": "context.index:index",
    "pack": "context.pack:pack",
    "build": "context.build:build",
    "compress": "context.build:compress",
    "audit": "context.audit:audit",
    "flush-check": "context.flush:flush_check",
    "flush-prompt": "context.flush:flush_prompt",
}

app = new_group(
    "context",
    "Decide what an agent reads: its memory index, packs, whole windows.",
    cls=late_group(_PLACES),
    no_args_is_help=True,
)
