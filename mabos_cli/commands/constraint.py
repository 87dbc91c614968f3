"""constraint: what must not be, checked against facts."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.core.constraints import check_constraints
from mabos_cli.core.fact_time import holds_at
from mabos_cli.core.item import check_choice
from mabos_cli.core.rule import SEVERITIES
from mabos_cli.core.text import plural
from mabos_cli.errors import CheckFailed
from mabos_cli.workspace.knowledge import load_facts
from mabos_cli.workspace.rulebook import load_rules

app = new_group("constraint", "Check facts against constraints.", no_args_is_help=True)


@app.command()
def check(
    ctx: typer.Context,
    failing: Annotated[bool, typer.Option("--check", help="Exit 7 when a constraint is violated.")] = False,
    severity: Annotated[str, typer.Option(help="Only violations at least this severe.")] = "info",
) -> None:
    """List the violations of constraints, the most severe first, with the facts behind each.

    Example: mabos constraint check --check --severity error
    """
    call: Call = ctx.obj
    home = call.open_home()
    least = SEVERITIES.index(check_choice(severity, SEVERITIES, "severity"))
    facts = [fact for fact in load_facts(home).all() if holds_at(fact, home.now())]
    violations, problems = check_constraints(facts, load_rules(home).rules)
    found = [v for v in violations if SEVERITIES.index(v.rule.severity) >= least]
    lines = [f"{v.rule.severity}: {v.message} ({v.rule.id}; {', '.join(v.supports)})" for v in found]
    rows = [
        {
            "rule": v.rule.id,
            "severity": v.rule.severity,
            "message": v.message,
            "bindings": dict(v.bindings),
            "facts": list(v.supports),
        }
        for v in found
    ]
    call.emit(
        "constraint.check",
        {"violations": rows},
        lines or ["no violations"],
        [f"{p.rule_id} cannot run: {p.reason}" for p in problems],
    )
    if failing and found:
        raise CheckFailed(plural(len(found), "violation"))
