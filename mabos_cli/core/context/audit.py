"""A token audit: what memory costs, what stands there twice, what nobody uses, and what could be done about it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mabos_cli.core.context.texts import Count
from mabos_cli.core.language.clock import as_stamp
from mabos_cli.core.language.similar import WordIndex, says_the_same, word_set
from mabos_cli.core.language.text import one_line, plural
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
# Derived from the store: what stands there twice is changed there, if at all.
_DERIVED = ("index", "domains")
ALIKE = 0.8
_FEWEST_WORDS = 5  # of a statement; shorter ones are alike by chance
_SAFE = 0.95  # likeness from which a copy may go without a second look


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


def find_duplicates(sources: Iterable[Source], alike: float = ALIKE) -> list[Duplicate]:
    """Statements that say what another one says, in the order of the sources, each paired with the one most like it.

    Two that differ in a number or a negation say different things. Files derived from the store repeat it by design.
    """
    places = [
        (Place(source, line, text), said)
        for source in sources
        for line, text in source.statements
        if len(said := word_set(text)) >= _FEWEST_WORDS
    ]
    index, found = WordIndex(alike), []
    for at, said in enumerate(_by_rarity([said for _, said in places])):
        place = places[at][0]
        for similarity, key in index.find(said, alike):
            other = places[int(key)][0]
            both = place.source.category in _DERIVED and other.source.category in _DERIVED
            if not both and (other.text == place.text or says_the_same(other.text, place.text)):
                found.append(_pair(other, place, similarity))
                break
        index.add(f"{at:08d}", said)
    return found


def _by_rarity(sets: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Returns the sets with each word replaced by its rank, the rarest first.

    The index looks texts up by the words that come first in one fixed order. All texts are known here, so that the order can
    be the best there is: with frequent words in front, each text would be compared with half of the others.
    """
    counts = Counter(word for said in sets for word in said)
    ranked = sorted(counts, key=lambda word: (counts[word], word))
    ranks = {word: f"{rank:08d}" for rank, word in enumerate(ranked)}
    return [frozenset(ranks[word] for word in said) for said in sets]


def _pair(first: Place, second: Place, similarity: float) -> Duplicate:
    """Returns which of two is removed: never the derived one; rather the one in MEMORY.md; else the later one."""
    is_first = second.source.category in _DERIVED or (
        first.source.category == "memory_md" != second.source.category and first.source.category not in _DERIVED
    )
    kept, extra = (second, first) if is_first else (first, second)
    return Duplicate(kept, extra, round(similarity, 4))


def find_stale(items: Iterable[MemoryItem], before: str, count: Count) -> list[Stale]:
    """Returns the items of each domain whose last use, or else their creation, lies before a time."""
    found: dict[str, list[MemoryItem]] = {}
    for item in items:
        used = as_stamp(item.touched_at) if item.type in DOMAINS else ""
        if used and used < before:
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
    """Advises to remove what is elsewhere as well."""
    return [
        Advice(
            "remove_duplicate",
            f"remove {each.extra.ref}, which repeats {each.kept.ref}: {one_line(each.extra.text, 80)}",
            count(each.extra.text),
            "low" if each.similarity >= _SAFE else "medium",
        )
        for each in duplicates
    ]


def advise_on_stale(stale: Sequence[Stale], days: int) -> list[Advice]:
    """Advises to archive what nobody uses; it can be revived."""
    return [
        Advice(
            "archive_stale",
            f"archive what was not used for {plural(days, 'day')} in domain {each.domain}, {plural(each.items, 'item')}: "
            "mabos lifecycle run --dry-run",
            each.tokens,
            "medium" if each.important else "low",
        )
        for each in stale
    ]


def advise_on_sections(sections: Iterable[tuple[str, int]], largest: int) -> list[Advice]:
    """Advises to move large sections of MEMORY.md, given with their tokens, into items."""
    return [
        Advice("move_to_items", f"move {name} into items: mabos migrate", tokens, "medium")
        for name, tokens in sections
        if tokens >= largest
    ]


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
    return [Advice("refresh_index", f"{why}: mabos context index", 0, "low")]


def rank_advice(advice: Iterable[Advice]) -> list[Advice]:
    """Returns advice, the largest savings first, then the least risk."""
    risks = ("low", "medium", "high")
    return sorted(advice, key=lambda each: (-each.savings, risks.index(each.risk), each.description))
