"""Every setting is honoured: with another value in mabos.yaml a command does something else, and what is said here."""

import json
from pathlib import Path

import pytest
import settings_context  # noqa: F401
import settings_memory  # noqa: F401
import settings_mind  # noqa: F401
import settings_outside  # noqa: F401
import settings_search  # noqa: F401
from settings_trial import EFFECTS, Trial

from mabos_cli.config import BY_NAME, check_setting, env_name


def test_every_setting_is_tried() -> None:
    assert {*BY_NAME} - {*EFFECTS} == set()


@pytest.mark.parametrize("name", EFFECTS)
def test_effect(name: str, quick: Path, still_world: None) -> None:
    tried = EFFECTS[name]
    before = tried.look(Trial(quick / "before", name, tried.base))
    after = tried.look(Trial(quick / "after", name, tried.value))
    assert (before, after) == (tried.before, tried.after)
    assert before != after


# What a setting of each kind cannot be.
_WRONG = {
    **dict.fromkeys(("count", "size", "weight"), "many"),
    "fraction": 2,
    "span": "soon",
    "rhythm": "sometimes",
    "choice": "nonsense",
    "keeping": "long_term",
    "flag": "perhaps",
    "text": [1],
}


def test_a_bad_value_of_any_setting_is_an_error_that_names_file_and_line(quick: Path, still_world: None) -> None:
    trial = Trial(quick / "ws", "", None)
    for setting in BY_NAME.values():
        section, _, key = setting.name.partition(".")
        trial.settle(f"# settings\n{section}:\n  {key}: {json.dumps(_WRONG[setting.kind])}\n")
        said = trial.run("status")
        assert (said.code, said.stdout) == (4, "") and said.stderr.startswith("mabos: mabos.yaml:3: "), setting.name
    trial.settle("# settings\nmemory:\n  split_above:\n    x: 1\n")
    said = trial.run("config", "--json")
    told = json.loads(said.stderr)["error"]
    assert (said.code, told["code"]) == (4, "invalid_file") and told["message"].startswith("mabos.yaml:")


def test_an_unknown_setting_is_a_warning_with_a_suggestion(quick: Path, still_world: None) -> None:
    """An older mabos goes on beside a newer one that wrote the file."""
    trial = Trial(quick / "ws", "", None)
    trial.settle("memry:\n  split_above: 1\nmemory:\n  splitt_above: 1\n  page_items: 7\n")
    for _ in range(2):  # read, and then from the cache
        said = trial.run("config", "memory.page_items", "--json")
        assert said.data["settings"][0]["value"] == 7
        assert said.warnings == [
            "mabos.yaml:2: unknown setting memry.split_above is ignored; did you mean memory.split_above?",
            "mabos.yaml:4: unknown setting memory.splitt_above is ignored; did you mean memory.split_above?",
        ]
    assert trial.run("status", "--json").warnings == said.warnings


def test_config_shows_each_value_and_where_it_comes_from(
    quick: Path, still_world: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = Trial(quick / "ws", "", None)
    trial.also(**{name.replace(".", "__"): tried.value for name, tried in EFFECTS.items()})

    def shown() -> dict[str, tuple[object, str]]:
        return {row["name"]: (row["value"], row["origin"]) for row in trial.ok("config")["settings"]}

    assert shown() == {name: (check_setting(name, tried.value), "mabos.yaml") for name, tried in EFFECTS.items()}
    for name, setting in BY_NAME.items():
        monkeypatch.setenv(env_name(name), str(setting.default))
    assert shown() == {name: (setting.default, env_name(name)) for name, setting in BY_NAME.items()}
