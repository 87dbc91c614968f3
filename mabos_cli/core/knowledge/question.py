"""Questions in words read as triples, by the names, labels and synonyms that facts, rules and ontologies use.

Every word must find its place: a name, a part of a predicate, a class, a value, a date, or a word of grammar. A question
with a word left over is not read, because whoever answers half a question answers another one.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import product

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
    PREPOSITIONS,
    PRONOUNS,
    Mention,
    Phrase,
    Reading,
    Token,
    Vocabulary,
    find_comparison,
    lemma,
    strip_question,
    take_period,
    tokenize,
)
from mabos_cli.core.language.text import words
from mabos_cli.core.language.values import find_value
from mabos_cli.core.mind.claims.words import irregular

_PAST = frozenset("was were did had".split())
_MODAL = frozenset("can could must should will would may might shall".split())
_KINDS = {"why": "why", "when": "when"} | dict.fromkeys(("what", "which", "who", "whom", "whose", "where"), "what")
# Plain forms of verbs that ask for the first or last day of something.
_EDGES = dict.fromkeys(("start", "begin", "becom", "becam", "sinc"), "start")
_EDGES |= dict.fromkeys(("stop", "ceas", "quit", "until"), "end")
_HAPPENING = frozenset(("happen", "occur"))
_LONGEST_NAME, _MOST_READINGS = 6, 40


def read_question(question: str, vocabulary: Vocabulary) -> list[Reading]:
    """Returns the ways in which a question can be read, with nothing in it left over; those that check every word first."""
    text, period = take_period(strip_question(question, vocabulary))
    tokens = tokenize(text, vocabulary)
    # What denies, and superlatives, ask for more than a triple.
    superlatives = [t.word for t in tokens if t.word.endswith("est") and not t.plain.endswith("est")]
    if not tokens or superlatives or {token.word for token in tokens} & {"not", "n't", "never", "no"}:
        return []
    reader = _Reader(tokens, vocabulary, period)
    found = [*dict.fromkeys(filter(reader.is_asked, reader.read()))][:_MOST_READINGS]
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
    tokens = tokenize(take_period(strip_question(question, vocabulary))[0], vocabulary)
    reader = _Reader(tokens, vocabulary, None)
    unknown = [
        token.text
        for at, token in enumerate(tokens)
        if at not in reader.number_at and not vocabulary.knows(token.plain) and not reader.is_grammar(at)
    ]
    named = {name for mention in reader.mentions for name in mention.names}
    asked = {token.plain for token in tokens if token.word not in GRAMMAR}
    about = [fact for fact in facts if {fact.subject, fact.object} & named]
    near = [fact for fact in about if asked & {*map(lemma, name_words(fact.predicate))}]
    return about, near, unknown


class _Reader:
    """One question on its way to readings."""

    def __init__(self, tokens: list[Token], vocabulary: Vocabulary, period: tuple[str, str] | None) -> None:
        self.tokens, self.vocabulary, self.period = tokens, vocabulary, period
        self.kind, self.head = self._find_kind()
        self.asks = tokens[self.head - 1].word if self.head else ""
        self.compared, self.number_at = find_comparison(tokens, vocabulary)
        self.spoken: set[int] = set()  # words that say again what a name says
        self.mentions = self._find_mentions()
        present = {token.word for token in tokens}
        self.is_past = "ever" in present or (bool(present & _PAST) and "been" not in present)
        edges = [_EDGES.get(lemma(token.word), "") for token in tokens if self.kind == "when"]
        self.edge = next(filter(None, edges), "")
        self.edge_at = edges.index(self.edge) if self.edge else -1

    def _find_kind(self) -> tuple[str, int]:
        first, second = ([token.word for token in self.tokens] + ["", ""])[:2]
        if first == "how" and second in ("many", "much"):
            return ("count" if second == "many" else "what"), 2
        if first in ("since", "until") and second == "when":
            return "when", 2
        if first in PREPOSITIONS and second in _KINDS:
            return _KINDS[second], 2
        return (_KINDS[first], 1) if first in _KINDS else ("truth", 0)

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
        return [m for n, m in enumerate(found) if not self._is_kind_of(m, found[n + 1 : n + 2])]

    def _is_kind_of(self, mention: Mention, after: list[Mention]) -> bool:
        """Returns whether a class only says what the name behind it is, as in `the invoice INV-31`, and facts agree."""
        if not after or after[0].start != mention.end or self.tokens[mention.start].text[:1].isupper():
            return False
        pairs = {*product(after[0].names, mention.names)} & self.vocabulary.kinds
        self.spoken |= {*range(mention.start, mention.end)} if pairs else set()
        return bool(pairs)

    def _is_called(self, name: str, at: int, size: int) -> bool:
        """Returns whether some words are a name: short ones, and words of grammar, only in the same letters."""
        if self.number_at & {*range(at, at + size)}:
            return False
        texts = [token.text for token in self.tokens[at : at + size]]
        is_weak = len("".join(texts)) <= 2 or {token.word for token in self.tokens[at : at + size]} <= GRAMMAR
        return not is_weak or " ".join(texts) == " ".join(re.findall(r"[^\W_]+", name))

    def read(self) -> Iterator[Reading]:
        """Yields the readings by each predicate that the question may name, and those without one."""
        plain = {token.plain for token in self.tokens}
        known = self.vocabulary.phrases + (self.vocabulary.dates if self.kind == "when" else [])
        fitting = [p for p in known if plain.issuperset(p.words)]
        present = {token.word for token in self.tokens}
        # Works for and works under are two things: a preposition that is there decides.
        exact = {p.words for p in fitting if p.prepositions and present.issuperset(p.prepositions)}
        for phrase in fitting:
            if phrase.words not in exact or not phrase.prepositions or present.issuperset(phrase.prepositions):
                yield from self._read_by(phrase)
        yield from self._read_without()

    def is_asked(self, reading: Reading) -> bool:
        """Returns whether a reading leads to what the question asks for: a date is not who or where, nor a name how much."""
        known, predicate = self.vocabulary, reading.predicate
        if reading.kind != "what" or reading.object is not None:
            return True
        if self.asks == "much":
            return known.is_attribute(predicate) and not known.is_dated(predicate)
        if self.asks == "where" and not known.is_place(predicate):
            return False
        return self.asks not in ("who", "whom", "where") or not known.is_attribute(predicate)

    def is_grammar(self, at: int) -> bool:
        """Returns whether a word needs no place in a reading."""
        word, after = self.tokens[at].word, [token.word for token in self.tokens[at + 1 : at + 2]]
        if word in ("can", "could"):  # whether you can is whether it is so; whether Ann can is not
            return self.asks == "where" or bool({*after} & PRONOUNS)
        return at < self.head or at in (self.edge_at, *self.spoken) or word in GRAMMAR or word == "'s"

    def _read_by(self, phrase: Phrase) -> Iterator[Reading]:
        taken = self._place(phrase)
        if taken is None:
            return
        mentions = [m for m in self.mentions if not taken & {*range(m.start, m.end)}]
        # A noun may name the predicate once more, as in `Which crops does it grow?`.
        named = ((p.predicate, *p.words) for p in self.vocabulary.phrases)
        is_again = self.kind in ("what", "count") and (phrase.predicate, self.tokens[self.head].plain) in named
        for chosen, members, noun in self._settle(mentions, taken | {self.head} if is_again else taken):
            for subject, obj in self._roles(phrase, chosen, taken):
                if subject is None and obj is None and not members:
                    continue  # who is billed: either end may be meant
                edge = "" if self.edge_at in taken else self.edge
                yield self._reading(subject, phrase.predicate, obj, members, noun, edge, phrase.text)

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
        left = [at for at in range(self.head, len(self.tokens)) if at not in covered and not self.is_grammar(at)]
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
        asks = self.asks in ("which", "what", "many", "much") and {*after} & (DO | BE | HAVE | _MODAL)
        is_predicate = any(phrase.words == (first.plain,) for phrase in self.vocabulary.phrases)
        return bool(asks) and first.text.islower() and not is_predicate

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
        """Yields subject and object of the triple, by owner, doer and prepositions."""
        if len(mentions) > 2 or (len(mentions) == 2 and self.compared):
            return
        owner = next((m for m in mentions if self._is_owner(m, taken)), None)
        present = {token.word for token in self.tokens}
        is_active = not present & BE or self.tokens[max(taken)].word.endswith("ing")
        has_link = bool(present & {*phrase.prepositions}) or self.asks == "where"
        is_general = bool(present & PRONOUNS and phrase.prepositions) and not phrase.is_passive
        is_reversed = is_active and not has_link and phrase.is_participle
        # Who makes it is not what it is made from, and what we use not what we use it by.
        is_open = len(mentions) == 1 and not self.vocabulary.is_attribute(phrase.predicate)
        if (is_reversed and is_open) or (present & PRONOUNS and phrase.prepositions and not has_link):
            return
        has_doer = any(self._before(mention.start) == "by" for mention in mentions)
        # `employed`, where the predicate is `employs`: the question puts an active verb into the passive.
        verb, word = words(phrase.text)[0], self.tokens[max(taken)].word
        is_passive = verb.endswith("s") and word != verb and (word.endswith("ed") or word in irregular())
        is_turned = not is_active and (has_doer or is_passive)
        subject: Mention | None = None
        obj: Mention | None = None
        leading = [mention for mention in mentions if self._before(mention.start) in DO | BE | HAVE | _MODAL][:1]
        for mention in mentions:
            comes_first = mention in leading if leading else mention.start < max(taken)
            is_doer = self._before(mention.start) == "by"
            if owner and phrase.is_of:
                is_subject = mention is not owner
            elif owner or self.vocabulary.is_attribute(phrase.predicate):
                is_subject = mention is owner or not owner
            elif is_general:  # where do we get it from
                is_subject = self._before(mention.start) not in phrase.prepositions
            elif phrase.is_passive or is_reversed:
                is_subject = not is_doer and comes_first != is_active
            elif has_doer:
                is_subject = is_doer if is_turned else comes_first
            else:
                is_subject = comes_first != is_turned
            if (subject if is_subject else obj) is not None:
                return
            subject, obj = (mention, obj) if is_subject else (subject, mention)
        yield from product(subject.names if subject else (None,), obj.names if obj else (None,))

    def _before(self, at: int) -> str:
        """Returns the word before a place, articles aside."""
        earlier = [token.word for token in self.tokens[:at] if token.word not in ARTICLES]
        return earlier[-1] if earlier else ""

    def _is_owner(self, mention: Mention, taken: set[int]) -> bool:
        if mention.end < len(self.tokens) and self.tokens[mention.end].word in ("'s", "have"):
            return True
        at = max((n for n in range(mention.start) if self.tokens[n].word == "of"), default=-1)
        between = {token.word for token in self.tokens[at + 1 : mention.start]}
        return at > 0 and at - 1 in taken and between <= ARTICLES

    def _read_without(self) -> Iterator[Reading]:
        """Yields readings by a value or a class alone, as in `Is Ann CFO?`, `Which invoices are open?`, `Who is the CFO?`."""
        happening = {at for at, token in enumerate(self.tokens) if token.plain in _HAPPENING}
        for mentions, members, noun in self._settle(self.mentions, happening):
            if self._is_bare(mentions) and (self.compared or self.asks in ("where", "much")):
                yield from self._read_kind(mentions[0])
            elif self.compared:
                continue
            elif len(mentions) == 2 and (happening or self.kind in ("truth", "why", "when")):
                for name in mentions[0].names:
                    yield from self._read_value(name, mentions[1], "", "")
            elif happening or self.kind in ("why", "when"):
                yield from self._read_event(mentions)
            elif members and not mentions:
                yield from (self._reading(None, kind, members, "", noun) for kind in sorted(self._type_predicates()))
            elif len(mentions) == 1 and self.kind in ("what", "count"):
                if members or noun or self.tokens[mentions[0].start - 1].word in ARTICLES:
                    yield from self._read_value(None, mentions[0], members, noun)
                elif self._is_bare(mentions):
                    yield from self._read_kind(mentions[0])

    def _is_bare(self, mentions: list[Mention]) -> bool:
        """Returns whether nothing is asked of one thing but what, where or how much it is, or whether it is so much."""
        named = self.number_at | {at for m in mentions for at in range(m.start, m.end)}
        rest = {t.word for at, t in enumerate(self.tokens) if at >= self.head and at not in named} - ARTICLES - {"ever"}
        value = find_value(self.compared[1]) if self.compared else None
        is_kind = (self.kind == "truth" and value.kind == "money") if value else self.kind == "what"
        return is_kind and len(mentions) == 1 and bool(rest) and rest <= BE

    def _read_kind(self, mention: Mention) -> Iterator[Reading]:
        """Yields what a bare `What is acme?`, `Where is acme?` or `How much is it?` asks for: class, place or price."""
        known, kinds = self.vocabulary, self._type_predicates()
        wanted = {"where": known.places, "much": known.prices, "what": kinds, "who": kinds}
        asked = known.prices if self.compared else wanted.get(self.asks, ())
        for name, predicate in product(mention.names, sorted(asked)):
            yield self._reading(name, predicate, None)

    def _type_predicates(self) -> frozenset[str]:
        return TYPE_PREDICATES & self.vocabulary.uses.keys()

    def _read_event(self, mentions: list[Mention]) -> Iterator[Reading]:
        """Yields what a bare why or when asks of one thing: its causes, or its only date."""
        if len(mentions) != 1 or self.kind not in ("why", "when") or self.edge_at >= self.head:
            return
        known = self.vocabulary
        wanted = known.causes if self.kind == "why" else filter(known.is_dated, known.uses)
        for name, predicate in product(mentions[0].names, sorted(wanted)):
            yield self._reading(name, predicate, None, "", "", "", self.kind)

    def _read_value(self, subject: str | None, value: Mention, members: str, noun: str) -> Iterator[Reading]:
        # A thing of which facts tell is no value: to ask whether acme is Ann is not to ask whether it employs her.
        known = self.vocabulary
        for name in (name for name in value.names if name not in known.things or name in known.classes):
            for predicate in sorted(known.holders.get(name, ())):
                yield self._reading(subject, predicate, name, members, noun, self.edge)

    def _reading(self, subject: str | None, predicate: str, obj: str | None, *more: str) -> Reading:
        return Reading(self.kind, subject, predicate, obj, self.compared, self.period, self.is_past, *more)
