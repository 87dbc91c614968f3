"""What a person forgot is out of sight through every door, whether it was live, expired, superseded or consolidated."""

import json
from collections.abc import Callable, Iterator

import pytest
from commands.desk import Desk
from conftest import quick_folder

from serve.agent_host import Host

# Each of the four kinds has a word of its own, and is told together with the quarry, of which something else stays known.
FORGOTTEN = ("Zebulon", "Orvath", "Milgrim", "Tamsin")
Door = Callable[[Host], str]


def said(*words: str) -> Door:
    return lambda host: host.desk.run(*words).stdout


def asked(tool: str, **arguments: str) -> Door:
    calls = (
        {"method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}}},
        {"method": "tools/call", "params": {"name": tool, "arguments": arguments}},
    )
    lines = "".join(json.dumps({"jsonrpc": "2.0", "id": n, **call}) + "\n" for n, call in enumerate(calls))
    return lambda host: host.desk.run("mcp", stdin=lines.encode()).stdout.split("\n")[1]


def files(*patterns: str) -> Door:
    return lambda host: "".join(
        path.read_text("utf-8") for pattern in patterns for path in host.desk.folder().glob(f"memory/{pattern}")
    )


def report(host: Host) -> str:
    path = host.desk.root.parent / "report.html"
    host.desk.run("report", "-o", str(path))
    return path.read_text("utf-8")


DOORS: dict[str, Door] = {
    "recall": said("recall", "quarry"),
    "recall without a question": said("recall"),
    "recall of what leads on": said("recall", "quarry", "--depth", "2"),
    "pack": said("context", "pack", "quarry"),
    "window": said("context", "build", "--request", "what about the quarry", "--json"),
    "hook": lambda host: host.context("user-prompt", prompt="Does Zebulon keep the key of the quarry?"),
    "timeline": said("timeline"),
    "timeline of words": said("timeline", "quarry"),
    "timeline of a day": said("timeline", "2026-02-10"),
    "drill": said("hierarchy", "drill", "quarry"),
    "search of summaries": said("hierarchy", "search", "who keeps the quarry key"),
    "summaries": files("weekly/*.md", "monthly/*.md", "quarterly/*.md"),
    "index and domains": files("INDEX.md", "domains/*.md", "mabos-memory-items.md"),
    "log of the last days": files("observations.md"),
    "log of the last days as it is made": said("context", "observations", "--no-write"),
    "facts that memories say": said("fact", "extract"),
    "report": report,
    "explanation": said("explain", "who works at the quarry"),
    "memory_recall": asked("memory_recall", query="quarry"),
    "memory_timeline": asked("memory_timeline", query="quarry"),
    "memory_hierarchy_search": asked("memory_hierarchy_search", query="who keeps the quarry key", level="weekly"),
}


def ids_of(desk: Desk, *words: str) -> list[str]:
    return [row["id"] for row in desk.recall(*words).data["results"] if row["kind"] == "item"]


@pytest.fixture(scope="module")
def told() -> Iterator[tuple[Host, dict[str, str]]]:
    """A workspace in which four memories were forgotten, and what each door showed before that."""
    patch = pytest.MonkeyPatch()
    with quick_folder() as folder:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setenv("MABOS_HOOK_TIME", "30")
        host = Host(desk := Desk(folder / "w"), patch)
        patch.setenv("MABOS_NOW", "2026-02-10T10:00:00Z")
        assert desk.run("context", "observations").code == 0
        stored = [
            desk.run("store", *words, "--json").data["id"]
            for words in (
                ("Zebulon keeps the quarry key", "--type", "instruction"),
                ("Orvath was seen at the quarry at noon", "--type", "event", "--importance", "0.4"),
                ("The quarry belongs to Milgrim", "--type", "fact"),
                ("Tamsin sold 12 lorries from the quarry", "--tag", "gravel", "--importance", "0.8"),
                ("Tamsin sold 15 lorries from the quarry", "--tag", "gravel", "--importance", "0.8"),
                ("The quarry closes in May", "--type", "decision"),
            )
        ]
        patch.setenv("MABOS_NOW", "2026-02-11T03:10:00Z")
        for job in ("consolidate", "lifecycle run", "hierarchy build"):
            assert desk.run(*job.split()).code == 0
        before = {name: door(host) for name, door in DOORS.items()}
        assert desk.run("store", "The quarry belongs to Olufsen", "--type", "fact").code == 0  # supersedes
        group = ids_of(desk, "lorries", "--live")[0]
        for item_id in (*stored[:3], group):
            assert desk.run("forget", item_id).code == 0
        yield host, before
    patch.undo()


@pytest.mark.parametrize("door", DOORS)
def test_no_door_shows_what_was_forgotten(told: tuple[Host, dict[str, str]], door: str) -> None:
    host, before = told
    shown = DOORS[door](host)
    assert any(name in before[door] for name in FORGOTTEN), f"not shown before either: {before[door]}"
    assert [name for name in FORGOTTEN if name in shown] == []


def test_who_asks_for_it_by_id_or_with_an_option_still_sees_it(told: tuple[Host, dict[str, str]]) -> None:
    desk = told[0].desk
    found = ids_of(desk, "quarry", "--archived")
    assert sum("forgotten" in desk.run("get", item_id).stdout for item_id in found) == 6  # a group of two among them
    assert all(name in desk.run("timeline", "quarry", "--archived").stdout for name in FORGOTTEN)


def test_revived_it_is_back_with_what_went_into_it() -> None:
    with quick_folder() as folder, pytest.MonkeyPatch().context() as patch:
        desk = Desk(folder / "w")
        patch.setenv("MABOS_NOW", "2026-02-10T10:00:00Z")
        for count in (12, 15):
            text = f"Tamsin sold {count} lorries from the quarry"
            assert desk.run("store", text, "--tag", "gravel", "--importance", "0.8").code == 0
        assert [desk.run(*job.split()).code for job in ("consolidate", "hierarchy build")] == [0, 0]
        week = desk.folder() / "memory/weekly/2026-W07.md"
        group, before = ids_of(desk, "lorries")[0], week.read_text("utf-8")
        assert desk.run("forget", group).code == 0 and "Tamsin" not in week.read_text("utf-8")
        assert "is forgotten already" in desk.run("forget", group).stderr
        patch.setenv("MABOS_NOW", "2026-02-10T11:00:00Z")
        assert desk.run("revive", group).code == 0 and week.read_text("utf-8").count("Tamsin") == before.count("Tamsin")
        assert desk.run("timeline", "lorries").stdout.count("Tamsin sold") > 2
        week.write_text(before + "\nMine.\n", "utf-8")
        assert "2026-W07.md was edited by hand" in desk.run("forget", group).stderr
