"""Facts as a graph: neighbours, paths between nodes, and the nodes that a text is about."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import nsmallest
from itertools import islice
from math import log

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.ontology import TYPE_PREDICATES
from mabos_cli.core.language.text import STOP_WORDS, words
from mabos_cli.core.mind.claims.words import root, roots
from mabos_cli.core.mind.mind import DONE, STALLED, WAITING
from mabos_cli.core.records import NamedTuple

# Values that many things have say nothing about how those hang together: no way leads through them.
_PLAIN = re.compile(
    r"(?i)true|false|yes|no|none|null|unknown|n/?a|[$€£¥]?\s*-?[\d.,]+\s*[%a-z€$£]{0,4}|\d{4}-\d\d(?:-\d\d.*)?"
)
# Looser than what an ontology goes by: a picture may call a thing by what is only its kind.
_TYPES = frozenset(map(str.casefold, TYPE_PREDICATES)) | {"is-a", "kind"}
_DECAY = 0.5  # what a step away from a match is worth
CONCERNS = ("decided", "blocked", "contradicted", "related")
_DECIDING = "decide decision choose approve reject agree adopt select settle"
_DECIDED = frozenset(("decided", "approved", "rejected", "agreed", "accepted", "signed off"))
_BLOCKING = "block wait await prevent impede obstruct stall"
# An idea that names thousands of things, or one that thousands hang on, is followed from the best and so far.
_MOST_NAMED, _MOST_NEAR = 100, 3_000


class Edge(NamedTuple):
    """A fact as a step between two nodes; backwards when it is walked from object to subject."""

    fact: Fact
    backwards: bool

    @property
    def start(self) -> str:
        return self.fact.object if self.backwards else self.fact.subject

    @property
    def end(self) -> str:
        return self.fact.subject if self.backwards else self.fact.object


class Near(NamedTuple):
    """A node that was reached: how many steps away, and the last step."""

    node: str
    hops: int
    edge: Edge


class Match(NamedTuple):
    """Holds what an idea is about: a node, how strongly, its types, the words that named it, and the way from such a node."""

    node: str
    score: float
    types: tuple[str, ...]
    words: tuple[str, ...]
    path: tuple[Edge, ...]


class Graph:
    """Facts by the nodes that they join."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._edges: dict[str, list[Edge]] = {}
        self.facts: list[Fact] = sorted(facts, key=lambda fact: (fact.triple, fact.id))
        for fact in self.facts:
            self._edges.setdefault(fact.subject, []).append(Edge(fact, False))
            self._edges.setdefault(fact.object, []).append(Edge(fact, True))

    def __contains__(self, node: str) -> bool:
        return node in self._edges

    def nodes(self) -> Iterator[str]:
        return iter(self._edges)

    def steps(self, node: str, start: str = "") -> Sequence[Edge]:
        """Returns the steps that lead away from a node; none from a plain value, unless somebody starts there."""
        return () if is_plain(node) and node != start else self._edges.get(node, ())

    def types_of(self, node: str) -> tuple[str, ...]:
        """Returns the types of a node."""
        facts = (e.fact for e in self._edges.get(node, ()) if not e.backwards)
        return tuple(dict.fromkeys(f.object for f in facts if f.predicate.casefold() in _TYPES))


@lru_cache(maxsize=1 << 16)
def is_plain(node: str) -> bool:
    """Returns whether a node is a value, such as a number, a date or a truth, and no thing of its own.

    >>> is_plain("$50,000"), is_plain("2026-02-24"), is_plain("true"), is_plain("acme")
    (True, True, True, False)
    """
    return bool(_PLAIN.fullmatch(node.strip()))


def find_neighbors(graph: Graph, start: str, hops: int) -> list[Near]:
    """Returns the nodes within so many steps of one, nearest first, each with the surest step that led there."""
    seen = {start}
    found: list[Near] = []
    layer = [start]
    for distance in range(1, hops + 1):
        best: dict[str, Edge] = {}
        for node in layer:
            for edge in graph.steps(node, start):
                known = best.get(edge.end)
                if edge.end not in seen and (known is None or edge.fact.confidence > known.fact.confidence):
                    best[edge.end] = edge
        layer = sorted(best)
        seen.update(layer)
        found += [Near(node, distance, best[node]) for node in layer]
    return found


def find_path(graph: Graph, start: str, goal: str, longest: int) -> tuple[Edge, ...] | None:
    """Returns the shortest path between two nodes, in whichever direction facts point, and of several the surest; None if there is none
    of at most `longest` steps."""
    came: dict[str, Edge] = {}
    doubt = {start: 0.0}
    layer = [start]
    while goal not in doubt and layer and longest:
        below: dict[str, float] = {}
        for node in layer:
            for edge in graph.steps(node, start):
                new = doubt[node] - log(max(edge.fact.confidence, 1e-9))
                if edge.end not in doubt and (edge.end not in below or new < below[edge.end]):
                    below[edge.end], came[edge.end] = new, edge
        doubt |= below
        layer, longest = sorted(below, key=below.__getitem__), longest - 1
    steps: list[Edge] = []
    while goal in came and goal != start:
        steps.append(came[goal])
        goal = came[goal].start
    return tuple(reversed(steps)) if goal == start else None


