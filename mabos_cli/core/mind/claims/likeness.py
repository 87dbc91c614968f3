"""What vectors of words tell of two words: how alike they are used, and whether they are opposites."""

from collections.abc import Sequence
from operator import mul
from typing import NamedTuple, Protocol

Vector = Sequence[float]


class WordVectors(Protocol):
    """The vectors of words, of length 1."""

    def __call__(self, words: Sequence[str]) -> Sequence[Vector]:
        """Returns the vector of each word."""


class Opposites(NamedTuple):
    """How opposites are told by word vectors: what is taken off each, directions, and what products and differences along them weigh."""

    centre: Vector
    directions: tuple[Vector, ...]
    products: Vector
    differences: Vector
    bias: float


class WordUse:
    """What is known of words by their vectors."""

    def __init__(self, vectors: WordVectors, opposites: Opposites) -> None:
        self._vectors, self._opposites = vectors, opposites
        self._places: dict[str, tuple[Vector, Vector]] = {}
        self._alike: dict[tuple[str, str], float] = {}

    def _open(self, word: str) -> tuple[Vector, Vector]:
        """Returns the vector of a word about the centre, of length 1, and its places along the directions."""
        if word in self._places:
            return self._places[word]
        known = self._opposites
        moved = [x - y for x, y in zip(self._vectors((word,))[0], known.centre, strict=True)]
        length = _multiply(moved, moved) ** 0.5 or 1.0
        unit = [x / length for x in moved]
        self._places[word] = unit, [_multiply(unit, direction) for direction in known.directions]
        return self._places[word]

    def alike(self, x: str, y: str) -> float:
        """Returns how alike two words are used, -1 to 1."""
        pair = (x, y) if x < y else (y, x)
        if pair not in self._alike:
            self._alike[pair] = _multiply(self._open(x)[0], self._open(y)[0])
        return self._alike[pair]

    def opposed(self, x: str, y: str) -> float:
        """Returns how likely two words are opposites, as the logarithm of the odds."""
        if len(x) > 3 and x[:4] == y[:4]:
            return -2.0
        known, one, two = self._opposites, self._open(x)[1], self._open(y)[1]
        apart = [p - q for p, q in zip(one, two, strict=True)]
        products = _multiply(known.products, [*map(mul, one, two)])
        return products + _multiply(known.differences, [*map(mul, apart, apart)]) + known.bias


def _multiply(x: Vector, y: Vector) -> float:
    return float(sum(map(mul, x, y)))
