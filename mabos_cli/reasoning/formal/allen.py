"""Allen's thirteen relations between intervals. A set of them is a whole number with a bit for each; how two compose is worked out
from the orders of their ends."""

import re
from functools import cache, lru_cache
from itertools import combinations, product

from mabos_cli.core import BadValue
from mabos_cli.reasoning.bit_sets import bits

# How start with start, start with end, end with start and end with end of two intervals compare.
ENDS = ((0, 0), (0, 1), (1, 0), (1, 1))
SIGNS = {
    "before": "<<<<",
    "meets": "<<=<",
    "overlaps": "<<><",
    "finished-by": "<<>=",
    "contains": "<<>>",
    "starts": "=<><",
    "equals": "=<>=",
    "started-by": "=<>>",
    "during": "><><",
    "finishes": "><>=",
    "overlapped-by": "><>>",
    "met-by": ">=>>",
    "after": ">>>>",
}
NAMES = tuple(SIGNS)
ALL = (1 << len(NAMES)) - 1
_BIT = {name: 1 << n for n, name in enumerate(NAMES)}
_FLIP = {"<": ">", "=": "=", ">": "<"}
_SHORT = dict(zip("b m o fi di s eq si d f oi mi bi".split(), NAMES, strict=True))
_MORE = {
    "precedes": "before",
    "follows": "after",
    "equal": "equals",
    "=": "equals",
    "<": "before",
    ">": "after",
    "disjoint": "before|after|meets|met-by",
    "within": "during|starts|finishes|equals",
    "any": "|".join(NAMES),
}


def parse_relations(said: str, place: str) -> int:
    """The set of relations that words name, as in `before|meets`.

    >>> relation_names(parse_relations("met by or after", "relations[1]"))
    ('met-by', 'after')
    """
    found = 0
    for word in re.split(r"\s*(?:\||,|\bor\b)\s*", said.strip().strip("(){}").lower()):
        name = re.sub(r"[\s_]+", "-", word.strip())
        name = _SHORT.get(name, _MORE.get(name, name))
        for one in name.split("|"):
            if one not in _BIT:
                raise BadValue(
                    f"{place}: unknown relation {word[:40]!r}", f"known: {', '.join(NAMES)}, disjoint, within"
                )
            found |= _BIT[one]
    return found


def relation_names(found: int) -> tuple[str, ...]:
    """The names of a set of relations."""
    return tuple(name for n, name in enumerate(NAMES) if found >> n & 1)


def relation_between(a: tuple[float, float], b: tuple[float, float]) -> str:
    """How two intervals with known ends lie to each other.

    >>> relation_between((1, 3), (3, 4))
    'meets'
    """
    signs = "".join("<" if a[i] < b[j] else ">" if a[i] > b[j] else "=" for i, j in ENDS)
    return next(name for name, known in SIGNS.items() if known == signs)


@lru_cache(maxsize=1 << 14)
def converse(found: int) -> int:
    """The relations of the second interval to the first."""
    # Turned around, start with end and end with start change places.
    turned = (_FLIP[s[0]] + _FLIP[s[2]] + _FLIP[s[1]] + _FLIP[s[3]] for s in (SIGNS[n] for n in relation_names(found)))
    by_signs = {signs: _BIT[name] for name, signs in SIGNS.items()}
    return sum(by_signs[signs] for signs in turned)


@cache
def _table() -> tuple[tuple[int, ...], ...]:
    """The composition of each two relations, from all orders of the ends of three intervals."""
    found = [[0] * len(NAMES) for _ in NAMES]
    spans = list(combinations(range(6), 2))
    between = {pair: NAMES.index(relation_between(*pair)) for pair in product(spans, repeat=2)}
    for a, b, c in product(spans, repeat=3):
        found[between[a, b]][between[b, c]] |= 1 << between[a, c]
    return tuple(map(tuple, found))


@lru_cache(maxsize=1 << 16)
def compose(first: int, second: int) -> int:
    """The relations that a may have to c, if a has one of the first to b, and b one of the second to c."""
    table, found = _table(), 0
    for one in bits(first):
        for other in bits(second):
            found |= table[one][other]
    return found


def tighten(labels: list[list[int]]) -> tuple[int, int, int] | None:
    """Drop what no third interval allows, in place, until all triangles agree; the first triangle that cannot, or None."""
    size = len(labels)
    waiting = {(a, b): None for a in range(size) for b in range(size) if a != b and labels[a][b] != ALL}
    while waiting:
        a, b = next(iter(waiting))
        del waiting[a, b]
        for c in range(size):
            if c in (a, b):
                continue
            for i, j, through in ((a, c, b), (c, b, a)):
                less = labels[i][j] & compose(labels[i][through], labels[through][j])
                if less != labels[i][j]:
                    if not less:
                        return i, through, j
                    labels[i][j], labels[j][i] = less, converse(less)
                    waiting[i, j] = None
    return None


@lru_cache(maxsize=1 << 14)
def hull(found: int) -> tuple[str, ...] | None:
    """For each pair of ends, how they may compare, if that says no more and no less than the relations do; else None."""
    signs = [SIGNS[name] for name in relation_names(found)]
    sides = tuple("".join(sorted({one[n] for one in signs})) for n in range(4))
    if "<>" in sides:
        return None
    allowed = sum(_BIT[name] for name, one in SIGNS.items() if all(one[n] in sides[n] for n in range(4)))
    return sides if allowed == found else None


@lru_cache(maxsize=1 << 14)
def convex_parts(found: int) -> tuple[int, ...]:
    """The set as few sets that comparisons of ends can express: a choice between these is all that is left to try."""
    parts = []
    while found:
        part = 0
        for one in bits(found):
            if hull(part | 1 << one) is not None:
                part |= 1 << one
        parts.append(part)
        found &= ~part
    return tuple(parts)
