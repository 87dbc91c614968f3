"""Whatever happens to the index file or to its note, the answers stay the same and the memory files are left alone."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from random import Random

import pytest
from forked import run_here as run
from forked import tree

from .lab import FULL, Lab, close, settle
from .world import QUESTIONS

ASKED = QUESTIONS[::2]


class Patient:
    """A workspace with an index, and what is right about it."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        settle()
        lab.sync()
        self.files = tree(lab.root)
        self.answers = lab.tops(ASKED)
        self.data, self.note = lab.index.read_bytes(), lab.note.read_bytes()

    def check(self, about: object = "") -> None:
        """Answers as before, from an index that is whole again, and files as they were."""
        assert self.lab.tops(ASKED) == self.answers, about
        searching = self.lab.open()
        assert searching.warnings == [], about
        assert searching.index is not None and searching.index.path == self.lab.index, about
        assert searching.stats.added == 0, about
        searching.index.close()
        assert tree(self.lab.root) == self.files, about

    def remove(self) -> None:
        """Takes the index away, whatever it is now."""
        for path in (self.lab.index, self.lab.note):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


@pytest.fixture
def small(little: Lab) -> Patient:
    return Patient(little)


def test_damage_that_cannot_even_be_described_heals(small: Patient) -> None:
    """SQLite's complaint cites the damaged text; Python cannot decode it and raises something else."""
    small.lab.index.write_bytes(small.data.replace(b"CREATE TABLE files", b"CREATE TABL\xff files"))
    small.check()


def test_flipped_bytes_heal(small: Patient) -> None:
    rnd = Random(1)
    for number in range(FULL or 80):
        data = bytearray(small.data)
        for _ in range(rnd.choice((1, 1, 5, 200))):
            # The first pages are the ones that matter most.
            spot = rnd.randrange(rnd.choice((100, 4096, len(data), len(data))))
            data[spot] ^= rnd.randrange(1, 256)
        small.lab.index.write_bytes(data)
        assert small.lab.tops(ASKED[:2]) == {q: small.answers[q] for q in ASKED[:2]}, number
    small.check()


