"""Half a year of three agents with planted events, each proposed or handled by the next cycle: fixtures/half_year.py."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "fixtures"))
import half_year


def test_every_planted_event_is_met_and_little_else_is_proposed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(half_year, "STRATEGIES", {"ceo": "open-minded", "cto": "single-minded"})
    monkeypatch.setenv("MABOS_NOW", "")
    found = half_year.play(tmp_path / "w", twice=range(3, 60, 10))
    assert (found.planted, found.missed, found.restless) == (24, [], [])
    assert len(found.unplanted) <= 0.1 * found.proposed, found.unplanted
