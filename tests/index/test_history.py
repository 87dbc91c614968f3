"""The most valuable promise of the index: whatever happened to the files, it holds what a fresh one would hold."""

import json
from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest

from mabos_cli.errors import MabosError
from mabos_cli.services.search.agent_search import AgentIndex

from .lab import FULL, Lab, check_sound, differences
from .models import Hashed
from .world import page, said, sentence


class History:
    """Random things that agents and people do to a workspace, one at a time."""

    def __init__(self, lab: Lab, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lab, self.rnd, self.patch = lab, Random(seed), monkeypatch
        self.minutes, self.number = 0, 0
        self.done: list[str] = []

    def step(self) -> None:
        """Something happens."""
        acts = [
            (8, self.store), (2, self.batch), (3, self.update), (3, self.move), (3, self.forget), (2, self.revive),
            (1, self.consolidate), (2, self.defer), (2, self.edit_memory_md), (4, self.edit_log), (3, self.add_file),
            (4, self.edit_file), (2, self.remove_file), (2, self.rename_file), (3, self.speak), (2, self.cut_speech),
            (3, self.add_by_hand), (3, self.remove_by_hand), (2, self.edit_by_hand), (1, self.break_file),
        ]  # fmt: skip
        act: Callable[[], None] = self.rnd.choices([a for _, a in acts], [w for w, _ in acts])[0]
        self.minutes += self.rnd.choice((0, 0, 1, 7, 45))
        now = f"2026-03-{1 + self.minutes // 1440:02d}T{self.minutes // 60 % 24:02d}:{self.minutes % 60:02d}:00Z"
        self.patch.setenv("MABOS_NOW", now)
        self.done.append(f"{now} {act.__name__}")
        act()

    def some(self, values: list) -> list:
        """One of the values, or nothing."""
        return [self.rnd.choice(values)] if values else []

    def fields(self) -> dict:
        found: dict = {
            "store": self.rnd.choice(("working", "short_term", "long_term")),
            "importance": self.rnd.choice((0.2, 0.5, 0.7, 0.9)),
            "tags": self.rnd.sample(("red", "green", "blue"), self.rnd.randint(0, 2)),
        }
        if self.rnd.random() < 0.5:
            found |= {"session": self.rnd.choice("xy"), "author": self.rnd.choice(("Ada", "Bob"))}
        if self.rnd.random() < 0.3:
            found["observed_at"] = f"2026-02-{self.rnd.randint(1, 28):02d}T08:00:00Z"
        return found

    def text(self) -> str:
        self.number += 1
        return f"{sentence(self.rnd, self.rnd.choice((6, 12, 150)))} n{self.number}"

    def store(self) -> None:
        self.lab.store(self.text(), **self.fields())

    def batch(self) -> None:
        self.lab.store_all([self.lab.draft(self.text(), **self.fields()) for _ in range(12)])

    def defer(self) -> None:
        self.lab.defer(self.text(), **self.fields())

    def update(self) -> None:
        for item_id in self.some(sorted(self.lab.live())):
            change = self.rnd.choice(
                ({"content": self.text()}, {"importance": 0.95}, {"tags": ("new",)}, {"type": "lesson"})
            )
            self.lab.update(item_id, **change)

    def move(self) -> None:
        for item_id in self.some(sorted(self.lab.live())):
            with suppress(MabosError):
                self.lab.update(item_id, store=self.rnd.choice(("working", "long_term")))

    def forget(self) -> None:
        for item_id in self.some(sorted(self.lab.live())):
            self.lab.forget(item_id)

    def revive(self) -> None:
        gone = {d.item.id for d in self.lab.home().all_departures()} - self.lab.live().keys()
        for item_id in self.some(sorted(gone)):
            self.lab.revive(item_id)

    def consolidate(self) -> None:
        self.lab.consolidate()

    def edit_memory_md(self) -> None:
        path = self.lab.agent / "MEMORY.md"
        lines = path.read_text("utf-8").split("\n")
        spot = self.rnd.randint(0, len(lines))
        if self.rnd.random() < 0.4:
            del lines[spot : spot + 2]
        else:
            lines[spot:spot] = ["", self.text(), ""]
        path.write_text("\n".join(lines), "utf-8")

    def edit_log(self) -> None:
        """A line of a daily log gets more words, or goes, or gets a neighbour."""
        for path in self.some(sorted((self.lab.agent / "memory").glob("2026-*.md"))):
            lines = path.read_text("utf-8").split("\n")
            spot = self.rnd.randrange(len(lines))
            kind = self.rnd.random()
            if kind < 0.5:
                lines[spot] = f"{self.text()} {lines[spot]}" if not lines[spot].startswith("#") else lines[spot]
            elif kind < 0.7:
                del lines[spot]
            else:
                lines.insert(spot, self.text())
            path.write_text("\n".join(lines), "utf-8")

    def files(self) -> list:
        return sorted(path for path in (self.lab.agent / "notes").rglob("*.md") if path.is_file())

    def add_file(self) -> None:
        self.number += 1
        self.lab.write(f"notes/{self.rnd.choice(('', 'deep/'))}{self.number}.md", page(self.rnd))

    def edit_file(self) -> None:
        for path in self.some(self.files()):
            blocks = path.read_text("utf-8", "replace").split("\n\n")
            spot = self.rnd.randrange(len(blocks))
            blocks[spot : spot + self.rnd.randint(0, 1)] = self.some([[], [self.text()], [blocks[spot]] * 2])[0]
            path.write_text("\n\n".join(blocks), "utf-8")

    def remove_file(self) -> None:
        for path in self.some(self.files()):
            path.unlink()

    def rename_file(self) -> None:
        for path in self.some(self.files()):
            self.number += 1
            target = self.lab.agent / self.rnd.choice(("notes", "notes/deep", "notes/.away")) / f"{self.number}.md"
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)

    def break_file(self) -> None:
        """A file that is not UTF-8, or too large."""
        self.number += 1
        self.lab.write(f"notes/{self.number}.md", self.rnd.choice((b"caf\xe9 au lait\n", b"x " * 40_000)))

    def speak(self) -> None:
        path = self.lab.agent / f"sessions/{self.rnd.choice('ab')}.jsonl"
        path.parent.mkdir(exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(self.rnd.choice((said(self.rnd, self.number), '{"torn": "li', "\n", "[1]\n")))

    def cut_speech(self) -> None:
        for path in self.some(sorted((self.lab.agent / "sessions").glob("*.jsonl"))):
            lines = path.read_text("utf-8").split("\n")
            del lines[self.rnd.randrange(len(lines))]
            path.write_text("\n".join(lines), "utf-8")

    def by_hand(self, edit: Callable[[list[dict]], None]) -> None:
        name = self.rnd.choice(("short_term", "long_term"))
        if (self.lab.agent / "memory-store.json").exists():
            self.lab.edit_store(lambda data: edit(data.setdefault(name, [])))

    def add_by_hand(self) -> None:
        self.number += 1
        item = {"id": f"hand-{self.number}", "content": self.text(), "created_at": "2026-03-01"}
        item |= {"session": "x", "observed_at": f"2026-02-{self.rnd.randint(1, 28):02d}T08:00:00Z"}
        self.by_hand(lambda items: items.insert(self.rnd.randint(0, len(items)), item))

    def remove_by_hand(self) -> None:
        self.by_hand(lambda items: items and items.pop(self.rnd.randrange(len(items))))

    def edit_by_hand(self) -> None:
        def edit(items: list[dict]) -> None:
            for item in self.some(items):
                name, value = self.rnd.choice(
                    (("content", self.text()), ("session", "y"), ("tags", ["hand"]), ("author", "Eve"))
                )
                item[name] = value

        self.by_hand(edit)


@pytest.mark.parametrize(("seed", "step"), [(1, "auto"), (2, "scan"), (4, "lexical")])
def test_a_long_history_ends_in_what_a_rebuild_gives(
    lab: Lab, seed: int, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Hashed()
    monkeypatch.setattr(AgentIndex, "_embedder", lambda self: model)
    monkeypatch.setenv("MABOS_INDEX_VECTORS", step)
    monkeypatch.setenv("MABOS_INDEX_MAX_FILE_BYTES", "60000")
    monkeypatch.setenv("MABOS_MEMORY_SHORT_TERM_CAPACITY", "25")
    history = History(lab, seed, monkeypatch)
    for number in range(FULL or 75):
        history.step()
        lab.sync()
        if number % 6 == 5:
            about = json.dumps(history.done[-6:])
            assert differences(lab.contents(), lab.fresh_contents()) == {}, about
    searching = lab.open()
    assert searching.index is not None
    check_sound(searching.index.db)
    assert searching.index.path == lab.index
    searching.index.close()


def test_a_history_seen_only_now_and_then_ends_the_same(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many changes between two syncs."""
    model = Hashed()
    monkeypatch.setattr(AgentIndex, "_embedder", lambda self: model)
    history = History(lab, 5, monkeypatch)
    for _ in range(8):
        for _ in range(12):
            history.step()
        lab.sync()
        assert differences(lab.contents(), lab.fresh_contents()) == {}, json.dumps(history.done[-12:])


def test_a_large_store_is_followed_in_batches_to_the_same_end(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Hashed()
    monkeypatch.setattr(AgentIndex, "_embedder", lambda self: model)
    rnd = Random(6)

    def item(number: int) -> dict:
        at = f"2026-01-{1 + number % 28:02d}T{number % 24:02d}:00:00Z"
        return {
            "id": f"hand-{number:05}",
            "content": sentence(rnd),
            "session": str(number % 5),
            "observed_at": at,
        }

    lab.store("first")
    lab.edit_store(lambda data: data["long_term"].extend(item(n) for n in range(1600)))
    for number in range(30):
        lab.write(f"notes/{number}.md", page(rnd))
    lab.sync()
    lab.edit_store(lambda data: data["long_term"].__delitem__(slice(100, 1400, 2)))
    for number in range(30):
        lab.write(f"notes/{number}.md", page(rnd))
    lab.sync()
    assert differences(lab.contents(), lab.fresh_contents()) == {}
