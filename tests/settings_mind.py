"""Trials of the settings of mind, facts, cases and summaries."""

import json
from typing import Any

from settings_trial import Trial, effect


def _two_minds(t: Trial) -> None:
    for text, certainty in (("Demand is growing", "0.9"), ("Demand is declining", "0.8")):
        t.ok("belief", "add", "Demand", text, "--certainty", certainty)


@effect("bdi.certainty_floor", 0.85, 1, 0)
def _(t: Trial):
    _two_minds(t)
    return len(t.ok("bdi", "conflicts")["conflicts"])


@effect("bdi.capacity", 1, 2, 1)
def capacity(t: Trial) -> int:
    for title in ("Open a shop", "Win a prize"):
        t.ok("goal", "add", title)
    return len(t.ok("bdi", "deliberate")["proposals"])


@effect("bdi.autonomy", "adopt", 0, 1)
def autonomy(t: Trial) -> int:
    t.ok("goal", "add", "Open a shop")
    t.ok("bdi", "cycle")
    return len(t.ok("intention", "list")["intentions"])


@effect("bdi.chunk", 1, 1, 2)
def _(t: Trial):
    _two_minds(t)
    [done] = t.ok("bdi", "cycle", "--dry-run")["agents"]
    return done["chunks_processed"]


def _left_alone(t: Trial, days: int, strategy: str) -> int:
    """How many intentions a cycle gives up, when one was last touched so many days ago."""
    path = t.folder() / "agent.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"bdi": {"commitmentStrategy": strategy}}))
    t.write(
        "Intentions.md",
        f"# Intentions\n\n## I-001: Send the offer\n\n[updated: 2026-02-{24 - days:02}]\n\n- **Status:** active\n",
    )
    return len(t.ok("bdi", "status")["due"])


@effect("bdi.open_minded", "3d", 0, 1)
def _(t: Trial):
    return _left_alone(t, 5, "open-minded")


@effect("bdi.cautious", "9d", 1, 0)
def _(t: Trial):
    return _left_alone(t, 5, "cautious")


@effect("facts.split_above", 1, 0, 1)
def _(t: Trial):
    for thing in ("boats", "ropes"):
        t.ok("fact", "assert", "acme", "sells", thing)
    return int(bool(t.files("facts/*.json")))


@effect("facts.materialize_split_above", 1, 0, 1)
def _(t: Trial):
    for thing in ("boats", "ropes"):
        t.ok("fact", "assert", "acme", "sells", thing)
    return int(bool(t.files("memory/mabos-facts/*.md")))


def _cases(t: Trial) -> None:
    for belief, desire in (("B-001,B-002", "D-001"), ("B-003", "D-001,D-002")):
        t.ok(
            "case",
            "store",
            "--belief",
            belief,
            "--desire",
            desire,
            "--action",
            f"Act on {belief}",
            "--context",
            f"A marina and {belief}",
            "--success",
        )


def _nearness(t: Trial, *words: str) -> float:
    _cases(t)
    [first, *_] = t.ok("case", "retrieve", "--belief", "B-001", "--desire", "D-001", *words)["cases"]
    return round(first["score"], 2)


@effect("cbr.max_cases", 1, 2, 1)
def _(t: Trial):
    _cases(t)
    return len(t.ok("case", "list")["cases"])


@effect("cbr.belief_weight", 1.2, 0.7, 0.62)
def _(t: Trial):
    return _nearness(t)


@effect("cbr.desire_weight", 1.2, 0.7, 0.83)
def _(t: Trial):
    return _nearness(t)


@effect("cbr.context_weight", 3.0, True, False)
def _(t: Trial):
    return _nearness(t, "--context", "the weather in Spain") > 0.3


def _year(t: Trial) -> None:
    """Logs of two months, with much to tell every day."""
    for month in ("01", "02"):
        for day in range(1, 21):
            date = f"2026-{month}-{day:02}"
            told = "".join(
                f"## decision (10:0{n} UTC)\n\nFor harbour {day * n + n} of month {month} we decided on berth price number {n}{day}, "
                f"because captain {day + n} asked for it\n\n[harbour{n}, price] (manual) 0.80 ^M-17700{month}{day:02}0000-{n:04x}\n\n"
                for n in range(6)
            )
            t.write(f"memory/{date}.md", f"# {date} — Agent Log\n\n{told}")


def _size(t: Trial, level: str, name: str) -> int:
    _year(t)
    t.ok("hierarchy", "build")
    return (t.folder() / "memory" / level / f"{name}.md").stat().st_size


@effect("hierarchy.week_bytes", 1_000, True, False)
def _(t: Trial):
    return _size(t, "weekly", "2026-W02") > 2_000


@effect("hierarchy.month_bytes", 1_000, True, False)
def _(t: Trial):
    return _size(t, "monthly", "2026-01") > 2_500


@effect("hierarchy.quarter_bytes", 1_000, True, False)
def _(t: Trial):
    return _size(t, "quarterly", "2026-Q1") > 2_500


@effect("hierarchy.width", 1, True, False)
def _(t: Trial):
    _year(t)
    t.ok("hierarchy", "build")
    steps: list[dict[str, Any]] = t.ok("hierarchy", "drill", "berth price of harbour 12")["steps"]
    return max(sum(node["followed"] for node in step["nodes"]) for step in steps) > 1


@effect("knowledge.ontology_rules", False, "PROVEN", "CANNOT_PROVE")
def _(t: Trial):
    t.ok("ontology", "scaffold", "business")
    t.ok("fact", "assert", "zed", "isA", "Customer")
    return t.ok("infer", "backward", "zed", "isA", "Party")["status"]
