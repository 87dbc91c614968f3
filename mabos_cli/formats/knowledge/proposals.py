"""ontologies/proposals/<domain>-proposals.json: one proposal per line; and proposals as text."""

from typing import Any

from mabos_cli.core.knowledge.proposal import NODE_TYPES, STATUSES, Proposal, ProposalVerdict
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json import text as json_text
from mabos_cli.formats.knowledge.fields import foreign_keys, read_elements, read_list, read_texts, take_list

_KNOWN = frozenset(Proposal._fields[:-1])
_TEXT = tuple(n for n in Proposal._fields[:-1] if n not in ("functional", "sbvr_synonyms", "validation_result"))
_ALWAYS = frozenset(
    ("id", "domain", "node_type", "node_id", "label", "rationale", "proposed_by", "status", "proposed_at")
)
_MEND = "repair the proposal by hand, or restore the file from git"


class ProposalFile:
    """A file of proposals: the proposals, and other keys as they were. Other tools may keep a bare list: it stays one."""

    def __init__(self, extra: dict[str, Any] | None = None, is_list: bool = False, data: bytes | None = None) -> None:
        self.data = data  # as it was read
        self.proposals: tuple[Proposal, ...] = ()
        self.extra = extra or {}
        self.is_list = is_list
        self.raw: dict[str, dict[str, Any]] = {}  # the proposals as they were read, by id


def parse_proposals(data: bytes, path: str, domain: str) -> ProposalFile:
    """Returns the proposals in a file; InvalidFile cites the line of one that is off."""
    raw = json_text.parse_json(data, path)
    what = "a file of proposals must be an object with a list of them"
    entries, others = take_list(raw, "proposals", path, what, _MEND)
    file = ProposalFile(others, isinstance(raw, list), data)

    def read(entry: Any) -> Proposal:
        return _from_dict(entry, domain, path)

    found = list(read_elements(entries, "proposals", path, data, read, "proposal {}".format))
    file.proposals = tuple(proposal for proposal, _ in found)
    file.raw = {proposal.id: entry for proposal, entry in found}
    return file


def render_proposals(file: ProposalFile) -> bytes:
    """Returns the file's bytes. A proposal that did not change keeps its text."""
    lines = [json_text.dump_line(_renewed(each, file)).encode("utf-8") for each in file.proposals]
    if file.is_list:
        return json_text.render_list(lines)
    others = [json_text.render_value(key, value) for key, value in file.extra.items()]
    return json_text.render_document([json_text.render_array("proposals", lines), *others])


def _renewed(proposal: Proposal, file: ProposalFile) -> dict[str, Any]:
    new, raw = proposal_to_dict(proposal), file.raw.get(proposal.id)
    return new if raw is None else json_text.renewed(raw, proposal_to_dict(_from_dict(raw, proposal.domain)), new)


def proposal_to_dict(proposal: Proposal) -> dict[str, Any]:
    """Returns the proposal as JSON values in a fixed order, what is empty left out."""
    return json_text.record_to_dict(proposal, _ALWAYS)


def _from_dict(raw: Any, domain: str, path: str = "") -> Proposal:
    """Returns the proposal that a JSON object holds; InvalidFile names the place and the field that is off."""
    if not isinstance(raw, dict):
        raise InvalidFile(f"{path}: a proposal must be an object", _MEND)
    label = f"{path}: proposal {str(raw.get('id', '?'))[:60]}"
    values = {"domain": domain} | read_texts(raw, _TEXT, label, _MEND)
    checked = raw.get("validation_result")
    values["validation_result"] = checked if isinstance(checked, dict) else None
    values["functional"] = raw.get("functional") is True
    if raw.get("sbvr_synonyms") is not None:
        values["sbvr_synonyms"] = read_list(raw["sbvr_synonyms"], f"{label}: sbvr_synonyms", _MEND)
    missing = [name for name in ("id", "node_id", "label") if not values.get(name, "").strip()]
    if missing:
        raise InvalidFile(f"{label}: {missing[0]} is required", _MEND)
    values.setdefault("status", "pending")
    for name, choices in (("node_type", NODE_TYPES), ("status", STATUSES)):
        if values.get(name) not in choices:
            raise InvalidFile(f"{label}: {name} must be one of {', '.join(choices)}", _MEND)
    return Proposal(**values, extra=foreign_keys(raw, _KNOWN))


def proposal_line(proposal: Proposal) -> str:
    """Returns a proposal on one line, with what the last validation found."""
    by = f" by {proposal.proposed_by}" if proposal.proposed_by else ""
    verdict, result = "", proposal.validation_result
    if proposal.status == "pending" and result:
        findings = result["findings"] if isinstance(result.get("findings"), list) else []
        errors = sum(isinstance(f, dict) and f.get("level") == "error" for f in findings)
        verdict = f", {'valid' if result.get('valid') is True else plural(errors, 'error')}"
    why = f" ({proposal.reason})" if proposal.reason else ""
    named = f"{proposal.id} {proposal.node_type.replace('_', ' ')} {proposal.node_id} {proposal.label!r}"
    return one_line(f"{named}{by}: {proposal.status}{verdict}{why}", 240)


def finding_lines(verdict: ProposalVerdict) -> list[str]:
    """Returns a verdict, with a line for each finding."""
    proposal = verdict.proposal
    state = ("valid" if verdict.is_valid else "fails") if proposal.status == "pending" else proposal.status
    head = f"{proposal.id} {proposal.node_id}: {state}"
    return [head, *(f"  {f.level} {f.check}: {f.message}" for f in verdict.findings)]


def verdict_row(verdict: ProposalVerdict) -> dict[str, Any]:
    """Returns a verdict as JSON."""
    named = {name: getattr(verdict.proposal, name) for name in ("id", "node_id", "status")}
    return named | {"valid": verdict.is_valid, "findings": [finding._asdict() for finding in verdict.findings]}
