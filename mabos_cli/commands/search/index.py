"""index: the search index of an agent. Deleting it loses nothing."""

from typing import Annotated, Any

from mabos_cli.commands.call import Argument, Call, Commands, Context, Option
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.services.inputs import text_argument
from mabos_cli.services.search.agent_search import MOST
from mabos_cli.services.search.index import find_in_lanes, index_status, sync_index, watch_changes
from mabos_cli.terminal.emit import columns
from mabos_cli.workspace.agent import Agent

app = Commands("index", "Update and inspect the search index; it can be deleted at any time.")
_COUNTED = ("added", "changed", "removed", "unchanged", "errors")


@app.command()
def sync(
    ctx: Context,
    rebuild: Annotated[bool, Option("--rebuild", help="Build a new index beside the old one, then swap them.")] = False,
    wait: Annotated[bool, Option("--wait", help="Wait until a slow model has embedded all passages.")] = False,
    watch: Annotated[bool, Option("--watch", help="Keep running, and follow changes until interrupted.")] = False,
) -> None:
    """Bring the index up to date with the files.

    Example: mabos index sync --rebuild
    """
    agent = ctx.obj.open_agent()
    if not watch:
        _sync(ctx.obj, agent, rebuild, wait)
        return
    is_first = True
    for changed in watch_changes(agent):
        if changed or is_first:
            _sync(ctx.obj, ctx.obj.open_agent(), rebuild and is_first, wait)
        is_first = False


def _sync(call: Call, agent: Agent, rebuild: bool, wait: bool) -> None:
    data, warnings = sync_index(call, agent, rebuild=rebuild, wait=wait)
    counts = [f"{data[name]} {name}" for name in _COUNTED if data[name]]
    passages, embedded = data["passages"], data["embedded"]
    made = f"; {plural(passages, 'passage')}, {embedded} embedded" if passages or embedded else ""
    made += f", {data['waiting']} for the better model in the background" if data["waiting"] else ""
    call.emit("index.sync", data, [f"{', '.join(counts) or 'no files'}{made}"], warnings)


@app.command()
def status(ctx: Context) -> None:
    """Show the contents and state of the index, and how vectors are compared.

    Example: mabos index status --json
    """
    found = index_status(ctx.obj.open_agent())
    shown = {name: ", ".join(value) if isinstance(value, list) else value for name, value in found.about.items()}
    rows = [(name.replace("_", " "), str(value)) for name, value in shown.items() if value not in ("", None)]
    ctx.obj.emit("index.status", found.about | found.memory, columns(rows + _memory_rows(found.memory)), found.warnings)


def _memory_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Describes memory in three rows."""
    files, items, index = (found[name] for name in ("legacy", "progressive", "index"))
    priorities = ", ".join(f"{count} {name}" for name, count in items["by_priority"].items())
    loaded = [f"{domain['name']} {domain['tokens']}" for domain in index["on_demand_domains"]]
    return [
        ("written", f"{plural(files['files'], 'file')}, {files['total_tokens_estimated']} tokens"),
        (
            "memory",
            f"{plural(items['total_entries'], 'item')}, {items['total_tokens_estimated']} tokens"
            + (f": {priorities}" if priorities else ""),
        ),
        (
            "INDEX.md",
            f"{index['always_loaded_tokens']} tokens" + (f"; on demand: {', '.join(loaded)}" if loaded else ""),
        ),
    ]


@app.command()
def search(
    ctx: Context,
    words: Annotated[list[str], Argument(metavar="QUERY", help="What to look for; - reads standard input.")],
    limit: Annotated[
        int, Option("--limit", "-n", min=0, max=MOST, help="Show at most this many a lane; 0 for all.")
    ] = 10,
) -> None:
    """Search by words and by meaning separately, with raw scores; not counted as a use.

    Example: mabos index search "deploy failed" --limit 5
    """
    query = text_argument(" ".join(words), ctx.obj.literal_dash)
    found, warnings = find_in_lanes(ctx.obj, ctx.obj.open_agent(), query, limit)
    lanes: dict[str, list[dict[str, Any]]] = {
        name: [{"ref": ref, "score": float(f"{score:.4g}"), "text": text} for ref, score, text in rows]
        for name, rows in found.items()
    }
    lines = []
    for name, rows in lanes.items():
        lines.append(f"{name}: {plural(len(rows), 'passage')}")
        lines += [f"  {row['score']:.4g} {row['ref']} {one_line(row['text'], 120)}" for row in rows]
    ctx.obj.emit("index.search", {"query": query, **lanes}, lines, warnings)
