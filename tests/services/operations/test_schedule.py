"""Unit files: ours are kept as they should be, all others as they are."""

from pathlib import Path

import pytest

from mabos_cli.errors import Conflict
from mabos_cli.formats.operations.timers import render_mark
from mabos_cli.services.operations.schedule import UnitChanges, find_units, plan_units, units_folder, write_units

MARK = render_mark("/ours")


def _put(folder: Path, wanted: dict[str, str]) -> UnitChanges:
    changes = plan_units(folder, "/ours", wanted)
    write_units(folder, wanted, changes)
    return changes


def test_units_come_change_and_go(quick: Path, still_world: None) -> None:
    folder = quick / "systemd" / "user"
    first = {"mabos-a-x.timer": f"{MARK}\none\n", "mabos-a-x.service": f"{MARK}\n"}
    assert _put(folder, first) == UnitChanges(("mabos-a-x.service", "mabos-a-x.timer"), (), ())
    assert not _put(folder, first)
    wants = folder / "timers.target.wants"
    wants.mkdir()
    (wants / "mabos-a-x.timer").symlink_to(folder / "mabos-a-x.timer")
    (wants / "other.timer").symlink_to("/nowhere")
    second = {"mabos-a-x.service": f"{MARK}\ntwo\n", "mabos-a-y.timer": f"{MARK}\n"}
    assert _put(folder, second) == UnitChanges(("mabos-a-y.timer",), ("mabos-a-x.service",), ("mabos-a-x.timer",))
    assert (folder / "mabos-a-x.service").read_text() == f"{MARK}\ntwo\n"
    assert [path.name for path in wants.iterdir()] == ["other.timer"]
    _put(folder, {})
    assert [path.name for path in folder.iterdir()] == ["timers.target.wants"]


def test_what_is_not_ours_stays(quick: Path, still_world: None) -> None:
    others = {
        "mabos-a-x.timer": "[Timer]\n",
        "mabos-b-x.timer": f"{render_mark('/theirs')}\n",
        "mabos-c-x.timer": f"# by hand\n{MARK}\n",
        "backup.timer": f"{MARK}\n",
        "mabos-a-x.conf": f"{MARK}\n",
    }
    for name, text in others.items():
        (quick / name).write_text(text)
    assert find_units(quick, "/ours") == []
    for name in list(others)[:3]:
        with pytest.raises(Conflict, match="is not a unit of this workspace"):
            plan_units(quick, "/ours", {name: f"{MARK}\n"})
    _put(quick, {})
    assert {path.name: path.read_text() for path in quick.iterdir()} == others


def test_the_folder_is_where_systemd_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/c")
    assert units_folder() == Path("/c/systemd/user")
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    monkeypatch.setenv("HOME", "/h")
    assert units_folder() == Path("/h/.config/systemd/user")
