"""What index status says of memory itself: the files that are searched, the items, and what of them is always loaded."""

from collections.abc import Sequence
from typing import Any

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.ids import minted_at
from mabos_cli.core.language.text import plural, token_cost
from mabos_cli.core.memory.item import PRIORITIES, TYPES
from mabos_cli.core.search.documents import Source
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.memory.derived_pages import survey_memory
from mabos_cli.workspace.sources import holds_items


def describe_memory(agent: Agent, sources: Sequence[Source], chunks: int) -> dict[str, Any]:
    """The files that people write (legacy), the items (progressive), and what of these an agent always has before it (index)."""
    loaded = agent.load()
    survey = survey_memory(agent, loaded)
    digest, per_token = survey.digest, agent.settings["text.chars_per_token"]
    texts = {source.path: source.size for source in sources if not holds_items(source.path)}
    stored = minted_at(loaded.head.last_id)
    recalled = max((at for _, at in loaded.uses.touches.values()), default="")
    domains = survey.memory_index.domains
    return {
        "legacy": {
            "files": len(texts),
            "chunks": chunks,
            "total_tokens_estimated": -(-sum(texts.values()) // per_token),
            "memory_md_size": texts.get(agent.paths.relative(agent.paths.memory_md), 0),
            "memory_dir_files": sum(path.startswith("memory/") for path in texts),
        },
        "progressive": {
            "total_entries": sum(digest.types.values()),
            "by_category": _ordered(digest.types, TYPES),
            "by_priority": _ordered(digest.priorities, tuple(PRIORITIES)),
            "total_tokens_estimated": -(-digest.size // per_token),
            "last_store": format_time(stored) if stored else None,
            "last_recall": max(recalled, digest.used_at) or None,
            "domain_files": [agent.paths.relative(agent.paths.domain(domain.name)) for domain in domains],
        },
        "index": {
            "always_loaded_tokens": token_cost(survey.text, per_token) if agent.paths.index_md.exists() else 0,
            "on_demand_domains": [{"name": domain.name, "tokens": domain.tokens} for domain in domains],
        },
    }


def _ordered(counts: dict[str, int], names: tuple[str, ...]) -> dict[str, int]:
    """Counts in the order of known names; others, as other tools may write them, behind those."""
    return {name: counts[name] for name in (*names, *sorted(counts.keys() - {*names})) if name in counts}


def memory_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The same in three lines."""
    files, items, index = (found[name] for name in ("legacy", "progressive", "index"))
    priorities = ", ".join(f"{count} {name}" for name, count in items["by_priority"].items())
    loaded = [f"{domain['name']} {domain['tokens']}" for domain in index["on_demand_domains"]]
    return [
        ("written", f"{plural(files['files'], 'file')}, {files['total_tokens_estimated']} tokens"),
        (
            "memory",
            f"{plural(items['total_entries'], 'item')}, {items['total_tokens_estimated']} tokens"
            + (f": {priorities}" if priorities else ""),
        ),
        (
            "INDEX.md",
            f"{index['always_loaded_tokens']} tokens" + (f"; on demand: {', '.join(loaded)}" if loaded else ""),
        ),
    ]
