"""Questions in words read as triples, by the names, labels and synonyms that facts, rules and ontologies use.

Every word must find its place: a name, a part of a predicate, a class, a value, a date, or a word of grammar. A question
with a word left over is not read, because whoever answers half a question answers another one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from mabos_cli.core.knowledge.fact import Fact, Triple
from mabos_cli.core.knowledge.graph import is_plain, name_words
from mabos_cli.core.knowledge.ontology import TYPE_PREDICATES, Ontology, local_name
from mabos_cli.core.knowledge.rule import Rule, is_open, is_variable
from mabos_cli.core.language.periods import MONTHS
from mabos_cli.core.language.text import stem, words
from mabos_cli.core.language.values import find_value
from mabos_cli.core.mind.claims.words import irregular, root

_DO = frozenset("do does did".split())
_BE = frozenset("is are was were be been being am".split())
_HAVE = frozenset("has have had having".split())
_PAST = frozenset("was were did had".split())
_MODAL = frozenset("can could must should will would may might shall".split())
_ARTICLES = frozenset("a an the this that these those our your its their his her my any some".split())
_PREPOSITIONS = frozenset("of in on at to for from by with as into under about per through over off out up s".split())
_GRAMMAR = (
    _DO | _BE | _HAVE | _ARTICLES | _PREPOSITIONS | frozenset("we you they it i us there now today currently".split())
)
_KINDS = {"why": "why", "when": "when"} | dict.fromkeys(("what", "which", "who", "whom", "whose", "where"), "what")
_MORE = {"above": "gt", "over": "gt", "exceeding": "gt", "below": "lt", "under": "lt", "exactly": "eq"}
_THAN = {"more": "gt", "greater": "gt", "higher": "gt", "larger": "gt", "less": "lt", "lower": "lt", "fewer": "lt"}
_LEAST = {"least": "gte", "most": "lte"}
_CURRENCIES = {"dollar": "USD", "euro": "EUR", "pound": "GBP", "yen": "JPY", "franc": "CHF", "percent": "%"}
_HAPPENING = frozenset(("happen", "occur"))
_CAUSES = frozenset(("cause", "caus", "reason", "because", "becaus"))
_PERIOD = re.compile(
    r"(?i)\b(?:in|on|during|at)\s+(?:the\s+year\s+)?((?:(\d{1,2})\s+)?([a-z]{3,9})\s+)?(\d{4})(-\d\d)?(-\d\d)?(?![\w-])"
)
_LONGEST_NAME, _MOST_READINGS = 6, 40


class Phrase(NamedTuple):
    """One way in which a predicate is put: its words in plain form, the prepositions, and whether who does it stands behind
    it, as in `supplied by`."""

    predicate: str
    words: tuple[str, ...]
    prepositions: tuple[str, ...]
    is_passive: bool
    text: str


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


def lemma(word: str) -> str:
    """Returns the plain form of a word, without what its endings add.

    >>> [lemma(word) for word in ("supplies", "supplied", "used", "uses", "ran")]
    ['supply', 'supply', 'us', 'us', 'run']
    """
    word = irregular().get(word, word)
    plain = stem(f"{word[:-3]}y" if word.endswith("ied") and len(word) > 4 else word)
    plain = plain[:-2] if len(plain) == 4 and plain.endswith("ed") and plain[1] != "e" else plain
    return plain[:-1] if len(plain) > 2 and plain.endswith("e") else plain


class Vocabulary:
    """The names, classes and predicates of some facts and rules, with what ontologies call them."""

    def __init__(self, facts: Sequence[Fact], rules: Iterable[Rule], ontology: Ontology) -> None:
        concluded = [rule.conclusion for rule in rules if rule.conclusion and rule.type == "inference" and rule.enabled]
        self.uses: dict[str, set[str]] = {one.predicate: set() for one in concluded}  # predicates with their objects
        self.holders: dict[str, set[str]] = {}  # values with the predicates that they are objects of
        nodes: dict[str, None] = {}
        for fact in facts:
            self.uses.setdefault(fact.predicate, set()).add(fact.object)
            self.holders.setdefault(fact.object, set()).add(fact.predicate)
            nodes |= {fact.subject: None, fact.object: None}
        for one in concluded:
            nodes |= {term: None for term in (one.subject, one.object) if not is_variable(term)}
        self.classes = {fact.object for fact in facts if fact.predicate in TYPE_PREDICATES}
        self.names: dict[tuple[str, ...], list[str]] = {}
        self.parts: dict[str, set[str]] = {}
        for node in nodes:
            if not is_plain(node) and (key := tuple(map(lemma, name_words(node)))):
                self.names.setdefault(key, []).append(node)
                for part in key:
                    self.parts.setdefault(part, set()).add(node)
        self._add_concepts(ontology)
        self.phrases = [phrase for name in self.uses for phrase in _phrases_of(name, ontology)]
        self.causes = {
            p.predicate for p in self.phrases if _CAUSES & {*p.words, *p.prepositions, *map(lemma, words(p.text))}
        }
        known = {*self.parts, *(word for phrase in self.phrases for word in phrase.words)}
        self._roots: dict[str, set[str]] = {}
        for word in known:
            self._roots.setdefault(root(word), set()).add(word)
        self._known = known

    def _add_concepts(self, ontology: Ontology) -> None:
        """Lets classes be called by their labels and synonyms too."""
        for concept in ontology.concepts.values():
            name = local_name(concept.id)
            if name in self.classes or concept.id in self.classes:
                for other in (concept.label, *concept.synonyms):
                    key = tuple(map(lemma, name_words(other)))
                    if key and name not in self.names.setdefault(key, []):
                        self.names[key].append(name if name in self.classes else concept.id)

    def translate(self, word: str) -> str:
        """Returns the plain form of a word; of one that nothing uses, that of the one word in use that means the same."""
        plain = lemma(word)
        same = self._roots.get(root(word), set()) | self._roots.get(root(plain), set())
        return next(iter(same)) if plain not in self._known and len(same) == 1 else plain

    def knows(self, word: str) -> bool:
        """Returns whether a plain form is part of a name or a predicate."""
        return word in self._known

    def is_attribute(self, predicate: str) -> bool:
        """Returns whether all that a predicate leads to are values, not things."""
        return bool(self.uses[predicate]) and all(map(is_plain, self.uses[predicate]))


def _phrases_of(predicate: str, ontology: Ontology) -> Iterator[Phrase]:
    texts = [" ".join(name_words(predicate))]
    for each in ontology.properties_named(predicate):
        texts += [each.label, *each.synonyms]
    for text in dict.fromkeys(map(str.casefold, texts)):
        said = words(text)
        content = tuple(lemma(word) for word in said if word not in _GRAMMAR and lemma(word) not in _CAUSES - {"caus"})
        links = tuple(word for word in said if word in _PREPOSITIONS)
        if content and predicate not in TYPE_PREDICATES:
            yield Phrase(predicate, content, links, said[-1] == "by", text)


class _Token(NamedTuple):
    text: str
    word: str  # folded
    plain: str
    value: str = ""  # a number, amount or date as facts may write it


def read_question(question: str, vocabulary: Vocabulary) -> list[Reading]:
    """Returns the ways in which a question can be read, with nothing in it left over; those that check every word first."""
    text, period = _take_period(question.strip().rstrip("?!. "))
    tokens = _tokenize(text, vocabulary)
    if not tokens or {"not", "n't", "never", "no"} & {token.word for token in tokens}:
        return []
    reader = _Reader(tokens, vocabulary, period)
    found = [*dict.fromkeys(reader.read())][:_MOST_READINGS]
    return sorted(found, key=lambda reading: bool(reading.noun))


def read_triple(triple: Triple) -> Reading:
    """Returns a triple as a reading; `*` and ?variables ask for what they stand for."""
    subject, predicate, obj = (None if is_open(term) or is_variable(term) else term for term in triple)
    return Reading("what" if subject is None or obj is None else "truth", subject, predicate or "", obj)


def find_about(question: str, vocabulary: Vocabulary) -> tuple[set[str], list[str]]:
    """Returns the names that a question mentions, and its words that nothing here knows."""
    tokens = _tokenize(_take_period(question.strip().rstrip("?!. "))[0], vocabulary)
    reader = _Reader(tokens, vocabulary, None)
    unknown = [
        t.text
        for t in tokens[reader.head :]
        if not t.value and not vocabulary.knows(t.plain) and t.word not in _GRAMMAR
    ]
    return {name for mention in reader.mentions for name in mention.names}, [word for word in unknown if word != "'s"]


def _take_period(text: str) -> tuple[str, tuple[str, str] | None]:
    """Returns the text without the time that it asks about, and that."""
    match = _PERIOD.search(text)
    if not match:
        return text, None
    _, day, month, year, dashed, more = match.groups()
    number = int(dashed[1:]) if dashed else 0
    if month:
        number = next((n for n, name in enumerate(MONTHS, 1) if name[:3].casefold() == month[:3].casefold()), 0)
    if month and not number:
        return text, None
    first = f"{year}-{number:02d}" if number else year
    exact = more or (f"-{int(day):02d}" if day else "")
    left = f"{text[: match.start()]}{text[match.end() :]}"
    span = (
        (first + exact, first + exact)
        if exact
        else (f"{first}-01" if number else f"{year}-01-01", f"{first}-31" if number else f"{year}-12-31")
    )
    return left, span


def _tokenize(text: str, vocabulary: Vocabulary) -> list[_Token]:
    found: list[_Token] = []
    for piece in text.replace("’", "'").split():
        piece = piece.strip(",;:()\"'“”")
        bare = piece.lstrip("$€£").rstrip("%")
        if (find_value(piece) and (piece != bare or not piece.isalnum())) or re.fullmatch(r"\d+", piece):
            found.append(_Token(piece, piece, piece, piece))
            continue
        owner = piece.endswith("'s")
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", piece.removesuffix("'s"))
        for part in re.findall(r"[^\W_]+", name):
            folded = part.casefold()
            found.append(_Token(part, folded, vocabulary.translate(folded)))
        if owner:
            found.append(_Token("'s", "'s", "'s"))
    return found


class _Reader:
    """One question on its way to readings."""

    def __init__(self, tokens: list[_Token], vocabulary: Vocabulary, period: tuple[str, str] | None) -> None:
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
            after = self.tokens[at + 1].plain if at + 1 < len(self.tokens) else ""
            unit = next((code for name, code in _CURRENCIES.items() if lemma(name) == after), "")
            if unit:
                used.add(at + 1)
                value = f"{value} {unit}"
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
                if at and self.tokens[at].text[:1].isupper() and len(whole) == 1 and not self._is_number(at):
                    found.append(Mention(at, at + 1, (*whole,)))
            at += size
        return found

    def _is_number(self, at: int) -> bool:
        return at in self.number_at

    def _is_called(self, name: str, at: int, size: int) -> bool:
        """Returns whether some words are a name: short ones, and words of grammar, only in the same letters."""
        if any(map(self._is_number, range(at, at + size))):
            return False
        said = [token.text for token in self.tokens[at : at + size]]
        is_weak = len("".join(said)) <= 2 or {token.word for token in self.tokens[at : at + size]} <= _GRAMMAR
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
        left = [at for at in left if self.tokens[at].word not in _GRAMMAR and self.tokens[at].word != "'s"]
        if left and left[0] == self.head and self.kind in ("what", "count") and self.tokens[self.head].text.islower():
            noun, left = self.tokens[self.head].text, left[1:]
        left = [at for at in left if not self._is_apposition(at, mentions)]
        if not left:
            yield mentions, members, noun

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
        is_active = not said & _BE
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
                is_subject = is_doer if not is_active and self._has_doer(mentions) else comes_first
            if (subject if is_subject else obj) is not None:
                return
            subject, obj = (mention, obj) if is_subject else (subject, mention)
        yield from product(subject.names if subject else (None,), obj.names if obj else (None,))

    def _has_doer(self, mentions: list[Mention]) -> bool:
        return any(self._before(mention.start) == "by" for mention in mentions)

    def _before(self, at: int) -> str:
        """Returns the word before a place, articles aside."""
        said = [token.word for token in self.tokens[:at] if token.word not in _ARTICLES]
        return said[-1] if said else ""

    def _is_owner(self, mention: Mention, taken: set[int]) -> bool:
        if mention.end < len(self.tokens) and self.tokens[mention.end].word == "'s":
            return True
        at = max((n for n in range(mention.start) if self.tokens[n].word == "of"), default=-1)
        between = {token.word for token in self.tokens[at + 1 : mention.start]}
        return at > 0 and at - 1 in taken and between <= _ARTICLES

    def _is_grammatical_subject(self, mention: Mention) -> bool:
        return self._before(mention.start) in _DO | _BE | _HAVE | _MODAL

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
                yield from self._read_value(None, mentions[0], members, noun)
            elif len(mentions) == 2 and self.kind in ("truth", "why", "when"):
                for name in mentions[0].names:
                    yield from self._read_value(name, mentions[1], "", "")

    def _type_predicates(self) -> set[str]:
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
        for name in value.names:
            for predicate in sorted(self.vocabulary.holders.get(name, ())):
                yield self._reading(subject, predicate, name, members, noun, "")

    def _reading(
        self, subject: str | None, predicate: str, obj: str | None, members: str, noun: str, said: str
    ) -> Reading:
        return Reading(
            self.kind, subject, predicate, obj, self.compared, self.period, self.is_past, members, noun, said
        )


def _is_date(text: str) -> bool:
    found = find_value(text)
    return found is not None and found.kind == "time"
