"""fact: what an agent knows as triples, in facts.json."""

from pathlib import Path
from typing import Annotated, Any

from mabos_cli.commands.call import (
    Argument,
    Commands,
    Context,
    DryRun,
    Limit,
    Option,
    Trust,
    ValidAt,
    Voucher,
    more_line,
)
from mabos_cli.core.knowledge.asserting import NONE
from mabos_cli.core.knowledge.fact import Fact, Query, known_since
from mabos_cli.core.language.clock import format_time, parse_when
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_choice, check_importance, check_word
from mabos_cli.errors import CheckFailed, NotFound, UsageFault
from mabos_cli.formats.knowledge.fact_text import fact_line
from mabos_cli.formats.knowledge.facts import fact_to_dict
from mabos_cli.services.inputs import check_trust, check_voucher, read_given, read_moment
from mabos_cli.services.knowledge import facts
from mabos_cli.workspace.agent import Agent

app = Commands("fact", "Assert, retract, query and check facts.")
_ENDINGS = {".ndjson": "ndjson", ".jsonl": "ndjson", ".json": "ndjson", ".csv": "csv", ".ttl": "turtle"}
Subject = Annotated[str, Argument(help="What it is about.")]


@app.command("assert")
def assert_command(
    ctx: Context,
    subject: Subject,
    predicate: Annotated[str, Argument(help="The relation or property.")],
    object: Annotated[str, Argument(help="The value, or another subject.")],
    confidence: Annotated[float | None, Option(help="0 to 1 (default 1, or unchanged).")] = None,
    source: Annotated[str, Option(help="The source (default manual, or unchanged).")] = "",
    trust: Trust = "",
    by: Voucher = "",
    since: Annotated[
        str, Option("--from", metavar="DATE", help="The first day on which it holds; none clears it.")
    ] = "",
    until: Annotated[str, Option(metavar="DATE", help="The last day on which it holds; none clears it.")] = "",
) -> None:
    """Add a fact, or update the same fact. It may hold for several periods.

    Example: mabos fact assert acme hasRevenue '$50,000' --confidence 0.9 --source cfo-report
    """
    agent = ctx.obj.open_agent()
    times = _day(since, agent), _day(until, agent)
    voucher = check_voucher(agent.settings, by)
    origin = source or "manual"
    sure = 1.0 if confidence is None else confidence
    made = Fact("", subject, predicate, object, sure, origin, check_trust(trust, origin, voucher), *times)
    given = {"confidence": confidence is not None, "source": source, "trust": trust or source or voucher}
    keep = [name for name, value in given.items() if not value]
    done = facts.assert_facts(agent, "fact assert", [made], voucher, keep)
    fact, state = done.states[0]
    data = {"state": state, "fact": fact_to_dict(fact)}
    ctx.obj.emit("fact.assert", data, [f"{state} {fact_line(fact)}"], done.warnings + done.notes)


@app.command()
def extract(
    ctx: Context,
    text: Annotated[
        str, Argument(metavar="[TEXT]", help="The text; - reads standard input. By default, memories are read.")
    ] = "",
    review: Annotated[bool, Option("--review", help="List candidates and write nothing (the default).")] = False,
    apply: Annotated[str, Option(metavar="ID,...", help="Assert these candidates of a review, or all.")] = "",
    we: Annotated[
        str, Option(metavar="NAME", help="The name behind we, our, I and my; without it, such statements are left out.")
    ] = "",
    min_confidence: Annotated[float, Option(help="Only candidates with at least this confidence.")] = 0.0,
    source: Annotated[str, Option(help="Where the text comes from; a memory is its own source.")] = "extract",
    trust: Trust = "",
    limit: Limit = 50,
) -> None:
    """List facts stated in a text or in memories, with citations, and assert some of them.

    Example: mabos fact extract "Dana reports to Ada" --review
    """
    if review and apply:
        raise UsageFault("--review and --apply exclude each other", "review first, then apply")
    agent = ctx.obj.open_agent()
    is_piped = text == "-" and not ctx.obj.literal_dash
    given = Fact("", "", "", "", 1.0, check_word(source, "source"), check_trust(trust, source, ""))
    name = "standard input" if is_piped else "text"
    found, known = facts.extract_facts(
        agent, read_given("-") if is_piped else text, given, name=name, speaker=we.strip()
    )
    least = check_importance(min_confidence)
    found = [each for each in found if each.fact.confidence >= least]
    chosen = _choose(found, apply) if apply else []
    done = facts.assert_facts(agent, "fact extract", [each.fact for each in chosen]) if chosen else None
    rows = [_candidate_row(each) for each in found if each not in chosen]
    data: dict[str, Any] = {"count": len(rows), "candidates": rows[: limit or None], "known": known}
    data |= {
        "asserted": [fact_to_dict(fact) for fact, _ in done.states] if done else [],
        "writes_performed": bool(done),
    }
    lines = (
        [f"{state} {fact_line(fact)}" for fact, state in done.states] if done else _candidate_lines(rows, limit, known)
    )
    ctx.obj.emit("fact.extract", data, lines, done.warnings + done.notes if done else [])


