"""Identification against textbook graphs, exact models, and a numerical search for models that agree on what is measured."""

import random
from itertools import combinations, product

import numpy as np
import pytest

from mabos_cli.reasoning.causal.causal_graph import Graph, parse_graph
from mabos_cli.reasoning.causal.identify import Hedge, Observed, identify, render
from mabos_cli.reasoning.network import Network, joint, set_variables

NAPKIN = ["w -> z -> x -> y", "w <-> x", "w <-> y"]
KNOWN = {
    "napkin": (NAPKIN, "[Σ_w P(w) P(x, y | w, z)] / [Σ_w P(w) P(x | w, z)]"),
    "front door": (["x -> m -> y", "x <-> y"], "Σ_m P(m | x) Σ_x' P(x') P(y | x', m)"),
    "conditional front door": (
        ["c -> x", "c -> m", "c -> y", "x -> m -> y", "x <-> y"],
        "Σ_c,m P(c) P(m | c, x) Σ_x' P(x' | c) P(y | c, x', m)",
    ),
    "bow": (["x -> y", "x <-> y"], None),
    "instrument": (["z -> x -> y", "x <-> y"], None),
    "M-bias": (["m <-> x", "m <-> y", "x -> y"], "P(y | x)"),
    "back door": (["z -> x", "z -> y", "x -> y"], "Σ_z P(z) P(y | z, x)"),
    "verma": (["x -> a -> b -> y", "a <-> y", "x <-> b"], None),
}


@pytest.mark.parametrize("name", KNOWN)
def test_textbook_graphs(name: str) -> None:
    """Pearl, Causality, chapter 3; Bareinboim and Pearl 2012 for the napkin."""
    lines, formula = KNOWN[name]
    graph = parse_graph(lines, [])
    found = identify(graph, "x", "y")
    assert isinstance(found, Hedge) is not is_identifiable(graph)
    if formula:
        assert render(found, "x", "y") == formula
        check_on_models(graph, found)


def test_twenty_random_graphs_agree_with_brute_force() -> None:
    chance = random.Random(24)
    kinds = []
    while len(kinds) < 20:
        names = ["x", "y", "a", "b"]
        chance.shuffle(names)
        lines = [f"{one} -> {other}" for one, other in combinations(names, 2) if chance.random() < 0.6]
        lines += [f"{one} <-> {other}" for one, other in combinations(names, 2) if chance.random() < 0.35]
        graph = parse_graph([*lines, "a -> b" if names.index("a") < names.index("b") else "b -> a"], [])
        if not {"x", "y"} <= graph.parents.keys() or "y" not in graph.below(["x"]) or len(graph.hidden) > 3:
            continue
        found = identify(graph, "x", "y")
        assert isinstance(found, Hedge) is not is_identifiable(graph), lines
        if not isinstance(found, Hedge):
            check_on_models(graph, found)
        kinds.append(isinstance(found, Hedge))
    assert 5 <= sum(kinds) <= 15


def draw_model(graph: Graph, chance: random.Random, hidden_states: int) -> Network:
    """A model with random tables."""
    states = {name: tuple(map(str, range(hidden_states if name in graph.hidden else 2))) for name in graph.parents}
    tables = {}
    for name, above in graph.parents.items():
        tables[name] = {}
        for key in product(*(states[one] for one in above)):
            weights = [chance.uniform(0.2, 1) for _ in states[name]]
            tables[name][key] = tuple(one / sum(weights) for one in weights)
    return Network(states, dict(graph.parents), tables)


def check_on_models(graph: Graph, found: object) -> None:
    """The formula, computed from what can be observed, gives what setting the cause does in the model."""
    seen = tuple(name for name in graph.parents if name not in graph.hidden)
    for seed in range(2):
        model = draw_model(graph, random.Random(seed), 3)
        rows = [(dict(zip(seen, key, strict=True)), share) for key, share in joint(model, seen, {}).items()]
        observed = Observed(rows)
        for x in ("0", "1"):
            truth = joint(set_variables(model, {"x": x}), ("y",), {})[("1",)]
            assert observed.value(found, {"x": x, "y": "1"}) == pytest.approx(truth)


def is_identifiable(graph: Graph) -> bool:
    """Whether no small change of a random model keeps the observed distribution and moves the effect. Hidden variables have
    four states: with two, a model may be too poor to show the difference."""
    model = draw_model(graph, random.Random(7), 4)
    names = [*model.states]
    axes = {name: at for at, name in enumerate(names)}
    sizes = [len(model.states[name]) for name in names]
    tensors = []
    for name in names:
        family = (*model.parents[name], name)
        table = np.array([model.tables[name][key] for key in product(*(model.states[p] for p in model.parents[name]))])
        shape = [len(model.states[one]) for one in family]
        order = np.argsort([axes[one] for one in family])
        spread = [sizes[axes[one]] if one in family else 1 for one in names]
        tensors.append((table.reshape(shape).transpose(order).reshape(spread), axes[name]))
    hidden = tuple(axes[name] for name in graph.hidden)
    rows = []
    for at, (tensor, own) in enumerate(tensors):
        others = np.array(1.0)
        for n, (other, _) in enumerate(tensors):
            others = others * other if n != at else others
        without_cause = np.array(1.0)
        for n, (other, _) in enumerate(tensors):
            without_cause = without_cause * other if n not in (at, axes["x"]) else without_cause
        # Shift weight between the first state and each other one, for each combination of the parents.
        firsts = [index for index in np.ndindex(*tensor.shape) if index[own] == 0]
        for index in firsts:
            for state in range(1, tensor.shape[own]):
                change = np.zeros(tensor.shape)
                change[index] = -1
                change[(*index[:own], state, *index[own + 1 :])] = 1
                seen = (change * others + np.zeros(sizes)).sum(axis=hidden).ravel()
                done = np.array(0.0) if at == axes["x"] else change * without_cause + np.zeros(sizes)
                effect = 0.0
                if at != axes["x"]:
                    picked = np.take(np.take(done, [1], axis=axes["x"]), [1], axis=axes["y"])
                    effect = picked.sum()
                rows.append((*seen, effect))
    matrix = np.array(rows)  # how each change moves the observed chances, and the effect
    rank = np.linalg.matrix_rank
    return bool(rank(matrix[:, :-1], tol=1e-9) == rank(matrix, tol=1e-9))
