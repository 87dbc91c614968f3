"""Trials of the settings of search: recall, the index, embedding models, language models."""

import atexit
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from backends import tiny
from backends.service import Answer, Call, serving
from commands.notes import UNRELATED
from settings_trial import Trial, days_ago, effect

from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.lock import Lock

_OTHERS = UNRELATED[:12]


def _known(t: Trial, *texts: str, **fields: Any) -> None:
    """Long-term memory with these texts, and some others."""
    notes = [days_ago(3, n, text, importance=0.5, **fields) for n, text in enumerate((*texts, *_OTHERS), 1)]
    t.put(notes)


@effect("recall.limit", 1, 2, 1)
def _(t: Trial):
    _known(t, "We bill per seat", "A seat costs nine euros")
    return len([text for text in t.texts("seat costs bill") if "seat" in text])


@effect("recall.preset", "rrf", "relevance", "rank")
def _(t: Trial):
    _known(t, "We bill per seat")
    [row] = t.recalled("seat", "--explain", "--limit", "1")
    return "rank" if "relevance" not in row["signals"] else "relevance"


@effect("recall.pool", 1, True, False, base=200)
def _(t: Trial):
    t.also(recall__candidate_multiplier=1)
    _known(t, *(f"Seat number {n} is taken" for n in range(9)))
    return t.ok("recall", "seat", "--limit", "2")["candidates"] > 8


@effect("recall.candidate_multiplier", 9, False, True)
def _(t: Trial):
    t.also(recall__pool=1, index__vectors="lexical")
    _known(t, *(f"Seat number {n} is taken" for n in range(9)))
    return t.ok("recall", "seat", "--limit", "2")["candidates"] > 8


@effect("recall.mmr_lambda", 0.0, "Seat prices rise in May and June", "The museum")
def _(t: Trial):
    t.also(recall__importance_weight=0)
    _known(
        t,
        "Seat prices rise in May",
        "Seat prices rise in May and June",
        "The museum has a seat for everybody",
    )
    return t.texts("seat prices rise", "--mmr", "--limit", "2")[1].partition(" has ")[0]


@effect("recall.half_life", "1d", True, False)
def _(t: Trial):
    _known(t, "We bill per seat")
    return t.recalled("seat", "--decay", "--limit", "1")[0]["score"] > 0.5


@effect("recall.importance_weight", 1.0, "We bill per seat", "The seat")
def _(t: Trial):
    t.put(
        [
            days_ago(1, 1, "We bill per seat", importance=0.2),
            days_ago(1, 2, "The seat of the old chair is made of leather and straw", importance=0.9),
        ]
    )
    return t.texts("bill per seat")[0].partition(" of ")[0]


_CHAIN = (
    "The Aldebaran outage hit customers of Zurich",
    "Zurich customers are served by Bettina Quandt",
    "Bettina Quandt keeps the keys of the Rotterdam vault",
    "Aldebaran outage cost nine thousand francs",
    "The francs ledger is audited by Corvinus",
)


def _deep(t: Trial, *words: str, asked: str = "Aldebaran outage") -> list[dict[str, Any]]:
    t.also(index__vectors="lexical")
    _known(t, *_CHAIN)
    return [row for row in t.recalled(asked, "--depth", "1", *words) if row["depth"]]


@effect("recall.depth_hits", 1, 3, 2)
def _(t: Trial):
    return len({row["content"] for row in _deep(t)})


@effect("recall.depth_terms", 1, True, False)
def _(t: Trial):
    return len(_deep(t)) > 1


@effect("recall.depth_reserved", 0.0, 1, 0)
def _(t: Trial):
    return len(_deep(t, "--limit", "2", asked="Zurich"))


@effect("index.vectors", "lexical", True, False)
def _(t: Trial):
    _known(t, "Guests report that their card was charged twice")
    return any("charged" in text for text in t.texts("people were billed two times", "--limit", "3"))


_PAGE = (
    "# Notes\n\n"
    + "\n\n".join(f"Paragraph {n} tells about harbour number {n} and its berths. " * 4 for n in range(12))
    + "\n"
)


def _passages(t: Trial) -> list[tuple[int, int]]:
    """The lines of the passages that a page is cut into."""
    t.also(index__vectors="lexical")
    t.write("memory/notes.md", _PAGE)
    refs = [row["ref"] for row in t.ok("index", "search", "harbour", "--limit", "50")["words"]]
    return sorted(tuple(map(int, ref.rpartition(":")[2].split("-"))) for ref in refs if "notes.md" in ref)


