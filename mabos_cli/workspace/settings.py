"""Effective settings: defaults < mabos.yaml < agent.json < environment < option, each value with its origin.

Settings in mabos.yaml or agent.json that run programs, send data or weaken a check are ignored until `mabos allow`. What was
allowed is kept outside the workspace, below the user's state folder, by the workspace's real folder and a digest of exactly these
settings: changed settings ask again, and a workspace that came from somebody else cannot bring its own permission.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from mabos_cli import __version__
from mabos_cli.config import BY_NAME, SETTINGS, Settings, check_setting, env_name, is_risky, layer, nearest_setting
from mabos_cli.core import BadValue
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import InvalidFile, MabosError, UsageFault
from mabos_cli.formats.json.text import dump_record, parse_json
from mabos_cli.workspace.files import read_bytes, read_text, remove_file, replace_file, stamp_of, sweep_temps
from mabos_cli.workspace.layout import AgentPaths, WorkspacePaths
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
    from hashlib import sha256  # late: OpenSSL takes long to load, and most workspaces need no permission

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
    from hashlib import sha256

    return sha256(dump_record(dict(sorted(risky.items())))).hexdigest()


def load_settings(workspace: WorkspacePaths, agent: AgentPaths | None, options: Mapping[str, Any]) -> Settings:
    """Returns the settings that hold for one call. What a file says and a person has not allowed is left out, with a warning."""
    layers: list[tuple[str, Mapping[str, Any]]] = []
    warnings: list[str] = []
    ignored: list[str] = []
    for origin, file in _settings_files(workspace, agent):
        values, risky = file.values, file.find_risky()
        if risky and not is_allowed(workspace, file.shown, risky):
            ignored.append(f"{file.shown}: {', '.join(risky)}")
            values = {name: value for name, value in values.items() if name not in risky}
        layers.append((origin, values))
        warnings += file.warnings
    if ignored:
        warnings.append(f"ignored until you allow it ({'; '.join(ignored)}): mabos allow --show, then mabos allow")
    layers += [(variable, {name: value}) for variable, name, value in _environment()]
    chosen = {name: _checked(name, value, "option") for name, value in options.items() if value is not None}
    return layer([*layers, ("option", chosen)], warnings)


class SettingsFile(NamedTuple):
    """Holds what a file says: its name below the workspace, its values, and warnings about names that nobody knows."""

    shown: str
    values: dict[str, Any]
    warnings: list[str]

    def find_risky(self) -> dict[str, Any]:
        """Returns the values that need a person's permission."""
        return {name: value for name, value in self.values.items() if is_risky(name, value)}


def find_risky_settings(workspace: WorkspacePaths, agents: Iterable[AgentPaths]) -> dict[str, dict[str, Any]]:
    """Returns the settings of a workspace and its agents that need permission, by file."""
    files = [_file_values(workspace), *map(_manifest_values, agents)]
    return {file.shown: risky for file in files if (risky := file.find_risky())}


def _settings_files(workspace: WorkspacePaths, agent: AgentPaths | None) -> Iterator[tuple[str, SettingsFile]]:
    """Yields the files that hold settings, each with the origin that `mabos config` names."""
    yield "mabos.yaml", _file_values(workspace)
    if agent:
        yield "agent.json", _manifest_values(agent)


def _file_values(workspace: WorkspacePaths) -> SettingsFile:
    """Returns the values of mabos.yaml. Parsing YAML costs more than a whole store, so the result is cached by the file's stamp."""
    shown, stamp = workspace.settings.name, stamp_of(workspace.settings)
    if not stamp and read_bytes(workspace.settings) is None:
        return SettingsFile(shown, {}, [])
    key = f"{__version__} {stamp}"
    cached = None
    with suppress(MabosError, BadValue, KeyError, TypeError, AttributeError):  # whatever is wrong with the cache
        cached = read_bytes(workspace.settings_cache)
        found = parse_json(cached, "settings.cache") if cached else None
        if isinstance(found, dict) and found.get("of") == key:
            values = {name: check_setting(name, value) for name, value in found["values"].items()}
            return SettingsFile(shown, values, list(map(str, found["warnings"])))
    from mabos_cli.workspace.settings import parse_settings

    file = SettingsFile(shown, {}, [])
    for name, (value, line) in parse_settings(read_text(workspace.settings, shown), shown).items():
        _take(file, name, value, line)
    with suppress(MabosError):  # a read-only workspace parses each time
        data = dump_record({"of": key, "values": file.values, "warnings": file.warnings})
        replace_file(workspace.settings_cache, data, root=workspace.root, expect=cached)
        sweep_temps(workspace.local, locked=False)  # of one that was killed right here, outside any lock
    return file


