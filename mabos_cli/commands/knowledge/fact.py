"""fact: what an agent knows as triples, in facts.json."""

from typing import Annotated, Any, NamedTuple

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.knowledge.fact_exchange import export_command, import_command
from mabos_cli.commands.options import DryRun, Limit, more_line
from mabos_cli.core.knowledge.asserting import FactChanges, plan_retract
from mabos_cli.core.knowledge.fact import Fact, Query, current_facts, known_since
from mabos_cli.core.knowledge.fact_lint import Origin, explain_fact, lint_facts, supports_lost
from mabos_cli.core.knowledge.forward import forward_chain
from mabos_cli.core.language.clock import format_time, parse_when
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import check_importance, check_word
from mabos_cli.errors import CheckFailed, NotFound, UsageFault
from mabos_cli.formats.json.text import dump_line
from mabos_cli.formats.knowledge.facts import fact_to_dict
from mabos_cli.services.knowledge.fact_common import asserting, fact_line, stale_warning, without_gc
from mabos_cli.services.knowledge.shared_facts import SharedFact, find_facts, find_shared_facts
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.facts import Facts, Fresh, change_facts, find_fact_departures, load_facts
from mabos_cli.workspace.knowledge.rulebook import functional_predicates, load_rules

app = new_group("fact", "Assert, retract, query and check facts.", no_args_is_help=True)
Subject = Annotated[str, typer.Argument(help="What it is about.")]


