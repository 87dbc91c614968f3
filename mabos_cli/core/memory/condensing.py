"""The text of a group of memories: the most important sentence first, and of four and more memories half of their text at most.

Repetition goes, then what holds no decision, number or name. Those win over the half; only the bound on the whole text wins over them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from mabos_cli.core.language.similar import numbers_of
from mabos_cli.core.language.text import STOP_WORDS, fold, join_names, split_sentences, terms
from mabos_cli.core.memory.item import CONSOLIDATION, MemoryItem, count_members
from mabos_cli.core.records import NamedTuple

_BETWEEN = " | "  # the contents of a group in one text
_CONDENSED, _SHARE, _MOST = (
    4,
    0.5,
    3000,
)  # memories from which a text is condensed, to which share, and its characters at most
_NEW = 0.5  # share of its words that a sentence must add
# What may be left out at the end of a sentence, when it holds nothing that must stay.
_TAIL = re.compile(r";\s|,? (?:because|which|so that|although|while|whereas)\s|, (?:so|and|but|as)\s")
_OPENING = re.compile(r"(?i)(?:when|if|because|since|although|while|after|as|before|once)\b")
_VERB = re.compile(r"is|was|has|had|will|can|did|does|[a-z]+[^s]s|[a-z]+ed")  # what only one person or thing does
_NUMBER = re.compile(r"\d[\d.,:/]*\d|\d")
_NUMBERS = rf"(?:{_NUMBER.pattern})(?:(?:, (?:{_NUMBER.pattern}))* and (?:{_NUMBER.pattern}))?"


def consolidated_parts(text: str) -> list[str]:
    """Returns the memories that a consolidated one was made of, as far as its text tells.

    >>> consolidated_parts("[Consolidated from 2 memories] a | b"), consolidated_parts("a | b")
    (['a', 'b'], [])
    """
    body = body_of(text)
    return body.split(_BETWEEN) if body != text else []


def body_of(text: str) -> str:
    """Returns the text of a memory without the head that says how many it was made of."""
    return re.sub(r"(?i)^\[Consolidated from \d+ memories\] ", "", text)


class _Piece(NamedTuple):
    """Holds what one memory says, how important that is, and whether it must stay whole."""

    text: str
    weight: float
    is_decision: bool


def join_contents(group: Sequence[MemoryItem]) -> str:
    """Returns the text of a group: what its members say, the most important first; of four and more, condensed."""
    pieces = sorted(_pieces(group), key=lambda piece: (-piece.weight, not piece.is_decision))
    once = list({fold(piece.text): piece for piece in reversed(pieces)}.values())[::-1]
    if sum(count_members(item).total() for item in group) < _CONDENSED:
        return _BETWEEN.join(piece.text for piece in once)
    return _Condensed(
        once, sum(len(piece.text) for piece in pieces), [tag for item in group for tag in item.tags]
    ).text()


def _pieces(group: Iterable[MemoryItem]) -> Iterator[_Piece]:
    for item in group:
        parts = consolidated_parts(item.content) if item.source == CONSOLIDATION else []
        decisions = count_members(item)["decision"]
        for rank, part in enumerate(parts or [item.content]):
            yield _Piece(part, item.importance - 0.1 * rank, rank < decisions)


class _Line(NamedTuple):
    piece: int
    text: str
    facts: frozenset[str]


class _Condensed:
    """The sentences of a group, of which those stay that say a decision, or a number or name that no other says."""

    def __init__(self, pieces: Sequence[_Piece], size: int, tags: Iterable[str]) -> None:
        self.pieces, self.budget = pieces, min(_SHARE * size, _MOST)
        texts = [split_sentences(piece.text) for piece in pieces]
        written = [[_bare(word) for word in sentence.split()] for text in texts for sentence in text]
        self.common = {word for words in written for word in words if word.islower()} | STOP_WORDS
        self.names = {word for words in written for word in words[1:] if word[:1].isupper()}
        self.names |= {tag.casefold() for tag in tags}
        sentences = [(n, sentence) for n, text in enumerate(texts) for sentence in text]
        self.lines = [_Line(n, text, self._facts(text)) for n, text in self._without_series(sentences)]

    def _names(self, sentence: str) -> list[str]:
        """Returns the names in a sentence. Its first word is one if it is one elsewhere, or begins one, or does something."""
        joined = list(join_names([_bare(word) for word in sentence.split()], self.common))
        found = [name for name in joined[1:] if name[:1].isupper() and name.casefold() not in STOP_WORDS]
        first, second = (*joined, "", "")[:2]
        is_known = " " in first or first in self.names or first.casefold() in self.names
        acts = (
            first.casefold() not in self.common
            and not first.endswith(("ing", "body", "one"))
            and _VERB.fullmatch(second)
        )
        return [first, *found] if first[:1].isupper() and (is_known or acts) else found

    def _facts(self, sentence: str) -> frozenset[str]:
        """Returns the numbers in a sentence, and the words of its names."""
        return numbers_of(sentence) | frozenset(word for name in self._names(sentence) for word in name.split())

    def _without_series(self, sentences: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
        """Returns the sentences, each with its piece. Of those that differ in numbers and names alone, the first one stands and the others
        are listed in it: Oven 1 took 20 and 25 minutes (Oven 2 31). What was decided stays as it is."""
        series: dict[str, list[tuple[int, str]]] = {}
        for place, (n, text) in enumerate(sentences):
            shape = re.sub(r"#(?:, #)* and #", "#", _NUMBER.sub("#", text))
            is_free = not self.pieces[n].is_decision and shape.count("#") <= 1
            for name in self._names(text):
                shape = shape.replace(name, "@", 1)
            series.setdefault(fold(shape).rstrip(".") if is_free else str(place), []).append((n, text))
        return [(alike[0][0], self._listed([text for _, text in alike])) for alike in series.values()]

    def _listed(self, texts: Sequence[str]) -> str:
        """Returns one sentence for several of one shape."""
        if len(texts) == 1:
            return texts[0]
        known, rows = self._names(texts[0]), dict[tuple[str, ...], list[str]]()
        for text in texts:
            numbers = rows.setdefault(tuple(name for name in self._names(text) if name not in known), [])
            numbers += [number for number in _NUMBER.findall(text) if number not in numbers]
        (_, first), *others = rows.items()
        text = re.sub(_NUMBERS, _and(first), texts[0], count=1)
        rest = ", ".join(" ".join(filter(None, (*names, _and(numbers)))) for names, numbers in others)
        return f"{text.rstrip('.')} ({rest})." if rest else text

    def text(self) -> str:
        """Returns what stays, the sentences of each memory together."""
        kept = self._chosen()
        size = sum(len(self.lines[n].text) + len(_BETWEEN) for n in kept)
        texts = {n: self.lines[n].text for n in sorted(kept)}
        for n in sorted(kept, reverse=True):
            if size > self.budget and n and not self.pieces[self.lines[n].piece].is_decision:
                others = frozenset().union(*(self.lines[m].facts for m in kept if m != n))
                texts[n] = self._trimmed(self.lines[n], others)
                size -= len(self.lines[n].text) - len(texts[n])
        while size > _MOST and len(texts) > 1:
            size -= len(texts.popitem()[1]) + len(_BETWEEN)
        parts_by_piece: dict[int, list[str]] = {}
        for n, text in texts.items():
            parts_by_piece.setdefault(self.lines[n].piece, []).append(text)
        return _BETWEEN.join(" ".join(parts) for parts in parts_by_piece.values())

    def _chosen(self) -> set[int]:
        """Returns the lines that must stay, and those that fit in beside them."""
        kept = {n for n, line in enumerate(self.lines) if n == 0 or self.pieces[line.piece].is_decision}
        held = frozenset().union(*(self.lines[n].facts for n in kept))
        for n, line in enumerate(self.lines):
            if n not in kept and line.facts - held:
                kept.add(n)
                held |= line.facts
        size = sum(len(self.lines[n].text) + len(_BETWEEN) for n in kept)
        covered = {word for n in kept for word in terms(self.lines[n].text)}
        for n, line in enumerate(self.lines):
            words = set(terms(line.text))
            cost = len(line.text) + len(_BETWEEN)
            if n not in kept and size + cost <= self.budget and len(words - covered) > _NEW * len(words):
                kept.add(n)
                size += cost
                covered |= words
        return kept

    def _trimmed(self, line: _Line, others: frozenset[str]) -> str:
        """Returns a sentence up to where it only goes on, if all that no other says comes before that."""
        for tail in _TAIL.finditer(line.text):
            start = line.text[: tail.start()]
            if len(start) > 20 and not _OPENING.match(start) and line.facts - others <= self._facts(start):
                return f"{start}."
        return line.text


def _bare(word: str) -> str:
    return word.strip(".,;:!?()\"'")


def _and(numbers: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(numbers[:-1]), *numbers[-1:])))
