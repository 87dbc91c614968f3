"""Trials of the settings of memory: stores, consolidation, logs, life cycle, grading, capture."""

import json

from settings_trial import Trial, days_ago, effect

from mabos_cli.core.language.clock import DAY
from mabos_cli.core.memory.item import KEEPING


@effect("memory.default_type", "lesson", "observation", "lesson")
def _(t: Trial):
    return t.ok("get", t.store("We bill per seat")["id"])["item"]["type"]


def _stored(t: Trial, count: int, store: str) -> int:
    for number in range(count):
        t.store(f"Thing number {number} of many", "--store", store)
    return t.ok("status")["stores"][store]


@effect("memory.working_capacity", 2, 3, 2)
def _(t: Trial):
    return _stored(t, 3, "working")


@effect("memory.short_term_capacity", 2, 3, 2)
def _(t: Trial):
    return _stored(t, 3, "short_term")


@effect("memory.short_term_ttl", "1h", 0, 1)
def _(t: Trial):
    t.put([], short_term=[days_ago(0.0625, 1, "Ninety minutes old", importance=0.3)])
    return t.ok("status")["due"]["expired"]


@effect("memory.split_above", 1, [], ["2026-02.json"])
def _(t: Trial):
    _stored(t, 2, "long_term")
    return t.files("memory-store/*.json")


@effect("memory.materialize_split_above", 1, [], ["2026-02.md"])
def _(t: Trial):
    _stored(t, 2, "long_term")
    return t.files("memory/mabos-memory-items/*.md")


@effect("memory.page_items", 1, 1, 2)
def _(t: Trial):
    t.also(memory__split_above=1)
    _stored(t, 3, "long_term")
    return len(t.files("memory-store/*.json"))


@effect("memory.max_content_bytes", 10, 0, 2)
def _(t: Trial):
    return t.code("store", "We bill per seat")


_ALIKE = ("We bill our customers per seat and month", "We bill our customers per seat and year")


@effect("memory.duplicate_threshold", 0.5, False, True)
def _(t: Trial):
    for text in _ALIKE:
        t.store(text, "--store", "long_term")
    return len(t.ok("context", "pack", "What do we bill our customers")["items"]) == 1


@effect("memory.related_threshold", 0.1, 0, 1)
def _(t: Trial):
    texts = ("We bill our customers per seat", "Our customers complain about the parking lot")
    ids = [t.store(text, "--store", "long_term")["id"] for text in texts]
    return len(t.ok("get", ids[1])["item"].get("related_to", ()))


@effect("memory.access_journal_lines", 1, 2, 0)
def _(t: Trial):
    t.also(memory__split_above=0)
    item_id = t.store("We bill per seat", "--store", "long_term")["id"]
    t.ok("get", item_id), t.ok("get", item_id)
    t.store("Another thing", "--store", "working")
    return t.ok("status")["due"]["journalled_uses"]


@effect("consolidation.min_importance", 0.9, 1, 0)
def _(t: Trial):
    t.store("We bill per seat", "--importance", "0.7")
    return len(t.ok("consolidate", "--dry-run")["groups"])


@effect("consolidation.min_access", 1, 0, 1)
def _(t: Trial):
    t.ok("get", t.store("We bill per seat", "--importance", "0.2")["id"])
    t.store("Another thing", "--importance", "0.1")
    return len(t.ok("consolidate", "--dry-run")["groups"])


@effect("consolidation.jaccard", 0.6, 1, 2)
def _(t: Trial):
    for tags in ("pricing,seats", "pricing,plans"):
        t.store(f"About {tags}", "--importance", "0.8", "--tag", tags)
    return len(t.ok("consolidate", "--dry-run")["groups"])


def _log(t: Trial, day: str, *texts: str) -> None:
    t.write(f"memory/{day}.md", f"# {day} — Agent Log\n\n" + "".join(f"- {text}\n" for text in texts))


def _taken(t: Trial) -> int:
    return len(t.ok("log", "consolidate", "--dry-run")["taken"])


