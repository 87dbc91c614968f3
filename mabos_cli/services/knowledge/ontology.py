"""Lists and shows the ontologies of a workspace; validates, merges and rejects proposals for them."""

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.ontology import Branch, Node, Ontology, close_names, draw_tree, select_domain
from mabos_cli.core.knowledge.proposal import (
    DOMAIN,
    Proposal,
    ProposalVerdict,
    find_left_out,
    is_merged,
    judge_proposal,
    make_local_name,
    name_proposed,
    note_findings,
    order_proposals,
    proposed_node,
    resolve_names,
)
from mabos_cli.core.language.clock import format_time
from mabos_cli.errors import NotFound, UsageFault
from mabos_cli.formats.knowledge import jsonld
from mabos_cli.formats.knowledge.jsonld_nodes import read_ontology
from mabos_cli.formats.knowledge.proposals import ProposalFile, render_proposals
from mabos_cli.services.inputs import Session
from mabos_cli.workspace.files import FileWrite
from mabos_cli.workspace.knowledge.ontologies import (
    Editor,
    Library,
    change_ontologies,
    load_documents,
    load_shipped,
    shipped_names,
)
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.locate import list_agents
from mabos_cli.workspace.runtime import now
from mabos_cli.workspace.settings import load_settings


def check_domain(domain: str) -> str:
    """Returns the domain if it can be the name of an ontology."""
    if not re.fullmatch(DOMAIN, domain) or domain in jsonld.WELL_KNOWN:
        raise BadValue(
            f"{domain[:40]!r} cannot be the name of an ontology",
            f"letters, digits, dash and underscore; none of {', '.join(jsonld.WELL_KNOWN)}",
        )
    return domain


def propose(editor: Editor, draft: Proposal) -> tuple[tuple[Proposal, bool], list[str]]:
    """Records a proposal unless it exists: returns the proposal and whether it is new, and warnings."""
    check_domain(draft.domain)

    def plan(library: Library) -> tuple[list[FileWrite], tuple[Proposal, bool]]:
        library.check_readable(draft.domain)
        name = draft.node_id or (f"{library.prefix_of(draft.domain)}:{make_local_name(draft.label, draft.node_type)}")
        name = name if ":" in name else f"{library.prefix_of(draft.domain)}:{name}"
        named = draft._replace(node_id=library.prefixes.shorten(library.prefixes.expand(name)))
        proposed = name_proposed(library.proposals("pending"))
        given = resolve_names(named, library.ontology, proposed)
        for other in library.proposals():
            is_gone = other.status == "approved" and not library.ontology.nodes_named(other.node_id)
            if other.node_id != given.node_id or is_gone:
                continue
            if resolve_names(other, library.ontology, proposed).content == given.content:
                return [], (other, False)
            if other.status != "rejected":
                raise UsageFault(
                    f"{other.id} proposes {other.node_id} in another way",
                    f"mabos ontology reject {other.id}, or give --id",
                )
        new = given._replace(id=f"OP-{library.last_number + 1:03d}", proposed_at=editor.now)
        file = library.files.get(new.domain) or ProposalFile()
        return [_with_proposals(library, new.domain, file, (*file.proposals, new))], (new, True)

    return change_ontologies(editor, "propose", plan, lambda done: [done[0].id])


def validate(editor: Editor, ids: Sequence[str], similar: bool = False) -> tuple[list[ProposalVerdict], list[str]]:
    """Validates proposals, all pending ones if none is named, and records the findings with each."""

    def plan(library: Library) -> tuple[list[FileWrite], list[ProposalVerdict]]:
        pending = library.pending()
        chosen = _chosen(library, ids, pending) if ids else pending
        around = library.surroundings(pending)
        found = [judge_proposal(each, around, similar) for each in chosen]
        return _note(library, [note_findings(v, editor.now) for v in found if v.proposal.status == "pending"]), found

    return change_ontologies(editor, "validate", plan, lambda done: [each.proposal.id for each in done])


