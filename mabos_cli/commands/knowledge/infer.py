"""rule, constraint, policy, infer and explain: what follows from facts by rules, whether something does, what would explain it, and all that is known."""

from typing import Annotated, Any

from mabos_cli.commands.call import Argument, Commands, Context, Limit, Option, ValidAt, more_line
from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.forward import Limits
from mabos_cli.core.knowledge.matching import fill
from mabos_cli.core.knowledge.ontology import TYPE_PREDICATES
from mabos_cli.core.knowledge.reply import find_leaves
from mabos_cli.core.knowledge.rule import KINDS, Rule, check_rule
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_choice, check_importance
from mabos_cli.errors import CheckFailed, UsageFault
from mabos_cli.formats.knowledge.case_text import case_line
from mabos_cli.formats.knowledge.cases import case_to_dict
from mabos_cli.formats.knowledge.fact_text import fact_line
from mabos_cli.formats.knowledge.facts import fact_to_dict
from mabos_cli.formats.knowledge.proof_text import (
    SHOWN,
    explanation_lines,
    explanation_row,
    problem_lines,
    verdict_lines,
    verdict_row,
)
from mabos_cli.formats.knowledge.rules import (
    action_row,
    render_pattern,
    render_rule_text,
    rule_line,
    rule_lines,
    rule_to_dict,
    violation_row,
)
from mabos_cli.services.inputs import line_argument, read_given, read_moment, text_argument
from mabos_cli.services.knowledge import rules
from mabos_cli.services.knowledge.inference import Answer, answer, find_hypotheses, infer_forward, prove
from mabos_cli.workspace.knowledge.rules import load_rules

app = Commands("infer", "Derive facts by rules, prove statements, and find explanations.")
explain = Commands()
Part = Annotated[str, Argument(help="* or ?x matches anything.")]


@app.command()
def forward(
    ctx: Context,
    persist: Annotated[bool, Option("--persist", help="Write the derived facts to facts-derived.json.")] = False,
    max_facts: Annotated[int, Option(help="Derive at most this many; those of highest confidence are kept.")] = 250_000,
    min_confidence: Annotated[float, Option(help="Derive nothing of lower confidence.")] = 0.0,
    max_depth: Annotated[int, Option(help="The longest chain of rules; 0 for no limit.")] = 0,
    max_work: Annotated[
        int, Option(help="The largest number of combinations of facts that each rule may try.")
    ] = Limits().max_joins,
    failing: Annotated[bool, Option("--check", help="Exit 7 if a limit stopped the run.")] = False,
    valid_at: ValidAt = "",
    limit: Limit = SHOWN,
) -> None:
    """Derive everything that follows from rules and ontologies, each fact by its best derivation.

    If a limit stops the run, it keeps the conclusions of highest confidence, says what is missing, and deletes nothing.

    Example: mabos infer forward --persist
    """
    agent = ctx.obj.open_agent()
    if max_facts < 1 or max_depth < 0 or max_work < 1:
        raise BadValue(
            "--max-facts and --max-work must be above 0, and --max-depth not negative", "--max-depth 0 for no limit"
        )
    if persist and valid_at:
        raise UsageFault("--persist writes what holds at any time", "leave out --valid-at")
    limits = Limits(max_facts, check_importance(min_confidence), max_depth, max_work)
    inferred = infer_forward(agent, limits, persist=persist, at=read_moment(valid_at, agent.now()))
    found, done = inferred.inference, inferred.done
    shown = found.derived[: limit or None]
    kinds = [fact for fact in shown if fact.rule_id.startswith("OWL-") and fact.predicate in TYPE_PREDICATES]
    summary = f"{plural(inferred.total, 'fact')} derived; fixpoint: {found.fixpoint}"
    summary += "; derived again what the change reaches" if inferred.is_renewed else ""
    summary += f"; {done.added} new, {done.changed} changed, {done.removed} gone" if persist else ""
    lines = [fact_line(fact) for fact in shown if fact not in kinds]
    lines += [f"{plural(len(kinds), 'fact')} about classes by ontologies: --json lists them"] if kinds else []
    lines += more_line(len(found.derived), len(shown))
    data = {
        "derived": inferred.total,
        "renewed": inferred.is_renewed,
        "fixpoint": found.fixpoint,
        "complete": found.is_complete,
        "depth": found.depth,
        "persisted": persist,
        **done._asdict(),
        "facts": [fact_to_dict(fact) for fact in shown],
    }
    ctx.obj.emit("infer.forward", data, [*lines, summary], [*problem_lines(found.problems), *inferred.notes])
    if failing and not found.is_complete:
        raise CheckFailed(f"inference {found.fixpoint}", "raise the limit that it names")


