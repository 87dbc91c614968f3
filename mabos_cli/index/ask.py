"""A question put to one or more indexes: both lanes, one score, and the hits as recall knows them."""

from collections.abc import Sequence
from typing import NamedTuple

from mabos_cli.core.question import is_first_person, names_in, phrases, without
from mabos_cli.core.recall import Candidate, Filters, Hit, new_words
from mabos_cli.core.scoring import Scored, Signals, Weighing, diversify, score
from mabos_cli.core.text import asked_words, words
from mabos_cli.errors import MabosError
from mabos_cli.index import lanes
from mabos_cli.index.lanes import Restriction, Row
from mabos_cli.index.search_index import SearchIndex


class Scope(NamedTuple):
    """What may be found and how it is weighed: filters, the archive too or not, candidates of each lane, results."""

    filters: Filters
    archived: bool
    pool: int
    count: int
    weighing: Weighing
    diversity: float = 0.0


class Doc(NamedTuple):
    """A candidate: an item by its best part, or a passage of a file."""

    index: SearchIndex
    row: Row
    lexical: float = 0.0
    semantic: float | None = None
    exact: bool = False

    @property
    def ref(self) -> str:
        return f"{self.index.label}{self.row.item or self.row.row}"


class Asking:
    """The search that recall calls, and the terms that a result adds to a question."""

    def __init__(self, indexes: Sequence[SearchIndex], scope: Scope) -> None:
        self._indexes = indexes
        self._scope = scope
        self._only: dict[str, Restriction] = {}
        self.candidates = 0

    def __call__(self, question: str, extra: Sequence[str] = ()) -> list[Hit]:
        """The best hits for a question and the terms that are added to it, best first."""
        docs: dict[str, Doc] = {}
        for index in self._indexes:
            self._collect(index, question, extra, docs)
        self.candidates = max(self.candidates, len(docs))
        mine = is_first_person(question)
        named = names_in(question, {doc.row.author for doc in docs.values()})
        newest = sorted(docs.values(), key=lambda doc: doc.row.item or f"{doc.row.source}:{doc.row.first:09}")
        newest.sort(key=lambda doc: doc.row.at, reverse=True)
        scored = score([_signals(doc, named, mine) for doc in newest], self._scope.weighing)
        if self._scope.diversity:
            scored = self._diversify(scored, docs)
        chosen = scored[: self._scope.count]
        return self._hits([(docs[s.ref], s) for s in chosen])

    def best(self) -> list[Hit]:
        """Without a question: the most important and recent items."""
        found = []
        for index in self._indexes:
            for row in lanes.list_best(
                index.db, self._scope.count, self._restriction(index), self._scope.archived
            ):
                found.append((Doc(index, row), Scored("", round(row.importance, 4), 0.0, ())))
        self.candidates = len(found)
        return self._hits(found)

    def count(self) -> int:
        """How many items and passages can be found at all."""
        return sum(lanes.count_findable(index.db, self._scope.archived) for index in self._indexes)

    def _restriction(self, index: SearchIndex) -> Restriction:
        if index.label not in self._only:
            self._only[index.label] = lanes.restrict(index.db, self._scope.filters)
        return self._only[index.label]

    def _collect(self, index: SearchIndex, question: str, extra: Sequence[str], docs: dict[str, Doc]) -> None:
        """Adds what both lanes of one index find."""
        only, archived, pool = self._restriction(index), self._scope.archived, self._scope.pool
        asked = [*asked_words(question), *extra]
        lexical = dict(lanes.find_words(index.db, lanes.match_any(asked), pool, only, archived))
        written = lanes.match_any(phrases(question))
        exact = {row for row, _ in lanes.find_words(index.db, written, pool, only, archived)}
        rows = {row.row: row for row in lanes.load_rows(index.db, [*lexical, *(exact - lexical.keys())])}
        near: dict[int, float] = {}
        query = self._embed(index, question, extra, rows.values()) if question.strip() else b""
        if query and index.vectors:
            near = dict(index.vectors.nearest(query, pool, only.sql, only.values, archived))
            rows |= {row.row: row for row in lanes.load_rows(index.db, [n for n in near if n not in rows])}
        for number, row in rows.items():
            doc = Doc(index, row, lexical.get(number, 0.0), near.get(number), number in exact)
            other = docs.get(doc.ref)
            docs[doc.ref] = _joined(doc, other) if other else doc

    def _embed(self, index: SearchIndex, question: str, extra: Sequence[str], rows) -> bytes:
        """The vector of a question without the names of authors; empty when there is no model, or no word."""
        if index.embedder is None or index.vectors is None:
            return b""
        bare = without(question, names_in(question, {row.author for row in rows}))
        try:
            vector = index.embedder.embed_query(" ".join((bare, *extra)))
        except MabosError as error:
            index.trouble, index.embedder = error.message, None
            return b""
        return vector if any(vector) else b""

    def _diversify(self, scored: list[Scored], docs: dict[str, Doc]) -> list[Scored]:
        top = scored[: self._scope.pool]
        hits = self._hits([(docs[s.ref], s) for s in top])
        texts = {s.ref: frozenset(words(hit.candidate.text)) for s, hit in zip(top, hits, strict=True)}
        return diversify(top, texts, self._scope.diversity, self._scope.count)

    def _hits(self, found: list[tuple[Doc, Scored]]) -> list[Hit]:
        """Hits with their items decoded: only those that are returned."""
        lines = {
            index.label: lanes.load_lines(
                index.db, [d.row.item_row for d, _ in found if d.index is index and d.row.item]
            )
            for index in self._indexes
        }
        return [
            Hit(_candidate(doc, lines[doc.index.label]), s.score, s.relevance, parts=s.parts)
            for doc, s in found
        ]

    def rarest(self, candidate: Candidate, known: set[str], count: int) -> list[str]:
        """The rarest words of a result that the question does not have yet."""
        fresh = new_words(candidate, known)
        index = next(
            i for i in self._indexes if i.label == (f"{candidate.agent}/" if candidate.agent else "")
        )
        held = lanes.holders(index.db, fresh)
        order = sorted(range(len(fresh)), key=lambda n: (held.get(fresh[n], 0), n))
        return [fresh[n] for n in order[:count]]


