"""The one table of settings: name, type, default, meaning, risk. It drives mabos.yaml, the docs and validation."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import parse_span
from mabos_cli.core.memory.item import KEEPING, TRUSTS, TYPES, WEIGHTS, Keeping, parse_keeping
from mabos_cli.core.memory.stores import Limits
from mabos_cli.core.records import NamedTuple


class Setting(NamedTuple):
    """One setting. kind is count, size, fraction, weight, span (seconds, or 2h), rhythm (30m, 03:10), choice, keeping (a store and
    a span: long_term 30d), flag or text. least is what a number must be at least. risk says what a value other than the default and the
    safe ones can do to who opens a stranger's workspace: RUNS a program, SENDS data, or LOWERS a guard."""

    name: str
    kind: str
    default: Any
    about: str
    choices: tuple[str, ...] = ()
    least: int = 0
    risk: str = ""
    safe: tuple[Any, ...] = ()


RUNS, SENDS, LOWERS = "runs a program", "sends data", "weakens a check"
PRESETS = ("default", "seed", "balanced", "rrf")
STEPS = ("auto", "extension", "wheel", "scan", "lexical")
TOKENIZERS = ("auto", "estimate", "tiktoken", "llama")
PROVIDERS = (
    "auto",
    "local",
    "wordllama",
    "granite",
    "minilm",
    "onnx",
    "openai",
    "gemini",
    "voyage",
    "ollama",
    "http",
    "none",
)
_LOCAL = (
    "auto",
    "local",
    "wordllama",
    "granite",
    "minilm",
    "none",
)  # providers that need no service and no files of a workspace

