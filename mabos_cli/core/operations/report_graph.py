"""Draws the graph of facts: the best connected entities as boxes that do not overlap, and lines between them.

The layout is a force model in plain arithmetic from a fixed start, so that the same facts give the same picture."""

from collections.abc import Iterable, Sequence
from math import cos, sin, sqrt
from typing import NamedTuple
from unicodedata import east_asian_width

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.graph import is_plain
from mabos_cli.core.operations.report_memory import Cut, cut, shown

_NODES, _LINES, _FACTS = 60, 240, 4
HUB = 8  # neighbours from which an entity stands out
_LABEL, _LETTER, _HEIGHT = 26, 7.2, 24  # characters of a label, width of a usual one, height of a box
_WIDE = 1.8  # of scripts whose letters fill a square
_CELLS = (
    dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ", 1.2)
    | dict.fromkeys("mwMW@%—…", 1.5)
    | dict.fromkeys("filjrtI.,:;'|!()[] ", 0.65)
)
_GAP_X, _GAP_Y = 10, 12
_STEPS, _STRETCH = 180, 1.6  # boxes are wide: so is the room
_IDEAL, _MIDDLE = 74.0, 0.5  # the distance that suits two linked centres, and how strongly the middle pulls
_TURN = 2.399963  # the golden angle: points on a spiral that are nowhere close


class Box(NamedTuple):
    """An entity: its label, how many others it is connected with, and its box around a centre."""

    label: str
    links: int
    x: int
    y: int
    width: int


class Line(NamedTuple):
    """What is said between two boxes, given by their numbers; untrusted when nobody vouches for any of it."""

    start: int
    end: int
    facts: Cut[str]
    untrusted: bool


class Picture(NamedTuple):
    """The boxes and lines of a graph, and how much is left out: entities, lines, and facts about values."""

    boxes: tuple[Box, ...] = ()
    lines: Cut[Line] = Cut()
    width: int = 0
    height: int = 0
    others: int = 0
    values: int = 0


Pair = tuple[str, str]


def draw_graph(facts: Iterable[Fact], most: int = _NODES) -> Picture:
    """Draws some facts. What is said of plain values, such as a price, is no line; it is counted."""
    pairs: dict[Pair, list[Fact]] = {}
    values = 0
    for fact in sorted(facts, key=lambda fact: (fact.triple, fact.id)):
        if fact.subject == fact.object or is_plain(fact.subject) or is_plain(fact.object):
            values += 1
        else:
            pairs.setdefault((min(fact.subject, fact.object), max(fact.subject, fact.object)), []).append(fact)
    degrees: dict[str, int] = {}
    for pair in pairs:
        for name in pair:
            degrees[name] = degrees.get(name, 0) + 1
    names = _best(pairs, degrees, most)
    if not names:
        return Picture(values=values)
    numbers = {name: number for number, name in enumerate(names)}
    shown_pairs = [pair for pair in pairs if pair[0] in numbers and pair[1] in numbers]
    labels = [shown(name, _LABEL) for name in names]
    widths = [_width(label, degrees[name]) for label, name in zip(labels, names, strict=True)]
    places = lay_out(widths, [(numbers[a], numbers[b]) for a, b in shown_pairs])
    boxes = tuple(
        Box(label, degrees[name], x, y, width)
        for label, name, (x, y), width in zip(labels, names, places, widths, strict=True)
    )
    lines = cut((_line(pairs[pair], numbers) for pair in shown_pairs), _LINES)
    return Picture(boxes, lines, *_frame(boxes), len(degrees) - len(names), values)


def _best(pairs: dict[Pair, list[Fact]], degrees: dict[str, int], most: int) -> list[str]:
    """Returns the best connected entities, most connected first; chosen line by line, so that nobody stands alone."""
    ranked = sorted(pairs, key=lambda p: (-min(degrees[p[0]], degrees[p[1]]), -max(degrees[p[0]], degrees[p[1]]), p))
    chosen: dict[str, None] = {}
    for pair in ranked:
        if len({*chosen, *pair}) <= most:
            chosen |= dict.fromkeys(pair)
        if len(chosen) == most:
            break
    return sorted(chosen, key=lambda name: (-degrees[name], name))


