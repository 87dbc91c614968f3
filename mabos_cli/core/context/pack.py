"""Packs memory for a request within a token budget, and records why each candidate is in the pack or not.

The tail of the conversation comes first, then entries at the layer that there is room for, then details in what is left.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from mabos_cli.core.context.candidates import Against, Entry, Limits, Marks, Pack, Placed, Receipt, Writing, receipt_of
from mabos_cli.core.context.texts import Turn
from mabos_cli.core.context.windows import (
    Reading,
    cut_window,
    points_elsewhere,
    read_text,
    split_units,
    unit_key,
    weigh_terms,
)
from mabos_cli.core.language.similar import Statement, WordIndex, find_outdated, likeness, says_the_same, word_set
from mabos_cli.core.language.text import token_cost
from mabos_cli.core.memory.item import HAPPENED
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.records import NamedTuple

_COMPARED = 1000  # characters by which texts that say the same are found: comparing long ones takes long
_SIDE_BY_SIDE = 20  # entries that are looked at for updates of one another
_SESSION = ("user", "assistant")  # whose turns are the session itself; what tools said is untrusted
# Shares of the budget: of the first window and of the next ones of passages, which hold an answer rather than those behind them (set
# on two sets of questions about 1,672 pages: few wide ones beat many narrow ones); that no window exceeds; that standing instructions
# have to begin with. Characters: the most of a window, the rest of passages, of a memory.
_FIRST, _NEXT, _WIDENED, _LARGE, _STANDING = 0.28, 0.2, 3, 0.36, 0.3
_WIDE, _MIDDLE, _NARROW = 1600, 400, 200
_LAYERS = (("L0", 80), ("L1", 500))
_SOURCE, _PER_TOKEN = 120, 4  # characters of a line beside its text, and of a token, about
_SHORTEST = 6  # tokens below which no line is worth a try
_CUT, _LEAST = "… (cut)", 20  # the mark of a turn that is cut, and the characters that must be left of it


class Chosen(NamedTuple):
    """The candidates that are considered, best first, and receipts of the others."""

    ranked: list[Entry]
    out: list[Receipt]


def pack(
    chosen: Chosen,
    limits: Limits,
    writing: Writing,
    *,
    count: Callable[[str], int] = token_cost,
    asked: Collection[str] = (),
    history: Sequence[tuple[int, Turn]] = (),
    against: Against | None = None,
    in_time: bool = False,
) -> Pack:
    """Packs the best candidates for a question, whose stems are `asked`, and the last turns of a conversation.

    `against` is a contradiction among the candidates, if there is one. `in_time` puts the lines in the order of time.
    """
    filling = Filling(limits, writing, count, weigh_terms(asked, [entry.text for entry in chosen.ranked]))
    filling.keep_tail(history)
    filling.fill(chosen.ranked, against)
    text, tokens = filling.settle()
    text, tokens = filling.order_in_time(text, tokens) if in_time else (text, tokens)
    is_shown = any(placed.against for placed in filling.placed)
    receipts = (*filling.receipts(chosen.ranked), *chosen.out)
    return Pack(text, tokens, tuple(filling.placed), tuple(filling.tail), against if is_shown else None, receipts)


def choose(entries: Iterable[Entry], limits: Limits) -> Chosen:
    """Weighs candidates and ranks them, each once, in whatever order they come."""
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
        if entry.kind == "passage" and points_elsewhere(entry.text):
            out.append(receipt_of(entry, "only links"))
            continue
        words = word_set(entry.text[:_COMPARED])
        twin = _find_twin(entry, words, known, kept, limits.duplicate)
        if twin:
            out.append(receipt_of(entry, f"duplicate of {twin}"))
        else:
            known.add(entry.ref, words)
            kept[entry.ref] = entry
    out = [*{receipt.ref: receipt for receipt in out if receipt.ref not in kept}.values()]
    return Chosen(_newer_first(_ranked(kept.values())), sorted(out, key=lambda receipt: (-receipt.score, receipt.ref)))


def _weighed(entry: Entry, limits: Limits) -> Entry:
    """Returns the entry with a score that its lane and its trust went into."""
    bonus = limits.hot_bonus if entry.lane == "hot" else 0.0
    weights = limits.untrusted_weight, 1.0, limits.trusted_weight
    return entry._replace(score=round((entry.score + bonus) * weights[trust_rank(entry.trust)], 4))


def _ranked(entries: Iterable[Entry]) -> list[Entry]:
    """Returns standing instructions that apply, then the others, best first; ties go to the more trusted, the newer, then the lower
    reference."""
    ordered = sorted(entries, key=lambda entry: (entry.ref, entry.lane, entry.kind, entry.text))
    ordered.sort(key=lambda entry: entry.at, reverse=True)
    return sorted(ordered, key=lambda entry: (not entry.applies, -entry.score, -trust_rank(entry.trust)))


def _newer_first(ranked: list[Entry]) -> list[Entry]:
    """Returns the entries with each newer one before the older one that it replaces; the older one names it."""
    live = [entry for entry in ranked[:_SIDE_BY_SIDE] if entry.kind == "item" and not entry.state]
    statements = [
        Statement(entry.ref, entry.at, entry.text, entry.trust) for entry in live if entry.type not in HAPPENED
    ]
    found = {entry.ref: entry for entry in ranked}
    for older, newer in find_outdated(statements).items():
        found[older] = found[older]._replace(newer=newer)
        found[newer] = found[newer]._replace(score=max(found[newer].score, found[older].score))
    return _ranked(found.values()) if len(statements) > 1 else ranked


def _find_twin(entry: Entry, words: frozenset[str], known: WordIndex, kept: dict[str, Entry], above: float) -> str:
    """Returns the reference of an earlier entry that says the same, empty when there is none."""
    for alike, ref in known.find(words, above) if words else ():
        other = kept[ref].text
        if alike <= above or not (entry.text == other or says_the_same(entry.text, other)):
            continue
        if max(len(entry.text), len(other)) <= _COMPARED or likeness(word_set(entry.text), word_set(other)) > above:
            return ref
    return ""


class Filling:
    """A pack in the making. Costs are summed up line by line; the last word has the count of the whole text."""

    def __init__(
        self, limits: Limits, writing: Writing, count: Callable[[str], int], worth: Mapping[str, float]
    ) -> None:
        self._limits, self._writing, self._count, self._worth = limits, writing, count, worth
        self._readings: dict[str, Reading] = {}
        self._known: set[str] = set()  # units that stand in the pack
        self.placed: list[Placed] = []
        self.tail: list[Placed] = []
        self._reasons: dict[str, tuple[str, int]] = {}  # of each entry, and what its smallest layer costs
        self._turns: list[Receipt] = []  # of turns that are left out
        self._spent = {"standing": 0, "hot": 0, "warm": 0, "cold": 0}
        self._numbers: dict[str, int] = {}  # that entries are cited by
        self._files: dict[str, int] = {}  # that are cited, each with the number of its first line
        self._room = limits.budget - count(writing.bundle((), ()))

    def keep_tail(self, history: Sequence[tuple[int, Turn]]) -> None:
        """Places the last turns, newest first, as far as their share goes. Only a turn that fills it alone is cut."""
        room, full = min(self._room, int(self._limits.budget * self._limits.tail_share)), False
        for number, turn in reversed(history):
            entry = Entry(f"turn:{number}", turn.content, "turn", "tail", turn.role, at=turn.at)
            if turn.role not in _SESSION:
                entry = entry._replace(trust="untrusted")
                if trust_rank(self._limits.min_trust):
                    self._turns.append(receipt_of(entry, "below min trust"))
                    continue
            placed = self._turn(number, turn, entry)
            if not placed.lines:
                self._turns.append(receipt_of(entry, "empty"))
                continue
            if placed.tokens > room and not self.tail and not full:
                placed = self._cut(number, turn, entry, room) or placed
            full = full or placed.tokens > room
            if full:
                self._turns.append(receipt_of(entry, "over budget", tokens=placed.tokens))
                continue
            self.tail.insert(0, placed)
            room -= placed.tokens
            self._room -= placed.tokens

    def _turn(self, number: int, turn: Turn, entry: Entry) -> Placed:
        lines = self._writing.turn(number, turn, entry.trust == "untrusted")
        return Placed(entry, "L2", turn.content, lines, self._count(lines + "\n"))

    def _cut(self, number: int, turn: Turn, entry: Entry, room: int) -> Placed | None:
        """Returns the longest beginning of a turn that fits, with a mark; None when too little would be left."""
        low, high, found = _LEAST, len(turn.content), None
        while low <= high:
            middle = (low + high) // 2
            shorter = self._turn(number, turn._replace(content=turn.content[:middle] + _CUT), entry)
            if shorter.tokens <= room:
                low, found = middle + 1, shorter._replace(layer="L1")
            else:
                high = middle - 1
        return found

    def fill(self, ranked: Sequence[Entry], against: Against | None) -> None:
        """Places entries, best first. What contradicts one of them comes right behind it, in room kept for it."""
        by_ref = {entry.ref: entry for entry in ranked}
        rival = by_ref.get(against.ref) if against else None
        target = against.against if against else ""
        standing = sum(entry.applies for entry in ranked)
        for rank, entry in enumerate(_with_first(ranked, by_ref.get(target), rival), -standing):
            if entry is rival:
                self._place(entry, rank, of=target if self._is_in(target) else "")
            elif rival and entry.ref == target:
                slot = self._render(rival, _NARROW, target).tokens
                if self._place(entry, rank, keep=slot, lanes=False):
                    self._place(rival, 1, of=target, lanes=False)
                else:
                    self._place(entry, rank)
            else:
                self._place(entry, rank)
        for rank, entry in enumerate(sorted(ranked, key=lambda entry: entry.applies)):
            full = self._reasons[entry.ref]
            if full[0] == "lane full" and not self._place(entry, rank, lanes=False):
                self._reasons[entry.ref] = full
        self._deepen()

    def _is_in(self, ref: str) -> bool:
        return self._reasons.get(ref, ("",))[0] == "included"

    def _place(self, entry: Entry, rank: int, *, keep: int = 0, of: str = "", lanes: bool = True) -> bool:
        """Places an entry at the best layer that there is room for, and notes why if there is none."""
        if self._is_in(entry.ref):
            return True
        limits, room = self._limits, self._room - keep
        if room < _SHORTEST:
            self._reasons[entry.ref] = ("over budget", self._count(entry.text[:_NARROW]))
            return False
        if self._known and self._known.issuperset(filter(None, self._read(entry).keys)):
            self._reasons[entry.ref] = ("told already", 0)
            return False
        placed = self._render(entry, _NARROW, of)
        name = "standing" if entry.applies else entry.lane
        lane = limits.budget * self._share(name) - self._spent[name] if lanes else room
        reason = "over budget" if placed.tokens > room else "lane full" if placed.tokens > lane else "included"
        most = int(limits.entries * _STANDING) if entry.applies and lanes else limits.entries
        if limits.entries and len(self.placed) + bool(keep) >= most:
            reason = "over limit" if most == limits.entries else "lane full"
        self._reasons[entry.ref] = (reason, placed.tokens)
        if reason != "included":
            return False
        for width in () if placed.is_whole else self._widths(entry, rank):
            more = self._render(entry, width, of)
            if more.tokens <= min(room, lane, limits.budget * _LARGE):
                placed = more
                break
        self._spent[name] += placed.tokens
        self._room -= placed.tokens
        self.placed.append(placed)
        self._numbers[entry.ref] = len(self.placed)
        self._files.setdefault(entry.file, len(self.placed))
        self._known |= _keys(placed.text)
        return True

    def _widths(self, entry: Entry, rank: int) -> Sequence[int]:
        """Returns the widths of a window that are tried, the widest first."""
        least = _MIDDLE if entry.kind == "passage" else _NARROW
        if rank and (entry.kind != "passage" or rank > _WIDENED):
            return (least,)
        wide = self._wide(_NEXT if rank else _FIRST)
        return wide, 2 * wide // 3, least

    def _wide(self, share: float) -> int:
        return max(_MIDDLE, min(_WIDE, int(share * self._limits.budget * _PER_TOKEN)))

    def _read(self, entry: Entry) -> Reading:
        if entry.ref not in self._readings:
            self._readings[entry.ref] = read_text(entry.text, self._worth)
        return self._readings[entry.ref]

    def _share(self, lane: str) -> float:
        shares = {"standing": _STANDING, "hot": self._limits.hot_share, "cold": self._limits.cold_share}
        return shares.get(lane, 1.0)

    def _render(self, entry: Entry, width: int, of: str = "", present: Collection[str] = ()) -> Placed:
        """Returns an entry as the pack would show it, in a window of a width; `present` are the units that the pack shows of it already."""
        window = cut_window(self._read(entry), width, self._worth, self._known.difference(present))
        number, line = self._numbers.get(entry.ref, len(self.placed) + 1), self._line(entry, window.text, of)
        source = self._writing.source(number, entry, self._files.get(entry.file, number) < number)
        layer = next((name for name, most in _LAYERS if len(window.text) <= most), "L2")
        return Placed(entry, layer, window.text, line, self._count(f"{line}\n {source}"), of, window.is_whole)

    def _line(self, entry: Entry, text: str, of: str) -> str:
        following = len(self.placed) + 1
        number, against = (self._numbers.get(ref, following) for ref in (entry.ref, of))
        return self._writing.line(entry, text, Marks(number, against if of else 0, self._numbers.get(entry.newer, 0)))

    def _deepen(self) -> None:
        """Gives the best ones wider windows in the room that is left."""
        for at, placed in enumerate(self.placed):
            if placed.is_whole or self._room < _SHORTEST:
                continue
            for width in (self._wide(_LARGE), self._wide(_NEXT), _MIDDLE):
                more = self._render(placed.entry, width, placed.against, _keys(placed.text))
                added = more.tokens - placed.tokens
                if 0 < added <= self._room and more.tokens <= self._limits.budget * _LARGE:
                    self.placed[at] = more
                    self._room -= added
                    break

    def settle(self) -> tuple[str, int]:
        """Returns the whole text and its cost; while that is too much, the last entries go, then the oldest turns."""
        while self.placed or self.tail:
            text, tokens = self._bundle()
            over = tokens - self._limits.budget
            if over <= 0:
                return text, tokens
            # What lines cost alone need not be what they cost together: some go, and the whole is counted again.
            for _ in range(1 + (len(self.placed) + len(self.tail)) // 8):
                over -= self._drop() if over > 0 else 0
        return "", 0

    def order_in_time(self, text: str, tokens: int) -> tuple[str, int]:
        """Sorts the lines behind standing instructions by time, undated ones last, and returns the text; unchanged where the new numbers
        would exceed the budget."""
        key = lambda placed: (not placed.entry.applies, not placed.entry.at, placed.entry.at)  # noqa: E731
        before, self.placed = self.placed, sorted(self.placed, key=key)
        self._numbers = {placed.entry.ref: number for number, placed in enumerate(self.placed, 1)}
        self.placed = [p._replace(lines=self._line(p.entry, p.text, p.against)) for p in self.placed]
        ordered, cost = self._bundle() if text else ("", 0)
        if cost <= self._limits.budget:
            return ordered, cost
        self.placed = before
        return text, tokens

    def _bundle(self) -> tuple[str, int]:
        """Returns the text of what is placed by now, and what it costs."""
        lines = [placed.lines for placed in (*self.placed, *self.tail)]
        text = self._writing.bundle(lines, [placed.entry for placed in self.placed])
        return text, self._count(text)

    def _drop(self) -> int:
        """Takes the least out again: what that saves, about."""
        if self.placed:
            gone = self.placed.pop()
            self._reasons[gone.entry.ref] = ("over budget", gone.tokens)
        else:
            gone = self.tail.pop(0)
            self._turns.append(receipt_of(gone.entry, "over budget", tokens=gone.tokens))
        return gone.tokens

    def receipts(self, ranked: Sequence[Entry]) -> list[Receipt]:
        """Returns a receipt for each entry, best first, then for each turn, oldest first."""
        at = {placed.entry.ref: placed for placed in self.placed}
        found = []
        for entry in ranked:
            reason, tokens = self._reasons[entry.ref]
            placed = at.get(entry.ref)
            placement = (placed.layer, placed.tokens) if placed else ("", tokens)
            found.append(receipt_of(entry, reason, *placement))
        turns = [receipt_of(each.entry, "included", each.layer, each.tokens) for each in self.tail]
        return found + sorted((*turns, *self._turns), key=lambda each: int(each.ref.removeprefix("turn:")))


def _keys(text: str) -> set[str]:
    """Returns the keys of the units of a text."""
    return {unit_key(unit.text) for unit in split_units(text) if not unit.is_title}


def _with_first(ranked: Sequence[Entry], first: Entry | None, then: Entry | None) -> Sequence[Entry]:
    """Returns the entries, with one before another: what is contradicted, and what contradicts it and was better."""
    if first is None or then is None or ranked.index(first) < ranked.index(then):
        return ranked
    others = [entry for entry in ranked if entry is not first]
    at = others.index(then)
    return [*others[:at], first, *others[at:]]
