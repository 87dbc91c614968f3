"""ontologies/proposals/<domain>-proposals.json: one proposal per line; and proposals as text."""

from typing import Any

from mabos_cli.core.knowledge.proposal import NODE_TYPES, STATUSES, Proposal, ProposalVerdict
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.lines import (
    line_of_element,
    render_array,
    render_document,
    render_list,
    render_value,
    renewed,
)
from mabos_cli.formats.json.text import dump_line, parse_json, record_to_dict

_KNOWN = frozenset(Proposal._fields[:-1])
_ALWAYS = frozenset(
    ("id", "domain", "node_type", "node_id", "label", "rationale", "proposed_by", "status", "proposed_at")
)
_MEND = "repair the proposal by hand, or restore the file from git"


class ProposalFile:
    """A file of proposals: the proposals, and other keys as they were. Other tools may keep a bare list: it stays one."""

    def __init__(self, extra: dict[str, Any] | None = None, is_list: bool = False) -> None:
        self.proposals: tuple[Proposal, ...] = ()
        self.extra = extra or {}
        self.is_list = is_list
        self.raw: dict[str, dict[str, Any]] = {}  # the proposals as they were read, by id


def parse_proposals(data: bytes, path: str, domain: str) -> ProposalFile:
    """The proposals in a file; InvalidFile cites the line of one that is off."""
    raw = parse_json(data, path)
    file = ProposalFile(is_list=isinstance(raw, list))
    raw = {"proposals": raw} if file.is_list else raw
    if not isinstance(raw, dict) or not isinstance(raw.get("proposals", []), list):
        raise InvalidFile(f"{path}:1: a file of proposals must be an object with a list of them", _MEND)
    entries = raw.pop("proposals", [])
    file.extra = raw
    found = []
    for number, entry in enumerate(entries):
        try:
            proposal = _from_dict(entry, domain)
            if proposal.id in file.raw:
                raise InvalidFile(f"proposal {proposal.id} is there twice", "give one of the two another id")
        except InvalidFile as error:
            where = f"{path}:{line_of_element(data, 'proposals', number)}"
            raise InvalidFile(f"{where}: {error.message}", error.hint) from None
        found.append(proposal)
        file.raw[proposal.id] = entry
    file.proposals = tuple(found)
    return file


def render_proposals(file: ProposalFile) -> bytes:
    """The file's bytes. Of a proposal that was read, only what changed is written anew."""
    lines = [dump_line(_renewed(each, file)).encode("utf-8") for each in file.proposals]
    if file.is_list:
        return render_list(lines)
    others = [render_value(key, value) for key, value in file.extra.items()]
    return render_document([render_array("proposals", lines), *others])


def _renewed(proposal: Proposal, file: ProposalFile) -> dict[str, Any]:
    new, raw = proposal_to_dict(proposal), file.raw.get(proposal.id)
    return new if raw is None else renewed(raw, proposal_to_dict(_from_dict(raw, proposal.domain)), new)


def proposal_to_dict(proposal: Proposal) -> dict[str, Any]:
    """The proposal as JSON values in a fixed order, what is empty left out."""
    return record_to_dict(proposal, _ALWAYS)


def _from_dict(raw: Any, domain: str) -> Proposal:
    """The proposal that a JSON object holds; InvalidFile names the field that is off."""
    if not isinstance(raw, dict):
        raise InvalidFile("a proposal must be an object", _MEND)
    label = f"proposal {str(raw.get('id', '?'))[:60]}"
    values: dict[str, Any] = {"domain": domain}
    for name in Proposal._fields[:-1]:
        value = raw.get(name)
        if value is None:
            continue
        if name == "sbvr_synonyms":
            if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                raise InvalidFile(f"{label}: {name} must be a list of texts", _MEND)
            values[name] = tuple(value)
        elif name == "functional":
            values[name] = value is True
        elif name == "validation_result":
            values[name] = value if isinstance(value, dict) else None
        elif not isinstance(value, str):
            raise InvalidFile(f"{label}: {name} must be text", _MEND)
        else:
            values[name] = value
    missing = [name for name in ("id", "node_id", "label") if not values.get(name, "").strip()]
    if missing:
        raise InvalidFile(f"{label}: {missing[0]} is required", _MEND)
    values.setdefault("status", "pending")
    for name, choices in (("node_type", NODE_TYPES), ("status", STATUSES)):
        if values.get(name) not in choices:
            raise InvalidFile(f"{label}: {name} must be one of {', '.join(choices)}", _MEND)
    return Proposal(**values, extra=tuple((key, value) for key, value in raw.items() if key not in _KNOWN))


def proposal_line(proposal: Proposal) -> str:
    """A proposal on one line."""
    by = f" by {proposal.proposed_by}" if proposal.proposed_by else ""
    told = f", {_checked(proposal)}" if proposal.status == "pending" and proposal.validation_result else ""
    why = f" ({proposal.reason})" if proposal.reason else ""
    kind = proposal.node_type.replace("_", " ")
    return one_line(
        f"{proposal.id} {kind} {proposal.node_id} {proposal.label!r}{by}: {proposal.status}{told}{why}", 240
    )


def _checked(proposal: Proposal) -> str:
    """What the last validation found."""
    result = proposal.validation_result or {}
    if result.get("valid") is True:
        return "valid"
    findings = result.get("findings")
    levels = [f.get("level") for f in findings if isinstance(f, dict)] if isinstance(findings, list) else []
    return plural(levels.count("error"), "error")


def finding_lines(verdict: ProposalVerdict) -> list[str]:
    """A verdict, with a line for each finding."""
    proposal = verdict.proposal
    state = ("valid" if verdict.is_valid else "fails") if proposal.status == "pending" else proposal.status
    head = f"{proposal.id} {proposal.node_id}: {state}"
    return [head, *(f"  {f.level} {f.check}: {f.message}" for f in verdict.findings)]


def verdict_row(verdict: ProposalVerdict) -> dict[str, Any]:
    """A verdict as JSON."""
    proposal = verdict.proposal
    return {
        "id": proposal.id,
        "node_id": proposal.node_id,
        "status": proposal.status,
        "valid": verdict.is_valid,
        "findings": [finding._asdict() for finding in verdict.findings],
    }
