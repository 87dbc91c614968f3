"""Lists the tools of knowledge: facts, rules, inference, graph, cases, ontologies, reasoning, TypeDB."""

from typing import Any

from mabos_cli.core.knowledge.proposal import NODE_TYPES
from mabos_cli.core.knowledge.rule import KINDS, OPERATORS, SEVERITIES
from mabos_cli.core.mind.mind import LEVELS
from mabos_cli.reasoning.catalog import ASPECTS, METHODS
from mabos_cli.serve.tool import (
    ADD,
    READ,
    SET,
    SHARE,
    TAKE,
    TEXT,
    TEXTS,
    choice,
    either,
    option,
    options,
    record,
    tool,
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
_SIMILAR = option("allow_similar")
_METRICS = {"type": "object", "additionalProperties": {"type": "number"}}
_HELD = "What held: beliefs and desires by id or in words, and the situation in words."
_SITUATION = record(beliefs=TEXTS, desires=TEXTS, context=TEXT)
_OUTCOME = record(success={"type": "boolean"}, metrics=_METRICS, lessons=TEXT)
_CLASSES = record((), **{aspect: choice(*said) for aspect, said in ASPECTS.items()})


def _classify(found: dict[str, Any]) -> list[str]:
    return [f"--classify={','.join(f'{aspect}={said}' for aspect, said in found.items())}"] if found else []


_FACTS = (
    tool("fact_assert", "fact", "fact assert", SET)(
        *_SPO,
        option("confidence", schema=SHARE, required=True),
        option("source", required=True),
        option("valid_from", "--from"),
        option("valid_until", "--until"),
    ),
    tool("fact_retract", "fact", "fact retract", TAKE)(
        _FACT, *options("subject", "predicate", "reason", "cascade", "dry_run")
    ),
    tool("fact_query", "fact", "fact query", READ)(
        *(word(name, blank="*") for name in ("subject", "predicate", "object")),
        option("min_confidence", schema=SHARE),
        option("valid_at"),
        option("include_derived", "--no-derived", "Inferred facts too (default true).", words=unless("--no-derived")),
        option("limit"),
    ),
    tool("fact_explain", "fact", "fact explain", READ)(_FACT, option("depth", schema={"minimum": 0})),
    tool("fact_current", "fact", "fact current", READ)(word("subject"), option("at")),
    tool("fact_timeline", "fact", "fact timeline", READ)(word("subject")),
    tool("fact_extract", "fact", "fact extract", SET)(
        word("text", "What to read; without it, memories are read."),
        *options("apply", "we", "source", "limit"),
        option("min_confidence", schema=SHARE),
    ),
    tool("fact_lint", "fact", "fact lint", READ)(),
)
_RULES = (
    tool("rule_create", "rule", "rule create", ADD)(
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
    tool("rule_list", "rule", "rule list", READ)(option("type", schema=choice(*KINDS))),
    tool("rule_show", "rule", "rule show", READ)(_RULE),
    tool("rule_test", "rule", "rule test", READ)(_RULE, option("limit")),
    tool("rule_toggle", "rule", "rule toggle", SET)(
        _RULE, option("enabled", "--on", "Whether it is to run.", words=either("--on", "--off"), required=True)
    ),
    tool(
        "rule_delete",
        "rule",
        "rule delete",
        TAKE,
        "Take a rule out; the archive keeps it. What it derived goes with the next infer_forward that persists.",
    )(_RULE),
    tool("constraint_check", "rule", "constraint check", READ)(
        option("severity", about="Only violations at least this severe.", schema=_SEVERITY),
        *options("no_ontology", "valid_at"),
    ),
    tool(
        "policy_eval",
        "rule",
        "policy eval",
        READ,
        "List the actions that policies ask for now, escalations first, also under assumptions.",
    )(
        option("assume", "--set", "Facts to assume for this time, each as subject:predicate=object."),
        option("valid_at"),
    ),
)
_INFERENCE = (
    tool("infer_forward", "infer", "infer forward", SET)(
        option("persist"),
        option("max_facts", schema={"minimum": 1}),
        option("min_confidence", schema=SHARE),
        *options("max_depth", "max_work", "valid_at", "limit"),
    ),
    tool("infer_backward", "infer", "infer backward", READ)(*_SPO, *options("depth", "valid_at")),
    tool("infer_abductive", "infer", "infer abductive", READ)(*_SPO, *options("depth", "valid_at", "limit")),
    tool("knowledge_explain", "infer", "explain", READ)(
        word("question", "A question in words; or give subject, predicate and object.", required=False),
        word("subject", "Of a triple, with predicate and object.", schema=TEXT),
        word("predicate", "Its predicate.", schema=TEXT),
        word("object", "Its object.", schema=TEXT),
        *options("depth", "valid_at"),
    ),
    tool("graph_neighbors", "graph", "graph neighbors", READ)(word("entity"), *options("hops", "valid_at", "limit")),
    tool("graph_path", "graph", "graph path", READ)(word("start"), word("end"), *options("hops", "valid_at")),
    tool("graph_match", "graph", "graph match", READ)(word("text"), *options("hops", "valid_at", "limit")),
    tool("graph_preflight", "graph", "graph preflight", READ)(word("text"), *options("hops", "valid_at", "limit")),
    tool(
        "memory_graph_query",
        "graph",
        "graph match",
        READ,
        "Find the things in the graph of facts that a question is about, and the facts that lead there.",
    )(word("query", "A question or an idea in words."), *options("hops", "valid_at", "limit")),
    tool(
        "memory_graph_ingest",
        "graph",
        "fact assert",
        SET,
        "Add a fact, a relation between two things, to the graph; the same again updates it.",
    )(
        *_SPO,
        option("confidence", schema=SHARE),
        option("source"),
        option("valid_from", "--from"),
        option("valid_until", "--until"),
    ),
    tool("graph_impact", "graph", "graph impact", READ)(
        word("id"),
        *options("conflict", "behind"),
        option("level", about="With behind: only this level.", schema=choice(*LEVELS)),
    ),
)


_CASES = (
    tool(
        "cbr_store",
        "cbr",
        "case store",
        ADD,
        "Keep a case: the situation, what was done, what came of it. One that is known already is merged.",
        recast=lambda case: {"situation": case},
    )(
        option("situation", "--batch", _HELD, schema=_SITUATION, required=True, is_fed=True),
        word("solution", "What was done.", schema=record(plan_id=TEXT, actions=TEXTS)),
        word("outcome", "What came of it; without success it is open.", schema=_OUTCOME),
    ),
    tool("cbr_retrieve", "cbr", "case retrieve", READ)(
        option(
            "beliefs", "--belief", "Beliefs that hold now, by id or in words; without any, those of the agent's files."
        ),
        option("desires", "--desire", "Desires, likewise."),
        option("context"),
        option("max_results", "--limit"),
        option("min_score", schema=SHARE),
        option("success_only"),
    ),
    tool("cbr_revise", "cbr", "case revise", ADD)(
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
    tool("cbr_list", "cbr", "case list", READ)(option("limit")),
)
_ONTOLOGIES = (
    tool("ontology_propose_concept", "ontology", "ontology propose", ADD)(
        word("label"),
        option("domain", required=True),
        option("node_type", "--type", schema=choice(*NODE_TYPES)),
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
    tool("ontology_validate_proposal", "ontology", "ontology validate", SET)(
        word("proposal_id", "The proposal; else all that wait."), _SIMILAR
    ),
    tool("ontology_merge_approved", "ontology", "ontology merge", SET)(
        word("proposal_ids", schema=TEXTS), *options("all", "dry_run"), _SIMILAR
    ),
    tool("ontology_reject_proposal", "ontology", "ontology reject", SET)(word("proposal_id"), option("reason")),
    tool(
        "ontology_list_proposals",
        "ontology",
        "ontology list --proposals",
        READ,
        "List what is proposed for ontologies.",
    )(option("status", schema=choice("pending", "approved", "rejected"))),
    tool("ontology_scaffold_domain", "ontology", "ontology scaffold", SET)(
        word("template", schema=choice("business", "saas", "ecommerce", "consulting", "agency")), option("name", "--as")
    ),
    tool("ontology_list", "ontology", "ontology list", READ)(),
    tool("ontology_show", "ontology", "ontology show", READ)(word("name"), option("tree")),
)
_REASONING = (
    tool("reason", "reason", "reason solve", ADD, "Reason about a problem by one of 35 methods, or several.")(
        word("problem", "The problem in words.", required=True),
        option("method", schema=choice(*METHODS), about="The method."),
        option(
            "methods",
            about="Several methods whose results are fused, named as in method.",
            schema=TEXTS,
            words=lambda names: [f"--methods={','.join(names)}"],
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
            about="Input for the method, as reason_schema describes it, or by method; without it the answer is a worksheet.",
            schema={"type": "object"},
            is_fed=True,
        ),
        option("save"),
    ),
    tool("reason_schema", "reason", "reason show --schema", READ, "Show the JSON Schema of a method's input.")(
        word("method", schema=choice(*METHODS))
    ),
    tool("reason_outcome", "reason", "reason outcome", ADD)(
        word("id"),
        option(
            "happened",
            about="Whether the conclusion was right.",
            schema={"type": "boolean"},
            words=either("--happened=yes", "--happened=no"),
        ),
        option("note"),
    ),
    tool("reason_history", "reason", "reason history", READ)(option("open"), option("limit")),
)
_TYPEDB = (
    tool("typedb_status", "typedb", "typedb status", READ)(),
    tool("typedb_sync_schema", "typedb", "typedb sync-schema", SET)(option("dry_run")),
    tool("typedb_query", "typedb", "typedb query", READ)(
        word("query", "A TypeQL query that reads."), option("database")
    ),
    tool("typedb_sync_agent_data", "typedb", "typedb sync-agent", SET)(option("all")),
    tool("goal_seed_business", "typedb", "typedb seed-goals", SET)(
        word(
            "template",
            "The business with its goals, as its YAML template has them; else the one that is shipped.",
            schema={"type": "object"},
            is_fed=True,
        ),
        *options("create_agents", "dry_run"),
    ),
)


TOOLS = (*_FACTS, *_RULES, *_INFERENCE, *_CASES, *_ONTOLOGIES, *_REASONING, *_TYPEDB)
