"""What tells an agent how to use its memory: a skill of its own, or a section of AGENTS.md between marks."""

import shlex

_OPEN, _CLOSE = "<!-- mabos: begin -->", "<!-- mabos: end -->"


def fill_in(template: str, workspace: str, agent: str) -> str:
    """A template with the workspace, the agent, and the options that name both."""
    options = shlex.join(["-w", workspace, "-a", agent])
    for name, value in {"{options}": options, "{workspace}": workspace, "{agent}": agent}.items():
        template = template.replace(name, value)
    return template


def put_section(text: str, section: str) -> str:
    """A document with our section: in the place of the one that is there, or behind everything else.

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
    """Whether a file is empty, or a skill as we write it."""
    return not text.strip() or text.startswith("---\nname: mabos-memory\n")
