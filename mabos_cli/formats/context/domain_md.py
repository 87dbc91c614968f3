"""memory/domains/*.md: what is remembered of one kind, most important first. Derived, sealed, for `read` and for Obsidian."""

import re
from collections.abc import Iterable, Sequence

from mabos_cli.core.language.ids import day_of
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import MemoryItem, priority_of
from mabos_cli.formats.markdown.escape import escape_behind, indent, inline
from mabos_cli.formats.markdown.front_matter import split_head
from mabos_cli.formats.markdown.seal import is_as_generated, seal, unsealed

_NOTE = "Edits here are set aside: change memory with `mabos update`."
_OPENING = "\n- **"  # what belongs to an entry is indented
_UNTIL = re.compile(r'(?m)^valid_until: "(.+)"$')


def render_domain(agent: str, name: str, entries: Sequence[str], until: str = "", page: str = "") -> str:
    """A domain as one file, or one page of it, of entries in their order."""
    told = f"{plural(len(entries), 'item')} of long-term memory, most important first."
    title = f"{name.capitalize()} — {agent}{f' — {page}' if page else ''}"
    return seal(
        f"{_head(agent, name, len(entries), until)}# {title}\n\n> Derived: {told} {_NOTE}\n\n" + "".join(entries)
    )


def render_domain_index(agent: str, name: str, pages: Iterable[tuple[str, int, int]], until: str = "") -> str:
    """The file that stands for the pages of a large domain, given with their items and tokens; the newest come first."""
    listed = sorted(pages, reverse=True)
    total = sum(items for _, items, _ in listed)
    told = f"{plural(total, 'item')} of long-term memory on {plural(len(listed), 'page')}, newest first."
    lines = "".join(
        f"- [{page}]({name}/{page}.md): {plural(items, 'item')}, {tokens} tokens\n" for page, items, tokens in listed
    )
    return seal(
        f"{_head(agent, name, total, until)}# {name.capitalize()} — {agent}\n\n> Derived: {told} {_NOTE}\n\n{lines}"
    )


def _head(agent: str, name: str, items: int, until: str) -> str:
    """Front matter: flat, so that Obsidian shows it."""
    return f'---\nagent: "{agent}"\nitems: {items}\ntags: [mabos/{name}]\n{render_until(until)}---\n\n'


def render_until(until: str) -> str:
    """The line of front matter that says when the first entry expires, if any does."""
    return f'valid_until: "{until}"\n' if until else ""


def has_lapsed(text: str, now: str) -> bool:
    """Whether a file is still as it was generated, and only time has passed since: it was valid until some moment before now."""
    found = _UNTIL.search(split_head(text)[0])
    return found is not None and found[1] <= now and is_as_generated(text)


def render_domain_entry(item: MemoryItem) -> str:
    """The list item of an item: what it says, what is known about it, and its block id at the end."""
    rank = f"- **{priority_of(item.importance)}** ({item.importance:.2f}, {inline(item.happened_at[:10]) or 'undated'}"
    rank += "): " if item.trust != "untrusted" else ", untrusted): "
    content = indent(escape_behind(item.content))
    tags = f" [{inline(', '.join(item.tags))}]" if item.tags else ""
    told = [f"context: {inline(item.context)}"] if item.context else []
    told += [f"related: {', '.join(map(_link, item.related_to))}"] if item.related_to else []
    told += [f"until {inline(item.expires_at[:10])}"] if item.expires_at else []
    about = f"\n  {'; '.join(told)}" if told else ""
    own = f" ^{item.id}" if re.fullmatch("[A-Za-z0-9-]+", item.id) else f" ({inline(item.id)})"
    return f"{rank}{content}{tags}{about}{own}\n"


def _link(item_id: str) -> str:
    """A link to the entry of an item in the log of the day that its id names; other tools' ids as they are."""
    day = day_of(item_id)
    return f"[[{day}#^{item_id}]]" if day else inline(item_id)


def split_domain(text: str) -> dict[str, str]:
    """The entries of a file that is still as it was generated, by block id; none of one that somebody edited."""
    if not text or not is_as_generated(text):
        return {}
    parts = unsealed(text).removesuffix("\n").split(_OPENING)[1:]
    return {part[part.rfind(" ^") + 2 :]: f"{_OPENING[1:]}{part}\n" for part in parts}
