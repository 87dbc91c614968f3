"""Skills as files that somebody names: one Markdown file, or a folder of them as agent hosts keep it."""

import os
from pathlib import Path

from mabos_cli.core.context.window import Skill
from mabos_cli.errors import NotFound
from mabos_cli.formats.context.prompt_md import parse_skill
from mabos_cli.services.inputs import read_given

_SKILL = "SKILL.md"


def load_skills(path: str) -> tuple[Skill, ...]:
    """The skills of a file or folder, sorted by name: its Markdown files, and the SKILL.md of each folder in it."""
    place = Path(path)
    if not os.path.isdir(path):
        return (parse_skill(read_given(path), _name_of(place)),)
    files = {file for pattern in ("*.md", f"*/{_SKILL}") for file in place.glob(pattern) if file.is_file()}
    found = [parse_skill(read_given(str(file)), _name_of(file)) for file in files if file.name != "README.md"]
    if not found:
        raise NotFound(f"no skills in {path}", f"a folder of Markdown files, or of folders with {_SKILL}")
    return tuple(sorted(found))


def _name_of(file: Path) -> str:
    return file.resolve().parent.name if file.name == _SKILL else file.stem
