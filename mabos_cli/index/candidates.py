"""The protocol of an index, whatever keeps it: candidates by words and by meaning, and what is known about them.

The queries here are common SQL over `items` and `passages`; how words and vectors are compared is each store's.

The number of a passage tells what it is without a look at the table: the parts of one item follow one another from a
multiple of PARTS on; those of archived items that are still found are numbered from ARCHIVED on, those of what was merged
or superseded from GONE on, and those of what was forgotten behind them, so that one condition leaves them out.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import log
from typing import TYPE_CHECKING, Any, Protocol

from mabos_cli.core.language.text import split_uncut
from mabos_cli.core.memory.stores import EVERYTHING
from mabos_cli.core.memory.trust import PRIVATE, Sharing
from mabos_cli.core.records import NamedTuple
from mabos_cli.index.packing import unpack_text
from mabos_cli.index.restriction import TRUST, Restriction, restrict

if TYPE_CHECKING:
    from mabos_cli.core.memory.item import MemoryItem
    from mabos_cli.core.search.documents import Embedder
    from mabos_cli.core.search.recall import Filters

_FEW = 300  # passages that are scored one by one without being felt
_MOST_TERMS = 64  # of a question; a pasted document asks with its first words
PARTS = 256
WAITING, EMBEDDED, NONE = range(3)
# sqlite-vec compares only the lower half of a number in `rowid IN`: all numbers must fit into it.
ARCHIVED, GONE, FORGOTTEN, END = (PARTS * n << 22 for n in range(1, 5))
BOUNDS = (PARTS, ARCHIVED, GONE, FORGOTTEN, END)  # of live passages, and of those that each reach adds
_ROW = (
    "SELECT p.row, p.item, p.item_row, p.source, p.first, p.last, p.at, p.author, coalesce(i.session, ''),"
    f" coalesce(i.importance, 0.5), coalesce(i.access_count, 0), coalesce(i.size, p.size), {TRUST}, coalesce(i.expires_at, '')"
    " FROM passages p LEFT JOIN items i ON i.row = p.item_row WHERE "
)
END_OF_TIME = ("~", "")  # a moment and an id behind all others
_BEFORE = " AND (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT ?"
_AFTER = " AND (at, id) > (?, ?) ORDER BY at, id LIMIT ?"
# Numbers as one value: the statement stays the same, and SQLite prepares it once.
_LISTED = "(SELECT value FROM json_each(?))"


class Row(NamedTuple):
    """A passage that was found, with what scoring needs to know about it."""

    row: int
    item: str
    item_row: int
    source: str
    first: int
    last: int
    at: str
    author: str
    session: str
    importance: float
    access: int
    size: int
    trust: int
    expires_at: str


def listed(numbers: Iterable[int]) -> str:
    """Returns numbers as one value of a statement."""
    return f"[{','.join(map(str, numbers))}]"


def first_parts(found: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Returns the best value of each item or passage, by the number of its first part. Best ones come first."""
    best: dict[int, float] = {}
    for row, value in found:
        best.setdefault(row - row % PARTS, value)
    return best


def best_parts(fetch: Callable[[int], list[tuple[int, float]]], count: int) -> dict[int, float]:
    """Returns the best items and passages of a ranked list of parts, by their first part. A long item is many parts: while those of
    a few items fill the places, more are fetched."""
    wanted = count
    while True:
        rows = fetch(wanted)
        found = first_parts(rows)
        if len(rows) < wanted or 2 * len(found) >= count or wanted > 64 * count:
            return dict(list(found.items())[:count])
        wanted *= 4


def pieces_of(terms: Iterable[str]) -> list[str]:
    """Returns what is searched for: the terms, of scripts without spaces each pair of characters.

    >>> pieces_of(["seat", "東京都"])
    ['seat', '東 京', '京 都']
    """
    return [piece for term in terms for piece in split_uncut(term)][: 2 * _MOST_TERMS]


