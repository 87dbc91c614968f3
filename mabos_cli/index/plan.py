"""Where an index lies, and how it is built."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from math import inf
from pathlib import Path
from typing import Protocol

from mabos_cli.core.language.ids import stamp_of
from mabos_cli.core.records import NamedTuple
from mabos_cli.core.search.documents import Embedder
from mabos_cli.index.embedding import Decode
from mabos_cli.index.vectors import Engine

Enough = Callable[[], bool]


def never() -> bool:
    """Returns that it is not enough yet."""
    return False


class Place(Protocol):
    """Where an index lies. Keeps writers apart and remembers a note between them; the workspace provides it."""

    path: Path

    def read(self) -> str: ...

    def hold(self, timeout: float) -> AbstractContextManager[Callable[[str], None]]: ...


class Plan(NamedTuple):
    """How an index is built: the engine, how lines become items, what its shape depends on, and the model if any. `strong` is a better
    one that takes long: it answers when all passages have its vectors, and until then `embedder` does. `patience` is how many
    characters it may embed while somebody waits. With `logged` the index notes which rows change."""

    engine: Engine
    decode: Decode
    shape: str
    item_size: int
    embedder: Embedder | None = None
    progress: Callable[[int, int], None] | None = None
    strong: Embedder | None = None
    patience: float = inf
    logged: bool = False


def stamp_at(path: Path) -> str:
    """Returns the stamp of a file; empty when there is none."""
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return ""