def _choose(found: list[facts.FactCandidate], ids: str) -> list[facts.FactCandidate]:
    """Returns the candidates with some ids; NotFound for one that is none."""
    wanted = {word for word in ids.replace(",", " ").split() if word != "all"}
    missing = wanted - {each.id for each in found}
    if missing:
        hint = "nothing was asserted; mabos fact extract --review lists them, of the same text or of memories"
        raise NotFound(f"no candidate {', '.join(sorted(missing))[:200]}", hint)
    return [each for each in found if each.id in wanted or "all" in ids.replace(",", " ").split()]


def _candidate_row(each: facts.FactCandidate) -> dict[str, Any]:
    row = {name: value for name, value in fact_to_dict(each.fact).items() if name != "id" and value not in ("", [])}
    row = {"id": each.id} | row | {"citation": each.citation, "statement": each.statement}
    return row | {"action": "contradicts" if each.contradicts else "new", "of": list(each.contradicts)}


def _candidate_lines(rows: list[dict[str, Any]], limit: int, known: int) -> list[str]:
    lines = []
    for row in rows[: limit or None]:
        triple = one_line(f"{row['subject']} {row['predicate']} {row['object']}", 160)
        does = " ".join([row["action"], *row["of"]])
        lines.append(f"{row['id']} {triple} ({row['confidence']:.2f}, {row['trust']}, {does})")
        lines.append(f"  {row['citation']}: {one_line(row['statement'], 160)}")
    known_too = f", {known} known" if known else ""
    next_step = "; assert some: mabos fact extract --apply ID,..." if rows else ""
    return [
        *lines,
        *more_line(len(rows), len(rows[: limit or None])),
        f"{plural(len(rows), 'candidate')}{known_too}, nothing written{next_step}",
    ]


def _day(text: str, agent: Agent) -> str:
    """Returns a date as it was given if it is one, or the moment that words such as `today` mean."""
    date = text.strip()
    if not date or date == NONE:
        return date
    moment = parse_when(date, agent.now())
    return date if date[:4].isdigit() and "-" in date else format_time(moment)[:10]