class Candidates(ABC):
    """The candidates of one agent, and the errors of who keeps them elsewhere."""

    errors: tuple[type[Exception], ...] = ()

    def __init__(self, db: Any) -> None:
        self._db = db

    @abstractmethod
    def find_words(self, asked: Sequence[str], count: int, only: Restriction, first: int, end: int) -> dict[int, float]:
        """Returns how well items and passages of a range share words with the question, by the number of their first part."""

    @abstractmethod
    def find_phrase(self, phrase: str, count: int, only: Restriction, first: int, end: int) -> dict[int, float]:
        """Returns what holds a phrase as it is written, as find_words does."""

    @abstractmethod
    def nearest(self, query: bytes, count: int, only: Restriction, away: int) -> list[tuple[int, float]]:
        """Returns the passages that are most like a vector, with their cosine: live ones, or those that a reach adds."""

    @abstractmethod
    def holders(self, words: Sequence[str]) -> dict[str, int]:
        """Returns in how many passages each word occurs, in whatever form."""

    @abstractmethod
    def count_findable(self, end: int) -> int:
        """Returns how many items and passages of files can be found."""

    @abstractmethod
    def _add_up(self, worths: Mapping[str, float], count: int, only: Restriction, end: int) -> list[tuple[int, float]]:
        """Returns the archived passages whose words are worth most together."""

    @abstractmethod
    def _total(self) -> int:
        """Returns about how many passages there are."""

    def find_rare(self, words: Sequence[str], count: int, most: int, only: Restriction, end: int) -> dict[int, float]:
        """Returns what find_words does, among archived items and by the rarest words alone: as many as so many passages together hold.
        Where those are many, words count by how rare they are, whatever the length of a text: that is much faster."""
        held = self.holders(words)
        ordered = sorted(held, key=lambda word: (held[word], word))
        sums = [*accumulate(map(held.__getitem__, ordered))]
        chosen = [word for word, passages in zip(ordered, sums, strict=True) if passages <= most] or ordered[:1]
        if not chosen or sums[len(chosen) - 1] <= _FEW:
            return self.find_words(chosen, count, only, ARCHIVED, end) if chosen else {}
        total = self._total()  # words are worth what they are in bm25
        worths = {word: log(max(1.01, (total - held[word] + 0.5) / (held[word] + 0.5))) for word in chosen}
        return dict(list(first_parts(self._add_up(worths, 4 * count, only, end)).items())[:count])

    def restrict(self, filters: "Filters", sharing: Sharing | None = None) -> Restriction:
        """Returns the filters as a condition on passages."""
        return restrict(self._db, filters, sharing)

    def load_rows(self, numbers: Iterable[int]) -> Iterator[Row]:
        """Returns what is known about passages."""
        return map(Row._make, self._db.execute(f"{_ROW} p.row IN {_LISTED}", (listed(numbers),)))

    def load_items(self, ids: Sequence[str], only: Restriction, end: int) -> Iterator[Row]:
        """Returns what is known about items, by their first part, as far as they pass the filters."""
        where = f"p.item IN ({','.join('?' * len(ids))}) AND p.item != '' AND p.part = 0"
        where += f" AND p.row IN ({only.sql})" if only.sql else ""
        return map(Row._make, self._db.execute(f"{_ROW}{where} AND p.row < ?", (*ids, *only.values, end)))

    def find_heirs(self, ids: Iterable[str], reach: int) -> list[str]:
        """Returns the items within reach that others went into, through any number of steps."""
        found, left, seen = list[str](), [*ids], set[str]()
        for item_id in left:  # which grows as heirs went into others
            seen.add(item_id)
            for away, heir in self._db.execute("SELECT away, heir FROM items WHERE id = ? AND shown", (item_id,)):
                if away <= reach:
                    found.append(item_id)
                elif heir not in seen:
                    left.append(heir)
        return found

    def load_lines(self, rows: Iterable[int]) -> dict[int, tuple[str, str, str]]:
        """Returns line, store and reason of archiving of items, by their row."""
        sql = f"SELECT i.row, i.line, i.store, i.archived FROM items i WHERE i.row IN {_LISTED}"
        return {row: (unpack_text(line), *rest) for row, line, *rest in self._db.execute(sql, (listed(rows),))}

    def load_sources(self, rows: Iterable[int]) -> dict[int, str]:
        """Returns the files that items stand in, by their row."""
        return dict(self._db.execute(f"SELECT i.row, i.source FROM items i WHERE i.row IN {_LISTED}", (listed(rows),)))

    def find_line(self, item_id: str, reach: int = EVERYTHING) -> str | None:
        """Returns the line of an item within reach, live or as it was when it left; None when there is none."""
        sql = "SELECT line FROM items WHERE id = ? AND shown AND away <= ?"
        found = self._db.execute(sql, (item_id, reach)).fetchone()
        return unpack_text(found[0]) if found else None

    def list_private(self) -> list[str]:
        """Returns the lines of items that are private, live or archived."""
        sql = "SELECT line FROM items WHERE instr(lower(tags), ?) > 0"
        return [unpack_text(line) for (line,) in self._db.execute(sql, (f"\n{PRIVATE}\n",))]

    def load_texts(self, rows: Iterable[int]) -> dict[int, str]:
        """Returns the text of passages of files."""
        sql = f"SELECT p.row, p.text FROM passages p WHERE p.row IN {_LISTED}"
        return {row: unpack_text(text) for row, text in self._db.execute(sql, (listed(rows),))}

    def list_best(self, count: int, only: Restriction, away: int) -> list[Row]:
        """Returns the most important and recent items among those that a reach adds."""
        where = f"p.row IN ({only.within(*BOUNDS[away : away + 2])})" if only.sql else "1 = 1"
        # Written as items_rank has it the best are read off its top; those of a few are rather looked up one by one.
        column = "+i.away" if only.sql else "i.away"
        numbers = self._db.execute(
            f"SELECT p.row FROM items i JOIN passages p ON p.item = i.id AND p.item != '' AND p.part = 0 WHERE i.shown AND {where} "
            f"AND {column} = ? ORDER BY i.importance DESC, i.at DESC, i.id LIMIT ?",
            (*only.values, away, count),
        ).fetchall()
        found = {row.row: row for row in self.load_rows([row for (row,) in numbers])}
        return [found[row] for (row,) in numbers]

    def list_around(
        self, place: tuple[str, str], before: int, after: int, reach: int
    ) -> list[list[tuple[str, str, str]]]:
        """Returns line, store and reason of archiving of the items before a place in time, and from there on."""
        select = f"SELECT line, store, archived FROM items WHERE shown AND away <= {int(reach)}"
        earlier = self._db.execute(select + _BEFORE, (*place, before)).fetchall()[::-1]
        later = self._db.execute(select + _AFTER.replace(">", ">="), (*place, after)).fetchall()
        return [[(unpack_text(line), *rest) for line, *rest in side] for side in (earlier, later)]

    def list_authors(self, most: int = 200) -> list[str]:
        """Returns the authors of items, each found by a jump over all that the one before wrote."""
        found = [""]
        sql = "SELECT author FROM items WHERE author > ? AND author > '' ORDER BY author LIMIT 1"
        while len(found) <= most and (row := self._db.execute(sql, (found[-1],)).fetchone()):
            found.append(row[0])
        return found[1:]

    def neighbours(self, row: Row, reach: int) -> tuple[list[str], list[str]]:
        """Returns the ids of the two items before one in its session, and of the two after it, nearest first."""
        select = f"SELECT id FROM items WHERE shown AND away <= {int(reach)} AND session = ? AND session != ''"
        values = row.session, row.at, row.item, 2
        before, after = (self._db.execute(select + side, values) for side in (_BEFORE, _AFTER))
        return [item_id for (item_id,) in before], [item_id for (item_id,) in after]


class Index(Protocol):
    """An index as a search sees it: whose it is, its candidates, and the model of its vectors."""

    label: str
    sharing: Sharing | None
    embedder: "Embedder | None"
    trouble: str

    @property
    def decode(self) -> "Callable[[str], MemoryItem]": ...

    @property
    def lanes(self) -> Candidates: ...

    @property
    def has_vectors(self) -> bool: ...

    @property
    def width(self) -> int: ...

    @property
    def centre(self) -> Sequence[float]: ...

    def doubt_model(self, width: int) -> None: ...


class RemoteIndex:
    """The index of an agent elsewhere: nothing here follows its files."""

    def __init__(
        self,
        label: str,
        lanes: Candidates,
        decode: "Callable[[str], MemoryItem]",
        embedder: "Embedder | None",
        width: int,
    ) -> None:
        self.label, self.lanes, self.decode, self.embedder, self.width = label, lanes, decode, embedder, width
        self.sharing: Sharing | None = None  # its candidates are only what is shared
        self.trouble = ""
        self.has_vectors = width > 0
        self.centre = ()

    def doubt_model(self, width: int) -> None:
        """Notes that the model answers with vectors of another width."""
        self.trouble, self.embedder = f"the model's vectors have {width} numbers, and not {self.width}", None
