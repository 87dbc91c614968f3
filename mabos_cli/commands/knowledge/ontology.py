"""ontology: the concepts and properties of a business, and proposals for them."""

from typing import Annotated

from mabos_cli.commands.call import Argument, Commands, Context, DryRun, Option
from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.proposal import NODE_TYPES, STATUSES, Proposal
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import check_choice, check_word
from mabos_cli.errors import CheckFailed, UsageFault
from mabos_cli.formats.knowledge.exchange import ONTOLOGY_FORMATS
from mabos_cli.formats.knowledge.jsonld_nodes import count_columns, node_lines, node_row, tree_lines
from mabos_cli.formats.knowledge.proposals import finding_lines, proposal_line, proposal_to_dict, verdict_row
from mabos_cli.services.knowledge import ontology
from mabos_cli.terminal.emit import columns
from mabos_cli.workspace.knowledge.ontologies import Library

app = Commands("ontology", "Propose, check and merge concepts, and show ontologies.")
AllowSimilar = Annotated[bool, Option("--allow-similar", help="Accept names that are similar to existing ones.")]


@app.command("list")
def list_command(
    ctx: Context,
    proposals: Annotated[bool, Option("--proposals", help="List proposals instead.")] = False,
    status: Annotated[str, Option(metavar="[pending|approved|rejected]", help="Only proposals with this status.")] = "",
) -> None:
    """List the ontologies of the workspace, or proposals for them.

    Example: mabos ontology list --proposals --status pending
    """
    if status:
        check_choice(status, STATUSES, "status")
    library = Library(ctx.obj.open_workspace())
    if proposals or status:
        found = library.proposals(status)
        rows = [proposal_to_dict(each) for each in found]
        lines = [proposal_line(each) for each in found] or ["no proposals"]
        ctx.obj.emit("ontology.list", {"proposals": rows}, lines, library.warnings)
        return
    rows, shipped = ontology.count_ontologies(library)
    lines = columns([count_columns(row) for row in rows]) or ["no ontologies"]
    lines += [f"to scaffold: {', '.join(shipped)}"] if shipped else []
    ctx.obj.emit("ontology.list", {"ontologies": rows, "shipped": shipped}, lines, library.warnings)


@app.command()
def show(
    ctx: Context,
    name: Annotated[str, Argument(help="A concept, property or rule by id, label or synonym; or an ontology.")] = "",
    tree: Annotated[bool, Option("--tree", help="The class tree: all, of an ontology, or below a concept.")] = False,
) -> None:
    """Show a concept, property, rule or ontology, or the class tree.

    Example: mabos ontology show customer
    """
    found = ontology.show_name(ctx.obj.open_workspace(), name, as_tree=tree)
    if found.nodes:
        lines = [line for node in found.nodes for line in node_lines(node, found.ontology)]
        rows = [node_row(each, found.ontology) for each in found.nodes]
        ctx.obj.emit("ontology.show", {"nodes": rows}, lines, found.warnings)
        return
    rows = [
        {"id": b.concept.id, "label": b.concept.label, "depth": b.depth, "ontology": b.concept.source}
        for b in found.branches
    ]
    lines = tree_lines(found.branches) or ["no concepts: mabos ontology list names what can be scaffolded"]
    ctx.obj.emit("ontology.show", {"tree": rows}, lines, found.warnings)


