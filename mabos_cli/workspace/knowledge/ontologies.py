"""The ontologies of a workspace and what is proposed for them, read and changed; and those that come with the program."""

import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from mabos_cli.core.knowledge.ontology import Ontology
from mabos_cli.core.knowledge.proposal import Proposal, Surroundings, name_proposed, resolve_names
from mabos_cli.errors import InvalidFile, NotFound, UsageFault
from mabos_cli.formats.knowledge.jsonld import Document, Prefixes, parse_jsonld
from mabos_cli.formats.knowledge.jsonld_nodes import read_ontology
from mabos_cli.formats.knowledge.proposals import ProposalFile, parse_proposals
from mabos_cli.workspace.files import FileWrite, Moved, attempts, list_names, read_bytes, sweep_temps
from mabos_cli.workspace.layout import WorkspacePaths, shipped_folder
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.secret_gate import refuse_new_secrets
from mabos_cli.workspace.transaction import add_receipt, write_files

Result = TypeVar("Result")
ENDING = ".jsonld"
_PROPOSALS = "-proposals.json"


def load_ontology(paths: WorkspacePaths) -> tuple[Ontology, list[str]]:
    """Returns all that the ontologies of a workspace say together, and a warning about each that cannot be read."""
    documents, faults = load_documents(paths)
    return read_ontology(list(documents.values())), [fault.message for fault in faults.values()]


def load_documents(workspace: WorkspacePaths) -> tuple[dict[str, Document], dict[str, InvalidFile]]:
    """Returns the documents in ontologies/ by name, and what is wrong with those that cannot be read."""
    found: dict[str, Document] = {}
    faults: dict[str, InvalidFile] = {}
    for name in list_names(workspace.ontologies):
        domain = name.removesuffix(ENDING)
        if name.endswith(ENDING) and domain:
            try:
                data = read_bytes(workspace.ontology(domain))
                if data is not None:
                    found[domain] = parse_jsonld(data, f"ontologies/{name}", domain)
            except InvalidFile as error:
                faults[domain] = error
    return found, faults


def shipped_names() -> list[str]:
    """Returns the ontologies that come with the program, the one that the others build on first."""
    names = [name.removesuffix(ENDING) for name in list_names(shipped_folder("ontologies")) if name.endswith(ENDING)]
    return sorted(names, key=lambda name: (name != "business", name))


def load_shipped(name: str) -> Document:
    """Returns a document that comes with the program."""
    data = read_bytes(shipped_folder("ontologies") / f"{name}{ENDING}")
    if data is None:
        raise NotFound(f"no ontology {name!r} comes with mabos", f"there are: {', '.join(shipped_names())}")
    return parse_jsonld(data, f"{name}{ENDING}", name)


