"""constraint: what must not be, checked against facts."""

from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.core.knowledge.constraints import Firing, check_with_ontology
from mabos_cli.core.knowledge.fact import holds_at
from mabos_cli.core.knowledge.ontology import BusinessRule, Ontology
from mabos_cli.core.knowledge.rule import SEVERITIES
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import check_choice
from mabos_cli.errors import CheckFailed
from mabos_cli.formats.knowledge.jsonld_nodes import read_constraints
from mabos_cli.workspace.knowledge.facts import load_facts, load_rules
from mabos_cli.workspace.knowledge.ontologies import load_ontology

app = new_group("constraint", "Check facts against constraints.", no_args_is_help=True)


@app.command()
def check(
    ctx: typer.Context,
    failing: Annotated[bool, typer.Option("--check", help="Exit 7 when a constraint is violated.")] = False,
    severity: Annotated[
        str, typer.Option(help="Only violations at least this severe: info, warning, error or critical.")
    ] = "info",
    no_ontology: Annotated[
        bool, typer.Option("--no-ontology", help="Only constraints of the agent, not the rules of ontologies.")
    ] = False,
) -> None:
    """List the violations of constraints and of the rules of ontologies, the most severe first, with the facts behind each.

    Example: mabos constraint check --check --severity error
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    least = SEVERITIES.index(check_choice(severity, SEVERITIES, "severity"))
    facts = [fact for fact in load_facts(agent).all() if holds_at(fact, agent.now())]
    ontology, warnings = (Ontology(), []) if no_ontology else load_ontology(agent.paths.workspace)
    given, unread = read_constraints(ontology)
    violations = check_with_ontology(facts, load_rules(agent).rules, given, ontology)
    found = [v for v in violations.found if SEVERITIES.index(v.rule.severity) >= least]
    lines = [f"{v.rule.severity}: {v.message} ({_source(v.rule.id, ontology)}; {', '.join(v.supports)})" for v in found]
    rows = [_row(v, ontology.rules.get(v.rule.id)) for v in found]
    warnings += [f"{p.rule_id} cannot run: {p.reason}" for p in (*unread, *violations.problems)]
    call.emit("constraint.check", {"violations": rows}, lines or ["no violations"], warnings)
    if failing and found:
        raise CheckFailed(plural(len(found), "violation"), "mabos rule show ID tells what a constraint asks for")


def _source(rule_id: str, ontology: Ontology) -> str:
    """The id of a rule; a definitional one says so: no permission can set it aside."""
    rule = ontology.rules.get(rule_id)
    return f"{rule_id}, definitional" if rule and rule.modality == "definitional" else rule_id


def _row(violation: Firing, rule: BusinessRule | None) -> dict[str, Any]:
    told = {
        "rule": violation.rule.id,
        "severity": violation.rule.severity,
        "message": violation.message,
        "bindings": dict(violation.bindings),
        "facts": list(violation.supports),
    }
    if rule is None:
        return told
    names = ("statement", "modality", "enforcement_level")
    return told | {"ontology": rule.source} | {name: getattr(rule, name) for name in names}
