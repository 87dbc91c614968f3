"""The candidates of agents in PostgreSQL with pgvector: one schema for many agents, workspaces and hosts.

The words of a passage are the stems that SQLite's tokenizer makes, each behind the number of its home: one GIN index serves all homes,
and a question reads the entries of its own home only. Their worth is BM25, as in SQLite.
"""

import os
import socket
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from math import log
from threading import Timer
from typing import Any, NamedTuple

from mabos_cli.core.language.text import spaced
from mabos_cli.errors import Unavailable
from mabos_cli.index.candidates import ARCHIVED, BOUNDS, PARTS, Candidates, best_parts, pieces_of
from mabos_cli.index.packing import pack_vector
from mabos_cli.index.postgres_schema import FUNCTIONS, POLICIES, TABLES, VERSION
from mabos_cli.index.restriction import Restriction
from mabos_cli.index.tables import TOKENIZER

_GRACE = 1.0  # seconds more than the server has itself
_POSTINGS = 20_000  # passages that are scored for one question; the rarest words decide where there are more


class Address(NamedTuple):
    """Where the database is and how long it may take; how this host, workspace and agent are called there."""

    url: str
    workspace: str
    agent: str
    host: str
    timeout: float
    lease: float


def address_in(settings: Any, workspace: str, agent: str, host: str) -> Address:
    """Returns where the settings say that the database is."""
    url, timeout, lease = (settings[f"index.{name}"] for name in ("postgres", "postgres_timeout", "lease"))
    return Address(url, workspace, agent, host, timeout, lease)


class Home(NamedTuple):
    """The rows of an agent in the database, and what they stand for."""

    home: int
    workspace: str
    agent: str
    state: str
    model: str
    width: int
    large: bool
    sharing: str
    private: int
    at_item: int
    at_row: int
    seq: int
    passages: int
    tokens: int


_connections: dict[tuple[int, str], Any] = {}  # of this process: a warm one connects once


def connect(address: Address) -> Any:
    """Returns a connection to the database with its schema; Unavailable when there is none in time."""
    try:
        import psycopg
    except ImportError:
        raise Unavailable("PostgreSQL needs psycopg", "pip install 'mabos-cli[postgres]'") from None
    key = (os.getpid(), address.url)
    known = _connections.get(key)
    if known and not known.closed and not known.broken:
        return known
    try:
        timeout = max(2, round(address.timeout))  # libpq takes no less
        db = psycopg.connect(address.url, autocommit=True, connect_timeout=timeout, application_name="mabos")
        limit_time(db, address.timeout)
        db.execute("SET hnsw.ef_search = 400; SET hnsw.iterative_scan = strict_order; SET client_min_messages = error")
        found = db.execute("SELECT obj_description(to_regnamespace('mabos'), 'pg_namespace')").fetchone()
        if found != (f"mabos {VERSION}",):
            _create(db, found[0] if found else None)
    except psycopg.Error as error:
        reason = str(error).strip().partition("\n")[0]
        raise Unavailable(f"PostgreSQL: {reason}", "index.postgres is its address") from None
    _connections[key] = db
    return db


def limit_time(db: Any, seconds: float) -> None:
    """Lets no statement, and no wait for another one, take longer."""
    db.execute(f"SET statement_timeout = {round(seconds * 1000)}; SET lock_timeout = {round(seconds * 1000)}")


def _create(db: Any, before: str | None) -> None:
    """Creates the tables, instead of those of another version. Two hosts that do so at once wait for one another."""
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(7061726)")
        found = db.execute("SELECT obj_description(to_regnamespace('mabos'), 'pg_namespace')").fetchone()[0]
        if found == f"mabos {VERSION}":
            return
        db.execute("DROP SCHEMA IF EXISTS mabos CASCADE")
        for statement in (TABLES, FUNCTIONS, *POLICIES, f"COMMENT ON SCHEMA mabos IS 'mabos {VERSION}'"):
            db.execute(statement)


def list_homes(db: Any, where: str, *values: Any) -> list[Home]:
    """Returns the homes that a condition holds for."""
    rows = db.execute(f"SELECT {', '.join(Home._fields)} FROM mabos.homes WHERE {where} ORDER BY home", values)
    return [*map(Home._make, rows.fetchall())]


def find_home(db: Any, workspace: str, agent: str) -> Home | None:
    """Returns what is searched of this role's agent."""
    where = "owner = current_user AND current AND workspace = %s AND agent = %s"
    return next(iter(list_homes(db, where, workspace, agent)), None)


def find_sharing(db: Any, but: str, words: Sequence[str], most: int) -> list[Home]:
    """Returns the homes of other workspaces that share something, those first whose shared words tell most of a question."""
    stems = sorted({stem for tokens in stem_phrases(pieces_of(words)) for stem in tokens})
    where = "h.current AND h.sharing != '' AND NOT (h.workspace = %s AND h.owner = current_user)"
    if not stems:
        return list_homes(db, where.replace("h.", ""), clean(but))[:most]
    rows = db.execute(
        f"SELECT w.home FROM mabos.words w JOIN mabos.homes h USING (home) WHERE {where} AND w.word = ANY(%s) AND w.shared AND w.held > 0"
        " GROUP BY w.home, h.passages ORDER BY sum(ln(1 + h.passages::float8 / w.held)) DESC, w.home LIMIT %s",
        (clean(but), stems, most),
    )
    return list_homes(db, "home = ANY(%s)", [home for (home,) in rows.fetchall()])


