"""Which drafts may be the same memory as an item that is there: for somebody who understands them to decide."""

from collections.abc import Iterable
from typing import NamedTuple

from mabos_cli.core.language.grounding import may_be_one
from mabos_cli.core.language.similar import says_the_same, word_set
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.lineage import TrustOf
from mabos_cli.core.memory.stores import Limits, Memory, Relatives
from mabos_cli.core.memory.storing import Draft, Pair


class Doubt(NamedTuple):
    """A text that is to be stored, and the item that may say the same."""

    content: str
    item: MemoryItem

    @property
    def pair(self) -> Pair:
        return self.content, self.item.id, self.item.content


def find_doubts(
    memory: Memory, drafts: Iterable[Draft], limits: Limits, relatives: Relatives, trust_of: TrustOf
) -> list[Doubt]:
    """For each draft for long-term memory the most alike item of which likeness alone cannot tell, if there is one.

    Only what is trusted alike may become one, and what a person vouched for stays word for word.
    """
    found = []
    for draft in drafts:
        content, trust = draft.item.content, trust_of(draft.item)
        if draft.store != "long_term" or trust == "trusted":
            continue
        hits = relatives.find(word_set(content), limits.related)
        near = [(score, item) for score, item_id in hits if (item := memory.long_term.find(item_id))]
        if any(score > limits.duplicate and says_the_same(content, item.content) for score, item in near):
            continue  # these merge without a question
        doubts = (
            item
            for score, item in near
            if trust_of(item) == trust and may_be_one(content, item.content, score > limits.duplicate)
        )
        if item := next(doubts, None):
            found.append(Doubt(content, item))
    return found
