"""A call of every tool on one furnished workspace, with something that its answer must say."""

from typing import Any

M = [f"M-1771943400000-{number:04x}" for number in range(0, 16, 2)]
F = [f"F-1771943400000-{number:04x}" for number in range(0, 6, 2)]
CHAT = [
    {"role": "user", "content": "What do we charge?"},
    {"role": "assistant", "content": "We bill per seat."},
    {"role": "user", "content": "Since when?"},
]


BAYES = {
    "hypotheses": {"ours": 0.3, "theirs": 0.7},
    "evidence": [{"name": "log", "likelihoods": {"ours": 0.9, "theirs": 0.2}}],
}


def furnish(speaker: Any) -> None:
    """What the examples are about, made by tools themselves."""
    for number, text in enumerate(("We bill per seat", "Ada owns billing", "The pump hums", "Old note", "Gone note")):
        speaker.do(
            "memory_store_item",
            content=text,
            type="decision",
            importance=0.8,
            tags=["pricing", f"n{number}"],
            store="long_term",
        )
    speaker.do("memory_forget", memory_id=M[4], reason="tidy")
    for obj in ("US", "NATO"):
        speaker.do("fact_assert", subject="acme", predicate="locatedIn", object=obj, confidence=0.9, source="map")
    speaker.do("rule_create", text="if ?x locatedIn US then ?x isTaxable true")
    speaker.do("rule_create", text="if ?x locatedIn NATO then ?x isAllied true")
    speaker.do("belief_add", subject="Demand", text="growing", certainty=0.9)
    speaker.do("belief_add", subject="Demand", text="declining", certainty=0.9)
    speaker.do("goal_add", title="Renew the largest customer")
    for title in ("Send the offer", "Call them", "Visit them"):
        speaker.do("intention_add", title=title)
    speaker.do("plan_add", title="Renewal", steps=["Call", "Sign"])
    speaker.do("memory_checkpoint", context="Porting billing", next_steps=["webhooks"])
    speaker.do(
        "cbr_store",
        situation={"beliefs": ["B-001"]},
        solution={"actions": ["Call"]},
        outcome={"success": True},
    )
    for label in ("Loyalty tier", "Rebate", "Surcharge"):
        speaker.do(
            "ontology_propose_concept",
            label=label,
            domain="shop",
            sbvr_definition="a thing",
            rationale="needed",
        )
    speaker.do("belief_add", subject="Supply", text="enough", supports=["G-001"])
    speaker.do("desire_add", title="Sleep well")
    speaker.do("commitment_add", title="Pay rent")
    speaker.do("learning_add", lesson="Measure twice")
    speaker.do("ontology_scaffold_domain", template="saas")
    speaker.do("reason", problem="Was it right?", method="bayesian", input=BAYES, save=True)
    speaker.do("memory_store_item", content="A short one", type="event", importance=0.7)
    speaker.do("memory_capture", text="3 tests failed", tool="pytest")


