"""The tools of thinking with what is known: cases, ontologies, methods of reasoning, and the TypeDB mirror."""

from typing import Any

from mabos_cli.core.knowledge.proposal import NODE_TYPES
from mabos_cli.reasoning.catalog import ASPECTS, METHODS
from mabos_cli.serve.tool import ADD, READ, SET, SHARE, TEXT, TEXTS, Tool, choice, either, option, options, record, word

_SIMILAR = option("allow_similar")
_METRICS = {"type": "object", "additionalProperties": {"type": "number"}}
_HELD = "What held: beliefs and desires by id or in words, and the situation in words."
_SITUATION = record(beliefs=TEXTS, desires=TEXTS, context=TEXT)
_OUTCOME = record(success={"type": "boolean"}, metrics=_METRICS, lessons=TEXT)
_CLASSES = record(**{aspect: choice(*said) for aspect, said in ASPECTS.items()})

_CASES = (
    Tool(
        "cbr_store",
        "cbr",
        ("case", "store"),
        ADD,
        (
            option("situation", "--batch", _HELD, schema=_SITUATION, required=True, is_fed=True),
            word("solution", "What was done.", schema=record(plan_id=TEXT, actions=TEXTS)),
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
            option(
                "beliefs",
                "--belief",
                "Beliefs that hold now, by id or in words; without any, those of the agent's files.",
            ),
            option("desires", "--desire", "Desires, likewise."),
            option("context"),
            option("max_results", "--limit"),
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
    Tool("cbr_list", "cbr", ("case", "list"), READ, (option("limit"),)),
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
        (word("proposal_ids", schema=TEXTS), *options("all", "dry_run"), _SIMILAR),
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
        (
            word("template", schema=choice("business", "saas", "ecommerce", "consulting", "agency")),
            option("name", "--as"),
        ),
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
    Tool("reason_history", "reason", ("reason", "history"), READ, (option("open"), option("limit"))),
)
_TYPEDB = (
    Tool("typedb_status", "typedb", ("typedb", "status"), READ),
    Tool("typedb_sync_schema", "typedb", ("typedb", "sync-schema"), SET, options("apply_changes", "dry_run")),
    Tool(
        "typedb_query",
        "typedb",
        ("typedb", "query"),
        READ,
        (word("query", "A TypeQL query that reads."), option("database")),
    ),
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

TOOLS = (*_CASES, *_ONTOLOGIES, *_REASONING, *_TYPEDB)