def _manifest_values(agent: AgentPaths) -> SettingsFile:
    """Returns the `settings` object of agent.json, flattened."""
    shown, data = agent.cited(agent.manifest), read_bytes(agent.manifest)
    file = SettingsFile(shown, {}, [])
    manifest = parse_json(data, shown) if data is not None else {}
    chosen = manifest.get("settings", {}) if isinstance(manifest, dict) else None
    if not isinstance(chosen, dict):
        raise InvalidFile(
            f"{shown}:1: agent.json and its settings must be objects", "repair the file or restore it from git"
        )
    for section, names in chosen.items():
        pairs = (
            {f"{section}.{key}": value for key, value in names.items()} if isinstance(names, dict) else {section: names}
        )
        for name, value in pairs.items():
            _take(file, name, value, _line_of(data or b"", name.split(".")[-1]))
    return file


def _take(file: SettingsFile, name: str, value: Any, line: int) -> None:
    """Adds a checked value. A name that this version does not know is a warning: a newer one may have written it."""
    if name not in BY_NAME:
        file.warnings.append(f"{file.shown}:{line}: unknown setting {name[:60]} is ignored{nearest_setting(name)}")
        return
    try:
        file.values[name] = check_setting(name, value)
    except BadValue as error:
        raise InvalidFile(f"{file.shown}:{line}: {error.message}", error.hint) from None


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


_MOST_LISTS = 1000


def parse_settings(text: str, path: str) -> dict[str, tuple[Any, int]]:
    """Parses dotted names with values and lines; InvalidFile cites what is not section: {name: value}."""
    import yaml

    if text.count("[") > _MOST_LISTS:  # PyYAML takes minutes for them, and settings hold no lists
        raise InvalidFile(f"{path}:1: not valid YAML: nested too deeply", "see mabos config")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).split("\n")[0]
        raise InvalidFile(
            f"{path}:{mark.line + 1 if mark else 1}: not valid YAML: {problem}", "see mabos config"
        ) from None
    found: dict[str, tuple[Any, int]] = {}
    if root is not None:
        _walk(root, "", path, found)
    return found


def _walk(node: Any, prefix: str, path: str, found: dict[str, tuple[Any, int]]) -> None:
    import yaml

    line = node.start_mark.line + 1
    if not isinstance(node, yaml.MappingNode):
        raise InvalidFile(f"{path}:{line}: expected `name: value`", "settings are sections of names and values")
    for key, value in node.value:
        name = f"{prefix}{getattr(key, 'value', '?')}"
        here = key.start_mark.line + 1
        if name in found:
            raise InvalidFile(f"{path}:{here}: {name} is set twice", "keep one of them")
        if isinstance(value, yaml.MappingNode) and not prefix:
            _walk(value, f"{name}.", path, found)
        elif isinstance(value, yaml.ScalarNode):
            if value.tag != "tag:yaml.org,2002:null":
                found[name] = (_scalar(value), here)
        else:
            raise InvalidFile(f"{path}:{here}: {name} must be a single value", "see mabos config")


def _scalar(node: Any) -> Any:
    """Numbers as numbers, all else as the text that stands there: `no` stays no, 12:30 stays 12:30."""
    if node.tag in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float"):
        try:
            return (
                float(node.value)
                if "." in node.value or "e" in node.value.lower()
                else int(node.value.replace("_", ""))
            )
        except ValueError:
            return node.value
    return node.value
