"""Every setting is honoured: with another value in mabos.yaml a command does something else, and what is said here."""

from pathlib import Path

import pytest
import settings_context  # noqa: F401
import settings_memory  # noqa: F401
import settings_mind  # noqa: F401
import settings_outside  # noqa: F401
import settings_search  # noqa: F401
from settings_trial import EFFECTS, Trial

from mabos_cli.config import BY_NAME


def test_every_setting_is_tried() -> None:
    assert {*BY_NAME} - {*EFFECTS} == set()


@pytest.mark.parametrize("name", EFFECTS)
def test_effect(name: str, quick: Path, still_world: None) -> None:
    tried = EFFECTS[name]
    before = tried.look(Trial(quick / "before", name, tried.base))
    after = tried.look(Trial(quick / "after", name, tried.value))
    assert (before, after) == (tried.before, tried.after)
    assert before != after
