"""Finds what carries over from a known situation to one with the same structure."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, cut, figure, listed, names, notes, yes_no
from mabos_cli.reasoning.formal.structure_mapping import (
    Analogy,
    Expression,
    Matcher,
    Vocabulary,
    expressions,
    inner,
    is_one_to_one,
    parse_expression,
    read_facts,
    render_expression,
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
    unordered=optional(list_of(text("a name"), "relations for which the order does not matter", 0), ["and", "or"]),
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


Facts = dict[Expression, None]
Asked = Expression | None


class _Inference(NamedTuple):
    """A fact of the source, said of the target, and what speaks for it."""

    fact: Expression
    came_from: Expression
    support: float  # the score of what matches among the facts that it is joined with
    unknown: tuple[str, ...]  # things of the source that have no counterpart


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the facts that carry over to the target under the best mapping."""
    source = read_facts(fields["source"]["facts"], "source.facts")
    target = read_facts(fields["target"]["facts"], "target.facts")
    words = Vocabulary(frozenset(fields["measures"]), fields["same"], frozenset(fields["unordered"]))
    matcher = Matcher(source, target, words)
    mapping, has_tie = matcher.best(_fixed(fields["map"], matcher))
    asked = parse_expression(fields["ask"], "ask") if fields["ask"] else None
    if not mapping.matches:
        return _nothing(fields, asked)
    found = _inferences(source, target, matcher, mapping)
    most = Matcher(source, source, words).apply(_identity(source, words)).score
    return _answer(fields["target"]["name"], mapping, has_tie, found, asked, target, most)


def _fixed(said: Mapping[str, str], matcher: Matcher) -> dict[str, str]:
    """Returns the pairs that the user gave."""
    sides = [_things(matcher.source), _things(matcher.target)]
    for name, other in said.items():
        known_name("map", name, sides[0], "thing of the source")
        known_name(f"map.{name}", other, sides[1], "thing of the target")
    if not is_one_to_one(said.items()):
        raise BadValue("map: two things go to the same one", "each thing has one counterpart")
    return {f"thing {name}": f"thing {other}" for name, other in said.items()}


def _things(facts: tuple[Expression, ...]) -> dict[str, None]:
    return dict.fromkeys(one.name for fact in facts for one in inner(fact) if one.is_thing)


def _identity(facts: dict[Expression, None], words: Vocabulary) -> dict[str, str]:
    every = [one for fact in facts for one in inner(fact)]
    found = [f"thing {one.name}" for one in every if one.is_thing]
    found += [f"measure {one.name}" for one in every if words.is_measure(one)]
    return {name: name for name in found}


def _inferences(source: Facts, target: Facts, matcher: Matcher, mapping: Analogy) -> list[_Inference]:
    """Returns the facts of the source that say something new of the target: plain ones first, then those with most
    support.

    An attribute carries over only as part of a greater fact: that the sun is hot says nothing of a nucleus."""
    scores = {one: score for one, _, score in mapping.matches}
    known = {*expressions(target)}
    found: dict[Expression, _Inference] = {}
    for one in expressions(source):
        if one in scores or matcher.words.is_measure(one) or one.name in matcher.words.unordered:
            continue
        said, unknown = _carry(one, mapping.pairs, matcher.words)
        touched = _things((one,)).keys() - {*unknown}
        joined = _joined(one, matcher)
        if said in known or said in found or not touched or (one.order == 1 and len(one.parts) == 1 and not joined):
            continue
        support = sum(scores.get(other, 0.0) for other in joined)
        found[said] = _Inference(said, one, support, unknown)
    return sorted(found.values(), key=lambda one: (bool(one.unknown), not one.support, one.fact.order, -one.support))


def _joined(one: Expression, matcher: Matcher) -> dict[Expression, None]:
    """Returns the expressions that relations between facts join with one, over any number of steps."""
    reached = {one: None}
    waiting = [one]
    while waiting:
        at = waiting.pop()
        for near in (*matcher.holders[at], *at.parts):
            if near not in reached and not near.is_thing and not matcher.words.is_measure(near):
                reached[near] = None
                waiting.append(near)
    del reached[one]
    return reached