# A row for each, as wide as it must be.
# fmt: off
SETTINGS = (
    Setting("memory.default_type", "choice", "observation", "type of an item when --type is not given", TYPES),
    *(Setting(f"types.{name}", "keeping", str(keeping), f"store of {name} items, and how long they may go unused before they are archived") for name, keeping in KEEPING.items()),
    Setting("memory.working_capacity", "size", 7, "items in working memory; more demotes the least recently used"),
    Setting("memory.short_term_capacity", "size", 200, "items in short-term memory; more archives the least important"),
    Setting("memory.short_term_ttl", "span", 7200.0, "how long short-term items live before they are archived"),
    Setting("memory.split_above", "count", 500, "long-term items in memory-store.json above which the older half is moved to pages"),
    Setting("memory.materialize_split_above", "count", 500, "long-term items above which mabos-memory-items.md and the store are split into pages"),
    Setting("memory.page_items", "size", 1_000, "items on one page; a fuller month gets a second page"),
    Setting("memory.max_content_bytes", "size", 65_536, "largest content of one item"),
    Setting("memory.duplicate_threshold", "fraction", 0.9, "similarity above which a pack shows only one of two texts"),
    Setting("memory.related_threshold", "fraction", 0.7, "similarity from which two long-term items are linked"),
    Setting("memory.access_journal_lines", "size", 2_000, "journalled uses above which they are counted in pages of long-term items, two pages per write"),
    Setting("consolidation.min_importance", "fraction", 0.6, "importance from which an item is consolidated"),
    Setting("consolidation.min_access", "count", 2, "uses from which a short-term item is consolidated"),
    Setting("consolidation.jaccard", "fraction", 0.3, "share of common tags above which items are grouped"),
    Setting("log.min_importance", "fraction", 0.6, "importance from which log consolidate takes an event"),
    Setting("log.consolidate_after", "span", 604_800.0, "age from which log consolidate takes events"),
    Setting("log.recurring_days", "size", 3, "days out of 30 on which an event must be logged to count as recurring"),
    Setting("log.archive_after", "span", 2_592_000.0, "age from which log archive moves a daily log"),
    Setting("lifecycle.high_unused", "span", 7_776_000.0, "minimum time that an item of importance 0.8 or more may go unused, whatever its type"),
    Setting("lifecycle.notice", "span", 604_800.0, "how long before archiving an item counts as fading"),
    Setting("lifecycle.fuse", "fraction", 0.25, "largest share of live items that one lifecycle run archives without --yes"),
    Setting("memory.shared", "flag", False, "whether other agents may read this one's memory: recall --shared"),
    Setting("memory.shared_tags", "text", "", "comma-separated tags of items that other agents may read if memory.shared is false; private items are never shared"),
    Setting("recall.limit", "count", 20, "number of results of a recall"),
    Setting("recall.preset", "choice", "default", "how the signals of a hit are weighted", PRESETS),
    Setting("recall.pool", "size", 200, "minimum number of candidates of each lane; more for a larger limit"),
    Setting("recall.candidate_multiplier", "size", 4, "candidates of each lane for each result"),
    Setting("recall.mmr_lambda", "fraction", 0.7, "relevance against novelty, for --mmr"),
    Setting("recall.half_life", "span", 2_592_000.0, "age at which --decay halves a score"),
    Setting("recall.importance_weight", "fraction", 0.3, "weight of importance in the score; the rest is relevance"),
    Setting("recall.depth_hits", "size", 3, "hits that are followed at each level of depth"),
    Setting("recall.depth_terms", "size", 12, "new terms taken from each followed hit"),
    Setting("recall.depth_reserved", "fraction", 0.3, "share of the results reserved for deeper finds"),
    Setting("index.vectors", "choice", "auto", "how vectors are compared; auto takes the best available way", STEPS),
    Setting("index.passage_tokens", "size", 400, "largest number of tokens of a passage of a file"),
    Setting("index.overlap_tokens", "count", 80, "tokens that a passage repeats from the previous one"),
    Setting("index.item_tokens", "size", 200, "largest number of tokens of a passage of a memory item"),
    Setting("index.max_file_bytes", "size", 16_777_216, "larger files are left out of the index"),
    Setting("index.wait", "span", 5.0, "how long recall waits for another process that writes the index"),
    Setting("index.patience", "span", 3.0, "how long a search works on an incomplete index before it answers from what is indexed"),
    Setting("index.backend", "choice", "sqlite", "what answers a search; postgres is a database that many agents and hosts share", ("sqlite", "postgres"), risk=SENDS),
    Setting("index.postgres", "text", "", "connection string of the database, without a password; when empty, libpq's PGHOST and the like", risk=SENDS),
    Setting("index.workspace", "text", "", "name of the workspace in the database; when empty, a name for this folder on this host", risk=SENDS),
    Setting("index.postgres_timeout", "span", 5.0, "how long the database may take for a connection or an answer before the local index answers"),
    Setting("index.lease", "span", 600.0, "how long a host has the sole right to write for an agent after its last write"),
    Setting("embeddings.provider", "choice", "auto", "what turns text into vectors; auto is the best installed model", PROVIDERS, risk=SENDS, safe=_LOCAL),
    Setting("embeddings.model", "text", "", "model, if a provider has several"),
    Setting("embeddings.url", "text", "", "address of a provider reached over HTTP", risk=SENDS),
    Setting("embeddings.path", "text", "", "folder of a local model", risk=RUNS),
    Setting("embeddings.pooling", "choice", "auto", "how a local model combines the vectors of tokens; auto follows the files of the model", ("auto", "mean", "cls")),
    Setting("embeddings.query_prefix", "text", "", "text to put before a question, if the model needs it"),
    Setting("embeddings.passage_prefix", "text", "", "text to put before a passage, if the model needs it"),
    Setting("embeddings.background", "flag", True, "whether a slow model embeds in the background, while wordllama answers"),
    Setting("embeddings.timeout", "span", 10.0, "how long one request to a provider may take"),
    Setting("llm.command", "text", "", "a program that reads a prompt on standard input and writes text; off when empty", risk=RUNS),
    Setting("llm.url", "text", "", "address of an OpenAI-compatible service that writes text; off when empty", risk=SENDS),
    Setting("llm.model", "text", "", "name of the model of the service at llm.url", risk=SENDS),
    Setting("llm.timeout", "span", 60.0, "how long the program, or one request to the service, may take"),
    Setting("llm.max_questions", "size", 20, "largest number of questions that one command with --llm asks the model", risk=SENDS),
    *(
        Setting(f"grade.{name}", "weight", value, f"heuristic-v1: {about}")
        for (name, value), about in zip(
            WEIGHTS.items(),
            (
                "the start value",
                "added for a decision",
                "added for the word important",
                "added for the word remember",
                "added if it recurs",
           ),
            strict=True,
        )
   ),
    Setting("grade.must_remember", "fraction", 0.8, "importance from which an item is graded must_remember"),
    Setting("grade.nice_to_have", "fraction", 0.5, "importance from which an item is graded nice_to_have"),
    Setting("capture.max_bytes", "size", 8_192, "bytes of text of one observation; of longer ones the middle is left out"),
    Setting("migrate.max_tokens", "size", 400, "size above which migrate cuts an entry at its paragraphs"),
    Setting("migrate.min_tokens", "count", 0, "size below which migrate leaves an entry out"),
    Setting("harvest.min_importance", "fraction", 0.0, "importance from which harvest takes an observation"),
    Setting("harvest.review", "flag", False, "whether candidates wait for harvest --apply instead of being kept automatically"),
    Setting("harvest.person_trust", "choice", "agent", "how far what a person said in a session is trusted", ("agent", "untrusted")),
    Setting("harvest.local_tools", "text", "", "further tools of hosts whose output contains nothing from outside; after any other tool, an agent's words are untrusted", risk=LOWERS),
    Setting("harvest.chunk", "size", 500, "observations that harvest stores under one lock"),
    Setting("flush.soft_tokens", "count", 4_000, "tokens left before the reserve at which memory is flushed"),
    Setting("flush.reserve_tokens", "count", 8_000, "tokens kept free for the answer"),
    Setting("bdi.certainty_floor", "fraction", 0.6, "certainty that both of two beliefs must exceed to conflict"),
    Setting("facts.split_above", "size", 10_000, "facts above which facts.json splits into pages by subject"),
    Setting("facts.materialize_split_above", "size", 1_000, "facts above which mabos-facts.md splits into pages"),
    Setting("bdi.chunk", "size", 50, "beliefs that a cycle processes at a time"),
    Setting("bdi.open_minded", "span", 604_800.0, "time without an update after which an intention of an open-minded agent stalls"),
    Setting("bdi.cautious", "span", 259_200.0, "the same for a cautious agent"),
    Setting("bdi.capacity", "size", 7, "intentions that an agent pursues at the same time; no more are proposed"),
    Setting("bdi.autonomy", "choice", "propose", "proposals that a cycle carries out by itself: none, adopt and plan again, or all", ("propose", "adopt", "all"), risk=LOWERS, safe=("propose",)),
    Setting("cbr.max_cases", "size", 10_000, "cases above which the least useful are archived"),
    Setting("cbr.belief_weight", "weight", 0.6, "weight of beliefs in the similarity of a case"),
    Setting("cbr.desire_weight", "weight", 0.4, "weight of desires in the similarity of a case"),
    Setting("cbr.context_weight", "weight", 0.3, "weight of the context in the similarity of a case, for --context"),
    Setting("hierarchy.week_bytes", "size", 3_000, "approximate size of a weekly summary in bytes"),
    Setting("hierarchy.month_bytes", "size", 4_000, "approximate size of a monthly summary in bytes"),
    Setting("hierarchy.quarter_bytes", "size", 5_000, "approximate size of a quarterly summary in bytes"),
    Setting("hierarchy.width", "size", 3, "largest number of nodes that drill follows at each level"),
    Setting("typedb.address", "text", "", "host:port of a TypeDB 3 server that mirrors the files; off when empty", risk=SENDS),
    Setting("typedb.database", "text", "", "database of the mirror; when empty, mabos_ and the name of the workspace's folder", risk=SENDS),
    Setting("typedb.user", "text", "admin", "user name for TypeDB; the password is in MABOS_TYPEDB_PASSWORD", risk=SENDS),
    Setting("typedb.tls", "flag", False, "whether the connection to TypeDB is encrypted", risk=LOWERS, safe=(True,)),
    Setting("typedb.tls_ca", "text", "", "file of trusted certificates; when empty, those of the system", risk=LOWERS),
    Setting("typedb.connect_timeout", "span", 2.0, "how long connecting to TypeDB may take"),
    Setting("typedb.timeout", "span", 10.0, "how long one transaction or request may take"),
    Setting("context.tokenizer", "choice", "auto", "how tokens are counted; auto is tiktoken if its files are there, else an estimate", TOKENIZERS),
    Setting("context.window", "size", 200_000, "size in tokens of the context window that context build fills"),
    Setting("context.system_share", "fraction", 0.05, "largest share of the system part: persona and INDEX.md"),
    Setting("context.skills_share", "fraction", 0.075, "largest share of skills"),
    Setting("context.memory_share", "fraction", 0.25, "share of memories for the request"),
    Setting("context.history_share", "fraction", 0.375, "share of the conversation"),
    Setting("context.request_share", "fraction", 0.15, "share of the request; a longer one takes from the others"),
    Setting("context.reserve_share", "fraction", 0.1, "share kept free for the answer"),
    Setting("context.compact_at", "fraction", 0.85, "share of the window from which compaction is advised"),
    Setting("context.flush_at", "fraction", 0.9, "share of the window from which a flush is advised first"),
    Setting("context.recent_messages", "size", 6, "last messages that compression does not change"),
    Setting("audit.section_tokens", "size", 400, "tokens from which an audit advises to turn a section of MEMORY.md into items"),
    Setting("audit.file_tokens", "size", 4_000, "tokens above which an audit advises to split a file"),
    Setting("context.index_tokens", "size", 1_500, "largest number of tokens of INDEX.md; at least 400", least=400),
    Setting("context.observation_days", "size", 7, "days with activity that observations.md keeps"),
    Setting("context.observation_tokens", "size", 4_000, "largest number of tokens of observations.md; at least 400", least=400),
    Setting("context.pack_budget", "size", 1_200, "largest number of tokens of a pack"),
    Setting("context.fresh", "span", 14_400.0, "how long memories and checkpoints count as recent"),
    Setting("context.hot_bonus", "weight", 0.1, "added to the score of recent items in a pack"),
    Setting("context.hot_share", "fraction", 0.35, "share of a pack for recent items, if other items need the space"),
    Setting("context.cold_share", "fraction", 0.6, "share of a pack for passages of files, if other items need the space"),
    Setting("context.trusted_weight", "weight", 1.1, "factor for the scores of trusted items in a pack"),
    Setting("context.untrusted_weight", "fraction", 0.5, "factor for the scores of untrusted items in a pack", risk=LOWERS),
    Setting("context.tail_turns", "count", 4, "last turns of a conversation that a pack keeps word for word"),
    Setting("context.tail_share", "fraction", 0.4, "largest share of a pack for these turns"),
    Setting("schedule.cycle", "rhythm", "30m", "when bdi cycle runs: 30m, 2h, 03:10, Sun 04:10, off"),
    Setting("schedule.sync", "rhythm", "1h", "when index sync runs"),
    Setting("schedule.nightly", "rhythm", "03:10", "when harvest, consolidate, log and lifecycle run"),
    Setting("schedule.weekly", "rhythm", "Sun 04:10", "when hierarchy build runs"),
    Setting("schedule.delay", "span", 300.0, "largest random delay in systemd, so that not all jobs start at once"),
    Setting("schedule.patience", "span", 120.0, "how long a scheduled command waits for an agent's lock"),
    Setting("schedule.name", "text", "", "name of the workspace in units; when empty, the name of its folder"),
    Setting("git.commit", "flag", False, "whether every command commits what it writes to git, as with --commit"),
    Setting("mcp.max_tokens", "size", 20_000, "largest number of tokens of an answer of mabos mcp, at least 250; longer answers are cut", least=250),
    Setting("hook.harvest", "flag", True, "whether the end of a session or a compaction starts a harvest in the background"),
    Setting("hook.shared", "flag", False, "whether a hook also adds shared items of other agents to a prompt"),
    Setting("hook.prompt_budget", "size", 400, "largest number of tokens that a hook adds to a prompt"),
    Setting("hook.min_trust", "choice", "agent", "lowest trust of items that a hook adds to a prompt", TRUSTS, risk=LOWERS, safe=TRUSTS[1:]),
    Setting("knowledge.ontology_rules", "flag", True, "whether ontologies take part in inference: subclasses, inverses and the like"),
    Setting("secrets.refuse", "flag", True, "whether store and update refuse texts that contain a secret", risk=LOWERS),
    Setting("text.chars_per_token", "size", 4, "characters that count as one token"),
    Setting("lock.timeout", "span", 10.0, "how long a writing command waits for the agent's lock"),
)
# fmt: on
BY_NAME = {setting.name: setting for setting in SETTINGS}
SECTIONS = tuple(dict.fromkeys(setting.name.split(".")[0] for setting in SETTINGS))


