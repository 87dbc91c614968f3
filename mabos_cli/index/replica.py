"""Keeps the rows of a local index in PostgreSQL too. What changed since the last time is sent, a batch in one transaction together with
the place up to which it was sent: whoever is killed loses and doubles nothing. A new local index is sent whole, beside the rows that are
there, which answer until it is complete."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from mabos_cli.core.language.text import spaced
from mabos_cli.core.memory.trust import Sharing, retells
from mabos_cli.errors import Conflict
from mabos_cli.index.candidates import listed
from mabos_cli.index.follow import Follower
from mabos_cli.index.packing import unpack_text
from mabos_cli.index.postgres import Address, Home, clean, find_home, halfvec, limit_time, list_homes, stem_phrases
from mabos_cli.index.postgres_schema import VERSION
from mabos_cli.index.restriction import TRUST
from mabos_cli.index.search_index import SearchIndex
from mabos_cli.index.tables import read_meta

_BATCH = 2000
_MANY = 3 * _BATCH  # changes that somebody waits for; more are sent behind a search
_LARGE = 50_000  # passages from which on a home has a partition and an HNSW index of its own
_MOST_PLACES, _LAST_PLACE, _GAP = 255, 16_383, 2  # of a word in a tsvector
_PASSAGES = (
    f"SELECT p.row, p.item, p.item_row, p.source, p.part, p.first, p.last, p.at, p.author, p.copy_of, {TRUST}, p.size, p.text"
    " FROM passages p LEFT JOIN items i ON i.row = p.item_row WHERE p.shown AND p.row IN (SELECT value FROM json_each(?))"
)
_ITEMS = (
    "SELECT row, id, source, shown, store, archived, away, heir, type, importance, at, expires_at, author, session, tags, access_count,"
    " size, trust, line FROM items WHERE shown AND row IN (SELECT value FROM json_each(?))"
)
_FEWER = """
WITH gone AS (DELETE FROM mabos.passages WHERE home = %s AND row = ANY(%s) RETURNING home, shared, tokens, words),
less AS (UPDATE mabos.words w SET held = w.held - g.n FROM (
    SELECT home, split_part(lexeme, ':', 2) AS word, shared, count(*) AS n FROM gone, unnest(gone.words) GROUP BY 1, 2, 3
) g WHERE w.home = g.home AND w.word = g.word AND w.shared = g.shared)
SELECT count(*), coalesce(sum(tokens), 0) FROM gone
"""
_MORE = """
INSERT INTO mabos.words SELECT home, split_part(lexeme, ':', 2), shared, count(*) FROM sent_passages, unnest(words) GROUP BY 1, 2, 3
ON CONFLICT (home, word, shared) DO UPDATE SET held = words.held + excluded.held
"""
_LEASE = """
INSERT INTO mabos.leases AS l (workspace, agent, holder, until) VALUES (%s, %s, %s, now() + %s * interval '1 second')
ON CONFLICT (owner, workspace, agent) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE l.holder = excluded.holder OR l.until < now() RETURNING true
"""


class Rules(NamedTuple):
    """Holds what of an agent others may read: what it shares, and the texts of its private memories."""

    sharing: Sharing
    private: Sequence[str]
    number: int  # changes with the private memories

    @property
    def text(self) -> str:
        """Returns what is shared: all, or some tags."""
        return "*" if self.sharing.is_open else ",".join(self.sharing.tags)


def push(index: SearchIndex, db: Any, address: Address, rules: Rules, *, whole: bool) -> Home | None:
    """Sends what changed and returns what may be searched now; None when that is not up to date yet, because more is to be sent than
    somebody waits for, or another process of this host is at it. Conflict while another host may write."""
    take_lease(db, address)
    alone = f"mabos {address.workspace} {address.agent}"
    if whole:
        db.execute("SET statement_timeout = 0; SET lock_timeout = 0")
        db.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [clean(alone)])
    elif not db.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [clean(alone)]).fetchone()[0]:
        return None
    try:
        return _send(index, db, address, rules, whole=whole)
    finally:
        if not db.closed:
            db.execute("SELECT pg_advisory_unlock_all()")
            limit_time(db, address.timeout)


def _send(index: SearchIndex, db: Any, address: Address, rules: Rules, *, whole: bool) -> Home | None:
    state = _state_of(index, address, rules)
    home = find_home(db, address.workspace, address.agent)
    is_large = _count(index) >= _LARGE
    if home and (home.state != state or (is_large and not home.large)):
        home = None
    last = index.db.execute("SELECT coalesce(max(seq), 0) FROM changed").fetchone()[0]
    if not whole and (last - home.seq if home else _count(index)) > _MANY:
        return None
    if home and home.private != rules.number and rules.sharing.is_open:
        rows = [row for (row,) in index.db.execute("SELECT row FROM passages WHERE item = ''")]
        for first in range(0, len(rows) or 1, _BATCH):
            some, is_last = rows[first : first + _BATCH], first + _BATCH >= len(rows)
            Sender(index, db, home, rules).send((), some, {"private": rules.number} if is_last else {})
    sender = Sender(index, db, home or _begin(index, db, address, state, is_large, last, rules), rules)
    if home is None:
        sender.send_all(lambda: take_lease(db, address))
    sender.send_changes(lambda: take_lease(db, address))
    if home is None or last > home.seq:
        db.execute("SELECT mabos.know_size()")  # without it a plan for one row is made where there are thousands
    if home is None:
        _finish(db, sender.home)
    return list_homes(db, "home = %s", sender.home.home)[0]


def take_lease(db: Any, address: Address) -> None:
    """Takes or renews the right to write what belongs to an agent; Conflict while another host has it."""
    values = (clean(address.workspace), address.agent, clean(address.host), address.lease)
    if db.execute(_LEASE, values).fetchone() is None:
        held = "SELECT holder, ceil(extract(epoch FROM until - now()))::int FROM mabos.leases WHERE owner = current_user AND workspace = %s AND agent = %s"
        holder, seconds = db.execute(held, values[:2]).fetchone()
        raise Conflict(f"{holder} keeps {address.agent} of {address.workspace} in PostgreSQL for {seconds} s more")


def _state_of(index: SearchIndex, address: Address, rules: Rules) -> str:
    """Returns what the rows in the database stand for: another local index, host, model or sharing, and they are sent again."""
    log, model = read_meta(index.db)["log"], index.about["model"]
    return str(clean(f"{VERSION}|{log}|{address.host}|{model}|{index.width}|{rules.text}"))


def _count(index: SearchIndex) -> int:
    return int(index.db.execute("SELECT count(*) FROM passages WHERE shown").fetchone()[0])


def _begin(index: SearchIndex, db: Any, address: Address, state: str, is_large: bool, seq: int, rules: Rules) -> Home:
    """Returns the home that is being filled for this state, a new one or what a run that was killed left."""
    where = "owner = current_user AND NOT current AND workspace = %s AND agent = %s"
    for home in list_homes(db, where, clean(address.workspace), address.agent):
        if home.state == state and home.large == is_large and home.private == rules.number:
            return home
        db.execute("SELECT mabos.drop_home(%s)", [home.home])
    about = (clean(index.about["model"]), index.width, is_large, clean(rules.text), rules.number, seq)
    values = (clean(address.workspace), address.agent, state, *about)
    sql = "INSERT INTO mabos.homes (workspace, agent, state, model, width, large, sharing, private, seq)"
    number = db.execute(f"{sql} VALUES ({', '.join(['%s'] * 9)}) RETURNING home", values).fetchone()[0]
    if is_large:
        db.execute("SELECT mabos.add_part(%s)", [number])
    return list_homes(db, "home = %s", number)[0]


def _finish(db: Any, home: Home) -> None:
    """Lets a home that is complete answer in place of the one before."""
    with db.transaction():
        db.execute("SET LOCAL statement_timeout = 0; SET LOCAL maintenance_work_mem = '1GB'")
        if home.large and home.width:
            db.execute("SELECT mabos.index_part(%s, %s)", [home.home, home.width])
        before = find_home(db, home.workspace, home.agent)
        if before:
            db.execute("SELECT mabos.drop_home(%s)", [before.home])
        db.execute("UPDATE mabos.homes SET current = true WHERE home = %s", [home.home])


class Sender:
    """Sends rows of a local index to their home."""

    def __init__(self, index: SearchIndex, db: Any, home: Home, rules: Rules) -> None:
        self.home = home
        self._index = index
        self._local = index.db
        self._db = db
        self._rules = rules
        self._follower = Follower(index.db, [], index.decode, index.item_size)

    def send_all(self, renew: Any) -> None:
        """Sends all items, then all passages, from where a run that was killed came to."""
        for table, mark in (("items", "at_item"), ("passages", "at_row")):
            at = getattr(self.home, mark)
            sql = f"SELECT row FROM {table} WHERE row > ? ORDER BY row LIMIT {_BATCH}"
            while rows := [row for (row,) in self._local.execute(sql, (at,))]:
                renew()
                at = rows[-1]
                items, passages = (rows, ()) if table == "items" else ((), rows)
                self.send(items, passages, {mark: at}, is_new=True)

    def send_changes(self, renew: Any) -> None:
        """Sends what changed in the local index since the last time."""
        at = self.home.seq
        sql = "SELECT seq, row, is_item FROM changed WHERE seq > ? ORDER BY seq LIMIT ?"
        while found := self._local.execute(sql, (at, _BATCH)).fetchall():
            renew()
            at = found[-1][0]
            items = {row for _, row, is_item in found if is_item}
            passages = {row for _, row, is_item in found if not is_item}
            copies = "SELECT p.row FROM passages p JOIN items i ON p.copy_of = i.id AND p.copy_of != '' WHERE i.row IN (SELECT value FROM json_each(?))"
            passages |= {row for (row,) in self._local.execute(copies, (listed(items),))}
            self.send(sorted(items), sorted(passages), {"seq": at})

    def send(self, items: Sequence[int], rows: Sequence[int], marks: dict[str, int], *, is_new: bool = False) -> None:
        """Sends items and passages as they are now, and notes how far that went, in one transaction."""
        home, gone, fewer = self.home.home, 0, 0
        passages = [*self._passages(rows)] if rows else []
        with self._db.transaction():
            self._db.execute("SET LOCAL statement_timeout = 0")
            if not is_new:
                self._db.execute("DELETE FROM mabos.items WHERE home = %s AND row = ANY(%s)", [home, [*items]])
                self._db.execute("DELETE FROM mabos.vectors WHERE home = %s AND row = ANY(%s)", [home, [*rows]])
                gone, fewer = self._db.execute(_FEWER, [home, [*rows]]).fetchone()
            self._copy("items", self._items(items) if items else ())
            self._copy("passages", passages)
            self._copy("vectors", self._vectors({row[1]: row[-3] for row in passages}))
            if passages:
                self._db.execute(_MORE)
            values = [len(passages) - gone, sum(row[-2] for row in passages) - fewer, *marks.values(), home]
            more = "".join(f", {name} = %s" for name in marks)
            sql = f"UPDATE mabos.homes SET passages = passages + %s, tokens = tokens + %s{more} WHERE home = %s"
            self._db.execute(sql, values)

    def _copy(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        rows = [*rows]
        if not rows:
            return
        sent = f"sent_{table}"
        self._db.execute(f"CREATE TEMP TABLE IF NOT EXISTS {sent} (LIKE mabos.{table}) ON COMMIT DELETE ROWS")
        with self._db.cursor() as cursor, cursor.copy(f"COPY {sent} FROM STDIN") as copy:
            for row in rows:
                copy.write_row([clean(value) for value in row])
        self._db.execute(f"INSERT INTO mabos.{table} SELECT * FROM {sent}")

    def _items(self, rows: Sequence[int]) -> Iterable[list[Any]]:
        for row in self._local.execute(_ITEMS, (listed(rows),)):
            yield [self.home.home, *row[:3], bool(row[3]), *row[4:], self._admits(row[14])]

    def _passages(self, rows: Sequence[int]) -> Iterable[list[Any]]:
        found = self._local.execute(_PASSAGES, (listed(rows),)).fetchall()
        spoken = [self._follower.words_of(row[0]) or ("", "") for row in found]
        stems = stem_phrases([text for pair in spoken for text in map(spaced, pair)])
        shared = self._shared_items([row[2] for row in found if row[1]])
        for (*place, trust, size, text), about, body in zip(found, stems[::2], stems[1::2], strict=True):
            _, item, item_row, *_ = place
            is_shared = item_row in shared if item else self._may_share(unpack_text(text))
            words = _tsvector(self.home.home, about, body)
            yield [self.home.home, *place, True, trust, size, text, is_shared, len(about) + len(body), words]

    def _shared_items(self, rows: Sequence[int]) -> set[int]:
        sql = "SELECT row, tags FROM items WHERE row IN (SELECT value FROM json_each(?))"
        return {row for row, tags in self._local.execute(sql, (listed(rows),)) if self._admits(tags)}

    def _admits(self, tags: str) -> bool:
        return self._rules.sharing.admits([tag for tag in tags.split("\n") if tag])

    def _may_share(self, text: str) -> bool:
        return self._rules.sharing.is_open and not retells(text, self._rules.private)

    def _vectors(self, rows: dict[int, bool]) -> Iterable[tuple[int, int, bool, str]]:
        table = self._index.vectors
        if table and self.home.width:
            for row, vector in table.fetch(rows):
                yield self.home.home, row, rows[row], halfvec(vector)


def _tsvector(home: int, about: Sequence[str], body: Sequence[str]) -> str:
    """Returns words with their places as a tsvector: those of the text stand apart from what it is about, as no phrase runs on."""
    places: dict[str, list[int]] = {}
    for start, words in ((1, about), (1 + len(about) + _GAP, body)):
        for place, word in enumerate(words, start):
            places.setdefault(word, []).append(min(place, _LAST_PLACE))
    held = ((word, [*dict.fromkeys(where)][:_MOST_PLACES]) for word, where in places.items())
    return " ".join(f"'{home}:{word}':{','.join(map(str, where))}" for word, where in held)
