"""Which basic faults account for a failure, and which to mend first: a fault tree computed exactly, or a map of whys weighed by
evidence."""

from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, ranking, words
from mabos_cli.reasoning.causal.cause_map import Cause, read_causes
from mabos_cli.reasoning.causal.fault_tree import CutSet, Diagram, Tree, build, chance_of_any, find_cut_sets, parse_tree
from mabos_cli.reasoning.input_checks import check_known, check_size
from mabos_cli.reasoning.own import Own
from mabos_cli.reasoning.shape import Shape, list_of, map_of, number, optional, probability, record, text, usual, whole
from mabos_cli.reasoning.wording import cut, figure, listed

MOST_CAUSES = 500
MOST_PARTS = 20_000  # cut sets times events, for the importance by cut sets
_event = text("an event or gate")
_weights = map_of(
    number("its weight", 0, 1000), "evidence with its weight, such as 1 for a hint and 3 for proof", least=0
)
_CAUSE = Shape(
    "record",
    "a possible cause",
    fields=(
        ("explains", optional(text("what it would explain: another cause, or the symptom if left out"))),
        ("for", optional(_weights, {})),
        ("against", optional(_weights, {})),
    ),
)
SHAPE = record(
    "Give a fault tree (gates, and events with their chances), or a symptom and possible causes with the evidence for each.",
    gates=usual(
        map_of(
            record(
                "how an event comes about",
                any=optional(list_of(_event, "one of these is enough")),
                all=optional(list_of(_event, "all of these are needed")),
                need=optional(whole("how many of `of` are needed", 1)),
                of=optional(list_of(_event, "of these")),
            ),
            "the failure and the events on the way to it",
        )
    ),
    events=usual(map_of(probability("its probability"), "the basic faults with their probabilities; left out if they are not known", least=0)),
    top=optional(text("the failure; the gate that is below no other if left out")),
    symptom=optional(text("instead of gates, with `causes`: what went wrong")),
    causes=optional(map_of(_CAUSE, "with `symptom`: possible causes, each with what it explains and the evidence")),
)  # fmt: skip
QUESTIONS = (
    "What exactly failed?",
    "What must happen for it: any one of several things, all of them, or so many of them?",
    "Which basic faults are at the bottom, and how likely is each?",
    "Or: why did it happen, and why that, five times over?",
    "What speaks for each why, and what against it?",
)


def solve(given: dict[str, Any], own: Own) -> Answer:
    """The faults or causes in the order in which to mend them."""
    if (given["gates"] is None) == (given["causes"] is None):
        raise BadValue("gates: give either gates of a fault tree, or causes of a symptom", "not both, not neither")
    return _solve_map(given) if given["causes"] else _solve_tree(given)


def _solve_tree(given: dict[str, Any]) -> Answer:
    tree = parse_tree(given["gates"], given["top"])
    sets = find_cut_sets(tree)
    detail: dict[str, Any] = {"top": tree.top, "cut_sets": [_sorted(one, tree) for one in sets]}
    lines = [f"{len(sets)} minimal cut sets: {listed([' + '.join(_sorted(one, tree)) for one in sets], 5)}"]
    single = [name for one in sets if len(one) == 1 for name in one]
    if single:
        lines.append(f"fails alone on: {listed(single)}")
    if not given["events"]:
        order = _by_structure(tree, sets)
        said = f"{tree.top}: {len(sets)} minimal cut sets, the smallest of {len(sets[0])}; begin with {order[0]}"
        caveats = ("Without probabilities events are ranked by how few others must come with them, and how often.",)
        return Answer(ranking(tuple(order), about=tree.top), None, said, cut(lines), detail, caveats)
    for name in given["events"]:
        if name in given["gates"]:
            raise BadValue(f"events.{name}: is a gate", "its probability follows; give those of basic events")
    named = [name for gate in given["gates"].values() for form in ("any", "all", "of") for name in gate[form] or ()]
    check_known("events", given["events"], dict.fromkeys(named), "event")
    missing = [name for name in tree.events if name not in given["events"]]
    if missing:
        raise BadValue(
            f"events: {listed(missing)} has no probability", "give one for every basic event, or none at all"
        )
    return _weigh(tree, sets, {name: given["events"][name] for name in tree.events}, detail, lines)


