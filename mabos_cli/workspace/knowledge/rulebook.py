"""Rules of an agent, and what ontologies say about predicates: read as they are, changed under the agent's lock."""

import re
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from mabos_cli.core.knowledge.rule import Rule
from mabos_cli.core.language.clock import format_time
from mabos_cli.errors import Conflict
from mabos_cli.formats.json.text import dump_record
from mabos_cli.formats.knowledge.rules import RuleFile, parse_rules, render_rules, rule_to_dict
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.archive import append_records
from mabos_cli.workspace.files import Moved, read_bytes, replace_file
from mabos_cli.workspace.receipts import write_receipt
from mabos_cli.workspace.recovery import holding_lock

Result = TypeVar("Result")
RulePlan = Callable[[tuple[Rule, ...], str], tuple[Sequence[Rule], Result]]
_ATTEMPTS = 20
_ID = r"R-(\d{1,18})"


def load_rules(agent: Agent) -> RuleFile:
    """The rules as they are on disk."""
    data = read_bytes(agent.paths.rules)
    return parse_rules(data, agent.paths.cited(agent.paths.rules)) if data is not None else RuleFile()


def change_rules(agent: Agent, command: str, plan: RulePlan[Result]) -> tuple[Result, list[str]]:
    """Runs a plan on the rules and the next free id under the agent's lock and writes what it makes of them: its result, and
    warnings."""
    started = time.monotonic()
    with holding_lock(agent, command) as holding:
        for _ in range(_ATTEMPTS):
            data = read_bytes(agent.paths.rules)
            file = parse_rules(data, agent.paths.cited(agent.paths.rules)) if data is not None else RuleFile()
            last = _last_number(file)
            rules, result = plan(file.rules, f"R-{last + 1:03d}")
            if tuple(rules) == file.rules:
                return result, holding.warnings
            kept = {rule.id for rule in rules}
            _archive_rules(agent, [rule for rule in file.rules if rule.id not in kept])
            file.rules, file.version = tuple(rules), file.version + 1
            # The id of a rule that is gone is not given to another one: the archive and old facts name it.
            file.last_id = f"R-{last:03d}" if _last_number(file) < last else ""
            try:
                replace_file(agent.paths.rules, render_rules(file), root=agent.paths.workspace.root, expect=data)
            except Moved:
                continue
            write_receipt(agent, command, {"rules": len(rules)}, [], started)
            return result, holding.warnings
    raise Conflict("rules.json keeps changing", "something writes it without locking; try again")


def _archive_rules(agent: Agent, gone: Sequence[Rule]) -> None:
    """Keeps rules that are taken out in the archive."""
    at = format_time(agent.now())
    records = [
        {"id": rule.id, "kind": "rule", "reason": "deleted", "at": at, "rule": rule_to_dict(rule)} for rule in gone
    ]
    append_records(agent.paths, ((at, dump_record(record)) for record in records))


def _last_number(file: RuleFile) -> int:
    """The highest number of a rule that is or was there."""
    ids = (file.last_id, *(rule.id for rule in file.rules))
    return max((int(match[1]) for own in ids if (match := re.fullmatch(_ID, own))), default=0)


def functional_predicates(agent: Agent) -> tuple[frozenset[str], list[str]]:
    """The predicates that ontologies declare to have one value at a time, and warnings about files that cannot be read."""
    from mabos_cli.workspace.knowledge.ontologies import load_ontology

    ontology, warnings = load_ontology(agent.paths.workspace)
    return ontology.functional_names(), warnings
