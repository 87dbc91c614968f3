"""The candidates of agents in PostgreSQL with pgvector: one schema for many agents, workspaces and hosts.

homes      one row for each agent of each workspace: whose rows these are, which state of which local index they stand for
items, passages, vectors    what can be found, under the numbers of the local index it came from; `shared` rows may be read by others
words      in how many passages of a home each word occurs
leases     which host may write what belongs to an agent

The words of a passage are the stems that SQLite's tokenizer makes, each behind the number of its home: one GIN index serves all homes,
and a question reads the entries of its own home only. Their worth is BM25, as in SQLite.
"""

import os
import socket
import sqlite3
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
from mabos_cli.index.restriction import Restriction
from mabos_cli.index.tables import TOKENIZER

# Another number for whatever changes what the tables hold: the database is filled again then.
VERSION = 1
_GRACE = 1.0  # seconds more than the server has itself
_POSTINGS = 20_000  # passages that are scored for one question; the rarest words decide where there are more
_TEXT = 'text COLLATE "C" NOT NULL'
_TABLES = f"""
CREATE EXTENSION IF NOT EXISTS vector;
CREATE SCHEMA mabos;
CREATE TABLE mabos.homes (
    home int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, owner name NOT NULL DEFAULT current_user, workspace {_TEXT}, agent {_TEXT},
    state {_TEXT}, current boolean NOT NULL DEFAULT false, model {_TEXT}, width int NOT NULL, large boolean NOT NULL,
    sharing {_TEXT}, private bigint NOT NULL, at_item bigint NOT NULL DEFAULT 0, at_row bigint NOT NULL DEFAULT 0,
    seq bigint NOT NULL, passages bigint NOT NULL DEFAULT 0, tokens bigint NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX homes_current ON mabos.homes (owner, workspace, agent) WHERE current;
CREATE TABLE mabos.leases (
    owner name NOT NULL DEFAULT current_user, workspace {_TEXT}, agent {_TEXT}, holder {_TEXT}, until timestamptz NOT NULL,
    PRIMARY KEY (owner, workspace, agent)
);
CREATE TABLE mabos.items (
    home int NOT NULL, row bigint NOT NULL, id {_TEXT}, source {_TEXT}, shown boolean NOT NULL, store {_TEXT}, archived {_TEXT},
    away int NOT NULL, heir {_TEXT}, type {_TEXT}, importance float8 NOT NULL, at {_TEXT}, expires_at {_TEXT}, author {_TEXT},
    session {_TEXT}, tags {_TEXT}, access_count int NOT NULL, size int NOT NULL, trust int NOT NULL, line bytea NOT NULL,
    shared boolean NOT NULL, PRIMARY KEY (home, row)
);
CREATE INDEX items_id ON mabos.items (home, id);
CREATE INDEX items_rank ON mabos.items (home, away, importance DESC, at DESC);
CREATE INDEX items_time ON mabos.items (home, at, id);
CREATE INDEX items_session ON mabos.items (home, session, at, id) WHERE session != '';
CREATE INDEX items_author ON mabos.items (home, author) WHERE author > '';
CREATE TABLE mabos.passages (
    home int NOT NULL, row bigint NOT NULL, item {_TEXT}, item_row bigint NOT NULL, source {_TEXT}, part int NOT NULL,
    first int NOT NULL, last int NOT NULL, at {_TEXT}, author {_TEXT}, copy_of {_TEXT}, shown boolean NOT NULL, trust int NOT NULL,
    size int NOT NULL, text bytea NOT NULL, shared boolean NOT NULL, tokens int NOT NULL, words tsvector NOT NULL, PRIMARY KEY (home, row)
) WITH (toast_tuple_target = 8160);
CREATE INDEX passages_item ON mabos.passages (home, item) WHERE item != '';
CREATE INDEX passages_words ON mabos.passages USING gin (words);
CREATE TABLE mabos.words (
    home int NOT NULL, word {_TEXT}, shared boolean NOT NULL, held bigint NOT NULL, PRIMARY KEY (home, word, shared)
);
CREATE INDEX words_shared ON mabos.words (word, home) WHERE shared;
CREATE TABLE mabos.vectors (
    home int NOT NULL, row bigint NOT NULL, shared boolean NOT NULL, embedding halfvec NOT NULL, PRIMARY KEY (home, row)
) PARTITION BY LIST (home);
CREATE TABLE mabos.vectors_small PARTITION OF mabos.vectors DEFAULT;
"""
# A large home has a partition of its own with an HNSW index in it: only that partition is locked while the index is built.
_FUNCTIONS = """
CREATE FUNCTION mabos.owned(of_home int) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mabos, public, pg_temp
    RETURN EXISTS (SELECT 1 FROM mabos.homes WHERE home = of_home AND owner = session_user);
CREATE FUNCTION mabos.add_part(of_home int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = mabos, public, pg_temp AS $$ BEGIN
    IF mabos.owned(of_home) THEN
        EXECUTE format('CREATE TABLE IF NOT EXISTS mabos.vectors_%s PARTITION OF mabos.vectors FOR VALUES IN (%s)', of_home, of_home);
    END IF; END $$;
CREATE FUNCTION mabos.index_part(of_home int, of_width int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = mabos, public, pg_temp AS $$ BEGIN
    IF mabos.owned(of_home) THEN
        EXECUTE format('CREATE INDEX IF NOT EXISTS near_%s ON mabos.vectors_%s USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops)', of_home, of_home, of_width);
    END IF; END $$;
CREATE FUNCTION mabos.drop_home(of_home int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = mabos, public, pg_temp AS $$ BEGIN
    IF mabos.owned(of_home) THEN
        EXECUTE format('DROP TABLE IF EXISTS mabos.vectors_%s', of_home);
        DELETE FROM mabos.vectors WHERE home = of_home;
        DELETE FROM mabos.passages WHERE home = of_home;
        DELETE FROM mabos.items WHERE home = of_home;
        DELETE FROM mabos.words WHERE home = of_home;
        DELETE FROM mabos.homes WHERE home = of_home;
    END IF; END $$;
"""
# Whoever may connect may keep homes there, and reads of others what they share. The owner of the schema reads all.
_POLICIES = [
    "GRANT USAGE ON SCHEMA mabos TO PUBLIC",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON mabos.homes, mabos.leases, mabos.items, mabos.passages, mabos.words, mabos.vectors TO PUBLIC",
    *(
        f"ALTER TABLE mabos.{name} ENABLE ROW LEVEL SECURITY"
        for name in ("homes", "leases", "items", "passages", "words", "vectors")
    ),
    *(f"CREATE POLICY own ON mabos.{name} USING (owner = current_user)" for name in ("homes", "leases")),
    "CREATE POLICY others ON mabos.homes FOR SELECT USING (sharing != '' AND current)",
    *(
        f"CREATE POLICY {name} ON mabos.{table} {rule}"
        for table in ("items", "passages", "words", "vectors")
        for name, rule in (
            ("own", "USING (home IN (SELECT home FROM mabos.homes WHERE owner = current_user))"),
            ("others", "FOR SELECT USING (shared AND home IN (SELECT home FROM mabos.homes))"),
        )
    ),
]


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
        milliseconds = round(address.timeout * 1000)
        db.execute(f"SET statement_timeout = {milliseconds}; SET lock_timeout = {milliseconds}")
        db.execute("SET hnsw.ef_search = 200; SET hnsw.iterative_scan = strict_order; SET client_min_messages = error")
        found = db.execute("SELECT obj_description(to_regnamespace('mabos'), 'pg_namespace')").fetchone()
        if found != (f"mabos {VERSION}",):
            _create(db, found[0] if found else None)
    except psycopg.Error as error:
        said = str(error).strip().partition("\n")[0]
        raise Unavailable(f"PostgreSQL: {said}", "index.postgres is its address") from None
    _connections[key] = db
    return db


