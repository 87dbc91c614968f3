"""What each option and argument of the program takes, for completion. Words come from where the commands check them."""

from collections.abc import Iterable

from mabos_cli.commands.knowledge import fact_exchange, ontology_export
from mabos_cli.commands.operations import schedule
from mabos_cli.config import PRESETS, SETTINGS
from mabos_cli.core.context import audit
from mabos_cli.core.knowledge import proposal, rule
from mabos_cli.core.knowledge.case_similarity import MEASURES
from mabos_cli.core.language import periods
from mabos_cli.core.memory.item import CLASSES, PRIORITIES, STORES, TRUSTS, TYPES
from mabos_cli.core.mind import mind
from mabos_cli.core.operations import hook_hosts
from mabos_cli.core.operations.completion import ANY, FILES, FOLDERS, WORDS, Value
from mabos_cli.core.operations.schedule import JOBS
from mabos_cli.formats.knowledge import exchange as graph_export
from mabos_cli.formats.memory import agent_hosts, agent_transcripts
from mabos_cli.formats.operations.completion import SHELLS
from mabos_cli.reasoning.catalog import CATEGORIES, METHODS
from mabos_cli.services.hierarchy.build import SCOPES


def _words(*words: str) -> Value:
    return Value(WORDS, tuple((word, "") for word in words))


def _told(pairs: Iterable[tuple[str, str]]) -> Value:
    return Value(WORDS, tuple(pairs))


_METHODS = _told((name, method.about) for name, method in METHODS.items())
_TRUST, _PRIORITY = _words(*reversed(TRUSTS)), _words(*PRIORITIES)

# Of an option wherever it stands, or of an option or argument of one command.
_VALUES = {
    "--workspace": Value(FOLDERS),
    "--agent": Value("agents"),
    "--tag": Value("tags"),
    "--type": _words(*TYPES),
    "--store": _words(*STORES),
    "--trust": _TRUST,
    "--min-trust": _TRUST,
    "--priority": _PRIORITY,
    "--priority-min": _PRIORITY,
    "--related-to": Value("items"),
    "--preset": _words(*PRESETS),
    "--severity": _words(*rule.SEVERITIES),
    "--similarity": _words(*MEASURES),
    "--history": Value(FILES),
    "--skills": Value(FILES),
    "--supports": Value("goals"),
    "--motivates": Value("goals"),
    "--goal": Value("goals"),
    "--requires": Value("plans"),
    "--system": Value(FILES),
    "agent show agent_id": Value("agents"),
    "bdi resolve --keep": _words("a", "b", "both"),
    "belief revise name": Value("beliefs"),
    "case revise case_id": Value("cases"),
    "case show case_id": Value("cases"),
    "case store --from": Value("cases"),
    "completion shell": _words(*SHELLS),
    "config name": _told((setting.name, setting.about) for setting in SETTINGS),
    "context audit --scope": _words(*audit.SCOPES),
    "demo folder": Value(FOLDERS),
    "fact explain fact_id": Value("facts"),
    "fact export --format": _words(*fact_exchange.FORMATS),
    "fact import --format": _words(*fact_exchange.FORMATS),
    "fact retract fact_id": Value("facts"),
    "forget item_id": Value("items"),
    "get item_id": Value("ids"),
    "goal add --desire": Value("desires"),
    "goal add --level": _words(*mind.LEVELS),
    "goal add --parent": Value("goals"),
    "goal update name": Value("goals"),
    "grade ids": Value("items"),
    "graph export --format": _words(*graph_export.FORMATS),
    "graph impact --level": _words(*mind.LEVELS),
    "graph impact --via": _words("files", "typedb"),
    "harvest --store": _words(*STORES),
    "hierarchy build --scope": _words(*SCOPES),
    "hierarchy search --level": _words(*periods.LEVELS),
    "hierarchy show --level": _words(*periods.LEVELS),
    "hook install --host": _words(*hook_hosts.HOSTS),
    "hook install --scope": _words("project", "user"),
    "hook uninstall --host": _words(*hook_hosts.HOSTS),
    "hook uninstall --scope": _words("project", "user"),
    "ingest transcript --host": _words("auto", *agent_hosts.HOSTS),
    "ingest transcript --roles": _words(*agent_transcripts.ROLES),
    "intention add --plan": Value("plans"),
    "intention complete name": Value("intentions"),
    "intention drop name": Value("intentions"),
    "intention progress name": Value("intentions"),
    "ontology export --format": _words(*ontology_export.FORMATS),
    "ontology list --status": _words(*proposal.STATUSES),
    "ontology merge ids": Value("proposals"),
    "ontology propose --by": Value("agents"),
    "ontology propose --type": _words(*proposal.NODE_TYPES),
    "ontology reject proposal_id": Value("proposals"),
    "ontology validate ids": Value("proposals"),
    "plan step name": Value("plans"),
    "read place": Value("paths"),
    "reason list --category": _words(*CATEGORIES),
    "reason outcome --happened": _words("yes", "no"),
    "reason outcome result_id": Value("results"),
    "reason show name": _METHODS,
    "reason solve --method": _METHODS,
    "recall --category": _words(*CLASSES),
    "recall --format": _words("brief", "detailed"),
    "recall --store": _words(*STORES, "all"),
    "reinforce item_id": Value("items"),
    "revive item_id": Value("archived"),
    "rule create --type": _words(*rule.KINDS),
    "rule delete rule_id": Value("rules"),
    "rule list --type": _words(*rule.KINDS),
    "rule show rule_id": Value("rules"),
    "rule test rule_id": Value("rules"),
    "rule toggle rule_id": Value("rules"),
    "schedule run job": _told((job.name, job.about) for job in JOBS),
    "schedule show --format": _words(*schedule.FORMATS),
    "skill --format": _words("skill", "agents"),
    "timeline around": Value("items"),
    "trust --set": _TRUST,
    "trust item_id": Value("items"),
    "typedb sync-agent agent": Value("agents"),
    "update item_id": Value("items"),
}


def value_of(command: str, name: str, metavar: str) -> Value:
    """What an option (its longest name) or an argument of a command takes."""
    known = _VALUES.get(f"{command} {name}") or _VALUES.get(name)
    if known:
        return known
    if "FILE" in metavar:
        return Value(FILES)
    return Value(FOLDERS if "FOLDER" in metavar or metavar == "DIR" else ANY)


def unused_values(used: set[tuple[str, str]]) -> list[str]:
    """The rows of the table that name nothing of the program, given all its options and arguments."""
    names = {f"{command} {name}" for command, name in used} | {name for _, name in used}
    return [key for key in _VALUES if key not in names]
