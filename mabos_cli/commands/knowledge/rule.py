"""rule, constraint, policy: what follows from facts, what must not be, what is to be done; in rules.json."""

from typing import Annotated, Any

from mabos_cli.commands.call import Commands, Context
from mabos_cli.commands.options import Argument, Limit, Option, ValidAt, more_line
from mabos_cli.core.knowledge.matching import fill
from mabos_cli.core.knowledge.rule import KINDS, Rule, check_rule
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_choice
from mabos_cli.errors import CheckFailed
from mabos_cli.formats.knowledge.fact_text import fact_line
from mabos_cli.formats.knowledge.rules import (
    action_row,
    render_pattern,
    render_rule_text,
    rule_line,
    rule_lines,
    rule_to_dict,
    violation_row,
)
from mabos_cli.services.inputs import line_argument, read_moment
from mabos_cli.services.knowledge import rules
from mabos_cli.workspace.knowledge.facts import load_rules

rule = Commands("rule", "Create, list, test and switch rules over facts.")
constraint = Commands("constraint", "Check facts against constraints.")
policy = Commands("policy", "Evaluate policies against facts.")
RuleId = Annotated[str, Argument(metavar="ID", help="The rule: R-001.")]


@rule.command()
def create(
    ctx: Context,
    text: Annotated[
        str,
        Argument(metavar="[TEXT]", help="The rule in words, - for standard input: if ?x p ?y and ?y > 5 then ?x q z."),
    ] = "",
    name: Annotated[str, Option(help="What to call it.")] = "",
    type: Annotated[str, Option(help="inference, constraint or policy; else by what is given.")] = "",
    condition: Annotated[list[str] | None, Option(help="A condition, in words or as JSON; may repeat.")] = None,
    conclusion: Annotated[str, Option(help="What follows, in words or as JSON.")] = "",
    message: Annotated[str, Option(help="Constraint: what to say; ?x is filled in.")] = "",
    severity: Annotated[str, Option(help="Constraint: info, warning, error or critical.")] = "warning",
    action: Annotated[str, Option(help="Policy: what to do; ?x is filled in.")] = "",
    escalate: Annotated[bool, Option("--escalate", help="Policy: somebody must be told.")] = False,
    factor: Annotated[float, Option(help="Inference: what a conclusion keeps of the confidence.")] = 0.9,
    description: Annotated[str, Option(help="More about it.")] = "",
    domain: Annotated[str, Option(help="The domain that it belongs to.")] = "",
) -> None:
    """Add a rule. Without a conclusion it is a policy if it has an action, else a constraint.

    Example: mabos rule create "if ?x hasRevenue ?y and ?x locatedIn US then ?x isTaxable true"
    """
    agent = ctx.obj.open_agent()
    text = line_argument(text, ctx.obj.literal_dash)
    draft = Rule("R-new", name, type, (), None, description, message, severity, action, escalate, factor, domain=domain)
    new, warnings = rules.create_rule(agent, rules.parse_rule(text, condition or (), conclusion, draft))
    ctx.obj.emit("rule.create", {"rule": rule_to_dict(new)}, [f"created {rule_line(new)}"], warnings)


@rule.command("list")
def list_command(ctx: Context, type: Annotated[str, Option(help="Only inference, constraint or policy.")] = "") -> None:
    """List the rules; those that cannot run are said to be so.

    Example: mabos rule list --type inference
    """
    wanted = check_choice(type, KINDS, "type") if type else ""
    every = load_rules(ctx.obj.open_agent()).rules
    found = [each for each in every if not wanted or each.type == wanted]
    warnings = [f"{each.id} cannot run: {reason}" for each in found for reason in check_rule(each)]
    lines = [rule_line(each) for each in found] or [f"no rule of type {wanted}" if every else "no rules yet"]
    ctx.obj.emit("rule.list", {"rules": [rule_to_dict(each) for each in found]}, lines, warnings)


@rule.command()
def show(ctx: Context, rule_id: RuleId) -> None:
    """Show one rule, part by part.

    Example: mabos rule show R-001
    """
    found = rules.find_rule(ctx.obj.open_agent(), rule_id)
    text, reasons = render_rule_text(found.conditions, found.conclusion), check_rule(found)
    data = {"rule": rule_to_dict(found), "text": text, "problems": reasons}
    ctx.obj.emit("rule.show", data, rule_lines(found), [f"cannot run: {reason}" for reason in reasons])


