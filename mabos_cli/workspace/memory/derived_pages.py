"""The Markdown that is derived from memory: mabos-memory-items.md and its monthly pages, memory/domains/*.md and memory/INDEX.md.

Small memories are one file each; of large ones only the pages that changed are read and written. A part of memory whose domain
files did not change is known by its digest, which is cached.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from zlib import crc32

from mabos_cli.core.context import memory_index as indexing
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.item import DOMAINS, MemoryItem, glance_of, has_expired
from mabos_cli.core.memory.stores import Memory
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import MabosError
from mabos_cli.formats.markdown.escape import without_seal
from mabos_cli.formats.memory import derived_md
from mabos_cli.formats.memory.items import glance_at, line_id, parse_item
from mabos_cli.workspace.agent import Agent, Loaded
from mabos_cli.workspace.derived import DerivedFiles, list_pages
from mabos_cli.workspace.files import list_names, list_stems, read_bytes, replace_file, stamp_of
from mabos_cli.workspace.layout import PAGE, AgentPaths
from mabos_cli.workspace.memory.store import LongTermStore
from mabos_cli.workspace.memory.trust_log import Judge
from mabos_cli.workspace.seen import Seen

# Pages of long-term memory, with loaders of their lines.
Pages = dict[str, Callable[[], list[bytes]]]
Ids = frozenset[str] | set[str]
# The name of the only part of a memory that is small enough for one file per domain.
_WHOLE = ""
_STORE = "memory-store.json"
_DERIVED = "derived"


def derived_pages(agent: Agent, long_term: LongTermStore) -> Pages:
    """Returns the pages to be written, with loaders: those of the store; none while memory is small. Short-term memory comes and
    goes: it does not count."""
    if len(long_term) <= agent.settings["memory.materialize_split_above"]:
        return {}
    return {name: partial(long_term.page, name) for name in sorted(long_term.head.pages)}


def _rest(long_term: LongTermStore, pages: Pages) -> Iterable[bytes]:
    """Returns the lines that are on none of the pages."""
    return long_term.head.long_term if pages else long_term.lines()


def materialize_items(
    agent: Agent,
    memory: Memory,
    long_term: LongTermStore,
    dirty: set[str] | None = None,
    moved: Ids | None = None,
    pages: Pages | None = None,
) -> DerivedFiles:
    """Writes the files of items that changed, and removes pages that stand for nothing any more.

    dirty says which pages may have changed, so that only those are rendered; None renders everything. The entries of items that
    are not among those that `moved` are taken from the files as they are. Whoever has the pages gives them.
    """
    pages = derived_pages(agent, long_term) if pages is None else pages
    there = list_pages(agent.paths.items_pages, PAGE)
    maybe = None if dirty is None else dirty | (pages.keys() - there)
    files = DerivedFiles(agent)
    for path, text in _render_items(agent, memory, long_term, pages, maybe, moved):
        files.write(path, text)
    for name in sorted(there - pages.keys()):
        files.remove(agent.paths.items_page(name))
    return files


def sound_pages(agent: Agent, seen: Seen) -> set[str]:
    """Returns the pages of which all that is made of them is known to be as it should be."""
    paths, known = agent.paths, set[str]()
    sizes = (agent.settings[name] for name in ("text.chars_per_token", "context.index_tokens"))
    beside = " ".join((stamp_of(paths.trust_log), *map(str, sizes)))
    for name in agent.load().head.pages:
        made = [paths.items_page(name), *(paths.domain(domain, name) for domain in sorted({*DOMAINS.values()}))]
        if seen.find(_DERIVED, name, [paths.store_page(name), *made], beside):
            known.add(name)
    return known


def note_pages(seen: Seen) -> None:
    """Notes that all pages are as they should be, as they were when they were asked for."""
    for name in seen.asked(_DERIVED):
        seen.note(_DERIVED, name)


def stale_derived(agent: Agent, without: Collection[str] = ()) -> list[str]:
    """Returns the files of items that a rebuild would change, but for some pages."""
    loaded = agent.load()
    pages = derived_pages(agent, loaded.long_term)
    rendered = _render_items(agent, loaded.memory(), loaded.long_term, pages, {*pages} - {*without})
    stale = [path for path, text in rendered if read_bytes(path) != text.encode("utf-8")]
    stale += [agent.paths.items_page(name) for name in sorted(list_pages(agent.paths.items_pages, PAGE) - pages.keys())]
    return [agent.paths.relative(path) for path in stale]


def _render_items(
    agent: Agent,
    memory: Memory,
    long_term: LongTermStore,
    pages: Pages,
    dirty: set[str] | None,
    moved: Ids | None = None,
) -> Iterator[tuple[Path, str]]:
    """Yields paths and texts of the files of items that may have changed."""
    for name, lines in pages.items():
        if dirty is None or name in dirty:
            path = agent.paths.items_page(name)
            entries = [*_lasting_entries(lines(), _known_entries(path, moved))]
            yield path, derived_md.render_item_page(agent.id, name, entries)
    counts = {"working": len(memory.working), "short_term": len(memory.short_term), "long_term": len(long_term)}
    sizes = {name: long_term.head.pages[name] for name in pages}
    path = agent.paths.items_md
    if any(counts.values()) or path.exists():
        known = _known_entries(path, moved)
        recent = [(store, item) for store in ("working", "short_term") for item in getattr(memory, store)]
        entries = [known.get((store, item.id)) or derived_md.render_entry(store, item) for store, item in recent]
        entries += _lasting_entries(_rest(long_term, pages), known)
        yield path, derived_md.render_items(agent.id, entries, counts, sizes)


def _known_entries(path: Path, moved: Ids | None) -> dict[tuple[str, str], str]:
    """Returns the entries in a file as it is of items that did not change, by store and id."""
    old = "" if moved is None else (read_bytes(path) or b"").decode("utf-8", "replace")
    return {key: text for key, text in derived_md.split_entries(old).items() if key[1] not in (moved or ())}


def _lasting_entries(lines: Iterable[bytes], known: dict[tuple[str, str], str]) -> Iterator[str]:
    """Yields the entries of long-term lines; those that are known are not rendered again."""
    for line in lines:
        kept = known.get(("long_term", line_id(line)))
        yield kept or derived_md.render_entry("long_term", parse_item(line, _STORE))


class Survey(NamedTuple):
    """Holds what a memory comes to, the index made of it, and the text of that."""

    digest: indexing.Digest
    memory_index: indexing.MemoryIndex
    text: str


def materialize_domains(
    agent: Agent,
    memory: Memory,
    long_term: LongTermStore,
    pages: Pages | None = None,
    *,
    sound: Collection[str] | None = (),
) -> tuple[Survey, DerivedFiles]:
    """Writes the domain files and the index as far as they differ, and removes files that stand for nothing any more. Under the
    agent's lock. Of sound pages, or all if that is None, only those whose digest is not known are read and rendered.
    """
    domains, files = _DomainFiles(agent, memory, long_term, pages, sound=sound), DerivedFiles(agent)
    for path, text in domains.render():
        files.write(path, text)
    survey = domains.survey
    if domains.has_index():
        files.write(agent.paths.index_md, survey.text)
    for path in domains.leftovers():
        files.remove(path)
    domains.save()
    return survey, files


def survey_memory(agent: Agent, loaded: Loaded) -> Survey:
    """Returns what the index would say now; nothing is written."""
    domains = _DomainFiles(agent, loaded.memory(), loaded.long_term, sound=None)
    for _ in domains.render():
        pass
    return domains.survey


def stale_domains(agent: Agent, without: Collection[str] = ()) -> list[str]:
    """Returns the domain files, and the index, that a rebuild would change, but for some pages; not those in which only something
    expired since."""
    loaded, now = agent.load(), format_time(agent.now())
    domains = _DomainFiles(agent, loaded.memory(), loaded.long_term, sound=without)
    rendered = [*domains.render(), *([(agent.paths.index_md, domains.survey.text)] if domains.has_index() else [])]
    stale = [path for path, text in rendered if read_bytes(path) != text.encode("utf-8")]
    texts = ((path, (read_bytes(path) or b"").decode("utf-8", "replace")) for path in [*stale, *domains.leftovers()])
    return [agent.paths.relative(path) for path, text in texts if not derived_md.has_lapsed(text, now)]


class _DomainFiles:
    """Domain files and the index as they are made: what is known of each part of memory, and what has to be read."""

    def __init__(
        self,
        agent: Agent,
        memory: Memory,
        long_term: LongTermStore,
        pages: Pages | None = None,
        *,
        sound: Collection[str] | None,
    ) -> None:
        self._agent, self._memory, self._long_term = agent, memory, long_term
        self._pages = derived_pages(agent, long_term) if pages is None else pages
        self._now = format_time(agent.now())
        self._per_token: int = agent.settings["text.chars_per_token"]
        self._room = agent.settings["context.index_tokens"] * self._per_token
        self._there = _files_there(agent.paths)
        self._taken = {*list_stems(agent.paths.domains, ".md")} - {domain for domain, _ in self._there}
        self._cache = read_bytes(agent.paths.survey_cache)
        self._sound = sound
        self._known = derived_md.parse_known((self._cache or b"") if sound is None or sound else b"", self._room)
        self._made: dict[str, tuple[str, indexing.Digest]] = {}
        self._trust_of = Judge(agent.paths, memory)
        self._ruled = f" {stamp_of(agent.paths.trust_log)}"

    def render(self) -> Iterator[tuple[Path, str]]:
        """Yields paths and texts of the domain files that may have changed; behind them the survey is complete."""
        paths = self._agent.paths
        for name, key, lines in self._parts():
            known = self._find_known(name, key)
            if known is None or (name == _WHOLE and self._pages_moved()):
                texts, digest, shown = self._read(name, lines())
                yield from ((paths.domain(domain, name), text) for domain, text in texts.items())
                known = (self._whole_key(key, digest), digest)
                self._known.foremost.put(name, shown, self._room)
            self._made[name] = known
        for name in self._known.parts.keys() - self._made.keys():
            self._known.foremost.put(name, indexing.Lines(), self._room)

    def has_index(self) -> bool:
        """Returns whether there is anything to say in INDEX.md, or such a file."""
        return any(self.survey.memory_index.counts.values()) or self._agent.paths.index_md.exists()

    def leftovers(self) -> list[Path]:
        """Returns our files that stand for nothing any more."""
        wanted = {(domain.name, _WHOLE) for domain in self._domains}
        wanted |= {(domain, name) for name, (_, digest) in self._made.items() for domain in digest.domains}
        return [self._agent.paths.domain(*place) for place in sorted(self._there - wanted)]

    def save(self) -> None:
        """Keeps the digests. Best effort: without them everything is read again."""
        data = derived_md.render_known(derived_md.Known(self._made, self._known.foremost), self._room)
        if data != self._cache:
            with suppress(MabosError):
                root, path = self._agent.paths.workspace.root, self._agent.paths.survey_cache
                replace_file(path, data, root=root, expect=self._cache)

    @cached_property
    def survey(self) -> Survey:
        """Returns what all parts come to, with the recent stores. For when all parts are made."""
        recent = (*self._memory.working, *self._memory.short_term)
        shown = [item for item in recent if indexing.may_be_shown(item)]
        digest, lines = indexing.digest_items(map(glance_of, recent), shown, {}, self._now, self._room, self._trust_of)
        total = indexing.add_digests([*(known for _, known in self._made.values()), digest])
        shown_lines = self._known.foremost.choose(lines, self._room)
        if shown_lines is None:
            self._known = self._known._replace(foremost=indexing.Foremost())
            for name, _, load in self._parts():
                self._known.foremost.put(name, self._read(name, load())[2], self._room)
            shown_lines = self._known.foremost.choose(lines, self._room) or lines
        counts = {**total.shown, "domains": len(self._domains)}
        items = sum(total.types.values())
        whole = indexing.MemoryIndex(
            self._agent.id, shown_lines, self._domains, counts, items, total.untrusted, total.until
        )
        index = derived_md.fit_index(whole, self._room - self._per_token)
        return Survey(total, index, derived_md.render_index(index))

    def _parts(self) -> Iterator[tuple[str, str, Callable[[], list[bytes]]]]:
        """Yields name, key and lines of each part: the pages, and behind them what is on none."""
        for name, load in self._pages.items():
            yield name, stamp_of(self._agent.paths.store_page(name)), load
        rest = list(_rest(self._long_term, self._pages))
        data = b"\n".join(rest)
        yield _WHOLE, f"{len(data)}:{crc32(data)}", lambda: rest

    def _find_known(self, name: str, key: str) -> tuple[str, indexing.Digest] | None:
        """Returns what is known of a part, if it is still true and the files that were written with it are there."""
        known = self._known.parts.get(name)
        if known is None or (self._sound is not None and name not in self._sound):
            return None
        digest = known[1]
        is_over = digest.until and digest.until <= self._now
        if is_over or known[0] != self._whole_key(key, digest):
            return None
        return known if all((domain, name) in self._there for domain in digest.domains) else None

    def _whole_key(self, key: str, digest: indexing.Digest) -> str:
        """Returns the key of a part, with that of what persons decided about trust if it matters for what is shown."""
        return key + self._ruled if digest.derived else key

    def _read(self, name: str, lines: list[bytes]) -> tuple[dict[str, str], indexing.Digest, indexing.Lines]:
        """Returns the domain files of a part, by domain, its digest, and what may be shown of it. Only items that are listed or expire
        are decoded. Topics have files while memory is small: of a large one, recall finds them by tag."""
        seen = [glance_at(line) for line in lines]
        needed = (
            (line, glance)
            for line, glance in zip(lines, seen, strict=True)
            if glance.type in DOMAINS or glance.expires or indexing.may_be_shown(glance)
        )
        decoded = [parse_item(line, _STORE) for line, _ in needed]
        live = [item for item in decoded if item.type in DOMAINS and not has_expired(item, self._now)]
        topics = {} if self._pages else indexing.find_topics(live, self._taken)
        domains: dict[str, list[MemoryItem]] = {}
        for item in indexing.in_order(live):
            domains.setdefault(topics.get(item.id) or DOMAINS[item.type], []).append(item)
        texts, shares = {}, {}
        for domain in sorted({*domains, *(self._paged() if name == _WHOLE else ())}):
            items = domains.get(domain, [])
            kinds = [topics.get(item.id, "") for item in items]
            entries = [*map(derived_md.render_domain_entry, items, kinds, map(self._trust_of, items))]
            if items:
                expires = min((item.expires_at for item in items if item.expires_at), default="")
                texts[domain] = derived_md.render_domain(domain, entries, expires, name)
                shares[domain] = indexing.Share(len(items), len(texts[domain]), expires)
            if pages := self._shares(domain) if name == _WHOLE and self._pages else {}:
                until = indexing.add_shares([*pages.values(), *filter(None, [shares.get(domain)])]).until
                listed = [(page, share.items, self._tokens(share.size)) for page, share in pages.items()]
                texts[domain] = derived_md.render_domain(domain, entries, until, name, listed)
        return texts, *indexing.digest_items(seen, decoded, shares, self._now, self._room, self._trust_of)

    def _paged(self) -> set[str]:
        """Returns the domains of which pages hold something."""
        return {domain for name, (_, digest) in self._made.items() if name for domain in digest.domains}

    def _pages_moved(self) -> bool:
        """Returns whether a domain file may list other pages, or other numbers of them, than before; the pages are made."""
        old, new = (
            {n: digest.domains for n, (_, digest) in parts.items() if n} for parts in (self._known.parts, self._made)
        )
        return old != new or any((name, _WHOLE) not in self._there for name in self._paged())

    @cached_property
    def _domains(self) -> tuple[indexing.Domain, ...]:
        """Returns the domains that hold anything: those of types in their order, then topics, the largest first."""
        found = []
        held = {name for _, digest in self._made.values() for name in digest.domains}
        for type, name in (*DOMAINS.items(), *(("", name) for name in sorted(held.difference(DOMAINS.values())))):
            if shares := list(self._shares(name).values()):
                total = indexing.add_shares(shares)
                pages = sum(page in self._pages for page in self._shares(name))
                found.append(indexing.Domain(name, type, total.items, self._tokens(total.size), pages))
        return tuple(sorted(found, key=lambda domain: (not domain.type, 0 if domain.type else -domain.items)))

    def _shares(self, domain: str) -> dict[str, indexing.Share]:
        """Returns what each part holds of a domain, if anything."""
        held = ((name, digest.domains.get(domain)) for name, (_, digest) in self._made.items())
        return {name: share for name, share in held if share}

    def _tokens(self, size: int) -> int:
        return -(-size // self._per_token)


def _files_there(paths: AgentPaths) -> set[tuple[str, str]]:
    """Returns our files in memory/domains/, by domain and page; what else lies there is somebody's own."""
    names = set(list_names(paths.domains))
    found = {(name, _WHOLE) for name in DOMAINS.values() if f"{name}.md" in names}
    others = {*list_stems(paths.domains, ".md")}.difference(DOMAINS.values())
    found |= {(name, _WHOLE) for name in others if is_ours(paths.domain(name))}
    for name in names.intersection(DOMAINS.values()):
        found |= {(name, page) for page in list_pages(paths.domains / name, PAGE)}
    return found


def is_ours(path: Path) -> bool:
    """Returns whether a file is one that we wrote, also where somebody edited it since."""
    text = (read_bytes(path) or b"").decode("utf-8", "replace")
    return without_seal(text) != text