def check_setting(name: str, value: Any) -> Any:
    """Returns the value in its proper type, or BadValue when the name is unknown or the value does not fit."""
    setting = BY_NAME.get(name)
    if setting is None:
        raise BadValue(f"unknown setting {name}", f"mabos config lists them{nearest_setting(name)}")
    if setting.kind == "choice":
        if value not in setting.choices:
            raise BadValue(f"{name} must be one of {', '.join(setting.choices)}, not {value!r}")
        return value
    if setting.kind == "keeping":
        return _keeping(name, value)
    if setting.kind == "flag":
        return _flag(name, value)
    if setting.kind == "text":
        return _text(name, value)
    if setting.kind == "rhythm":
        return _rhythm(name, value)
    if isinstance(value, str) and setting.kind == "span":
        return parse_span(value)
    number = _number(name, value)
    if setting.kind in ("count", "size") and (number != int(number) or number < (setting.kind == "size")):
        raise BadValue(f"{name} must be a whole number{' above 0' if setting.kind == 'size' else ''}, not {value!r}")
    if number < setting.least:
        raise BadValue(f"{name} must be at least {setting.least}, not {value!r}")
    if setting.kind == "fraction" and not 0 <= number <= 1:
        raise BadValue(f"{name} must be between 0 and 1, not {value!r}")
    return int(number) if setting.kind in ("count", "size") else float(number)