@app.command("assert")
def assert_command(
    ctx: typer.Context,
    subject: Subject,
    predicate: Annotated[str, typer.Argument(help="The relation or property.")],
    object: Annotated[str, typer.Argument(help="The value, or another subject.")],
    confidence: Annotated[float, typer.Option(help="0 to 1.")] = 1.0,
    source: Annotated[str, typer.Option(help="Where it comes from.")] = "manual",
    trust: Annotated[str, typer.Option(help="trusted, agent or untrusted.")] = "agent",
    since: Annotated[str, typer.Option("--from", metavar="DATE", help="Since when it holds.")] = "",
    until: Annotated[str, typer.Option(metavar="DATE", help="Until when it holds, that day included.")] = "",
) -> None:
    """Add a fact, or update the one that says the same.

    Example: mabos fact assert acme hasRevenue '$50,000' --confidence 0.9 --source cfo-report
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    times = {"valid_from": _day(since, agent), "valid_until": _day(until, agent)}
    given = Fact("", subject, predicate, object, confidence, source, trust, **times)
    (told, lost), warnings = change_facts(agent, "fact assert", asserting(agent, [given]))
    fact, state = told[0]
    data = {"state": state, "fact": fact_to_dict(fact)}
    call.emit("fact.assert", data, [f"{state} {fact_line(fact)}"], warnings + lost)


def _day(text: str, agent: Agent) -> str:
    """A date as it was given if it is one, or the moment that words such as `today` mean."""
    said = text.strip()
    if not said:
        return ""
    moment = parse_when(said, agent.now())
    return said if said[:4].isdigit() and "-" in said else format_time(moment)[:10]


@app.command()
def retract(
    ctx: typer.Context,
    fact_id: Annotated[str, typer.Argument(metavar="[ID]", help="One fact.")] = "",
    subject: Annotated[str, typer.Option(help="All asserted facts about it.")] = "",
    predicate: Annotated[str, typer.Option(help="All asserted facts with it.")] = "",
    reason: Annotated[str, typer.Option(help="Why; kept in the archive.")] = "",
    cascade: Annotated[
        bool, typer.Option("--cascade", help="Also drop the derived facts that rest on them alone.")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Take facts out; the archive keeps them.

    Example: mabos fact retract --subject acme --predicate hasRevenue --reason "restated"
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    if bool(fact_id) == bool(subject or predicate):
        raise UsageFault("which facts?", "give an ID, or --subject, --predicate or both")
    wanted = {"id": fact_id, "subject": subject, "predicate": predicate}
    wanted = {name: value for name, value in wanted.items() if value}
    why, now = check_word(reason, "reason", 2000), format_time(agent.now())

    def plan(facts: Facts, _: Fresh) -> tuple[FactChanges | None, tuple[list[Fact], Fallout]]:
        gone = _matching(agent, facts, wanted)
        fallout = _fall_out(agent, facts, gone, cascade)
        changes = plan_retract(gone, why, now)._replace(derived=fallout.left, rules_version=fallout.rules_version)
        return (None if dry_run else changes), (gone, fallout)

    (gone, fallout), warnings = change_facts(agent, "fact retract", plan)
    lost = fallout.lost
    verb = "would retract" if dry_run else "retracted"
    lines = [f"{verb} {fact_line(fact)}" for fact in gone]
    after = "also dropped" if cascade and not dry_run else "loses its support:"
    lines += [f"{after} {fact_line(fact)}" for fact in lost]
    data = {"dry_run": dry_run, "retracted": [fact_to_dict(f) for f in gone], "unsupported": [f.id for f in lost]}
    if lost and not cascade:
        more = f"{plural(len(lost), 'derived fact')} lost support: --cascade, or mabos infer forward --persist"
        warnings = [*warnings, more]
    call.emit("fact.retract", data, lines, [*warnings, *fallout.warnings])


def _matching(agent: Agent, facts: Facts, wanted: dict[str, str]) -> list[Fact]:
    """The facts in facts.json with all of some values; NotFound when there are none."""
    name, value = next(iter(wanted.items()))
    found = facts.asserted.where(name, value)
    asserted = [fact for fact in found if all(getattr(fact, n) == v for n, v in wanted.items())]
    if asserted:
        return asserted
    derived = facts.find(value) if name == "id" else None
    if derived:
        raise UsageFault(f"{value} is derived by {derived.rule_id}", "retract what it rests on, or turn the rule off")
    if name == "id":
        find_fact(agent, facts, value)
    told = " and ".join(f"{n} {v!r}" for n, v in wanted.items())
    raise NotFound(f"no asserted fact with {told} for agent {agent.id}", "mabos fact query lists them")


class Fallout(NamedTuple):
    """What a retraction does to derived facts: those that no longer follow, and, if they are to be made anew, all that do."""

    lost: list[Fact]
    left: tuple[Fact, ...] | None = None
    rules_version: int = 0
    warnings: tuple[str, ...] = ()


def _fall_out(agent: Agent, facts: Facts, gone: list[Fact], cascade: bool) -> Fallout:
    ids = {fact.id for fact in gone}
    derived = list(facts.derived.facts())
    touched = {fact.id for fact in supports_lost(ids, derived)}
    if not derived or not (touched or cascade):
        return Fallout([])
    rules = load_rules(agent)
    with without_gc():
        asserted = [fact for fact in facts.asserted.facts() if fact.id not in ids]
        again = forward_chain(asserted, rules.rules)
    follow = {fact.id for fact in again.derived}
    lost = [fact for fact in derived if fact.id not in follow and (cascade or fact.id in touched)]
    cut = () if again.fixpoint == "reached" else (f"inference {again.fixpoint}",)
    return Fallout(lost, again.derived if cascade else None, rules.version, cut)


@app.command()
def query(
    ctx: typer.Context,
    subject: Annotated[str, typer.Argument(help="A subject; * stands for anything.")] = "*",
    predicate: Annotated[str, typer.Argument(help="A predicate, likewise.")] = "*",
    object: Annotated[str, typer.Argument(help="An object, likewise.")] = "*",
    min_confidence: Annotated[float, typer.Option(help="Only facts at least this sure.")] = 0.0,
    valid_at: Annotated[str, typer.Option(metavar="DATE", help="Only facts that hold then: today, 2026-03-01.")] = "",
    no_derived: Annotated[bool, typer.Option("--no-derived", help="Only asserted facts.")] = False,
    limit: Limit = 50,
    shared: Annotated[
        bool, typer.Option("--shared", help="Also those of the other agents that share their memory.")
    ] = False,
) -> None:
    """List the facts that match a pattern.

    Example: mabos fact query acme 'has*' --valid-at today
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    moment = parse_when(valid_at, agent.now()) if valid_at.strip() else None
    # Facts are kept with single blanks between words.
    parts = (" ".join(part.split()) for part in (subject, predicate, object))
    asked = Query(*parts, check_importance(min_confidence), moment, not no_derived)
    facts = load_facts(agent)
    found = [SharedFact(fact) for fact in find_facts(facts, asked)]
    others, warnings = find_shared_facts(call, agent, asked) if shared else ([], [])
    found += others
    shown = sorted(found, key=lambda each: (each.fact.triple, each.agent, each.fact.id))[: limit or None]
    lines = [_shared_line(each) for each in shown] or [_nothing(facts)]
    lines += more_line(len(found), len(shown))
    data = {"count": len(found), "facts": [_shared_row(each) for each in shown]}
    call.emit("fact.query", data, lines, warnings + (stale_warning(agent, facts) if not no_derived else []))


def _nothing(facts: Facts) -> str:
    return "no fact matches" if len(facts.asserted) or len(facts.derived) else "no facts yet"


def _shared_line(each: SharedFact) -> str:
    told = fact_line(each.fact._replace(id=each.ref))
    return f"{told} [{each.via}]" if each.via else told


def _shared_row(each: SharedFact) -> dict[str, Any]:
    """A fact as JSON, with whose it is if it is another agent's."""
    whose = {"agent": each.agent, "via": each.via or "files"} if each.agent else {}
    return fact_to_dict(each.fact) | whose


