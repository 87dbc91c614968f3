"""Passages of an agent's own files, for recall without an index."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from mabos_cli.core.recall import Candidate
from mabos_cli.errors import MabosError
from mabos_cli.formats.passages import is_only_headings, split_passages
from mabos_cli.workspace.create import render_template
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.home import AgentHome
from mabos_cli.workspace.layout import DAY, TEMP_PREFIX

_LARGEST = 4 << 20


def memory_files(home: AgentHome) -> Iterator[Path]:
    """The Markdown files that a person or agent would call memory; derived copies of items are left out."""
    for here, folders, names in os.walk(home.paths.root):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "mabos-memory-items")
        for name in sorted(names):
            path = Path(here) / name
            if (
                name.endswith(".md")
                and not name.startswith((TEMP_PREFIX, "mabos-"))
                and _is_inside(home, path)
            ):
                yield path


def _is_inside(home: AgentHome, path: Path) -> bool:
    """Whether a file is the workspace's own: a link that leads out of it is nobody's memory."""
    return not path.is_symlink() or Path(os.path.realpath(path)).is_relative_to(
        os.path.realpath(home.paths.workspace.root)
    )


def template_passages(home: AgentHome, name: str) -> frozenset[str]:
    """The passages that a file had when the agent was created: nobody wants to recall those."""
    text = render_template(home.id, home.manifest(), name)
    return frozenset(passage.text for passage in split_passages(text))


def file_passages(home: AgentHome) -> Iterator[tuple[Candidate, str]]:
    """Passages with the id of the item that each is a copy of, or an empty one. Unreadable files are passed over."""
    for path in memory_files(home):
        data = None
        with suppress(MabosError):
            data = read_bytes(path)
        if not data or len(data) > _LARGEST:
            continue
        shown, day = home.paths.relative(path), re.match(DAY, path.name)
        untouched = template_passages(home, path.name) if path.parent == home.paths.root else frozenset()
        for passage in split_passages(data.decode("utf-8", "replace")):
            if passage.text in untouched or is_only_headings(passage.text):
                continue
            yield (
                Candidate(
                    passage.text,
                    0.5,
                    f"{day[0]}T00:00:00.000Z" if day else "",
                    path=shown,
                    lines=(passage.first, passage.last),
                ),
                passage.item_id,
            )
