"""A question put to one or more indexes: both lanes, one score, and the hits as recall knows them."""

from collections.abc import Mapping, Sequence
from heapq import nlargest
from itertools import repeat
from math import sqrt
from operator import mul
from struct import pack, unpack

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import statement, words, words_as_written
from mabos_cli.core.memory.item import TRUSTS
from mabos_cli.core.records import NamedTuple
from mabos_cli.core.search.prompt import choose_relevant, least_relevance, read_prompt, relevance
from mabos_cli.core.search.question import (
    LONGEST_ASKING,
    asked_for,
    asking_share,
    is_about_many,
    is_first_person,
    is_within,
    may_rule,
    names_in,
    phrases,
    sets_rule,
    times_in,
    without,
)
from mabos_cli.core.search.recall import Candidate, Filters, Hit, candidate_of, spread, without_repeated
from mabos_cli.core.search.scoring import AWAY, Ring, Scored, Signals, Weighing, blend, diversify, score, share_lanes
from mabos_cli.errors import MabosError
from mabos_cli.index.candidates import ARCHIVED, BOUNDS, FORGOTTEN, PARTS, Index, Row, first_parts
from mabos_cli.index.restriction import Restriction

_USER = frozenset(("user", "User", "human", "Human"))  # who is meant when a question says I
_KEPT = 80  # candidates of both lanes together that are looked at closely, or four times the limit
_WHOLE = 1.25  # how much longer than a statement a text may be and still be what is stated
_RARE = 10  # places in which a code or an id may stand and still be what is meant
_MOST_DIVERSE = 400  # choosing unlike results compares each with each
_NEARER = 0.3  # how near the meaning of an answer must be in a small memory, of what it must be in others
_TURNED = 0.65  # the same where what all have in common does not count
_SPARE = 12  # results more that are looked at where summaries may repeat others
_TURNS = ("observations/", "sessions/")  # what was said, as it was said
_AWAY = 10  # candidates of each lane among what is archived, or as many as results are wanted
# Passages that the words of a question, the rarest first, may lead to in an archive; more for more results.
_POSTINGS = 2000
_GIVERS = 60  # candidates whose neighbours in a conversation are looked at: the others have little to give


class Scope(NamedTuple):
    """Holds what may be found and how it is weighed: filters, how far into the archive, candidates of each lane, results."""

    filters: Filters
    reach: int
    pool: int
    limit: int
    weighing: Weighing
    diversity: float | None = None


class Doc(NamedTuple):
    """A candidate: an item by its best part, or a passage of a file."""

    search_index: Index
    row: Row
    signals: Signals


class Question(NamedTuple):
    """A question: the words asked for, what is to be found as written, and whether its meaning counts."""

    text: str
    asked: Sequence[str]
    written: Sequence[tuple[str, bool]] = ()
    meaning: bool = True


class Lanes(NamedTuple):
    """Holds what one index found by words, by meaning and as written; whose words are meant; what is kept."""

    search_index: Index
    lexical: dict[int, float]
    near: dict[int, float]
    exact: dict[int, float]
    authors: frozenset[str]
    floor: float
    now: str
    shares: dict[int, tuple[float, float | None]]

    def doc_of(self, row: Row) -> Doc:
        """Returns a candidate with all that is known about it."""
        ref = f"{self.search_index.label}{row.item or row.row}"
        lexical, semantic = self.shares.get(row.row, (0.0, None))
        is_named, is_exact = row.author in self.authors, row.row in self.exact
        is_away = row.row >= ARCHIVED or is_past(row, self.now)
        is_turn, session = row.source.startswith(_TURNS), row.session or ("" if row.item else row.source)
        known = row.importance, row.at, row.access, is_named, is_exact, row.size, is_away, is_turn, session
        return Doc(self.search_index, row, Signals(ref, lexical, semantic, *known))


def is_past(row: Row, now: str) -> bool:
    """Returns whether the date of an item has passed."""
    return bool(row.expires_at) and row.expires_at <= now


