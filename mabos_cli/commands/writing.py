"""Introduces the language model that the settings name, if any, to the commands that let it write."""

import os

from mabos_cli.backends.llm import Llm, open_llm
from mabos_cli.workspace.home import AgentHome


def open_writer(home: AgentHome) -> Llm | None:
    """The model that writes for an agent, or None by default; Unavailable when the settings contradict."""
    options = {name: home.settings[f"llm.{name}"] for name in ("command", "url", "model", "timeout")}
    return open_llm(**options, environ=os.environ)
