"""Effective settings: defaults < mabos.yaml < agent.json < environment < option, each value with its origin."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from mabos_cli import __version__
from mabos_cli.config import SETTINGS, Settings, check_setting, env_name, layer
from mabos_cli.core import BadValue
from mabos_cli.errors import InvalidFile, MabosError, UsageFault
from mabos_cli.formats.json.text import dump_record, parse_json
from mabos_cli.workspace.files import read_bytes, read_text, replace_file, stamp_of, sweep_temps
from mabos_cli.workspace.layout import AgentPaths, WorkspacePaths


def load_settings(workspace: WorkspacePaths, agent: AgentPaths | None, options: Mapping[str, Any]) -> Settings:
    """The settings that hold for one call."""
    layers: list[tuple[str, Mapping[str, Any]]] = []
    lines = _file_values(workspace)
    if lines:
        layers.append(("mabos.yaml", lines))
    manifest = _manifest_values(agent) if agent else {}
    if manifest:
        layers.append(("agent.json", manifest))
    layers += [(variable, {name: value}) for variable, name, value in _environment()]
    given = {name: _checked(name, value, "option") for name, value in options.items() if value is not None}
    if given:
        layers.append(("option", given))
    return layer(layers)


def _file_values(workspace: WorkspacePaths) -> dict[str, Any]:
    """The values of mabos.yaml. Parsing YAML costs more than a whole store, so the result is cached by the file's stamp."""
    stamp = stamp_of(workspace.settings)
    if not stamp and read_bytes(workspace.settings) is None:
        return {}
    key = f"{__version__} {stamp}"
    cached = None
    with suppress(MabosError):
        cached = read_bytes(workspace.settings_cache)
        found = parse_json(cached, "settings.cache") if cached else None
        known = found.get("values") if isinstance(found, dict) and found.get("of") == key else None
        if isinstance(known, dict):
            return known
    from mabos_cli.formats.operations.settings_yaml import parse_settings

    values = {}
    for name, (value, line) in parse_settings(read_text(workspace.settings, "mabos.yaml"), "mabos.yaml").items():
        try:
            values[name] = check_setting(name, value)
        except BadValue as error:
            raise InvalidFile(f"mabos.yaml:{line}: {error.message}", error.hint) from None
    with suppress(MabosError):  # a read-only workspace parses each time
        data = dump_record({"of": key, "values": values})
        replace_file(workspace.settings_cache, data, root=workspace.root, expect=cached)
        sweep_temps(workspace.local, locked=False)  # of one that was killed right here, outside any lock
    return values


def _manifest_values(agent: AgentPaths) -> dict[str, Any]:
    """The `settings` object of agent.json, flattened."""
    data = read_bytes(agent.manifest)
    if data is None:
        return {}
    shown = agent.cited(agent.manifest)
    manifest = parse_json(data, shown)
    chosen = manifest.get("settings", {}) if isinstance(manifest, dict) else None
    if not isinstance(chosen, dict):
        raise InvalidFile(
            f"{shown}:1: agent.json and its settings must be objects", "repair the file or restore it from git"
        )
    values = {}
    for section, names in chosen.items():
        pairs = (
            {f"{section}.{key}": value for key, value in names.items()} if isinstance(names, dict) else {section: names}
        )
        for name, value in pairs.items():
            try:
                values[name] = check_setting(name, value)
            except BadValue as error:
                line = _line_of(data, name.split(".")[-1])
                raise InvalidFile(f"{shown}:{line}: {error.message}", error.hint) from None
    return values


def _line_of(data: bytes, key: str) -> int:
    position = data.find(f'"{key}"'.encode())
    return data[: max(0, position)].count(b"\n") + 1


def _environment() -> list[tuple[str, str, Any]]:
    found = []
    for setting in SETTINGS:
        variable = env_name(setting.name)
        if variable in os.environ:
            found.append((variable, setting.name, _checked(setting.name, os.environ[variable], variable)))
    return found


def _checked(name: str, value: Any, origin: str) -> Any:
    try:
        return check_setting(name, value)
    except BadValue as error:
        raise UsageFault(f"{error.message} (from {origin})", error.hint) from None