def _create(db: Any, before: str | None) -> None:
    """Creates the tables, instead of those of another version. Two hosts that do so at once wait for one another."""
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(7061726)")
        found = db.execute("SELECT obj_description(to_regnamespace('mabos'), 'pg_namespace')").fetchone()[0]
        if found == f"mabos {VERSION}":
            return
        db.execute("DROP SCHEMA IF EXISTS mabos CASCADE")
        for statement in (_TABLES, _FUNCTIONS, *_POLICIES, f"COMMENT ON SCHEMA mabos IS 'mabos {VERSION}'"):
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
    rows = db.execute(
        "SELECT w.home FROM mabos.words w JOIN mabos.homes h USING (home) WHERE w.word = ANY(%s) AND w.shared AND w.held > 0"
        " AND h.current AND h.sharing != '' AND NOT (h.workspace = %s AND h.owner = current_user)"
        " GROUP BY w.home, h.passages ORDER BY sum(ln(1 + h.passages::float8 / w.held)) DESC, w.home LIMIT %s",
        (stems, but, most),
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
        db.execute(f"CREATE VIRTUAL TABLE asked USING fts5 (word, content = '', tokenize = \"{TOKENIZER}\")")
        db.execute("CREATE VIRTUAL TABLE terms USING fts5vocab (asked, 'instance')")
    db.execute("BEGIN")
    db.executemany("INSERT INTO asked (rowid, word) VALUES (?, ?)", enumerate(texts))
    held: list[list[tuple[int, str]]] = [[] for _ in texts]
    for number, place, term in db.execute("SELECT doc, offset, term FROM terms"):
        held[number].append((place, term[:500]))
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
        """Returns how well items and passages of a range share words with the question, by the number of their first part."""
        phrases = [phrase for phrase in dict.fromkeys(stem_phrases(list(dict.fromkeys(pieces_of(asked))))) if phrase]
        return self._match(phrases, count, only, first, end)

    def find_phrase(self, phrase: str, count: int, only: Restriction, first: int, end: int) -> dict[int, float]:
        """Returns what holds a phrase as it is written."""
        return self._match([stems for stems in stem_phrases([spaced(phrase)]) if stems], count, only, first, end)

    def _match(
        self, phrases: list[tuple[str, ...]], count: int, only: Restriction, first: int, end: int
    ) -> dict[int, float]:
        held = self._count(phrases)
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
        worths = " + ".join(
            self._bm25(
                phrase,
                max(1e-6, log((n - held[phrase] + 0.5) / (held[phrase] + 0.5)) if n > held[phrase] else 0.0),
                mean,
            )
            for phrase in held
        )
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
        """Returns in how many passages each word occurs, in whatever form."""
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
        terms = (
            f"CASE WHEN p.words @@ '{self._query(stems)}'::tsquery THEN {worth} ELSE 0 END" for stems, worth in pieces
        )
        sql = self._holding([stems for stems, _ in pieces], " + ".join(terms), only, ARCHIVED, end)
        return [(row, float(worth)) for row, worth in self._db.execute(sql, (*only.values, count))]

    def _total(self) -> int:
        return self.home.passages

    def count_findable(self, end: int) -> int:
        """Returns how many items and passages of files can be found."""
        sql = f"SELECT count(*) FROM passages p WHERE p.row < {end} AND p.row % {PARTS} = 0"
        return int(self._db.execute(sql).fetchone()[0])

    def nearest(self, query: bytes, count: int, only: Restriction, away: int) -> list[tuple[int, float]]:
        """Returns the passages of a partition that are most like the query, with their cosine."""
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