def _weigh(
    tree: Tree, sets: tuple[CutSet, ...], chances: dict[str, float], detail: dict[str, Any], lines: list[str]
) -> Answer:
    """The answer with probabilities: importance of each event by what mending it would take off the top."""
    diagram = Diagram(tree.events)
    root = build(tree, diagram)
    top = diagram.chance(root, chances)[root]
    if top <= 0:
        raise BadValue(f"events: with these probabilities {tree.top} cannot happen", "some events on every way have 0")
    slopes = diagram.slopes(root, chances)
    share = {name: slopes[name] * chances[name] / top for name in tree.events}
    left = {name: top - slopes[name] * chances[name] for name in tree.events}
    order = sorted(tree.events, key=lambda name: (-round(share[name], 12), -round(slopes[name], 12)))
    parts = _parts(sets, order, diagram, chances)
    detail |= {
        "probability": top,
        "rare_event_sum": sum(_product(one, chances) for one in sets),
        "cut_set_probability": [_product(one, chances) for one in sets],
        "importance": {
            name: {
                "probability": chances[name],
                "birnbaum": slopes[name],
                "criticality": share[name],
                "fussell_vesely": parts[name] / top if parts else None,
                "top_if_mended": left[name],
            }
            for name in order
        },
    }
    lines.insert(0, f"P({tree.top}) = {figure(top)}, computed over all combinations of events")
    for name in order:
        gone, slope = figure(share[name]), figure(slopes[name])
        lines.append(f"{name}: {gone} of it goes if mended, left {figure(left[name])}, Birnbaum {slope}")
    said = f"P({tree.top}) = {figure(top)}; mend {order[0]} first: it takes off {figure(100 * share[order[0]])} %"
    caveats = _tree_caveats(share, order, parts)
    return Answer(ranking(tuple(order), share, tree.top), None, said, cut(lines), detail, caveats)


def _parts(sets: tuple[CutSet, ...], order: list[str], diagram: Diagram, chances: dict[str, float]) -> dict[str, float]:
    """For each event the probability that some cut set with it happens; empty if there are too many to compute it."""
    if len(sets) * len(order) > MOST_PARTS:
        return {}
    try:
        return {name: chance_of_any([one for one in sets if name in one], diagram, chances) for name in order}
    except BadValue:
        return {}


def _tree_caveats(share: dict[str, float], order: list[str], parts: dict[str, float]) -> tuple[str, ...]:
    tied = [name for name in order[1:] if abs(share[name] - share[order[0]]) < 1e-12]
    said = ["Basic events count as independent of each other."]
    said += [f"{order[0]} and {listed(tied)} matter equally."] if tied else []
    said += [] if parts else ["Too many cut sets for the importance by Fussell and Vesely; it is left out."]
    return tuple(said)


def _product(one: CutSet, chances: dict[str, float]) -> float:
    found = 1.0
    for name in one:
        found *= chances[name]
    return found


def _sorted(one: CutSet, tree: Tree) -> list[str]:
    return sorted(one, key=tree.events.index)


def _by_structure(tree: Tree, sets: tuple[CutSet, ...]) -> list[str]:
    """Events by the size of their smallest cut set, then by the number of such sets."""
    sizes = {name: [len(one) for one in sets if name in one] for name in tree.events}
    used = [name for name in tree.events if sizes[name]]
    return sorted(used, key=lambda name: (min(sizes[name]), -len(sizes[name])))


def _solve_map(given: dict[str, Any]) -> Answer:
    if given["symptom"] is None:
        raise BadValue("symptom: is missing", "say what went wrong")
    check_size("causes", len(given["causes"]), MOST_CAUSES, "causes")
    causes = read_causes(given["symptom"], given["causes"])
    roots = sorted((one for one in causes if one.is_root), key=lambda one: (-one.strength, -len(one.chain)))
    detail = {"symptom": given["symptom"], "causes": [_cause_detail(one) for one in causes]}
    unknown = [one for one in causes if not one.support and not one.contrary]
    lines = [f"{' <- '.join(one.chain)}: weakest link {figure(one.strength)}" for one in roots]
    lines += [
        f"ruled out: {one.name} (for {figure(one.support)}, against {figure(one.contrary)})"
        for one in causes
        if one.contrary and one.net <= 0
    ]
    lines += [f"look for evidence on: {listed([one.name for one in unknown])}"] if unknown else []
    caveats = _map_caveats(causes, roots)
    if not roots:
        said = "no cause is supported all the way up to the symptom"
        return Answer(words(said, given["symptom"]), None, said, cut(lines), detail, caveats)
    first = roots[0]
    deep = "1 why" if len(first.chain) == 2 else f"{len(first.chain) - 1} whys"
    said = f"{first.name} is the best supported root cause of {given['symptom']}: weakest link {figure(first.strength)}, {deep} deep"
    scores = {one.name: one.strength for one in roots}
    return Answer(ranking(tuple(scores), scores, given["symptom"]), None, said, cut(lines), detail, caveats)


def _cause_detail(one: Cause) -> dict[str, Any]:
    return {
        "name": one.name,
        "explains": one.explains,
        "for": one.support,
        "against": one.contrary,
        "chain_strength": one.strength,
        "is_root": one.is_root,
    }


def _map_caveats(causes: tuple[Cause, ...], roots: list[Cause]) -> tuple[str, ...]:
    said = ["Weights are judgements: the order tells what the evidence speaks for, not how likely it is."]
    names = [
        one.name for one in roots[1:] if one.strength == roots[0].strength and len(one.chain) == len(roots[0].chain)
    ]
    if names:
        said.append(f"{roots[0].name} and {listed(names)} are supported equally.")
    broken = [one.name for one in causes if one.net > 0 and (one.strength is None or one.strength <= 0)]
    if broken:
        said.append(f"{listed(broken)} has support, but a link above it has not.")
    return tuple(said)