def is_risky(name: str, value: Any) -> bool:
    """Tells whether a setting of a workspace needs the permission of who uses it.

    >>> is_risky("llm.command", "sh x"), is_risky("embeddings.provider", "none"), is_risky("context.untrusted_weight", 0.2)
    (True, False, False)
    """
    setting = BY_NAME.get(name)
    if setting is None or not setting.risk or value == setting.default or value in setting.safe:
        return False
    return setting.risk != LOWERS or setting.kind != "fraction" or value > setting.default


def _keeping(name: str, value: Any) -> str:
    """Returns a store and a span of time as they are written."""
    try:
        return str(parse_keeping(str(value)))
    except BadValue as error:
        raise BadValue(f"{name}: {error.message}", error.hint) from None


def _flag(name: str, value: Any) -> bool:
    found = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(str(value).lower())
    if found is None:
        raise BadValue(f"{name} must be true or false, not {value!r}")
    return found


def _rhythm(name: str, value: Any) -> str:
    from mabos_cli.core.operations.schedule import format_rhythm, parse_rhythm

    try:
        return format_rhythm(parse_rhythm(str(value)))
    except BadValue as error:
        raise BadValue(f"{name}: {error.message}", error.hint) from None


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise BadValue(f"{name} must be one line of text, not {value!r}")
    return value


