"""Changes to ontologies: proposing, validating, merging and rejecting, under the lock of the ontologies."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.ontology import select_domain
from mabos_cli.core.knowledge.proposal import (
    DOMAIN,
    Finding,
    Proposal,
    ProposalVerdict,
    Surroundings,
    find_left_out,
    is_lost,
    is_merged,
    make_local_name,
    name_proposed,
    order_proposals,
    proposed_node,
    resolve_names,
    validate_proposal,
)
from mabos_cli.errors import NotFound, UsageFault
from mabos_cli.formats.knowledge.jsonld import (
    WELL_KNOWN,
    Document,
    Prefixes,
    add_nodes,
    parse_jsonld,
    render_new,
    render_node,
    render_together,
    translate_node,
)
from mabos_cli.formats.knowledge.jsonld_nodes import read_ontology
from mabos_cli.formats.knowledge.proposals import ProposalFile, render_proposals
from mabos_cli.workspace.files import FileWrite, redo_when_moved, sweep_temps
from mabos_cli.workspace.knowledge.ontologies import HeldFile, Library, load_documents, load_shipped
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.transaction import add_receipt, write_files

Result = TypeVar("Result")


class Editor(NamedTuple):
    """Who changes something, when, and how long to wait for others."""

    workspace: WorkspacePaths
    now: str
    timeout: float


@contextmanager
def _holding(editor: Editor, command: str) -> Iterator[None]:
    """The lock of the ontologies. Only its holder writes there: temporary files are what killed ones left."""
    workspace = editor.workspace
    with locked(workspace.ontology_lock, workspace.root, editor.timeout, f"mabos ontology {command}"):
        sweep_temps(workspace.ontologies, locked=True)
        yield


def change_ontologies(
    editor: Editor,
    command: str,
    plan: Callable[[Library], tuple[Sequence[FileWrite], Result]],
    ids: Callable[[Result], list[str]] = lambda result: [],
) -> tuple[Result, list[str]]:
    """Runs a plan on what is on disk and writes the files that it returns, all or none; anew when somebody edits one meanwhile.
    Its result, and warnings. A receipt says how many files changed, and which ids of the result it was about."""
    started = time.monotonic()

    def attempt() -> tuple[Result, list[str]]:
        library = Library(editor.workspace)
        files, result = plan(library)
        write_files(files, editor.workspace.root)
        if files:
            counts = {"files": len(files)}
            add_receipt(editor.workspace, editor.now, f"ontology {command}", counts, ids(result), started)
        return result, library.warnings

    with _holding(editor, command):
        hint = "something writes them without locking; try again"
        return redo_when_moved(attempt, "the ontologies keep changing", hint)


def check_domain(domain: str) -> str:
    """Returns the domain if it can be the name of an ontology."""
    if not re.fullmatch(DOMAIN, domain) or domain in WELL_KNOWN:
        raise BadValue(
            f"{domain[:40]!r} cannot be the name of an ontology",
            f"letters, digits, dash and underscore; none of {', '.join(WELL_KNOWN)}",
        )
    return domain


def propose(editor: Editor, draft: Proposal) -> tuple[tuple[Proposal, bool], list[str]]:
    """Writes a proposal down, unless it is there: the proposal and whether it is new, and warnings."""
    check_domain(draft.domain)

    def plan(library: Library) -> tuple[list[FileWrite], tuple[Proposal, bool]]:
        library.check_readable(draft.domain)
        own = draft.node_id or (f"{library.prefix_of(draft.domain)}:{make_local_name(draft.label, draft.node_type)}")
        own = own if ":" in own else f"{library.prefix_of(draft.domain)}:{own}"
        named = draft._replace(node_id=library.prefixes.shorten(library.prefixes.expand(own)))
        proposed = name_proposed(library.proposals("pending"))
        given = resolve_names(named, library.ontology, proposed)
        for other in library.proposals():
            if other.node_id != given.node_id or is_lost(other, library.ontology):
                continue
            if resolve_names(other, library.ontology, proposed).content == given.content:
                return [], (other, False)
            if other.status != "rejected":
                raise UsageFault(
                    f"{other.id} proposes {other.node_id} in another way",
                    f"mabos ontology reject {other.id}, or give --id",
                )
        new = given._replace(id=f"OP-{library.last_number + 1:03d}", proposed_at=editor.now)
        return [_with_proposal(library, new)], (new, True)

    return change_ontologies(editor, "propose", plan, lambda done: [done[0].id])


def validate(editor: Editor, ids: Sequence[str], similar: bool = False) -> tuple[list[ProposalVerdict], list[str]]:
    """Checks proposals, all that wait if none is named, and keeps what was found with each."""

    def plan(library: Library) -> tuple[list[FileWrite], list[ProposalVerdict]]:
        pending = library.pending()
        chosen = _chosen(library, ids, pending) if ids else pending
        around = library.surroundings(pending)
        told = [_verdict(each, around, similar) for each in chosen]
        return _note(library, [_noted(v, editor.now) for v in told if v.proposal.status == "pending"]), told

    return change_ontologies(editor, "validate", plan, lambda done: [each.proposal.id for each in done])


def _chosen(library: Library, ids: Sequence[str], pending: Sequence[Proposal]) -> list[Proposal]:
    """Returns the proposals with some ids, each once, those that wait with names resolved."""
    resolved = {(each.domain, each.id): each for each in pending}
    found = [library.find_proposal(own) for own in dict.fromkeys(ids)]
    return [resolved.get((each.domain, each.id), each) for each in found]


def _verdict(proposal: Proposal, around: Surroundings, similar: bool) -> ProposalVerdict:
    if proposal.status != "pending":
        return ProposalVerdict(proposal)
    if is_merged(proposal, around.ontology):
        done = Finding("warning", "duplicate", f"{proposal.node_id} is in the ontology already, just as proposed")
        return ProposalVerdict(proposal, (done,))
    found = validate_proposal(proposal, around)
    if similar:
        found = [f._replace(level="warning") if f.check == "similar" else f for f in found]
    return ProposalVerdict(proposal, tuple(found))


def _noted(verdict: ProposalVerdict, now: str) -> Proposal:
    """Returns the proposal with what was found; when it was found before, that stays as it is."""
    findings = [finding._asdict() for finding in verdict.findings]
    old = verdict.proposal.validation_result or {}
    if old.get("findings") == findings and old.get("valid") is verdict.is_valid:
        return verdict.proposal
    result: dict[str, Any] = {"valid": verdict.is_valid, "findings": findings, "checked_at": now}
    return verdict.proposal._replace(validation_result=result)


class Merged(NamedTuple):
    """What a merge did: what it put into ontologies, what had been there, and the files that it wrote."""

    new: list[Proposal]
    before: list[Proposal]
    files: list[str]
    findings: list[ProposalVerdict]


def merge(editor: Editor, ids: Sequence[str], similar: bool = False, dry_run: bool = False) -> tuple[Merged, list[str]]:
    """Puts proposals into their ontologies, all of them or none; without ids all that wait.

    The ontology is written before the status of its proposals: after a crash in between, another run finds them there.
    """

    def plan(library: Library) -> tuple[list[FileWrite], Merged]:
        pending = library.pending()
        chosen = [_renewed(each, library, pending) for each in _chosen(library, ids, pending)] if ids else pending
        rejected = [each.id for each in chosen if each.status == "rejected"]
        if rejected:
            raise UsageFault(f"{rejected[0]} was rejected", "propose it anew, with what was asked for")
        waiting = [each for each in chosen if each.status == "pending"]
        for domain in {each.domain for each in waiting}:
            check_domain(domain)
            library.check_readable(domain)
        verdicts = _judge(library, waiting, pending, similar)
        new = order_proposals([each for each in waiting if not is_merged(each, library.ontology)])
        files = _with_nodes(library, new)
        names = [f"ontologies/{file.path.name}" for file in files]
        merged = Merged(new, [each for each in chosen if each not in new], names, verdicts)
        if dry_run:
            return [], merged
        noted = [_noted(v, editor.now)._replace(status="approved", merged_at=editor.now) for v in verdicts]
        return [*files, *_note(library, noted)], merged

    return change_ontologies(editor, "merge", plan, lambda done: [each.id for each in done.new])


def _renewed(proposal: Proposal, library: Library, pending: Sequence[Proposal]) -> Proposal:
    """Returns the proposal; one that was merged and is lost waits again when it is named."""
    if not is_lost(proposal, library.ontology):
        return proposal
    return resolve_names(proposal._replace(status="pending"), library.ontology, name_proposed(pending))


def _judge(library: Library, waiting: list[Proposal], pending: list[Proposal], similar: bool) -> list[ProposalVerdict]:
    """Returns the verdicts on proposals that are to be merged together; UsageFault when one of them fails."""
    around = library.surroundings(pending)
    verdicts = []
    for each in waiting:
        found = _verdict(each, around, similar).findings
        verdicts.append(ProposalVerdict(each, (*found, *find_left_out(each, waiting, around))))
    errors = [(v.proposal.id, f) for v in verdicts for f in v.findings if f.level == "error"]
    if errors:
        told = [f"{own} {finding.message}" for own, finding in errors]
        more = f"; and {len(told) - 3} more" if len(told) > 3 else ""
        alike = any(finding.check == "similar" for _, finding in errors)
        hint = "; --allow-similar accepts names that are only alike" if alike else ""
        raise UsageFault(
            f"nothing was merged: {'; '.join(told[:3])}{more}", f"mabos ontology validate says it all{hint}"
        )
    return verdicts


def _with_nodes(library: Library, proposals: Sequence[Proposal]) -> list[FileWrite]:
    """Returns the ontologies with the nodes of proposals."""
    changed = []
    for domain in dict.fromkeys(each.domain for each in proposals):
        nodes = [proposed_node(each) for each in proposals if each.domain == domain]
        document = library.documents.get(domain)
        path = library.workspace.ontology(domain)
        old = document.data if document else None
        if document is None:
            document = parse_jsonld(render_new(domain, domain, []), path.name, domain)
        expand = library.prefixes.expand
        data = add_nodes(document, [render_node(node, document, expand) for node in nodes])
        changed.append(FileWrite(path, data, old, True))
    return changed


def reject(editor: Editor, own: str, reason: str) -> tuple[tuple[Proposal, bool], list[str]]:
    """Marks a proposal as rejected: the proposal and whether it was not so before, and warnings."""

    def plan(library: Library) -> tuple[list[FileWrite], tuple[Proposal, bool]]:
        proposal = library.find_proposal(own)
        if proposal.status == "approved":
            raise UsageFault(f"{proposal.id} is merged", f"take {proposal.node_id} out of its ontology by hand")
        if proposal.status == "rejected":
            return [], (proposal, False)
        gone = proposal._replace(status="rejected", reason=reason, rejected_at=editor.now)
        return _note(library, [gone]), (gone, True)

    return change_ontologies(editor, "reject", plan, lambda done: [done[0].id])


def _note(library: Library, proposals: Sequence[Proposal]) -> list[FileWrite]:
    """Returns the files of proposals with what became of some of them; the rest of each stays as it was written."""
    told = ("status", "validation_result", "merged_at", "rejected_at", "reason")
    new = {(each.domain, each.id): {name: getattr(each, name) for name in told} for each in proposals}
    changed = []
    for domain, held in library.files.items():
        renewed = tuple(each._replace(**new.get((each.domain, each.id), {})) for each in held.file.proposals)
        if renewed != held.file.proposals:
            held.file.proposals = renewed
            changed.append(_proposals_file(library, domain, held))
    return changed


def _with_proposal(library: Library, proposal: Proposal) -> FileWrite:
    """Returns the proposals of a domain with one more."""
    held = library.files.get(proposal.domain) or HeldFile(ProposalFile(), None)
    held.file.proposals += (proposal,)
    return _proposals_file(library, proposal.domain, held)


def _proposals_file(library: Library, domain: str, held: HeldFile) -> FileWrite:
    return FileWrite(library.workspace.proposals(domain), render_proposals(held.file), held.data)


_GROUND = "business"  # what the other ontologies build on


class Scaffolded(NamedTuple):
    """What became of one file: how many nodes were added, and whether it is new."""

    file: str
    added: int
    is_new: bool


def scaffold(editor: Editor, template: str, name: str = "") -> tuple[list[Scaffolded], list[str]]:
    """Copies an ontology that comes with the program into the workspace, and the one that it builds on; to files that are there
    only what they lack is added."""
    shipped = load_shipped(template)
    domain = check_domain(name or template)

    def plan(library: Library) -> tuple[list[FileWrite], list[Scaffolded]]:
        files: list[FileWrite] = []
        done = []
        if template != _GROUND and _GROUND not in library.documents and _lacks_ground(library, shipped):
            done.append(_scaffold_one(library, load_shipped(_GROUND), _GROUND, files))
        return files, [*done, _scaffold_one(library, shipped, domain, files)]

    return change_ontologies(editor, "scaffold", plan)


def _lacks_ground(library: Library, shipped: Document) -> bool:
    """Returns whether a document names classes of the one that others build on, and the workspace does not define them."""
    own = read_ontology([shipped])
    named = {parent for concept in own.concepts.values() for parent in concept.parents}
    named |= {end for each in own.properties.values() for end in (*each.domains, *each.ranges)}
    missing = named - {*own.concepts} - {*library.ontology.concepts}
    return bool(missing & {*read_ontology([load_shipped(_GROUND)]).concepts})


def _scaffold_one(library: Library, shipped: Document, domain: str, files: list[FileWrite]) -> Scaffolded:
    """Returns what becomes of the file of a domain; it is added to the files that are to be written, if it changes."""
    library.check_readable(domain)
    path, held = library.workspace.ontology(domain), library.documents.get(domain)
    shown = f"ontologies/{path.name}"
    nodes = list(_named_nodes(shipped))
    if held is None:
        files.append(FileWrite(path, shipped.data, None))
        return Scaffolded(shown, len(nodes), True)
    known = {iri for iri, _ in _named_nodes(held)}
    missing = [translate_node(node, shipped, held) for iri, node in nodes if iri not in known]
    if missing:
        files.append(FileWrite(path, add_nodes(held, missing), held.data, True))
    return Scaffolded(shown, len(missing), False)


def _named_nodes(document: Document) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the nodes of a document by IRI, without the one that stands for the document."""
    for node in document.nodes():
        own, types = node.get("@id"), node.get("@type")
        if isinstance(own, str) and "owl:Ontology" not in (types if isinstance(types, list) else [types]):
            yield document.expand(own), node


