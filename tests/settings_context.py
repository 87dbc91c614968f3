"""Trials of the settings of what an agent reads: windows, packs, the memory index, audits, hooks, MCP."""

import io
import json
import os
import sys
from typing import Any
from unittest import mock

from settings_trial import Trial, days_ago, effect

from mabos_cli.app import _global_options
from mabos_cli.serve import hook

_TALK = [
    {"role": ("user", "assistant")[n % 2], "content": f"Turn {n}: " + "we talk about berths and prices. " * 6}
    for n in range(20)
]


def _file(t: Trial, name: str, content: Any) -> str:
    path = t.root / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return os.fspath(path)


def _build(t: Trial, *words: str) -> dict[str, Any]:
    return t.ok(
        "context",
        "build",
        "--request",
        "What do berths cost?",
        "--history",
        _file(t, "chat.json", _TALK),
        *words,
    )


@effect("context.tokenizer", "llama", "estimate", "llama", base="estimate")
def _(t: Trial):
    return _build(t)["counted_by"].partition(":")[0].partition(" ")[0].lower().partition("-")[0]


@effect("context.window", 100_000, 200_000, 100_000)
def _(t: Trial):
    return _build(t)["window"]


@effect("context.system_share", 0.001, True, False)
def _(t: Trial):
    system = _file(t, "system.md", "".join(f"# Part {n}\n\n{'Be brief and kind. ' * 20}\n\n" for n in range(20)))
    return _build(t, "--window", "20000", "--system", system)["tokens"]["system"] > 500


@effect("context.skills_share", 0.001, True, False)
def _(t: Trial):
    skill = _file(t, "SKILL.md", "---\nname: berths\ndescription: For berths.\n---\n" + "Count the berths. " * 60)
    return _build(t, "--window", "20000", "--skills", skill)["tokens"]["skills"] > 100


def _remembered(t: Trial, *words: str) -> dict[str, Any]:
    """A window that is so small that everything in it is scarce."""
    t.put(
        [
            days_ago(
                3,
                n,
                f"Berth {n} costs {n} euros in harbour {n}, as was agreed with captain {n}",
                importance=0.5,
            )
            for n in range(60)
        ]
    )
    return _build(t, "--window", "1000", *words)


@effect("context.memory_share", 0.05, True, False)
def _(t: Trial):
    return _remembered(t)["tokens"]["memory"] > 60


@effect("context.history_share", 0.01, False, True)
def _(t: Trial):
    t.put([])
    tokens = [t.ok("context", "compress", "--history", _file(t, "chat.json", _TALK))["budget"]]
    return tokens[0] < 10_000


@effect("context.request_share", 0.05, 30_000, 10_000)
def _(t: Trial):
    return _build(t)["limits"]["request"]


@effect("context.reserve_share", 0.05, 20_000, 10_000)
def _(t: Trial):
    return _build(t)["reserve"]


@effect("context.compact_at", 0.3, "ok", "compact")
def _(t: Trial):
    return _build(t, "--window", "3000")["action"]


@effect("context.flush_at", 0.3, "ok", "flush")
def _(t: Trial):
    return _build(t, "--window", "3000")["action"]


@effect("context.recent_messages", 2, 6, 2)
def _(t: Trial):
    return t.ok("context", "compress", "--history", _file(t, "chat.json", _TALK), "--budget", "700")["recent"]


@effect("audit.section_tokens", 50, 0, 1)
def _(t: Trial):
    t.write("MEMORY.md", "# Memory\n\n## Berths\n\n" + "Count the berths every day. " * 20 + "\n")
    return len(
        [each for each in t.ok("context", "audit", "--recommend")["recommendations"] if "Berths" in each["description"]]
    )


@effect("audit.file_tokens", 50, False, True)
def _(t: Trial):
    t.write("Persona.md", "# Persona\n\n## Berths\n\n" + "Count the berths every day. " * 20 + "\n")
    return "split_file" in [each["action"] for each in t.ok("context", "audit", "--recommend")["recommendations"]]


@effect("context.index_tokens", 400, False, True)
def _(t: Trial):
    t.put(
        [
            days_ago(1, n, f"Critical rule {n}: " + "never do this without asking first " * 2, importance=0.97)
            for n in range(80)
        ]
    )
    return len(t.ok("context", "index")["text"]) < 400 * 4


def _listed(t: Trial) -> int:
    """How many of the items of five days are in observations.md."""
    t.put([days_ago(n % 5, n, f"Berth {n} was painted " + "green " * 30, importance=0.7) for n in range(20)])
    return t.ok("context", "observations")["text"].count("\n- ")


@effect("context.observation_days", 2, 20, 8)
def _(t: Trial):
    return _listed(t)


@effect("context.observation_tokens", 400, False, True)
def _(t: Trial):
    return _listed(t) < 10


def _pack(t: Trial, *words: str) -> dict[str, Any]:
    return t.ok("context", "pack", "what does a berth cost", *words)


def _berths(t: Trial, **fields: Any) -> None:
    t.put(
        [
            days_ago(
                3,
                n,
                f"Berth {n} costs {n} euros in harbour {n}, {'as was agreed with the captain ' * 3}",
                importance=0.5,
                **fields,
            )
            for n in range(60)
        ]
    )


@effect("context.pack_budget", 300, 1_200, 300)
def _(t: Trial):
    return _pack(t)["budget"]


