"""Two weeks of daily use (benchmarks/year.py lives through a year of it): every memory stays in sight, and every job of every night
ends well."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "fixtures"))

import daily_use


@pytest.mark.usefixtures("still_world")
def test_two_weeks_of_daily_use_leave_everything_in_sight(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MABOS_EMBEDDINGS_PROVIDER", "none")  # words alone find them, and no time goes into vectors
    monkeypatch.setenv("MABOS_CONTEXT_INDEX_TOKENS", "500")  # room for what the lines of a year would leave in 1,500
    root = quick / "ws"
    lived = daily_use.live(root, 120, 15)
    assert len(lived.rows) >= 118 and any(len(members) > 1 for members in lived.groups.values())
    for item_id in (*lived.rows, *lived.groups):
        assert daily_use.run(root, lived.end, "get", item_id)["item"]["id"] == item_id
    found = daily_use.find(root, lived)
    assert [row["content"] for item_id, row in lived.rows.items() if item_id not in found] == []
    text, missing = daily_use.read_index(root, lived)
    assert missing == [] and len(text) < 2000