@effect("log.min_importance", 1.0, 1, 0)
def _(t: Trial):
    _log(t, "2026-02-10", "Decision: we bill per seat from March on")
    return _taken(t)


@effect("log.consolidate_after", "20d", 1, 0)
def _(t: Trial):
    _log(t, "2026-02-10", "Decision: we bill per seat from March on")
    return _taken(t)


@effect("log.recurring_days", 2, 0, 1)
def _(t: Trial):
    t.also(log__min_importance=0.61)
    for day in ("2026-02-09", "2026-02-10"):
        _log(t, day, "The nightly backup of the ledger failed again")
    return _taken(t)


@effect("log.archive_after", "7d", 0, 1)
def _(t: Trial):
    _log(t, "2026-02-10", "A quiet day")
    return len(t.ok("log", "archive", "--dry-run")["archived"])


def _unused(t: Trial, days: float, importance: float, *words: str, type: str = "fact"):
    """A life cycle over one item that nobody used for days, among ten that are fresh."""
    fresh = [days_ago(0, 10 + n, f"Fresh thing {n}", importance=0.5) for n in range(10)]
    t.put([days_ago(days, 1, "Old thing", importance=importance, type=type), *fresh])
    return t.ok("lifecycle", "run", "--dry-run", *words)


def _kept(name: str):
    return lambda t: (t.store("A thing", "--type", name)["store"], _unused(t, 50, 0.4, type=name)["archived"])


for name, keeping in KEEPING.items():
    leaves = int(keeping.unused < 50 * DAY)
    other = f"working {'60d' if leaves else '40d'}"
    effect(f"types.{name}", other, (keeping.store, leaves), ("working", 1 - leaves))(_kept(name))


@effect("lifecycle.high_unused", "40d", 0, 1)
def _(t: Trial):
    return _unused(t, 50, 0.85)["archived"]


@effect("lifecycle.notice", "20d", 0, 1)
def _(t: Trial):
    return _unused(t, 15, 0.4)["fading"]


@effect("lifecycle.fuse", 0, 1, 0)
def _(t: Trial):
    return _unused(t, 50, 0.4)["archived"]


@effect("memory.shared", True, 0, 1)
def _(t: Trial):
    t.add_agent("ops")
    t.ok("store", "We bill per seat", "-a", "ops", "--store", "long_term")
    return len(t.ok("recall", "seat", "--shared", "-a", "main")["results"])


@effect("memory.shared_tags", "pricing", 0, 1)
def _(t: Trial):
    t.add_agent("ops")
    for tag in ("pricing", "travel"):
        t.ok("store", f"We bill {tag} per seat", "-a", "ops", "--store", "long_term", "--tag", tag)
    return len(t.ok("recall", "seat", "--shared", "-a", "main")["results"])


def _grade(t: Trial, text: str, *words: str) -> float:
    return round(t.store(text, *words)["importance"], 3)


@effect("grade.base", 0.4, 0.5, 0.4)
def _(t: Trial):
    return _grade(t, "The pump hums")


@effect("grade.decision", 0.1, 0.8, 0.6)
def _(t: Trial):
    return _grade(t, "We bill per seat", "--type", "decision")


@effect("grade.important", 0.4, 0.7, 0.9)
def _(t: Trial):
    return _grade(t, "It is important that the pump hums")


@effect("grade.remember", 0.4, 0.75, 0.9)
def _(t: Trial):
    return _grade(t, "Remember that the pump hums")


@effect("grade.recurring", 0.4, 0.65, 0.9)
def _(t: Trial):
    return _grade(t, "The pump hums", "--tag", "recurring")


@effect("grade.must_remember", 0.95, "must_remember", "nice_to_have")
def _(t: Trial):
    return t.store("We bill per seat", "--importance", "0.9")["band"]


@effect("grade.nice_to_have", 0.2, "ignore", "nice_to_have")
def _(t: Trial):
    return t.store("We bill per seat", "--importance", "0.3")["band"]