class Asking:
    """The search that recall calls."""

    def __init__(self, indexes: Sequence[Index], scope: Scope) -> None:
        self._indexes = indexes
        self._scope = scope
        self._only: dict[str, Restriction] = {}
        self._end = BOUNDS[scope.reach + 1]
        self._now = format_time(scope.weighing.now) if scope.weighing.now else ""
        self._today = scope.weighing.now.date() if scope.weighing.now else None
        self.candidates = 0

    def __call__(self, question: str) -> list[Hit]:
        """Returns the best hits for a question, by its words and by its meaning."""
        return self._ask(Question(question, asked_for(question, self._today), phrases(question)))

    def follow(self, question: str, asked: Sequence[str]) -> list[Hit]:
        """Returns the best hits for words that a result led to; the question still says who is meant."""
        return self._ask(Question(question, asked, meaning=False))

    def _ask(self, question: Question) -> list[Hit]:
        found = [*map(self._find, self._indexes, repeat(question))]
        lexical = {(n, row): value for n, lane in enumerate(found) for row, value in lane.lexical.items()}
        cosine = {(n, row): value for n, lane in enumerate(found) for row, value in lane.near.items()}
        lanes_of_all = share_lanes(lexical, cosine)
        is_question = question.meaning and read_prompt(question.text).is_question
        for n, lane in enumerate(found):
            is_whole = is_question and self._is_whole(lane)
            least = lane.floor * (_NEARER if is_whole else _TURNED if lane.search_index.centre else 1)
            # What shares neither a word nor its meaning with the question is no answer.
            far = {row: value for row, value in lane.near.items() if value < least and row not in lane.lexical}
            is_alone = is_whole and not lane.lexical and len(far) == len(lane.near)
            for row in far.keys() - (self._answering(question, lane, far) if is_alone else {}).keys():
                del lanes_of_all[n, row]
        keep = max(_KEPT, 4 * self._scope.limit)
        docs: dict[str, Doc] = {}
        looked_at = [{*lane.exact} for lane in found]
        for n, row in nlargest(keep, lanes_of_all, key=lambda key: blend(*lanes_of_all[key])):
            looked_at[n].add(row)
        for (n, row), shares in lanes_of_all.items():  # neighbours that come in later have shares of their own
            found[n].shares[row] = shares
        for lane, rows in zip(found, looked_at, strict=True):
            kept = map(lane.doc_of, lane.search_index.lanes.load_rows(rows))
            docs |= {doc.signals.ref: doc for doc in kept}
        is_default = self._scope.weighing.preset == "default"
        is_many = question.meaning and is_default and is_about_many(question.text)
        rings = self._widen(docs, found) if is_default else {}
        docs = self._read(question, docs) if is_default else docs
        self.candidates = max(self.candidates, len(docs))
        diverse = self._scope.diversity is not None
        spare = _SPARE if any(doc.row.source.endswith(".md") for doc in docs.values()) else 0
        wanted = max(self._scope.pool, self._scope.limit) if diverse else self._scope.limit * (1 + 2 * is_many) + spare
        weighing = self._scope.weighing._replace(is_many=is_many)
        best = score([doc.signals for doc in docs.values()], weighing, wanted, rings)
        hits = self._hits([(docs[s.ref], s) for s in best])
        hits = self._diverse(best, hits) if diverse else hits
        hits = without_repeated(hits, question.asked)
        return spread(hits, self._scope.limit) if is_many and not diverse else hits[: self._scope.limit]

    def _answering(self, question: Question, lane: Lanes, far: Mapping[int, float]) -> Mapping[int, float]:
        """Returns what may answer a question of which memory has neither a word nor the meaning: by the kind of answer, as in a prompt."""
        prompt, held = read_prompt(question.text), lane.search_index.lanes
        rows = [row for row in held.load_rows(far) if row.item]
        lines = held.load_lines([row.item_row for row in rows])
        items = {row.row: lane.search_index.decode(lines[row.item_row][0]) for row in rows}
        values = {row: relevance(prompt, item.content, 0.0, far[row]) for row, item in items.items()}
        floors = {row: least_relevance(prompt, item.type, len(far)) for row, item in items.items()}
        return choose_relevant(values, floors, ())

    def _is_whole(self, lane: Lanes) -> bool:
        """Returns whether a memory is so small that the meaning of every text was looked at: one that shares few words with the question
        may be its answer in others."""
        return 0 < len(lane.near) < self._scope.pool and self._scope.weighing.preset == "default"

    def _read(self, question: Question, docs: dict[str, Doc]) -> dict[str, Doc]:
        """Returns the candidates with what the time that the question names, and their texts, tell about them."""
        years = {int(doc.row.at[:4]) for doc in docs.values() if doc.row.at[:4].isdigit()}
        spans = times_in(question.text, years, self._today) if self._today else []
        asking: dict[tuple[str, int], float] = {}
        ruling: set[tuple[str, int]] = set()
        for index in self._indexes:
            turns = [d.row for d in docs.values() if d.search_index is index and d.row.session and d.row.item]
            lines = index.lanes.load_lines([row.item_row for row in turns if row.size <= LONGEST_ASKING])
            for number, (line, *_) in lines.items():
                if "?" in line:
                    asking[index.label, number] = asking_share(index.decode(line).content)
                if may_rule(line) and sets_rule(index.decode(line).content):
                    ruling.add((index.label, number))
        if not spans and not asking and not ruling:
            return docs

        def read(doc: Doc) -> Doc:
            place = doc.search_index.label, doc.row.item_row
            signals = doc.signals._replace(
                dated=is_within(doc.row.at, spans),
                asking=asking.get(place, 0.0),
                rules=doc.signals.named and place in ruling,
            )
            return doc._replace(signals=signals)

        return {ref: read(doc) for ref, doc in docs.items()}

    def best(self) -> list[Hit]:
        """Returns the most important and recent items."""
        found = []
        for index in self._indexes:
            only = self._restriction(index)
            for away in range(self._scope.reach + 1):
                for row in index.lanes.list_best(self._scope.limit, only, away):
                    worth = row.importance * (AWAY if row.row >= ARCHIVED or is_past(row, self._now) else 1.0)
                    found.append((Doc(index, row, Signals(row.item)), Scored("", round(worth, 4), 0.0, ())))
        self.candidates = len(found)
        found.sort(key=lambda pair: pair[0].row.at, reverse=True)
        found.sort(key=lambda pair: -pair[1].score)
        return self._hits(found[: self._scope.limit])

    def around(self, place: tuple[str, str], before: int, after: int) -> list[list[Candidate]]:
        """Returns the agent's own items before a place in time, and those from there on."""
        index = self._indexes[0]
        found = index.lanes.list_around(place, before, after, self._scope.reach)
        return [[candidate_of(index.decode(line), *rest) for line, *rest in side] for side in found]

    def count(self) -> int:
        """Returns how many items and passages can be found at all."""
        return sum(index.lanes.count_findable(self._end) for index in self._indexes)

    def holders(self, asked: Sequence[str]) -> dict[str, int]:
        """Returns how many passages hold each word, in whatever form."""
        found: dict[str, int] = {}
        for index in self._indexes:
            for word, held in index.lanes.holders(asked).items():
                found[word] = found.get(word, 0) + held
        return found

    def _restriction(self, index: Index) -> Restriction:
        if index.label not in self._only:
            self._only[index.label] = index.lanes.restrict(self._scope.filters, index.sharing)
        return self._only[index.label]

    def _find(self, index: Index, question: Question) -> Lanes:
        """Returns what both lanes of one index find."""
        only, pool = self._restriction(index), self._scope.pool
        named = names_in(question.text, index.lanes.list_authors())
        lexical = self._find_by_words(index, question.asked, only)
        exact: dict[int, float] = {}
        for phrase, sure in question.written:
            found = index.lanes.find_phrase(phrase, pool, only, PARTS, self._end)
            if sure or len(found) <= _RARE:  # a code that stands everywhere tells nothing
                exact |= found
        if question.meaning and (stated := statement(question.text)):
            exact |= dict.fromkeys(self._find_stated(index, stated, _WHOLE * len(question.text), only), 1.0)
        query = embed_question(index, without(question.text, named)) if question.meaning else b""
        near = self._find_by_meaning(index, query, only) if query else []
        authors = named | _USER if is_first_person(question.text) else named
        floor = index.embedder.floor if index.embedder else 0.0
        return Lanes(index, lexical, first_parts(near), exact, authors, floor, self._now, {})

    def _find_stated(self, index: Index, stated: str, longest: float, only: Restriction) -> set[int]:
        """Returns what says a statement and little more. For what was merged or consolidated, that is what it went into."""
        found = index.lanes.find_phrase(stated, _AWAY, Restriction(), PARTS, FORGOTTEN)
        rows = [row for row in index.lanes.load_rows(found) if row.size <= longest] if found else []
        heirs = index.lanes.find_heirs((row.item for row in rows if row.row >= self._end), self._scope.reach)
        ids = [*(row.item for row in rows if row.item and row.row < self._end), *heirs]
        files = set[int]() if only.sql else {row.row for row in rows if not row.item}
        return files | {row.row for row in index.lanes.load_items(ids, only, self._end)} if ids else files

    def _find_by_words(self, index: Index, asked: Sequence[str], only: Restriction) -> dict[int, float]:
        """Returns what shares words with a question. In an archive, which may be large, only what holds its rarer words."""
        lexical = index.lanes.find_words(asked, self._scope.pool, only, *BOUNDS[:2])
        if self._scope.reach:
            count, most = max(_AWAY, self._scope.limit), max(_POSTINGS, 50 * self._scope.limit)
            lexical |= index.lanes.find_rare(asked, count, most, only, self._end)
        return lexical

    def _find_by_meaning(self, index: Index, query: bytes, only: Restriction) -> list[tuple[int, float]]:
        found = index.lanes.nearest(query, self._scope.pool, only, 0)
        for away in range(1, self._scope.reach + 1):
            found += index.lanes.nearest(query, max(_AWAY, self._scope.limit), only, away)
        return found

    def _widen(self, docs: dict[str, Doc], found: list[Lanes]) -> dict[str, Ring]:
        """Adds the neighbours of the best turns of conversations to the candidates, and says whose they are."""
        turns = [doc for doc in docs.values() if doc.row.session]
        if not turns:
            return {}
        rings: dict[str, Ring] = {}
        missing: dict[str, list[str]] = {}
        for doc in nlargest(_GIVERS, turns, key=lambda doc: blend(doc.signals.lexical, doc.signals.semantic)):
            label = doc.search_index.label
            before, after = doc.search_index.lanes.neighbours(doc.row, self._scope.reach)
            near, far = (tuple(label + i for i in (*before[n : n + 1], *after[n : n + 1])) for n in (0, 1))
            rings[doc.signals.ref] = Ring(near, far)
            new = [i for i in (*before, *after) if label + i not in docs]
            missing.setdefault(label, []).extend(new)
        for lane in found:
            index = lane.search_index
            ids = missing.get(index.label, [])
            rows = index.lanes.load_items(ids, self._restriction(index), self._end) if ids else ()
            docs |= {doc.signals.ref: doc for doc in map(lane.doc_of, rows)}
        return rings

    def _diverse(self, best: list[Scored], hits: list[Hit]) -> list[Hit]:
        of = {s.ref: hit for s, hit in zip(best, hits, strict=True)}
        top, rest = best[:_MOST_DIVERSE], best[_MOST_DIVERSE:]
        words_of = {s.ref: frozenset(words(of[s.ref].candidate.text)) for s in top}
        order = diversify(top, words_of, self._scope.diversity or 0.0, self._scope.limit)
        return [of[s.ref] for s in [*order, *rest][: self._scope.limit]]

    def _hits(self, found: list[tuple[Doc, Scored]]) -> list[Hit]:
        """Returns hits with their items decoded and their texts read: only those that are returned."""
        loaded: dict[str, tuple[Mapping[int, tuple[str, str, str]], Mapping[int, str]]] = {}
        for index in self._indexes:
            rows = [doc.row for doc, _ in found if doc.search_index is index]
            loaded[index.label] = (
                index.lanes.load_lines([row.item_row for row in rows if row.item]),
                index.lanes.load_texts([row.row for row in rows if not row.item]),
            )
        return [
            Hit(_candidate(doc, self._now, *loaded[doc.search_index.label]), s.score, s.relevance, parts=s.parts)
            for doc, s in found
        ]


