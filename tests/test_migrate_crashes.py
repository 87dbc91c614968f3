"""migrate, killed, cut off or refused along the way: no entry is lost, none is stored twice, and the notes stay."""

import json
import shutil
from collections import Counter
from pathlib import Path

from forked import Fault, places, run

NOW = "2026-03-04T12:00:00Z"
LATER = "2026-03-04T12:00:01Z"
NOTES = (
    "# M\n\n## Facts\n- One apple fell from the tree\n- Two pears hang in the sun\n\n## Rules\n- Never eat the figs\n"
)
TODAY = "# Today\n\nThe figs are ripe at last.\n"


def stored(root: Path) -> Counter:
    """How many items, live or archived, each entry became."""
    folder = root / "agents/main"
    store = folder / "memory-store.json"
    found = [item["migrated"] for item in json.loads(store.read_text())["long_term"]] if store.exists() else []
    lines = [line for path in folder.glob("archive/*.jsonl") for line in path.read_text().split("\n") if line]
    return Counter([*found, *(json.loads(line)["item"]["migrated"] for line in lines)])


def test_migrate(quick: Path) -> None:
    seed, root, cut_off = quick / "seed", quick / "ws", 0
    assert run("init", str(seed), MABOS_NOW=NOW).code == 0
    (seed / "agents/main/memory").mkdir(exist_ok=True)
    (seed / "agents/main/MEMORY.md").write_text(NOTES)
    (seed / "agents/main/memory/2026-03-04.md").write_text(TODAY)
    shutil.copytree(seed, root)
    calls = run("migrate", "-w", str(root), MABOS_NOW=NOW).calls
    assert calls > 10
    for turn, at in enumerate(places(calls, 3)):
        kind = "kill" if turn % 4 else ("powerloss", "ENOSPC", "EIO")[turn // 4 % 3]
        shutil.rmtree(root)
        shutil.copytree(seed, root)
        done = run("migrate", "-w", str(root), fault=Fault(kind, at), MABOS_NOW=NOW)
        assert "Traceback" not in done.stderr
        again = run("migrate", "--json", "-w", str(root), MABOS_NOW=LATER)
        assert again.code == 0, again.stderr
        cut_off += json.loads(again.stdout)["data"]["known"] == 4
        assert sorted(stored(root).values()) == [1, 1, 1, 1], (kind, at)
        third = json.loads(run("migrate", "--json", "-w", str(root), MABOS_NOW=LATER).stdout)["data"]
        assert (third["new"], third["merged"], third["known"]) == (0, 0, 4), (kind, at)
        assert (root / "agents/main/MEMORY.md").read_text() == NOTES
        assert (root / "agents/main/memory/2026-03-04.md").read_text() == TODAY
    assert cut_off > 5  # between items and ledger
