"""When jobs are due, as text and as values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.config import BY_NAME, check_setting
from mabos_cli.core import BadValue
from mabos_cli.core.operations.schedule import (
    DAYS,
    JOBS,
    Rhythm,
    due_jobs,
    find_job,
    format_rhythm,
    parse_rhythm,
    unit_name,
)

EVEN = [n for n in range(1, 1440) if 60 % n == 0 or (n % 60 == 0 and 1440 % n == 0)]
RHYTHMS = st.one_of(
    st.sampled_from(EVEN).map(Rhythm),
    st.builds(Rhythm, st.just(0), st.integers(0, 1439), st.sampled_from(["", *DAYS])),
    st.just(Rhythm()),
)


@given(RHYTHMS)
def test_a_rhythm_survives_being_written_down(rhythm: Rhythm) -> None:
    assert parse_rhythm(format_rhythm(rhythm)) == rhythm


@pytest.mark.parametrize(
    ("text", "rhythm"),
    [
        ("90s", None),
        ("30s", None),
        ("45m", None),
        ("7h", None),
        ("2d", None),
        ("0m", None),
        ("24:00", None),
        ("12:60", None),
        ("Foo 12:00", None),
        ("", None),
        ("5", None),
        ("1d", Rhythm(minute=0)),
        (" 60m ", Rhythm(every=60)),
        ("120s", Rhythm(every=2)),
        ("saturday  9:05", Rhythm(minute=545, day="Sat")),
        ("Off", Rhythm()),
    ],
)
def test_rhythms(text: str, rhythm: Rhythm | None) -> None:
    if rhythm is None:
        with pytest.raises(BadValue):
            parse_rhythm(text)
    else:
        assert parse_rhythm(text) == rhythm


def test_settings_name_every_job_and_check_its_rhythm() -> None:
    defaults = {job.setting: BY_NAME[job.setting].default for job in JOBS}
    assert all(check_setting(name, value) == value for name, value in defaults.items())
    assert check_setting("schedule.cycle", "3600s") == "1h"
    with pytest.raises(BadValue, match=r"schedule\.cycle: '45m' does not divide"):
        check_setting("schedule.cycle", "45m")
    due = due_jobs(defaults | {"schedule.sync": "off"})
    assert [job.name for job, _ in due] == ["cycle", "nightly", "weekly"]


def test_every_command_of_a_job_is_one() -> None:
    from mabos_cli.typer_app import load_command

    for job in JOBS:
        for first, *rest in job.commands:
            command = load_command(first)
            assert not rest or rest[0] in command.commands
    with pytest.raises(BadValue, match="no job 'noon'"):
        find_job("noon")


@given(st.text(), st.text())
def test_names_of_units_are_plain(given_name: str, folder: str) -> None:
    name = unit_name(given_name, folder)
    assert name and name.isascii() and len(name) <= 60
    assert not set(name) - set("abcdefghijklmnopqrstuvwxyz0123456789_-")