def export_ontology(workspace: WorkspacePaths, domain: str, form: str) -> tuple[str, list[str]]:
    """Returns one ontology, or all together, in a format, and a warning about each that cannot be read."""
    documents, faults = load_documents(workspace)
    if domain in faults:
        raise faults[domain]
    if domain and domain not in documents:
        raise NotFound(f"no ontology {domain!r}", f"there are: {', '.join(documents) or 'none'}")
    return _render(documents, domain, form), [fault.message for fault in faults.values()]


def _render(documents: dict[str, Document], domain: str, form: str) -> str:
    """Returns the text of one document or of all, in a format."""
    chosen = [documents[domain]] if domain else list(documents.values())
    if form in ("turtle", "ntriples"):
        from mabos_cli.backends.rdf import convert_jsonld

        return convert_jsonld({each.path: each.data for each in chosen}, form, Prefixes(chosen).spaces)
    if form == "jsonld":
        return chosen[0].data.decode("utf-8-sig") if len(chosen) == 1 else render_together(chosen)
    ontology = read_ontology(list(documents.values()))
    ontology = select_domain(ontology, domain) if domain else ontology
    if form == "dot":
        from mabos_cli.formats.knowledge.exchange import render_dot

        return render_dot(ontology)
    from mabos_cli.core.mirror.schema import mirror_schema
    from mabos_cli.formats.mirror.typeql import render_typeql

    return render_typeql(ontology, mirror_schema().names())