@app.command()
def backward(
    ctx: Context,
    subject: Part,
    predicate: Annotated[str, Argument(help="The predicate.")],
    object: Part,
    depth: Annotated[int, Option(help="The longest chain of rules.")] = 5,
    valid_at: ValidAt = "",
) -> None:
    """Try to prove a statement, and show the proof or what is missing.

    Example: mabos infer backward acme isTaxable true
    """
    agent = ctx.obj.open_agent()
    verdict = prove(agent, (subject, predicate, object), depth, read_moment(valid_at, agent.now()))
    ctx.obj.emit("infer.backward", verdict_row(verdict), verdict_lines(verdict), problem_lines(verdict.problems))


@app.command()
def abductive(
    ctx: Context,
    subject: Part,
    predicate: Annotated[str, Argument(help="The predicate.")],
    object: Part,
    depth: Annotated[int, Option(help="The longest chain of rules.")] = 3,
    valid_at: ValidAt = "",
    limit: Limit = 10,
) -> None:
    """Rank explanations of an observation, with the assumptions of each.

    Example: mabos infer abductive server-7 status down
    """
    agent = ctx.obj.open_agent()
    found = find_hypotheses(agent, (subject, predicate, object), depth, read_moment(valid_at, agent.now()))
    shown = found.hypotheses[: limit or None]
    lines = [f"known: {fact_line(fact)}" for fact in found.known[:SHOWN]]
    lines += [line for each in shown for line in explanation_lines(each)]
    data = {
        "observation": list(found.observation),
        "known": [fact.id for fact in found.known],
        "hypotheses": [explanation_row(each) for each in shown],
    }
    ctx.obj.emit("infer.abductive", data, lines or ["no rule would explain it"], problem_lines(found.problems))


@explain.command("explain")
def explain_command(
    ctx: Context,
    words: Annotated[
        list[str], Argument(metavar="TEXT | S P O", help="A question, or a triple; - reads standard input.")
    ],
    depth: Annotated[int, Option(help="The longest chain of rules.")] = 5,
    valid_at: ValidAt = "",
    llm: Annotated[
        bool, Option("--llm", help="Let the language model help to understand the question, never to answer it.")
    ] = False,
) -> None:
    """Answer a question in one line, with proof, hypotheses, memories and cases, each cited.

    Example: mabos explain "Who does Tom Berg report to?"
    """
    agent = ctx.obj.open_agent()
    if len(words) not in (1, 3):
        raise UsageFault("give a question, or subject predicate object", 'as in: mabos explain "why is acme audited?"')
    triple = (words[0], words[1], words[2]) if len(words) == 3 else None
    question = " ".join(words) if triple else text_argument(words[0], ctx.obj.literal_dash)
    moment = read_moment(valid_at, agent.now())
    found = answer(ctx.obj, agent, question, triple, depth, at=moment, llm=llm)
    data = {
        "question": question,
        "answer": {
            "verdict": found.reply.verdict,
            "kind": found.reply.kind,
            "values": list(found.reply.values),
            "line": found.reply.line,
            "read_as": found.reply.reading,
            "against": [fact.id for proof in found.reply.against for fact in find_leaves(proof)],
        },
        "facts": [fact_to_dict(fact) for fact in found.facts],
        "proofs": [verdict_row(verdict) for verdict in found.proofs],
        "hypotheses": [explanation_row(each) for each in found.hypotheses],
        "memories": [{"ref": hit.candidate.ref, "text": one_line(hit.candidate.text, 300)} for hit in found.memories],
        "cases": [case_to_dict(case) for case in found.cases],
    }
    ctx.obj.emit("explain", data, _answer_lines(found), found.warnings)


def _answer_lines(found: Answer) -> list[str]:
    lines = [found.reply.line, *([f"read as: {found.reply.reading}"] if found.reply.reading else [])]
    against = {fact.id for proof in found.reply.against for fact in find_leaves(proof)}
    shown = {fact.id for proof in found.reply.proofs for fact in find_leaves(proof)} if found.proofs else set()
    for fact in (fact for fact in found.facts if fact.id not in shown):
        lines.append(f"{'against' if fact.id in against else 'fact'}: {fact_line(fact)}")
    for verdict in found.proofs:
        first, *rest = verdict_lines(verdict)
        lines += [f"proof: {' '.join(verdict.goal)}: {first}", *(f"  {line}" for line in rest)]
    lines += [f"memory: {hit.candidate.ref} {one_line(hit.candidate.text, 140)}" for hit in found.memories]
    lines += [f"case: {case_line(case)}" for case in found.cases]
    return lines + [line for each in found.hypotheses for line in ("hypothesis:", *explanation_lines(each, "  "))]