def _carry(one: Expression, pairs: Mapping[str, str], words: Vocabulary) -> tuple[Expression, tuple[str, ...]]:
    """Returns a source expression said of the target, and the things that have no counterpart there."""
    if one.is_thing:
        target = pairs.get(f"thing {one.name}")
        if target is None:
            return Expression(f"?{one.name}"), (one.name,)
        return Expression(target.removeprefix("thing ")), ()
    done = [_carry(part, pairs, words) for part in one.parts]
    name = words.name(one)
    if words.is_measure(one):
        name = pairs.get(f"measure {one.name}", f"measure {one.name}").removeprefix("measure ")
    unknown = tuple(dict.fromkeys(thing for _, things in done for thing in things))
    return Expression(name, tuple(part for part, _ in done)), unknown


def _nothing(fields: dict[str, Any], asked: Asked) -> Answer:
    about = "what carries over"
    conclusion = yes_no(None, render_expression(asked)) if asked else names((), about)
    summary = (
        f"{fields['source']['name']} and {fields['target']['name']} have no relation in common: nothing carries over"
    )
    caveats = ("relations match only by name: give `same` for those that are called differently",)
    return Answer(conclusion, None, summary, (), {"pairs": {}, "score": 0.0, "inferences": []}, caveats)


def _answer(
    name: str, mapping: Analogy, has_tie: bool, found: list[_Inference], asked: Asked, target: Facts, most: float
) -> Answer:
    pairs = {a.partition(" ")[2]: b.partition(" ")[2] for a, b in mapping.pairs.items()}
    share = mapping.score / most if most else 0.0
    certain = [one for one in found if one.support and not one.unknown]
    said = tuple(render_expression(one.fact) for one in certain)
    detail = {
        "pairs": pairs,
        "score": mapping.score,
        "share_of_source": share,
        "matches": [
            {"source": render_expression(one), "target": render_expression(other), "score": score}
            for one, other, score in sorted(mapping.matches, key=lambda match: -match[2])
        ],
        "inferences": [
            {"fact": render_expression(one.fact), "from": render_expression(one.came_from)}
            | {"support": one.support, "without_counterpart": list(one.unknown)}
            for one in found
        ],
    }
    steps = [f"{a} is like {b}" for a, b in pairs.items()]
    steps += [
        f"{'carries over' if one in certain else 'open' if one.unknown else 'weak'}, support {figure(one.support)}: {render_expression(one.fact)}"
        for one in found[:8]
    ]
    matched = f"{plural(len(mapping.matches), 'matching fact')}, {share:.0%} of the structure"
    if asked is None:
        conclusion = names(said, "what carries over")
        summary = f"carries over to {name}: {listed(said, 3) or 'nothing new'} ({matched})"
    else:
        value = True if asked in {*expressions(target)} or asked in {one.fact for one in certain} else None
        conclusion = yes_no(value, render_expression(asked))
        verdict = "carries over" if value else "does not carry over, and stays open"
        summary = f"{render_expression(asked)} {verdict} ({matched})"
    return Answer(conclusion, None, summary, cut(steps), detail, _caveats(has_tie, mapping, found))


def _caveats(has_tie: bool, mapping: Analogy, found: list[_Inference]) -> tuple[str, ...]:
    is_flat = not any(one.order > 1 for one, _, _ in mapping.matches) and not any(one.support for one in found)
    lacking = dict.fromkeys(thing for one in found for thing in one.unknown)
    return notes(
        (True, "an analogy suggests and does not prove: check what carries over"),
        (has_tie, "another mapping is as good; the first that was found is given"),
        (is_flat, "no relation between relations is involved: the likeness may be on the surface only"),
        (lacking, f"no counterpart for {listed([*lacking])}: what involves it is told with a ?"),
    )
