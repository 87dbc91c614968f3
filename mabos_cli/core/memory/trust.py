"""Trust: how far an item may be relied on. It is independent of use, and no more than the least of what the item derives from,
unless a person vouches for its text. Sharing: what of a memory other agents may read."""

from _blake2 import blake2b
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from mabos_cli.core.language.text import words
from mabos_cli.core.memory.item import TRUSTS, MemoryItem
from mabos_cli.core.records import NamedTuple

# What tools and other people said, kept as it came, and derived files that somebody edited, set aside with all that
# they held: texts that nobody vouches for.
_RAW = ("observations/", "sessions/", "memory/archive/edited/")
# How the source of a text begins that a tool, a web page, a letter or a conversation said, and not the agent: nothing of it is
# trusted, unless a person vouches for it. A constant, and no setting: a workspace must not be able to lower this.
OUTSIDE = ("tool:", "web:", "mail:", "transcript:")
MOST = 10_000  # sources that a lineage is followed to
# Why an item is trusted as far as it is.
CLAIMED, VOUCHED, EDITED = "as stored", "a person decided so", "edited since a person decided"
SOURCE, OBSERVED, UNKNOWN, ENDLESS = "by its source", "an observation", "not known here", "too long a lineage"
OBSERVATION = "O-"  # how the ids of observations begin
VOUCHED_BY = "vouched_by"  # the key of a fact or case that names who vouches for it although its source is outside
Find = Callable[[str], MemoryItem | None]
TrustOf = Callable[[MemoryItem], str]
Entry = TypeVar("Entry", bound=Any)  # a fact or a case, with its trust, source and extra keys


class TrustJudge(Protocol):
    """Says how far an item is trusted, and finds the items that it derives from."""

    def __call__(self, item: MemoryItem) -> str: ...

    def find(self, item_id: str) -> MemoryItem | None: ...


class Claim(NamedTuple):
    """Holds what an entry says of itself: its id, how far it wants to be trusted, and where it comes from."""

    id: str
    trust: str
    source: str


def trust_rank(trust: str) -> int:
    """Returns how far a trust goes; a word that is not known here is not trusted.

    >>> [trust_rank(word) for word in ("trusted", "agent", "untrusted", "verified")]
    [2, 1, 0, 0]
    """
    return TRUSTS.index(trust) if trust in TRUSTS else 0


def lowest_trust(trusts: Iterable[str]) -> str:
    """Returns the least of some trusts: what follows from something is trusted no more than that.

    >>> lowest_trust(("trusted", "untrusted", "agent")), lowest_trust(())
    ('untrusted', 'agent')
    """
    return TRUSTS[min(map(trust_rank, trusts), default=TRUSTS.index("agent"))]


def is_outside(source: str) -> bool:
    """Returns whether a source says that a text comes from outside: nobody vouches for it.

    >>> is_outside("tool:web"), is_outside(" Mail:ada@example.com"), is_outside("manual"), is_outside("webinar")
    (True, True, False, False)
    """
    return source.strip().casefold().startswith(OUTSIDE)


def trust_by_source(trust: str, source: str) -> str:
    """Returns how far something is trusted that claims a trust and names its source.

    >>> trust_by_source("trusted", "web:example.com"), trust_by_source("trusted", "manual"), trust_by_source("odd", "manual")
    ('untrusted', 'trusted', 'untrusted')
    """
    return TRUSTS[0 if is_outside(source) else trust_rank(trust)]


def needs_voucher(trust: str, source: str) -> bool:
    """Returns whether a trust that somebody asks for is more than its source has, so that a person must vouch for it."""
    return trust_rank(trust) > 0 and is_outside(source)


def bound_by_source(entry: Entry) -> Entry:
    """Returns a fact or a case, untrusted where its source is outside and no person vouches for it."""
    unvouched = needs_voucher(entry.trust, entry.source) and not dict(entry.extra).get(VOUCHED_BY)
    bound: Entry = entry._replace(trust=TRUSTS[0]) if unvouched else entry
    return bound


def vouch_for(entry: Entry, by: str) -> Entry:
    """Returns it with the name of who vouches for it, where it needs that; else without such a name."""
    others = tuple(pair for pair in entry.extra if pair[0] != VOUCHED_BY)
    named = ((VOUCHED_BY, by),) if by and needs_voucher(entry.trust, entry.source) else ()
    vouched: Entry = entry._replace(extra=(*others, *named))
    return vouched


def trust_of_item(item: MemoryItem) -> str:
    """Returns how far an item is trusted by what it says of itself; effective_trust asks what it derives from too."""
    return trust_by_source(item.trust, item.source)


def lowered(item: MemoryItem, trust: str) -> MemoryItem:
    """Returns the item, trusted no more than that; what it says itself stays as long as it says no more."""
    return item if trust_rank(item.trust) <= trust_rank(trust) else item._replace(trust=trust)


def is_untrusted(item: MemoryItem) -> bool:
    """Returns whether nobody vouches for an item: its text must not come back as the agent's own."""
    return trust_rank(item.trust) == 0


def trust_of_file(path: str) -> str:
    """Returns how far a passage of an agent's file is trusted: as the agent is, unless the file is raw material.

    >>> trust_of_file("MEMORY.md"), trust_of_file("sessions/a.jsonl")
    ('agent', 'untrusted')
    """
    return "untrusted" if path.startswith(_RAW) else "agent"


