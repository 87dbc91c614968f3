"""Units and crontabs: other programs must read in them what we meant."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core import BadValue
from mabos_cli.core.operations.schedule import JOBS, Rhythm, parse_rhythm
from mabos_cli.errors import Conflict
from mabos_cli.formats.operations.timers import Installation, render_cron_block, render_units, replace_cron_block

ODD = ["plain", "with space", "100% ours", "it's", 'the "best"', "$HOME", "a;b&c", "büro", "%h", "#x", "~y"]
RHYTHMS = ["30m", "1m", "1h", "6h", "03:10", "Sun 04:10"]


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    """For every odd name of a workspace and of the program's folder; a unit that is off is noticed."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    for number, name in enumerate([*ODD, "back\\slash"]):
        program = tmp_path / name / "mabos"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        installation = Installation((str(program),), str(program.parent), f"w{number}")
        rhythm = parse_rhythm(RHYTHMS[number % len(RHYTHMS)])
        for file, text in render_units(installation, JOBS[0], rhythm, "x", 300.0).items():
            (tmp_path / file).write_text(text)
    code, said = _verify(tmp_path)
    assert (code, said) == (0, "")
    broken = tmp_path / "mabos-w0-cycle.timer"
    broken.write_text(broken.read_text().replace("OnCalendar=*", "OnCalendar=often"))
    assert "calendar specification" in _verify(tmp_path)[1]


def _verify(folder: Path) -> tuple[int, str]:
    units = sorted(str(path) for path in folder.glob("mabos-*.*"))
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", "--man=no", *units],
        env=os.environ | {"XDG_RUNTIME_DIR": str(folder), "HOME": str(folder)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    # What this machine's own units are blamed for is not our doing.
    ours = [line for line in done.stderr.split("\n") if "mabos-" in line]
    return done.returncode, "\n".join(ours)


def test_units_say_what_runs_and_when() -> None:
    units = render_units(Installation(("/o p/mabos",), "/w/50%", "w"), JOBS[2], parse_rhythm("03:10"), "03:10", 90.0)
    service, timer = units["mabos-w-nightly.service"], units["mabos-w-nightly.timer"]
    assert 'ExecStart=:"/o p/mabos" -w "/w/50%%" schedule run nightly\n' in service
    assert "Type=oneshot\n" in service and "Nice=10\n" in service
    for line in (
        "OnCalendar=03:10",
        "Persistent=true",
        "RandomizedDelaySec=90",
        "Unit=mabos-w-nightly.service",
    ):
        assert f"\n{line}\n" in timer
    assert service.startswith('# mabos schedule of "/w/50%"\n') and timer.startswith(service.split("\n")[0])


@pytest.mark.parametrize("name", ODD)
def test_a_shell_reads_a_cron_line_as_meant(name: str, tmp_path: Path) -> None:
    """As cron does it: an escaped percent sign is one, and the rest goes to sh."""
    program = tmp_path / name / "mabos"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    program.chmod(0o755)
    root = str(tmp_path / name)
    line = render_cron_block(Installation((str(program),), root, "w"), [(JOBS[0], Rhythm(30))]).split("\n")[1]
    fields = line.split(" ", 5)
    assert fields[:5] == ["*/30", "*", "*", "*", "*"]
    assert fields[5].count("%") == fields[5].count("\\%")
    done = subprocess.run(["sh", "-c", fields[5].replace("\\%", "%")], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == ["-q", "-w", root, "schedule", "run", "cycle"]


def test_what_cannot_be_written_down_is_refused() -> None:
    due = [(JOBS[0], Rhythm(30))]
    for root in ("/a\nb", "/a\x1bb", "/a\udcffb"):
        with pytest.raises(BadValue, match="cannot be printed"):
            render_cron_block(Installation(("/m",), root, "w"), due)
        with pytest.raises(BadValue, match="cannot be printed"):
            render_units(Installation(("/m",), root, "w"), *due[0], "30m", 0.0)
    with pytest.raises(BadValue, match="backslash"):
        render_cron_block(Installation(("/m",), "/a\\b", "w"), due)


LINES = st.lists(st.sampled_from([b"MAILTO=me\n", b"# mabos\n", b"\n", b"0 1 * * * x %\n", b"\xff\r\n", b"\x85\n"]))
OURS, THEIRS = (
    render_cron_block(Installation(("/m",), root, "w"), [(JOBS[0], Rhythm(30))]) for root in ("/ours", "/theirs")
)


@given(LINES, LINES)
def test_a_crontab_keeps_every_byte_that_is_not_ours(before: list[bytes], behind: list[bytes]) -> None:
    crontab = b"".join(before) + THEIRS.encode() + b"".join(behind)
    installed = replace_cron_block(crontab, "/ours", OURS)
    assert installed == crontab + OURS.encode()
    assert replace_cron_block(installed, "/ours", OURS) == installed
    assert replace_cron_block(installed, "/ours", "") == crontab
    changed = replace_cron_block(installed, "/theirs", "# new\n")
    assert changed == b"".join(before) + b"# new\n" + b"".join(behind) + OURS.encode()


def test_marks_that_are_no_pair_are_left_alone() -> None:
    begin, _, end = OURS.split("\n")[:3]
    for text in (f"{begin}\n", f"{end}\n", f"{end}\n{begin}\n", OURS + OURS):
        with pytest.raises(Conflict, match="unpaired"):
            replace_cron_block(text.encode(), "/ours", OURS)
    assert replace_cron_block(b"no newline", "/ours", OURS) == b"no newline\n" + OURS.encode()
