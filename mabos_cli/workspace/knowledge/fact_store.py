"""Facts on disk: lines of one file, or above a size of 256 pages beside it by subject, so that a change rewrites one of them.

The file counts what its pages hold, and has the version. Facts that a merge or a person left in it stand for those with their ids
on the pages; the next write files them there.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from mabos_cli.core.knowledge.fact import Fact, Triple
from mabos_cli.core.language.text import plural
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.knowledge.fact_text import page_of
from mabos_cli.formats.knowledge.facts import (
    Derived,
    FactFile,
    Renewed,
    parse_fact,
    parse_facts,
    render_fact,
    render_fact_page,
    render_facts,
    renew_derived,
)
from mabos_cli.formats.memory.items import line_id
from mabos_cli.workspace.files import FileWrite, list_stems, read_bytes, stamp_of
from mabos_cli.workspace.layout import AgentPaths


class FactStore:
    """A file of facts and its pages, each read when somebody asks for it."""

    def __init__(self, paths: AgentPaths, path: Path, folder: Path) -> None:
        self._paths, self._path, self._folder = paths, path, folder
        self._data = read_bytes(path)
        self.head = FactFile() if self._data is None else parse_facts(self._data, paths.cited(path))
        self._pages: dict[str, tuple[FactFile, bytes | None]] = {}
        self._triples: dict[str, dict[Triple, list[Fact]]] = {}
        self._changed: set[str] = set()
        self._whole: list[bytes] = []  # the lines of the file itself, whose facts are sorted by page here
        self._waiting: dict[str, list[Fact]] = {}

    @property
    def version(self) -> int:
        return self.head.version

    @property
    def is_paged(self) -> bool:
        return bool(self.head.pages)

    def __len__(self) -> int:
        return len(self.head) + sum(self.head.pages.values())

    def page(self, name: str, *, keep: bool = True) -> FactFile:
        """Returns a page; one that is listed and missing is an error, never an empty page."""
        if name in self._pages:
            return self._pages[name][0]
        path = self._folder / f"{name}.json"
        data, cited = read_bytes(path), self._paths.cited(path)
        if data is None and self.head.pages.get(name):
            raise InvalidFile(f"{cited} is missing", "restore it from git, or run mabos doctor")
        file = FactFile(path=cited) if data is None else parse_facts(data, cited)
        if len(self.head) and len(file):
            strays = self.head.ids()
            if not strays.isdisjoint(file.ids()):
                file.lines = [line for line in file.lines if b'"%s"' % line_id(line).encode() not in strays]
        if keep:
            self._pages[name] = file, data
        return file

    def files(self, subjects: Collection[str] | None = None) -> Iterator[FactFile]:
        """Yields the files in which facts are: all, of which none is kept, or those of some subjects."""
        yield self.head
        if self.is_paged:
            names = self.head.pages if subjects is None else {page_of(subject) for subject in subjects}
            for name in sorted(names):
                yield self.page(name, keep=subjects is not None)

    def facts(self) -> Iterator[Fact]:
        """Yields the facts, decoded as they are asked for."""
        return chain.from_iterable(file.facts() for file in self.files())

    def facts_on(self, name: str) -> Iterator[Fact]:
        """Yields the facts of one page, those included that still wait in the file itself."""
        if self._whole is not self.head.lines:
            self._whole, self._waiting = self.head.lines, {}
            for fact in self.head.facts():
                self._waiting.setdefault(page_of(fact.subject), []).append(fact)
        return chain(self._waiting.get(name, ()), self.page(name, keep=False).facts() if self.is_paged else ())

    def where(self, name: str, value: str) -> Iterator[Fact]:
        """Yields the facts whose field is exactly this; of a subject, only its page is read."""
        for file in self.files({value} if name == "subject" else None):
            yield from file.where(name, value)

    def with_triple(self, triple: Triple) -> list[Fact]:
        """Returns the facts that say this, each for another time."""
        return [fact for file in self.files({triple[0]}) for fact in file.with_triple(triple)]

    def look_up(self, triple: Triple) -> list[Fact]:
        """Returns the same, for many questions at once: a page is decoded once."""
        found: list[Fact] = []
        for file in self.files({triple[0]}):
            if file.path not in self._triples:
                known = self._triples[file.path] = {}
                for fact in file.facts():
                    known.setdefault(fact.triple, []).append(fact)
            found += self._triples[file.path].get(triple, ())
        return found

    def find_united(self, fact_id: str) -> Fact | None:
        """Returns the fact that a merge united with this id, where two branches had asserted the same under two ids."""
        return next((found for file in self.files() if (found := file.find_united(fact_id))), None)

    def has_id(self, fact_id: str) -> bool:
        """Returns whether a fact that was read has this id; pages that nobody reads hold only ids that were issued before."""
        return any(file.has_id(fact_id) for file in (self.head, *(file for file, _ in self._pages.values())))

    def has_text(self, text: bytes) -> bool:
        """Returns whether a text stands in any of the files."""
        return any(text in file.text() for file in self.files())

    def last_ids(self, ids: Iterable[str]) -> list[str]:
        """Returns the last id issued behind some ids; of a file that does not say, as other tools write it, all its ids."""
        if self.head.last_id:
            return [self.head.last_id, *ids]
        return [*(line_id(line) for file in self.files() for line in file.lines), *ids]

    def change(self, put: Sequence[Fact], gone: dict[str, str], most: int) -> None:
        """Adds facts, or replaces those with their ids, and drops others, which are given by id with their subject. Above so many
        facts they are moved to pages."""
        self._split(put, most)
        new: dict[str, dict[str, bytes]] = {}
        for fact in put:
            new.setdefault(self._place(fact.subject), {})[fact.id] = render_fact(fact)
        lost: dict[str, set[str]] = {}
        for fact_id, subject in gone.items():
            lost.setdefault(self._place(subject), set()).add(fact_id)
        for name in new.keys() | lost.keys():
            file, lines, left = self.file(name), new.get(name, {}), lost.get(name, set())
            if left or any(map(file.has_id, lines)):
                file.lines = [lines.pop(key, line) for line in file.lines if (key := line_id(line)) not in left]
            file.add(list(lines.values()))
            self._changed.add(name)

    def renew(self, facts: Sequence[Fact], now: str, most: int, *, drops: bool) -> Renewed:
        """Puts the facts that follow now in the place of those that did before."""
        if len(facts) > most or self.is_paged:
            self._split((), -1)
        places: dict[str, list[Fact]] = {name: [] for name in self.head.pages or ("",)}
        for fact in facts:
            places.setdefault(self._place(fact.subject), []).append(fact)
        found = []
        for name, those in places.items():
            file = self.file(name)
            before = file.text()
            found.append(renew_derived(file, those, now, drops=drops))
            if file.text() != before:
                self._changed.add(name)
        done = Derived(*map(sum, zip(*(each.done for each in found), strict=True)))
        gone = tuple(departure for each in found for departure in each.gone)
        return Renewed(done, frozenset().union(*(each.subjects for each in found)), gone)

    def stamps(self) -> dict[str, str]:
        """Returns what changes with each file: the one itself under an empty name, and its pages."""
        return {"": stamp_of(self._path)} | {
            name: stamp_of(self._folder / f"{name}.json") for name in sorted(self.head.pages)
        }

    def file(self, name: str) -> FactFile:
        """Returns the file itself, or one of its pages."""
        return self.page(name) if name else self.head

    def sort(self) -> None:
        """Puts the lines of changed files in the order of what they say, as a renewal leaves them."""
        for name in self._changed:
            file = self.file(name)
            read = ((parse_fact(line, file.path), line) for line in file.lines)
            file.lines = [line for *_, line in sorted((fact.triple, fact.valid_from, line) for fact, line in read)]

    def misfiled(self) -> Iterator[tuple[str, str]]:
        """Yields pages that are not as the file says or as their subjects want it, and what is wrong with each."""
        if self.is_paged and len(self.head):
            yield self.head.path, f"{plural(len(self.head), 'fact')} of it belong on pages"
        for name in sorted({*self.head.pages, *(list_stems(self._folder, ".json") if self.is_paged else ())}):
            page, count = self.page(name, keep=False), self.head.pages.get(name, 0)
            if len(page) != count:
                yield page.path, f"holds {plural(len(page), 'fact')}; {self.head.path} says {count}"
            if strange := sum(page_of(fact.subject) != name for fact in page.facts()):
                yield page.path, f"has {plural(strange, 'fact')} of other pages"

    def refile(self) -> None:
        """Puts each fact onto the page of its subject, and counts them."""
        found: dict[str, Fact] = {}
        for name in list_stems(self._folder, ".json"):
            self.head.pages.setdefault(name, 0)
            page = self.page(name)
            found |= {fact.id: fact for fact in page.facts() if page_of(fact.subject) != name}
            page.lines = [line for line in page.lines if line_id(line) not in found]
            self._changed.add(name)
        self.change([fact for fact in found.values()], {}, 0)
        self.head.version += 1

    @property
    def is_changed(self) -> bool:
        return bool(self._changed)

    def _place(self, subject: str) -> str:
        return page_of(subject) if self.is_paged else ""

    def _split(self, put: Sequence[Fact], most: int) -> None:
        """Moves the facts of the file itself to pages, if there are too many or there are pages already."""
        if self.is_paged or len(self) + len(put) > most:
            lines: dict[str, list[bytes]] = {}
            for line in self.head.lines:
                lines.setdefault(page_of(parse_fact(line, self.head.path).subject), []).append(line)
            for name in () if self.is_paged else list_stems(self._folder, ".json"):
                self.page(name).lines = []  # what a split that was never finished left there
                self._changed.add(name)
            for name, moved in lines.items():
                self.page(name).add(moved)
            self._changed.update(lines)
            self.head.pages |= dict.fromkeys(lines if self.is_paged else (f"{number:02x}" for number in range(256)), 0)
            self.head.lines = []

    def writes(self) -> list[FileWrite]:
        """Returns what is to be written: the pages that changed, and behind them the file."""
        changed = []
        for name in sorted(self._changed - {""}):
            page, data = self._pages[name]
            self.head.pages[name] = len(page)
            changed.append(FileWrite(self._folder / f"{name}.json", render_fact_page(page), data))
        head = FileWrite(self._path, render_facts(self.head), self._data)
        return [*changed, head]
