"""Introduces what counts tokens, by the settings, to the commands that keep within a budget."""

import os

from mabos_cli.backends.tokenizers import Counter, open_tokenizer_counter
from mabos_cli.workspace.agent import Agent


def open_counter(agent: Agent) -> Counter:
    """What counts tokens for an agent, and its name; Unavailable when the settings name one that is not there."""
    per_token = agent.settings["text.chars_per_token"]
    return open_tokenizer_counter(agent.settings["context.tokenizer"], per_token, os.environ)
