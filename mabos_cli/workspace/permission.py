"""What a person allowed a workspace on this machine: settings that run programs, send data or lower a guard.

Such settings in mabos.yaml or agent.json are ignored until `mabos allow`. What was allowed is kept outside the workspace, below the
user's state folder, by the workspace's real folder and a digest of exactly these settings: changed settings ask again, and a
workspace that came from somebody else cannot bring its own permission.
"""

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from mabos_cli.errors import InvalidFile, MabosError
from mabos_cli.formats.json.text import dump_record, parse_json
from mabos_cli.workspace.files import read_bytes, remove_file, replace_file
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.plain_files import state_folder

Values = Mapping[str, Any]


def is_allowed(workspace: WorkspacePaths, source: str, risky: Values) -> bool:
    """Tells whether a person allowed exactly these settings of a file. An unreadable permission is none."""
    try:
        allowed = _load(workspace)
    except MabosError:
        return False
    return allowed.get(source) == _digest(risky)


def allow_settings(workspace: WorkspacePaths, found: Mapping[str, Values]) -> None:
    """Keeps that a person allowed these settings, by file; what was allowed before is replaced."""
    path = permission_file(workspace)
    if path is None:
        raise InvalidFile("there is no folder for permissions", "set HOME or XDG_STATE_HOME to an absolute path")
    digests = {source: _digest(values) for source, values in sorted(found.items())}
    data = dump_record({"format": 1, "folder": _folder(workspace), "allowed": digests})
    replace_file(path, data, root=path.parent, expect=read_bytes(path))


def withdraw_permission(workspace: WorkspacePaths) -> bool:
    """Removes what was allowed; returns whether anything was."""
    path = permission_file(workspace)
    if path is None or read_bytes(path) is None:
        return False
    remove_file(path, root=path.parent)
    return True


def permission_file(workspace: WorkspacePaths) -> Path | None:
    """Returns the file that holds what was allowed in a workspace, None where there is no state folder."""
    folder = state_folder()
    name = f"{sha256(os.fsencode(_folder(workspace))).hexdigest()[:24]}.json"
    return Path(folder, "allowed", name) if folder else None


def _folder(workspace: WorkspacePaths) -> str:
    return os.path.realpath(workspace.root)


def _load(workspace: WorkspacePaths) -> dict[str, Any]:
    path = permission_file(workspace)
    data = read_bytes(path) if path else None
    found = parse_json(data, str(path)) if data else {}
    allowed = found.get("allowed") if isinstance(found, dict) and found.get("folder") == _folder(workspace) else None
    return allowed if isinstance(allowed, dict) else {}


def _digest(risky: Values) -> str:
    return sha256(dump_record(dict(sorted(risky.items())))).hexdigest()