@effect("index.passage_tokens", 100, False, True)
def _(t: Trial):
    return len(_passages(t)) > 6


@effect("index.overlap_tokens", 0, True, False)
def _(t: Trial):
    found = _passages(t)
    return any(after[0] <= before[1] for before, after in pairwise(found))


@effect("index.item_tokens", 50, 1, 4)
def _(t: Trial):
    t.also(index__vectors="lexical")
    t.put([days_ago(1, 1, " ".join(f"harbour{n} has berths" for n in range(34)), importance=0.5)])
    t.ok("index", "sync")
    return t.ok("index", "status")["passages"]


@effect("index.max_file_bytes", 500, True, False)
def _(t: Trial):
    return bool(_passages(t))


@contextmanager
def held(t: Trial, path: Path) -> Iterator[None]:
    """A lock that somebody else holds."""
    lock = Lock(path, t.root)
    lock.acquire(0, "somebody")
    try:
        yield
    finally:
        lock.release()


@effect("index.wait", 0.3, False, True, base=0)
def _(t: Trial):
    _known(t, "We bill per seat")
    t.ok("index", "sync")
    t.store("A seat costs nine euros", "--store", "long_term")
    paths = WorkspacePaths(t.root).agent("main")
    with held(t, paths.index_file.with_suffix(".lock")):
        began = time.monotonic()
        t.recalled("seat")
        return time.monotonic() - began > 0.3


@effect("embeddings.provider", "none", True, False)
def _(t: Trial):
    _known(t, "Guests report that their card was charged twice")
    return any("charged" in text for text in t.texts("people were billed two times", "--limit", "3"))


def _vectors(call: Call) -> Answer:
    return Answer(
        {"data": [{"index": n, "embedding": [1.0, float(len(text))]} for n, text in enumerate(call.body["input"])]}
    )


def _asked(t: Trial, **more: Any) -> list[Call]:
    """What a service of embeddings is asked for while the index is made."""
    with serving(_vectors) as service:
        t.also(embeddings__provider="http", embeddings__url=service.url, **more)
        t.put([days_ago(1, 1, "We bill per seat", importance=0.5)])
        t.ok("index", "sync")
        return service.calls


@effect("embeddings.model", "large", ["small"], ["large"], base="small")
def _(t: Trial):
    return sorted({call.body["model"] for call in _asked(t)})


@effect("embeddings.url", "http://127.0.0.1:9/none", True, False)
def _(t: Trial):
    return bool(_asked(t, embeddings__model="small"))


@effect("embeddings.query_prefix", "query:", [True], [False])
def _(t: Trial):
    with serving(_vectors) as service:
        t.also(embeddings__provider="http", embeddings__url=service.url, embeddings__model="small")
        t.store("We bill per seat", "--store", "long_term")
        t.run("recall", "seat")
        return sorted(
            {"seat" in call.body["input"] for call in service.calls if call.body["input"] != ["We bill per seat"]}
        )


@effect("embeddings.passage_prefix", "passage:", False, True)
def _(t: Trial):
    return any(
        text.startswith("passage: ") for call in _asked(t, embeddings__model="small") for text in call.body["input"]
    )


def _small_model(t: Trial) -> None:
    folder = t.root.parent / "model"
    folder.mkdir(exist_ok=True)
    tiny.write_model(folder)
    t.also(embeddings__provider="local", embeddings__path=str(folder))


@effect("embeddings.background", False, True, False)
def _(t: Trial):
    _small_model(t)
    _known(t, *(f"The budget of day {n} was approved. " * 20 for n in range(20)))
    return t.ok("index", "sync")["waiting"] > 0


@effect("embeddings.pooling", "cls", False, True, base="mean")
def _(t: Trial):
    _small_model(t)
    t.store("The budget was approved", "--store", "long_term")
    t.texts("budget")
    return t.ok("index", "status")["indexed_model"].endswith("-cls")


@effect("embeddings.path", "/none", [], ["searched by words only"])
def _(t: Trial):
    t.store("We bill per seat", "--store", "long_term")
    return [warning.partition(":")[0] for warning in t.run("recall", "seat", "--json").warnings]


@effect("embeddings.timeout", 0.2, True, False, base=5)
def _(t: Trial):
    with serving(lambda call: _vectors(call)._replace(wait=0.6)) as service:
        t.also(embeddings__provider="http", embeddings__url=service.url, embeddings__model="small")
        t.put([days_ago(1, 1, "We bill per seat", importance=0.5)])
        return not t.run("recall", "seat", "--json").warnings


