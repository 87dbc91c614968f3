"""Markdown for the opening message of a conversation: files cut into sections, and skills with their descriptions."""

import shlex

from mabos_cli.core.context.window import Section, Skill
from mabos_cli.core.language.text import one_line
from mabos_cli.formats.markdown.scan import find_headings, split_head


def split_sections(name: str, text: str) -> list[Section]:
    """Returns the sections of a file, in order, each with its heading; text above the first heading is the first section. Front matter is left out.

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
    trimmed = ((shown, "\n".join(part).strip()) for shown, part in found)
    return [Section(shown, part) for shown, part in trimmed if part]


def parse_skill(text: str, name: str) -> Skill:
    """Parses a skill: name and description by its front matter, else the name given and its first line of prose."""
    head, body = split_head(text, is_sure=True)
    fields = _fields(head) if head else {}
    prose = (line.strip() for line in body.split("\n"))
    first = next((line for line in prose if line and not line.startswith(("#", "<!--"))), "")
    description = fields.get("description") or first
    return Skill(one_line(fields.get("name") or name, 80), one_line(description), body.strip())


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


def put_section(text: str | None, section: str) -> str:
    """Returns a document with our section: in place of the existing one, or at the end.

    A document whose last line has no end has none behind our section either, and one without any text begins with an empty line: that is
    how it is known what was there before.

    >>> put_section("# Rules\\n", "## Memory\\n")
    '# Rules\\n\\n<!-- mabos: begin -->\\n## Memory\\n<!-- mabos: end -->\\n'
    """
    newline = "\r\n" if text and "\r\n" in text else "\n"
    block = f"{_OPEN}\n{section}{_CLOSE}".replace("\n", newline)
    if span := _find_section(text or ""):
        return f"{(text or '')[: span[0]]}{block}{(text or '')[span[1] :]}"
    if text is None:
        return block + newline
    return f"{text}{newline}{block}{newline}" if not text or text.endswith("\n") else f"{text}{newline * 2}{block}"


def drop_section(text: str) -> str | None:
    """Returns a document without our section, as it was before; None where there was none before.

    >>> drop_section(put_section("# Rules", "## Memory\\n")), drop_section(put_section(None, "## Memory\\n"))
    ('# Rules', None)
    """
    span = _find_section(text)
    if span is None:
        return text
    before, behind = text[: span[0]], text[span[1] :]
    newline = "\r\n" if "\r\n" in text else "\n"
    if not before and behind == newline:
        return None
    before = before.removesuffix(newline)
    return before + behind.removeprefix(newline) if behind else before.removesuffix(newline)


def _find_section(text: str) -> tuple[int, int] | None:
    start = text.find(_OPEN)
    end = text.find(_CLOSE, start) if start >= 0 else -1
    return (start, end + len(_CLOSE)) if end >= 0 else None


def is_generated_skill(text: str) -> bool:
    """Returns whether a file is empty, or a skill or another file as we write it."""
    return not text.strip() or text.startswith("---\nname: mabos-memory\n") or "ritten by mabos connect" in text
