"""What tells a workspace and an agent from any other folder, on plain paths: locate.py asks it, and so do hooks, which cannot afford
to load more than this."""

import os

SETTINGS = "mabos.yaml"
AGENTS = "agents"
LOCAL = ".mabos"
QUEUE = "queue"
LOCKS = "locks"
_MARKS = ("Persona.md", "Beliefs.md")


def is_workspace(folder: str) -> bool:
    """Whether a folder that somebody named is a workspace."""
    return os.path.isfile(os.path.join(folder, SETTINGS)) or os.path.isdir(os.path.join(folder, AGENTS))


def workspace_above(folder: str) -> str:
    """The nearest folder, this one or above, that holds mabos.yaml; empty when there is none."""
    while True:
        if os.path.isfile(os.path.join(folder, SETTINGS)):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above


def is_agent_folder(folder: str) -> bool:
    """Whether a folder is an agent: it holds Persona.md or Beliefs.md."""
    return any(os.path.isfile(os.path.join(folder, mark)) for mark in _MARKS)


def state_folder() -> str:
    """Returns the folder for what this machine knows apart from any workspace; empty where there is no home."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "mabos") if os.path.isabs(base) else ""


def hook_spool(root: str, agent: str) -> str:
    """What hooks note down for harvest."""
    return os.path.join(root, LOCAL, QUEUE, f"{agent}.hooks.jsonl")


def hook_lock(root: str, agent: str) -> str:
    """Held for a moment, by a hook that notes something down and by who empties the spool."""
    return os.path.join(root, LOCAL, LOCKS, f"{agent}.hooks.lock")


def hook_log(root: str) -> str:
    """What went wrong in hooks."""
    return os.path.join(root, LOCAL, "hook.log")
