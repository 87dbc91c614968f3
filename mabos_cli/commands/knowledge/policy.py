"""policy: what is to be done, by what holds."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.constraints import assume, eval_policies
from mabos_cli.core.knowledge.fact import Fact, check_fact, holds_at
from mabos_cli.workspace.knowledge.facts import load_facts, load_rules

app = new_group("policy", "Evaluate policies against facts.", no_args_is_help=True)


@app.command("eval")
def eval_command(
    ctx: typer.Context,
    given: Annotated[
        list[str] | None, typer.Option("--set", metavar="S:P=O", help="A fact to assume for this time; may repeat.")
    ] = None,
) -> None:
    """List the actions that policies ask for now, escalations first; --set asks what if.

    Example: mabos policy eval --set acme:hasDebt=90000
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    assumed = [_assumed(text, number) for number, text in enumerate(given or (), 1)]
    held = [fact for fact in load_facts(agent).all() if holds_at(fact, agent.now())]
    actions, problems = eval_policies(assume(held, assumed), load_rules(agent).rules)
    lines = [
        f"{'escalate: ' if a.rule.escalate else ''}{a.message} ({a.rule.id}; {', '.join(a.supports)})" for a in actions
    ]
    rows = [
        {
            "rule": a.rule.id,
            "action": a.message,
            "escalate": a.rule.escalate,
            "bindings": dict(a.bindings),
            "facts": list(a.supports),
        }
        for a in actions
    ]
    call.emit(
        "policy.eval",
        {"actions": rows},
        lines or ["no actions"],
        [f"{p.rule_id} cannot run: {p.reason}" for p in problems],
    )


def _assumed(text: str, number: int) -> Fact:
    """A fact to assume, from subject:predicate=object."""
    left, equals, obj = text.partition("=")
    subject, colon, predicate = left.rpartition(":")
    if not equals or not colon:
        raise BadValue(f"cannot read --set {text[:60]!r}", "write subject:predicate=object")
    return check_fact(Fact(f"assumed-{number}", subject, predicate, obj, source="assumed"))