def _said(call: Call) -> Answer:
    return Answer({"choices": [{"message": {"content": "Northwind pays late and in EUR."}}]})


def _worded(t: Trial, **more: Any) -> tuple[dict[str, Any], list[str]]:
    """What consolidate --llm says of two memories about one thing."""
    t.also(**more)
    for text in ("Northwind pays late", "Northwind pays in EUR"):
        t.store(text, "--importance", "0.8", "--tag", "northwind")
    said = t.run("consolidate", "--llm", "--json")
    return (said.data, said.warnings) if said.code == 0 else ({}, [said.stderr])


@effect(
    "llm.command",
    f"{sys.executable} -c \"print('Northwind pays late and in EUR.')\"",
    "unavailable",
    "Northwind pays late and in EUR.",
)
def _(t: Trial):
    data, warnings = _worded(t)
    return (
        data["groups"][0]["content"].rpartition("] ")[2]
        if data
        else "unavailable"
        if "unavailable" in warnings[0]
        else warnings
    )


@effect("llm.url", "http://127.0.0.1:9/v1", True, False)
def _(t: Trial):
    with serving(_said) as service:
        _worded(t, llm__url=f"{service.url}/v1", llm__model="tiny")
        return bool(service.calls)


@effect("llm.model", "large", "tiny", "large", base="tiny")
def _(t: Trial):
    with serving(_said) as service:
        _worded(t, llm__url=f"{service.url}/v1")
        return service.calls[0].body["model"]


@effect("llm.timeout", 0.2, True, False, base=5)
def _(t: Trial):
    with serving(lambda call: _said(call)._replace(wait=0.6)) as service:
        return not _worded(t, llm__url=f"{service.url}/v1", llm__model="tiny")[1]


@effect("llm.max_questions", 1, 2, 1)
def _(t: Trial):
    for text in ("Acme pays early", "Acme pays in USD"):
        t.store(text, "--importance", "0.8", "--tag", "acme")
    with serving(_said) as service:
        _worded(t, llm__url=f"{service.url}/v1", llm__model="tiny")
        return len(service.calls)


@effect("lock.timeout", 0.05, True, False, base=0.4)
def _(t: Trial):
    with held(t, WorkspacePaths(t.root).agent("main").lock):
        began = time.monotonic()
        assert t.code("store", "We bill per seat") == 5
        return time.monotonic() - began > 0.3


@effect("index.patience", 0, False, True)
def _(t: Trial):
    from mabos_cli.index import follow

    for n in range(30):
        t.write(f"notes/{n}.md", f"# Berth {n}\n\nA seat at berth {n}.\n")
    with mock.patch.object(follow, "_BATCH", 10):
        return "the index is being built" in " ".join(t.run("recall", "seat", "--json").warnings)


# The index in PostgreSQL


@cache
def _server() -> Any:
    """One server for all trials of a process."""
    from postgres_server import serve

    serving_one = serve()
    atexit.register(serving_one.close)
    return next(serving_one)


def _warned(t: Trial, **settings: Any) -> str:
    t.also(**settings)
    return " ".join(t.run("recall", "seat", "--json").warnings)


def _kept(t: Trial, query: str, **settings: Any) -> Any:
    """What the database says after a recall."""
    import psycopg

    url = _server().new_database()
    said = _warned(t, index__backend="postgres", index__postgres=url, **settings)
    assert "PostgreSQL" not in said, said
    with psycopg.connect(url) as db:
        return db.execute(query).fetchone()[0]


@effect("index.backend", "postgres", False, True)
def _(t: Trial):
    pytest.importorskip("psycopg")
    return "PostgreSQL" in _warned(t, index__postgres="host=/nowhere")


@effect("index.postgres", "host=/nowhere/else", False, True, base="host=/nowhere")
def _(t: Trial):
    pytest.importorskip("psycopg")
    return "/nowhere/else" in _warned(t, index__backend="postgres")


@effect("index.workspace", "acme", False, True)
def _(t: Trial):
    return _kept(t, "SELECT workspace FROM mabos.homes") == "acme"


@effect("index.lease", 60, True, False)
def _(t: Trial):
    return _kept(t, "SELECT until - now() > '5 minutes' FROM mabos.leases")


@effect("index.postgres_timeout", 3, "5s", "3s")
def _(t: Trial):
    from mabos_cli.index.postgres import _connections

    _kept(t, "SELECT 1")
    return [*_connections.values()][-1].execute("SHOW statement_timeout").fetchone()[0]
