"""index: the search index of an agent. Deleting it loses nothing."""

import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.errors import InvalidFile, Unavailable
from mabos_cli.services.inputs import text_argument
from mabos_cli.services.search.agent_index import AgentIndex
from mabos_cli.services.search.index_status import describe_memory, memory_rows
from mabos_cli.terminal.emit import columns
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import sweep_temps

app = new_group("index", "Keep and inspect the search index; it can be deleted at any time.", no_args_is_help=True)
_COUNTED = ("added", "changed", "removed", "unchanged", "errors")
_MOST = 1_000_000  # results, whatever is asked for


@app.command()
def sync(
    ctx: typer.Context,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Build a new index beside the old one, then swap them.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Stay, and follow changes until interrupted.")] = False,
) -> None:
    """Bring the index up to date with the files.

    Example: mabos index sync --rebuild
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    if not watch:
        _sync(call, agent, rebuild)
        return
    is_first = True
    for changed in _changes(agent):
        if changed or is_first:
            _sync(call, call.open_agent(), rebuild and is_first)
        is_first = False


def _sync(call: Call, agent: Agent, rebuild: bool) -> None:
    start = time.perf_counter()
    sweep_temps(agent.paths.index_file.parent, locked=False)
    held = AgentIndex(agent, progress=call.progress)
    index = held.refresh(rebuild=rebuild, wait=agent.settings["lock.timeout"])
    stats = held.stats
    if index is None or index.path is None:
        raise InvalidFile(
            f"the index of {agent.id} cannot be written", "recall still works: it builds one in memory each time"
        )
    seconds = round(time.perf_counter() - start, 3)
    data = {
        "agent": agent.id,
        "path": _shown(agent, index.path),
        "rebuilt": rebuild,
        **stats._asdict(),
        "seconds": seconds,
    }
    counts = [f"{number} {name}" for name, number in stats._asdict().items() if number and name in _COUNTED]
    made = (
        f"; {plural(stats.passages, 'passage')}, {stats.embedded} embedded" if stats.passages or stats.embedded else ""
    )
    call.emit("index.sync", data, [f"{', '.join(counts) or 'no files'}{made}"], held.troubles())


def _shown(agent: Agent, path: Any) -> str:
    return agent.paths.relative(path)


def _changes(agent: Agent) -> Iterator[Any]:
    """Batches of changes below the agent's folder, until SIGINT or SIGTERM.

    The first may be empty and says that somebody watches from now on: what changes during the first sync is not missed.
    """
    try:
        from watchfiles import watch
    except ImportError:
        raise Unavailable("--watch needs watchfiles", "pip install 'mabos-cli[watch]'") from None
    import signal
    from threading import Event

    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    places = [agent.paths.root, *([agent.paths.queue.parent] if agent.paths.queue.parent.is_dir() else [])]
    return watch(
        *places, stop_event=stop, rust_timeout=250, yield_on_timeout=True, debounce=400, step=50, raise_interrupt=False
    )


@app.command()
def status(ctx: typer.Context) -> None:
    """Say what the index and memory hold, how vectors are compared, and whether the index is fresh.

    Example: mabos index status --json
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    held = AgentIndex(agent, progress=call.progress)
    data = held.describe()
    memory = describe_memory(agent, held.sources, data.pop("file_passages", 0))
    shown = {name: ", ".join(value) if isinstance(value, list) else value for name, value in data.items()}
    rows = [(name.replace("_", " "), str(value)) for name, value in shown.items() if value not in ("", None)]
    call.emit("index.status", data | memory, columns(rows + memory_rows(memory)), held.warnings)


@app.command()
def search(
    ctx: typer.Context,
    words: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to look for; - reads standard input.")],
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, max=_MOST, help="Show at most this many a lane; 0 for all.")
    ] = 10,
) -> None:
    """Show what each lane of the index finds, without counting it as a use.

    Example: mabos index search "deploy failed" --limit 5
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    query = text_argument(" ".join(words), call.literal_dash)
    held = AgentIndex(agent, progress=call.progress)
    lanes: dict[str, list[dict[str, Any]]] = {
        name: [{"ref": ref, "score": float(f"{score:.4g}"), "text": text} for ref, score, text in rows]
        for name, rows in held.search_lanes(query, limit or _MOST).items()
    }
    lines = []
    for name, found in lanes.items():
        lines.append(f"{name}: {plural(len(found), 'passage')}")
        lines += [f"  {row['score']:.4g} {row['ref']} {one_line(row['text'], 120)}" for row in found]
    call.emit("index.search", {"query": query, **lanes}, lines, held.troubles())
