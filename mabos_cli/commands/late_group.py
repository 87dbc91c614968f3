"""A group whose commands live in modules of their own, each imported when it is called: a small one need not wait for the large."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo


class LateCommands(dict[str, Any]):
    """Commands by name; who asks for one imports it, who asks for all imports all."""

    def __init__(self, places: Mapping[str, str]) -> None:
        super().__init__(places)
        self.epilog = ""

    def __getitem__(self, name: str) -> Any:
        found = super().__getitem__(name)
        if isinstance(found, str):
            module, _, function = found.partition(":")
            info = CommandInfo(name, callback=getattr(import_module(f"mabos_cli.commands.{module}"), function))
            info.context_settings = {"help_option_names": ["-h", "--help"]}
            found = get_command_from_info(info, pretty_exceptions_short=False, rich_markup_mode=None)
            found.epilog = self.epilog
            self[name] = found
        return found

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default

    def values(self) -> Any:
        return [self[name] for name in self]

    def items(self) -> Any:
        return [(name, self[name]) for name in self]


def late_group(places: Mapping[str, str]) -> type[TyperGroup]:
    """A kind of group with these commands: name -> module:function, below commands/."""

    class LateGroup(TyperGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            self.commands = LateCommands(places)

    return LateGroup
