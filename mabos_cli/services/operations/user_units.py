"""Unit files of a workspace, where the user's systemd looks for them. Files without our mark are never touched."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from mabos_cli.errors import Conflict
from mabos_cli.formats.operations.timers import render_mark
from mabos_cli.workspace.files import list_names, read_bytes, remove_file, replace_file

_ENDINGS = (".service", ".timer")


class UnitChanges(NamedTuple):
    """What has to happen so that the folder holds just the units that are wanted: names, sorted."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.gone)


def units_folder() -> Path:
    """Where the user's systemd looks for units that the user made."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(os.path.abspath(base)) / "systemd" / "user"


def find_units(folder: Path, root: str) -> list[str]:
    """The units of a workspace: those whose first line bears its mark."""
    mark = render_mark(root).encode()
    names = [name for name in list_names(folder) if name.startswith("mabos-") and name.endswith(_ENDINGS)]
    return [name for name in names if (read_bytes(folder / name) or b"").partition(b"\n")[0] == mark]


def plan_units(folder: Path, root: str, wanted: Mapping[str, str]) -> UnitChanges:
    """What differs between the folder and the units that are wanted; Conflict when a name is taken by somebody else."""
    ours = find_units(folder, root)
    held = {name: read_bytes(folder / name) for name in wanted}
    for name, data in held.items():
        if data is not None and name not in ours:
            raise Conflict(f"{folder / name} is not a unit of this workspace",
                           "call this one otherwise in mabos.yaml, schedule.name, or remove the file")  # fmt: skip
    return UnitChanges(
        tuple(sorted(name for name, data in held.items() if data is None)),
        tuple(sorted(n for n, data in held.items() if data is not None and data != wanted[n].encode())),
        tuple(sorted(set(ours) - set(wanted))),
    )


def write_units(folder: Path, wanted: Mapping[str, str], changes: UnitChanges) -> None:
    """Writes and removes the units that a plan names."""
    for name in (*changes.new, *changes.changed):
        path = folder / name
        replace_file(path, wanted[name].encode(), root=folder, expect=read_bytes(path))
    for name in changes.gone:
        # Where systemd does not answer, nobody else takes away the link that made the timer start.
        if os.path.lexists(link := folder / "timers.target.wants" / name):
            remove_file(link, root=folder)
        remove_file(folder / name, root=folder)