@app.command()
def explain(
    ctx: typer.Context,
    fact_id: Annotated[str, typer.Argument(metavar="ID", help="The fact.")],
    depth: Annotated[int, typer.Option(help="How far down to go.")] = 5,
) -> None:
    """Show what a fact rests on, back to asserted facts and rules.

    Example: mabos fact explain F-inf-3f9a61c2d4e5 --depth 3
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    facts = load_facts(agent)
    find_fact(agent, facts, fact_id)
    rules = {rule.id: rule for rule in load_rules(agent).rules}
    tree = explain_fact(fact_id, list(facts.all()), list(rules.values()), max(0, depth))
    call.emit("fact.explain", {"tree": _row(tree)}, _draw(tree, ""))


def find_fact(agent: Agent, facts: Facts, fact_id: str) -> Fact:
    """The fact with an id; NotFound says whether it was retracted."""
    found = facts.find(fact_id)
    if found:
        return found
    left = find_fact_departures(agent.paths, b'{"id": %s, "kind": "fact"' % dump_line(fact_id).encode())
    if left:
        raise NotFound(f"{fact_id} was {left[-1].reason} on {left[-1].at[:10]}", f"mabos get {fact_id} shows it")
    raise NotFound(f"no fact {fact_id!r} for agent {agent.id}", "mabos fact query lists them")


def _row(origin: Origin) -> dict[str, Any]:
    """A node of an explanation as JSON."""
    return {
        "id": origin.fact_id,
        "fact": fact_to_dict(origin.fact) if origin.fact else None,
        "rule": origin.rule.id if origin.rule else None,
        "note": origin.note or None,
        "sources": [_row(part) for part in origin.parts],
    }


def _draw(origin: Origin, indent: str) -> list[str]:
    """A tree of an explanation as lines."""
    told = fact_line(origin.fact) if origin.fact else origin.fact_id
    by = f" <- {origin.rule.label}" if origin.rule else ""
    note = f" [{origin.note}]" if origin.note else ""
    return [f"{indent}{told}{by}{note}", *(line for part in origin.parts for line in _draw(part, indent + "  "))]


@app.command()
def current(
    ctx: typer.Context,
    subject: Subject,
    at: Annotated[str, typer.Option(metavar="DATE", help="At another time than now.")] = "",
) -> None:
    """Show what holds of a subject now; of a functional predicate only the latest word.

    Example: mabos fact current acme
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    functional, warnings = functional_predicates(agent)
    moment = parse_when(at, agent.now()) if at.strip() else agent.now()
    facts = load_facts(agent)
    found = current_facts(facts.where("subject", subject), functional, moment)
    lines = [fact_line(fact) for fact in found] or [f"nothing is known about {subject}"]
    data = {"subject": subject, "facts": [fact_to_dict(fact) for fact in found]}
    call.emit("fact.current", data, lines, warnings + stale_warning(agent, facts))


@app.command()
def timeline(ctx: typer.Context, subject: Subject) -> None:
    """Show how what is known of a subject came about: facts in the order of their time, retracted and updated ones too.

    Example: mabos fact timeline acme
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    facts = load_facts(agent)
    mark = f'"subject": {dump_line(subject)}, "'.encode()
    rows = [(fact, "", "") for fact in facts.where("subject", subject)]
    left = find_fact_departures(agent.paths, mark)
    rows += [(d.fact, d.reason, d.at) for d in left if d.fact.subject == subject]
    rows.sort(key=lambda row: (known_since(row[0]), row[0].created_at, row[2] or "9", row[0].id))
    lines = [f"{known_since(fact)} {fact_line(fact)}{f' [{why} {at[:10]}]' if why else ''}" for fact, why, at in rows]
    told = [fact_to_dict(f) | {"left": {"reason": why, "at": at} if why else None} for f, why, at in rows]
    call.emit("fact.timeline", {"subject": subject, "facts": told}, lines or [f"nothing is known about {subject}"])


@app.command()
def lint(
    ctx: typer.Context, check: Annotated[bool, typer.Option("--check", help="Exit 7 when there are findings.")] = False
) -> None:
    """Find contradictions, support that is gone or expired, and what ontologies say cannot be.

    Example: mabos fact lint --check
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    from mabos_cli.core.knowledge.fact_types import lint_types  # only this command needs whole ontologies
    from mabos_cli.workspace.knowledge.ontologies import load_ontology

    ontology, warnings = load_ontology(agent.paths.workspace)
    functional, facts = ontology.functional_names(), load_facts(agent)
    rules = frozenset(rule.id for rule in load_rules(agent).rules if rule.enabled)
    held = list(facts.all())
    found = [*lint_facts(held, functional, rules, agent.now()), *lint_types(held, ontology)]
    lines = [f"{finding.kind}: {finding.message} ({', '.join(finding.facts)})" for finding in found]
    data = {
        "functional": sorted(functional & {fact.predicate for fact in held}),
        "findings": [f._asdict() | {"facts": list(f.facts)} for f in found],
    }
    call.emit("fact.lint", data, lines or ["no findings"], warnings + stale_warning(agent, facts))
    if check and found:
        raise CheckFailed(plural(len(found), "finding"), "mabos fact retract ID takes out what is wrong")


app.command("import")(import_command)
app.command("export")(export_command)
