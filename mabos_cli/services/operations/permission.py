"""The settings of a workspace that need a person's permission: shown, allowed, denied."""

from typing import Any, NamedTuple

from mabos_cli.config import BY_NAME
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.locate import list_agents
from mabos_cli.workspace.permission import allow_settings, is_allowed, withdraw_permission
from mabos_cli.workspace.settings import find_risky_settings


class RiskySetting(NamedTuple):
    """A setting that needs permission: where it is, what it can do, and whether it was allowed."""

    file: str
    name: str
    value: Any
    risk: str
    allowed: bool


def list_risky(workspace: WorkspacePaths) -> list[RiskySetting]:
    """Returns every setting of the workspace and its agents that needs permission."""
    rows = []
    for file, values in _find(workspace).items():
        allowed = is_allowed(workspace, file, values)
        rows += [RiskySetting(file, name, value, BY_NAME[name].risk, allowed) for name, value in values.items()]
    return rows


def allow(workspace: WorkspacePaths) -> list[RiskySetting]:
    """Allows all of them as they are now, and returns them."""
    found = _find(workspace)
    if found:
        allow_settings(workspace, found)
    return list_risky(workspace)


def deny(workspace: WorkspacePaths) -> tuple[bool, list[RiskySetting]]:
    """Withdraws what was allowed: whether anything was, and the settings that are ignored from now on."""
    return withdraw_permission(workspace), list_risky(workspace)


def _find(workspace: WorkspacePaths) -> dict[str, dict[str, Any]]:
    return find_risky_settings(workspace, (workspace.agent(name) for name in list_agents(workspace)))