def test_flipped_bytes_with_the_old_times_heal(small: Patient) -> None:
    rnd = Random(2)
    for number in range(25):
        stat = small.lab.index.stat()
        with open(small.lab.index, "r+b") as file:
            file.seek(rnd.randrange(stat.st_size))
            file.write(rnd.randbytes(16))
        os.utime(small.lab.index, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert small.lab.tops(ASKED[:2]) == {q: small.answers[q] for q in ASKED[:2]}, number
    small.check()


def test_a_cut_file_heals(small: Patient) -> None:
    rnd = Random(3)
    size = len(small.data)
    for length in (0, 1, 15, 16, 100, 4095, 4096, 4097, *(rnd.randrange(size) for _ in range(12)), size - 1):
        small.lab.index.write_bytes(small.data[:length])
        assert small.lab.tops(ASKED[:2]) == {q: small.answers[q] for q in ASKED[:2]}, length
    small.check()


def _garbage(lab: Lab) -> None:
    lab.index.write_bytes(b"A person's shopping list: tomatoes, bread.\n" * 500)


def _folder(lab: Lab) -> None:
    lab.index.unlink()
    lab.index.mkdir()
    (lab.index / "precious").write_text("kept")


def _link(lab: Lab) -> None:
    other = lab.root.parent / "elsewhere.sqlite"
    lab.index.rename(other)
    lab.index.symlink_to(other)


def _dangling_link(lab: Lab) -> None:
    lab.index.unlink()
    lab.index.symlink_to(lab.root.parent / "nowhere" / "x.sqlite")


def _link_to_memory(lab: Lab) -> None:
    lab.index.unlink()
    lab.index.symlink_to(lab.agent / "MEMORY.md")


def _other_shape(lab: Lab) -> None:
    _sql(lab, "UPDATE meta SET value = '0 plain 1-2-3' WHERE key = 'shape'")


def _no_meta(lab: Lab) -> None:
    _sql(lab, "DROP TABLE meta")


def _no_items(lab: Lab) -> None:
    _sql(lab, "DROP TABLE items")


def _no_words(lab: Lab) -> None:
    _sql(lab, "INSERT INTO passages_fts (passages_fts) VALUES ('delete-all')")


def _other_words(lab: Lab) -> None:
    _sql(lab, "UPDATE passages SET text = 'ghost', shown = 1")


def _other_program(lab: Lab) -> None:
    lab.index.unlink()
    _sql(lab, "CREATE TABLE passages (a, b)")


def _write_ahead(lab: Lab) -> None:
    _sql(lab, "PRAGMA journal_mode = wal")


def _journal(lab: Lab) -> None:
    lab.index.with_name("main.sqlite-journal").write_bytes(Random(4).randbytes(5000))


def _wal(lab: Lab) -> None:
    lab.index.with_name("main.sqlite-wal").write_bytes(Random(5).randbytes(5000))
    lab.index.with_name("main.sqlite-shm").write_bytes(Random(6).randbytes(5000))


def _note_gone(lab: Lab) -> None:
    lab.note.unlink()


def _note_empty(lab: Lab) -> None:
    lab.note.write_bytes(b"")


def _note_garbage(lab: Lab) -> None:
    lab.note.write_bytes(Random(7).randbytes(300))


def _note_large(lab: Lab) -> None:
    lab.note.write_bytes(b"x y z " * 100_000)


def _note_of_writer(lab: Lab) -> None:
    lab.note.write_bytes(b"writing\n")


def _both_gone(lab: Lab) -> None:
    lab.note.unlink()
    lab.index.unlink()


def _index_gone(lab: Lab) -> None:
    lab.index.unlink()


def _sql(lab: Lab, statement: str) -> None:
    db = sqlite3.connect(lab.index)
    db.execute(statement)
    db.commit()
    db.close()


DAMAGES = [
    _garbage, _folder, _link, _dangling_link, _link_to_memory, _other_shape, _no_meta, _no_items, _no_words,
    _other_words, _other_program, _write_ahead, _journal, _wal, _note_gone, _note_empty, _note_garbage,
    _note_large, _note_of_writer, _both_gone, _index_gone,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__[1:])
def test_damage_heals(small: Patient, damage: Callable[[Lab], None]) -> None:
    damage(small.lab)
    small.check()
    small.lab.write("notes/new.md", "Something entirely new: marzipan.\n")
    assert "notes/new.md:1-1" in small.lab.refs("marzipan")


def test_a_folder_in_the_place_of_the_index_is_kept(small: Patient) -> None:
    for number in (1, 2):
        _folder(small.lab)
        small.check()
        aside = small.lab.index.with_name(f"main.sqlite.aside-{number}")
        assert (aside / "precious").read_text() == "kept"


def test_a_link_in_the_place_of_the_index_never_writes_through(small: Patient) -> None:
    _link(small.lab)
    target = small.lab.root.parent / "elsewhere.sqlite"
    before = target.read_bytes()
    small.check()
    assert target.read_bytes() == before
    assert not small.lab.index.is_symlink()


def test_a_folder_in_the_place_of_the_note_costs_nothing_but_the_place(small: Patient) -> None:
    small.lab.note.unlink()
    small.lab.note.mkdir()
    assert small.lab.tops(ASKED) == small.answers
    assert tree(small.lab.root) == small.files
    small.lab.write("notes/new.md", "Something entirely new: marzipan.\n")
    assert small.lab.refs("marzipan")[0] == "notes/new.md:1-1"
    small.lab.note.rmdir()
    assert small.lab.refs("marzipan")[0] == "notes/new.md:1-1"


def test_damage_behind_the_back_of_an_open_index_is_found_when_it_is_asked(small: Patient) -> None:
    search = small.lab.search()
    _sql(small.lab, "DROP TABLE items")
    found = {q: [hit.candidate.ref for hit in search(q)][:10] for q in ASKED}
    close(search)
    assert found == small.answers
    small.check()


@pytest.mark.parametrize("damage", [_garbage, _folder, _no_items], ids=lambda d: d.__name__[1:])
def test_commands_do_not_mind_damage(small: Patient, damage: Callable[[Lab], None]) -> None:
    lab = small.lab
    for words in (
        ["index", "status"],
        ["index", "search", ASKED[0]],
        ["index", "sync"],
        ["recall", ASKED[0]],
    ):
        small.remove()
        lab.sync()
        damage(lab)
        done = run(*words, "--json", "-w", str(lab.root), HOME=str(lab.root.parent))
        assert (done.code, done.stderr) == (0, ""), words
        if words[0] == "recall":
            assert [row["ref"] for row in json.loads(done.stdout)["data"]["results"]][:10] == small.answers[ASKED[0]]
        if damage is _folder:
            shutil.rmtree(lab.index.with_name("main.sqlite.aside-1"), ignore_errors=True)


def test_a_damaged_file_that_a_killed_writer_left_heals(small: Patient) -> None:
    """The note says `writing`: nobody knows what the file should be, and damage need not be an error of SQLite."""
    rnd = Random(8)
    for number in range(40):
        data = bytearray(small.data)
        for _ in range(rnd.choice((1, 10, 100))):
            data[rnd.randrange(len(data))] ^= rnd.randrange(1, 256)
        small.lab.index.write_bytes(data)
        small.lab.note.write_bytes(b"writing\n")
        assert small.lab.tops(ASKED[:2]) == {q: small.answers[q] for q in ASKED[:2]}, number
    small.check()


@pytest.mark.parametrize("words", [("index", "status"), ("index", "search", "tomato")])
def test_commands_do_not_mind_what_a_killed_writer_left(small: Patient, words: tuple[str, ...]) -> None:
    _sql(small.lab, "DROP TABLE items")
    _note_of_writer(small.lab)
    done = run(*words, "-w", str(small.lab.root))
    assert (done.code, "Traceback" in done.stderr) == (0, False)
