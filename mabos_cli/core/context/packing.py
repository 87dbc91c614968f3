"""Packing: what an agent is given to read for a request, within a token budget, and why each candidate is in it or not."""

from collections.abc import Callable, Collection, Iterable, Sequence

from mabos_cli.core.context.pack_entry import Against, Entry, Limits, Pack, Receipt, Writing, receipt_of
from mabos_cli.core.context.pack_filling import Filling
from mabos_cli.core.context.turns import Turn
from mabos_cli.core.language.similar import WordIndex, likeness, says_the_same, word_set
from mabos_cli.core.language.text import token_cost
from mabos_cli.core.memory.trust import trust_rank

_COMPARED = (
    1000  # characters by which texts that say the same are found: comparing long ones with each other takes long
)


def pack(
    entries: Iterable[Entry],
    limits: Limits,
    writing: Writing,
    *,
    count: Callable[[str], int] = token_cost,
    asked: Collection[str] = (),
    history: Sequence[tuple[int, Turn]] = (),
    find_against: Callable[[Sequence[Entry]], Against | None] | None = None,
) -> Pack:
    """The pack of the best entries for a question, whose stems are `asked`, and of the last turns of a conversation.

    The order in which entries are given does not matter. find_against, if given, looks for a contradiction
    among the ranked ones.
    """
    ranked, out = choose(entries, limits)
    filling = Filling(limits, writing, count, asked)
    filling.keep_tail(history)
    against = find_against(ranked) if find_against else None
    filling.fill(ranked, against)
    text, tokens = filling.settle()
    told = any(placed.against for placed in filling.placed)
    receipts = (*filling.receipts(ranked), *out)
    return Pack(text, tokens, tuple(filling.placed), tuple(filling.tail), against if told else None, receipts)


def choose(entries: Iterable[Entry], limits: Limits) -> tuple[list[Entry], list[Receipt]]:
    """The entries with their weighed scores, best first, each once; and receipts of those that are not considered."""
    known, out = WordIndex(limits.duplicate), []
    kept: dict[str, Entry] = {}
    ranked = _ranked(_weighed(entry, limits) for entry in entries)
    # The more trusted of two that say the same stays; of two that are trusted alike, the better one.
    for entry in sorted(ranked, key=lambda entry: -trust_rank(entry.trust)):
        if entry.ref in kept:
            continue
        if trust_rank(entry.trust) < trust_rank(limits.min_trust):
            out.append(receipt_of(entry, "below min trust"))
            continue
        said = word_set(entry.text[:_COMPARED])
        twin = _find_twin(entry, said, known, kept, limits.duplicate)
        if twin:
            out.append(receipt_of(entry, f"duplicate of {twin}"))
        else:
            known.add(entry.ref, said)
            kept[entry.ref] = entry
    out = [*{receipt.ref: receipt for receipt in out if receipt.ref not in kept}.values()]
    return _ranked(kept.values()), sorted(out, key=lambda receipt: (-receipt.score, receipt.ref))


def _weighed(entry: Entry, limits: Limits) -> Entry:
    """The entry with a score that its lane and its trust went into."""
    bonus = limits.hot_bonus if entry.lane == "hot" else 0.0
    weights = limits.untrusted_weight, 1.0, limits.trusted_weight
    return entry._replace(score=round((entry.score + bonus) * weights[trust_rank(entry.trust)], 4))


def _ranked(entries: Iterable[Entry]) -> list[Entry]:
    """Entries best first; ties go to the more trusted, to the newer, then to the reference: the order never wavers."""
    ordered = sorted(entries, key=lambda entry: (entry.ref, entry.lane, entry.kind, entry.text))
    ordered.sort(key=lambda entry: entry.at, reverse=True)
    return sorted(ordered, key=lambda entry: (-entry.score, -trust_rank(entry.trust)))


def _find_twin(entry: Entry, said: frozenset[str], known: WordIndex, kept: dict[str, Entry], above: float) -> str:
    """The reference of an entry that says the same already, empty when there is none."""
    for alike, ref in known.find(said, above) if said else ():
        other = kept[ref].text
        if alike <= above or not (entry.text == other or says_the_same(entry.text, other)):
            continue
        if max(len(entry.text), len(other)) <= _COMPARED or likeness(word_set(entry.text), word_set(other)) > above:
            return ref
    return ""
