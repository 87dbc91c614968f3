"""graph: neighbours, paths and matches in the graph of facts, and its export."""

from typing import Annotated

from mabos_cli.commands.call import Argument, Commands, Context, Limit, Option, ValidAt, more_line
from mabos_cli.core.knowledge.graph import CONCERNS
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_choice
from mabos_cli.core.mind.mind import LEVELS
from mabos_cli.errors import UsageFault
from mabos_cli.formats.knowledge.exchange import GRAPH_FORMATS, render_graph
from mabos_cli.formats.knowledge.proof_text import (
    chain_lines,
    concern_line,
    concern_row,
    edge_row,
    edge_text,
    goal_line,
    match_line,
)
from mabos_cli.services.inputs import read_moment, text_argument
from mabos_cli.services.knowledge.inference import find_matches, find_near, find_preflight, find_route, load_graph

app = Commands("graph", "Walk and export the graph of facts, and show what depends on a belief.")


@app.command()
def neighbors(
    ctx: Context,
    entity: Annotated[str, Argument(help="A subject or object of facts.")],
    hops: Annotated[int, Option(help="The largest number of steps.")] = 1,
    valid_at: ValidAt = "",
    limit: Limit = 50,
) -> None:
    """List entities near one, with the fact behind each link.

    Example: mabos graph neighbors acme --hops 2
    """
    agent = ctx.obj.open_agent()
    start, found = find_near(agent, entity, hops, read_moment(valid_at, agent.now()))
    shown = found[: limit or None]
    lines = [f"{near.hops} {edge_text(near.edge)} ({near.edge.fact.id})" for near in shown]
    lines += more_line(len(found), len(shown))
    rows = [{"node": near.node, "hops": near.hops, **edge_row(near.edge)} for near in shown]
    ctx.obj.emit(
        "graph.neighbors", {"entity": start, "count": len(found), "neighbors": rows}, lines or ["nothing near"]
    )


@app.command()
def path(
    ctx: Context,
    start: Annotated[str, Argument(metavar="A", help="The first entity.")],
    goal: Annotated[str, Argument(metavar="B", help="The last entity.")],
    hops: Annotated[int, Option(help="The largest number of steps.")] = 6,
    valid_at: ValidAt = "",
) -> None:
    """Show the shortest path between two entities, with the fact behind each step.

    Example: mabos graph path acme billing-service
    """
    agent = ctx.obj.open_agent()
    first, last, found = find_route(agent, start, goal, hops, read_moment(valid_at, agent.now()))
    data = {"from": first, "to": last, "found": found is not None, "path": [edge_row(edge) for edge in found or ()]}
    lines = [f"{edge_text(edge)} ({edge.fact.id}, {edge.fact.confidence:.2f})" for edge in found or ()]
    nothing = "they are the same" if first == last else f"no way of at most {plural(hops, 'step')}"
    ctx.obj.emit("graph.path", data, lines or [nothing])


@app.command()
def match(
    ctx: Context,
    text: Annotated[str, Argument(help="The text; - reads standard input.")],
    hops: Annotated[int, Option(help="The largest number of steps from what it names.")] = 2,
    valid_at: ValidAt = "",
    limit: Limit = 10,
) -> None:
    """Name the known entities that a text is about, and say why.

    Example: mabos graph match "cheaper session storage"
    """
    agent = ctx.obj.open_agent()
    moment = read_moment(valid_at, agent.now())
    found = find_matches(agent, text_argument(text, ctx.obj.literal_dash), hops, limit, moment)
    rows = [each._asdict() | {"path": [edge_row(edge) for edge in each.path]} for each in found]
    ctx.obj.emit("graph.match", {"matches": rows}, [match_line(each) for each in found] or ["nothing matches"])


@app.command()
def preflight(
    ctx: Context,
    text: Annotated[str, Argument(metavar="ENTITY | TEXT", help="What is to be worked on; - reads standard input.")],
    hops: Annotated[int, Option(help="The largest number of steps from it.")] = 2,
    valid_at: ValidAt = "",
    limit: Limit = 10,
) -> None:
    """Show decisions, blockers, conflicts and related entities before work on something, each with its path.

    Example: mabos graph preflight billing
    """
    agent = ctx.obj.open_agent()
    moment = read_moment(valid_at, agent.now())
    found = find_preflight(agent, text_argument(text, ctx.obj.literal_dash), hops, moment)
    related = [each for each in found.concerns if each.kind == "related"]
    shown = [each for each in found.concerns if each.kind != "related"] + related[: limit or None]
    decided = [f"decided: {item.id} {one_line(item.content, 160)}" for item in found.decisions]
    about = [f"about: {one_line(', '.join(found.about), 160)}"] if found.about else []
    lines = [*about, *decided, *map(concern_line, shown)]
    data = {
        "about": found.about,
        "decisions": [{"id": item.id, "text": one_line(item.content, 300)} for item in found.decisions],
        **{kind: [concern_row(each) for each in shown if each.kind == kind] for kind in CONCERNS},
    }
    lines += more_line(len(found.concerns), len(shown))
    ctx.obj.emit("graph.preflight", data, lines or ["no fact and no decision names it"], found.warnings)


@app.command()
def export(
    ctx: Context,
    form: Annotated[str, Option("--format", metavar="[mermaid|dot|graphml|jsonld]", help="The format.")] = "mermaid",
    valid_at: ValidAt = "",
) -> None:
    """Print the graph of facts for another program.

    Example: mabos graph export --format dot
    """
    check_choice(form, GRAPH_FORMATS, "format")
    agent = ctx.obj.open_agent()
    facts = load_graph(agent, read_moment(valid_at, agent.now())).facts
    text = render_graph(facts, form)
    ctx.obj.emit("graph.export", {"format": form, "facts": len(facts), "text": text}, text.rstrip("\n").split("\n"))


@app.command()
def impact(
    ctx: Context,
    name: Annotated[
        str,
        Argument(
            metavar="[ID]",
            ids="beliefs goals plans intentions",
            help="Only chains with this belief, goal, plan or intention.",
        ),
    ] = "",
    conflict: Annotated[
        str, Option(metavar="KEY", help="Only what a conflict affects: its key, or the start of it.")
    ] = "",
    behind: Annotated[bool, Option("--behind", help="List the goals of all agents that are behind.")] = False,
    level: Annotated[
        str, Option(metavar="[strategic|tactical|operational]", help="With --behind: only goals of this level.")
    ] = "",
) -> None:
    """List the goals, plans and intentions that depend on beliefs, or the goals that are behind.

    Example: mabos graph impact B-001
    """
    from mabos_cli.services.mirror.queries import Question, find_impact  # only this command needs whole minds

    if bool(name) + bool(conflict) + behind > 1 or (level and not behind):
        raise UsageFault("give an ID, --conflict KEY or --behind", "--behind may have a --level")
    wanted = check_choice(level, LEVELS, "level") if level else ""
    found = find_impact(ctx.obj, Question(name, conflict, behind, wanted))
    lines = list(map(goal_line, found.rows)) if behind else chain_lines(found.rows, found.beliefs)
    data = {"via": "files", **found.about, "rows": found.rows}
    ctx.obj.emit("graph.impact", data, lines or [found.nothing], found.warnings)