@effect("capture.max_bytes", 200, (1000, False), (200, True))
def _(t: Trial):
    t.ok("capture", "x" * 1000, "--tool", "curl")
    [line] = (t.folder() / "observations" / "2026-02-24.jsonl").read_text().splitlines()
    text = json.loads(line)["text"]
    return round(len(text), -1), "…" in text or "[" in text


_NOTES = (
    "# Notes\n\n- Prices\n"
    + "".join(f"  - In quarter {n} {'we never discount ' * 20}\n" for n in range(3))
    + "- A word\n"
)


def _migrated(t: Trial) -> int:
    t.write("memory/notes.md", _NOTES)
    return t.ok("migrate", "memory/notes.md", "--dry-run")["new"]


@effect("migrate.max_tokens", 100, 2, 4)
def _(t: Trial):
    return _migrated(t)


@effect("migrate.min_tokens", 50, 2, 1)
def _(t: Trial):
    return _migrated(t)


def _captured(t: Trial, count: int = 1) -> None:
    for number in range(count):
        t.ok("capture", f"Test run {number} failed")


@effect("harvest.min_importance", 0.9, 1, 0)
def _(t: Trial):
    _captured(t)
    return t.ok("harvest")["harvested"]


@effect("harvest.review", True, 1, 0)
def _(t: Trial):
    _captured(t)
    return t.ok("harvest")["harvested"]


@effect("harvest.chunk", 1, 1, 3)
def _(t: Trial):
    _captured(t, 3)
    t.ok("harvest")
    return json.loads((t.folder() / "memory-store.json").read_text())["version"]


def _trust_of_said(t: Trial, author: str, text: str) -> str:
    """How far is trusted what was said behind a page from the web."""
    fetch = [{"type": "tool_use", "id": "t1", "name": "WebFetch", "input": {"path": "page"}}]
    page = [{"type": "tool_result", "tool_use_id": "t1", "content": "A page about gulls."}]
    turns = [("assistant", fetch), ("user", page), (author, text)]
    lines = [
        json.dumps({"type": who, "sessionId": "s", "uuid": f"0000000{n}-aaaa", "message": {"content": content}})
        for n, (who, content) in enumerate(turns)
    ]
    (t.root / "talk.jsonl").write_text("\n".join(lines) + "\n")
    t.ok("ingest", "transcript", str(t.root / "talk.jsonl"), "--harvest")
    [found] = json.loads((t.folder() / "memory-store.json").read_text())["long_term"]
    return found["trust"]


@effect("harvest.person_trust", "untrusted", "agent", "untrusted")
def _(t: Trial):
    return _trust_of_said(t, "user", "Decision: the export reads from the replica")


@effect("harvest.local_tools", "webfetch", "untrusted", "agent")
def _(t: Trial):
    return _trust_of_said(t, "assistant", "Decision: the export reads from the replica")


@effect("hook.harvest", False, True, False)
def _(t: Trial):
    from mabos_cli.serve import hook

    _captured(t)
    hook.main(["hook", "learn", "-w", str(t.root), "-a", "main"])
    return (t.folder() / "memory-store.json").exists()


@effect("secrets.refuse", False, 2, 0)
def _(t: Trial):
    return t.code("store", "token=ghp_" + "k3VbXq9TzL2mWc7RnYd4HsJf8PaGuE1oBiQv")


@effect("text.chars_per_token", 2, 4, 8)
def _(t: Trial):
    return t.store("We bill per seat")["token_cost"]


@effect("flush.soft_tokens", 5000, 188_000, 187_000)
def _(t: Trial):
    return t.ok("context", "flush-check", "--total-tokens", "1", "--window", "200000")["threshold"]


@effect("flush.reserve_tokens", 9000, 188_000, 187_000)
def _(t: Trial):
    return t.ok("context", "flush-check", "--total-tokens", "1", "--window", "200000")["threshold"]