def _chosen(library: Library, ids: Sequence[str], pending: Sequence[Proposal]) -> list[Proposal]:
    """Returns the proposals with some ids, each once, pending ones with names resolved."""
    resolved = {(each.domain, each.id): each for each in pending}
    found = [library.find_proposal(proposal_id) for proposal_id in dict.fromkeys(ids)]
    return [resolved.get((each.domain, each.id), each) for each in found]


class Merged(NamedTuple):
    """Holds what a merge did: what it put into ontologies, what had been there, and the files that it wrote."""

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
        chosen = _chosen(library, ids, pending) if ids else pending
        rejected = [each.id for each in chosen if each.status == "rejected"]
        if rejected:
            raise UsageFault(f"{rejected[0]} was rejected", "propose it again, with what was asked for")
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
        noted = [note_findings(v, editor.now)._replace(status="approved", merged_at=editor.now) for v in verdicts]
        return [*files, *_note(library, noted)], merged

    return change_ontologies(editor, "merge", plan, lambda done: [each.id for each in done.new])


def _judge(library: Library, waiting: list[Proposal], pending: list[Proposal], similar: bool) -> list[ProposalVerdict]:
    """Returns the verdicts on proposals that are to be merged together; UsageFault when one of them fails."""
    around = library.surroundings(pending)
    verdicts = []
    for each in waiting:
        found = judge_proposal(each, around, similar).findings
        verdicts.append(ProposalVerdict(each, (*found, *find_left_out(each, waiting, around))))
    errors = [(v.proposal.id, f) for v in verdicts for f in v.findings if f.level == "error"]
    if errors:
        messages = [f"{proposal_id} {finding.message}" for proposal_id, finding in errors]
        more = f"; and {len(messages) - 3} more" if len(messages) > 3 else ""
        alike = any(finding.check == "similar" for _, finding in errors)
        hint = "; --allow-similar accepts names that are only alike" if alike else ""
        raise UsageFault(
            f"nothing was merged: {'; '.join(messages[:3])}{more}", f"mabos ontology validate lists all findings{hint}"
        )
    return verdicts


def _with_nodes(library: Library, proposals: Sequence[Proposal]) -> list[FileWrite]:
    """Returns the ontologies with the nodes of proposals."""
    changed, expand = [], library.prefixes.expand
    for domain in dict.fromkeys(each.domain for each in proposals):
        held, path = library.documents.get(domain), library.workspace.ontology(domain)
        document = held or jsonld.parse_jsonld(jsonld.render_new(domain, domain), path.name, domain)
        nodes = [
            jsonld.render_node(proposed_node(each), document, expand) for each in proposals if each.domain == domain
        ]
        changed.append(FileWrite(path, jsonld.add_nodes(document, nodes), held.data if held else None, True))
    return changed


def reject(editor: Editor, proposal_id: str, reason: str) -> tuple[tuple[Proposal, bool], list[str]]:
    """Marks a proposal as rejected: the proposal and whether it was not so before, and warnings."""

    def plan(library: Library) -> tuple[list[FileWrite], tuple[Proposal, bool]]:
        proposal = library.find_proposal(proposal_id)
        if proposal.status == "approved":
            raise UsageFault(f"{proposal.id} is merged", f"take {proposal.node_id} out of its ontology by hand")
        if proposal.status == "rejected":
            return [], (proposal, False)
        gone = proposal._replace(status="rejected", reason=reason, rejected_at=editor.now)
        return _note(library, [gone]), (gone, True)

    return change_ontologies(editor, "reject", plan, lambda done: [done[0].id])


def _note(library: Library, proposals: Sequence[Proposal]) -> list[FileWrite]:
    """Returns the files of proposals with the new status of some; the rest of each file stays as it was written."""
    fields = ("status", "validation_result", "merged_at", "rejected_at", "reason")
    new = {(each.domain, each.id): {name: getattr(each, name) for name in fields} for each in proposals}
    changed = []
    for domain, file in library.files.items():
        renewed = tuple(each._replace(**new.get((each.domain, each.id), {})) for each in file.proposals)
        if renewed != file.proposals:
            changed.append(_with_proposals(library, domain, file, renewed))
    return changed


