"""The tools that the documents behind this program name, with the parameters that they give them: hosts were told these names."""

_SPO = "subject predicate object"
SEED_TOOLS = {
    name: parameters.split()
    for name, parameters in {
        "memory_store_item": "agent_id content type importance source tags store",
        "memory_store": "category content context priority tags related_to expires",
        "memory_write": "content category importance tags",
        "memory_recall": "agent_id query type store limit min_importance recursive_depth categories priority_min "
        "token_budget include_context format",
        "memory_search": "query max_results memory_types time_range_days",
        "memory_get": "",
        "memory_read": "file_path line_start line_end",
        "memory_update": "memory_id content importance",
        "memory_reinforce": "memory_id",
        "memory_shared_recall": "query",
        "memory_graph_query": "query",
        "memory_graph_ingest": _SPO,
        "memory_consolidate": "agent_id min_importance min_access_count dry_run summarize",
        "memory_checkpoint": "agent_id context decisions findings next_steps open_questions",
        "memory_build_hierarchy": "agent_id scope since",
        "memory_hierarchy_search": "agent_id query level limit",
        "memory_status": "agent_id",
        "memory_index_status": "",
        "memory_audit": "scope recommend",
        "fact_assert": f"agent_id {_SPO} confidence source valid_from valid_until",
        "fact_retract": "agent_id fact_id subject predicate",
        "fact_query": f"agent_id {_SPO} min_confidence valid_at include_derived limit",
        "fact_explain": "agent_id fact_id",
        "rule_create": "name description type conditions conclusion violation_message severity action "
        "confidence_factor domain",
        "rule_list": "type",
        "rule_toggle": "rule_id enabled",
        "constraint_check": "",
        "policy_eval": "",
        "infer_forward": "agent_id persist",
        "infer_backward": f"agent_id {_SPO}",
        "infer_abductive": f"agent_id {_SPO}",
        "knowledge_explain": "agent_id question",
        "cbr_retrieve": "beliefs desires max_results",
        "cbr_store": "situation solution outcome",
        "ontology_propose_concept": "domain node_type node_id label parent_class domain_class range sbvr_definition "
        "sbvr_synonyms rationale proposed_by",
        "ontology_validate_proposal": "proposal_id",
        "ontology_merge_approved": "",
        "ontology_list_proposals": "status",
        "ontology_scaffold_domain": "template",
        "reason": "agent_id method problem problem_classification multi_method methods",
        "typedb_status": "",
        "typedb_sync_schema": "",
        "typedb_query": "query database",
        "typedb_sync_agent_data": "agent_id",
        "goal_seed_business": "",
    }.items()
}