Scored = tuple[
    float, tuple[str, ...], tuple[Edge, ...]
]  # how strongly a text is about a node, the words that name it, and the way to it


def match_idea(graph: Graph, text: str, hops: int, limit: int) -> list[Match]:
    """Returns the nodes that a text is about: those that it names, and those near them; projects and other typed things first
    among equals; all of them with a limit of 0. Each carries the words or the path that justify it."""
    asked = {word for word in words(text) if word not in STOP_WORDS and len(word) > 1}
    named = {}
    for node in graph.nodes():
        node_words = set(name_words(node))
        common = asked & node_words
        if common and not is_plain(node):
            named[node] = (len(common) / len(node_words), tuple(sorted(common)))
    scores: dict[str, Scored] = {}
    best = nsmallest(_MOST_NAMED, named.items(), key=lambda pair: (-pair[1][0], pair[0]))
    for node, (share, shared) in best:
        _spread(graph, node, share, shared, hops, scores)
    found = [
        Match(node, round(score, 4), graph.types_of(node), common, path)
        for node, (score, common, path) in scores.items()
        if not is_plain(node)
    ]
    return sorted(found, key=lambda m: (-m.score, not m.types, m.node))[: limit or None]


def _spread(
    graph: Graph, start: str, share: float, common: tuple[str, ...], hops: int, scores: dict[str, Scored]
) -> None:
    """Adds what a named node is worth to itself and to its neighbourhood; a step to a node with many neighbours is worth less."""
    ways: dict[str, tuple[float, tuple[Edge, ...]]] = {start: (share, ())}
    layer = [start]
    for _ in range(hops + 1):
        below: list[str] = []
        for node in layer:
            worth, path = ways[node]
            total, named, best = scores.get(node, (0.0, (), path))
            scores[node] = (total + worth, common if not path else named, min(best, path, key=len))
            for edge in islice(graph.steps(node), max(0, _MOST_NEAR - len(ways))):
                if edge.end not in ways and not is_plain(edge.end):
                    fan = 1 + log(1 + len(graph.steps(edge.end)))
                    ways[edge.end] = (worth * edge.fact.confidence * _DECAY / fan, (*path, edge))
                    below.append(edge.end)
        layer = below


def name_words(node: str) -> list[str]:
    """Returns the words in the name of a node: `SessionStore`, `session-store` and `session store` have the same.

    >>> name_words("SessionStore v2")
    ['session', 'store', 'v2']
    """
    return words(re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_\-/.:]+", " ", node))


class Concern(NamedTuple):
    """A fact to know before work on something: decided, blocked, contradicted or related; the way to it, and the fact that
    contradicts it."""

    kind: str
    fact: Fact
    path: tuple[Edge, ...] = ()
    against: Fact | None = None


def find_concerns(
    graph: Graph, starts: Iterable[str], hops: int, rivals: Iterable[tuple[Fact, Fact]] = ()
) -> list[Concern]:
    """Returns the facts within so many steps of some things by what they mean for work on these, the nearest first; `rivals`
    are facts that contradict each other. No way leads through a class: what is of one kind need not be related."""
    against = {fact.id: other for one, two in rivals for fact, other in ((one, two), (two, one))}
    ways: dict[str, tuple[Edge, ...]] = dict.fromkeys(starts, ())
    found: dict[str, Concern] = {}
    layer = [*ways]
    for distance in range(hops):
        below: list[str] = []
        for node in layer:
            for edge in islice(graph.steps(node, node if not distance else ""), max(0, _MOST_NEAR - len(found))):
                fact, is_type = edge.fact, edge.fact.predicate.casefold() in _TYPES
                kind = "contradicted" if fact.id in against else "related" if is_type else _meaning(graph, fact)
                if not (distance and (is_plain(edge.end) or is_type) and kind == "related") and not (
                    is_type and edge.backwards
                ):
                    found.setdefault(fact.id, Concern(kind, fact, ways[node], against.get(fact.id)))
                if edge.end not in ways and not is_type and not is_plain(edge.end):
                    ways[edge.end] = (*ways[node], edge)
                    below.append(edge.end)
        layer = below
    return sorted(found.values(), key=lambda one: (CONCERNS.index(one.kind), len(one.path), -one.fact.confidence))


def _meaning(graph: Graph, fact: Fact) -> str:
    """Returns what a fact means for work: by the words of its predicate, the state of its object, or the types of its ends."""
    predicate_roots = {root(word) for word in name_words(fact.predicate)}
    state = fact.object.casefold()
    ends = {kind.casefold() for node in (fact.subject, fact.object) for kind in graph.types_of(node)}
    if predicate_roots & roots(_BLOCKING) or state in STALLED | WAITING:
        is_over = any(step.fact.object.casefold() in DONE for step in graph.steps(fact.object) if not step.backwards)
        return "related" if is_over else "blocked"
    return "decided" if predicate_roots & roots(_DECIDING) or state in _DECIDED or "decision" in ends else "related"
