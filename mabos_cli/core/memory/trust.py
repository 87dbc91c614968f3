"""Trust: how far what is remembered may be relied on. It is independent of use, and what derives from something is trusted no more."""

from collections.abc import Iterable

from mabos_cli.core.memory.item import TRUSTS, MemoryItem

# What tools and other people said, kept as it came, and derived files that somebody edited, set aside with all that
# they held: texts that nobody vouches for.
_RAW = ("observations/", "sessions/", "memory/archive/edited/")


def trust_rank(trust: str) -> int:
    """How far a trust goes; a word that is not known here is not trusted.

    >>> [trust_rank(word) for word in ("trusted", "agent", "untrusted", "verified")]
    [2, 1, 0, 0]
    """
    return TRUSTS.index(trust) if trust in TRUSTS else 0


def lowest_trust(trusts: Iterable[str]) -> str:
    """The least of some trusts: what follows from something is trusted no more than that.

    >>> lowest_trust(("trusted", "untrusted", "agent")), lowest_trust(())
    ('untrusted', 'agent')
    """
    return TRUSTS[min(map(trust_rank, trusts), default=TRUSTS.index("agent"))]


def trust_of_item(item: MemoryItem) -> str:
    """How far an item says that it is trusted; effective_trust of core.lineage asks its sources too."""
    return item.trust


def lowered(item: MemoryItem, trust: str) -> MemoryItem:
    """The item, trusted no more than that; what it says itself stays as long as it says no more."""
    return item if trust_rank(item.trust) <= trust_rank(trust) else item._replace(trust=trust)


def is_untrusted(item: MemoryItem) -> bool:
    """Whether nobody vouches for an item: its text must not come back as the agent's own."""
    return trust_rank(item.trust) == 0


def trust_of_file(path: str) -> str:
    """How far a passage of an agent's file is trusted: as the agent is, unless the file is raw material.

    >>> trust_of_file("MEMORY.md"), trust_of_file("sessions/a.jsonl")
    ('agent', 'untrusted')
    """
    return "untrusted" if path.startswith(_RAW) else "agent"