@app.command("propose")
def propose_command(
    ctx: Context,
    label: Annotated[str, Argument(help="The label.")],
    domain: Annotated[str, Option(help="The ontology it belongs to.")] = "",
    node_type: Annotated[
        str, Option("--type", metavar=f"[{'|'.join(NODE_TYPES)}]", help="What is proposed.")
    ] = "class",
    parent: Annotated[str, Option(help="The parent of a class.")] = "",
    definition: Annotated[str, Option(help="The definition, in business terms.")] = "",
    synonym: Annotated[list[str] | None, Option(help="Another word for it; may repeat.")] = None,
    domain_class: Annotated[str, Option(help="The class that has a property.")] = "",
    range_: Annotated[str, Option("--range", help="The class or datatype of its values.")] = "",
    functional: Annotated[bool, Option("--functional", help="A property with one value at a time.")] = False,
    rationale: Annotated[str, Option(help="Why it is needed.")] = "",
    node_id: Annotated[str, Option("--id", help="prefix:Name (default: derived from the label).")] = "",
    by: Annotated[str, Option(metavar="AGENT", help="Who proposes it (default: the agent).")] = "",
) -> None:
    """Propose a class or a property for an ontology.

    Example: mabos ontology propose "Dropship fulfillment" --domain ecommerce --parent Fulfillment --definition "fulfillment that the supplier ships"
    """
    editor = ontology.open_editor(ctx.obj)
    check_choice(node_type, NODE_TYPES, "type")
    is_class = node_type == "class"
    wrong = {"--domain-class": domain_class, "--range": range_, "--functional": functional}
    for option, value in (wrong if is_class else {"--parent": parent}).items():
        if value:
            raise BadValue(f"{option} makes no sense for a {node_type}", "mabos ontology propose --help")
    draft = Proposal(
        "",
        ontology.choose_domain(editor.workspace, domain),
        node_type,
        _checked(node_id, "id"),
        _checked(label, "label"),
        _checked(parent, "parent"),
        _checked(domain_class, "domain class"),
        _checked(range_, "range"),
        functional,
        _checked(definition, "definition", 2000),
        tuple(dict.fromkeys(filter(None, (_checked(each, "synonym") for each in synonym or ())))),
        _checked(rationale, "rationale", 2000),
        _checked(by, "agent") or ontology.find_proposer(ctx.obj, editor.workspace),
    )
    if not draft.label:
        raise BadValue("the label is empty", "give a label such as 'Dropship fulfillment'")
    (proposal, is_new), warnings = ontology.propose(editor, draft)
    state = "proposed" if is_new else "unchanged"
    data = {"state": "added" if is_new else "unchanged", "proposal": proposal_to_dict(proposal)}
    ctx.obj.emit("ontology.propose", data, [f"{state} {proposal_line(proposal)}"], warnings)


def _checked(text: str, what: str, limit: int = 200) -> str:
    return check_word(" ".join(text.split()), what, limit)


@app.command("validate")
def validate_command(
    ctx: Context,
    ids: Annotated[
        list[str] | None,
        Argument(metavar="[ID...]", ids="proposals", help="The proposals (default: all pending ones)."),
    ] = None,
    check: Annotated[bool, Option("--check", help="Exit 7 if a proposal fails.")] = False,
    similar: AllowSimilar = False,
) -> None:
    """Check proposals: duplicates, names, parents, cycles, definitions, domains and ranges; save the findings.

    Example: mabos ontology validate --check
    """
    verdicts, warnings = ontology.validate(ontology.open_editor(ctx.obj), ids or (), similar)
    lines = [line for verdict in verdicts for line in finding_lines(verdict)]
    data = {"proposals": [verdict_row(verdict) for verdict in verdicts]}
    ctx.obj.emit("ontology.validate", data, lines or ["nothing waits"], warnings)
    failed = sum(not verdict.is_valid for verdict in verdicts)
    if check and failed:
        raise CheckFailed(f"{plural(failed, 'proposal')} failed", "mend it, or: mabos ontology reject ID --reason WHY")