def clean(value: Any) -> Any:
    """Returns a text without what PostgreSQL refuses; other values as they are."""
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


@lru_cache(maxsize=256)
def _translate(sql: str) -> str:
    """Returns a query of the index as PostgreSQL wants it."""
    sql = sql.replace("%", "%%").replace("instr(", "strpos(")
    return sql.replace("value FROM json_each(?)", "value::bigint FROM json_array_elements_text(?::json)").replace(
        "?", "%s"
    )


def database_errors() -> tuple[type[Exception], ...]:
    """Returns the errors of the database."""
    try:
        import psycopg
    except ImportError:
        return ()
    return (psycopg.Error,)


@contextmanager
def in_time(db: Any, seconds: float) -> Iterator[None]:
    """Ends the connection when the server says nothing for so long: the error is that of a lost connection."""
    ended = Timer(seconds, _hang_up, (db,))
    ended.daemon = True
    ended.start()
    try:
        yield
    finally:
        ended.cancel()


def _hang_up(db: Any) -> None:
    with suppress(OSError, *database_errors()), socket.socket(fileno=os.dup(db.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


class Scoped:
    """The rows of one home, as the queries of the index see them: `items`, `passages` and `vectors` hold nothing else. Of another's
    home, what is shared."""

    def __init__(self, db: Any, home: Home, timeout: float, *, whole: bool) -> None:
        self._db, self._timeout = db, timeout
        only = f"WHERE home = {home.home:d}" + ("" if whole else " AND shared")
        names = ("items", "passages", "vectors", "words")
        tables = (f"{name} AS NOT MATERIALIZED (SELECT * FROM mabos.{name} {only})" for name in names)
        self._scope = f"WITH {', '.join(tables)} "

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Any:
        with in_time(self._db, self._timeout + _GRACE):
            return self._db.execute(self._scope + _translate(sql), [clean(value) for value in values])


_tokenizers: dict[int, sqlite3.Connection] = {}


def stem_phrases(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Returns the stems of each text in order, as the index in SQLite has them.

    >>> stem_phrases(["Running seats", "e-mail", "!"])
    [('run', 'seat'), ('e', 'mail'), ()]
    """
    db = _tokenizers.get(os.getpid())
    if db is None:
        db = _tokenizers[os.getpid()] = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        db.text_factory = lambda data: data.decode("utf-8", "replace")  # a token is cut within a character at 32 KiB
        db.execute(f"CREATE VIRTUAL TABLE asked USING fts5 (word, content = '', tokenize = \"{TOKENIZER}\")")
        db.execute("CREATE VIRTUAL TABLE terms USING fts5vocab (asked, 'instance')")
    held: list[list[tuple[int, str]]] = [[] for _ in texts]
    db.execute("BEGIN")
    try:
        db.executemany("INSERT INTO asked (rowid, word) VALUES (?, ?)", enumerate(map(clean, texts)))
        for number, place, term in db.execute("SELECT doc, offset, term FROM terms"):
            held[number].append((place, term[:500]))
    finally:
        db.execute("ROLLBACK")
    return [tuple(term for _, term in sorted(places)) for places in held]


class PostgresLanes(Candidates):
    """The candidates of one home."""

    def __init__(self, db: Any, home: Home, timeout: float, *, whole: bool = True) -> None:
        super().__init__(Scoped(db, home, timeout, whole=whole))
        self.errors = database_errors()
        self.home = home
        self._held: dict[str, int] = {}

    def find_words(self, asked: Sequence[str], count: int, only: Restriction, first: int, end: int) -> dict[int, float]:
        return self._match(stem_phrases([*dict.fromkeys(pieces_of(asked))]), count, only, first, end)

    def find_phrase(self, phrase: str, count: int, only: Restriction, first: int, end: int) -> dict[int, float]:
        return self._match(stem_phrases([spaced(phrase)]), count, only, first, end)

    def _match(
        self, phrases: list[tuple[str, ...]], count: int, only: Restriction, first: int, end: int
    ) -> dict[int, float]:
        often = Counter(filter(None, phrases))  # two forms of a word count twice, as in SQLite
        held = self._count([*often])
        chosen, total = list[tuple[str, ...]](), 0
        for phrase in sorted(held, key=lambda phrase: held[phrase]):
            total += held[phrase]
            if chosen and total > _POSTINGS:
                break
            chosen.append(phrase)
        if not chosen:
            return {}
        mean = self.home.tokens / max(1, self.home.passages) or 1.0
        n = self.home.passages
        worth = {phrase: max(1e-6, log(max(1e-9, (n - held[phrase] + 0.5) / (held[phrase] + 0.5)))) for phrase in held}
        worths = " + ".join(self._bm25(phrase, often[phrase] * worth[phrase], mean) for phrase in held)
        sql = self._holding(chosen, worths, only, first, end)
        return best_parts(lambda wanted: self._db.execute(sql, (*only.values, wanted)).fetchall(), count)

    def _holding(self, phrases: Iterable[tuple[str, ...]], worth: str, only: Restriction, first: int, end: int) -> str:
        """Returns the query for the passages of a range that hold any of the phrases, best first."""
        held = " | ".join(map(self._query, phrases))
        sql = f"SELECT p.row, {worth} AS worth FROM passages p WHERE p.words @@ '{held}'::tsquery AND p.row >= {first} AND p.row < {end}"
        sql += f" AND p.row IN ({only.within(first, end)})" if only.sql else ""
        return f"{sql} ORDER BY worth DESC, p.row LIMIT ?"

    def _query(self, phrase: tuple[str, ...]) -> str:
        """Returns a phrase as a tsquery. Stems are letters, digits and marks: nothing in them is an operator."""
        marked = (f"''{self.home.home:d}:{stem}''" for stem in phrase)
        return f"({' <-> '.join(marked)})"

    def _bm25(self, phrase: tuple[str, ...], worth: float, mean: float) -> str:
        """Returns BM25 of a phrase as SQL. ts_rank adds up 1/n² for the n-th place of a word, and so tells how many there are."""
        rank = f"ts_rank('{{1,1,1,1}}', p.words, '{self._query(phrase[:1])}'::tsquery)"
        often = f"round(1 / (1.6449342 - 1.6449341 * least({rank}, 0.99999)) - 0.5)"
        if len(phrase) > 1:
            often = f"CASE WHEN p.words @@ '{self._query(phrase)}'::tsquery THEN {often} ELSE 0 END"
        return f"(SELECT {worth * 2.2} * n / (n + 0.3 + 0.9 * p.tokens / {mean}) FROM (SELECT {often}) AS often (n))"

    def _count(self, phrases: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
        """Returns in how many passages each phrase occurs, at most; those with a word that is nowhere are left out."""
        unknown = sorted({stem for phrase in phrases for stem in phrase} - self._held.keys())
        if unknown:
            sql = "SELECT word, sum(held)::bigint FROM words WHERE word = ANY(?) GROUP BY word"
            self._held |= dict.fromkeys(unknown, 0) | dict(self._db.execute(sql, (unknown,)).fetchall())
        counts = {phrase: min(self._held[stem] for stem in phrase) for phrase in phrases}
        return {phrase: held for phrase, held in counts.items() if held > 0}

    def holders(self, words: Sequence[str]) -> dict[str, int]:
        stems = stem_phrases(list(words))
        self._count([phrase for phrase in stems if phrase])
        held = {
            word: [n for stem in phrase if (n := self._held[stem])] for word, phrase in zip(words, stems, strict=True)
        }
        return {word: min(counts) for word, counts in held.items() if counts}

    def _add_up(self, worths: Mapping[str, float], count: int, only: Restriction, end: int) -> list[tuple[int, float]]:
        pieces = [
            (stems, worth) for word, worth in worths.items() for stems in stem_phrases(pieces_of([word])) if stems
        ]
        if not pieces:
            return []
        held = ((f"p.words @@ '{self._query(stems)}'::tsquery", worth) for stems, worth in pieces)
        terms = (f"CASE WHEN {is_held} THEN {worth} ELSE 0 END" for is_held, worth in held)
        sql = self._holding([stems for stems, _ in pieces], " + ".join(terms), only, ARCHIVED, end)
        return [(row, float(worth)) for row, worth in self._db.execute(sql, (*only.values, count))]

    def _total(self) -> int:
        return self.home.passages

    def count_findable(self, end: int) -> int:
        sql = f"SELECT count(*) FROM passages p WHERE p.row < {end} AND p.row % {PARTS} = 0"
        return int(self._db.execute(sql).fetchone()[0])

    def nearest(self, query: bytes, count: int, only: Restriction, away: int) -> list[tuple[int, float]]:
        first, end = BOUNDS[away : away + 2]
        apart = f"(v.embedding::halfvec({self.home.width:d}) <=> '{halfvec(pack_vector(query))}')"
        sql = f"SELECT v.row, 1 - {apart} FROM vectors v WHERE v.row >= {first} AND v.row < {end}"
        sql += f" AND v.row IN ({only.within(first, end)})" if only.sql else ""
        return [*self._db.execute(f"{sql} ORDER BY {apart} LIMIT ?", (*only.values, count)).fetchall()]


def halfvec(packed: bytes) -> str:
    """Returns a packed vector as pgvector writes it.

    >>> halfvec(bytes([64, 129]))
    '[64,-127]'
    """
    return f"[{','.join(map(str, memoryview(packed).cast('b')))}]"
