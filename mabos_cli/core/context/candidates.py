"""The parts of a pack: candidates from search hits, evidence against them, limits, and receipts."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING

from mabos_cli.core.context.texts import Turn
from mabos_cli.core.language.clock import earlier, format_time
from mabos_cli.core.language.text import split_sentences, terms, words, words_as_written
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.records import NamedTuple

if TYPE_CHECKING:  # facts and recall are loaded where they are used: a prompt that waits has neither
    from mabos_cli.core.knowledge.fact import Fact
    from mabos_cli.core.search.recall import Candidate, Hit

_FACT_PAGES = ("memory/mabos-facts.md", "memory/mabos-facts/")
_FACT_ID = r"(?m); (F-[\w-]+)\)\s*$"
_LINE_TOKENS, _FEWEST, _MOST = 20, 20, 400  # what a line costs at least, and bounds of how many are looked for
_WORDS, _READ = 48, 2000  # words of a long request that it is searched by, and words of it that are read
# Facts that decide or block what is asked about, and what each step away leaves of their worth.
_CONCERNS, _FARTHER = 4, 0.8
_BEST, _LOOKED_AT = 5, 12  # what is contradicted is among so many, what contradicts it among so many
_STATEMENT_CHARS = 300  # characters of a claim; what is longer tells of more than one thing
_COMMON = 1  # terms that sentences must share to be about one thing, and half of those of the shorter one
# How sentences begin whose subject stands in another one; with an article, unless both texts open alike.
_LEANING = r"(?i)\W*(?:he|she|it|they|his|her|its|their|this|that|these|those|here|there)\b"
_PERHAPS_LEANING = rf"{_LEANING}|\W*the\b"


class Entry(NamedTuple):
    """A candidate. kind is item, fact or passage; lane hot, warm or cold; use is the id whose use counts, if any;
    state says why it is no longer loaded.
    """

    ref: str
    text: str
    kind: str = "item"
    lane: str = "warm"
    type: str = "observation"
    trust: str = "agent"
    importance: float = 0.5
    score: float = 0.0
    at: str = ""
    use: str = ""
    fact: "Fact | None" = None
    was: str = ""  # the text of what it supersedes
    newer: str = ""  # the reference of what says something newer of the same
    state: str = ""
    author: str = ""
    applies: bool = False  # a standing instruction for what is asked

    @property
    def file(self) -> str:
        """Returns the file that a passage is cited by; for anything else, its whole reference."""
        return self.ref.rpartition(":")[0] if self.kind == "passage" else self.ref


class Against(NamedTuple):
    """Evidence against a better candidate: its reference, the reference of that candidate, and the words that disagree."""

    ref: str
    against: str
    why: str


class Limits(NamedTuple):
    """Holds what bounds a pack: tokens, entries (0: any number), trust, and the shares of the tail and of lanes."""

    budget: int
    entries: int = 0
    min_trust: str = ""
    tail_share: float = 0.4
    hot_share: float = 0.35
    cold_share: float = 0.6
    hot_bonus: float = 0.1
    trusted_weight: float = 1.1
    untrusted_weight: float = 0.5
    duplicate: float = 0.9


class Marks(NamedTuple):
    """The numbers that lines are cited by: that of a line, of the one that it contradicts, of the one that is newer; 0 for none."""

    number: int
    against: int = 0
    newer: int = 0


class Writing(NamedTuple):
    """How a pack is written: the line of an entry, the lines of a turn, the source of a numbered line (short where its file is
    named already), and the whole of lines and sources."""

    line: Callable[[Entry, str, Marks], str]
    turn: Callable[[int, Turn, bool], str]
    source: Callable[[int, Entry, bool], str]
    bundle: Callable[[Sequence[str], Sequence[Entry]], str]


class Placed(NamedTuple):
    """Holds what is in a pack: an entry at a layer, or a turn of the tail; its text there, its lines and their cost."""

    entry: Entry
    layer: str
    text: str
    lines: str
    tokens: int
    against: str = ""
    is_whole: bool = False


class Receipt(NamedTuple):
    """Why a candidate is in the pack or not. Nothing of its content."""

    ref: str
    kind: str
    lane: str
    layer: str
    score: float
    trust: str
    importance: float
    tokens: int
    included: bool
    reason: str


class Pack(NamedTuple):
    """A bundle of text that never costs more than its budget, what stands in it, and a receipt for each candidate."""

    text: str
    tokens: int
    placed: tuple[Placed, ...]
    tail: tuple[Placed, ...]
    contradiction: Against | None
    receipts: tuple[Receipt, ...]


def receipt_of(entry: Entry, reason: str, layer: str = "", tokens: int = 0) -> Receipt:
    """Returns the receipt of a candidate: in the pack when the reason is `included`."""
    about = entry.ref, entry.kind, entry.lane, layer, entry.score, entry.trust, entry.importance
    return Receipt(*about, tokens, reason == "included", reason)


def wanted_hits(budget: int, entries: int) -> int:
    """Returns how many candidates a search should give: enough for the budget or the limit, and never very many."""
    enough = 3 * entries if entries else budget // _LINE_TOKENS
    return max(_FEWEST, min(enough, _MOST))


def focus(request: str, holders: Callable[[Sequence[str]], Mapping[str, int]]) -> str:
    """Returns the question to search by: the request itself, or the words of a long one that few passages hold."""
    found = words_as_written(request)[:_READ]
    if len(found) <= _WORDS:
        return request
    from mabos_cli.core.search.question import phrases

    held = holders([word.casefold() for word in found])
    known = [n for n, word in enumerate(found) if held.get(word.casefold())]
    telling = sorted(known, key=lambda n: (held[found[n].casefold()], n))[:_WORDS]
    codes = [phrase for phrase, _ in phrases(request)]
    return " ".join([*(found[n] for n in sorted(telling)), *codes]) or request


def fresh_since(now: datetime, fresh: float) -> str:
    """Returns the time from which things count as recent."""
    return format_time(earlier(now, fresh))


def entry_of(hit: "Hit", since: str, checkpoint: str = "") -> Entry:
    """Returns the candidate of a hit. Hot is what is in working memory, what is recent, and the given checkpoint."""
    c, item = hit.candidate, hit.candidate.item
    if item is None:
        lane, type = ("hot", "checkpoint") if c.path == checkpoint and not c.agent else ("cold", "file")
        return Entry(c.ref, c.text, "passage", lane, type, c.trust, c.importance, hit.score, c.at, author=c.by)
    recent = not c.archived and (c.store == "working" or (item.created_at or c.at) >= since)
    use = item.id if not c.archived and not c.agent else ""
    lane = "hot" if recent else "warm"
    about = c.ref, c.text, "item", lane, item.type, c.trust, c.importance, hit.score, c.at, use
    was, state = c.was[-1][1] if c.was else "", c.archived.partition(":")[0]
    return Entry(*about, was=was, newer=c.newer, state=state, author=item.author)


def is_fact_page(candidate: "Candidate") -> bool:
    """Returns whether a passage lists facts of this agent."""
    return not candidate.item and not candidate.agent and candidate.path.startswith(_FACT_PAGES)


def fact_entries(
    hits: "Iterable[Hit]", question: str, find: "Callable[[str], Fact | None]", now: datetime
) -> Iterator[Entry]:
    """Yields the facts that passages list, if they hold now and are relevant to the question.

    A fact is scored as its passage, in proportion to how many words of the question it has compared with the best fact there.
    """
    from mabos_cli.core.knowledge.fact import holds_at

    asked = frozenset(terms(question))
    for hit in hits:
        ids = dict.fromkeys(re.findall(_FACT_ID, hit.candidate.text))
        facts = [fact for fact in map(find, ids) if fact and holds_at(fact, now)]
        overlaps = [len(asked & frozenset(terms(" ".join(fact.triple)))) for fact in facts]
        most = max(overlaps, default=0)
        for fact, shared in zip(facts, overlaps, strict=True):
            if shared or not most:
                score = round(hit.score * (shared / most if most else 0.5), 4)
                yield _fact_entry(fact, score)


def _fact_entry(fact: "Fact", score: float) -> Entry:
    until = f", until {fact.valid_until}" if fact.valid_until else ""
    since = f", from {fact.valid_from}" if fact.valid_from else ""
    text = f"{' '.join(fact.triple)} ({fact.confidence:.2f}{since}{until})"
    at = fact.updated_at or fact.created_at
    return Entry(fact.id, text, "fact", "warm", "fact", fact.trust, fact.confidence, score, at, fact=fact)


def has_rival_facts(ranked: Sequence[Entry]) -> bool:
    """Returns whether two facts among the best candidates give one predicate of a subject a value."""
    known = [(entry.fact.subject, entry.fact.predicate) for entry in ranked[:_LOOKED_AT] if entry.fact]
    return len(known) > len({*known})


def is_claim(entry: Entry) -> bool:
    """Returns whether an entry states one thing: a short memory, a fact, a belief. Files cover many things under one heading."""
    is_belief = entry.ref.startswith("Beliefs.md:")
    return (entry.kind != "passage" or is_belief) and len(entry.text) <= _STATEMENT_CHARS


def find_against(ranked: Sequence[Entry], functional: frozenset[str] = frozenset()) -> Against | None:
    """Finds the best candidate that contradicts a better one; of two, the less trusted contradicts the other.

    Facts contradict when they give a functional predicate, which has one value at a time, two values.
    """
    near = [entry for entry in ranked[:_LOOKED_AT] if is_claim(entry)]
    texts = [split_sentences(entry.text) for entry in near]
    stems = [[frozenset(terms(sentence)) for sentence in text] for text in texts]
    pairs = [(i, j) for i, j in combinations(range(len(near)), 2) if i < _BEST and _is_near(stems[i], stems[j])]
    if not pairs:
        return None
    stated = {n: texts[n] for n in sorted({n for pair in pairs for n in pair}) if not near[n].fact}
    found = {
        (i, j): why
        for (i, j), why in _compare_statements(near, stated, _LEANING).items()
        if min(len(stated[i]), len(stated[j])) == 1
        or _is_near(stems[i][:1], stems[j][:1])
        or _compare_statements(near, {n: stated[n] for n in (i, j)}, _PERHAPS_LEANING)
    }
    known = [(i, j, why) for (i, j), why in (_compare_facts(near, functional) | found).items() if i < _BEST]
    if not known:
        return None
    i, j, why = min(known)
    if trust_rank(near[j].trust) > trust_rank(near[i].trust):
        i, j = j, i
    return Against(near[j].ref, near[i].ref, why)


def _is_near(one: Sequence[frozenset[str]], other: Sequence[frozenset[str]]) -> bool:
    """Returns whether a sentence of each, given by its terms, may be about one thing."""
    return any(len(x & y) >= max(_COMMON, min(len(x), len(y)) / 2) for x in one for y in other)


def _compare_facts(near: Sequence[Entry], functional: frozenset[str]) -> dict[tuple[int, int], str]:
    """Returns the conflicts of facts by their places."""
    from mabos_cli.core.knowledge.fact import find_contradictions

    places = {entry.fact.id: n for n, entry in enumerate(near) if entry.fact}
    found: dict[tuple[int, int], str] = {}
    for a, b in find_contradictions([entry.fact for entry in near if entry.fact], functional):
        i, j = sorted((places[a.id], places[b.id]))
        found[i, j] = f"{a.predicate} has one value at a time"
    return found


def _compare_statements(
    near: Sequence[Entry], stated: Mapping[int, Sequence[str]], leaning: str
) -> dict[tuple[int, int], str]:
    """Returns the conflicts of texts, given as sentences, by their places. Facts are compared by predicates alone.

    In a text of several sentences, those that begin as `leaning` says are about something that another one names.
    """
    alone = {n: [one for one in text if len(text) == 1 or not re.match(leaning, one)] for n, text in stated.items()}
    if sum(map(bool, alone.values())) < 2:
        return {}
    # Reading sentences loads tables of words: only when there is something to compare.
    from mabos_cli.core.mind.conflicts import find_conflicts
    from mabos_cli.core.mind.mind import Belief

    beliefs = [Belief("", "\n".join(text), 1.0, near[n].at, line=n) for n, text in alone.items() if text]
    found: dict[tuple[int, int], str] = {}
    for conflict in find_conflicts(beliefs):
        i, j = sorted((conflict.a.line, conflict.b.line))
        found.setdefault((i, j), conflict.reason)
    return found


def mark_rivals(entries: Sequence[Entry], functional: frozenset[str]) -> list[Entry]:
    """Returns entries of facts, in which each that a surer one contradicts says so, and is worth no more than that."""
    from mabos_cli.core.knowledge.fact import find_contradictions

    def weight(entry: Entry) -> tuple[int, float]:
        return trust_rank(entry.trust), entry.importance

    found = []
    for entry in entries:
        surer = [other for other in entries if weight(other) > weight(entry)]
        rivals = [r for r in surer if r.fact and entry.fact and find_contradictions([r.fact, entry.fact], functional)]
        if rivals:
            best = max(rivals, key=weight)
            text = f"{entry.text} [against {best.ref}, {best.importance:.2f}]"
            entry = entry._replace(text=text, score=min(entry.score, *(round(r.score - 1e-4, 4) for r in rivals)))
        found.append(entry)
    return found


def named_things(entries: Sequence[Entry], question: str) -> list[str]:
    """Returns the things that facts are about and that a question names."""
    from mabos_cli.core.knowledge.graph import is_plain, name_words

    asked = {*words(question)}
    nodes = dict.fromkeys(node for entry in entries if entry.fact for node in (entry.fact.subject, entry.fact.object))
    return [node for node in nodes if not is_plain(node) and {*name_words(node)} <= asked]


def add_concerns(entries: Sequence[Entry], names: Sequence[str], near: "Iterable[Fact]") -> list[Entry]:
    """Returns entries of facts, with those near some things by which these are decided or blocked, and marked as such."""
    from mabos_cli.core.knowledge.graph import Graph, find_concerns

    found = {entry.ref: entry for entry in entries}
    best = max((entry.score for entry in entries), default=0.0)
    concerns = [one for one in find_concerns(Graph(near), names, 2) if one.kind in ("decided", "blocked")]
    for concern in concerns[:_CONCERNS]:
        fact = concern.fact
        entry = found.get(fact.id) or _fact_entry(fact, round(best * _FARTHER ** (1 + len(concern.path)), 4))
        found[fact.id] = entry._replace(text=f"{concern.kind}: {entry.text}")
    return [*found.values()]