def _number(name: str, value: Any) -> float:
    try:
        number = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise BadValue(f"{name} must be a number that is not negative, not {value!r}")
    return number


def nearest_setting(name: str) -> str:
    """Returns a question after the setting that somebody may have meant, empty when none is near."""
    from difflib import get_close_matches

    close = get_close_matches(name, BY_NAME, n=1)
    return f"; did you mean {close[0]}?" if close else ""


def env_name(name: str) -> str:
    """Returns the environment variable that overrides a setting.

    >>> env_name("memory.short_term_ttl")
    'MABOS_MEMORY_SHORT_TERM_TTL'
    """
    return "MABOS_" + name.replace(".", "_").upper()


class Settings:
    """Effective values and where each came from; warnings about what a file says and is not in effect."""

    def __init__(self, values: Mapping[str, Any], origins: Mapping[str, str], warnings: Sequence[str] = ()) -> None:
        self.values = values
        self.origins = origins
        self.warnings = tuple(warnings)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def keeping(self) -> dict[str, Keeping]:
        """Returns how items of each type are kept."""
        return {name: parse_keeping(self.values[f"types.{name}"]) for name in TYPES}

    def limits(self, min_importance: float | None = None, min_access: int | None = None) -> Limits:
        """Returns the numbers that govern the stores; an option of the command wins."""
        v = self.values
        return Limits(
            v["memory.working_capacity"],
            v["memory.short_term_capacity"],
            v["memory.short_term_ttl"],
            v["consolidation.min_importance"] if min_importance is None else min_importance,
            v["consolidation.min_access"] if min_access is None else min_access,
            v["memory.duplicate_threshold"],
            v["memory.related_threshold"],
            tuple((name, v[f"grade.{name}"]) for name in WEIGHTS),
        )


def layer(layers: list[tuple[str, Mapping[str, Any]]], warnings: Sequence[str] = ()) -> Settings:
    """Settings from layers of checked values, later ones winning; each layer names its origin."""
    values = {setting.name: setting.default for setting in SETTINGS}
    origins = dict.fromkeys(values, "default")
    for origin, found in layers:
        values |= found
        origins |= dict.fromkeys(found, origin)
    return Settings(values, origins, warnings)
