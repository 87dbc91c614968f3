"""What a mirror still lacks: the records that the files hold, against the ledger of what was written there."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

QUEUED, OK, FAILED, GONE = STATES = ("queued", "ok", "failed", "gone")
Key = tuple[str, str]  # type and uid: a goal and a plan may go by the same id


class Entry(NamedTuple):
    """What is known about a record in the mirror: its state, and the hash of what was written or refused."""

    type: str
    uid: str
    state: str
    hash: str = ""
    error: str = ""
    at: str = ""

    @property
    def key(self) -> Key:
        return self.type, self.uid


Ledger = Mapping[Key, Entry]


class Todo(NamedTuple):
    """Records to write, and records to delete."""

    put: tuple[Key, ...] = ()
    drop: tuple[Key, ...] = ()


def plan_sync(wanted: Mapping[Key, str], known: Ledger, *, again: bool = True) -> Todo:
    """What to do so that the mirror holds the wanted records, given with their hashes, and no other known one. What was refused
    as it is now is tried once more only with `again`.

    >>> known = {("fact", "a/1"): Entry("fact", "a/1", "ok", "x"), ("fact", "a/2"): Entry("fact", "a/2", "ok", "y")}
    >>> plan_sync({("fact", "a/1"): "x", ("fact", "a/3"): "z"}, known)
    Todo(put=(('fact', 'a/3'),), drop=(('fact', 'a/2'),))
    """
    settled = (OK,) if again else (OK, FAILED)
    put = [key for key, mark in wanted.items() if not _is_settled(known.get(key), mark, settled)]
    drop = [key for key, entry in known.items() if key not in wanted and entry.state != GONE]
    return Todo(tuple(put), tuple(drop))


def _is_settled(entry: Entry | None, mark: str, states: tuple[str, ...]) -> bool:
    return entry is not None and entry.state in states and entry.hash == mark


def compare_found(known: Ledger, found: Collection[Key]) -> dict[Key, Entry]:
    """A ledger put right by what was found in the mirror: queued is what should be there and is not, and what is there and
    should not be, or is unknown.

    >>> known = {("fact", "a/1"): Entry("fact", "a/1", "ok", "x")}
    >>> [(entry.uid, entry.state) for entry in compare_found(known, {("fact", "a/2")}).values()]
    [('a/1', 'queued'), ('a/2', 'queued')]
    """
    missing = (key for key, entry in known.items() if entry.state == OK and key not in found)
    unknown = (key for key in found if key not in known or known[key].state == GONE)
    return {**known, **{key: Entry(*key, QUEUED) for keys in (missing, unknown) for key in keys}}


def count_states(known: Ledger) -> dict[str, int]:
    """How many records are in each state, as the ledger says; what is gone does not count."""
    counts = dict.fromkeys((OK, QUEUED, FAILED), 0)
    for entry in known.values():
        if entry.state in counts:
            counts[entry.state] += 1
    return counts


def count_standing(wanted: Mapping[Key, str], known: Ledger) -> dict[str, int]:
    """How many records are in each state by what the files hold now: what differs, or is to be deleted, is queued."""
    todo = plan_sync(wanted, known, again=False)
    settled = wanted.keys() - {*todo.put}
    counts = count_states({key: known[key] for key in settled})
    return counts | {QUEUED: len(todo.put) + len(todo.drop)}


def last_failure(known: Ledger) -> Entry | None:
    """What was refused last."""
    failed = [entry for entry in known.values() if entry.state == FAILED]
    return max(reversed(failed), key=lambda entry: entry.at, default=None)