def _with_proposals(library: Library, domain: str, file: ProposalFile, proposals: tuple[Proposal, ...]) -> FileWrite:
    file.proposals = proposals
    return FileWrite(library.workspace.proposals(domain), render_proposals(file), file.data)


_GROUND = "business"  # what the other ontologies build on


class Scaffolded(NamedTuple):
    """Holds the result for one file: how many nodes were added, whether it is new, and how many existing nodes got new statements."""

    file: str
    added: int
    is_new: bool
    extended: int = 0


def scaffold(editor: Editor, template: str, name: str = "") -> tuple[list[Scaffolded], list[str]]:
    """Copies an ontology that comes with the program into the workspace, and the one that it builds on; to files that are there
    only what they lack is added, nodes and what nodes say."""
    shipped = load_shipped(template)
    domain = check_domain(name or template)

    def plan(library: Library) -> tuple[list[FileWrite], list[Scaffolded]]:
        files: list[FileWrite] = []
        done = []
        if template != _GROUND and _GROUND not in library.documents:
            ontology, ground = read_ontology([shipped]), load_shipped(_GROUND)
            named = {parent for concept in ontology.concepts.values() for parent in concept.parents}
            named |= {end for each in ontology.properties.values() for end in (*each.domains, *each.ranges)}
            missing = named - {*ontology.concepts} - {*library.ontology.concepts}
            if missing & {*read_ontology([ground]).concepts}:  # it names classes that the workspace does not define
                done.append(_scaffold_one(library, ground, _GROUND, files))
        return files, [*done, _scaffold_one(library, shipped, domain, files)]

    return change_ontologies(editor, "scaffold", plan)


def _scaffold_one(library: Library, shipped: jsonld.Document, domain: str, files: list[FileWrite]) -> Scaffolded:
    """Plans the file of a domain, and adds it to the files to write if it changes."""
    library.check_readable(domain)
    path, held = library.workspace.ontology(domain), library.documents.get(domain)
    shown = f"ontologies/{path.name}"
    nodes = list(_named_nodes(shipped))
    if held is None:
        files.append(FileWrite(path, shipped.data, None))
        return Scaffolded(shown, len(nodes), True)
    known: dict[str, list[dict[str, Any]]] = {}
    for iri, node in _named_nodes(held):
        known.setdefault(iri, []).append(node)
    translated = {iri: jsonld.translate_node(node, shipped, held) for iri, node in nodes}
    missing = [node for iri, node in translated.items() if iri not in known]
    additions = {iri: jsonld.find_missing(node, known[iri], held) for iri, node in translated.items() if iri in known}
    more = {iri: statements for iri, statements in additions.items() if statements}
    if missing or more:
        files.append(FileWrite(path, jsonld.add_nodes(held, missing, more), held.data, True))
    return Scaffolded(shown, len(missing), False, len(more))


