"""graph: facts as a graph that one can walk."""

from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.options import Limit, more_line
from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.graph import Edge, Graph, find_neighbors, find_path, match_idea
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_choice
from mabos_cli.core.mind.mind import LEVELS
from mabos_cli.errors import NotFound, UsageFault
from mabos_cli.formats.knowledge.exchange import GRAPH_FORMATS, render_graph
from mabos_cli.formats.knowledge.proof_text import chain_lines, goal_lines
from mabos_cli.services.inputs import text_argument
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.facts import load_facts

app = new_group("graph", "Walk and export the graph of facts, and show what hangs on a belief.", no_args_is_help=True)
_FARTHEST = 12


def _open(agent: Agent) -> Graph:
    return Graph(load_facts(agent).all())


def _node(graph: Graph, name: str, agent: Agent) -> str:
    """A node by its name, in whatever case if that is not ambiguous."""
    if name in graph:
        return name
    close = [node for node in graph.nodes() if node.casefold() == name.casefold()]
    if len(close) != 1:
        raise NotFound(
            f"no fact of agent {agent.id} names {name!r}", "mabos fact query lists facts; mabos graph match searches"
        )
    return close[0]


def _hops(value: int) -> int:
    if not 1 <= value <= _FARTHEST:
        raise BadValue(f"--hops {value} is outside 1..{_FARTHEST}", "as in --hops 2")
    return value


@app.command()
def neighbors(
    ctx: typer.Context,
    entity: Annotated[str, typer.Argument(help="A subject or object of facts.")],
    hops: Annotated[int, typer.Option(help="How many steps away.")] = 1,
    limit: Limit = 50,
) -> None:
    """List what is near something, with the fact that leads there.

    Example: mabos graph neighbors acme --hops 2
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    graph = _open(agent)
    start = _node(graph, entity, agent)
    found = find_neighbors(graph, start, _hops(hops))
    shown = found[: limit or None]
    lines = [f"{near.hops} {_step(near.edge)} ({near.edge.fact.id})" for near in shown]
    lines += more_line(len(found), len(shown))
    rows = [{"node": near.node, "hops": near.hops, **_edge_row(near.edge)} for near in shown]
    call.emit("graph.neighbors", {"entity": start, "count": len(found), "neighbors": rows}, lines or ["nothing near"])


@app.command()
def path(
    ctx: typer.Context,
    start: Annotated[str, typer.Argument(metavar="A", help="Where to begin.")],
    goal: Annotated[str, typer.Argument(metavar="B", help="Where to end.")],
    hops: Annotated[int, typer.Option(help="How many steps at most.")] = 6,
) -> None:
    """Show the shortest way between two things, with the facts that justify each step.

    Example: mabos graph path acme billing-service
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    graph = _open(agent)
    ends = _node(graph, start, agent), _node(graph, goal, agent)
    found = find_path(graph, *ends, _hops(hops))
    data = {"from": ends[0], "to": ends[1], "found": found is not None, "path": [_edge_row(e) for e in found or ()]}
    lines = [f"{_step(edge)} ({edge.fact.id}, {edge.fact.confidence:.2f})" for edge in found or ()]
    nothing = "they are the same" if ends[0] == ends[1] else f"no way of at most {plural(hops, 'step')}"
    call.emit("graph.path", data, lines or [nothing])


@app.command()
def match(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="An idea in words; - reads standard input.")],
    hops: Annotated[int, typer.Option(help="How far from what it names.")] = 2,
    limit: Limit = 10,
) -> None:
    """Find the projects and other things that an idea is about, and say why.

    Example: mabos graph match "cheaper session storage"
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    found = match_idea(_open(agent), text_argument(text, call.literal_dash), _hops(hops), limit)
    lines = []
    for each in found:
        kind = f" [{', '.join(each.types)}]" if each.types else ""
        why = f"names {', '.join(each.words)}" if not each.path else "; ".join(map(_step, each.path))
        lines.append(f"{each.score:.2f} {one_line(each.node, 60)}{kind}: {why}")
    rows = [each._asdict() | {"path": [_edge_row(edge) for edge in each.path]} for each in found]
    call.emit("graph.match", {"matches": rows}, lines or ["nothing matches"])


@app.command()
def export(
    ctx: typer.Context,
    form: Annotated[str, typer.Option("--format", help="mermaid, dot, graphml or jsonld.")] = "mermaid",
    around: Annotated[str, typer.Option(metavar="ENTITY", help="Only what is near this.")] = "",
    hops: Annotated[int, typer.Option(help="How near.")] = 2,
) -> None:
    """Print the graph of facts for another program.

    Example: mabos graph export --format dot
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    form, graph = check_choice(form, GRAPH_FORMATS, "format"), _open(agent)
    facts = graph.facts
    if around:
        start = _node(graph, around, agent)
        near = {start, *(each.node for each in find_neighbors(graph, start, _hops(hops)))}
        facts = [fact for fact in facts if {fact.subject, fact.object} <= near]
    text = render_graph(facts, form)
    call.emit("graph.export", {"format": form, "facts": len(facts), "text": text}, text.rstrip("\n").split("\n"))


@app.command()
def impact(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="[ID]", help="Only chains with this belief, goal, plan or intention.")
    ] = "",
    conflict: Annotated[
        str, typer.Option(metavar="KEY", help="What a conflict touches: its key, or the start of it.")
    ] = "",
    behind: Annotated[bool, typer.Option("--behind", help="The goals of all agents that are behind.")] = False,
    level: Annotated[str, typer.Option(help="With --behind: strategic, tactical or operational.")] = "",
    via: Annotated[str, typer.Option(help="Who answers: files or typedb.")] = "files",
) -> None:
    """Show which goals, plans and intentions hang on an agent's beliefs, or which goals are behind.

    Example: mabos graph impact B-001
    """
    from mabos_cli.services.mirror.impact import Question, find_impact  # only this command needs whole minds

    call: Call = ctx.obj
    if bool(name) + bool(conflict) + behind > 1 or (level and not behind):
        raise UsageFault("what is asked?", "give an ID, --conflict KEY, or --behind perhaps with --level")
    wanted = check_choice(level, LEVELS, "level") if level else ""
    asked = Question(name, conflict, behind, wanted)
    found = find_impact(call, asked, check_choice(via, ("files", "typedb"), "source"))
    lines = goal_lines(found.rows) if behind else chain_lines(found.rows, found.beliefs)
    data = {"via": via, **found.about, "rows": found.rows}
    call.emit("graph.impact", data, [*(lines or [found.nothing]), found.source], found.warnings)


def _step(edge: Edge) -> str:
    fact = edge.fact
    if edge.backwards:
        return one_line(f"{fact.object} <-{fact.predicate}- {fact.subject}", 160)
    return one_line(f"{fact.subject} -{fact.predicate}-> {fact.object}", 160)


def _edge_row(edge: Edge) -> dict[str, Any]:
    fact = edge.fact
    parts = {"subject": fact.subject, "predicate": fact.predicate, "object": fact.object}
    return {**parts, "confidence": fact.confidence, "fact": fact.id, "backwards": edge.backwards}
