"""The words of an agent's facts and rules: names, classes and predicates, with the labels and synonyms of ontologies; and the
words of a question in their plain form."""

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.graph import is_plain, name_words
from mabos_cli.core.knowledge.ontology import TYPE_PREDICATES, Ontology, local_name
from mabos_cli.core.knowledge.rule import Rule, is_variable
from mabos_cli.core.language.periods import MONTHS
from mabos_cli.core.language.text import stem, words
from mabos_cli.core.language.values import find_value
from mabos_cli.core.mind.claims.words import irregular, root

DO = frozenset("do does did".split())
BE = frozenset("is are was were be been being am".split())
HAVE = frozenset("has have had having".split())
ARTICLES = frozenset("a an the this that these those our your its their his her my any some".split())
PREPOSITIONS = frozenset("of in on at to for from by with as into under about per through over off out up s".split())
PRONOUNS = frozenset("we you they i".split())
GRAMMAR = DO | BE | HAVE | ARTICLES | PREPOSITIONS | PRONOUNS
GRAMMAR |= frozenset("it us there ever anyone anybody anything someone somebody something".split())
_MORE = dict(
    each.split("=") for each in "above=gt over=gt exceeding=gt below=lt under=lt exactly=eq before=lt after=gt".split()
)
_THAN = {"more": "gt", "greater": "gt", "higher": "gt", "larger": "gt", "less": "lt", "lower": "lt", "fewer": "lt"}
_LEAST = {"least": "gte", "most": "lte"}
# Words behind a number, and what facts write for them.
_UNITS = {"thousand": "k", "million": "M", "billion": "bn", "yen": "JPY", "francs": "CHF", "percent": "%"}
_UNITS |= dict.fromkeys(("dollar", "dollars"), "USD") | dict.fromkeys(("euro", "euros"), "EUR")
_UNITS |= dict.fromkeys(("pound", "pounds"), "GBP")
_ENDINGS = ("abl", "ibl", "er", "or", "ion", "ation", "ment", "al", "y")
CAUSES = frozenset(("cause", "caus", "reason", "because", "becaus"))
# Plain forms of the words that a bare `How much is it?` and `Where is it?` leave out.
_PRICES = frozenset(("pric", "cost", "fe", "charg", "amount"))
_PLACES = frozenset(("locat", "location", "situat", "bas", "liv", "resid", "headquarter"))
_OPENING = re.compile(
    r"(?i)^(?:please )?(?:(?:(?:can|could|would|will) you (?:please )?)?(?:tell|show|remind) (?:me|us)"
    r"|do (?:you|we) know|is it (?:true|right|correct) that) (?:(?:if|whether) )?"
)
_NOW = re.compile(
    r"(?i)(?<![\w-])(?:these days|at (?:the moment|present)|(?:right )?now|any ?more(?! than)|current(?:ly)?|presently|nowadays"
    r"|today|still|already|yet)(?![\w-])"
)
_PERIOD = re.compile(
    r"(?i)\b(?:in|on|during|at)\s+(?:the\s+year\s+)?((?:(\d{1,2})\s+)?([a-z]{3,9})\s+)?(\d{4})(-\d\d)?(-\d\d)?(?![\w-])"
)


_DATES = ("dat", "day", "time")


class Phrase(NamedTuple):
    """One way in which a predicate is put: its words in plain form, the prepositions, and whether who does it stands behind
    it, as in `supplied by`."""

    predicate: str
    words: tuple[str, ...]
    prepositions: tuple[str, ...]
    is_passive: bool
    text: str

    @property
    def is_of(self) -> bool:
        """Returns whether it is of the form `member of`, by which the club's member is the subject, and the club the object."""
        return self.text.endswith(" of") and self.predicate.casefold().endswith("of")

    @property
    def is_participle(self) -> bool:
        """Returns whether it is of the form `insured with`, where who insures stands behind the preposition."""
        verb = words(self.text)[0]
        return bool(self.prepositions) and not self.is_passive and (verb.endswith("ed") or verb in irregular())


