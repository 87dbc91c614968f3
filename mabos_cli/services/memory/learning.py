"""Learning from conversations: observations of a session become the few memories that are worth keeping."""

import json

from mabos_cli.core.memory.learning import Judge
from mabos_cli.workspace.files import read_text
from mabos_cli.workspace.layout import template_file


def load_judge() -> Judge:
    """Returns the model that comes with the program."""
    model = json.loads(read_text(template_file("learning.json")))
    return Judge(model["types"], model["weights"], model["floor"])
