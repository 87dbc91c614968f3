"""Shows how far a pattern seen in instances can be trusted: the share, its interval, exceptions."""

from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.explaining import bind, fill_pattern
from mabos_cli.core.knowledge.relations import FactIndex
from mabos_cli.core.knowledge.rule import Pattern, is_variable, pattern_text
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, cut, figure, listed, notes, quantity, wilson
from mabos_cli.reasoning.inputs import AgentData, find_ways, known_facts


class _Seen(NamedTuple):
    """The counts: instances with the property, names of those without it, and of those that tell nothing."""

    held: int
    failed: int
    exceptions: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    about: str = ""
    caveats: tuple[str, ...] = ()


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the share of instances in which the statement holds."""
    sources = [name for name in ("cases", "counts", "then") if fields[name] is not None]
    if len(sources) != 1:
        both = f", not {' and '.join(sources)} together" if sources else ""
        raise BadValue(f"cases: give cases, counts, or `if` and `then`{both}", "")
    if fields["cases"]:
        failed = tuple(one["name"] or f"case {n}" for n, one in enumerate(fields["cases"], 1) if not one["held"])
        seen = _Seen(len(fields["cases"]) - len(failed), len(failed), failed)
    elif fields["counts"]:
        seen = _Seen(fields["counts"]["held"], fields["counts"]["failed"])
    else:
        seen = _from_facts(fields, agent)
    if not seen.held + seen.failed:
        raise BadValue(f"{sources[0]}: no instance tells whether it holds", "give at least one instance")
    return _rate(fields, seen, fields["claim"] or seen.about)


def _from_facts(fields: dict[str, Any], agent: AgentData) -> _Seen:
    """Returns the counts over facts: an instance is each thing that meets `if`, once."""
    conditions, then = tuple(fields["if"] or ()), fields["then"]
    facts, caveats = known_facts(fields, agent)
    index = FactIndex(facts)
    ways = find_ways(conditions, index, "if", "?x isA customer")
    if not then.predicate or is_variable(then.predicate):
        raise BadValue("then: needs a predicate", "write: ?x renews yes")
    bound = {term for one in conditions for term in (one.subject, one.object) if is_variable(term)}
    keys = [term for term in dict.fromkeys((then.subject, then.object)) if term in bound]
    if not keys:
        raise BadValue("then: shares no variable with `if`", "use the same ?x in both")
    if then.operator != "eq" and is_variable(then.object):
        raise BadValue(f"then: compares with {then.object}", "compare with a value")
    instances = dict.fromkeys(tuple(way[key] for key in keys) for way in ways)
    verdicts = {" ".join(one): _holds(then, dict(zip(keys, one, strict=True)), index) for one in instances}
    held, failed, unknown = (
        tuple(name for name, verdict in verdicts.items() if verdict is wanted) for wanted in (True, False, None)
    )
    about = f"if {' and '.join(map(pattern_text, conditions))} then {pattern_text(then)}"
    return _Seen(len(held), len(failed), failed, unknown, about, caveats)


def _holds(then: Pattern, bindings: dict[str, str], index: FactIndex) -> bool | None:
    """Returns whether facts say it of an instance. Another value denies it if no subject has two."""
    wanted = fill_pattern(then, bindings)
    relation = index.relations.get(wanted.predicate)
    if relation is None:
        return None
    rows = relation.rows if is_variable(wanted.subject) else relation.find(wanted.subject, None)
    if any(bind(wanted, (row[0], wanted.predicate, row[1]), {}) is not None for row in rows):
        return True
    is_single = len(relation.index("subject")) == len(relation.rows)
    return False if rows and is_single and not is_variable(wanted.subject) else None


def _rate(fields: dict[str, Any], seen: _Seen, about: str) -> Answer:
    count, level = seen.held + seen.failed, fields["level"]
    share, next_one = seen.held / count, (seen.held + 1) / (count + 2)
    low, high = wilson(seen.held, count, level)
    detail = {"held": seen.held, "failed": seen.failed, "unknown": [*seen.unknown], "share": share}
    detail |= {"rule_of_succession": next_one, "interval": [low, high], "level": level}
    lines = [
        f"seen in {seen.held} of {count}: {figure(share)}",
        f"Wilson interval at {level:g}: {figure(low)} to {figure(high)}",
        f"rule of succession, for the next one: {figure(next_one)}",
        *notes((seen.exceptions, f"exceptions: {listed(seen.exceptions)}")),
    ]
    caveats = seen.caveats + notes(
        (seen.unknown, f"not counted, as nothing is known of them: {listed(seen.unknown)}"),
        (not seen.failed, "no exception was seen, which does not show that there is none"),
        (count < 5, f"only {plural(count, 'instance')}"),
    )
    summary = f"held in {seen.held} of {count}; the next one holds with {figure(next_one)}"
    conclusion = quantity(next_one, (low, high), about=about)
    return Answer(conclusion, None, summary, cut(lines), detail | {"exceptions": [*seen.exceptions]}, caveats)
