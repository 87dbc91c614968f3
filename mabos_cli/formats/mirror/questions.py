"""Questions to the graph, as TypeQL: those that commands ask, and those that come ready for people."""

import re
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from mabos_cli.core.language.clock import find_time, format_time
from mabos_cli.formats.mirror.typeql import label, literal


@cache
def _texts() -> dict[str, str]:
    """Returns the questions of questions.typeql, by name."""
    text = Path(__file__).with_name("questions.typeql").read_text("utf-8")
    return dict(re.findall(r"(?ms)^# (\w+): [^\n]*\n(.*?)\n(?=\n# |\Z)", text))


def _ask(name: str, **values: str) -> str:
    """Returns a question with its placeholders filled in, by values or by other questions."""
    return re.sub(
        r"<(\w+)>", lambda place: values[place[1]] if place[1] in values else _ask(place[1], **values), _texts()[name]
    )


def ask_belief_chains(agent: str) -> str:
    """Returns the beliefs of an agent with the goals that they support, the plans for these, and the intentions under way for
    either."""
    return _ask("chains", agent=literal(agent), more='"belief_name": $b.name, "certainty": $b.certainty, ')


def ask_conflict_impact(agent: str, key: str) -> str:
    """Returns what depends on the beliefs in a conflict, given by its key or the start of it: goals, the plans for them, and the
    intentions under way for either."""
    prefix = literal(f"^{agent.replace('.', '[.]')}/{key}[0-9a-f]*$")
    return _ask("conflict", prefix=prefix, more="")


def ask_goals_behind(now: datetime, level: str = "") -> str:
    """Returns goals of all agents that are stalled, or whose day is over while they are neither done nor given up nor at 100
    %."""
    wanted = f"\n$g has hierarchy_level {literal(level)};" if level else ""
    return _ask("behind", wanted=wanted, now=literal(now))


def ask_provenance(uid: str) -> str:
    """Returns all that something was made of, over any number of steps: facts, rules, memories."""
    return _ask("provenance", uid=literal(uid))


def ask_statements(relation: str) -> str:
    """Returns what facts say by a relation of an ontology: who, of which class, and which fact has the dates and the source."""
    return _ask("statements", relation=label(relation))


def ask_facts_elsewhere(agent: str, subject: str = "", predicate: str = "", object: str = "", limit: int = 200) -> str:
    """Returns facts of agents other than one that share what they have, with this subject, predicate and object as far as they
    are given."""
    given = (("subject_val", subject), ("predicate_val", predicate), ("object_val", object))
    wanted = "".join(f", has {name} {literal(value)}" for name, value in given if value)
    return _ask("facts", agent=literal(agent), wanted=wanted, limit=literal(limit))


def ask_memories_elsewhere(agent: str, words: Iterable[str] = (), limit: int = 200) -> str:
    """Returns memories of agents other than one that share what they have, with all of some words."""
    wanted = "".join(f"\n$text contains {literal(word)};" for word in words)
    return _ask("memories", agent=literal(agent), wanted=wanted, limit=literal(limit))


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
    """Normalizes rows of a server: names in the order of the query, times as in files, types by their labels, sorted lists."""
    order = {name: place for place, name in enumerate(re.findall(r'"(\w+)"\s*:', query))}

    def plain(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            if value.keys() == {"kind", "label"}:
                return value["label"]
            return {
                each: plain(value[each], each)
                for each in sorted(value, key=lambda key: (order.get(key, len(order)), key))
            }
        if isinstance(value, list):
            return sorted(value) if name == "tags" else [plain(each) for each in value]
        if name.endswith("_at") and isinstance(value, str):
            # Behind the moment a server may name its zone.
            moment = find_time(value.partition(" ")[0])
            return format_time(moment) if moment else value
        return value

    return [plain(row) for row in rows]