def _width(label: str, links: int) -> int:
    """Estimates the width of a label, rather too wide: it depends on the reader's fonts."""
    cells = sum(_WIDE if east_asian_width(letter) in "WF" else _CELLS.get(letter, 1.0) for letter in label)
    return round(_LETTER * cells * (1.1 if links >= HUB else 1)) + 18


def _line(facts: Sequence[Fact], numbers: dict[str, int]) -> Line:
    texts = [f"{shown(f.subject, 60)} {shown(f.predicate, 40)} {shown(f.object, 60)}" for f in facts]
    first = facts[0]
    untrusted = all(fact.trust == "untrusted" for fact in facts)
    return Line(numbers[first.subject], numbers[first.object], cut(dict.fromkeys(texts), _FACTS), untrusted)


def lay_out(widths: Sequence[int], links: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Centres for boxes of some widths: linked ones near each other, none over another."""
    count = len(widths)
    reach = _IDEAL / 2 * sqrt(count)
    # Rounded: sines differ in their last digits from one machine to another, and all that follows is exact.
    xs = [float(round(reach * sqrt(n / count) * cos(n * _TURN))) for n in range(count)]
    ys = [float(round(reach * sqrt(n / count) * sin(n * _TURN))) for n in range(count)]
    for step in range(_STEPS):
        _settle(xs, ys, links, reach / 4 * (1 - step / _STEPS) + 0.5)
        xs, ys = ([max(-reach, min(reach, place)) for place in places] for places in (xs, ys))
    xs = [_STRETCH * x for x in xs]
    _part(xs, ys, widths)
    left = min(x - width / 2 for x, width in zip(xs, widths, strict=True))
    top = min(ys)
    return [(round(x - left) + 4, round(y - top) + 4 + _HEIGHT // 2) for x, y in zip(xs, ys, strict=True)]


def _settle(xs: list[float], ys: list[float], links: Sequence[tuple[int, int]], most: float) -> None:
    """Moves every centre by the forces on it, at most so far: all push each other away, links and the middle pull."""
    count = len(xs)
    fx, fy = [-_MIDDLE * x for x in xs], [-_MIDDLE * y for y in ys]
    for i in range(count):
        for j in range(i + 1, count):
            dx, dy = xs[i] - xs[j], ys[i] - ys[j]
            push = _IDEAL * _IDEAL / (dx * dx + dy * dy + 0.01)
            fx[i] += dx * push
            fy[i] += dy * push
            fx[j] -= dx * push
            fy[j] -= dy * push
    for i, j in links:
        dx, dy = xs[i] - xs[j], ys[i] - ys[j]
        pull = sqrt(dx * dx + dy * dy) / _IDEAL
        fx[i] -= dx * pull
        fy[i] -= dy * pull
        fx[j] += dx * pull
        fy[j] += dy * pull
    for n in range(count):
        length = sqrt(fx[n] * fx[n] + fy[n] * fy[n])
        share = min(1.0, most / length) if length else 0.0
        xs[n] += fx[n] * share
        ys[n] += fy[n] * share


def _part(xs: list[float], ys: list[float], widths: Sequence[int]) -> None:
    """Pushes boxes apart until none overlap; where pushing goes in circles, everything is drawn wider."""
    for turn in range(400):
        moved = False
        for i in range(len(xs)):
            for j in range(i + 1, len(xs)):
                over_x = (widths[i] + widths[j]) / 2 + _GAP_X - abs(xs[i] - xs[j])
                over_y = _HEIGHT + _GAP_Y - abs(ys[i] - ys[j])
                if over_x <= 0.01 or over_y <= 0.01:
                    continue
                moved = True
                axis, over = (xs, over_x) if over_x < over_y else (ys, over_y)
                sign = 1 if axis[i] > axis[j] else -1
                axis[i] += sign * (over / 2 + 0.5)
                axis[j] -= sign * (over / 2 + 0.5)
        if not moved:
            return
        if turn > 60:
            xs[:] = [1.02 * x for x in xs]
            ys[:] = [1.02 * y for y in ys]


def _frame(boxes: Sequence[Box]) -> tuple[int, int]:
    width = max(round(box.x + box.width / 2) for box in boxes)
    return width + 5, max(box.y for box in boxes) + _HEIGHT // 2 + 5
