"""The parts of an index: sources that change, pieces of text and memory items in them, and the model."""

from collections.abc import Callable, Sequence
from operator import mul
from struct import unpack
from typing import Protocol
from zlib import crc32

from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.records import NamedTuple

# What the note beside an index says while somebody writes; else it is the file's stamp, the sources' digest, the shape.
WRITING = "writing"
# The same for the first time, in a file that a killed writer leaves as it was before its last batch; and when more is to be read.
BUILDING, UNFINISHED = "building", "unfinished"


class Piece(NamedTuple):
    """Some lines of a file: text, place, the headings above it, and the item it is a copy of, if any."""

    text: str
    first: int
    last: int
    heading: str = ""
    copy_of: str = ""
    at: str = ""
    author: str = ""
    trust: str = ""  # as far as the text says it of itself; else its file decides


class Held(NamedTuple):
    """An item as one file holds it, with its line: in a store, or archived for a reason at some time, maybe into another item."""

    item: MemoryItem
    line: str
    store: str
    archived: str = ""
    away_at: str = ""
    into: str = ""


class Record(NamedTuple):
    """Holds what may be an item in a file, not decoded yet. The checksum changes whenever the record does."""

    id: str
    checksum: int
    decode: Callable[[], Held | None]


class Content(NamedTuple):
    """Holds what a source holds now, or what is wrong with it; or, of one that only grew, what it holds more than before."""

    hash: str = ""
    pieces: tuple[Piece, ...] = ()
    records: tuple[Record, ...] = ()
    error: str = ""
    size: int = 0  # the bytes that were read, where that matters
    is_more: bool = False


class Source(NamedTuple):
    """A file that may have changed. Without `settled` it changed so recently that its stamp cannot be relied on. `grow` reads what
    was appended, given the size and hash of what was read before; it returns None when more than that changed."""

    path: str
    stamp: str
    settled: bool
    load: Callable[[], Content]
    grow: Callable[[int, str], Content | None] | None = None

    @property
    def size(self) -> int:
        """Bytes of the file, as its stamp says."""
        return int(self.stamp.partition(":")[0])


def digest_of(sources: Sequence[Source]) -> str:
    """Returns a number for the state of all sources; empty while one of them is not settled."""
    state = "\n".join(f"{source.path} {source.stamp}" for source in sources)
    is_settled = all(source.settled for source in sources)
    return f"{len(sources)}-{crc32(state.encode('utf-8', 'replace')):08x}" if is_settled else ""


class Embedder(Protocol):
    """A model that turns texts into vectors: little-endian float32 of length one, all zero for an empty text.

    model names the model and all that changes its vectors; width is 0 until an answer told it; costly says that
    vectors are worth keeping by (model, hash of the text); floor is the cosine below which two texts have nothing in
    common, 0 when that is not known; is_slow says that it runs here and takes longer than a command may wait.
    """

    model: str
    costly: bool
    is_slow: bool
    floor: float

    @property
    def width(self) -> int:
        """Returns how many numbers a vector has."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Returns one vector for each document, in order."""

    def embed_query(self, text: str) -> bytes:
        """Returns the vector of one question."""


def cosine(a: bytes, b: bytes) -> float:
    """Returns how much two packed vectors of length one point the same way.

    >>> from struct import pack
    >>> cosine(pack("<2f", 0.0, 1.0), pack("<2f", 0.0, 1.0)), cosine(b"", pack("<2f", 0.0, 1.0))
    (1.0, 0.0)
    """
    return float(sum(map(mul, unpack(f"<{len(a) // 4}f", a), unpack(f"<{len(b) // 4}f", b))))