@rule.command()
def toggle(
    ctx: Context,
    rule_id: RuleId,
    on: Annotated[bool | None, Option("--on/--off", help="Which; else the other one.")] = None,
) -> None:
    """Switch a rule on or off.

    Example: mabos rule toggle R-001 --off
    """
    new, warnings = rules.toggle_rule(ctx.obj.open_agent(), rule_id, on)
    state = "on" if new.enabled else "off"
    ctx.obj.emit("rule.toggle", {"id": new.id, "enabled": new.enabled}, [f"{new.id} is {state}"], warnings)


@rule.command()
def delete(ctx: Context, rule_id: RuleId) -> None:
    """Take a rule out; the archive keeps it. What it derived goes with the next infer forward --persist.

    Example: mabos rule delete R-001
    """
    gone, warnings = rules.delete_rule(ctx.obj.open_agent(), rule_id)
    ctx.obj.emit("rule.delete", {"rule": rule_to_dict(gone)}, [f"deleted {rule_line(gone)}"], warnings)


@rule.command()
def test(ctx: Context, rule_id: RuleId, limit: Limit = 20) -> None:
    """Show what one rule matches now and what it would derive, without writing anything.

    Example: mabos rule test R-001
    """
    tried, found = rules.try_rule(ctx.obj.open_agent(), rule_id)
    result = render_pattern(tried.conclusion) if tried.conclusion else tried.action or tried.violation_message
    factor = tried.confidence_factor if tried.conclusion else 1
    rows: list[dict[str, Any]] = []
    lines = [f"{tried.id} matches {plural(len(found), 'time')}"]
    for each in found[: limit or None]:
        filled, confidence = fill(result, each.bindings), each.confidence * factor
        row = {"bindings": dict(each.bindings), "result": filled, "confidence": confidence}
        rows.append(row | {"supports": [fact.id for fact in each.supports]})
        bound = ", ".join(f"{name} = {value}" for name, value in each.bindings)
        lines.append(f"{one_line(bound, 100)}: {one_line(filled, 120)} ({confidence:.2f})")
        lines += [f"  {fact_line(fact)}" for fact in each.supports]
    lines += more_line(len(found), len(rows))
    ctx.obj.emit("rule.test", {"rule": tried.id, "count": len(found), "matches": rows}, lines)


@constraint.command()
def check(
    ctx: Context,
    failing: Annotated[bool, Option("--check", help="Exit 7 when a constraint is violated.")] = False,
    severity: Annotated[
        str, Option(help="Only violations at least this severe: info, warning, error or critical.")
    ] = "info",
    no_ontology: Annotated[
        bool, Option("--no-ontology", help="Only constraints of the agent, not the rules of ontologies.")
    ] = False,
    valid_at: ValidAt = "",
) -> None:
    """List the violations of constraints and of the rules of ontologies, the most severe first, with the facts behind each.

    Example: mabos constraint check --check --severity error
    """
    agent = ctx.obj.open_agent()
    moment = read_moment(valid_at, agent.now())
    found, ontology, warnings = rules.check_constraints(agent, severity, with_ontology=not no_ontology, at=moment)
    rows = [violation_row(each, ontology.rules.get(each.rule.id)) for each in found]
    lines = []
    for row in rows:
        # No permission can set aside what is so by definition.
        kind = ", definitional" if row.get("modality") == "definitional" else ""
        lines.append(f"{row['severity']}: {row['message']} ({row['rule']}{kind}; {', '.join(row['facts'])})")
    ctx.obj.emit("constraint.check", {"violations": rows}, lines or ["no violations"], warnings)
    if failing and found:
        raise CheckFailed(plural(len(found), "violation"), "mabos rule show ID tells what a constraint asks for")


@policy.command("eval")
def eval_command(
    ctx: Context,
    given: Annotated[
        list[str] | None, Option("--set", metavar="S:P=O", help="A fact to assume for this time; may repeat.")
    ] = None,
    valid_at: ValidAt = "",
) -> None:
    """List the actions that policies ask for now, escalations first; --set asks what if.

    Example: mabos policy eval --set acme:hasDebt=90000
    """
    agent = ctx.obj.open_agent()
    actions, problems = rules.evaluate_policies(agent, given or (), read_moment(valid_at, agent.now()))
    rows = [action_row(each) for each in actions]
    lines = [
        f"{'escalate: ' if row['escalate'] else ''}{row['action']} ({row['rule']}; {', '.join(row['facts'])})"
        for row in rows
    ]
    warnings = [f"{each.rule_id} cannot run: {each.reason}" for each in problems]
    ctx.obj.emit("policy.eval", {"actions": rows}, lines or ["no actions"], warnings)
