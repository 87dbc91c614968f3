"""The types of the knowledge graph that every business has: what agents are, hold true, want, do and know."""

from functools import cache

from mabos_cli.core.mirror.graph_schema import KEY, MANY, Attribute, Entity, Owns, Plays, Relation, Schema

# Texts in the words of the files stand beside moments, which have an order: `deadline` is what somebody wrote, `due_at` when
# that is over; `status` is what somebody wrote, `state` one of open, active, stalled, done, gone.
_ATTRIBUTES = {
    "string": (
        "uid name content summary source author session trust status state deadline owner department agent_role "
        "commitment_strategy hierarchy_level item_type store_name tag derived_from related_to context_text subject_val "
        "predicate_val object_val valid_from valid_until rule_ref rule_type domain condition_text conclusion_text "
        "violation_message severity action_text lessons plan_ref adapted_from situation_belief situation_desire metric_text "
        "method_name method_category problem_text classification rationale decided_by trigger_text outcome_text assignee"
    ),
    "double": (
        "certainty confidence confidence_factor priority urgency alignment progress importance proficiency effort_hours"
    ),
    "integer": "step_number step_count steps_done merged_count",
    "boolean": "is_done is_derived is_enabled is_shared escalates succeeded happened",
    "datetime-tz": (
        "created_at updated_at observed_at expires_at due_at starts_at ends_at stored_at reasoned_at decided_at "
        "started_at finished_at"
    ),
}
_MANY = frozenset("tag derived_from related_to situation_belief situation_desire".split())

_STANDING = "name content status state priority deadline due_at updated_at owner"
_ENTITIES = {
    "agent": "name agent_role department commitment_strategy is_shared",
    "belief": "name content certainty source status updated_at",
    "desire": f"{_STANDING} urgency alignment",
    "goal": f"{_STANDING} hierarchy_level progress",
    "intention": f"{_STANDING} progress commitment_strategy",
    "plan": f"{_STANDING} progress step_count steps_done",
    "plan_step": "name content step_number status is_done",
    "persona": "name content summary",
    "skill": "name content proficiency",
    "workflow": "name content status state trigger_text",
    "task": f"{_STANDING} assignee progress effort_hours",
    "decision": "name content rationale status urgency confidence decided_by decided_at",
    "spo_fact": (
        "subject_val predicate_val object_val confidence source trust valid_from valid_until starts_at ends_at is_derived "
        "rule_ref derived_from created_at updated_at"
    ),
    "knowledge_rule": (
        "name content rule_type domain condition_text conclusion_text violation_message severity action_text escalates "
        "confidence_factor is_enabled created_at"
    ),
    "cbr_case": (
        "context_text situation_belief situation_desire plan_ref action_text succeeded metric_text lessons adapted_from "
        "merged_count stored_at"
    ),
    "memory_item": (
        "content item_type importance source trust author session tag derived_from related_to context_text store_name "
        "created_at observed_at expires_at"
    ),
    "action_execution": "name content status succeeded outcome_text started_at finished_at",
    "reasoning_method": "name method_category summary",
    "reasoning_result": "method_name problem_text summary confidence happened lessons classification reasoned_at",
}

# Relation: role and who plays it, role and who plays it. The last three hold what files say and no other relation can:
# which goal a goal is part of, and what an intention is for.
_RELATIONS = {
    "agent_owns": (("owner", "agent"), ("owned", " ".join(name for name in _ENTITIES if name != "agent"))),
    "belief_supports_goal": (("supporter", "belief"), ("supported", "goal")),
    "desire_motivates_goal": (("motivator", "desire"), ("motivated", "goal")),
    "goal_requires_plan": (("requirer", "goal"), ("required", "plan")),
    "plan_contains_step": (("container", "plan"), ("contained", "plan_step")),
    "step_depends_on": (("dependent", "plan_step"), ("dependency", "plan_step")),
    "agent_has_skill": (("bearer", "agent"), ("ability", "skill")),
    "agent_has_persona": (("bearer", "agent"), ("character", "persona")),
    "method_produces_result": (("producer", "reasoning_method"), ("produced", "reasoning_result")),
    "decision_resolves_goal": (("resolver", "decision"), ("resolved", "goal")),
    "goal_part_of_goal": (("part", "goal"), ("whole", "goal")),
    "intention_pursues_goal": (("pursuer", "intention"), ("pursued", "goal")),
    "intention_follows_plan": (("follower", "intention"), ("followed", "plan")),
}


@cache
def mirror_schema() -> Schema:
    """The schema that is there before any ontology adds to it."""
    plays: dict[str, list[Plays]] = {name: [] for name in _ENTITIES}
    for relation, ends in _RELATIONS.items():
        for role, players in ends:
            for player in players.split():
                plays[player].append(Plays(relation, role))
    return Schema(
        tuple(Attribute(name, kind) for kind, names in _ATTRIBUTES.items() for name in names.split()),
        tuple(
            Entity(name, (Owns("uid", KEY), *map(_owns, owned.split())), tuple(plays[name]))
            for name, owned in _ENTITIES.items()
        ),
        tuple(Relation(name, tuple(role for role, _ in ends)) for name, ends in _RELATIONS.items()),
    )


def _owns(attribute: str) -> Owns:
    return Owns(attribute, MANY if attribute in _MANY else ())