class Decision(NamedTuple):
    """A person's word on an item: from which trust to which, whose word, why, and the mark of the text that it is about."""

    at: str
    id: str
    before: str
    to: str
    by: str
    reason: str = ""
    text: str = ""


class Ruling(NamedTuple):
    """All decisions on an item: the trust that it got last, the mark of the text that got it, the least that it had before."""

    to: str
    text: str
    floor: str


class Judgement(NamedTuple):
    """How far an item is trusted and why; the path leads from the item to the source that decides."""

    trust: str
    path: tuple[str, ...]
    why: str


NOBODY: Mapping[str, Ruling] = MappingProxyType({})


def mark_text(content: str) -> str:
    """Returns a mark that no other text has, for a log that shall not hold the text itself."""
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def vouch(claim: Claim, text: str, by: str, at: str) -> Decision:
    """Returns the decision of a person to trust what comes from outside as far as it claims."""
    return Decision(at, claim.id, TRUSTS[0], claim.trust, by, f"stored from {claim.source}", mark_text(text))


def find_rulings(decisions: Iterable[Decision]) -> dict[str, Ruling]:
    """Returns what decisions, oldest first, come to for each item."""
    found: dict[str, Ruling] = {}
    for decision in decisions:
        floors = (decision.before, *([found[decision.id].floor] if decision.id in found else ()))
        found[decision.id] = Ruling(decision.to, decision.text, lowest_trust(floors))
    return found


def effective_trust(item: MemoryItem, find: Find, rulings: Mapping[str, Ruling] = NOBODY) -> str:
    """Returns how far an item is trusted where it counts: as it says, but no more than any of its sources, archived ones included."""
    return judge(item, find, rulings).trust


def judge(item: MemoryItem, find: Find, rulings: Mapping[str, Ruling] = NOBODY) -> Judgement:
    """Returns the effective trust of an item with what decides it: the nearest of the least trusted sources.

    A lineage ends at a text that a person vouches for. An observation that is not known is untrusted, as what tools said is;
    another source that is not known cannot make anything trusted; a lineage without end is not trusted at all.
    """
    trust, why = claim_trust(item, rulings)
    found = Judgement(trust, (item.id,), why)
    if why == VOUCHED or not item.derived_from:
        return found
    above = {item.id: ""}
    waiting = deque((item,))
    while waiting and found.trust != TRUSTS[0]:
        current = waiting.popleft()
        for source in current.derived_from:
            if source in above:
                continue
            above[source] = current.id
            below = find(source)
            trust, why = claim_trust(below, rulings) if below else _absent(source)
            if len(above) > MOST:
                trust, why = TRUSTS[0], ENDLESS
            if trust_rank(trust) < trust_rank(found.trust):
                found = Judgement(trust, tuple(_path_up(above, source))[::-1], why)
            if below and why != VOUCHED:
                waiting.append(below)
    return found


def claim_trust(item: MemoryItem, rulings: Mapping[str, Ruling]) -> tuple[str, str]:
    """Returns how far an item is trusted by itself, and why: what it says, bounded by its source, unless a person decided."""
    ruling = rulings.get(item.id)
    if ruling and ruling.text == mark_text(item.content):
        return lowest_trust((item.trust, ruling.to)), VOUCHED
    rank = trust_rank(item.trust)
    if rank and is_outside(item.source):
        return TRUSTS[0], SOURCE
    if ruling is None:
        return TRUSTS[rank], CLAIMED
    fallen = trust_rank(ruling.floor) < rank
    return lowest_trust((item.trust, ruling.floor)), EDITED if fallen else CLAIMED


def _absent(source: str) -> tuple[str, str]:
    return (TRUSTS[0], OBSERVED) if source.startswith(OBSERVATION) else ("agent", UNKNOWN)


def _path_up(above: Mapping[str, str], source: str) -> Iterator[str]:
    """Yields the ids from a source up to the item; a draft has none yet."""
    while source:
        yield source
        source = above[source]


PRIVATE = "private"  # a tag that keeps an item from everybody else, whatever the settings say
_RETOLD = 0.8  # share of a private text's words from which a passage that holds them tells it


class Sharing(NamedTuple):
    """Holds what an agent shares: all that is not private, or only items with one of some tags."""

    is_open: bool
    tags: tuple[str, ...] = ()

    @property
    def is_any(self) -> bool:
        """Returns whether it shares anything at all."""
        return self.is_open or bool(self.tags)

    def admits(self, tags: Collection[str]) -> bool:
        """Returns whether an item with these tags may be read by other agents.

        >>> Sharing(False, ("pricing",)).admits(["pricing"]), Sharing(True).admits([]), Sharing(True).admits(["Private"])
        (True, True, False)
        """
        named = {tag.casefold() for tag in tags}
        return PRIVATE not in named and (self.is_open or not named.isdisjoint(self.tags))


def parse_sharing(is_open: bool, tags: str) -> Sharing:
    """Returns what the settings of an agent say: whether all is shared, and tags with commas between them."""
    return Sharing(is_open, tuple(tag.strip().casefold() for tag in tags.split(",") if tag.strip()))


def retells(text: str, private: Iterable[str]) -> bool:
    """Returns whether a passage tells one of some private texts, as a summary or an edited log may.

    >>> retells("On Monday: the board sells the Oslo office. It rained.", ["The board sells the Oslo office"])
    True
    """
    held = set(words(text))
    for one in private:
        wanted = set(words(one))
        if wanted and len(wanted & held) >= _RETOLD * len(wanted):
            return True
    return False
