"""Rules of an agent: created, switched, tried on its facts, checked as constraints and evaluated as policies."""

from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import count

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.constraints import (
    Firing,
    Firings,
    assume,
    check_with_ontology,
    eval_policies,
    ground_pattern,
)
from mabos_cli.core.knowledge.fact import Fact, check_fact, holds_at
from mabos_cli.core.knowledge.matching import JoinLimit, Match, match
from mabos_cli.core.knowledge.ontology import Ontology
from mabos_cli.core.knowledge.relations import FactIndex
from mabos_cli.core.knowledge.rule import KINDS, SEVERITIES, Pattern, Rule, check_rule, stratify, usable_rules
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.item import check_choice, check_word
from mabos_cli.errors import InvalidFile, NotFound, UsageFault
from mabos_cli.formats.json.text import parse_json
from mabos_cli.formats.knowledge.rules import parse_rule_text, pattern_from_dict
from mabos_cli.services.inputs import without_gc
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.facts import load_facts
from mabos_cli.workspace.knowledge.ontologies import load_ontology
from mabos_cli.workspace.knowledge.rules import change_rules, load_rules


def parse_rule(text: str, conditions: Sequence[str], conclusion: str, draft: Rule) -> Rule:
    """Returns a draft with the conditions and the conclusion that are given as text, or one by one in words or as JSON. What has
    no type is an inference if something follows, else a policy if it has an action, else a constraint."""
    if bool(text) == bool(conditions):
        raise UsageFault("give the rule in words, or --condition", 'as in: mabos rule create "if ?x p ?y then ?x q ?y"')
    if text:
        parts, follows = parse_rule_text(text, f"{draft.violation_message} {draft.action}")
        if follows and conclusion:
            raise UsageFault("the text has a conclusion already", "leave out --conclusion")
    else:
        parts, follows = tuple(map(_parse_pattern, conditions)), None
    follows = follows or (_parse_pattern(conclusion) if conclusion else None)
    kind = draft.type or ("inference" if follows else "policy" if draft.action else "constraint")
    return draft._replace(type=kind, conditions=parts, conclusion=follows)


def _parse_pattern(text: str) -> Pattern:
    """Returns a condition from words or JSON."""
    if not text.lstrip().startswith("{"):
        return parse_rule_text(text)[0][0]
    try:
        return pattern_from_dict(parse_json(text, "--condition", hint="a JSON object"), "--condition")
    except InvalidFile as error:
        example = '{"subject": "?x", "predicate": "age", "object": "18", "operator": "lt"}'
        raise BadValue(error.message, example) from None


def create_rule(agent: Agent, draft: Rule) -> tuple[Rule, list[str]]:
    """Adds a rule: the rule, and warnings, among them one when another rule says the same."""
    checked = draft._replace(
        name=check_word(draft.name, "name"),
        description=check_word(draft.description, "description", 2000),
        violation_message=check_word(draft.violation_message, "message", 2000),
        action=check_word(draft.action, "action", 2000),
        domain=check_word(draft.domain, "domain"),
        created_at=format_time(agent.now()),
    )
    check_choice(checked.type, KINDS, "type")
    check_choice(checked.severity, SEVERITIES, "severity")
    _check_usable(checked, "this rule")

    def plan(rules: tuple[Rule, ...], new_id: str) -> tuple[tuple[Rule, ...], tuple[Rule, list[str]]]:
        content = (checked.type, checked.conditions, checked.conclusion)
        same = [rule.id for rule in rules if (rule.type, rule.conditions, rule.conclusion) == content]
        new = checked._replace(id=new_id, name=checked.name or new_id)
        # The rules that depend on their own negation because of a new one.
        before, after = (stratify(usable_rules(each, "inference")[0])[1] for each in (rules, (*rules, new)))
        circle = [each for each in after if each.rule_id not in {one.rule_id for one in before}]
        if circle:
            hint = "what it negates or counts must not depend on it"
            raise BadValue(f"this rule cannot run: {circle[0].reason}", hint)
        return (*rules, new), (new, [f"{same[0]} is the same rule"] if same else [])

    (new, notes), warnings = change_rules(agent, "rule create", plan)
    return new, warnings + notes


def _check_usable(rule: Rule, shown: str) -> None:
    reasons = check_rule(rule)
    if reasons:
        raise BadValue(f"{shown} cannot run: {reasons[0]}", "; ".join(reasons[1:]))


def find_rule(agent: Agent, rule_id: str, rules: Sequence[Rule] | None = None) -> Rule:
    """Returns the rule with an id, in whatever case; NotFound when there is none."""
    for rule in load_rules(agent).rules if rules is None else rules:
        if rule.id.casefold() == rule_id.strip().casefold():
            return rule
    raise NotFound(f"no rule {rule_id!r} for agent {agent.id}", "mabos rule list shows them")


def toggle_rule(agent: Agent, rule_id: str, enabled: bool | None) -> tuple[Rule, list[str]]:
    """Switches a rule on or off, without a wish to the other one: the rule as it is now, and warnings."""
    return _replace_rule(
        agent, "rule toggle", rule_id, lambda old: old._replace(enabled=not old.enabled if enabled is None else enabled)
    )


def delete_rule(agent: Agent, rule_id: str) -> tuple[Rule, list[str]]:
    """Takes a rule out, which the archive keeps: the rule, and warnings."""
    return _replace_rule(agent, "rule delete", rule_id, lambda old: None)


