"""What memory says about a prompt: a small pack of what shares enough telling words with it, or nothing.

The index is taken as it is. What it found is told only if it still stands in its file, in the same lines where it is a passage.
"""

from pathlib import Path

from mabos_cli.core.context.candidates import Limits
from mabos_cli.core.context.pack import pack
from mabos_cli.core.context.texts import asked_about
from mabos_cli.core.language.text import terms, token_cost
from mabos_cli.core.operations.hook_hosts import ROOM, text_of
from mabos_cli.formats.context.context_pack import WRITING
from mabos_cli.serve.hook import HostCall, log
from mabos_cli.serve.hook_start import width
from mabos_cli.services.operations.prompt_entries import find_entries
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.settings import load_settings

_ENTRIES = 8  # at most: a prompt is no question


def prompt_text(call: HostCall) -> str:
    """The pack for a prompt; empty when nothing is relevant enough."""
    prompt = text_of(call.payload, "prompt")
    if not asked_about(prompt):
        return ""
    paths = WorkspacePaths(Path(call.root)).agent(call.agent)
    settings = load_settings(paths.workspace, paths, {})
    entries = find_entries(paths, settings, prompt, 3 * _ENTRIES)
    if entries is None:
        log(call.root, "user-prompt: no index to look at: run mabos index sync")
    if not entries:
        return ""
    budget = min(settings["hook.prompt_budget"], ROOM[call.host] // settings["text.chars_per_token"])
    limits = Limits(
        budget,
        _ENTRIES,
        settings["hook.min_trust"],
        cold_share=settings["context.cold_share"],
        duplicate=settings["memory.duplicate_threshold"],
    )
    count = lambda text: token_cost(text, settings["text.chars_per_token"])  # noqa: E731
    text = pack(entries, limits, WRITING, count=count, asked=frozenset(terms(prompt))).text
    return text if width(text) <= ROOM[call.host] else ""
