"""Two claims laid over each other word by word, and every way in which they might exclude each other, described by numbers.

Words are aligned by their roots, by opposites and by how alike they are used (`WordUse`). A way is one thing in which
the claims differ: a number, a date, how often, a value, or whether it is so at all. What describes it says how much of the rest both
have in common. A linear model weighs that: `benchmarks/conflict_training.py` fits it to labelled pairs of beliefs of several writers.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import mul
from typing import NamedTuple, Protocol, TypeVar

from mabos_cli.core.language.quantities import FREQUENCY, Quantity, can_agree
from mabos_cli.core.mind.claims.claim import Claim, subject_words
from mabos_cli.core.mind.claims.disagreement import LEFT_OUT, is_about_all, is_other_time
from mabos_cli.core.mind.claims.moments import Moment, same_time
from mabos_cli.core.mind.claims.words import (
    compare_words,
    denies,
    head_word,
    is_same_event,
    is_single,
    root,
    word_class,
)

Vector = Sequence[float]
T = TypeVar("T", Quantity, Moment)
_LONG = 14  # more words make no difference
_ALIKE, _CLOSE, _SAME = 0.3, 0.75, 0.9
_PARTIAL = frozenset("most many some several few often usually mostly mainly average".split())
_ONLY = frozenset("only just exclusively solely".split())
_ALSO = frozenset("also too besides another additionally".split())
_PAST = frozenset("was were had did ago until formerly yesterday".split())
_CONDITION = frozenset("if unless when whenever whoever while except".split())
_LEADS = frozenset("is are be by with in on from of to at per for as via under called".split())
_MARK = re.compile("[\ue000-\uf8ff]")

_STEPS = (0.5, 0.7, 0.85)  # where the part of a claim that is covered counts anew
_SHARP = ("least left", "most left", "least names", "most names")
# What counts for each kind of way apart.
_OWN: tuple[str, ...] = (*_SHARP, "least covered", "first left", "first", "shared", "one subject", "numbers", "moments")
_OWN += ("least heading word",)


class WordVectors(Protocol):
    """The vectors of words, of length 1."""

    def __call__(self, words: Sequence[str]) -> Sequence[Vector]:
        """Returns the vector of each word."""


class WordUse:
    """How words are used, as their vectors tell; the centre of all is taken off each."""

    def __init__(self, vectors: WordVectors, centre: Vector) -> None:
        self._vectors, self._centre = vectors, centre
        self._units: dict[str, Vector] = {}

    def alike(self, x: str, y: str) -> float:
        """Returns how alike two words are used, -1 to 1."""
        return sum(map(mul, self._unit(x), self._unit(y)), 0.0)

    def _unit(self, word: str) -> Vector:
        if word not in self._units:
            moved = [x - y for x, y in zip(self._vectors((word,))[0], self._centre, strict=True)]
            length = sum(map(mul, moved, moved), 0.0) ** 0.5 or 1.0
            self._units[word] = [x / length for x in moved]
        return self._units[word]


class Word(NamedTuple):
    """A word of a claim or of its heading: as it is written, its root, how much it counts, and its place; -1 in a heading."""

    text: str
    root: str
    weight: float
    at: int = -1
    is_name: bool = False


class Side(NamedTuple):
    """A claim with its words, and the words of the heading that it stands under."""

    claim: Claim
    words: tuple[Word, ...]
    heading: tuple[Word, ...]
    subject: str

    @property
    def all(self) -> tuple[Word, ...]:
        """Returns the words of the claim and of its heading."""
        return self.words + self.heading


class Way(NamedTuple):
    """One thing in which two claims differ: its kind, and what describes it."""

    kind: str
    numbers: dict[str, float]


def open_side(claim: Claim, subject: str) -> Side:
    """Returns a claim as it is laid over another one."""
    places: dict[str, int] = {}
    for at, word in enumerate(claim.words):
        places.setdefault(word, at)
    dull = word_class("weak") | word_class("measuring")
    found = [
        Word(text.casefold(), term, 0.4 if term in dull else 1.0, places.get(text.casefold(), 0))
        for term, text in claim.terms.items()
    ]
    for name in claim.names:
        found += [Word(part, root(part), 2.0, name.at, True) for part in re.findall(r"[^\W_]+", name.key)]
    heading = [Word(word, root(word), 1.0) for word in subject_words(subject)]
    return Side(claim, tuple(sorted(found, key=lambda word: word.at)), tuple(heading), subject)


class Overlay:
    """Two sides with the best partner of each word among all words of the other side."""

    def __init__(self, a: Side, b: Side, lexicon: WordUse) -> None:
        self.a, self.b, self._lexicon = a, b, lexicon
        self.near = ({x: self._best(x, b.all) for x in a.all}, {y: self._best(y, a.all) for y in b.all})
        self.left = tuple(
            [word for word in side.words if near[word] < _ALIKE] for side, near in zip((a, b), self.near, strict=True)
        )

    def _best(self, word: Word, others: Sequence[Word]) -> float:
        return max((self.alike(word, other) for other in others), default=0.0)

    def alike(self, x: Word, y: Word) -> float:
        """Returns how much two words say the same, opposites included: they are about one thing."""
        if x.root == y.root or x.text == y.text:
            return 1.0
        how = compare_words(x.root, y.root)[0]
        if how:
            return {"same": 0.95, "opposed": 0.8}.get(how, 0.5)
        if is_same_event(x.root, y.root):
            return 0.8
        return max(0.0, self._lexicon.alike(x.text, y.text))

    def ways(self) -> Iterator[Way]:
        """Yields each way in which the claims might exclude each other."""
        a, b = self.a.claim, self.b.claim
        if LEFT_OUT & {*a.words, *b.words}:
            return
        rates, plain = (
            [[q for q in claim.quantities if (q.unit == FREQUENCY) is is_rate] for claim in (a, b)]
            for is_rate in (True, False)
        )
        numbers, often = (_find_apart(one, two, can_agree) for one, two in (plain, rates))
        dates = _find_apart(a.moments, b.moments, same_time)
        counts = {"other number": len(numbers), "other frequency": len(often), "other date": len(dates)}
        common = self._describe() | {name: float(count) for name, count in counts.items()}
        for kind, found in (("number", numbers), ("frequency", often)):
            for x, y in found[:1]:
                own = self._describe_number(x, y) | {f"other {kind}": len(found) - 1.0}
                yield self._way(kind, (), common | own)
        for first, second in dates[:1]:
            own = self._describe_date(first, second) | {"other date": len(dates) - 1.0}
            yield self._way("date", (), common | own)
        if value := self._find_value():
            yield self._way("value", value, common | self._describe_value(*value))
        pole = self._describe_poles()
        if (pole["parity"] or pole["all one side"]) and self._holds_for_all():
            yield self._way("negation", (), common | pole)

    def _way(self, kind: str, taken: Sequence[Word], numbers: dict[str, float]) -> Way:
        """Returns a way with how much the rest of both claims has in common."""
        covered, left, names = [], [], []
        for side, near in zip((self.a, self.b), self.near, strict=True):
            rest = [word for word in side.words if word not in taken]
            total = sum(word.weight for word in rest)
            covered.append(sum(word.weight * near[word] for word in rest) / total if total else 1.0)
            left.append(sum(word.weight for word in rest if near[word] < _ALIKE))
            names.append(float(sum(word.is_name and near[word] < _SAME for word in rest)))
        told = {"covered": covered, "left": left, "names": names}
        numbers = numbers | {
            f"{word} {name}": value
            for name, pair in told.items()
            for word, value in zip(("least", "most"), sorted(pair), strict=True)
        }
        return Way(kind, numbers)

    def _describe(self) -> dict[str, float]:
        """Returns what describes the two claims, whatever differs."""
        a, b = self.a.claim, self.b.claim
        roots = [{word.root for word in side.all} for side in (self.a, self.b)]
        texts = [{word.root for word in side.words} for side in (self.a, self.b)]
        heads = [[near[word] for word in side.heading] for side, near in zip((self.a, self.b), self.near, strict=True)]
        names = [{word.root for word in side.words if word.is_name} for side in (self.a, self.b)]
        words = [{*claim.words} for claim in (a, b)]
        firsts = [side.words[0] for side in (self.a, self.b) if side.words]
        contrasts = [how for x, y, how in self._opposites()]
        told = {
            "contrasts": len(contrasts),
            "shared": len(roots[0] & roots[1]),
            "shared in text": len(texts[0] & texts[1]),
            "shared names": len(names[0] & roots[1] | names[1] & roots[0]),
            "one subject": self.a.subject.casefold() == self.b.subject.casefold(),
            "hedged": a.hedged or b.hedged,
            "modes": len(a.modes ^ b.modes),
            "cues": len(a.cues ^ b.cues),
            "over": len(a.over | b.over),
            "relations": len(a.relations ^ b.relations),
            "partial": bool(_PARTIAL & words[0]) + bool(_PARTIAL & words[1]),
            "condition": bool(_CONDITION & words[0]) != bool(_CONDITION & words[1]),
            "past": bool(_PAST & words[0]) != bool(_PAST & words[1]),
            "also": bool(_ALSO & (words[0] | words[1])),
            "other time": is_other_time(a, b),
            "moments": bool(a.moments) != bool(b.moments),
            "numbers": abs(len(a.quantities) - len(b.quantities)),
            "longest": min(_LONG, max(len(a.words), len(b.words))),
            "first": self.alike(*firsts) if len(firsts) == 2 else 0.5,
            "first left": sum(
                bool(left) and left[0] is side.words[0] for side, left in zip((self.a, self.b), self.left, strict=True)
            ),
        }
        covered = sorted(sum(each) / len(each) if each else 1.0 for each in heads)
        return {name: float(value) for name, value in told.items()} | {
            "least heading": covered[0],
            "most heading": covered[1],
            "least heading word": min(map(min, filter(None, heads)), default=1.0),
        }

    def _describe_number(self, x: Quantity, y: Quantity) -> dict[str, float]:
        """Returns what describes two numbers: whether they count the same, in which unit, and as bounds."""
        counted = [_counted(side, number) for side, number in ((self.a, x), (self.b, y))]
        alike = self.alike(counted[0], counted[1]) if counted[0] and counted[1] else 0.4
        sizes = sorted(abs(each.low if each.high == float("inf") else each.high) for each in (x, y))
        return {
            "unit": float(bool(x.unit)),
            "time": float(x.unit == "time"),
            "bound": float(bool(x.bound) + bool(y.bound)),
            "same bound": float(x.bound == y.bound),
            "counted": alike,
            "ratio": sizes[0] / sizes[1] if sizes[1] else 0.0,
        }

    def _describe_date(self, x: Moment, y: Moment) -> dict[str, float]:
        """Returns what describes two points in time: how fine they are, and where they stand."""
        return {
            "year": float(x.year != -1 and y.year != -1),
            "weekday": float(x.weekday != -1 and y.weekday != -1),
            "clock": float(x.minute != -1 and y.minute != -1),
            "season": float(x.season != -1 or y.season != -1),
            "leading": float(x.at <= 1) + float(y.at <= 1),
        }

    def _find_value(self) -> tuple[Word, Word] | None:
        """Returns the words without a partner that most likely stand in one place."""
        left = [
            [w for w in side.words if near[w] < (_SAME if w.is_name else 0.6)]
            for side, near in zip((self.a, self.b), self.near, strict=True)
        ]
        pairs = [
            (x, y)
            for x in left[0]
            for y in left[1]
            if compare_words(x.root, y.root)[0] in ("", "excluded")
            and ((x.is_name and y.is_name) or (_lead(self.a.claim, x) in _LEADS and _lead(self.b.claim, y) in _LEADS))
        ]
        return max(pairs, key=lambda pair: self._place(*pair), default=None)

    def _place(self, x: Word, y: Word) -> float:
        same = _lead(self.a.claim, x) == _lead(self.b.claim, y)
        return self.alike(x, y) + 0.6 * (x.is_name and y.is_name) + 0.3 * same

    def _describe_value(self, x: Word, y: Word) -> dict[str, float]:
        """Returns what describes two words in one place."""
        leads = [_lead(side.claim, word) for side, word in ((self.a, x), (self.b, y))]
        sizes = [max(1, len(side.claim.words) - 1) for side in (self.a, self.b)]
        return {
            "alike": self.alike(x, y),
            "named": float(x.is_name) + float(y.is_name),
            "same lead": float(leads[0] == leads[1]),
            "by or is": float(sum(lead in ("by", "is", "are", "be") for lead in leads)),
            "at start": float(x.at <= 1) + float(y.at <= 1),
            "at end": float(x.at >= sizes[0]) + float(y.at >= sizes[1]),
            "single": float(is_single(head_word(self.a.subject))) + float(is_single(head_word(self.b.subject))),
        }

    def _poles(self) -> list[bool]:
        """Returns for each claim whether it denies, by a negation or by a word that the other does not have."""
        found = []
        for side, near in zip((self.a, self.b), self.near, strict=True):
            denied = sum(denies(word.root) for word in side.words if near[word] < _SAME)
            found.append(side.claim.negative ^ bool(denied % 2))
        return found

    def _opposites(self) -> list[tuple[Word, Word, tuple[str, bool]]]:
        both = [(x, y, compare_words(x.root, y.root)) for x in self.a.words for y in self.b.words if x.root != y.root]
        return [each for each in both if each[2][0] in ("opposed", "excluded")]

    def _describe_poles(self) -> dict[str, float]:
        a, b = self.a.claim, self.b.claim
        poles, opposed = self._poles(), self._opposites()
        strict = sum(how == ("opposed", False) and not (denies(x.root) or denies(y.root)) for x, y, how in opposed)
        every = [is_about_all(claim) for claim in (a, b)]
        return {
            "negated": float(a.negative != b.negative),
            "denied": float(poles[0] != poles[1]),
            "opposed": float(strict),
            "classes": float(sum(how[1] or how[0] == "excluded" for _, _, how in opposed)),
            "parity": float(((poles[0] != poles[1]) + len(opposed)) % 2),
            "all one side": float(every[0] != every[1]),
            "all both": float(every[0] and every[1]),
            "none": float(
                any(word in claim.words for claim in (a, b) for word in ("no", "none", "nobody", "never", "nothing"))
            ),
            "only": float(bool(_ONLY & {*a.words}) != bool(_ONLY & {*b.words})),
        }

    def _holds_for_all(self) -> bool:
        """Returns whether the other side speaks of what one says of all, where one does."""
        every = [is_about_all(side.claim) for side in (self.a, self.b)]
        if every[0] == every[1]:
            return True
        side, near = (self.a, self.near[0]) if every[0] else (self.b, self.near[1])
        return all(near[word] >= _CLOSE for word in side.words if word.weight >= 1)


class ConflictModel:
    """Says of two claims how likely they exclude each other."""

    def __init__(self, weights: Mapping[str, float], bias: float, floor: float, words: WordUse) -> None:
        self._weights, self._bias, self._floor, self.words = weights, bias, floor, words

    def judge(self, one: Side, two: Side) -> float:
        """Returns how likely it is that two claims exclude each other: the score of the likeliest way, -1 where there is none."""
        return max(map(self.score, Overlay(one, two, self.words).ways()), default=-1.0)

    def score(self, way: Way) -> float:
        """Returns how far a way is above the floor, as the logarithm of the odds."""
        return sum(self._weights.get(name, 0.0) * x for name, x in inputs_of(way)) + self._bias - self._floor


def inputs_of(way: Way) -> Iterator[tuple[str, float]]:
    """Yields what the model weighs of a way: its numbers, steps in them, and some for its kind apart."""
    numbers = way.numbers
    yield from numbers.items()
    yield way.kind, 1.0
    for name in _SHARP:
        yield f"{name} >", float(numbers[name] > 0.5)
    for step in _STEPS:
        yield f"covered > {step}", max(0.0, numbers["least covered"] - step)
    for name in _OWN:
        yield f"{way.kind} {name}", numbers[name]


def _lead(claim: Claim, word: Word) -> str:
    """Returns the word before one, articles aside."""
    before = [each for each in claim.words[: word.at] if each not in ("the", "a", "an", "our", "its", "their")]
    return before[-1] if before else ""


def _counted(side: Side, number: Quantity) -> Word | None:
    """Returns the word behind a number: what it counts."""
    at = side.claim.quantities.index(number)
    marks = [
        n
        for n, word in enumerate(side.claim.words)
        if (_MARK.match(word) and word < "\uf000") or (word >= "\uf800" and _MARK.match(word))
    ]
    place = marks[at] if at < len(marks) else -1
    return next((word for word in side.words if place != -1 and place < word.at <= place + 2), None)


def _find_apart(ones: Sequence[T], twos: Sequence[T], agree: Callable[[T, T], bool | None]) -> list[tuple[T, T]]:
    """Returns the pairs that exclude each other, where neither agrees with anything else."""
    pairs = [(x, y, agree(x, y)) for x in ones for y in twos]
    agreed = {id(each) for x, y, can_be in pairs if can_be for each in (x, y)}
    return [(x, y) for x, y, can_be in pairs if can_be is False and not agreed & {id(x), id(y)}]
