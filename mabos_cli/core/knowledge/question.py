"""Questions in words read as triples, by the names, labels and synonyms that facts, rules and ontologies use.

Every word must find its place: a name, a part of a predicate, a class, a value, a date, or a word of grammar. A question
with a word left over is not read, because whoever answers half a question answers another one.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from mabos_cli.core.knowledge.fact import Fact, Triple
from mabos_cli.core.knowledge.graph import name_words
from mabos_cli.core.knowledge.ontology import TYPE_PREDICATES
from mabos_cli.core.knowledge.rule import is_open, is_variable
from mabos_cli.core.knowledge.vocabulary import (
    ARTICLES,
    BE,
    DO,
    GRAMMAR,
    HAVE,
    Phrase,
    Token,
    Vocabulary,
    lemma,
    take_period,
    tokenize,
)
from mabos_cli.core.language.text import words
from mabos_cli.core.language.values import find_value
from mabos_cli.core.mind.claims.words import irregular

_PAST = frozenset("was were did had".split())
_MODAL = frozenset("can could must should will would may might shall".split())
_KINDS = {"why": "why", "when": "when"} | dict.fromkeys(("what", "which", "who", "whom", "whose", "where"), "what")
_MORE = {
    "above": "gt",
    "over": "gt",
    "exceeding": "gt",
    "below": "lt",
    "under": "lt",
    "exactly": "eq",
    "before": "lt",
    "after": "gt",
}
_THAN = {"more": "gt", "greater": "gt", "higher": "gt", "larger": "gt", "less": "lt", "lower": "lt", "fewer": "lt"}
_LEAST = {"least": "gte", "most": "lte"}
# Words behind a number, and what facts write for them.
_UNITS = {
    "thousand": "k",
    "million": "M",
    "billion": "bn",
    "dollars": "USD",
    "dollar": "USD",
    "euros": "EUR",
    "euro": "EUR",
}
_UNITS |= {"pounds": "GBP", "pound": "GBP", "yen": "JPY", "francs": "CHF", "percent": "%"}
_HAPPENING = frozenset(("happen", "occur"))
_LONGEST_NAME, _MOST_READINGS = 6, 40


class Mention(NamedTuple):
    """Something that a question names: from which word to which, and the names of it that facts use."""

    start: int
    end: int
    names: tuple[str, ...]


class Reading(NamedTuple):
    """A question as a triple with what is asked for left open (None). `compared` is an operator and a value; `period` the
    first and last day asked about; `members` the class that answers belong to, `noun` a word for them that nothing knows."""

    kind: str  # truth, what, when, why, count
    subject: str | None
    predicate: str
    object: str | None
    compared: tuple[str, str] | None = None
    period: tuple[str, str] | None = None
    is_past: bool = False
    members: str = ""
    noun: str = ""
    words: str = ""  # what in the question was taken for the predicate

    @property
    def text(self) -> str:
        """Returns the reading in one line."""
        middle = f"{self.predicate} {' '.join(self.compared)}" if self.compared else self.predicate
        shown = " ".join((self.subject or "?", middle, *([] if self.compared else [self.object or "?"])))
        notes = [f"{self.words!r} = {self.predicate}"] if self.words and self.words != self.predicate else []
        notes += [f"only {self.members}"] if self.members else []
        notes += [f"{self.noun!r} not checked"] if self.noun else []
        notes += [f"{self.period[0]} to {self.period[1]}"] if self.period else ["at any time"] * self.is_past
        return f"{shown} ({'; '.join(notes)})" if notes else shown


def read_question(question: str, vocabulary: Vocabulary) -> list[Reading]:
    """Returns the ways in which a question can be read, with nothing in it left over; those that check every word first."""
    text, period = take_period(question.strip().rstrip("?!. "))
    tokens = tokenize(text, vocabulary)
    if not tokens or {"not", "n't", "never", "no"} & {token.word for token in tokens}:
        return []
    reader = _Reader(tokens, vocabulary, period)
    found = [*dict.fromkeys(reader.read())][:_MOST_READINGS]
    return sorted(found, key=lambda reading: bool(reading.noun))


def read_triple(triple: Triple) -> Reading:
    """Returns a triple as a reading; `*` and ?variables ask for what they stand for."""
    subject, predicate, obj = (None if is_open(term) or is_variable(term) else term for term in triple)
    return Reading("what" if subject is None or obj is None else "truth", subject, predicate or "", obj)


def find_about(
    question: str, facts: Sequence[Fact], vocabulary: Vocabulary
) -> tuple[list[Fact], list[Fact], list[str]]:
    """Returns the facts about what a question names, those of them whose predicate has a word of the question too, and its
    words that nothing here knows."""
    tokens = tokenize(take_period(question.strip().rstrip("?!. "))[0], vocabulary)
    reader = _Reader(tokens, vocabulary, None)
    unknown = [
        t.text for t in tokens[reader.head :] if not t.value and not vocabulary.knows(t.plain) and t.word not in GRAMMAR
    ]
    named = {name for mention in reader.mentions for name in mention.names}
    asked = {token.plain for token in tokens if token.word not in GRAMMAR}
    about = [fact for fact in facts if {fact.subject, fact.object} & named]
    near = [fact for fact in about if asked & {*map(lemma, name_words(fact.predicate))}]
    return about, near, [word for word in unknown if word != "'s"]


class _Reader:
    """One question on its way to readings."""

    def __init__(self, tokens: list[Token], vocabulary: Vocabulary, period: tuple[str, str] | None) -> None:
        self.tokens, self.vocabulary, self.period = tokens, vocabulary, period
        self.kind, self.head = self._find_kind()
        self.compared, self.number_at = self._find_comparison()
        self.mentions = self._find_mentions()
        said = {token.word for token in tokens}
        self.is_past = bool(said & _PAST) and not said & {"been"}

    def _find_kind(self) -> tuple[str, int]:
        first, second = ([token.word for token in self.tokens] + ["", ""])[:2]
        if first == "how" and second in ("many", "much"):
            return ("count" if second == "many" else "what"), 2
        if first in ("since", "until") and second == "when":
            return "when", 2
        return (_KINDS[first], 1) if first in _KINDS else ("truth", 0)

    def _find_comparison(self) -> tuple[tuple[str, str] | None, set[int]]:
        """Returns what a value is compared with, and the words that say so; a bare number asks for equality."""
        for at, token in enumerate(self.tokens):
            if not token.value or (
                token.value.isdigit()
                and at
                and tuple(each.plain for each in self.tokens[at - 1 : at + 1]) in self.vocabulary.names
            ):
                continue
            used, value = {at}, token.value
            for after in range(at + 1, min(at + 3, len(self.tokens))):
                more = f"{value} {_UNITS.get(self.tokens[after].word, self.tokens[after].text)}"
                if find_value(more) is None:
                    break
                used, value = used | {after}, more
            before = [each.word for each in self.tokens[max(0, at - 2) : at]]
            if before[-1:] and before[-1] in _MORE:
                return (_MORE[before[-1]], value), used | {at - 1}
            if before[-1:] == ["than"] and before[0] in _THAN:
                return (_THAN[before[0]], value), used | {at - 1, at - 2}
            if before[-1:] and before[-1] in _LEAST and before[0] == "at":
                return (_LEAST[before[-1]], value), used | {at - 1, at - 2}
            return ("eq", value), used
        return None, set()

    def _find_mentions(self) -> list[Mention]:
        """Returns what the question names, the longest names first where they overlap; part of a name if it is written large
        and only one has it."""
        found: list[Mention] = []
        at, names = self.head, self.vocabulary.names
        while at < len(self.tokens):
            for size in range(min(_LONGEST_NAME, len(self.tokens) - at), 0, -1):
                key = tuple(token.plain for token in self.tokens[at : at + size])
                called = [name for name in names.get(key, ()) if self._is_called(name, at, size)]
                if called:
                    found.append(Mention(at, at + size, tuple(called)))
                    break
            else:
                size = 1
                whole = self.vocabulary.parts.get(self.tokens[at].plain, set())
                if at and self.tokens[at].text[:1].isupper() and len(whole) == 1 and at not in self.number_at:
                    found.append(Mention(at, at + 1, (*whole,)))
            at += size
        return found

    def _is_called(self, name: str, at: int, size: int) -> bool:
        """Returns whether some words are a name: short ones, and words of grammar, only in the same letters."""
        if self.number_at & {*range(at, at + size)}:
            return False
        said = [token.text for token in self.tokens[at : at + size]]
        is_weak = len("".join(said)) <= 2 or {token.word for token in self.tokens[at : at + size]} <= GRAMMAR
        return not is_weak or " ".join(said) == " ".join(re.findall(r"[^\W_]+", name))

    def read(self) -> Iterator[Reading]:
        """Yields the readings by each predicate that the question may name, and those without one."""
        plain = {token.plain for token in self.tokens}
        fitting = [p for p in self.vocabulary.phrases if plain.issuperset(p.words)]
        said = {token.word for token in self.tokens}
        # Works for and works under are two things: a preposition that is there decides.
        exact = {p.words for p in fitting if p.prepositions and said.issuperset(p.prepositions)}
        for phrase in fitting:
            if phrase.words not in exact or not phrase.prepositions or said.issuperset(phrase.prepositions):
                yield from self._read_by(phrase)
        yield from self._read_without()

    def _read_by(self, phrase: Phrase) -> Iterator[Reading]:
        taken = self._place(phrase)
        if taken is None:
            return
        mentions = [m for m in self.mentions if not taken & {*range(m.start, m.end)}]
        for chosen, members, noun in self._settle(mentions, taken):
            for subject, obj in self._roles(phrase, chosen, taken):
                if subject is None and obj is None and not members:
                    continue  # who is billed: either end may be meant
                yield self._reading(subject, phrase.predicate, obj, members, noun, phrase.text)

    def _place(self, phrase: Phrase) -> set[int] | None:
        """Returns where the words of a phrase stand: outside names, or where one word alone was taken for a name."""
        taken: set[int] = set()
        for word in phrase.words:
            places = [
                at
                for at, token in enumerate(self.tokens)
                if token.plain == word and at not in taken and at >= self.head
            ]
            free = [at for at in places if not any(m.start <= at < m.end for m in self.mentions)]
            lone = [at for at in places if any(m.start <= at < m.end == m.start + 1 for m in self.mentions)]
            if not free and not lone:
                return None
            taken.add((free or lone)[0])
        return taken

    def _settle(self, mentions: list[Mention], taken: set[int]) -> Iterator[tuple[list[Mention], str, str]]:
        """Yields the names that play a part, the class that answers belong to, and a noun that nothing knows; nothing if a
        word is left over."""
        members, noun = "", ""
        if self.kind in ("what", "count") and mentions and mentions[0].start == self.head:
            classes = [name for name in mentions[0].names if name in self.vocabulary.classes]
            if classes:
                members, mentions = classes[0], mentions[1:]
                taken = taken | {*range(self.head, self.mentions[0].end)}
        covered = taken | self.number_at | {at for m in mentions for at in range(m.start, m.end)}
        left = [at for at in range(self.head, len(self.tokens)) if at not in covered]
        left = [at for at in left if self.tokens[at].word not in GRAMMAR and self.tokens[at].word != "'s"]
        if left and left[0] == self.head and self._is_noun():
            noun, left = self.tokens[self.head].text, left[1:]
        left = [at for at in left if not self._is_apposition(at, mentions)]
        if not left:
            yield mentions, members, noun
        elif (
            self.kind == "truth" and len(mentions) == 1 and not self.compared and left[0] > max(taken, default=left[-1])
        ):
            # What ends the question may be a name that no fact has; only one written large is surely one.
            name = " ".join(self.tokens[at].text for at in left)
            if left == [*range(left[0], len(self.tokens))]:
                yield [*mentions, Mention(left[0], left[-1] + 1, (name,))], "", "" if name[0].isupper() else name

    def _is_noun(self) -> bool:
        """Returns whether the word behind which, what or how many is a noun: one that nothing else explains, and a verb of
        grammar follows it."""
        first, after = self.tokens[self.head], [token.word for token in self.tokens[self.head + 1 : self.head + 2]]
        asks = self.tokens[0].word in ("which", "what", "how") and {*after} & (DO | BE | HAVE | _MODAL)
        return bool(asks) and first.text.islower() and not self.vocabulary.knows_predicate(first.plain)

    def _is_apposition(self, at: int, mentions: list[Mention]) -> bool:
        """Returns whether a word says what the name behind it is, as in `the contract kestrel-2026`, and facts agree."""
        named = next((m for m in mentions if m.start == at + 1), None)
        if named is None:
            return False
        kinds = {predicate for name in named.names for predicate in self.vocabulary.holders.get(name, ())}
        return any(self.tokens[at].plain in map(lemma, name_words(kind)) for kind in kinds)

    def _roles(
        self, phrase: Phrase, mentions: list[Mention], taken: set[int]
    ) -> Iterator[tuple[str | None, str | None]]:
        """Yields subject and object of the triple. Whose it is, and who does it, grammar says."""
        if len(mentions) > 2 or (len(mentions) == 2 and self.compared):
            return
        owner = next((m for m in mentions if self._is_owner(m, taken)), None)
        said = {token.word for token in self.tokens}
        is_active = not said & BE
        has_doer = any(self._before(mention.start) == "by" for mention in mentions)
        is_turned = not is_active and (has_doer or self._is_turned(phrase, taken))
        subject: Mention | None = None
        obj: Mention | None = None
        leading = [mention for mention in mentions if self._is_grammatical_subject(mention)][:1]
        for mention in mentions:
            comes_first = mention in leading if leading else mention.start < max(taken)
            is_doer = self._before(mention.start) == "by"
            if mention is owner or self.vocabulary.is_attribute(phrase.predicate):
                is_subject = True
            elif owner:
                is_subject = False
            elif phrase.is_passive:
                is_subject = not is_doer and comes_first != is_active
            else:
                is_subject = is_doer if is_turned else comes_first
            if (subject if is_subject else obj) is not None:
                return
            subject, obj = (mention, obj) if is_subject else (subject, mention)
        yield from product(subject.names if subject else (None,), obj.names if obj else (None,))

    def _is_turned(self, phrase: Phrase, taken: set[int]) -> bool:
        """Returns whether the question puts an active verb into the passive: `employed`, where the predicate is `employs`."""
        verb, said = words(phrase.text)[0], self.tokens[max(taken)].word
        return verb.endswith("s") and said != verb and (said.endswith("ed") or said in irregular())

    def _before(self, at: int) -> str:
        """Returns the word before a place, articles aside."""
        said = [token.word for token in self.tokens[:at] if token.word not in ARTICLES]
        return said[-1] if said else ""

    def _is_owner(self, mention: Mention, taken: set[int]) -> bool:
        if mention.end < len(self.tokens) and self.tokens[mention.end].word == "'s":
            return True
        at = max((n for n in range(mention.start) if self.tokens[n].word == "of"), default=-1)
        between = {token.word for token in self.tokens[at + 1 : mention.start]}
        return at > 0 and at - 1 in taken and between <= ARTICLES

    def _is_grammatical_subject(self, mention: Mention) -> bool:
        return self._before(mention.start) in DO | BE | HAVE | _MODAL

    def _read_without(self) -> Iterator[Reading]:
        """Yields readings by a value or a class alone, as in `Is Ann CFO?`, `Which invoices are open?`, `Who is the CFO?`."""
        happening = {at for at, token in enumerate(self.tokens) if token.plain in _HAPPENING}
        for mentions, members, noun in self._settle(self.mentions, happening):
            if self.compared:
                continue
            if happening or self.kind in ("why", "when"):
                yield from self._read_event(mentions)
            elif members and not mentions:
                yield from (
                    self._reading(None, kind, members, "", noun, "") for kind in sorted(self._type_predicates())
                )
            elif len(mentions) == 1 and self.kind in ("what", "count"):
                if members or noun or self.tokens[mentions[0].start - 1].word in ARTICLES:
                    yield from self._read_value(None, mentions[0], members, noun)
                else:
                    yield from self._read_kind(mentions[0])
            elif len(mentions) == 2 and self.kind in ("truth", "why", "when"):
                for name in mentions[0].names:
                    yield from self._read_value(name, mentions[1], "", "")

    def _read_kind(self, mention: Mention) -> Iterator[Reading]:
        """Yields what a bare `What is acme?` or `Where is acme?` asks for: its class, or that in which or at which it is."""
        first = self.tokens[0].word
        places = {p.predicate for p in self.vocabulary.phrases if {*p.prepositions[-1:]} & {"in", "at"}}
        places = {predicate for predicate in places if not self.vocabulary.is_attribute(predicate)}
        wanted = (
            frozenset(places)
            if first == "where"
            else self._type_predicates()
            if first in ("what", "who")
            else frozenset()
        )
        if self.tokens[mention.start - 1].word in BE:
            for name, predicate in product(mention.names, sorted(wanted)):
                yield self._reading(name, predicate, None, "", "", "")

    def _type_predicates(self) -> frozenset[str]:
        return TYPE_PREDICATES & self.vocabulary.uses.keys()

    def _read_event(self, mentions: list[Mention]) -> Iterator[Reading]:
        """Yields what a bare why or when asks of one thing: its causes, or its only date."""
        if len(mentions) == 2:
            for name in mentions[0].names:
                yield from self._read_value(name, mentions[1], "", "")
        if len(mentions) != 1 or self.kind not in ("why", "when"):
            return
        dated = {p for p, objects in self.vocabulary.uses.items() if any(_is_date(one) for one in objects)}
        wanted = self.vocabulary.causes if self.kind == "why" else dated
        for name, predicate in product(mentions[0].names, sorted(wanted)):
            yield self._reading(name, predicate, None, "", "", self.kind)

    def _read_value(self, subject: str | None, value: Mention, members: str, noun: str) -> Iterator[Reading]:
        # A thing of which facts tell is no value: to ask whether acme is Ann is not to ask whether it employs her.
        for name in (
            name for name in value.names if name not in self.vocabulary.things or name in self.vocabulary.classes
        ):
            for predicate in sorted(self.vocabulary.holders.get(name, ())):
                yield self._reading(subject, predicate, name, members, noun, "")

    def _reading(self, subject: str | None, predicate: str, obj: str | None, *more: str) -> Reading:
        return Reading(self.kind, subject, predicate, obj, self.compared, self.period, self.is_past, *more)


def _is_date(text: str) -> bool:
    found = find_value(text)
    return found is not None and found.kind == "time"
