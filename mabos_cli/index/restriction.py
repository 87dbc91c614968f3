"""Filters of a search, and what another agent shares, as a condition on passages."""

from typing import TYPE_CHECKING, Any

from mabos_cli.core.memory.trust import PRIVATE, Sharing, trust_rank
from mabos_cli.core.records import NamedTuple

if TYPE_CHECKING:
    from mabos_cli.core.search.recall import Filters

# A passage that repeats an item in part, or an earlier form of it, is trusted no more than that item is now. One that is
# hidden is never found: what it is worth need not be looked up.
TRUST = (
    "CASE WHEN i.row IS NOT NULL THEN i.trust WHEN p.copy_of = '' OR NOT p.shown THEN p.trust ELSE"
    " coalesce((SELECT min(c.trust) FROM items c WHERE c.id = p.copy_of AND c.shown AND c.trust < p.trust), p.trust) END"
)
_NOT_PRIVATE = f"NOT EXISTS (SELECT 1 FROM items c WHERE c.id IN (p.item, p.copy_of) AND instr(lower(c.tags), '\n{PRIVATE}\n') > 0)"


class Restriction(NamedTuple):
    """Filters as SQL: a condition on the numbers of passages, and its values."""

    sql: str = ""
    values: tuple[Any, ...] = ()

    def within(self, first: int, end: int) -> str:
        """Returns the condition for passages of a range."""
        return f"{self.sql} AND p.row >= {first} AND p.row < {end}" if self.sql else ""


def restrict(db: Any, filters: "Filters", sharing: Sharing | None = None) -> Restriction:
    """Returns the passages that pass the filters; no condition at all when everything does. Who asks adds in which range."""
    on_item: list[str] = []
    on_any: list[str] = []
    values: list[str | float] = []
    if filters.stores:
        on_item.append(f"i.store IN ({','.join('?' * len(filters.stores))})")
        values += filters.stores
    if filters.types:  # of an item, or of one that it was made of
        on_item.append(f"({' OR '.join(['instr(i.type, ?) > 0'] * len(filters.types))})")
        values += [f"\n{name}\n" for name in filters.types]
    for tag in filters.tags:
        on_item.append("instr(i.tags, ?) > 0")
        values.append(f"\n{tag}\n")
    if filters.min_importance > 0:
        on_item.append("i.importance >= ?")
        values.append(filters.min_importance)
    if sharing and not sharing.is_open:
        on_item.append(f"({' OR '.join(['instr(lower(i.tags), ?)'] * len(sharing.tags))})")
        values += [f"\n{tag}\n" for tag in sharing.tags]
    on_any += [_NOT_PRIVATE] if sharing else []
    for bound, sign in ((filters.since, ">="), (filters.until, "<=")):
        if bound:
            on_any.append(f"p.at != '' AND p.at {sign} ?")
            values.append(bound)
    if filters.under:
        on_any.append("substr(p.source, 1, ?) = ?")
        values += [len(filters.under), filters.under]
    if trust_rank(filters.min_trust) > 0:
        on_any.append(f"{TRUST} >= ?")
        values.append(trust_rank(filters.min_trust))
    if filters.now and _has_expired(db, filters.now):
        on_any.append("(i.row IS NULL OR i.expires_at = '' OR i.expires_at > ?)")
        values.append(filters.now)
    if not on_item and not on_any:
        return Restriction()
    # With both ways to join, items of a small store are found first, and their passages by them.
    join = "JOIN items i ON i.id = p.item AND p.item != '' AND" if on_item else "LEFT JOIN items i ON"
    where = " AND ".join(on_item + on_any)
    return Restriction(f"SELECT p.row FROM passages p {join} i.row = p.item_row WHERE {where}", tuple(values))


def _has_expired(db: Any, now: str) -> bool:
    sql = "SELECT EXISTS (SELECT 1 FROM items WHERE shown AND expires_at != '' AND expires_at <= ?)"
    return bool(db.execute(sql, (now,)).fetchone()[0])
