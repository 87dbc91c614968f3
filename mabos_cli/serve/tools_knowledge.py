"""The tools of knowledge: facts, rules, inference, the graph, cases, ontologies, reasoning and the TypeDB mirror."""

from typing import Any

from mabos_cli.core.reasoning.catalog import METHODS
from mabos_cli.serve.tool import (
    ADD,
    READ,
    SET,
    SHARE,
    TAKE,
    TEXTS,
    Tool,
    choice,
    either,
    option,
    options,
    record,
    unless,
    word,
)

_TEXT = {"type": "string"}
_MANY = {"minimum": 0}
_FACT = word("fact_id")
_RULE = word("rule_id")
_SPO = tuple(word(name) for name in ("subject", "predicate", "object"))
_SEVERITY = choice("info", "warning", "error", "critical")
_OPERATOR = choice("eq", "gt", "lt", "gte", "lte", "ne", "contains")
_CONDITION = record(("predicate",), subject=_TEXT, predicate=_TEXT, object=_TEXT, operator=_OPERATOR)
_CONCLUSION = record(("predicate",), subject=_TEXT, predicate=_TEXT, object=_TEXT)
_PROPOSALS = word("proposal_ids", schema=TEXTS)
_SIMILAR = option("allow_similar")
_METRICS = {"type": "object", "additionalProperties": {"type": "number"}}
_HELD = "What held: beliefs and desires by id or in words, and the situation in words."
_SITUATION = record(beliefs=TEXTS, desires=TEXTS, context=_TEXT)
_OUTCOME = record(success={"type": "boolean"}, metrics=_METRICS, lessons=_TEXT)
_CLASSES = record(
    uncertainty=choice("low", "medium", "high"),
    complexity=choice("simple", "moderate", "complex"),
    domain=choice("formal", "empirical", "social", "mixed"),
    time_pressure=choice("none", "moderate", "urgent"),
    data_availability=choice("rich", "moderate", "sparse"),
    stakes=choice("low", "medium", "high"),
)

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
        (word("fact_id"), *options("subject", "predicate", "reason", "cascade", "dry_run")),
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
                "include_derived",
                "--no-derived",
                "Inferred facts too (default true).",
                words=unless("--no-derived"),
            ),
            option("limit", schema=_MANY),
        ),
    ),
    Tool("fact_explain", "fact", ("fact", "explain"), READ, (_FACT, option("depth", schema=_MANY))),
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
            option("type", schema=choice("inference", "constraint", "policy")),
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
    Tool(
        "rule_list",
        "rule",
        ("rule", "list"),
        READ,
        (option("type", schema=choice("inference", "constraint", "policy")),),
    ),
    Tool("rule_show", "rule", ("rule", "show"), READ, (_RULE,)),
    Tool("rule_test", "rule", ("rule", "test"), READ, (_RULE, option("limit", schema=_MANY))),
    Tool(
        "rule_toggle",
        "rule",
        ("rule", "toggle"),
        SET,
        (
            _RULE,
            option(
                "enabled", "--on", "Whether it is to run.", words=either("--on", "--off"), required=True
            ),
        ),
    ),
    Tool("rule_delete", "rule", ("rule", "delete"), TAKE, (_RULE,)),
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
            *(word(name, schema=_TEXT) for name in ("subject", "predicate", "object")),
            option("depth"),
        ),
    ),
    Tool(
        "graph_neighbors",
        "graph",
        ("graph", "neighbors"),
        READ,
        (word("entity"), *options("hops", "limit")),
    ),
    Tool(
        "graph_path",
        "graph",
        ("graph", "path"),
        READ,
        (word("start"), word("end"), option("hops")),
    ),
    Tool("graph_match", "graph", ("graph", "match"), READ, (word("text"), *options("hops", "limit"))),
    Tool(
        "graph_impact",
        "graph",
        ("graph", "impact"),
        READ,
        (word("id"), *options("conflict", "behind"), option("level", schema=choice("strategic", "tactical", "operational"))),
    ),
)
_CASES = (
    Tool(
        "cbr_store",
        "cbr",
        ("case", "store"),
        ADD,
        (
            option("situation", "--batch", _HELD, schema=_SITUATION, required=True, is_fed=True),
            word("solution", "What was done.", schema=record(plan_id=_TEXT, actions=TEXTS)),
            word("outcome", "What came of it; without success it is open.", schema=_OUTCOME),
        ),
        "Keep a case: the situation, what was done, what came of it. One that is known already is merged.",
        lambda case: {"situation": case},
    ),
    Tool(
        "cbr_retrieve",
        "cbr",
        ("case", "retrieve"),
        READ,
        (
            option("beliefs", "--belief", "Beliefs that hold now, by id or in words; without any, those of the agent's files."),
            option("desires", "--desire", "Desires, likewise."),
            option("context"),
            option("max_results", "--limit", schema=_MANY),
            option("min_score", schema=SHARE),
            option("success_only"),
        ),
    ),
    Tool(
        "cbr_revise",
        "cbr",
        ("case", "revise"),
        ADD,
        (
            word("case_id"),
            option("success", "--success", "Whether it worked.", words=either("--success", "--failure")),
            option(
                "metrics",
                "--metric",
                "Results by name.",
                schema=_METRICS,
                words=lambda found: [f"--metric={name}={number}" for name, number in found.items()],
            ),
            *options("lessons", "correct"),
        ),
    ),
    Tool("cbr_list", "cbr", ("case", "list"), READ, (option("limit", schema=_MANY),)),
)
_ONTOLOGIES = (
    Tool(
        "ontology_propose_concept",
        "ontology",
        ("ontology", "propose"),
        ADD,
        (
            word("label"),
            option("domain", required=True),
            option("node_type", "--type", schema=choice("class", "object_property", "datatype_property")),
            option("node_id", "--id"),
            option("parent_class", "--parent"),
            option("domain_class"),
            option("range"),
            option("sbvr_definition", "--definition"),
            option("sbvr_synonyms", "--synonym", "Other words for it."),
            option("rationale", required=True),
            option("proposed_by", "--by"),
            option("functional"),
        ),
    ),
    Tool(
        "ontology_validate_proposal",
        "ontology",
        ("ontology", "validate"),
        SET,
        (word("proposal_id", "The proposal; else all that wait."), _SIMILAR),
    ),
    Tool(
        "ontology_merge_approved",
        "ontology",
        ("ontology", "merge"),
        SET,
        (_PROPOSALS, *options("all", "dry_run"), _SIMILAR),
    ),
    Tool("ontology_reject_proposal", "ontology", ("ontology", "reject"), SET, (word("proposal_id"), option("reason"))),
    Tool(
        "ontology_list_proposals",
        "ontology",
        ("ontology", "list", "--proposals"),
        READ,
        (option("status", schema=choice("pending", "approved", "rejected")),),
        "List what is proposed for ontologies.",
    ),
    Tool(
        "ontology_scaffold_domain",
        "ontology",
        ("ontology", "scaffold"),
        SET,
        (word("template", schema=choice("business", "saas", "ecommerce", "consulting", "agency")), option("name", "--as")),
    ),
    Tool("ontology_list", "ontology", ("ontology", "list"), READ),
    Tool("ontology_show", "ontology", ("ontology", "show"), READ, (word("name"), option("tree"))),
)


