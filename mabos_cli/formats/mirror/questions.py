"""Questions to the graph, as TypeQL: those that commands ask, and those that come ready for people."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from mabos_cli.core.language.clock import find_time, format_time
from mabos_cli.formats.mirror.typeql import label, literal

_PLANS = """[
match $q isa goal_requires_plan, links (requirer: $g, required: $p);
$p isa plan, has uid $pu;
sort $pu;
fetch { "plan": $pu, "name": $p.name, "status": $p.status };
]"""
# An intention is touched when it pursues the goal itself, or follows one of its plans; once, even if both hold.
_INTENTIONS = """[
match $i isa intention, has uid $iu;
{ $x isa intention_pursues_goal, links (pursuer: $i, pursued: $g); } or {
$y isa goal_requires_plan, links (requirer: $g, required: $w);
$z isa intention_follows_plan, links (follower: $i, followed: $w); };
select $i, $iu;
distinct;
sort $iu;
fetch { "intention": $iu, "name": $i.name, "status": $i.status };
]"""
_PURSUIT = f"""$s isa belief_supports_goal, links (supporter: $b, supported: $g);
$g isa goal, has uid $gu;
sort $bu, $gu;
fetch {{
"belief": $bu, %s"goal": $gu, "goal_name": $g.name, "goal_status": $g.status,
"plans": {_PLANS},
"intentions": {_INTENTIONS}
}};"""


def ask_belief_chains(agent: str) -> str:
    """Returns the beliefs of an agent with the goals that they support, the plans for these, and the intentions under way for
    either."""
    named = '"belief_name": $b.name, "certainty": $b.certainty, '
    return f"""match
$a isa agent, has uid {literal(agent)};
$o isa agent_owns, links (owner: $a, owned: $b);
$b isa belief, has uid $bu;
{_PURSUIT % named}"""


def ask_conflict_impact(agent: str, key: str) -> str:
    """Returns what depends on the beliefs in a conflict, given by its key or the start of it: goals, the plans for them, and the
    intentions under way for either."""
    prefix = literal(f"^{agent.replace('.', '[.]')}/{key}[0-9a-f]*$")
    return f"""match
$k isa conflict, has uid $ku;
$ku like {prefix};
$c isa conflict_between, links (dispute: $k, party: $b);
$b isa belief, has uid $bu;
{_PURSUIT % ""}"""


def ask_goals_behind(now: datetime, level: str = "") -> str:
    """Returns goals of all agents that are stalled, or whose day is over while they are neither done nor given up nor at 100
    %."""
    wanted = f"\n$g has hierarchy_level {literal(level)};" if level else ""
    return f"""match
$o isa agent_owns, links (owner: $a, owned: $g);
$a isa agent, has uid $au;
$g isa goal, has uid $gu, has state $st;{wanted}
{{ $st == "stalled"; }} or {{
{{ $st == "active"; }} or {{ $st == "open"; }};
$g has due_at $due;
$due <= {literal(now)};
not {{ $g has progress $done; $done >= 100.0; }}; }};
sort $gu;
fetch {{
"agent": $au, "goal": $gu, "name": $g.name, "level": $g.hierarchy_level, "state": $st,
"status": $g.status, "progress": $g.progress, "deadline": $g.deadline
}};"""


def ask_provenance(uid: str) -> str:
    """Returns all that something was made of, over any number of steps: facts, rules, memories."""
    return f"""with
fun origins($x: record) -> {{ record }}:
match
{{ $d isa derivation, links (derived: $x, origin: $y); }} or {{
$d isa derivation, links (derived: $x, origin: $m);
let $y in origins($m); }};
return {{ $y }};
match
$x isa record, has uid {literal(uid)};
let $o in origins($x);
$o isa! $k, has uid $u;
select $k, $u;
distinct;
sort $u;
fetch {{ "origin": $u, "type": $k }};"""


def ask_statements(relation: str) -> str:
    """Returns what facts say by a relation of an ontology: who, of which class, and which fact has the dates and the source."""
    return f"""match
