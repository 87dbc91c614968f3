"""Finds what carries over from a known situation to one with the same structure."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, cut, figure, listed, names, notes, yes_no
from mabos_cli.reasoning.formal.structure_mapping import (
    Analogy,
    Expression,
    Facts,
    Matcher,
    Pairs,
    expressions,
    parse_expression,
    read_facts,
    render_expression,
    things_of,
)
from mabos_cli.reasoning.inputs import AgentData, known_name
from mabos_cli.reasoning.shape import Shape, anything, list_of, map_of, optional, record, text

_FACTS = (
    "relations such as attracts(sun, planet) or `sun attracts planet`; a list, or labels with facts; "
    "relations between facts: causes(f1, f2)"
)
SHAPE: Shape = record(
    "Give a known situation and the one in question, each as facts. What causes what in the known one is what carries over.",
    source=record(
        "the situation that is well known", name=optional(text("what it is called"), "source"), facts=anything(_FACTS)
    ),
    target=record(
        "the situation in question", name=optional(text("what it is called"), "target"), facts=anything(_FACTS)
    ),
    measures=optional(
        list_of(text("a name"), "measures that may stand for each other, such as pressure and temperature", 0), []
    ),
    same=optional(map_of(text("its name in the target"), "relations of the source that go by another name", 0), {}),
    map=optional(map_of(text("a thing of the target"), "things of the source whose counterparts are known", 0), {}),
    ask=optional(text("a fact about the target: does it carry over?"), ""),
)
QUESTIONS: tuple[str, ...] = (
    "Which well understood situation works like this one?",
    "Which things play a part in each, and how do they act on each other?",
    "What causes or allows what in the known situation? Say it as relations between facts.",
    "What is known of the new situation already?",
    "Which conclusion about the new situation do you want to check?",
)


class _Inference(NamedTuple):
    """A fact of the source, restated for the target, and what speaks for it."""

    fact: Expression
    came_from: Expression
    support: float  # the score of what matches among the facts that it is joined with
    unknown: tuple[str, ...]  # things of the source that have no counterpart

    @property
    def is_certain(self) -> bool:
        return bool(self.support) and not self.unknown


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the facts that carry over to the target under the best mapping."""
    source = read_facts(fields["source"]["facts"], "source.facts")
    target = read_facts(fields["target"]["facts"], "target.facts")
    matcher = Matcher(source, target, frozenset(fields["measures"]), fields["same"])
    mapping, has_tie = matcher.best(_fixed(fields["map"], source, target))
    asked = parse_expression(fields["ask"], "ask") if fields["ask"] else None
    if mapping.matches:
        itself = Matcher(source, source, matcher.measures, {})
        most = itself.apply({name: name for one in itself.pairs.values() for name, _ in one}).score
        return _answer(fields, mapping, has_tie, _inferences(matcher, mapping), asked, most)
    names_of = f"{fields['source']['name']} and {fields['target']['name']}"
    return Answer(
        yes_no(None, render_expression(asked)) if asked else names((), "what carries over"),
        None,
        f"{names_of} have no relation in common: nothing carries over",
        (),
        {"pairs": {}, "score": 0.0, "inferences": []},
        ("relations match only by name: give `same` for those that are called differently",),
    )


def _fixed(wanted: Mapping[str, str], source: Facts, target: Facts) -> dict[str, str]:
    """Returns the pairs that the user gave."""
    for name, other in wanted.items():
        known_name("map", name, things_of(source), "thing of the source")
        known_name(f"map.{name}", other, things_of(target), "thing of the target")
    if len({*wanted.values()}) < len(wanted):
        raise BadValue("map: two things go to the same one", "each thing has one counterpart")
    return {f"thing {name}": f"thing {other}" for name, other in wanted.items()}