def _lanes(t: Trial, *words: str) -> dict[str, int]:
    """How many entries of a pack come from each lane."""
    found: dict[str, int] = {}
    for each in _pack(t, *words)["items"]:
        found[each["lane"]] = found.get(each["lane"], 0) + 1
    return found


@effect("context.fresh", "10m", 1, 0)
def _(t: Trial):
    t.put([], short_term=[days_ago(1 / 24, 1, "A berth costs nine euros", importance=0.5)])
    return _lanes(t).get("hot", 0)


def _hot_and_warm(t: Trial, hot: int = 12) -> None:
    fresh = [
        days_ago(
            0.01,
            500 + n,
            f"Berth {n} costs {90 + n} dollars at quay {n} {'says the harbour master ' * 3}",
            importance=0.5,
        )
        for n in range(hot)
    ]
    old = [
        days_ago(9, n, f"Berth {n} costs {n} euros in harbour {n} {'as the captain agreed ' * 3}", importance=0.5)
        for n in range(30)
    ]
    t.put(old, short_term=fresh)


def _scores(t: Trial) -> dict[str, float]:
    """What each candidate of a pack is worth, by the end of its id, when words alone count."""
    t.also(index__vectors="lexical")
    return {each["ref"][-4:]: each["score"] for each in _pack(t, "--trace")["trace"]}


@effect("context.hot_bonus", 0.0, True, False)
def _(t: Trial):
    old = [days_ago(9, 1, "A berth costs nine euros in Kiel", importance=0.5)]
    t.put(old, short_term=[days_ago(0.01, 2, "A berth costs ten euros in Bonn", importance=0.5)])
    found = _scores(t)
    return found["0002"] > found["0001"]


@effect("context.hot_share", 0.1, True, False)
def _(t: Trial):
    _hot_and_warm(t)
    return _lanes(t, "--budget", "600").get("hot", 0) > 3


@effect("context.cold_share", 0.1, True, False)
def _(t: Trial):
    _berths(t)
    for n in range(8):
        t.write(
            f"memory/notes-{n}.md",
            f"# Notes {n}\n\nWhat a berth costs: berth {n} cost {n} francs, {'said the other captain ' * 4}\n",
        )
    return _lanes(t, "--budget", "600").get("cold", 0) > 1


def _trusted(t: Trial, trust: str) -> float:
    """What something is worth that is trusted so, against the same that an agent said."""
    said = days_ago(3, 1, "A berth costs nine euros in Kiel", importance=0.5)
    t.put([said, days_ago(3, 2, "A berth costs ten euros in Bonn", importance=0.5, trust=trust)])
    found = _scores(t)
    return round(found["0002"] / found["0001"], 1)


@effect("context.trusted_weight", 2.0, 1.1, 2.0)
def _(t: Trial):
    return _trusted(t, "trusted")


@effect("context.untrusted_weight", 0.2, 0.5, 0.2)
def _(t: Trial):
    return _trusted(t, "untrusted")


@effect("context.tail_turns", 2, 4, 2)
def _(t: Trial):
    return len(_pack(t, "--history", _file(t, "chat.json", _TALK))["tail"])


@effect("context.tail_share", 0.1, True, False)
def _(t: Trial):
    return len(_pack(t, "--history", _file(t, "chat.json", _TALK), "--budget", "600")["tail"]) > 1


def _prompted(t: Trial, prompt: str, *words: str) -> str:
    """What a hook adds to a prompt."""
    t.ok("index", "sync", *words)
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    given = json.dumps({"prompt": prompt}).encode()
    with mock.patch.object(hook, "read_payload", lambda: given), mock.patch.object(sys, "stdout", out):
        assert hook.main(["hook", "user-prompt", "--host", "claude", "-w", os.fspath(t.root), *words]) == 0
    said = out.buffer.getvalue()
    return json.loads(said)["hookSpecificOutput"]["additionalContext"] if said else ""


def _routine(t: Trial, *items: Any) -> None:
    t.put(
        [
            *items,
            *(
                days_ago(3, 100 + n, f"Routine number {n} about meetings and the weekly plan", importance=0.5)
                for n in range(60)
            ),
        ]
    )


@effect("hook.prompt_budget", 120, True, False)
def _(t: Trial):
    _routine(
        t,
        *(
            days_ago(3, n, f"Acme seat number {n} costs {n} euros {'each month again ' * 8}", importance=0.8)
            for n in range(8)
        ),
    )
    return len(_prompted(t, "What does an Acme seat cost?")) > 120 * 4


@effect("hook.shared", True, False, True)
def _(t: Trial):
    t.also(memory__shared=True)
    t.add_agent("ops")
    t.ok("store", "An Acme seat costs nine euros", "-a", "ops", "--store", "long_term")
    t.ok("index", "sync", "-a", "ops")
    return "nine euros" in _prompted(t, "What does an Acme seat cost?", "-a", "main")


@effect("hook.min_trust", "untrusted", False, True)
def _(t: Trial):
    _routine(t, days_ago(3, 1, "Acme pays 120 euros per seat", importance=0.8, trust="untrusted"))
    return "120 euros" in _prompted(t, "What does Acme pay per seat these days?")


@effect("mcp.max_tokens", 250, False, True)
def _(t: Trial):
    from mabos_cli.serve.calling import call_tool
    from mabos_cli.serve.mcp import TOOLS

    _berths(t)
    tool = TOOLS["memory_recall"]
    call, _ = _global_options(["-w", os.fspath(t.root)])
    return "truncated" in call_tool(call, tool, {"query": "berth"}).data