def _joined(one: Doc, two: Doc) -> Doc:
    """Two parts of one item: the better of each signal."""
    row = one.row if one.lexical >= two.lexical else two.row
    semantic = one.semantic if two.semantic is None else two.semantic
    return Doc(one.index, row, max(one.lexical, two.lexical), semantic, one.exact or two.exact)


def _signals(doc: Doc, named: frozenset[str], mine: bool) -> Signals:
    row = doc.row
    beside = (
        tuple(f"{doc.index.label}{i}" for i in lanes.neighbours(doc.index.db, row)) if row.session else ()
    )
    by_name = row.author in named or (mine and row.author.casefold() in ("user", "human"))
    return Signals(
        doc.ref,
        doc.lexical,
        doc.semantic,
        row.importance,
        row.at,
        row.access_count,
        by_name,
        doc.exact,
        beside,
    )


def _candidate(doc: Doc, lines: dict[int, tuple[str, str, str]]) -> Candidate:
    row, agent = doc.row, doc.index.label.removesuffix("/")
    if not row.item:
        return Candidate(
            row.text, row.importance, row.at, path=row.source, lines=(row.first, row.last), agent=agent
        )
    line, store, archived = lines[row.item_row]
    item = doc.index.decode(line)
    return Candidate(item.content, item.importance, item.happened_at, item, store, archived, agent=agent)


def lanes_of(index: SearchIndex, question: str, count: int) -> dict[str, list[tuple[str, float, str]]]:
    """What each lane finds by itself: reference, measure and text."""
    everything = Restriction()
    match = lanes.match_any(asked_words(question))
    found = {"words": lanes.find_words(index.db, match, count, everything, False), "vectors": []}
    if index.vectors and index.embedder:
        query = index.embedder.embed_query(question)
        found["vectors"] = index.vectors.nearest(query, count, "", (), False) if any(query) else []
    shown: dict[str, list[tuple[str, float, str]]] = {}
    for name, hits in found.items():
        rows = {row.row: Doc(index, row) for row in lanes.load_rows(index.db, [row for row, _ in hits])}
        lines = lanes.load_lines(index.db, [doc.row.item_row for doc in rows.values() if doc.row.item])
        candidates = [(_candidate(rows[row], lines), score) for row, score in hits]
        shown[name] = [(c.ref, score, c.text) for c, score in candidates]
    return shown
