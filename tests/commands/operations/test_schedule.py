"""schedule: installed, changed and taken out again, with stand-ins for systemctl and crontab; and jobs that run."""

import json
import os
import stat
from pathlib import Path

import pytest

from mabos_cli.workspace.lock import Lock
from tests.commands.desk import Desk, Said

_SYSTEMCTL = '#!/bin/sh\necho "$@" >>"{log}"\n[ ! -e "{log}.silent" ]\n'
# As the real one: no crontab means exit 1 and a word on stderr.
_CRONTAB = """#!/bin/sh
case $1 in
  -l) [ -e "{log}.tab" ] && cat "{log}.tab" || {{ echo "no crontab for me" >&2; exit 1; }} ;;
  -) cat >"{log}.tab" ;;
  -r) rm "{log}.tab" ;;
esac
"""


class Timers:
    """A desk, and the stand-ins that note what they are told."""

    def __init__(self, folder: Path) -> None:
        self.desk = Desk(folder / "team")
        self.log = folder / "log"
        self.tab = folder / "log.tab"
        self.units = folder / "config" / "systemd" / "user"
        for name, text in (("systemctl", _SYSTEMCTL), ("crontab", _CRONTAB)):
            path = folder / "bin" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text.format(log=self.log))
            path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def run(self, *words: str) -> Said:
        return self.desk.run("schedule", *words)

    def told(self) -> list[str]:
        """What systemctl was told since the last time."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines


@pytest.fixture
def timers(quick: Path, still_world: None, monkeypatch: pytest.MonkeyPatch) -> Timers:
    found = Timers(quick)
    monkeypatch.setenv("PATH", f"{quick / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", os.fspath(quick / "config"))
    return found


TIMERS = "mabos-team-cycle.timer mabos-team-nightly.timer mabos-team-sync.timer mabos-team-weekly.timer"


def test_units_are_installed_once_and_follow_the_settings(timers: Timers) -> None:
    assert timers.run("install", "--user", "--dry-run").stdout.count("would write") == 8
    assert timers.told() == [] and not timers.units.exists()
    assert timers.run("install", "--user", "--json").data["left_to_run"] == []
    assert timers.told() == ["--user daemon-reload", f"--user enable --now {TIMERS}"]
    assert timers.run("show", "--json").data["installed"] == ["systemd"]
    assert "nothing to change" in timers.run("install", "--user").stdout
    assert timers.told() == [f"--user enable --now {TIMERS}"]

    timers.desk.settle("schedule:\n  cycle: 15m\n  weekly: off\n")
    data = timers.run("install", "--user", "--json").data
    assert data["changed"] == ["mabos-team-cycle.timer"]
    assert data["gone"] == ["mabos-team-weekly.service", "mabos-team-weekly.timer"]
    left = TIMERS.removesuffix(" mabos-team-weekly.timer")
    assert timers.told() == [
        "--user stop mabos-team-weekly.timer",
        "--user daemon-reload",
        f"--user enable --now {left}",
        "--user restart mabos-team-cycle.timer",
    ]
    timers.run("uninstall")
    assert timers.told() == [f"--user stop {left}", "--user daemon-reload"]
    assert list(timers.units.iterdir()) == []
    assert timers.run("uninstall", "--user").stdout == "no units of this workspace\n"


def test_a_silent_systemd_is_a_warning_that_says_what_to_run(timers: Timers) -> None:
    timers.log.with_name("log.silent").touch()
    done = timers.run("install", "--user")
    assert done.code == 0 and len(list(timers.units.iterdir())) == 8
    assert f"systemctl --user daemon-reload && systemctl --user enable --now {TIMERS}" in done.stderr


def test_a_name_that_another_workspace_has_is_a_conflict(timers: Timers, quick: Path) -> None:
    timers.run("install", "--user")
    other = Desk(quick / "elsewhere" / "team")
    done = other.run("schedule", "install", "--user")
    assert done.code == 5 and "schedule.name" in done.stderr
    other.settle("schedule:\n  name: second\n")
    assert other.run("schedule", "install", "--user").code == 0
    assert timers.run("uninstall", "--user").code == 0
    assert sorted({path.name.split("-")[1] for path in timers.units.iterdir()}) == ["second"]


def test_units_of_a_workspace_that_is_gone_can_be_taken_out(timers: Timers, quick: Path) -> None:
    timers.run("install", "--user")
    (quick / "team").rename(quick / "moved")
    assert timers.run("uninstall", "--user").code == 0
    assert list(timers.units.iterdir()) == []


def test_a_crontab_is_as_it_was_in_the_end(timers: Timers) -> None:
    before = b"MAILTO=ann\n# mine\n5 4 * * * backup 100\\%\n"
    timers.tab.write_bytes(before)
    assert timers.run("install", "--cron", "--dry-run").code == 0
    assert timers.tab.read_bytes() == before
    timers.run("install", "--cron")
    installed = timers.tab.read_bytes()
    assert installed.startswith(before) and installed.count(b" schedule run ") == 4
    assert timers.run("show", "--json").data["installed"] == ["cron"]
    assert timers.run("install", "--cron", "--json").data["changed"] is False
    timers.run("uninstall", "--cron")
    assert timers.tab.read_bytes() == before
    timers.tab.unlink()
    timers.run("install", "--cron")
    timers.run("uninstall")
    assert not timers.tab.exists()


def test_a_crontab_that_cannot_be_read_is_not_replaced(timers: Timers, quick: Path) -> None:
    (quick / "bin" / "crontab").write_text("#!/bin/sh\necho 'you are not allowed' >&2\nexit 1\n")
    done = timers.run("install", "--cron")
    assert done.code == 6 and "not allowed" in done.stderr
    assert timers.run("show").code == 0


@pytest.mark.parametrize("words", [("install",), ("install", "--user", "--cron"), ("uninstall", "--user", "--cron"), ("run", "noon"),
                                   ("show", "--format", "xml")])  # fmt: skip
def test_bad_words_change_nothing(timers: Timers, words: tuple[str, ...]) -> None:
    done = timers.run(*words)
    assert done.code == 2 and done.stdout == "" and "hint" in done.stderr
    assert timers.told() == [] and not timers.units.exists() and not timers.tab.exists()


def test_a_bad_setting_is_cited(timers: Timers) -> None:
    timers.desk.settle("schedule:\n  cycle: 45m\n")
    done = timers.run("show")
    assert done.code == 4 and "mabos.yaml:2: schedule.cycle: '45m'" in done.stderr


def test_a_job_goes_on_behind_an_agent_that_fails(timers: Timers) -> None:
    desk = timers.desk
    desk.add_agent("bad")
    (desk.folder("bad") / "agent.json").write_text("{")
    done = desk.run("schedule", "run", "cycle", "--json")
    assert (done.code, done.stderr) == (4, "")
    rows = json.loads(done.stdout)["data"]["runs"]
    assert [(row["agent"], row["exit"]) for row in rows] == [("bad", 4), ("main", 0)]
    assert "agents/bad/agent.json" in rows[0]["error"] and rows[0]["data"] is None
    assert rows[1]["data"]["agents"][0]["agent"] == "main"
    quiet = desk.run("schedule", "run", "cycle", "-q")
    assert (quiet.code, quiet.stdout) == (4, "")
    assert "bad bdi cycle: agents/bad/agent.json" in quiet.stderr
    assert "1 of 2 runs failed: bad bdi cycle" in quiet.stderr
    assert desk.run("schedule", "run", "cycle", "-a", "main").code == 0


def test_there_is_no_second_copy_of_a_job(timers: Timers) -> None:
    lock = Lock(timers.desk.root / ".mabos" / "schedule" / "cycle.lock", timers.desk.root)
    lock.acquire(0, "a copy")
    try:
        done = timers.run("run", "cycle", "--json")
        assert done.data == {"job": "cycle", "skipped": True, "runs": []}
        assert timers.run("run", "cycle").stdout == "cycle is running already\n"
    finally:
        lock.release()
    assert timers.run("run", "cycle", "--json").data["skipped"] is False


def test_the_night_takes_what_waits(timers: Timers) -> None:
    desk = timers.desk
    desk.run("capture", "We decided to bill per seat", "--importance", "0.9")
    rows = timers.run("run", "nightly", "--json").data["runs"]
    names = ["harvest", "consolidate", "log consolidate", "log archive", "lifecycle run"]
    assert [row["command"] for row in rows] == names
    assert rows[0]["data"]["harvested"] == 1
    assert "We decided to bill per seat" in {row["content"] for row in desk.recall("bill per seat").data["results"]}
