"""Derived Markdown of memory items: readable, searchable, rebuilt from the store, sealed so that edits are noticed."""

from collections.abc import Iterable

from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.formats.markdown.escape import escape_block, inline
from mabos_cli.formats.markdown.seal import is_as_generated, seal, unsealed

_EDIT_NOTE = "Edits here are set aside: change memory with `mabos update`."


def render_items(
    agent: str, entries: Iterable[str], counts: dict[str, int], pages: dict[str, int] | None = None
) -> str:
    """mabos-memory-items.md: the entries of every item, or of the recent stores with links to the monthly pages."""
    body = [
        f"# MABOS Memory Items — {agent}\n\n> Auto-materialized from memory-store.json. {counts['long_term']} long-term, "
        f"{counts['short_term']} short-term, {counts['working']} working items. {_EDIT_NOTE}\n"
    ]
    if pages:
        body.append("\n## Pages\n\n")
        body += [
            f"- [{name}](mabos-memory-items/{name}.md): {plural(count, 'item')}\n"
            for name, count in sorted(pages.items())
        ]
    return seal("".join([*body, *entries]))


def split_entries(text: str) -> dict[tuple[str, str], str]:
    """The entries of a text that is still as it was generated, by store and id; none of one that somebody edited."""
    if not text or not is_as_generated(text):
        return {}
    found = {}
    for part in unsealed(text).split("\n## [")[1:]:
        start = part.find("- **ID:** ") + len("- **ID:** ")
        found[part[: part.index("]")], part[start : part.index("\n", start)]] = f"\n## [{part}"
    return found


def render_item_page(agent: str, name: str, entries: Iterable[str]) -> str:
    """A monthly page of entries of long-term items."""
    body = "".join(entries)
    return seal(
        f"# MABOS Memory Items — {agent} — {name}\n\n> Auto-materialized from memory-store. {_EDIT_NOTE}\n{body}"
    )


def render_entry(store: str, item: MemoryItem) -> str:
    """The section of one item."""
    free = (
        ("Source", item.source),
        ("Trust", item.trust if item.trust != "agent" else ""),
        ("Author", item.author),
        ("Session", item.session),
        ("Tags", ", ".join(item.tags)),
        ("Derived from", ", ".join(item.derived_from)),
        ("Related to", ", ".join(item.related_to)),
        ("Context", item.context),
        ("Created", item.created_at),
        ("Observed", item.observed_at),
        ("Expires", item.expires_at),
    )
    bullets = "".join([f"- **{name}:** {inline(value)}\n" for name, value in free if value])
    kind = inline(item.type)
    return (
        f"\n## [{store}] {kind}: {inline(item.content, 60)}\n\n- **ID:** {inline(item.id)}\n- **Store:** {store}\n"
        f"- **Type:** {kind}\n- **Importance:** {item.importance:g}\n{bullets}\n{escape_block(item.content)}\n"
    )