def _candidate(doc: Doc, now: str, items: Mapping[int, tuple[str, str, str]], texts: Mapping[int, str]) -> Candidate:
    row, agent = doc.row, doc.search_index.label.removesuffix("/")
    if not row.item:
        found = Candidate(texts[row.row], row.importance, row.at, path=row.source, lines=(row.first, row.last))
        return found._replace(agent=agent, marked=TRUSTS[row.trust], by=row.author)
    line, store, archived = items[row.item_row]
    archived = archived or ("expired" if is_past(row, now) else "")
    return candidate_of(doc.search_index.decode(line), store, archived, agent)


def turn_away(vector: bytes, centre: Sequence[float]) -> bytes:
    """Returns a vector without the part of it that all have in common which it is compared with: the more that is, the less it tells.

    >>> from struct import pack, unpack
    >>> unpack("<2f", turn_away(pack("<2f", 0.5, 0.5), [0.5, 0.0]))
    (0.25, 0.5)
    """
    if not centre:
        return vector
    numbers = unpack(f"<{len(vector) // 4}f", vector)
    along = sum(map(mul, numbers, centre)) / (sqrt(sum(map(mul, centre, centre))) or 1.0)
    return pack(f"<{len(numbers)}f", *(one - along * other for one, other in zip(numbers, centre, strict=True)))


