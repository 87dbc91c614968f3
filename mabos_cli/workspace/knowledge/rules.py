"""Rules of an agent, read and changed under its lock; and what ontologies add to them."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from mabos_cli.core.knowledge.fact import Fact, Triple
from mabos_cli.core.knowledge.rule import Rule
from mabos_cli.core.language.clock import format_time
from mabos_cli.formats.json.text import dump_record
from mabos_cli.formats.knowledge.rules import RuleFile, parse_rules, render_rules, rule_to_dict
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import FileWrite, read_bytes
from mabos_cli.workspace.transaction import Fresh, Write, transact

Result = TypeVar("Result")
RulePlan = Callable[[tuple[Rule, ...], str], tuple[Sequence[Rule], Result]]


def load_rules(agent: Agent) -> RuleFile:
    """Returns the rules as they are on disk."""
    data = read_bytes(agent.paths.rules)
    return parse_rules(data, agent.paths.cited(agent.paths.rules)) if data is not None else RuleFile()


def inference_rules(agent: Agent, facts: Iterable[Fact], goal: Triple | None = None) -> list[Rule]:
    """Returns the rules of an agent and what ontologies entail, in the words that facts, rules and the goal use."""
    rules = load_rules(agent).rules
    if not agent.settings["knowledge.ontology_rules"]:
        return [*rules]
    from mabos_cli.core.knowledge.entailment import ontology_rules
    from mabos_cli.workspace.knowledge.ontologies import load_ontology

    ontology = load_ontology(agent.paths.workspace)[0]
    return [*rules, *(ontology_rules(ontology, facts, rules, goal))]


def change_rules(agent: Agent, command: str, plan: RulePlan[Result]) -> tuple[Result, list[str]]:
    """Runs a plan on the rules and the next free id in one transaction and writes what it makes of them: its result, and
    warnings."""

    def planned(fresh: Fresh) -> tuple[Write | None, Result]:
        data = read_bytes(agent.paths.rules)
        file = parse_rules(data, agent.paths.cited(agent.paths.rules)) if data is not None else RuleFile()
        last = _last_number(file)
        rules, result = plan(file.rules, f"R-{last + 1:03d}")
        if tuple(rules) == file.rules:
            return None, result
        kept = {rule.id for rule in rules}
        record = {"kind": "rule", "reason": "deleted", "at": format_time(fresh.now)}
        gone = [
            (record["at"], dump_record({"id": rule.id} | record | {"rule": rule_to_dict(rule)}))
            for rule in file.rules
            if rule.id not in kept
        ]
        file.rules, file.version = tuple(rules), file.version + 1
        # The id of a rule that is gone is not given to another one: the archive and old facts name it.
        file.last_id = f"R-{last:03d}" if _last_number(file) < last else ""
        files = [FileWrite(agent.paths.rules, render_rules(file), data)]
        return Write(files, archive=gone, part="rules", counts={"rules": len(rules)}), result

    return transact(agent, command, planned)


def _last_number(file: RuleFile) -> int:
    """Returns the highest number of a rule that exists or existed."""
    ids = (file.last_id, *(rule.id for rule in file.rules))
    return max((int(match[1]) for rule_id in ids if (match := re.fullmatch(r"R-(\d{1,18})", rule_id))), default=0)


def functional_predicates(agent: Agent) -> tuple[frozenset[str], list[str]]:
    """Returns the predicates that ontologies declare to have one value at a time, and warnings about files that cannot be
    read."""
    from mabos_cli.workspace.knowledge.ontologies import load_ontology

    ontology, warnings = load_ontology(agent.paths.workspace)
    return ontology.functional_names(), warnings
