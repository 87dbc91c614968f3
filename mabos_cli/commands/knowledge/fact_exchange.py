"""fact import and fact export: facts from and for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.asserting import check_fact
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import TRUSTS, check_choice, check_word
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.knowledge.exchange import Silent, parse_csv, parse_ndjson, render_csv, render_ndjson
from mabos_cli.services.inputs import read_given
from mabos_cli.services.knowledge.fact_common import asserting
from mabos_cli.workspace.knowledge.facts import change_facts, load_facts

FORMATS = ("ndjson", "csv", "turtle")
_ENDINGS = {".ndjson": "ndjson", ".jsonl": "ndjson", ".json": "ndjson", ".csv": "csv", ".ttl": "turtle"}


def import_command(
    ctx: typer.Context,
    path: Annotated[str, typer.Argument(metavar="FILE", help="The file; - reads standard input.")],
    form: Annotated[str, typer.Option("--format", help="ndjson, csv or turtle; else by the name of the file.")] = "",
    source: Annotated[str, typer.Option(help="Where facts come from that do not say so.")] = "",
    trust: Annotated[
        str,
        typer.Option(help="trusted, agent or untrusted: for facts that do not say, and the most for those that do."),
    ] = "",
) -> None:
    """Assert facts from NDJSON, CSV or Turtle, all or none; derived ones are left out.

    Example: mabos fact import facts.csv --source crm
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    form = check_choice(form or _ENDINGS.get(Path(path).suffix.lower(), "ndjson"), FORMATS, "format")
    named = check_word(source, "source") or f"import:{one_line(Path(path).name, 150) if path != '-' else 'stdin'}"
    silent = Silent(named, check_choice(trust, TRUSTS, "trust") if trust else "")
    facts, derived = _checked(read_given(path), path if path != "-" else "standard input", form, silent)
    (told, _), warnings = change_facts(agent, "fact import", asserting(agent, facts))
    counts = {state: sum(each == state for _, each in told) for state in ("added", "updated", "unchanged")}
    warnings += [f"{plural(derived, 'derived fact')} left out: rules make them anew"] if derived else []
    line = ", ".join(f"{count} {state}" for state, count in counts.items())
    call.emit("fact.import", {**counts, "derived": derived}, [f"facts: {line}"], warnings)


def _checked(text: str, shown: str, form: str, silent: Silent) -> tuple[list[Fact], int]:
    """The asserted facts in a text, each made sure of, and how many derived ones there are."""
    if form == "turtle":
        from mabos_cli.backends.rdf import parse_turtle

        told = {"source": silent.source, "trust": silent.trust or "agent"}
        found = ((shown, Fact("new", *triple, **told)) for triple in parse_turtle(text, shown))
    else:
        found = (parse_ndjson if form == "ndjson" else parse_csv)(text, shown, silent)
    kept, derived = [], 0
    for where, fact in found:
        try:
            kept += [] if fact.is_derived else [check_fact(fact._replace(id=""))]
        except BadValue as error:
            raise InvalidFile(f"{where}: {error.message}", f"nothing was imported; {error.hint}".rstrip("; ")) from None
        derived += fact.is_derived
    return kept, derived


def export_command(
    ctx: typer.Context,
    form: Annotated[str, typer.Option("--format", help="ndjson, csv or turtle.")] = "ndjson",
    no_derived: Annotated[bool, typer.Option("--no-derived", help="Only asserted facts.")] = False,
) -> None:
    """Print the facts as NDJSON, CSV or Turtle.

    Example: mabos fact export --format csv
    """
    call: Call = ctx.obj
    form = check_choice(form, FORMATS, "format")
    facts = load_facts(call.open_agent())
    found = sorted(facts.asserted.facts() if no_derived else facts.all(), key=lambda fact: (fact.triple, fact.id))
    if form == "turtle":
        from mabos_cli.backends.rdf import render_turtle

        text = render_turtle([fact.triple for fact in found])
    else:
        text = render_ndjson(found) if form == "ndjson" else render_csv(found)
    lines = text.rstrip("\n").split("\n") if text else []
    call.emit("fact.export", {"format": form, "facts": len(found), "text": text}, lines)
