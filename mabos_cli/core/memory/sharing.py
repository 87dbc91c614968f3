"""Decides what of an agent's memory other agents may read: by the agent, by tag and by item."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from mabos_cli.core.language.text import words

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