$r isa {label(relation)}, links (evidence: $f, subject: $s, object: $o);
$f isa spo_fact, has uid $u;
$s isa! $st, has name $sn;
$o isa! $ot, has name $on;
sort $u;
fetch {{
"fact": $u, "subject": $sn, "subject_type": $st, "object": $on, "object_type": $ot,
"confidence": $f.confidence, "valid_from": $f.valid_from, "valid_until": $f.valid_until
}};"""


def ask_facts_elsewhere(agent: str, subject: str = "", predicate: str = "", object: str = "", limit: int = 200) -> str:
    """Returns facts of agents other than one that share what they have, with this subject, predicate and object as far as they
    are given."""
    given = (("subject_val", subject), ("predicate_val", predicate), ("object_val", object))
    wanted = "".join(f", has {name} {literal(value)}" for name, value in given if value)
    return f"""match
$o isa agent_owns, links (owner: $a, owned: $f);
$a isa agent, has uid $au, has is_shared true;
$au != {literal(agent)};
$f isa spo_fact, has uid $fu{wanted};
sort $fu;
limit {literal(limit)};
fetch {{
"agent": $au, "fact": $fu, "subject": $f.subject_val, "predicate": $f.predicate_val, "object": $f.object_val,
"confidence": $f.confidence, "source": $f.source, "trust": $f.trust,
"valid_from": $f.valid_from, "valid_until": $f.valid_until, "rule": $f.rule_ref
}};"""


def ask_memories_elsewhere(agent: str, words: Iterable[str] = (), limit: int = 200) -> str:
    """Returns memories of agents other than one that share what they have, with all of some words."""
    wanted = "".join(f"\n$text contains {literal(word)};" for word in words)
    return f"""match
$o isa agent_owns, links (owner: $a, owned: $m);
$a isa agent, has uid $au, has is_shared true;
$au != {literal(agent)};
$m isa memory_item, has uid $mu, has content $text;{wanted}
sort $mu;
limit {literal(limit)};
fetch {{
"agent": $au, "memory": $mu, "content": $text, "type": $m.item_type, "importance": $m.importance,
"source": $m.source, "trust": $m.trust, "tags": [$m.tag],
"created_at": $m.created_at, "expires_at": $m.expires_at
}};"""


def ask_uids(kind: str, agent: str, *, bare: bool = False) -> str:
    """Returns the uids of a type that begin with the name of an agent; of agents, the one with this name. What is bare is
    there only because somebody else is linked with it, and has no owner yet.

    >>> print(ask_uids("goal", "c.f-o"))
    match $e isa goal, has uid $uid;
    $uid like "^c[.]f-o/.*";
    select $uid;
    """
    # Of what the name of an agent may hold, only a dot means something to a regular expression.
    prefix = literal(f"^{agent.replace('.', '[.]')}/.*")
    wanted = f"== {literal(agent)}" if kind == "agent" else f"like {prefix}"
    without = "\nnot { $o isa agent_owns, links (owned: $e); };" if bare else ""
    return f"match $e isa {label(kind)}, has uid $uid;\n$uid {wanted};{without}\nselect $uid;"


def plain_rows(query: str, rows: Iterable[Any]) -> list[Any]:
    """Returns rows as a server gives them, with names in the order of the query, moments as files have them, types by their
    labels, and lists of values in order."""
    order = {name: place for place, name in enumerate(re.findall(r'"(\w+)"\s*:', query))}

    def plain(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            if value.keys() == {"kind", "label"}:
                return value["label"]
            return {
                each: plain(value[each], each)
                for each in sorted(value, key=lambda own: (order.get(own, len(order)), own))
            }
        if isinstance(value, list):
            return sorted(value) if name == "tags" else [plain(each) for each in value]
        if name.endswith("_at") and isinstance(value, str):
            # Behind the moment a server may name its zone.
            moment = find_time(value.partition(" ")[0])
            return format_time(moment) if moment else value
        return value

    return [plain(row) for row in rows]
