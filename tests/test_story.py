"""Ten weeks lived through day by day (fixtures/story): what was decided, came of it and was learned can be read at every level."""

import os
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from statistics import mean

import pytest

from mabos_cli.core.language.periods import Period, month_of, quarter_of, week_of

sys.path.insert(0, str(Path(__file__).parent.parent / "fixtures" / "story"))

import story

LEVELS: dict[str, tuple[Callable[[date], Period], int, int]] = {
    "weekly": (week_of, 20, 3000),
    "monthly": (month_of, 18, 4000),
    "quarterly": (quarter_of, 16, 5000),
}


@pytest.mark.parametrize(("name", "every"), [("bakery", 1), ("clinic", 7)])
def test_ten_weeks_can_be_read(name: str, every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    monkeypatch.setenv("MABOS_NOW", "")  # the story sets it day by day; it is put back afterwards
    monkeypatch.setenv("MABOS_INDEX_VECTORS", "lexical")
    told, root = story.read_story(name), tmp_path / name
    story.live(root, told, every)
    for level, (name_of, least, size) in LEVELS.items():
        found = list(story.readable(root, told, level, lambda day, of=name_of: of(day).name))
        assert len(found) == 20
        missed = [text for text, is_readable in found if not is_readable]
        assert len(found) - len(missed) >= least, missed
        assert mean(len(text.encode()) for text in story.summaries(root, level).values()) <= size
    [quarter] = story.summaries(root, "quarterly").values()
    assert f"entries: {sum(map(len, told.days.values()))}\n" in quarter, "each memory counts once"
    groups = list(story.consolidated(root))
    members = [member["id"] for _, members in groups for member in members]
    assert groups and len(members) == len(set(members)), "and is in one group"
    for effect, cause, question in told.questions[:3]:
        way = story.run(root, "hierarchy", "drill", question)
        days = [find["day"] for find in way["finds"]]
        assert effect in days or cause in days, question
        assert way["read"]["bytes"] + way["read"]["found"] < 0.15 * way["whole"]["bytes"]