@app.command()
def retract(
    ctx: Context,
    fact_id: Annotated[str, Argument(metavar="[ID]", ids="facts", help="One fact.")] = "",
    subject: Annotated[str, Option(help="All asserted facts about it.")] = "",
    predicate: Annotated[str, Option(help="All asserted facts with it.")] = "",
    reason: Annotated[str, Option(help="Why; kept in the archive.")] = "",
    cascade: Annotated[bool, Option("--cascade", help="Also remove derived facts that depend on them alone.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Retract facts; the archive keeps them.

    Example: mabos fact retract --subject acme --predicate hasRevenue --reason "restated"
    """
    agent = ctx.obj.open_agent()
    if bool(fact_id) == bool(subject or predicate):
        raise UsageFault("which facts?", "give an ID, or --subject, --predicate or both")
    wanted = {"id": fact_id, "subject": subject, "predicate": predicate}
    wanted = {name: value for name, value in wanted.items() if value}
    why = check_word(reason, "reason", 2000)
    gone, lost, warnings = facts.retract_facts(agent, wanted, why, cascade=cascade, dry_run=dry_run)
    verb = "would retract" if dry_run else "retracted"
    after = "also dropped" if cascade and not dry_run else "loses its support:"
    lines = [f"{verb} {fact_line(fact)}" for fact in gone] + [f"{after} {fact_line(fact)}" for fact in lost]
    data = {"dry_run": dry_run, "retracted": [fact_to_dict(f) for f in gone], "unsupported": [f.id for f in lost]}
    if lost and not cascade:
        more = f"{plural(len(lost), 'derived fact')} lost support: --cascade, or mabos infer forward --persist"
        warnings = [*warnings, more]
    ctx.obj.emit("fact.retract", data, lines, warnings)


@app.command()
def query(
    ctx: Context,
    subject: Annotated[str, Argument(help="A subject; * matches anything.")] = "*",
    predicate: Annotated[str, Argument(help="A predicate, likewise.")] = "*",
    object: Annotated[str, Argument(help="An object, likewise.")] = "*",
    min_confidence: Annotated[float, Option(help="Only facts with at least this confidence.")] = 0.0,
    valid_at: ValidAt = "",
    no_derived: Annotated[bool, Option("--no-derived", help="Only asserted facts.")] = False,
    limit: Limit = 50,
    shared: Annotated[bool, Option("--shared", help="Include facts that other agents share.")] = False,
) -> None:
    """List the facts that match a pattern.

    Example: mabos fact query acme 'has*' --valid-at today
    """
    agent = ctx.obj.open_agent()
    moment = read_moment(valid_at, agent.now())
    # Facts are kept with single blanks between words.
    who, what, which = (" ".join(part.split()) for part in (subject, predicate, object))
    asked = Query(who, what, which, check_importance(min_confidence), moment, not no_derived)
    found, total, warnings = facts.query_facts(ctx.obj, agent, asked, shared=shared)
    shown = found[: limit or None]
    vias = (f" [{each.via}]" if each.via else "" for each in shown)
    lines = [fact_line(each.fact._replace(id=each.ref)) + via for each, via in zip(shown, vias, strict=True)]
    lines = [*(lines or ["no fact matches" if total else "no facts yet"]), *more_line(len(found), len(shown))]
    whose = ({"agent": each.agent, "via": each.via or "files"} if each.agent else {} for each in shown)
    rows = [fact_to_dict(each.fact) | of for each, of in zip(shown, whose, strict=True)]
    data = {"count": len(found), "facts": rows}
    ctx.obj.emit("fact.query", data, lines, warnings)


@app.command()
def explain(
    ctx: Context,
    fact_id: Annotated[str, Argument(metavar="ID", ids="facts", help="The fact.")],
    depth: Annotated[int, Option(help="How many steps to trace.")] = 5,
) -> None:
    """Trace a fact back to asserted facts and rules.

    Example: mabos fact explain F-inf-3f9a61c2d4e5 --depth 3
    """
    from mabos_cli.formats.knowledge.proof_text import origin_lines, origin_row

    tree = facts.explain_origin(ctx.obj.open_agent(), fact_id, depth)
    ctx.obj.emit("fact.explain", {"tree": origin_row(tree)}, origin_lines(tree))


@app.command()
def current(
    ctx: Context, subject: Subject, at: Annotated[str, Option(metavar="DATE", help="A date instead of now.")] = ""
) -> None:
    """Show what is true of a subject now; of a functional predicate only the latest value.

    Example: mabos fact current acme
    """
    agent = ctx.obj.open_agent()
    moment = parse_when(at, agent.now()) if at.strip() else agent.now()
    found, warnings = facts.find_current(agent, subject, moment)
    lines = [fact_line(fact) for fact in found] or [f"nothing is known about {subject}"]
    data = {"subject": subject, "facts": [fact_to_dict(fact) for fact in found]}
    ctx.obj.emit("fact.current", data, lines, warnings)


@app.command()
def timeline(ctx: Context, subject: Subject) -> None:
    """Show how the facts about a subject changed, with retracted and updated ones.

    Example: mabos fact timeline acme
    """
    lines, found = [], []
    for fact, why, at in facts.find_history(ctx.obj.open_agent(), subject):
        lines.append(f"{known_since(fact)} {fact_line(fact)}{f' [{why} {at[:10]}]' if why else ''}")
        found.append(fact_to_dict(fact) | {"left": {"reason": why, "at": at} if why else None})
    ctx.obj.emit("fact.timeline", {"subject": subject, "facts": found}, lines or [f"nothing is known about {subject}"])


@app.command()
def lint(ctx: Context, check: Annotated[bool, Option("--check", help="Exit 7 if there are findings.")] = False) -> None:
    """Report contradictions, missing or expired support, misspelled names, and violations of ontologies.

    Example: mabos fact lint --check
    """
    found, functional, warnings = facts.check_facts(ctx.obj.open_agent())
    lines = [f"{finding.kind}: {finding.message} ({', '.join(finding.facts)})" for finding in found]
    data = {"functional": functional, "findings": [f._asdict() | {"facts": list(f.facts)} for f in found]}
    ctx.obj.emit("fact.lint", data, lines or ["no findings"], warnings)
    if check and found:
        raise CheckFailed(plural(len(found), "finding"), "mabos fact retract ID takes out what is wrong")


@app.command("import")
def import_command(
    ctx: Context,
    path: Annotated[str, Argument(metavar="FILE", help="The file; - reads standard input.")],
    form: Annotated[
        str,
        Option("--format", metavar="[ndjson|csv|turtle]", help="The format (default: by the extension of the file)."),
    ] = "",
    source: Annotated[str, Option(help="The source of facts that name none.")] = "",
    trust: Annotated[
        str,
        Option(
            metavar="[trusted|agent|untrusted]",
            help="The trust of facts that name none, and the limit for those that do.",
        ),
    ] = "",
    by: Voucher = "",
) -> None:
    """Assert facts from NDJSON, CSV or Turtle, all or none; derived ones are left out.

    Example: mabos fact import facts.csv --source crm
    """
    from mabos_cli.formats.knowledge.exchange import FACT_FORMATS, Silent  # late: few exchange facts

    agent = ctx.obj.open_agent()
    form = check_choice(form or _ENDINGS.get(Path(path).suffix.lower(), "ndjson"), FACT_FORMATS, "format")
    origin = check_word(source, "source") or f"import:{one_line(Path(path).name, 150) if path != '-' else 'stdin'}"
    voucher = check_voucher(agent.settings, by)
    silent = Silent(origin, check_trust(trust, origin, voucher) if trust else "")
    named = path if path != "-" else "standard input"
    done, derived = facts.import_facts(agent, read_given(path), named, form, silent, voucher)
    counts = {state: sum(each == state for _, each in done.states) for state in ("added", "updated", "unchanged")}
    warnings = [f"{plural(derived, 'derived fact')} left out: rules derive them again"] if derived else []
    line = ", ".join(f"{count} {state}" for state, count in counts.items())
    ctx.obj.emit("fact.import", {**counts, "derived": derived}, [f"facts: {line}"], done.warnings + warnings)


@app.command("export")
def export_command(
    ctx: Context,
    form: Annotated[str, Option("--format", metavar="[ndjson|csv|turtle]", help="The format.")] = "ndjson",
    no_derived: Annotated[bool, Option("--no-derived", help="Only asserted facts.")] = False,
) -> None:
    """Print the facts as NDJSON, CSV or Turtle.

    Example: mabos fact export --format csv
    """
    from mabos_cli.formats.knowledge.exchange import FACT_FORMATS  # late: few exchange facts

    form = check_choice(form, FACT_FORMATS, "format")
    text, count = facts.export_facts(ctx.obj.open_agent(), form, with_derived=not no_derived)
    lines = text.rstrip("\n").split("\n") if text else []
    ctx.obj.emit("fact.export", {"format": form, "facts": count, "text": text}, lines)