rule = Commands("rule", "Create, list, test and toggle rules over facts.")
constraint = Commands("constraint", "Check facts against constraints.")
policy = Commands("policy", "Evaluate policies against facts.")
RuleId = Annotated[str, Argument(metavar="ID", ids="rules", help="The rule: R-001.")]


@rule.command()
def create(
    ctx: Context,
    text: Annotated[
        str,
        Argument(metavar="[TEXT]", help="The rule in words, - for standard input: if ?x p ?y and ?y > 5 then ?x q z."),
    ] = "",
    name: Annotated[str, Option(help="What to call it.")] = "",
    type: Annotated[
        str, Option(metavar="[inference|constraint|policy]", help="The kind of rule (default: by what is given).")
    ] = "",
    condition: Annotated[list[str] | None, Option(help="A condition, in words or as JSON; may repeat.")] = None,
    conclusion: Annotated[str, Option(help="What follows, in words or as JSON.")] = "",
    message: Annotated[str, Option(help="Constraint: the message; ?x is filled in.")] = "",
    severity: Annotated[
        str, Option(metavar="[info|warning|error|critical]", help="Constraint: how bad a violation is.")
    ] = "warning",
    action: Annotated[str, Option(help="Policy: what to do; ?x is filled in.")] = "",
    escalate: Annotated[bool, Option("--escalate", help="Policy: requires escalation.")] = False,
    factor: Annotated[float, Option(help="Inference: factor for the confidence of a conclusion.")] = 0.9,
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
def list_command(
    ctx: Context,
    type: Annotated[str, Option(metavar="[inference|constraint|policy]", help="Only rules of this kind.")] = "",
) -> None:
    """List the rules, and problems that keep one from running.

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
    """Show one rule.

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
    on: Annotated[
        bool | None, Option("--on/--off", help="Enable or disable it (default: the opposite of now).")
    ] = None,
) -> None:
    """Enable or disable a rule.

    Example: mabos rule toggle R-001 --off
    """
    new, warnings = rules.toggle_rule(ctx.obj.open_agent(), rule_id, on)
    state = "on" if new.enabled else "off"
    ctx.obj.emit("rule.toggle", {"id": new.id, "enabled": new.enabled}, [f"{new.id} is {state}"], warnings)


@rule.command()
def delete(ctx: Context, rule_id: RuleId) -> None:
    """Remove a rule; the archive keeps it. The next infer forward --persist removes what it derived.

    Example: mabos rule delete R-001
    """
    gone, warnings = rules.delete_rule(ctx.obj.open_agent(), rule_id)
    ctx.obj.emit("rule.delete", {"rule": rule_to_dict(gone)}, [f"deleted {rule_line(gone)}"], warnings)


@rule.command()
def test(ctx: Context, rule_id: RuleId, limit: Limit = 20) -> None:
    """Show what a rule matches and would derive, without writing.

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
    failing: Annotated[bool, Option("--check", help="Exit 7 if a constraint is violated.")] = False,
    severity: Annotated[
        str, Option(metavar="[info|warning|error|critical]", help="Only violations at least this severe.")
    ] = "info",
    no_ontology: Annotated[
        bool, Option("--no-ontology", help="Only constraints of the agent, no ontology rules.")
    ] = False,
    valid_at: ValidAt = "",
) -> None:
    """List violations of constraints and ontology rules, most severe first, with the facts behind each.

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
        raise CheckFailed(plural(len(found), "violation"), "mabos rule show ID shows a constraint")


@constraint.command("import")
def import_command(
    ctx: Context,
    path: Annotated[str, Argument(metavar="FILE", help="The file; - reads standard input.")],
    form: Annotated[
        str, Option("--format", metavar="[turtle|jsonld]", help="The format (default: by the extension of the file).")
    ] = "",
) -> None:
    """Import constraints from SHACL shapes; those of an earlier import are replaced.

    Example: mabos constraint import shapes.ttl
    """
    from mabos_cli.formats.knowledge.shapes import SHAPE_FORMATS  # late: few import shapes

    by_name = "jsonld" if path.endswith((".jsonld", ".json")) else "turtle"
    form = check_choice(form or by_name, SHAPE_FORMATS, "format")
    named = path if path != "-" else "standard input"
    counts, warnings = rules.import_shapes(ctx.obj.open_agent(), read_given(path), named, form)
    line = ", ".join(f"{number} {state}" for state, number in counts.items())
    ctx.obj.emit("constraint.import", counts, [f"constraints: {line}"], warnings)


@policy.command("eval")
def eval_command(
    ctx: Context,
    given: Annotated[
        list[str] | None, Option("--set", metavar="S:P=O", help="A fact to assume for this run; may repeat.")
    ] = None,
    valid_at: ValidAt = "",
) -> None:
    """List the actions that policies require now, escalations first.

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
