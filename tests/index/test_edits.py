"""A thousand edits, each followed by a recall: what is new is found at once, and what is gone is never found again."""

import json
import os
from random import Random

import pytest

from mabos_cli.services.search.agent_search import AgentIndex
from mabos_cli.workspace import sources

from .lab import FULL, Lab, close, settle
from .models import Hashed
from .world import sentence


class Book:
    """Which unique word stands where, over random edits of all kinds of files."""

    def __init__(self, lab: Lab, seed: int) -> None:
        self.lab, self.rnd, self.count = lab, Random(seed), 0
        self.words: dict[str, list[str]] = {}  # path -> the words on its lines
        self.items: list[str] = []

    def word(self) -> str:
        """A word that no other text holds: always as long as the others, and no ending to be stemmed."""
        self.count += 1
        digits = "".join("qxzjvkwbhp"[int(d)] for d in f"{self.count:05}")
        return f"zq{digits}k"

    def start(self) -> None:
        for number in range(6):
            self.new_file(f"notes/n{number}.md")
        self.new_file("sessions/s.jsonl")
        self.lab.store("something that stays")
        for _ in range(8):
            self.add_item()

    def line(self, path: str, word: str) -> str:
        text = f"{sentence(Random(len(path)), 8)} {word}"
        return json.dumps({"role": "user", "content": text}) if path.endswith("jsonl") else f"- {text}"

    def save(self, path: str) -> None:
        text = "".join(f"{self.line(path, word)}\n" for word in self.words[path])
        self.lab.write(path, text if path.endswith("jsonl") else f"# Notes\n\n{text}")

    def new_file(self, path: str) -> tuple[list[str], list[str]]:
        self.words[path] = [self.word() for _ in range(3)]
        self.save(path)
        return [], self.words[path][:1]

    def edit(self) -> tuple[list[str], list[str]]:
        """Something changes; gives the words that are gone and those that are new."""
        path = self.rnd.choice(sorted(self.words))
        return self.rnd.choices(
            (
                self.swap,
                self.append,
                self.cut,
                self.add,
                self.remove,
                self.swap_item,
                self.drop_item,
                self.add_item,
            ),
            (8, 4, 3, 2, 1, 4, 1, 1),
        )[0](path)

    def swap(self, path: str) -> tuple[list[str], list[str]]:
        """The same size, and the old times: nothing but the clock of the file system tells."""
        if not self.words[path]:
            return self.append(path)
        spot = self.rnd.randrange(len(self.words[path]))
        old, new = self.words[path][spot], self.word()
        file = self.lab.agent / path
        before = file.stat()
        self.words[path][spot] = new
        if self.rnd.random() < 0.5:  # in place, or as an editor does it
            self.save(path)
        else:
            beside = file.with_name(".beside")
            beside.write_bytes(file.read_bytes().replace(old.encode(), new.encode()))
            beside.replace(file)
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert file.stat().st_size == before.st_size and file.stat().st_mtime_ns == before.st_mtime_ns
        return [old], [new]

    def append(self, path: str) -> tuple[list[str], list[str]]:
        self.words[path].append(self.word())
        with (self.lab.agent / path).open("a") as file:
            file.write(f"{self.line(path, self.words[path][-1])}\n")
        return [], self.words[path][-1:]

    def cut(self, path: str) -> tuple[list[str], list[str]]:
        if not self.words[path]:
            return self.append(path)
        old = self.words[path].pop(self.rnd.randrange(len(self.words[path])))
        self.save(path)
        return [old], self.words[path][:1]

    def add(self, path: str) -> tuple[list[str], list[str]]:
        return self.new_file(f"notes/{self.rnd.choice('abc')}/n{self.count}.md")

    def remove(self, path: str) -> tuple[list[str], list[str]]:
        if len(self.words) < 4:
            return self.add(path)
        (self.lab.agent / path).unlink()
        return self.words.pop(path)[:2], []

    def add_item(self, path: str = "") -> tuple[list[str], list[str]]:
        word = self.word()
        item = {"id": f"hand-{self.count}", "content": f"An item {word}", "created_at": "2026-02-01"}
        self.lab.edit_store(lambda data: data["long_term"].append(item))
        self.items.append(word)
        return [], [word]

    def swap_item(self, path: str) -> tuple[list[str], list[str]]:
        if not self.items:
            return self.add_item()
        spot = self.rnd.randrange(len(self.items))
        old, self.items[spot] = self.items[spot], self.word()
        file = self.lab.agent / "memory-store.json"
        before = file.stat()
        file.write_bytes(file.read_bytes().replace(old.encode(), self.items[spot].encode()))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        return [old], [self.items[spot]]

    def drop_item(self, path: str) -> tuple[list[str], list[str]]:
        if not self.items:
            return self.add_item()
        old = self.items.pop(self.rnd.randrange(len(self.items)))
        self.lab.edit_store(
            lambda data: data.update(long_term=[i for i in data["long_term"] if old not in i["content"]])
        )
        return [old], self.items[:1]


