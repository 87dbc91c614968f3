"""The tools of what is known: facts, rules, inference, and the graph of facts."""

from mabos_cli.core.knowledge.rule import KINDS, OPERATORS, SEVERITIES
from mabos_cli.core.mind.mind import LEVELS
from mabos_cli.serve.tool import (
    ADD,
    READ,
    SET,
    SHARE,
    TAKE,
    TEXT,
    Tool,
    choice,
    either,
    option,
    options,
    record,
    unless,
    word,
)

_FACT = word("fact_id")
_RULE = word("rule_id")
_SPO = tuple(word(name) for name in ("subject", "predicate", "object"))
_SEVERITY = choice(*SEVERITIES)
_OPERATOR = choice(*OPERATORS)
_CONDITION = record(("predicate",), subject=TEXT, predicate=TEXT, object=TEXT, operator=_OPERATOR)
_CONCLUSION = record(("predicate",), subject=TEXT, predicate=TEXT, object=TEXT)

_FACTS = (
    Tool(
        "fact_assert",
        "fact",
        ("fact", "assert"),
        SET,
        (
            *_SPO,
            option("confidence", schema=SHARE, required=True),
            option("source", required=True),
            option("valid_from", "--from"),
            option("valid_until", "--until"),
        ),
    ),
    Tool(
        "fact_retract",
        "fact",
        ("fact", "retract"),
        TAKE,
        (_FACT, *options("subject", "predicate", "reason", "cascade", "dry_run")),
    ),
    Tool(
        "fact_query",
        "fact",
        ("fact", "query"),
        READ,
        (
            *(word(name, blank="*") for name in ("subject", "predicate", "object")),
            option("min_confidence", schema=SHARE),
            option("valid_at"),
            option(
                "include_derived", "--no-derived", "Inferred facts too (default true).", words=unless("--no-derived")
            ),
            option("limit"),
        ),
    ),
    Tool("fact_explain", "fact", ("fact", "explain"), READ, (_FACT, option("depth", schema={"minimum": 0}))),
    Tool("fact_current", "fact", ("fact", "current"), READ, (word("subject"), option("at"))),
    Tool("fact_timeline", "fact", ("fact", "timeline"), READ, (word("subject"),)),
    Tool("fact_lint", "fact", ("fact", "lint"), READ),
)
_RULES = (
    Tool(
        "rule_create",
        "rule",
        ("rule", "create"),
        ADD,
        (
            word("text", "The rule in words, in place of conditions: if ?x p ?y and ?y > 5 then ?x q z."),
            option("name"),
            option("description"),
            option("type", schema=choice(*KINDS)),
            option(
                "conditions",
                "--condition",
                "All must match; ?x stands for anything, the same everywhere.",
                schema={"type": "array", "items": _CONDITION},
            ),
            option("conclusion", about="Inference: what follows.", schema=_CONCLUSION),
            option("violation_message", "--message"),
            option("severity", schema=_SEVERITY),
            option("action"),
            option("escalate"),
            option("confidence_factor", "--factor", schema=SHARE),
            option("domain"),
        ),
    ),
    Tool("rule_list", "rule", ("rule", "list"), READ, (option("type", schema=choice(*KINDS)),)),
    Tool("rule_show", "rule", ("rule", "show"), READ, (_RULE,)),
    Tool("rule_test", "rule", ("rule", "test"), READ, (_RULE, option("limit"))),
    Tool(
        "rule_toggle",
        "rule",
        ("rule", "toggle"),
        SET,
        (_RULE, option("enabled", "--on", "Whether it is to run.", words=either("--on", "--off"), required=True)),
    ),
    Tool(
        "rule_delete",
        "rule",
        ("rule", "delete"),
        TAKE,
        (_RULE,),
        "Take a rule out; the archive keeps it. What it derived goes with the next infer_forward that persists.",
    ),
    Tool(
        "constraint_check",
        "rule",
        ("constraint", "check"),
        READ,
        (option("severity", about="Only violations at least this severe.", schema=_SEVERITY),),
    ),
    Tool(
        "policy_eval",
        "rule",
        ("policy", "eval"),
        READ,
        (option("assume", "--set", "Facts to assume for this time, each as subject:predicate=object."),),
        "List the actions that policies ask for now, escalations first, also under assumptions.",
    ),
)
_INFERENCE = (
    Tool(
        "infer_forward",
        "infer",
        ("infer", "forward"),
        SET,
        (
            option("persist"),
            option("max_facts", schema={"minimum": 1}),
            option("min_confidence", schema=SHARE),
            *options("max_depth", "limit"),
        ),
    ),
    Tool("infer_backward", "infer", ("infer", "backward"), READ, (*_SPO, option("depth"))),
    Tool("infer_abductive", "infer", ("infer", "abductive"), READ, (*_SPO, *options("depth", "limit"))),
    Tool(
        "knowledge_explain",
        "infer",
        ("explain",),
        READ,
        (
            word("question", "A question in words; or give subject, predicate and object.", required=False),
            word("subject", "Of a triple, with predicate and object.", schema=TEXT),
            word("predicate", "Its predicate.", schema=TEXT),
            word("object", "Its object.", schema=TEXT),
            option("depth"),
        ),
    ),
    Tool("graph_neighbors", "graph", ("graph", "neighbors"), READ, (word("entity"), *options("hops", "limit"))),
    Tool("graph_path", "graph", ("graph", "path"), READ, (word("start"), word("end"), option("hops"))),
    Tool("graph_match", "graph", ("graph", "match"), READ, (word("text"), *options("hops", "limit"))),
    Tool(
        "memory_graph_query",
        "graph",
        ("graph", "match"),
        READ,
        (word("query", "A question or an idea in words."), *options("hops", "limit")),
        "Find the things in the graph of facts that a question is about, and the facts that lead there.",
    ),
    Tool(
        "memory_graph_ingest",
        "graph",
        ("fact", "assert"),
        SET,
        (*_SPO, option("confidence", schema=SHARE), option("source")),
        "Add a fact, a relation between two things, to the graph; the same again updates it.",
    ),
    Tool(
        "graph_impact",
        "graph",
        ("graph", "impact"),
        READ,
        (
            word("id"),
            *options("conflict", "behind"),
            option("level", about="With behind: only this level.", schema=choice(*LEVELS)),
        ),
    ),
)

TOOLS = (*_FACTS, *_RULES, *_INFERENCE)