def embed_question(index: Index, text: str) -> bytes:
    """Returns the vector of a question; empty when there is no word, or no model that can be reached."""
    if index.embedder is None or not index.has_vectors:
        return b""
    try:
        vector = index.embedder.embed_query(text)
    except MabosError as error:
        index.trouble, index.embedder = error.message, None
        return b""
    if any(vector) and len(vector) != 4 * index.width:
        index.doubt_model(len(vector) // 4)
        return b""
    vector = turn_away(vector, index.centre) if any(vector) else vector
    return vector if any(vector) else b""


def search_lanes(index: Index, question: str, count: int) -> dict[str, list[tuple[str, float, str]]]:
    """Returns what each lane finds by itself: reference, measure and text."""
    near = index.lanes.find_words(words_as_written(question), count, Restriction(), *BOUNDS[:2])
    query = embed_question(index, question)
    found = {"words": [*near.items()], "vectors": index.lanes.nearest(query, count, Restriction(), 0) if query else []}
    shown: dict[str, list[tuple[str, float, str]]] = {}
    for name, hits in found.items():
        docs = {row.row: Doc(index, row, Signals("")) for row in index.lanes.load_rows([row for row, _ in hits])}
        lines = index.lanes.load_lines([doc.row.item_row for doc in docs.values() if doc.row.item])
        texts = index.lanes.load_texts(docs)
        candidates = [(_candidate(docs[row], "", lines, texts), value) for row, value in hits]
        shown[name] = [(c.ref, value, c.text) for c, value in candidates]
    return shown