def texts_of(search, word: str) -> list[str]:
    """The texts that hold a word, out of what a question for it finds."""
    return [hit.candidate.text for hit in search(word) if word in hit.candidate.text]


@pytest.mark.parametrize(("step", "count"), [("auto", FULL or 250), ("scan", FULL or 80), ("lexical", FULL or 80)])
def test_a_thousand_edits_leave_no_ghost_and_no_gap(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, step: str, count: int
) -> None:
    model = Hashed()
    monkeypatch.setattr(AgentIndex, "_embedder", lambda self: model)
    monkeypatch.setenv("MABOS_INDEX_VECTORS", step)
    book = Book(lab, 11)
    book.start()
    graves: list[str] = []
    for number in range(count):
        gone, there = book.edit()
        graves += gone
        search = lab.search()
        for word in there:
            assert len(texts_of(search, word)) == 1, (number, word)
        for word in gone + book.rnd.sample(graves, min(2, len(graves))):
            assert not texts_of(search, word), (number, word)
        assert search.warnings() == []
        close(search)
        if number % 100 == 0:
            settle()  # from here on stamps are relied on
            lab.sync()
    search = lab.search()
    living = [word for words in book.words.values() for word in words] + book.items
    assert [word for word in living if len(texts_of(search, word)) != 1] == []
    assert [word for word in graves if texts_of(search, word)] == []
    close(search)


def test_an_edit_within_the_same_tick_of_the_clock_is_seen(lab: Lab) -> None:
    """Written, indexed and written again at once, with the same size and the same time."""
    path = lab.write("notes/a.md", "word aaaa\n")
    for number in range(40):
        before = path.stat()
        new = f"word {'bcdefg'[number % 6] * 4}\n"
        with open(path, "r+b") as file:
            file.write(new.encode())
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert lab.ask(new.split()[1])[0].candidate.text == new.strip(), number


def test_an_edit_is_seen_where_clocks_of_files_tick_slowly(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two edits of the same size in one tick have the same stamp: a stamp so young is not relied on."""

    def coarse(stat: os.stat_result) -> str:
        tick = 20_000_000
        return f"{stat.st_size}:{stat.st_mtime_ns // tick}:{stat.st_ctime_ns // tick}:{stat.st_ino}"

    monkeypatch.setattr(sources, "stamp_of", coarse)
    monkeypatch.setenv("MABOS_EMBEDDINGS_PROVIDER", "none")
    path = lab.write("notes/a.md", "word aaaa\n")
    for number in range(60):
        new = f"word {'bcdefg'[number % 6] * 4}"
        path.write_text(f"{new}\n")
        assert lab.ask(new)[0].candidate.text == new, number


def test_a_file_put_back_from_a_backup_is_seen(lab: Lab) -> None:
    path = lab.write("notes/a.md", "the old words\n")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    settle()
    lab.sync()
    backup = path.with_name("backup.txt~")
    path.rename(backup)
    lab.write("notes/a.md", "the new words\n")
    assert lab.ask("new words")[0].candidate.text == "the new words"
    path.unlink()
    backup.rename(path)
    assert [hit.candidate.text for hit in lab.ask("old words")][:1] == ["the old words"]


def test_an_item_can_go_and_come_back_all_day(lab: Lab) -> None:
    item_id = lab.store("the quince is ripe", "long_term")
    for number in range(6):
        lab.forget(item_id)
        assert item_id not in lab.refs("quince ripe"), number
        assert item_id in lab.refs("quince ripe", archived=True), number
        lab.revive(item_id)
        assert lab.refs("quince ripe").count(item_id) == 1, number
        assert lab.ask("quince ripe")[0].candidate.archived == "", number
