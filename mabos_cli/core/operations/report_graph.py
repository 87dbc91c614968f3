"""Draws the graph of facts: the best connected entities as boxes that do not overlap, and lines between them.

The layout is a force model from a fixed start, so that the same facts give the same picture."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import cos, sin, sqrt
from typing import NamedTuple
from unicodedata import east_asian_width

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.graph import is_plain
from mabos_cli.core.operations.report import shown

_NODES, _LINES = 60, 240
HUB = 8  # neighbours from which an entity is highlighted
_LABEL, _LETTER, _HEIGHT = 26, 7.2, 24  # characters of a label, width of a usual one, height of a box
_WIDE = 1.8  # factor for scripts with square letters
_CELLS = (
    dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ", 1.2)
    | dict.fromkeys("mwMW@%—…", 1.5)
    | dict.fromkeys("filjrtI.,:;'|!()[] ", 0.65)
)
_GAP_X, _GAP_Y = 10, 12
_STEPS, _STRETCH = 180, 1.6  # boxes are wider than high
_IDEAL, _MIDDLE = 74.0, 0.5  # distance between two linked centres, and the pull of the middle
_TURN = 2.399963  # the golden angle: points on a spiral that keep their distance


class Box(NamedTuple):
    """An entity: its name and label, the number of its neighbours, and its box around a centre."""

    name: str
    label: str
    links: int
    x: int
    y: int
    width: int


class Line(NamedTuple):
    """The facts that join two boxes, given by their numbers."""

    start: int
    end: int
    facts: Sequence[Fact]


class Picture(NamedTuple):
    """The boxes and lines of a graph, and its size."""

    boxes: Sequence[Box] = ()
    lines: Sequence[Line] = ()
    width: int = 0
    height: int = 0


Pair = tuple[str, str]


def draw_graph(facts: Iterable[Fact], most: int = _NODES) -> Picture:
    """Draws the best connected entities of some facts. Facts about plain values, such as a price, are left out."""
    pairs: dict[Pair, list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: (fact.triple, fact.id)):
        if fact.subject != fact.object and not is_plain(fact.subject) and not is_plain(fact.object):
            pairs.setdefault((min(fact.subject, fact.object), max(fact.subject, fact.object)), []).append(fact)
    degrees = Counter(name for pair in pairs for name in pair)
    names = _best(pairs, degrees, most)
    if not names:
        return Picture()
    numbers = {name: number for number, name in enumerate(names)}
    chosen = [found for pair, found in pairs.items() if pair[0] in numbers and pair[1] in numbers][:_LINES]
    lines = [Line(numbers[found[0].subject], numbers[found[0].object], found) for found in chosen]
    labels = [shown(name, _LABEL) for name in names]
    widths = [_width(label, degrees[name]) for label, name in zip(labels, names, strict=True)]
    places = lay_out(widths, [(line.start, line.end) for line in lines])
    boxes = [
        Box(name, label, degrees[name], x, y, width)
        for name, label, (x, y), width in zip(names, labels, places, widths, strict=True)
    ]
    width = max(round(box.x + box.width / 2) for box in boxes) + 5
    return Picture(boxes, lines, width, max(box.y for box in boxes) + _HEIGHT // 2 + 5)


def _best(pairs: dict[Pair, list[Fact]], degrees: Mapping[str, int], most: int) -> list[str]:
    """Returns the best connected entities, most connected first; chosen by lines, so that each has a neighbour."""
    ranked = sorted(pairs, key=lambda p: (-min(degrees[p[0]], degrees[p[1]]), -max(degrees[p[0]], degrees[p[1]]), p))
    chosen: dict[str, None] = {}
    for pair in ranked:
        if len({*chosen, *pair}) <= most:
            chosen |= dict.fromkeys(pair)
        if len(chosen) == most:
            break
    return sorted(chosen, key=lambda name: (-degrees[name], name))


def _width(label: str, links: int) -> int:
    """Estimates the width of a label, rather too wide, because fonts differ."""
    cells = sum(_WIDE if east_asian_width(letter) in "WF" else _CELLS.get(letter, 1.0) for letter in label)
    return round(_LETTER * cells * (1.1 if links >= HUB else 1)) + 18


def lay_out(widths: Sequence[int], links: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns centres for boxes of some widths: linked ones are close, and none overlap."""
    count = len(widths)
    reach = _IDEAL / 2 * sqrt(count)
    # Rounded, because sines differ in their last digits between machines.
    angles = ((reach * sqrt(n / count), n * _TURN) for n in range(count))
    points = [complex(round(radius * cos(angle)), round(radius * sin(angle))) for radius, angle in angles]
    for step in range(_STEPS):
        _settle(points, links, reach / 4 * (1 - step / _STEPS) + 0.5)
        points = [complex(*(max(-reach, min(reach, place)) for place in (p.real, p.imag))) for p in points]
    points = [complex(_STRETCH * p.real, p.imag) for p in points]
    _part(points, widths)
    left = min(p.real - width / 2 for p, width in zip(points, widths, strict=True))
    top = min(p.imag for p in points)
    return [(round(p.real - left) + 4, round(p.imag - top) + 4 + _HEIGHT // 2) for p in points]


def _settle(points: list[complex], links: Sequence[tuple[int, int]], most: float) -> None:
    """Moves every centre by its forces, limited to `most`: all repel each other, links and the middle attract."""
    forces = [-_MIDDLE * p for p in points]
    for i, j in combinations(range(len(points)), 2):
        way = points[i] - points[j]
        push = way * (_IDEAL * _IDEAL / (way.real * way.real + way.imag * way.imag + 0.01))
        forces[i] += push
        forces[j] -= push
    for i, j in links:
        pull = (points[i] - points[j]) * (_length(points[i] - points[j]) / _IDEAL)
        forces[i] -= pull
        forces[j] += pull
    for n, force in enumerate(forces):
        length = _length(force)
        points[n] += force * min(1.0, most / length) if length else 0


def _length(way: complex) -> float:
    """Returns the length of a vector; abs() may differ in its last digit between machines."""
    return sqrt(way.real * way.real + way.imag * way.imag)


def _part(points: list[complex], widths: Sequence[int]) -> None:
    """Pushes boxes apart until none overlap; if that does not end, the picture is stretched."""
    for turn in range(400):
        moved = False
        for i, j in combinations(range(len(points)), 2):
            way = points[i] - points[j]
            over_x = (widths[i] + widths[j]) / 2 + _GAP_X - abs(way.real)
            over_y = _HEIGHT + _GAP_Y - abs(way.imag)
            if over_x > 0.01 and over_y > 0.01:
                moved = True
                if over_x < over_y:
                    push = complex((over_x / 2 + 0.5) * (1 if way.real > 0 else -1), 0)
                else:
                    push = complex(0, (over_y / 2 + 0.5) * (1 if way.imag > 0 else -1))
                points[i] += push
                points[j] -= push
        if not moved:
            return
        if turn > 60:
            points[:] = [1.02 * p for p in points]
