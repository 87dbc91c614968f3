"""Audits tokens: what memory costs, what is repeated or unused, and what could be saved."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mabos_cli.core.context.texts import Count
from mabos_cli.core.language.similar import WordIndex, count_negations, likeness, numbers_of, says_the_same, word_set
from mabos_cli.core.language.text import one_line, plural, stem, terms
from mabos_cli.core.memory.item import DOMAINS, PRIORITIES, MemoryItem

# The scopes of an audit, and the categories of sources in them.
SCOPES = {
    "all": ("system_prompt", "index", "memory_md", "skills", "domains", "cognitive"),
    "memory_md": ("memory_md",),
    "domains": ("domains",),
    "system_prompt": ("system_prompt", "index", "skills"),
}
# What a host puts before an agent at all times; of skills, a line each.
ALWAYS = ("system_prompt", "index", "memory_md", "skills")
# Derived from the store: repetitions are changed there, if at all.
DERIVED = ("index", "domains")
ALIKE = 0.8
_FEWEST_WORDS = 5  # of a statement
_SAFE = 0.95  # likeness from which a copy may go without a second look
# A paraphrase has most of the terms of the other statement, and this many at least; fewer of them where they stand in another order, for
# a statement with one other value keeps the order. Texts that share fewer than half are not compared.
_TERMS, _REORDERED, _FEWEST_TERMS, _NEAR = 0.85, 0.75, 4, 0.5
_MODAL = frozenset(map(stem, "always never first must should without please ensure make sure only".split()))


class Source(NamedTuple):
    """A file, or what a host makes of one, with its statements, each with its line."""

    name: str
    category: str
    tokens: int
    statements: tuple[tuple[int, str], ...] = ()


class Place(NamedTuple):
    """A statement and where it stands."""

    source: Source
    line: int
    text: str

    @property
    def ref(self) -> str:
        return f"{self.source.name}:{self.line}" if self.line else self.source.name


class Duplicate(NamedTuple):
    """Two statements that say the same; `extra` is the one to remove."""

    kept: Place
    extra: Place
    similarity: float


class Stale(NamedTuple):
    """The items of a domain that nobody used for long, and what they cost."""

    domain: str
    items: int
    tokens: int
    important: int


class Advice(NamedTuple):
    """Something to do, what it saves at most, and how much could be lost by it."""

    action: str
    description: str
    savings: int
    risk: str


class Written:
    """Statements that somebody wrote, to compare others with. Files derived from the store repeat it by design: they are left out."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self.places = [
            Place(source, line, text) for source in sources for line, text in source.statements if is_compared(text)
        ]
        self._index = WordIndex(_NEAR)
        for number, place in enumerate(self.places):
            if place.source.category not in DERIVED:
                self._index.add(str(number), _terms(place.text))

    def find(self, text: str) -> Iterator[tuple[float, int]]:
        """Yields how far places say the same as a text, with their numbers, if they do."""
        for _, key in self._index.find(_terms(text), _NEAR) if is_compared(text) else ():
            if same := sameness(self.places[int(key)].text, text):
                yield same, int(key)


def is_compared(text: str) -> bool:
    """Returns whether a statement is long enough to be compared: shorter ones are alike by chance."""
    return len(word_set(text)) >= _FEWEST_WORDS


def find_duplicates(sources: Iterable[Source]) -> list[Duplicate]:
    """Returns statements that repeat another one, also in other words, in the order of the sources, each paired with the most similar one.

    Two that differ in a number or a negation say different things.
    """
    written = Written(sources)
    likest: dict[int, tuple[float, int]] = {}
    for at, place in enumerate(written.places):
        for same, other in written.find(place.text):
            first, later = sorted((at, other))
            if first < later:
                likest[later] = max(likest.get(later, (0.0, 0)), (same, -first))
    return [_pair(written.places[-first], written.places[at], same) for at, (same, first) in sorted(likest.items())]


def sameness(a: str, b: str) -> float:
    """Returns how far two statements say the same, in 0..1: below 0.95 in other words; 0 when they do not.

    >>> sameness("Never send external messages without asking first", "Always ask before sending external messages")
    0.94
    >>> sameness("Dana prefers email over Slack now", "Dana prefers Slack over email now")
    0.0
    """
    same = likeness(word_set(a), word_set(b))
    if same >= ALIKE:
        return same if a == b or says_the_same(a, b) else 0.0
    one, two = _terms(a), _terms(b)
    common = one & two
    orders = [[term for term in terms(text) if term in common] for text in (a, b)]
    share = _TERMS if orders[0] == orders[1] else _REORDERED
    is_close = len(common) >= max(_FEWEST_TERMS, share * min(len(one), len(two)))
    agrees = numbers_of(a) == numbers_of(b) and count_negations(a) % 2 == count_negations(b) % 2
    return min(likeness(one, two), _SAFE - 0.01) if is_close and agrees else 0.0


