"""Candidates of a pack from what a search finds: which lane each is in, and facts instead of passages that list them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from mabos_cli.core.context.pack_entry import Entry
from mabos_cli.core.knowledge.fact import Fact, holds_at
from mabos_cli.core.language.clock import earlier, format_time
from mabos_cli.core.language.text import terms, words_as_written
from mabos_cli.core.search.question import phrases
from mabos_cli.core.search.recall import Candidate, Hit

_FACT_PAGES = ("memory/mabos-facts.md", "memory/mabos-facts/")
_FACT_ID = re.compile(r"; (F-[\w-]+)\)\s*$", re.MULTILINE)
_LINE_TOKENS, _FEWEST, _MOST = (20, 20, 400)  # what a line costs at least, and bounds of how many are looked for
_WORDS, _READ = 48, 2000  # words of a long request that it is searched by, and words of it that are read


def wanted_hits(budget: int, entries: int) -> int:
    """How many candidates a search should give: enough for the budget or the limit, and never very many."""
    enough = 3 * entries if entries else budget // _LINE_TOKENS
    return max(_FEWEST, min(enough, _MOST))


def focus(request: str, holders: Callable[[Sequence[str]], Mapping[str, int]]) -> str:
    """The question to search by: the request itself, or the words of a long one that tell most, which few passages hold."""
    found = words_as_written(request)[:_READ]
    if len(found) <= _WORDS:
        return request
    held = holders([word.casefold() for word in found])
    known = [n for n, word in enumerate(found) if held.get(word.casefold())]
    telling = sorted(known, key=lambda n: (held[found[n].casefold()], n))[:_WORDS]
    codes = [phrase for phrase, _ in phrases(request)]
    return " ".join([*(found[n] for n in sorted(telling)), *codes]) or request


def fresh_since(now: datetime, fresh: float) -> str:
    """The time from which things count as recent."""
    return format_time(earlier(now, fresh))


def entry_of(hit: Hit, since: str, checkpoint: str = "") -> Entry:
    """The candidate of a hit. Hot is what is in working memory, what is recent, and the checkpoint that is named."""
    c, item = hit.candidate, hit.candidate.item
    if item is None:
        lane, type = ("hot", "checkpoint") if c.path == checkpoint and not c.agent else ("cold", "file")
        return Entry(c.ref, c.text, "passage", lane, type, c.trust, c.importance, hit.score, c.at)
    recent = c.store == "working" or (item.created_at or c.at) >= since
    use = item.id if not c.archived and not c.agent else ""
    lane = "hot" if recent else "warm"
    return Entry(c.ref, c.text, "item", lane, item.type, c.trust, c.importance, hit.score, c.at, use)


def is_fact_page(candidate: Candidate) -> bool:
    """Whether a passage lists facts of this agent."""
    return not candidate.item and not candidate.agent and candidate.path.startswith(_FACT_PAGES)


def fact_entries(
    hits: Iterable[Hit], question: str, find: Callable[[str], Fact | None], now: datetime
) -> Iterator[Entry]:
    """The facts on passages that list them, as far as they hold now and are about what is asked.

    A fact is worth what its passage is, by how much of what the best of the passage says about the question it says.
    """
    asked = frozenset(terms(question))
    for hit in hits:
        ids = dict.fromkeys(_FACT_ID.findall(hit.candidate.text))
        facts = [fact for fact in map(find, ids) if fact and holds_at(fact, now)]
        told = [len(asked & frozenset(terms(" ".join(fact.triple)))) for fact in facts]
        most = max(told, default=0)
        for fact, shared in zip(facts, told, strict=True):
            if shared or not most:
                score = round(hit.score * (shared / most if most else 0.5), 4)
                yield _fact_entry(fact, score)


def _fact_entry(fact: Fact, score: float) -> Entry:
    until = f", until {fact.valid_until}" if fact.valid_until else ""
    since = f", from {fact.valid_from}" if fact.valid_from else ""
    text = f"{' '.join(fact.triple)} ({fact.confidence:.2f}{since}{until})"
    at = fact.updated_at or fact.created_at
    return Entry(fact.id, text, "fact", "warm", "fact", fact.trust, fact.confidence, score, at, fact=fact)