def lemma(word: str) -> str:
    """Returns the plain form of a word, without what its endings add.

    >>> [lemma(word) for word in ("supplies", "supplied", "used", "using", "ran")]
    ['supply', 'supply', 'us', 'us', 'run']
    """
    word = irregular().get(word, word)
    plain = stem(f"{word[:-3]}y" if word.endswith("ied") and len(word) > 4 else word)
    plain = plain[:-2] if len(plain) == 4 and plain.endswith("ed") and plain[1] != "e" else plain
    plain = plain[:-3] if len(plain) == 5 and plain.endswith("ing") and {*plain[:2]} & {*"aeiou"} else plain
    return plain[:-1] if len(plain) > 2 and plain.endswith("e") else plain


class Vocabulary:
    """The names, classes and predicates of some facts and rules, with what ontologies call them."""

    def __init__(self, facts: Sequence[Fact], rules: Iterable[Rule], ontology: Ontology) -> None:
        concluded = [rule.conclusion for rule in rules if rule.conclusion and rule.type == "inference" and rule.enabled]
        self.uses: dict[str, set[str]] = {one.predicate: set() for one in concluded}  # predicates with their objects
        self.holders: dict[str, set[str]] = {}  # values with the predicates that they are objects of
        self.things = {fact.subject for fact in facts}
        nodes: dict[str, None] = {}
        for fact in facts:
            self.uses.setdefault(fact.predicate, set()).add(fact.object)
            self.holders.setdefault(fact.object, set()).add(fact.predicate)
            nodes |= {fact.subject: None, fact.object: None}
        for one in concluded:
            nodes |= {term: None for term in (one.subject, one.object) if not is_variable(term)}
            if not is_variable(one.object):
                self.holders.setdefault(one.object, set()).add(one.predicate)
        self.kinds = {(fact.subject, fact.object) for fact in facts if fact.predicate in TYPE_PREDICATES}
        self.classes = {kind for _, kind in self.kinds}
        self.classes |= {o.object for o in concluded if o.predicate in TYPE_PREDICATES and not is_variable(o.object)}
        self.names: dict[tuple[str, ...], list[str]] = {}
        self.parts: dict[str, set[str]] = {}
        for node in nodes:
            if not is_plain(node) and (key := tuple(map(lemma, name_words(node)))):
                self.names.setdefault(key, []).append(node)
                for part in key:
                    self.parts.setdefault(part, set()).add(node)
        self._add_concepts(ontology)
        self.phrases = [phrase for name in self.uses for phrase in _phrases_of(name, ontology)]
        # When it is due asks for the due date.
        self.dates = [p._replace(words=p.words[:-1]) for p in self.phrases if p.words[1:] and p.words[-1] in _DATES]
        self.dates = [phrase for phrase in self.dates if self.is_dated(phrase.predicate)]
        self.causes, self.prices, self.places = set[str](), set[str](), set[str]()
        single = ontology.functional_names()
        for each in self.phrases:
            name, said = each.predicate, {*each.words}
            self.causes |= {name} if CAUSES & {*said, *each.prepositions, *map(lemma, words(each.text))} else set()
            self.prices |= {name} if _PRICES & said and self._leads_to(name, "money") else set()
            is_in = each.text.endswith((" in", " at")) and name in single
            self.places |= {name} if _PLACES & said or is_in else set()
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
        if not same and len(plain) > 2:
            same = {f"{plain}{ending}" for ending in _ENDINGS} & self._known  # taxed, taxable
        return next(iter(same)) if plain not in self._known and len(same) == 1 else plain

    def knows(self, word: str) -> bool:
        """Returns whether a plain form is part of a name or a predicate."""
        return word in self._known

    def is_attribute(self, predicate: str) -> bool:
        """Returns whether all that a predicate leads to are values, not things."""
        values = self.uses.get(predicate, set())
        return bool(values) and all(map(is_plain, values))

    def is_dated(self, predicate: str) -> bool:
        """Returns whether all that a predicate leads to are dates."""
        return self._leads_to(predicate, "time")

    def is_place(self, predicate: str) -> bool:
        """Returns whether a predicate may say where: not if all its phrases say by whom or of what."""
        last = {words(p.text)[-1] for p in self.phrases if p.predicate == predicate}
        return not last & {"by", "of"} or bool(last & (PREPOSITIONS - {"by", "of"}))

    def _leads_to(self, predicate: str, kind: str) -> bool:
        values = [find_value(value) for value in self.uses.get(predicate, ())]
        return bool(values) and all(value is not None and value.kind == kind for value in values)