def _terms(text: str) -> frozenset[str]:
    found = frozenset(terms(text))
    return found - _MODAL or found


def _pair(first: Place, second: Place, similarity: float) -> Duplicate:
    """Returns which of two is removed: rather the one in MEMORY.md, else one that is neither derived nor of a skill, else the later."""
    ranks = {"memory_md": 3, "index": 1, "domains": 1, "skills": 0}
    first_rank, second_rank = (ranks.get(place.source.category, 2) for place in (first, second))
    kept, extra = (second, first) if first_rank > second_rank else (first, second)
    return Duplicate(kept, extra, round(similarity, 4))


def find_stale(unused: Iterable[MemoryItem], count: Count) -> list[Stale]:
    """Returns what unused items come to, by domain."""
    found: dict[str, list[MemoryItem]] = {}
    for item in unused:
        if item.type in DOMAINS:
            found.setdefault(DOMAINS[item.type], []).append(item)
    return [
        Stale(
            name,
            len(old),
            sum(count(item.content) for item in old),
            sum(item.importance >= PRIORITIES["high"] for item in old),
        )
        for name, old in sorted(found.items())
    ]


def advise_on_duplicates(duplicates: Sequence[Duplicate], count: Count) -> list[Advice]:
    """Advises to remove duplicates."""
    return [
        Advice(
            "remove_duplicate", _removal(each), count(each.extra.text), "low" if each.similarity >= _SAFE else "medium"
        )
        for each in duplicates
    ]


def _removal(pair: Duplicate) -> str:
    verb = "repeats" if pair.similarity >= ALIKE else "says much the same as"
    repeated = f"{pair.extra.ref}, which {verb} {pair.kept.ref}: {one_line(pair.extra.text, 80)}"
    if pair.extra.source.category in DERIVED:
        return f"forget the item of {repeated}: mabos forget ID"
    return f"{'shorten' if pair.extra.source.category == 'skills' else 'remove'} {repeated}"


def advise_on_stale(stale: Sequence[Stale]) -> list[Advice]:
    """Advises to archive what a run of the lifecycle would take; it can be revived."""
    return [
        Advice(
            "archive_stale",
            f"archive what is unused in domain {each.domain}, {plural(each.items, 'item')}: mabos lifecycle run --yes",
            each.tokens,
            "medium" if each.important else "low",
        )
        for each in stale
    ]


def advise_on_sections(sections: Iterable[tuple[str, int]], migrated: tuple[int, int], largest: int) -> list[Advice]:
    """Advises to move large sections of MEMORY.md, given with their tokens, into items, and to remove what is items already: so many
    entries with so many tokens."""
    advice = [
        Advice("move_to_items", f"move {name} into items: mabos migrate MEMORY.md", tokens, "medium")
        for name, tokens in sections
        if tokens >= largest
    ]
    if migrated[1] >= largest:
        text = f"remove {plural(migrated[0], 'entry')} from MEMORY.md by hand, which are items now and found by recall"
        advice.append(Advice("remove_migrated", text, migrated[1], "medium"))
    return advice


def advise_on_files(sources: Iterable[Source], largest: int) -> list[Advice]:
    """Advises to split files of which a part is enough most of the time. Derived ones split by themselves."""
    return [
        Advice("split_file", f"split {each.name} ({each.tokens:,} tokens) by topic", each.tokens - largest, "medium")
        for each in sources
        if each.tokens > largest and each.category in ("system_prompt", "cognitive")
    ]


def advise_on_index(is_stale: bool, is_missing: bool) -> list[Advice]:
    """Advises to refresh the index when it is not what memory holds."""
    if not is_stale:
        return []
    why = "write memory/INDEX.md" if is_missing else "refresh memory/INDEX.md and the domain files"
    return [Advice("refresh_index", f"{why}: mabos materialize", 0, "low")]


def rank_advice(advice: Iterable[Advice]) -> list[Advice]:
    """Returns advice, the largest savings first, then the least risk."""
    risks = ("low", "medium", "high")
    return sorted(advice, key=lambda each: (-each.savings, risks.index(each.risk), each.description))
