"""Which SQLite serves the index, and how it compares vectors. Each step down is slower or knows less; none is an error.

1. extension: Python's own sqlite3 loads sqlite-vec.
2. wheel: a SQLite that comes as a wheel (sqlean.py, pysqlite3) loads it, where Python's own was built without extensions.
3. scan: no sqlite-vec; vectors are blobs, narrowed down by their signs and compared in Python.
4. lexical: no vectors at all.
"""

import importlib
import os
import struct
from contextlib import suppress
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NamedTuple

from mabos_cli.index import schema

STEPS = ("extension", "wheel", "scan", "lexical")
_WHEELS = ("sqlean", "pysqlite3")


class Engine(NamedTuple):
    """A way to open the index: the step, the SQLite module behind it, and the file of sqlite-vec if it is used."""

    step: str
    sqlite: ModuleType
    vec0: str = ""

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What comes up when something is wrong with the file: SQLite's own, and what values of the wrong kind lead to."""
        return (self.sqlite.Error, ValueError, TypeError, LookupError, struct.error)

    @property
    def about(self) -> str:
        """The step in words, for doctor and index status."""
        said = {
            "extension": "sqlite-vec in Python's own SQLite",
            "wheel": f"sqlite-vec in the SQLite of {self.sqlite.__name__.partition('.')[0]}",
            "scan": "blobs, scanned in Python without sqlite-vec",
            "lexical": "none, words only",
        }
        return said[self.step]

    def connect(self, path: str, *, read_only: bool = False) -> Any:
        """A connection that commits when told to, with sqlite-vec loaded where this step has it."""
        place = schema.read_only(path) if read_only else path
        db = self.sqlite.connect(place, uri=read_only, timeout=10, isolation_level=None)
        if self.vec0:
            load_vec0(db, self.vec0)
        db.execute("PRAGMA mmap_size = 1073741824")
        return db


def load_vec0(db: Any, vec0: str) -> None:
    """Loads sqlite-vec into a connection."""
    db.enable_load_extension(True)
    db.load_extension(vec0)
    db.enable_load_extension(False)


def open_engine(wanted: str = "auto") -> Engine:
    """The best step that works here, or the one that is wanted if it does."""
    vec0 = _find_vec0()
    for step in STEPS[:2] if vec0 and wanted in ("auto", *STEPS[:2]) else ():
        if wanted in ("auto", step):
            for name in _own() if step == "extension" else _WHEELS:
                engine = _try(step, name, vec0)
                if engine:
                    return engine
    return Engine("lexical" if wanted == "lexical" else "scan", importlib.import_module("sqlite3"))


def _own() -> tuple[str, ...]:
    """Python's own SQLite if it was built to load extensions; asking its C part is cheaper than importing the whole."""
    with suppress(ImportError):
        if hasattr(importlib.import_module("_sqlite3").Connection, "enable_load_extension"):
            return ("sqlite3",)
    return ()


def _try(step: str, name: str, vec0: str) -> Engine | None:
    """The engine if its module is there and really loads sqlite-vec."""
    try:
        sqlite = importlib.import_module(name if name == "sqlite3" else f"{name}.dbapi2")
    except ImportError:
        return None
    db = sqlite.connect(":memory:")
    try:
        load_vec0(db, vec0)
    except (sqlite.Error, AttributeError):
        return None
    finally:
        db.close()
    return Engine(step, sqlite, vec0)


def _find_vec0() -> str:
    """sqlite-vec's library without its suffix, found without importing the package: that would import numpy."""
    spec = find_spec("sqlite_vec")
    if spec is None or not spec.origin:
        return ""
    folder = os.path.dirname(spec.origin)
    found = [name for name in os.listdir(folder) if name.partition(".")[0] == "vec0"]
    return os.path.join(folder, "vec0") if found else ""
