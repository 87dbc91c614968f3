"""Markdown that an agent is told before a conversation: files cut into sections, and skills with what they say of themselves."""

import shlex

from mabos_cli.core.context.window import Section, Skill
from mabos_cli.core.language.text import one_line
from mabos_cli.formats.markdown.scan import find_headings, split_head


def split_sections(name: str, text: str) -> list[Section]:
    """Returns the sections of a file, in order, each with its heading; what stands above the first one is its first. Front matter is for
    tools and left out.

    >>> split_sections("Persona.md", "# Ann\\n\\nCurt.\\n\\n## Style\\n\\nNo jokes.\\n")
    [Section(name='Persona.md', text='# Ann\\n\\nCurt.'), Section(name='Persona.md › Style', text='## Style\\n\\nNo jokes.')]
    """
    lines = split_head(text)[1].split("\n")
    headings = find_headings(lines)
    starts = [heading.first for heading in headings]
    found = [(name, lines[: starts[0] if starts else len(lines)])]
    for at, heading in enumerate(headings):
        shown = f"{name} › {one_line(heading.title, 60)}" if heading.level > 1 else name
        found.append((shown, lines[heading.first : [*starts, len(lines)][at + 1]]))
    told = ((shown, "\n".join(part).strip()) for shown, part in found)
    return [Section(shown, part) for shown, part in told if part]


def parse_skill(text: str, name: str) -> Skill:
    """Parses a skill: name and description by its front matter, else the name given and its first line of prose."""
    head, body = split_head(text, is_sure=True)
    fields = _fields(head) if head else {}
    prose = (line.strip() for line in body.split("\n"))
    first = next((line for line in prose if line and not line.startswith(("#", "<!--"))), "")
    told = fields.get("description") or first
    return Skill(one_line(fields.get("name") or name, 80), one_line(told), body.strip())


def _fields(head: str) -> dict[str, str]:
    """Returns the texts in front matter, line by line where YAML refuses colons that people put into descriptions."""
    import yaml

    try:
        found = yaml.load(head, yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        pairs = (line.partition(":") for line in head.split("\n") if line[:1].isalpha())
        return {key: value.strip().strip("\"'") for key, _, value in pairs}
    return {key: value for key, value in found.items() if isinstance(value, str)} if isinstance(found, dict) else {}


_OPEN, _CLOSE = "<!-- mabos: begin -->", "<!-- mabos: end -->"


def fill_in(template: str, workspace: str, agent: str) -> str:
    """Returns a template with the workspace, the agent, and the options that name both."""
    options = shlex.join(["-w", workspace, "-a", agent])
    for name, value in {"{options}": options, "{workspace}": workspace, "{agent}": agent}.items():
        template = template.replace(name, value)
    return template


def put_section(text: str, section: str) -> str:
    """Returns a document with our section: in the place of the one that is there, or behind everything else.

    >>> put_section("# Rules\\n", "## Memory\\n")
    '# Rules\\n\\n<!-- mabos: begin -->\\n## Memory\\n<!-- mabos: end -->\\n'
    """
    own = f"{_OPEN}\n{section}{_CLOSE}"
    start = text.find(_OPEN)
    end = text.find(_CLOSE, start) if start >= 0 else -1
    if end >= 0:
        return text[:start] + own + text[end + len(_CLOSE) :]
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{own}\n"


def is_own_skill(text: str) -> bool:
    """Returns whether a file is empty, or a skill as we write it."""
    return not text.strip() or text.startswith("---\nname: mabos-memory\n")