@app.command("merge")
def merge_command(
    ctx: Context,
    ids: Annotated[list[str] | None, Argument(metavar="[ID...]", ids="proposals", help="Proposals.")] = None,
    every: Annotated[bool, Option("--all", help="All pending proposals.")] = False,
    similar: AllowSimilar = False,
    dry_run: DryRun = False,
) -> None:
    """Merge proposals into their ontologies, all or none.

    Example: mabos ontology merge OP-001 OP-002
    """
    if bool(ids) == every:
        raise UsageFault("which proposals?", "give ids, or --all")
    done, warnings = ontology.merge(ontology.open_editor(ctx.obj), ids or (), similar, dry_run)
    verb = "would merge" if dry_run else "merged"
    lines = [f"{verb} {each.id} {each.node_id} into ontologies/{each.domain}.jsonld" for each in done.new]
    lines += [f"{each.id} {each.node_id} was merged before" for each in done.before]
    data = {
        "dry_run": dry_run,
        "merged": [each.id for each in done.new],
        "unchanged": [each.id for each in done.before],
        "files": done.files,
    }
    messages = [f"{v.proposal.id}: {f.message}" for v in done.findings for f in v.findings if v.proposal in done.new]
    ctx.obj.emit("ontology.merge", data, lines or ["nothing waits"], [*warnings, *messages])


@app.command("reject")
def reject_command(
    ctx: Context,
    proposal_id: Annotated[str, Argument(metavar="ID", ids="proposals", help="The proposal.")],
    reason: Annotated[str, Option(help="Why; kept with the proposal.")] = "",
) -> None:
    """Reject a proposal; it stays in its file, with the reason.

    Example: mabos ontology reject OP-003 --reason "the same as Fulfillment"
    """
    why = _checked(reason, "reason", 2000)
    if not why:
        raise UsageFault("a rejection needs a reason", "--reason TEXT; it is kept with the proposal")
    (proposal, is_new), warnings = ontology.reject(ontology.open_editor(ctx.obj), proposal_id, why)
    state = "rejected" if is_new else f"was rejected before ({proposal.reason}):"
    data = {"state": "rejected" if is_new else "unchanged", "proposal": proposal_to_dict(proposal)}
    ctx.obj.emit("ontology.reject", data, [f"{state} {proposal.id} {proposal.node_id}"], warnings)


@app.command("scaffold")
def scaffold_command(
    ctx: Context,
    template: Annotated[
        str, Argument(metavar="[business|saas|ecommerce|consulting|agency]", help="The ontology to copy.")
    ],
    name: Annotated[str, Option("--as", metavar="NAME", help="The name of the ontology here.")] = "",
) -> None:
    """Copy an included ontology into the workspace; an existing one only gets what it lacks.

    Example: mabos ontology scaffold ecommerce
    """
    done, warnings = ontology.scaffold(ontology.open_editor(ctx.obj), template, name)
    lines = []
    for each in done:
        added = [plural(each.added, "node")] if each.added else []
        added += [f"statements to {plural(each.extended, 'node')} that were there"] if each.extended else []
        verb = "created" if each.is_new else "added to" if added else "unchanged"
        lines.append(f"{verb} {each.file}: {', '.join(added) or 'nothing is missing'}")
    data = {"files": [{"file": s.file, "added": s.added, "new": s.is_new, "extended": s.extended} for s in done]}
    ctx.obj.emit("ontology.scaffold", data, lines, warnings)


@app.command("export")
def export_command(
    ctx: Context,
    domain: Annotated[str, Argument(metavar="[DOMAIN]", help="One ontology (default: all together).")] = "",
    form: Annotated[
        str, Option("--format", metavar="[jsonld|turtle|ntriples|typeql|shacl]", help="The format.")
    ] = "jsonld",
) -> None:
    """Print ontologies as JSON-LD, Turtle, N-Triples, a TypeQL schema or SHACL shapes.

    Example: mabos ontology export business --format typeql
    """
    check_choice(form, ONTOLOGY_FORMATS, "format")
    text, warnings = ontology.export_ontology(ctx.obj.open_workspace(), domain, form)
    lines = text.rstrip("\n").split("\n") if text else []
    ctx.obj.emit("ontology.export", {"format": form, "domain": domain or None, "text": text}, lines, warnings)
