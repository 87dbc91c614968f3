"""Derived Markdown of memory items: readable, searchable, rebuilt from the store, sealed so that edits are noticed."""

from collections.abc import Iterable
from zlib import crc32

from mabos_cli.core.item import MemoryItem
from mabos_cli.core.text import one_line, plural
from mabos_cli.formats.markdown import escape_block

_SEAL = "\n<!-- mabos generated {:08x} -->\n"
_EDIT_NOTE = "Edits here are set aside: change memory with `mabos update`."


def seal(text: str) -> str:
    """The text with a last line that tells whether anybody changed it since."""
    return text + _SEAL.format(crc32(text.encode("utf-8", "surrogatepass")))


def is_as_generated(text: str) -> bool:
    """Whether a sealed text is still what was written; empty text is, text without a seal is not."""
    return not text or seal(text[: -len(_SEAL.format(0))]) == text


def render_items(
    agent: str,
    stores: Iterable[tuple[str, Iterable[MemoryItem]]],
    counts: dict[str, int],
    pages: dict[str, int] | None = None,
) -> str:
    """mabos-memory-items.md: every item in full, or the recent stores and links to the monthly pages."""
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
    body += [_entry(store, item) for store, items in stores for item in items]
    return seal("".join(body))


def render_item_page(agent: str, name: str, items: Iterable[MemoryItem]) -> str:
    """A monthly page of long-term items."""
    body = "".join(_entry("long_term", item) for item in items)
    return seal(
        f"# MABOS Memory Items — {agent} — {name}\n\n> Auto-materialized from memory-store. {_EDIT_NOTE}\n{body}"
    )


def _entry(store: str, item: MemoryItem) -> str:
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
    bullets = "".join([f"- **{name}:** {_inline(value)}\n" for name, value in free if value])
    kind = _inline(item.type)
    return (
        f"\n## [{store}] {kind}: {_inline(item.content, 60)}\n\n- **ID:** {_inline(item.id)}\n- **Store:** {store}\n"
        f"- **Type:** {kind}\n- **Importance:** {item.importance:g}\n{bullets}\n{escape_block(item.content)}\n"
    )


def _inline(text: str, width: int = 0) -> str:
    return text if text.isalnum() and not width else escape_block(one_line(text, width))