def _named_nodes(document: jsonld.Document) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the nodes of a document by IRI, without the one that stands for the document."""
    for node in document.nodes():
        node_id, types = node.get("@id"), node.get("@type")
        if isinstance(node_id, str) and "owl:Ontology" not in (types if isinstance(types, list) else [types]):
            yield document.expand(node_id), node


def export_ontology(workspace: WorkspacePaths, domain: str, form: str) -> tuple[str, list[str]]:
    """Returns one ontology, or all together, in a format, and a warning about each that cannot be read."""
    documents, faults = load_documents(workspace)
    if domain in faults:
        raise faults[domain]
    if domain and domain not in documents:
        raise NotFound(f"no ontology {domain!r}", f"there are: {', '.join(documents) or 'none'}")
    return _render(documents, domain, form), [fault.message for fault in faults.values()]


def _render(documents: dict[str, jsonld.Document], domain: str, form: str) -> str:
    """Returns the text of one document or of all, in a format."""
    chosen = [documents[domain]] if domain else list(documents.values())
    if form in ("turtle", "ntriples"):
        from mabos_cli.backends.rdf import convert_jsonld

        return convert_jsonld({each.path: each.data for each in chosen}, form, jsonld.Prefixes(chosen).spaces)
    if form == "jsonld":
        return chosen[0].data.decode("utf-8-sig") if len(chosen) == 1 else jsonld.render_together(chosen)
    ontology = read_ontology(list(documents.values()))
    ontology = select_domain(ontology, domain) if domain else ontology
    if form == "shacl":
        from mabos_cli.formats.knowledge.shapes import render_shapes

        return render_shapes(ontology, jsonld.Prefixes(list(documents.values())).expand)
    from mabos_cli.core.mirror.schema import mirror_schema
    from mabos_cli.formats.mirror.typeql import render_typeql

    return render_typeql(ontology, mirror_schema().names())


def open_editor(call: Session) -> Editor:
    """Returns who changes the ontologies of a call's workspace."""
    workspace = call.open_workspace()
    settings = load_settings(workspace, None, {"lock.timeout": call.lock_timeout})
    return Editor(workspace, format_time(now()), settings["lock.timeout"], settings["secrets.refuse"], call.confirm)


def choose_domain(workspace: WorkspacePaths, given: str) -> str:
    """Returns the domain as given, or the only one that there is."""
    known = [check_domain(given)] if given else list(load_documents(workspace)[0])
    if len(known) != 1:
        raise UsageFault("for which ontology?", f"--domain NAME; there are: {', '.join(known) or 'none'}")
    return known[0]


def find_proposer(call: Session, workspace: WorkspacePaths) -> str:
    """Returns the agent of a call, or the only one that there is."""
    agents = list_agents(workspace)
    named = call.agent or os.environ.get("MABOS_AGENT", "")
    return named or (agents[0] if len(agents) == 1 else "")


def count_ontologies(library: Library) -> tuple[list[dict[str, Any]], list[str]]:
    """Returns how much each ontology holds, those included that are only proposed for and have no file; and the names of those
    that come with the program and are not there."""
    waiting = [each.domain for each in library.proposals("pending")]
    rows = []
    for name in dict.fromkeys((*library.documents, *waiting)):
        document = library.documents.get(name)
        found = read_ontology([document] if document else [])
        sizes = {"concepts": len(found.concepts), "properties": len(found.properties), "rules": len(found.rules)}
        file = document.path if document else None
        rows.append({"name": name, "file": file, **sizes, "pending": waiting.count(name)})
    return rows, [name for name in shipped_names() if name not in library.documents]


class Shown(NamedTuple):
    """Holds what a name means: nodes of ontologies, or branches of the class tree; all ontologies together, and warnings."""

    nodes: tuple[Node, ...]
    branches: list[Branch]
    ontology: Ontology
    warnings: list[str]


def show_name(workspace: WorkspacePaths, name: str, *, as_tree: bool) -> Shown:
    """Returns the nodes that a name means; as a tree, or where it is no name of a node, the class tree of an ontology, below a
    concept, or of all."""
    documents, faults = load_documents(workspace)
    ontology = read_ontology(list(documents.values()))
    warnings = [fault.message for fault in faults.values()]
    name = jsonld.Prefixes(list(documents.values())).shorten(name) if "://" in name else name
    nodes = ontology.nodes_named(name) if name else ()
    is_exact = any(name in (node.id, node.label) for node in nodes)
    is_tree = not name or as_tree or (name in documents and not is_exact)
    below = ontology.find_concept(name) if is_tree and name not in documents else None
    if name and name not in documents and not (below if is_tree else nodes):
        close = close_names(ontology, name)
        hint = "mabos ontology show --tree" if ontology.concepts else "mabos ontology scaffold business"
        raise NotFound(f"no ontology names {name!r}", f"did you mean {', '.join(close)}?" if close else hint)
    if not is_tree:
        return Shown(nodes, [], ontology, warnings)
    return Shown((), draw_tree(ontology, "" if below else name, below.id if below else ""), ontology, warnings)
