"""Long-term memory in a dict, a search for relatives over it, and makers of items: what the tests of the core share."""

from datetime import UTC, datetime, timedelta
from itertools import count

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.similar import likeness, subjects, word_set
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.stores import LongTerm, Memory, Relatives

NOW = datetime(2026, 2, 24, 14, 30, tzinfo=UTC)


def ago(**span):
    """The text of the moment that lies this far before NOW."""
    return format_time(NOW - timedelta(**span))


def make_item(number, content="", **fields):
    """An item with a readable id, created an hour ago."""
    fields = {"created_at": ago(hours=1), "importance": 0.3} | fields
    return MemoryItem(f"M-{1_700_000_000_000 + number}-0000", content or f"memory number{number}", **fields)


def minter():
    """A source of ids that no made item has."""
    numbers = count(1_800_000_000_000)
    return lambda: f"M-{next(numbers)}-0000"


class DictLongTerm(LongTerm):
    def __init__(self, items=()):
        self.items = {item.id: item for item in items}

    def find(self, item_id):
        return self.items.get(item_id)

    def __iter__(self):
        return iter(self.items.values())

    def __len__(self):
        return len(self.items)


class ScanRelatives(Relatives):
    """Compares with every text it knows: slow and certain."""

    def __init__(self, items=()):
        self.texts = {item.id: word_set(item.content) for item in items}

    def find(self, text, threshold):
        scored = [(likeness(text, other), item_id) for item_id, other in self.texts.items()]
        return sorted((hit for hit in scored if hit[0] >= threshold), key=lambda hit: (-hit[0], hit[1]))

    def about(self, text, least):
        asked = subjects(text)
        scored = [(likeness(asked, subjects(other)), item_id) for item_id, other in self.texts.items()]
        return sorted((hit for hit in scored if hit[0] and hit[0] >= least), key=lambda hit: (-hit[0], hit[1]))

    def add(self, item_id, text):
        self.texts[item_id] = text


def make_memory(working=(), short_term=(), long_term=()):
    return Memory(tuple(working), tuple(short_term), DictLongTerm(long_term))


def settle(memory, changes):
    """Memory after the changes were written: drops first, then puts, as on disk."""
    kept = {item.id: item for item in memory.long_term if item.id not in changes.drop}
    kept |= {item.id: item for item in changes.put}
    return Memory(changes.working, changes.short_term, DictLongTerm(kept.values()))


def live_ids(memory):
    return [item.id for store in (memory.working, memory.short_term, memory.long_term) for item in store]


def resolvable_ids(memory, changes):
    """Every id that can still be found once the changes are written: live or in the archive."""
    return {*live_ids(settle(memory, changes)), *(departure.item.id for departure in changes.archive)}