def _inferences(matcher: Matcher, mapping: Analogy) -> list[_Inference]:
    """Returns the facts of the source that say something new of the target: plain ones first, then those with most
    support.

    An attribute carries over only as part of a greater fact: that the sun is hot says nothing of a nucleus."""
    scores = {one: score for one, (_, score) in mapping.matches.items()}
    known = {*matcher.target}
    found: dict[Expression, _Inference] = {}
    for one in matcher.source:
        if one in scores or matcher.is_measure(one) or one.name in ("and", "or"):
            continue
        fact, unknown = _carry(one, mapping.pairs, matcher)
        joined = _joined(one, matcher)
        is_new = fact not in known and fact not in found
        is_attribute = one.order == 1 and len(one.parts) == 1
        if is_new and things_of((one,)).keys() - {*unknown} and (joined or not is_attribute):
            found[fact] = _Inference(fact, one, sum(scores.get(other, 0.0) for other in joined), unknown)
    return sorted(found.values(), key=lambda one: (bool(one.unknown), not one.support, one.fact.order, -one.support))


def _joined(one: Expression, matcher: Matcher) -> dict[Expression, None]:
    """Returns the expressions that relations between facts join with one, over any number of steps."""
    reached = {one: None}
    waiting = [one]
    while waiting:
        at = waiting.pop()
        for near in (*matcher.holders[at], *at.parts):
            if near not in reached and near.parts and not matcher.is_measure(near):
                reached[near] = None
                waiting.append(near)
    del reached[one]
    return reached


def _carry(one: Expression, pairs: Pairs, matcher: Matcher) -> tuple[Expression, tuple[str, ...]]:
    """Returns a source expression restated for the target, and the things that have no counterpart there."""
    if not one.parts:
        target = pairs.get(f"thing {one.name}")
        if target is None:
            return Expression(f"?{one.name}"), (one.name,)
        return Expression(target.removeprefix("thing ")), ()
    done = [_carry(part, pairs, matcher) for part in one.parts]
    name = matcher.same.get(one.name, one.name)
    if matcher.is_measure(one):
        name = pairs.get(f"measure {one.name}", f"measure {one.name}").removeprefix("measure ")
    unknown = tuple(dict.fromkeys(thing for _, things in done for thing in things))
    return Expression(name, tuple(part for part, _ in done)), unknown


def _answer(
    fields: dict[str, Any],
    mapping: Analogy,
    has_tie: bool,
    found: list[_Inference],
    asked: Expression | None,
    most: float,
) -> Answer:
    pairs = {a.partition(" ")[2]: b.partition(" ")[2] for a, b in mapping.pairs.items()}
    share = mapping.score / most if most else 0.0
    carried = tuple(render_expression(one.fact) for one in found if one.is_certain)
    ordered = sorted(mapping.matches.items(), key=lambda match: -match[1][1])
    detail = {
        "pairs": pairs,
        "score": mapping.score,
        "share_of_source": share,
        "matches": [
            {"source": render_expression(one), "target": render_expression(other), "score": score}
            for one, (other, score) in ordered
        ],
        "inferences": [
            {"fact": render_expression(one.fact), "from": render_expression(one.came_from)}
            | {"support": one.support, "without_counterpart": list(one.unknown)}
            for one in found
        ],
    }
    steps = [f"{a} is like {b}" for a, b in pairs.items()]
    for one in found[:8]:
        verdict = "carries over" if one.is_certain else "open" if one.unknown else "weak"
        steps.append(f"{verdict}, support {figure(one.support)}: {render_expression(one.fact)}")
    matched = f"{plural(len(mapping.matches), 'matching fact')}, {share:.0%} of the structure"
    if asked is None:
        conclusion = names(carried, "what carries over")
        summary = f"carries over to {fields['target']['name']}: {listed(carried, 3) or 'nothing new'} ({matched})"
    else:
        known = {*expressions(read_facts(fields["target"]["facts"], "target.facts"))}
        value = True if asked in known or any(one.fact == asked and one.is_certain for one in found) else None
        conclusion = yes_no(value, render_expression(asked))
        verdict = "carries over" if value else "does not carry over, and stays open"
        summary = f"{render_expression(asked)} {verdict} ({matched})"
    is_flat = not any(one.order > 1 for one in mapping.matches) and not any(one.support for one in found)
    lacking = dict.fromkeys(thing for one in found for thing in one.unknown)
    caveats = notes(
        (True, "an analogy suggests and does not prove: check what carries over"),
        (has_tie, "another mapping is as good; the first that was found is given"),
        (is_flat, "no relation between relations is involved: the likeness may be on the surface only"),
        (lacking, f"no counterpart for {listed([*lacking])}: what involves it is shown with a ?"),
    )
    return Answer(conclusion, None, summary, cut(steps), detail, caveats)