def _replace_rule(
    agent: Agent, command: str, rule_id: str, change: Callable[[Rule], Rule | None]
) -> tuple[Rule, list[str]]:
    """Replaces a rule by what a change makes of it, or takes it out."""

    def plan(rules: tuple[Rule, ...], _: str) -> tuple[list[Rule], Rule]:
        old = find_rule(agent, rule_id, rules)
        new = change(old)
        changed = [new if rule is old else rule for rule in rules]
        return [rule for rule in changed if rule], new or old

    return change_rules(agent, command, plan)


def try_rule(agent: Agent, rule_id: str) -> tuple[Rule, list[Match]]:
    """Returns a rule and every way in which it matches the facts."""
    rule = find_rule(agent, rule_id)
    _check_usable(rule, rule.id)
    try:
        return rule, match(rule.conditions, FactIndex(load_facts(agent).all()))
    except JoinLimit:
        raise BadValue(f"{rule.id} joins facts in too many ways", "give it a condition that narrows it down") from None


def import_shapes(agent: Agent, text: str, path: str, form: str) -> tuple[dict[str, int], list[str]]:
    """Makes constraints of SHACL shapes, in place of what the same shapes asked for before: how many are added, updated, unchanged
    and removed; and warnings, with all that was not understood."""
    from mabos_cli.backends.rdf import parse_shapes
    from mabos_cli.formats.knowledge.shapes import read_shapes, update_shapes

    try:
        shapes = read_shapes(parse_shapes(text, path, form))
    except InvalidFile as error:
        raise InvalidFile(error.message if path in error.message else f"{path}: {error.message}", error.hint) from None
    for rule in shapes.rules:
        _check_usable(rule, rule.name)

    def plan(rules: tuple[Rule, ...], new_id: str) -> tuple[list[Rule], dict[str, int]]:
        numbers = count(int(new_id.removeprefix("R-")))
        return update_shapes(rules, shapes, lambda: f"R-{next(numbers):03d}", format_time(agent.now()))

    counts, warnings = change_rules(agent, "constraint import", plan)
    return counts, [*warnings, *shapes.notes]


def check_constraints(
    agent: Agent, severity: str, *, with_ontology: bool, at: datetime | None = None
) -> tuple[list[Firing], Ontology, list[str]]:
    """Returns where facts violate constraints of the agent and rules of ontologies, at least as severe as asked for, the most severe
    first, now or at a moment; the ontologies whose rules were checked too; and warnings."""
    from mabos_cli.core.knowledge.entailment import disjoint_constraints
    from mabos_cli.formats.knowledge.jsonld_nodes import read_constraints

    least = SEVERITIES.index(check_choice(severity, SEVERITIES, "severity"))
    ontology, warnings = load_ontology(agent.paths.workspace) if with_ontology else (Ontology(), [])
    given, unread = read_constraints(ontology)
    facts, every = _facts_at(agent, at), load_rules(agent).rules
    shaped = [rule for rule in every if "shape" in dict(rule.extra)]  # they speak of classes, as rules of ontologies do
    rules = [rule for rule in every if rule not in shaped]
    given += [r._replace(conditions=tuple(ground_pattern(c, ontology) for c in r.conditions)) for r in shaped]
    if with_ontology and agent.settings["knowledge.ontology_rules"]:
        given += disjoint_constraints(ontology)
        facts += _entailed(facts, [*rules, *given], ontology)
    violations = check_with_ontology(facts, rules, given, ontology, at or agent.now())
    found = [each for each in violations.found if SEVERITIES.index(each.rule.severity) >= least]
    problems = [f"{each.rule_id} cannot run: {each.reason}" for each in (*unread, *violations.problems)]
    return found, ontology, warnings + problems


def _entailed(facts: Sequence[Fact], rules: Sequence[Rule], ontology: Ontology) -> list[Fact]:
    """Returns what ontologies entail of the facts, in the words of facts and rules, as far as it is not known yet."""
    from mabos_cli.core.knowledge.entailment import ontology_rules
    from mabos_cli.core.knowledge.forward import forward_chain

    asserted = [fact for fact in facts if not fact.is_derived]
    known = {fact.triple for fact in facts}
    with without_gc():
        found = forward_chain(asserted, ontology_rules(ontology, asserted, rules)).derived
    return [fact for fact in found if fact.triple not in known]


def evaluate_policies(agent: Agent, assumed: Sequence[str], at: datetime | None = None) -> Firings:
    """Returns the actions that policies ask for now, or at a moment, given that some facts held, each as
    subject:predicate=object."""
    given = []
    for number, text in enumerate(assumed, 1):
        left, equals, obj = text.partition("=")
        subject, colon, predicate = left.rpartition(":")
        if not equals or not colon:
            raise BadValue(f"cannot read --set {text[:60]!r}", "write subject:predicate=object")
        given.append(check_fact(Fact(f"assumed-{number}", subject, predicate, obj, source="assumed")))
    facts = assume(_facts_at(agent, at), given)
    rules = load_rules(agent).rules
    if agent.settings["knowledge.ontology_rules"] and any(rule.type == "policy" and rule.enabled for rule in rules):
        facts += _entailed(facts, rules, load_ontology(agent.paths.workspace)[0])
    return eval_policies(facts, rules, at or agent.now())


def _facts_at(agent: Agent, moment: datetime | None) -> list[Fact]:
    return [fact for fact in load_facts(agent).all() if holds_at(fact, moment or agent.now())]