def _classify(found: dict[str, Any]) -> list[str]:
    return [f"--classify={','.join(f'{aspect}={said}' for aspect, said in found.items())}"] if found else []


_REASONING = (
    Tool(
        "reason",
        "reason",
        ("reason", "solve"),
        ADD,
        (
            word("problem", "The problem in words.", required=True),
            option("method", schema=choice(*METHODS), about="The method."),
            option(
                "methods",
                about="Several methods whose results are fused, named as in method.",
                schema=TEXTS,
                words=lambda names: (f"--methods={','.join(names)}",),
            ),
            option(
                "multi_method",
                "--methods",
                "Whether several methods are fused; naming methods is enough.",
                schema={"type": "boolean"},
                words=lambda value: (),
            ),
            option(
                "problem_classification",
                "--classify",
                "What the problem is like: picks the method, or weighs several.",
                schema=_CLASSES,
                words=_classify,
            ),
            option(
                "input",
                about="Input for the method, or by method; without it the answer is a worksheet that says what is needed.",
                schema={"type": "object"},
                is_fed=True,
            ),
            option("save"),
        ),
        "Reason about a problem by one of 35 methods, or several.",
    ),
    Tool(
        "reason_outcome",
        "reason",
        ("reason", "outcome"),
        ADD,
        (
            word("id"),
            option(
                "happened",
                about="Whether the conclusion was right.",
                schema={"type": "boolean"},
                words=either("--happened=yes", "--happened=no"),
            ),
            option("note"),
        ),
    ),
    Tool("reason_history", "reason", ("reason", "history"), READ, (option("open"), option("limit", schema=_MANY))),
)
_TYPEDB = (
    Tool("typedb_status", "typedb", ("typedb", "status"), READ),
    Tool("typedb_sync_schema", "typedb", ("typedb", "sync-schema"), SET, options("apply_changes", "dry_run")),
    Tool("typedb_query", "typedb", ("typedb", "query"), READ, (word("query", "A TypeQL query that reads."), option("database"))),
    Tool("typedb_sync_agent_data", "typedb", ("typedb", "sync-agent"), SET, (option("all"),)),
    Tool(
        "goal_seed_business",
        "typedb",
        ("typedb", "seed-goals"),
        SET,
        (
            word(
                "template",
                "The business with its goals, as its YAML template has them; else the one that is shipped.",
                schema={"type": "object"},
                is_fed=True,
            ),
            *options("create_agents", "dry_run"),
        ),
    ),
)
TOOLS = (*_FACTS, *_RULES, *_INFERENCE, *_CASES, *_ONTOLOGIES, *_REASONING, *_TYPEDB)