class Library:
    """Ontologies, proposals and whatever of both cannot be read, as they are on disk at one moment."""

    def __init__(self, workspace: WorkspacePaths) -> None:
        self.workspace = workspace
        self.documents, self._faults = load_documents(workspace)
        self.files: dict[str, ProposalFile] = {}
        self.last_number = 0
        self._file_faults: dict[str, InvalidFile] = {}
        for name in list_names(workspace.proposals_folder):
            domain, path = name.removesuffix(_PROPOSALS), workspace.proposals_folder / name
            if name.endswith(_PROPOSALS):
                try:
                    data = read_bytes(path) or b""
                    # Also where the file is broken: an id that is in there is not given again.
                    numbers = map(int, re.findall(rb"\bOP-(\d{1,9})\b", data))
                    self.last_number = max(self.last_number, *numbers, 0)
                    self.files[domain] = parse_proposals(data, f"ontologies/proposals/{name}", domain)
                except InvalidFile as error:
                    self._file_faults[domain] = error
        self.prefixes = Prefixes(list(self.documents.values()), self.files)
        self.ontology = read_ontology(list(self.documents.values()), self.files)

    @property
    def warnings(self) -> list[str]:
        return [fault.message for fault in (*self._faults.values(), *self._file_faults.values())]

    def check_readable(self, domain: str) -> None:
        """Raises what is wrong with the files of a domain that is about to be changed."""
        for faults in (self._faults, self._file_faults):
            if domain in faults:
                raise faults[domain]

    def proposals(self, status: str = "") -> list[Proposal]:
        """Returns the proposals in a status, or all, by id, with ids in the short form of all ontologies."""

        def shortened(each: Proposal) -> Proposal:
            named = ("node_id", "parent_class", "domain_class", "range")
            ids: dict[str, Any] = {n: self.prefixes.shorten(self.prefixes.expand(getattr(each, n))) for n in named}
            return each._replace(**ids)

        found = [
            shortened(each) for file in self.files.values() for each in file.proposals if status in ("", each.status)
        ]
        return sorted(found, key=lambda each: (len(each.id), each.id, each.domain))

    def pending(self) -> list[Proposal]:
        """Returns the proposals that wait, with names resolved to ids."""
        found = self.proposals("pending")
        named = name_proposed(found)
        return [resolve_names(each, self.ontology, named) for each in found]

    def find_proposal(self, name: str) -> Proposal:
        """Returns the proposal with an id, or with domain/id where branches gave an id twice."""
        domain, _, proposal_id = name.rpartition("/")
        found = [each for each in self.proposals() if each.id == proposal_id and domain in ("", each.domain)]
        if not found:
            for fault in self._file_faults.values():  # it may be in there
                raise fault
            raise NotFound(f"no proposal {name!r}", "mabos ontology list --proposals shows them")
        if len(found) > 1:
            choices = " or ".join(f"{each.domain}/{each.id}" for each in found)
            raise UsageFault(f"{name} occurs more than once", f"write {choices}")
        return found[0]

    def surroundings(self, pending: list[Proposal]) -> Surroundings:
        """Returns what a proposal is held against."""
        return Surroundings(self.ontology, pending, {*self.documents, *shipped_names()}, self.prefixes.spaces)

    def prefix_of(self, domain: str) -> str:
        """Returns the prefix that most nodes of a domain have; the domain's own name where there are none."""
        document = self.documents.get(domain)
        if document is None and domain in shipped_names():
            document = load_shipped(domain)
        counts: dict[str, int] = {}
        for node in document.nodes() if document else ():
            prefix, colon, rest = str(node.get("@id", "")).partition(":")
            if colon and not rest.startswith("//") and prefix in document.prefixes:  # type: ignore[union-attr]
                counts[prefix] = counts.get(prefix, 0) + 1
        return max(counts, key=lambda each: (counts[each], each == domain), default=domain)


class Editor(NamedTuple):
    """Who changes something, when, and how long to wait for others."""

    workspace: WorkspacePaths
    now: str
    timeout: float
    refuses_secrets: bool = True
    confirm: Callable[[], None] | None = None  # raises Conflict where what somebody decided on is no longer so


def change_ontologies(
    editor: Editor,
    command: str,
    plan: Callable[[Library], tuple[Sequence[FileWrite], Result]],
    ids: Callable[[Result], list[str]] = lambda result: [],
) -> tuple[Result, list[str]]:
    """Runs a plan on what is on disk and writes the files that it returns, all or none; again if somebody edits one meanwhile.
    Its result, and warnings. A receipt says how many files changed, and which ids of the result it was about."""
    started, workspace = time.monotonic(), editor.workspace
    with locked(workspace.ontology_lock, workspace.root, editor.timeout, f"mabos ontology {command}"):
        sweep_temps(workspace.ontologies, locked=True)  # only who holds the lock writes there: killed ones left these
        for _ in attempts("the ontologies keep changing", "something writes them without locking; try again"):
            library = Library(workspace)
            files, result = plan(library)
            if editor.confirm:
                editor.confirm()
            if editor.refuses_secrets:
                refuse_new_secrets(files, None, ())
            with suppress(Moved):
                write_files(files, workspace.root)
                break
        if files:
            add_receipt(workspace, editor.now, f"ontology {command}", {"files": len(files)}, ids(result), started)
        return result, library.warnings
