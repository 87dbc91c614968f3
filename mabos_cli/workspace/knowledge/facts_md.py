"""mabos-facts.md: facts as Markdown, derived. Few facts are one file; many are pages by subject, of which only the changed are
written."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.formats.knowledge.fact_text import (
    heading_of,
    page_of,
    render_facts_index,
    render_facts_page,
    render_sections,
    render_versions,
    split_sections,
)
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.derived import DerivedFiles, list_pages
from mabos_cli.workspace.files import read_bytes

# The facts of the subjects that are given, or all facts.
Find = Callable[[Iterable[str] | None], Iterator[Fact]]


class Stand(NamedTuple):
    """What there is to write down: how many facts are asserted and derived, the versions of their files, and how to find them."""

    counts: tuple[int, int]
    versions: tuple[int, int]
    find: Find


def materialize_facts(
    agent: Agent, stand: Stand, changed: set[str] | None = None, before: tuple[int, int] = (0, 0)
) -> tuple[list[str], list[str]]:
    """Writes what differs and names it; also warnings about files that somebody had edited. changed says which subjects may
    have changed since the versions before, so that only their pages are rendered; None renders everything. Under the agent's
    lock."""
    if not any(stand.counts) and not agent.paths.facts_md.exists():
        return [], []
    files = DerivedFiles(agent)

    def write(name: str, text: str) -> None:
        files.write(agent.paths.facts_page(name) if name else agent.paths.facts_md, text)

    there, made_from = list_pages(agent.paths.facts_pages, "[0-9a-f]{2}"), render_versions(stand.versions)
    pages: set[str] = set()
    if sum(stand.counts) <= agent.settings["facts.materialize_split_above"]:
        write("", render_facts_page(agent.id, "", render_sections(stand.find(None)), made_from))
    else:
        known = changed is not None and there and is_made_from(agent, before)
        fresh = _changed_pages(agent, stand.find, changed or set()) if known else None
        pages = there if fresh is not None else set()
        fresh = _all_pages(stand.find) if fresh is None else fresh
        pages = {name for name in pages | fresh.keys() if fresh.get(name, True)}
        for name, sections in sorted(fresh.items()):
            if sections:
                write(name, render_facts_page(agent.id, name, sections))
        write("", render_facts_index(agent.id, *stand.counts, pages, made_from))
    for name in sorted(there - pages):
        files.remove(agent.paths.facts_page(name))
    return files.changed, files.warnings


def is_made_from(agent: Agent, versions: tuple[int, int]) -> bool:
    """Whether mabos-facts.md was made from these versions: a writer that was killed leaves it behind them."""
    data = read_bytes(agent.paths.facts_md) or b""
    return render_versions(versions).encode() in data[:1000]


def _all_pages(find: Find) -> dict[str, dict[str, str]]:
    pages: dict[str, list[Fact]] = {}
    for fact in find(None):
        pages.setdefault(page_of(fact.subject), []).append(fact)
    return {name: render_sections(facts) for name, facts in pages.items()}


def _changed_pages(agent: Agent, find: Find, changed: set[str]) -> dict[str, dict[str, str]] | None:
    """The pages of some subjects with their sections as they are now; None when a page is not as we wrote it."""
    pages: dict[str, dict[str, str]] = {}
    for subject in changed:
        name = page_of(subject)
        if name not in pages:
            data = read_bytes(agent.paths.facts_page(name))
            sections = split_sections(data.decode("utf-8", "replace")) if data else {}
            if sections is None:
                return None
            pages[name] = sections
        pages[name].pop(heading_of(subject), None)
    places = {heading_of(subject): page_of(subject) for subject in changed}
    for head, body in render_sections(find(changed)).items():
        pages[places[head]][head] = body
    return pages