def _phrases_of(predicate: str, ontology: Ontology) -> Iterator[Phrase]:
    texts = [" ".join(name_words(predicate))]
    for each in ontology.properties_named(predicate):
        texts += [each.label, *each.synonyms]
    for text in dict.fromkeys(map(str.casefold, texts)):
        spoken = words(text)
        content = tuple(lemma(word) for word in spoken if word not in GRAMMAR and lemma(word) not in CAUSES - {"caus"})
        links = tuple(word for word in spoken if word in PREPOSITIONS)
        if content and predicate not in TYPE_PREDICATES:
            yield Phrase(predicate, content, links, spoken[-1] == "by", text)


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
    edge: str = ""  # start or end, if a when asks for one of them
    words: str = ""  # what in the question was taken for the predicate

    @property
    def text(self) -> str:
        """Returns the reading in one line."""
        middle = f"{self.predicate} {' '.join(self.compared)}" if self.compared else self.predicate
        shown = " ".join((self.subject or "?", middle, *([] if self.compared else [self.object or "?"])))
        notes = [f"{self.words!r} = {self.predicate}"] if self.words and self.words != self.predicate else []
        notes += [f"its {self.edge}"] if self.edge else []
        notes += [f"only {self.members}"] if self.members else []
        notes += [f"{self.noun!r} not checked"] if self.noun else []
        notes += [f"{self.period[0]} to {self.period[1]}"] if self.period else ["at any time"] * self.is_past
        return f"{shown} ({'; '.join(notes)})" if notes else shown


class Token(NamedTuple):
    text: str
    word: str  # folded
    plain: str
    value: str = ""  # a number, amount or date as facts may write it


def take_period(text: str) -> tuple[str, tuple[str, str] | None]:
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
    if exact:
        return left, (first + exact, first + exact)
    last = monthrange(int(year) or 1, number if 1 <= number <= 12 else 12)[1]
    return left, (f"{first}-01", f"{first}-{last}") if number else (f"{year}-01-01", f"{year}-12-31")


def strip_question(text: str, vocabulary: Vocabulary) -> str:
    """Returns a question without what only asks politely, and without words for the present, which the verb expresses as well;
    a word that facts use stays."""
    text = _OPENING.sub("", " ".join(text.split()).rstrip("?!. "))
    text = re.sub(r"(?i)\b(who|what|where|when|why)['’]s\b", r"\1 is", text)
    return _NOW.sub(lambda found: found[0] if vocabulary.knows(lemma(found[0].casefold())) else "", text)


def tokenize(text: str, vocabulary: Vocabulary) -> list[Token]:
    found: list[Token] = []
    for piece in text.replace("’", "'").split():
        piece = piece.strip(",;:()\"'“”")
        bare = piece.lstrip("$€£").rstrip("%")
        if (find_value(piece) and (piece != bare or not piece.isalnum())) or re.fullmatch(r"\d+", piece):
            found.append(Token(piece, piece, piece, piece))
            continue
        owner = piece.endswith("'s")
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", piece.removesuffix("'s"))
        for part in re.findall(r"[^\W_]+", name):
            folded = part.casefold()
            found.append(Token(part, folded, vocabulary.translate(folded)))
        if owner:
            found.append(Token("'s", "'s", "'s"))
    return found


def find_comparison(tokens: Sequence[Token], vocabulary: Vocabulary) -> tuple[tuple[str, str] | None, set[int]]:
    """Returns what a value is compared with, and the words that say so; a bare number asks for equality."""
    for at, token in enumerate(tokens):
        if not token.value or (
            token.value.isdigit() and at and tuple(each.plain for each in tokens[at - 1 : at + 1]) in vocabulary.names
        ):
            continue
        used, value = {at}, token.value
        for after in range(at + 1, min(at + 3, len(tokens))):
            more = f"{value} {_UNITS.get(tokens[after].word, tokens[after].text)}"
            if find_value(more) is None:
                break
            used, value = used | {after}, more
        before = [each.word for each in tokens[max(0, at - 2) : at]]
        if before[-1:] and before[-1] in _MORE:
            return (_MORE[before[-1]], value), used | {at - 1}
        if before[-1:] == ["than"] and before[0] in _THAN:
            return (_THAN[before[0]], value), used | {at - 1, at - 2}
        if before[-1:] and before[-1] in _LEAST and before[0] == "at":
            return (_LEAST[before[-1]], value), used | {at - 1, at - 2}
        return ("eq", value), used
    return None, set()
