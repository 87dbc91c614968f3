"""memory/domains/*.md and memory/INDEX.md: derived from the store, part by part. A part that did not change is known by its
digest, which is cached: a store reads and renders what it changed, however much there is."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from mabos_cli.core.context.memory_index import (
    Digest,
    Domain,
    Lines,
    MemoryIndex,
    Part,
    Share,
    add_digests,
    add_shares,
    choose_lines,
    digest_items,
    domain_order,
    fit_index,
    may_be_shown,
)
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import token_cost
from mabos_cli.core.memory.item import DOMAINS, Glance, glance_of, has_expired
from mabos_cli.core.memory.stores import Memory
from mabos_cli.errors import MabosError
from mabos_cli.formats.context.index_md import (
    KnownPart,
    has_lapsed,
    keep_part,
    parse_parts,
    render_domain,
    render_domain_entry,
    render_domain_index,
    render_index,
    render_parts,
    split_domain,
)
from mabos_cli.formats.memory.items import glance_at, parse_item
from mabos_cli.workspace.agent import Agent, Loaded
from mabos_cli.workspace.derived import DerivedFiles
from mabos_cli.workspace.files import list_names, list_stems, read_bytes, replace_file, stamp_of
from mabos_cli.workspace.layout import PAGE, AgentPaths
from mabos_cli.workspace.memory.items_md import Pages, derived_pages
from mabos_cli.workspace.memory.long_term import LongTermStore
from mabos_cli.workspace.memory.trust_log import Judge

# The name of the only part of a memory that is small enough for one file per domain.
_WHOLE = ""


class Survey(NamedTuple):
    """What a memory comes to, the index made of it, and the text of that."""

    digest: Digest
    memory_index: MemoryIndex
    text: str


def materialize_domains(
    agent: Agent,
    memory: Memory,
    long_term: LongTermStore,
    pages: Pages | None = None,
    unchanged: frozenset[str] | set[str] | None = None,
) -> tuple[Survey, DerivedFiles]:
    """Writes the domain files and the index as far as they differ, and removes files that stand for nothing any more. Under the
    agent's lock.

    Without `unchanged` everything is read and rendered. With it only parts whose digest is not known are, and entries of the
    items that it names are taken from the files as they are.
    """
    making, files = _Making(agent, memory, long_term, pages, unchanged), DerivedFiles(agent)
    for path, text in making.render():
        files.write(path, text)
    for path in making.leftovers():
        files.remove(path)
    making.save()
    return making.survey(), files


def survey_memory(agent: Agent, loaded: Loaded) -> Survey:
    """What the index would say now; nothing is written."""
    making = _Making(agent, loaded.memory(), loaded.long_term, None, frozenset())
    for _ in making.render():
        pass
    return making.survey()


def stale_domains(agent: Agent) -> list[str]:
    """The domain files, and the index, that a rebuild would change; not those in which only something expired since."""
    loaded = agent.load()
    making, now = _Making(agent, loaded.memory(), loaded.long_term, None, None), format_time(agent.now())
    stale = [path for path, text in making.render() if read_bytes(path) != text.encode("utf-8")]
    stale += making.leftovers()
    texts = ((path, (read_bytes(path) or b"").decode("utf-8", "replace")) for path in stale)
    return [agent.paths.relative(path) for path, text in texts if not has_lapsed(text, now)]


class _Making:
    """Domain files and the index on their way: what is known of each part of the memory, and what has to be read."""

    def __init__(
        self,
        agent: Agent,
        memory: Memory,
        long_term: LongTermStore,
        pages: Pages | None,
        unchanged: frozenset[str] | set[str] | None,
    ) -> None:
        self._home, self._memory, self._long_term = agent, memory, long_term
        self._pages = derived_pages(agent, long_term) if pages is None else pages
        self._unchanged = unchanged or frozenset()
        self._now = format_time(agent.now())
        self._per_token: int = agent.settings["text.chars_per_token"]
        self._budget: int = agent.settings["context.index_tokens"]
        self._room = self._budget * self._per_token
        self._there = _files_there(agent.paths)
        self._cache = read_bytes(agent.paths.survey_cache)
        self._known = {} if unchanged is None else parse_parts(self._cache or b"", self._room)
        self._made: dict[str, KnownPart] = {}
        self._trust_of = Judge(agent.paths, memory)
        self._ruled = f" {stamp_of(agent.paths.trust_log)}"
        self._survey: Survey | None = None

    def render(self) -> Iterator[tuple[Path, str]]:
        """Paths and texts of the files that may have changed; behind them the survey is complete."""
        paths = self._home.paths
        for name, key, lines in self._parts():
            known = self._find_known(name, key)
            if known is None:
                texts, digest, shown = self._read(name, lines())
                yield from ((_place(paths, domain, name), text) for domain, text in texts.items())
                known = keep_part(name, self._whole_key(key, digest), digest, shown)
            self._made[name] = known
        for domain in sorted(self._moved()) if self._pages else ():
            if shares := self._shares(domain):
                yield paths.domain(domain), self._list_pages(domain, shares)
        index = self.survey().memory_index
        if index.all_critical or index.all_projects or index.all_domains or paths.index_md.exists():
            yield paths.index_md, self.survey().text

    def leftovers(self) -> list[Path]:
        """Our files that stand for nothing any more."""
        wanted = {(domain.name, _WHOLE) for domain in self._domains}
        wanted |= {(domain, name) for name, known in self._made.items() for domain in known.part.digest.domains}
        return [_place(self._home.paths, *place) for place in sorted(self._there - wanted)]

    def save(self) -> None:
        """Keeps the digests. Best effort: without them everything is read again."""
        data = render_parts(self._made.values(), self._room)
        if data != self._cache:
            with suppress(MabosError):
                root, path = self._home.paths.workspace.root, self._home.paths.survey_cache
                replace_file(path, data, root=root, expect=self._cache)

    def survey(self) -> Survey:
        """What all parts come to, with the recent stores."""
        if self._survey is None:
            recent = (*self._memory.working, *self._memory.short_term)
            shown = [item for item in recent if may_be_shown(item)]
            digest, lines = digest_items(map(glance_of, recent), shown, {}, self._now, self._room, self._trust_of)
            parts = [*(known.part for known in self._made.values()), Part(digest, lambda: lines)]
            total = add_digests([part.digest for part in parts])
            index = fit_index(self._whole(total, choose_lines(parts, self._room)), self._fits)
            self._survey = Survey(total, index, render_index(index))
        return self._survey

    def _whole(self, total: Digest, lines: Lines) -> MemoryIndex:
        """The index with everything in it, whatever that costs."""
        shown = lines.critical, total.critical, lines.projects, total.projects
        domains = self._domains
        return MemoryIndex(self._home.id, *shown, domains, len(domains), total.untrusted, total.until)

    def _fits(self, index: MemoryIndex) -> bool:
        return token_cost(render_index(index), self._per_token) < self._budget

    def _parts(self) -> Iterator[tuple[str, str, Callable[[], list[bytes]]]]:
        """Name, key and lines of each part: pages as they are derived, or all of a memory that has none."""
        if not self._pages:
            lines = list(self._long_term.lines())
            yield _WHOLE, _key_of(lines), lambda: lines
        paths = self._home.paths
        for name, load in self._pages.items():
            on_disk = name in self._long_term.head.pages
            yield name, stamp_of(paths.store_page(name)) if on_disk else _key_of(load()), load

    def _find_known(self, name: str, key: str) -> KnownPart | None:
        """What is known of a part, if it is still true and the files that were written with it are there."""
        known = self._known.get(name)
        digest = known.part.digest if known else None
        if not known or not digest or known.key != self._whole_key(key, digest):
            return None
        if digest.until and digest.until <= self._now:
            return None
        return known if all((domain, name) in self._there for domain in digest.domains) else None

    def _whole_key(self, key: str, digest: Digest) -> str:
        """The key of a part, with that of what persons decided about trust if it matters for what is shown."""
        return key + self._ruled if digest.derived else key

    def _read(self, name: str, lines: list[bytes]) -> tuple[dict[str, str], Digest, Lines]:
        """The domain files of a part, by domain, its digest, and what may be shown of it. Only items that are listed, expire, or have no entry to be
        taken over are decoded."""
        entries: dict[str, list[tuple[Glance, str]]] = {}
        until: dict[str, str] = {}
        seen, decoded, known = [], [], self._entries_there(name)
        for line in lines:
            glance = glance_at(line)
            seen.append(glance)
            domain = DOMAINS.get(glance.type)
            item = None
            if glance.expires or may_be_shown(glance):
                item = parse_item(line, "memory-store.json")
                decoded.append(item)
            if domain is None or (item and has_expired(item, self._now)):
                continue
            text = known.get(glance.id) or render_domain_entry(item or parse_item(line, "memory-store.json"))
            entries.setdefault(domain, []).append((glance, text))
            if item and item.expires_at:
                until[domain] = min(item.expires_at, until.get(domain, item.expires_at))
        texts = {}
        for domain, found in sorted(entries.items()):
            found.sort(key=lambda pair: domain_order(pair[0]), reverse=True)
            ordered = [text for _, text in found]
            texts[domain] = render_domain(self._home.id, domain, ordered, until.get(domain, ""), name)
        shares = {
            domain: Share(len(entries[domain]), len(text), until.get(domain, "")) for domain, text in texts.items()
        }
        return texts, *digest_items(seen, decoded, shares, self._now, self._room, self._trust_of)

    def _entries_there(self, name: str) -> dict[str, str]:
        """The entries of unchanged items, from the files of a part as they are."""
        if not self._unchanged:
            return {}
        found: dict[str, str] = {}
        for domain, page in self._there:
            if page == name:
                data = read_bytes(_place(self._home.paths, domain, page)) or b""
                found |= split_domain(data.decode("utf-8", "replace"))
        return {item_id: text for item_id, text in found.items() if item_id in self._unchanged}

    def _moved(self) -> set[str]:
        """The domains whose files may list other pages, or other numbers of them, than before."""
        moved = {domain for domain in DOMAINS.values() if (domain, _WHOLE) not in self._there}
        for name in self._known.keys() | self._made.keys():
            old, new = (parts[name].part.digest.domains if name in parts else {} for parts in (self._known, self._made))
            moved |= {domain for domain in old.keys() | new.keys() if old.get(domain) != new.get(domain)}
        return moved

    @cached_property
    def _domains(self) -> tuple[Domain, ...]:
        """The domains that hold anything, in their order. For when all parts are made."""
        found = []
        for type, name in DOMAINS.items():
            shares = list(self._shares(name).values())
            if shares:
                total = add_shares(shares)
                pages = len(shares) if self._pages else 0
                found.append(Domain(name, type, total.items, self._tokens(total.size), pages))
        return tuple(found)

    def _shares(self, domain: str) -> dict[str, Share]:
        """What each part holds of a domain, if anything."""
        held = ((name, known.part.digest.domains.get(domain)) for name, known in self._made.items())
        return {name: share for name, share in held if share}

    def _list_pages(self, domain: str, shares: dict[str, Share]) -> str:
        pages = [(name, share.items, self._tokens(share.size)) for name, share in shares.items()]
        return render_domain_index(self._home.id, domain, pages, add_shares(list(shares.values())).until)

    def _tokens(self, size: int) -> int:
        return -(-size // self._per_token)


def _key_of(lines: list[bytes]) -> str:
    data = b"\n".join(lines)
    return f"{len(data)}:{crc32(data)}"


def _place(paths: AgentPaths, domain: str, page: str) -> Path:
    return paths.domain_page(domain, page) if page else paths.domain(domain)


def _files_there(paths: AgentPaths) -> set[tuple[str, str]]:
    """Our files in memory/domains/, by domain and page; what else lies there is somebody's own."""
    names, is_page = set(list_names(paths.domains)), re.compile(PAGE).fullmatch
    found = {(name, _WHOLE) for name in DOMAINS.values() if f"{name}.md" in names}
    for name in names.intersection(DOMAINS.values()):
        found |= {(name, page) for page in list_stems(paths.domains / name, ".md") if is_page(page)}
    return found