# tool -> arguments, and a part of the text that comes back; only what begins with "unavailable" is an error.
EXAMPLES: dict[str, tuple[dict[str, Any], str]] = {
    "memory_store_item": (
        {"content": "Seats cost 9", "type": "fact", "importance": 0.7},
        "in short_term (fact, 0.70)",
    ),
    "memory_store": (
        {"category": "preference", "content": "Short mails", "priority": "high"},
        '"store": "long_term"',
    ),
    "memory_write": (
        {"content": "Fridays are slow", "category": "pattern", "tags": ["week"]},
        "in long_term (insight,",
    ),
    "memory_recall": (
        {"query": "seat", "recursive_depth": 1, "limit": 3, "store": "all", "tags": ["pricing"]},
        "We bill per seat",
    ),
    "memory_search": (
        {"query": "seat", "memory_types": ["semantic"], "time_range_days": 7, "max_results": 2},
        "We bill per seat",
    ),
    "memory_shared_recall": ({"query": "seat"}, "no other agent shares"),
    "memory_get": ({"id": M[0], "tree": True}, "We bill per seat"),
    "memory_read": ({"file_path": "memory/2026-02-24.md", "line_start": 1, "line_end": 2}, "# 2026-02-24"),
    "memory_timeline": ({"query": M[1], "before": 1, "after": 1}, "Ada owns billing"),
    "memory_update": (
        {"memory_id": M[1], "content": "Ada and Bo own billing", "tags": []},
        "in long_term: content, tags",
    ),
    "memory_reinforce": ({"memory_id": M[2], "by": 0.1}, "importance 0.90"),
    "memory_forget": ({"memory_id": M[3]}, "archived M-"),
    "memory_revive": ({"memory_id": M[4]}, "revived M-"),
    "memory_consolidate": (
        {"min_importance": 0.6, "min_access_count": 2, "summarize": False, "dry_run": True},
        "A short one",
    ),
    "memory_status": ({}, "of 200"),
    "memory_index_status": ({}, "main"),
    "memory_audit": ({"scope": "all", "recommend": True}, "Persona.md"),
    "memory_checkpoint": (
        {"context": "-", "decisions": ["Keep Stripe"], "findings": ["--x"], "open_questions": ["?"]},
        "wrote memory/checkpoints/2026-02-24-1430",
    ),
    "memory_checkpoint_latest": ({}, "# Session Checkpoint"),
    "memory_build_hierarchy": ({"scope": "week"}, "2026-W09"),
    "memory_hierarchy_search": ({"query": "seat", "level": "daily"}, "We bill per seat"),
    "memory_hierarchy_drill": ({"query": "seat"}, "We bill per seat"),
    "memory_capture": ({"text": "Deploy went well", "session": "s1"}, "captured O-"),
    "memory_harvest": ({"dry_run": True}, "would harvest"),
    "context_index": ({}, "# Memory index"),
    "context_pack": ({"query": "what do we charge", "budget": 300, "history": CHAT, "tail": 1}, "<memory-"),
    "context_build": ({"request": "-", "history": CHAT, "window": 8000}, "of 8,000 tokens"),
    "context_compress": ({"history": CHAT, "budget": 200}, "assistant: We bill per seat."),
    "context_flush_check": (
        {"total_tokens": 189000, "window": 200000, "compaction_count": 2},
        "threshold 188000",
    ),
    "context_flush_prompt": ({}, "about to be compacted"),
    "agent_list": ({}, "main  general assistant"),
    "agent_show": ({"agent_id": "main"}, "general assistant"),
    "bdi_cycle": ({"dry_run": True}, "main (open-minded)"),
    "bdi_deliberate": ({}, "G-001 Renew the largest customer"),
    "bdi_status": ({}, "open-minded"),
    "mind": ({}, "believe "),
    "bdi_conflicts": ({"all": True}, "growing against declining"),
    "bdi_resolve": ({"id": "1d332a57", "keep": "both", "reason": "two markets"}, "1d332a57"),
    "belief_add": (
        {"subject": "-Supply", "text": "-", "certainty": 0.7, "supports": ["G-001"]},
        "-Supply: -",
    ),
    "belief_revise": ({"belief": "B-002", "certainty": 0.85, "reason": "two left"}, "revised B-002"),
    "belief_list": ({"min_certainty": 0.1}, "B-002 "),
    "desire_add": (
        {"title": "Never lose a batch", "priority": "high", "motivates": ["G-001"]},
        "Never lose a batch",
    ),
    "desire_update": ({"desire": "D-001", "priority": "low"}, "Sleep well"),
    "desire_list": ({}, "Sleep well"),
    "goal_add": (
        {"title": "Halve the churn", "level": "strategic", "deadline": "2026-12-31"},
        "Halve the churn",
    ),
    "goal_update": ({"goal": "G-001", "progress": 40}, "Renew the largest customer"),
    "goal_close": ({"goal": "Halve the churn", "outcome": "abandoned"}, "(abandoned)"),
    "goal_list": ({"status": "active"}, "Renew the largest customer"),
    "goal_tree": ({}, "Renew the largest customer"),
    "intention_add": ({"title": "Ask the bank", "goal": "G-001"}, "Ask the bank"),
    "intention_progress": (
        {"intention": "I-001", "note": "half of it", "percent": 50},
        "Send the offer (active)",
    ),
    "intention_complete": ({"intention": "I-002", "outcome": "agreed"}, "(completed)"),
    "intention_drop": ({"intention": "I-003", "reason": "too far"}, "(dropped)"),
    "intention_list": ({}, "Send the offer"),
    "plan_add": ({"title": "Hire", "goals": ["G-001"], "steps": ["Post", "Talk"]}, "Hire"),
    "plan_step": ({"plan": "PL-001", "done": "1"}, "1 of 2 steps done"),
    "plan_list": ({"steps": True}, "Renewal"),
    "commitment_add": (
        {"title": "Send the accounts", "to": "the bank", "due": "2026-04-30"},
        "Send the accounts",
    ),
    "commitment_update": ({"commitment": "C-001", "due": "2026-05-01"}, "Pay rent"),
    "commitment_complete": ({"commitment": "Send the accounts", "reason": "sent"}, "(kept)"),
    "commitment_break": ({"commitment": "C-001", "reason": "no money"}, "(broken)"),
    "commitment_list": ({}, "Pay rent"),
    "learning_add": ({"lesson": "Ask the night shift", "text": "They know"}, "Ask the night shift"),
    "learning_adopt": ({"lesson": "Measure twice"}, "instruction: Measure twice"),
    "learning_list": ({}, "Measure twice"),
    "fact_assert": (
        {
            "subject": "bolt",
            "predicate": "costs",
            "object": "-5",
            "confidence": 0.5,
            "source": "x",
            "valid_from": "2026-01-01",
        },
        "bolt costs -5 (0.50, x, from 2026-01-01)",
    ),
    "fact_retract": ({"subject": "acme", "predicate": "locatedIn", "dry_run": True}, "would retract"),
    "fact_query": ({"predicate": "locatedIn", "include_derived": False, "limit": 1}, "and 1 more"),
    "fact_explain": ({"fact_id": F[0]}, "acme locatedIn US"),
    "fact_current": ({"subject": "acme"}, "acme locatedIn US"),
    "fact_timeline": ({"subject": "acme"}, "acme locatedIn US"),
    "fact_extract": ({"text": "Initech reports to Ada"}, "Initech reportsTo Ada"),
    "fact_lint": ({}, "no findings"),
    "rule_create": (
        {
            "name": "audit",
            "type": "constraint",
            "conditions": [{"subject": "?x", "predicate": "hasDebt", "object": "90", "operator": "gt"}],
            "violation_message": "?x owes",
            "severity": "error",
        },
        "if ?x hasDebt > 90",
    ),
    "rule_list": ({"type": "inference"}, "R-001 (inference)"),
    "rule_show": ({"rule_id": "R-001"}, "then ?x isTaxable true"),
    "rule_test": ({"rule_id": "R-001"}, "matches 1 time"),
    "rule_toggle": ({"rule_id": "R-001", "enabled": True}, "R-001 is on"),
    "rule_delete": ({"rule_id": "R-002"}, "deleted R-002"),
    "constraint_check": ({"severity": "warning"}, "no violations"),
    "policy_eval": ({"assume": ["acme:hasDebt=90000"]}, "no actions"),
    "infer_forward": ({"persist": False, "min_confidence": 0.1}, "acme isTaxable true (0.81"),
    "infer_backward": ({"subject": "acme", "predicate": "isTaxable", "object": "true"}, "PROVEN"),
    "infer_abductive": (
        {"subject": "bolt", "predicate": "isTaxable", "object": "true"},
        "assumes bolt locatedIn US",
    ),
    "knowledge_explain": ({"subject": "acme", "predicate": "isTaxable", "object": "true"}, "PROVEN"),
    "graph_neighbors": ({"entity": "acme"}, "-locatedIn-> US"),
    "graph_path": ({"start": "acme", "end": "US"}, "-locatedIn-> US"),
    "graph_preflight": ({"text": "acme"}, "about: acme"),
    "graph_match": ({"text": "acme in the US"}, "acme: names acme"),
    "memory_graph_query": ({"query": "what is in the US?"}, "acme: US <-locatedIn- acme"),
    "memory_graph_ingest": (
        {"subject": "bolt", "predicate": "madeBy", "object": "acme"},
        "bolt madeBy acme (1.00",
    ),
    "graph_impact": ({}, "main/B-003 Supply"),
    "cbr_store": (
        {
            "situation": {
                "beliefs": ["Prices, again", "B-002"],
                "desires": ["D-001"],
                "context": "Churn rose",
            },
            "solution": {"plan_id": "PL-001", "actions": ["Call", "-Wait"]},
            "outcome": {"success": False, "metrics": {"churn": 0.06}, "lessons": "Discounts do not hold"},
        },
        "1 stored, 0 merged",
    ),
    "cbr_retrieve": ({"beliefs": ["B-001"], "max_results": 1}, "C-001 1.00 worked"),
    "cbr_revise": ({"case_id": "C-001", "success": True, "metrics": {"churn": 0.01}}, "revised C-001"),
    "cbr_list": ({"limit": 1}, "C-00"),
    "ontology_propose_concept": (
        {"label": "Voucher", "domain": "shop", "rationale": "x", "sbvr_synonyms": ["Coupon"]},
        "shop:Voucher",
    ),
    "ontology_validate_proposal": ({"proposal_id": "OP-001"}, "shop:LoyaltyTier: valid"),
    "ontology_merge_approved": ({"proposal_ids": ["OP-002"], "dry_run": True}, "would merge OP-002"),
    "ontology_reject_proposal": ({"proposal_id": "OP-003", "reason": "known"}, "rejected OP-003"),
    "ontology_list_proposals": ({"status": "pending"}, "OP-001"),
    "ontology_scaffold_domain": ({"template": "agency"}, "ontologies/agency.jsonld"),
    "ontology_list": ({}, "saas"),
    "ontology_show": ({"name": "Churn"}, "class of saas"),
    "reason": (
        {"problem": "Is it our fault?", "method": "bayesian", "input": BAYES, "save": True},
        "ours: 0.659",
    ),
    "reason_outcome": ({"id": "last", "happened": True}, "right"),
    "reason_schema": ({"method": "bayesian"}, "hypotheses"),
    "reason_history": ({}, "Was it right?"),
    "typedb_status": ({}, "not configured"),
    "typedb_sync_schema": ({"dry_run": True}, "unavailable: "),
    "typedb_query": ({"query": "match $g isa goal;"}, "unavailable: "),
    "typedb_sync_agent_data": ({}, "unavailable: "),
    "goal_seed_business": ({"dry_run": True}, "no agent ceo"),
}
