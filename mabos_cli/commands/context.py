"""context: the window an agent lives in. Each command has a module of its own."""

from mabos_cli.commands.call import new_group
from mabos_cli.commands.context_audit import audit
from mabos_cli.commands.context_build import build, compress
from mabos_cli.commands.context_flush import flush_check, flush_prompt
from mabos_cli.commands.context_index import index
from mabos_cli.commands.context_pack import pack

app = new_group(
    "context", "Decide what an agent reads: its memory index, packs, whole windows.", no_args_is_help=True
)
app.command("flush-check")(flush_check)
app.command("flush-prompt")(flush_prompt)
app.command("index")(index)
app.command("pack")(pack)
app.command("build")(build)
app.command("compress")(compress)
app.command("audit")(audit)
