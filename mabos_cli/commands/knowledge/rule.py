"""rule: what follows from facts, what must not be, what is to be done; in rules.json."""

from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.options import Limit, more_line
from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.joins import FactIndex, JoinLimit, fill, match
from mabos_cli.core.knowledge.rule import KINDS, SEVERITIES, Pattern, Rule, check_rule
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_choice, check_word
from mabos_cli.errors import InvalidFile, NotFound, UsageFault
from mabos_cli.formats.json.text import parse_json
from mabos_cli.formats.knowledge.fact_text import fact_line
from mabos_cli.formats.knowledge.rules import (
    parse_rule_text,
    pattern_from_dict,
    render_pattern,
    render_rule_text,
    rule_to_dict,
)
from mabos_cli.services.inputs import line_argument
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.facts import RulePlan, change_rules, load_facts, load_rules

app = new_group("rule", "Create, list, test and switch rules over facts.", no_args_is_help=True)
RuleId = Annotated[str, typer.Argument(metavar="ID", help="The rule: R-001.")]


@app.command()
def create(
    ctx: typer.Context,
    text: Annotated[
        str,
        typer.Argument(
            metavar="[TEXT]", help="The rule in words, - for standard input: if ?x p ?y and ?y > 5 then ?x q z."
        ),
    ] = "",
    name: Annotated[str, typer.Option(help="What to call it.")] = "",
    type: Annotated[str, typer.Option(help="inference, constraint or policy; else by what is given.")] = "",
    condition: Annotated[list[str] | None, typer.Option(help="A condition, in words or as JSON; may repeat.")] = None,
    conclusion: Annotated[str, typer.Option(help="What follows, in words or as JSON.")] = "",
    message: Annotated[str, typer.Option(help="Constraint: what to say; ?x is filled in.")] = "",
    severity: Annotated[str, typer.Option(help="Constraint: info, warning, error or critical.")] = "warning",
    action: Annotated[str, typer.Option(help="Policy: what to do; ?x is filled in.")] = "",
    escalate: Annotated[bool, typer.Option("--escalate", help="Policy: somebody must be told.")] = False,
    factor: Annotated[float, typer.Option(help="Inference: what a conclusion keeps of the confidence.")] = 0.9,
    description: Annotated[str, typer.Option(help="More about it.")] = "",
    domain: Annotated[str, typer.Option(help="The domain that it belongs to.")] = "",
) -> None:
    """Add a rule. Without a conclusion it is a policy if it has an action, else a constraint.

    Example: mabos rule create "if ?x hasRevenue ?y and ?x locatedIn US then ?x isTaxable true"
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    text = line_argument(text, call.literal_dash)
    conditions, follows = _parts(text, condition or [], conclusion, f"{message} {action}")
    kind = type or ("inference" if follows else "policy" if action else "constraint")
    made = Rule(
        "R-new",
        check_word(name, "name"),
        check_choice(kind, KINDS, "type"),
        conditions,
        follows,
        check_word(description, "description", 2000),
        check_word(message, "message", 2000),
        check_choice(severity, SEVERITIES, "severity"),
        check_word(action, "action", 2000),
        escalate,
        factor,
        domain=check_word(domain, "domain"),
        created_at=format_time(agent.now()),
    )
    reasons = check_rule(made)
    if reasons:
        raise BadValue(f"this rule cannot run: {reasons[0]}", "; ".join(reasons[1:]))

    (new, notes), warnings = change_rules(agent, "rule create", _adding(made))
    call.emit("rule.create", {"rule": rule_to_dict(new)}, [f"created {_line(new)}"], warnings + notes)


def _adding(made: Rule) -> RulePlan[tuple[Rule, list[str]]]:
    """A plan that adds a rule, with a note when there is one like it."""

    def plan(rules: tuple[Rule, ...], own: str) -> tuple[tuple[Rule, ...], tuple[Rule, list[str]]]:
        said = (made.type, made.conditions, made.conclusion)
        same = [rule.id for rule in rules if (rule.type, rule.conditions, rule.conclusion) == said]
        new = made._replace(id=own, name=made.name or own)
        return (*rules, new), (new, [f"{same[0]} says the same"] if same else [])

    return plan


def _parts(text: str, given: list[str], conclusion: str, told: str) -> tuple[tuple[Pattern, ...], Pattern | None]:
    """The conditions and the conclusion of a rule, from its text or from options."""
    if bool(text) == bool(given):
        raise UsageFault("give the rule in words, or --condition", 'as in: mabos rule create "if ?x p ?y then ?x q ?y"')
    if text:
        conditions, follows = parse_rule_text(text, told)
        if follows and conclusion:
            raise UsageFault("the text has a conclusion already", "leave out --conclusion")
        return conditions, follows or (_pattern(conclusion) if conclusion else None)
    return tuple(map(_pattern, given)), _pattern(conclusion) if conclusion else None


def _pattern(text: str) -> Pattern:
    """A condition in words or as JSON."""
    if text.lstrip().startswith("{"):
        try:
            return pattern_from_dict(parse_json(text, "--condition", hint="a JSON object"), "--condition")
        except InvalidFile as error:
            raise BadValue(
                error.message, '{"subject": "?x", "predicate": "age", "object": "18", "operator": "lt"}'
            ) from None
    return parse_rule_text(text)[0][0]


@app.command("list")
def list_command(
    ctx: typer.Context, type: Annotated[str, typer.Option(help="Only inference, constraint or policy.")] = ""
) -> None:
    """List the rules; those that cannot run are said to be so.

    Example: mabos rule list --type inference
    """
    call: Call = ctx.obj
    wanted = check_choice(type, KINDS, "type") if type else ""
    every = load_rules(call.open_agent()).rules
    rules = [rule for rule in every if not wanted or rule.type == wanted]
    warnings = [f"{rule.id} cannot run: {reason}" for rule in rules for reason in check_rule(rule)]
    call.emit(
        "rule.list",
        {"rules": [rule_to_dict(r) for r in rules]},
        [_line(r) for r in rules] or [f"no rule of type {wanted}" if every else "no rules yet"],
        warnings,
    )


@app.command()
def show(ctx: typer.Context, rule_id: RuleId) -> None:
    """Show one rule, part by part.

    Example: mabos rule show R-001
    """
    call: Call = ctx.obj
    rule = _find(call.open_agent(), rule_id)
    lines = [_line(rule), *(f"  if {render_pattern(condition)}" for condition in rule.conditions)]
    lines += [f"  then {render_pattern(rule.conclusion)} (x {rule.confidence_factor:g})"] if rule.conclusion else []
    lines += [f"  says: {rule.violation_message}"] if rule.violation_message else []
    lines += [f"  do: {rule.action}{' (escalate)' if rule.escalate else ''}"] if rule.action else []
    lines += [f"  {rule.description}"] if rule.description else []
    reasons = check_rule(rule)
    data = {"rule": rule_to_dict(rule), "text": render_rule_text(rule.conditions, rule.conclusion), "problems": reasons}
    call.emit("rule.show", data, lines, [f"cannot run: {reason}" for reason in reasons])


def _find(agent: Agent, rule_id: str, rules: tuple[Rule, ...] | None = None) -> Rule:
    for rule in load_rules(agent).rules if rules is None else rules:
        if rule.id.casefold() == rule_id.strip().casefold():
            return rule
    raise NotFound(f"no rule {rule_id!r} for agent {agent.id}", "mabos rule list shows them")


@app.command()
def toggle(
    ctx: typer.Context,
    rule_id: RuleId,
    on: Annotated[bool | None, typer.Option("--on/--off", help="Which; else the other one.")] = None,
) -> None:
    """Switch a rule on or off.

    Example: mabos rule toggle R-001 --off
    """
    call: Call = ctx.obj
    agent = call.open_agent()

    def plan(rules: tuple[Rule, ...], _: str) -> tuple[tuple[Rule, ...], Rule]:
        old = _find(agent, rule_id, rules)
        new = old._replace(enabled=not old.enabled if on is None else on)
        return tuple(new if rule is old else rule for rule in rules), new

    new, warnings = change_rules(agent, "rule toggle", plan)
    state = "on" if new.enabled else "off"
    call.emit("rule.toggle", {"id": new.id, "enabled": new.enabled}, [f"{new.id} is {state}"], warnings)


@app.command()
def delete(ctx: typer.Context, rule_id: RuleId) -> None:
    """Take a rule out; the archive keeps it. What it derived goes with the next infer forward --persist.

    Example: mabos rule delete R-001
    """
    call: Call = ctx.obj
    agent = call.open_agent()

    def plan(rules: tuple[Rule, ...], _: str) -> tuple[tuple[Rule, ...], Rule]:
        gone = _find(agent, rule_id, rules)
        return tuple(rule for rule in rules if rule is not gone), gone

    gone, warnings = change_rules(agent, "rule delete", plan)
    call.emit("rule.delete", {"rule": rule_to_dict(gone)}, [f"deleted {_line(gone)}"], warnings)


@app.command()
def test(ctx: typer.Context, rule_id: RuleId, limit: Limit = 20) -> None:
    """Show what one rule matches now and what it would derive, without writing anything.

    Example: mabos rule test R-001
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    rule = _find(agent, rule_id)
    reasons = check_rule(rule)
    if reasons:
        raise BadValue(f"{rule.id} cannot run: {reasons[0]}", "; ".join(reasons[1:]))
    try:
        found = match(rule.conditions, FactIndex(load_facts(agent).all()))
    except JoinLimit:
        raise BadValue(f"{rule.id} joins facts in too many ways", "give it a condition that narrows it down") from None
    rows: list[dict[str, Any]] = []
    lines = [f"{rule.id} matches {plural(len(found), 'time')}"]
    for each in found[: limit or None]:
        told = render_pattern(rule.conclusion) if rule.conclusion else rule.action or rule.violation_message
        said = fill(told, each.bindings)
        sure = each.confidence * (rule.confidence_factor if rule.conclusion else 1)
        bound = ", ".join(f"{name} = {value}" for name, value in each.bindings)
        lines += [f"{one_line(bound, 100)}: {one_line(said, 120)} ({sure:.2f})"]
        lines += [f"  {fact_line(fact)}" for fact in each.supports]
        rows.append(
            {
                "bindings": dict(each.bindings),
                "result": said,
                "confidence": sure,
                "supports": [f.id for f in each.supports],
            }
        )
    lines += more_line(len(found), len(rows))
    call.emit("rule.test", {"rule": rule.id, "count": len(found), "matches": rows}, lines)


def _line(rule: Rule) -> str:
    """A rule on a line."""
    state = "" if rule.enabled else ", off"
    return f"{rule.label} ({rule.type}{state}): {one_line(render_rule_text(rule.conditions, rule.conclusion), 160)}"
