"""One model at a time: changing it embeds everything anew, what cost something is kept, and a model that fails is waited for."""

import sqlite3

import pytest

from mabos_cli.services.search.agent_search import AgentIndex
from mabos_cli.workspace.lock import locked

from .lab import Lab, check_sound, close, engines, settle
from .models import Hashed
from .world import QUESTIONS

WITH_VECTORS = [step for step in engines() if step != "lexical"]


class Slot:
    """The model that the next command finds."""

    def __init__(self, model: Hashed | None) -> None:
        self.model = model


@pytest.fixture
def slot(little: Lab, monkeypatch: pytest.MonkeyPatch) -> Slot:
    slot = Slot(Hashed())
    monkeypatch.setattr(AgentIndex, "_embedder", lambda self: slot.model)
    return slot


@pytest.fixture(params=WITH_VECTORS)
def step(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MABOS_INDEX_VECTORS", request.param)
    return request.param


def state(lab: Lab) -> dict:
    """What the index says of its vectors, checked."""
    searching = lab.open()
    index = searching.index
    assert index is not None and index.path == lab.index
    check_sound(index.db)
    one = lambda sql: index.db.execute(sql).fetchone()[0]  # noqa: E731
    table = "passages_vec" if index.engine.vec0 else "passages_blob"
    found = {
        "model": one("SELECT value FROM meta WHERE key = 'model'"),
        "width": one("SELECT value FROM meta WHERE key = 'width'"),
        "wanted": one("SELECT count(*) FROM passages WHERE shown AND part = 0"),
        "waiting": one("SELECT count(*) FROM passages WHERE shown AND vector = 0"),
        "vectors": one(f"SELECT count(*) FROM {table}"),
        "lengths": [n for (n,) in index.db.execute(f"SELECT DISTINCT length(embedding) FROM {table}")],
    }
    index.close()
    return found


def test_every_passage_that_can_be_found_has_one_vector(little: Lab, slot: Slot, step: str) -> None:
    stats = little.sync()
    found = state(little)
    assert found["vectors"] == found["wanted"] == stats.embedded == len(slot.model.texts)
    assert (found["model"], found["width"], found["lengths"], found["waiting"]) == ("hashed", "16", [16], 0)


@pytest.mark.parametrize("other", [Hashed("other"), Hashed("other", 24), Hashed("other", 8, costly=True)])
def test_another_model_embeds_everything_again(little: Lab, slot: Slot, step: str, other: Hashed) -> None:
    little.sync()
    settle()
    little.sync()
    slot.model = new = Hashed(other.model, other.width, costly=other.costly)
    stats = little.sync()
    found = state(little)
    assert found["vectors"] == found["wanted"] == stats.embedded
    assert (found["model"], found["width"], found["lengths"]) == ("other", str(new.width), [new.width])
    assert little.sync().embedded == 0
    fresh = little.tops(QUESTIONS)
    little.sync(rebuild=True)
    assert little.tops(QUESTIONS) == fresh


@pytest.mark.parametrize("costly", [False, True])
def test_the_same_model_with_another_width_embeds_everything_again(
    little: Lab, slot: Slot, step: str, costly: bool
) -> None:
    """As a model behind an address may change without its name."""
    slot.model = Hashed(costly=costly)
    little.sync()
    slot.model = Hashed(width=24, costly=costly)
    little.write("notes/new.md", "marzipan and the tomato\n")
    assert "notes/new.md:1-1" in little.refs("marzipan")
    found = state(little)
    assert found["vectors"] == found["wanted"]
    assert (found["width"], found["lengths"]) == ("24", [24])
    assert little.tops(QUESTIONS)


@pytest.mark.parametrize("costly", [False, True])
def test_a_new_width_without_any_new_text_does_not_stop_a_recall(
    little: Lab, slot: Slot, step: str, costly: bool
) -> None:
    slot.model = Hashed(costly=costly)
    little.sync()
    settle()
    little.sync()
    slot.model = Hashed(width=24, costly=costly)
    assert all(little.tops(QUESTIONS[:4]).values())
    found = state(little)
    assert found["vectors"] == found["wanted"]
    assert len(found["lengths"]) == 1


class Untold(Hashed):
    """A model behind an address: only its answers tell the width of its vectors."""

    def _vector(self, text: str) -> bytes:
        return Hashed(self.model, 24)._vector(text)


def test_a_new_width_that_cannot_be_noted_does_not_stop_a_recall(little: Lab, slot: Slot, step: str) -> None:
    little.sync()
    settle()
    little.sync()
    slot.model = Untold(width=0)
    with locked(little.note, little.root, 0):
        assert little.ask("tomato")


def test_going_back_to_a_costly_model_costs_nothing(little: Lab, slot: Slot) -> None:
    slot.model = costly = Hashed("paid", costly=True)
    little.sync()
    paid = len(costly.texts)
    slot.model = Hashed("free")
    little.sync()
    slot.model = costly
    stats = little.sync()
    assert stats.embedded > 0 and len(costly.texts) == paid
    found = state(little)
    assert (found["model"], found["vectors"]) == ("paid", found["wanted"])


def test_a_rebuild_pays_for_nothing_twice(little: Lab, slot: Slot) -> None:
    slot.model = first = Hashed("paid", costly=True)
    little.sync()
    assert len(first.texts) == len(set(first.texts)) > 20
    before = little.contents()
    slot.model = second = Hashed("paid", costly=True)
    little.sync(rebuild=True)
    assert second.texts == []
    assert little.contents() == before
    little.note.write_text("garbage")  # rebuilt, as after damage
    little.sync()
    assert second.texts == []
    assert little.contents() == before


def test_a_text_is_paid_for_once_wherever_it_stands(lab: Lab, slot: Slot) -> None:
    slot.model = model = Hashed("paid", costly=True)
    for number in range(5):
        lab.write(f"notes/{number}.md", "The same words\n")
    lab.sync()
    assert model.texts == ["The same words"]
    (lab.agent / "notes/0.md").rename(lab.agent / "notes/9.md")
    lab.sync()
    assert model.texts == ["The same words"]


def test_cheap_models_are_not_cached(little: Lab, slot: Slot) -> None:
    little.sync()
    searching = little.open()
    assert searching.index.db.execute("SELECT count(*) FROM embedding_cache").fetchone() == (0,)
    searching.index.close()


def test_a_damaged_vector_in_the_cache_is_not_used(little: Lab, slot: Slot) -> None:
    slot.model = Hashed("paid", costly=True)
    little.sync()
    before = little.contents()
    db = sqlite3.connect(little.index)
    total = db.execute("SELECT count(*) FROM embedding_cache").fetchone()[0]
    hashes = [h for (h,) in db.execute("SELECT hash FROM embedding_cache LIMIT 5")]
    for hash in hashes[:3]:
        vector = bytearray(db.execute("SELECT vector FROM embedding_cache WHERE hash = ?", (hash,)).fetchone()[0])
        vector[5] ^= 64
        db.execute("UPDATE embedding_cache SET vector = ? WHERE hash = ?", (bytes(vector), hash))
    db.execute("UPDATE embedding_cache SET vector = x'' WHERE hash = ?", (hashes[3],))
    db.execute("UPDATE embedding_cache SET checksum = 'x' WHERE hash = ?", (hashes[4],))
    db.commit()
    db.close()
    slot.model = again = Hashed("paid", costly=True)
    little.sync()
    assert len(again.texts) == 5 < total
    assert little.contents()["vectors"] == before["vectors"]


@pytest.mark.parametrize("damage", ["'text'", "NULL", "5"])
def test_a_cache_of_other_kinds_of_values_is_not_used(little: Lab, slot: Slot, damage: str) -> None:
    slot.model = Hashed("paid", costly=True)
    little.sync()
    before = little.contents()
    db = sqlite3.connect(little.index)
    db.execute("PRAGMA writable_schema = ON")
    db.execute(
        "UPDATE sqlite_master SET sql = replace(sql, 'vector BLOB NOT NULL', 'vector') WHERE name = 'embedding_cache'"
    )
    db.commit()
    db.close()
    db = sqlite3.connect(little.index)
    db.execute(f"UPDATE embedding_cache SET vector = {damage}")
    db.commit()
    db.close()
    little.sync()
    assert little.contents()["vectors"] == before["vectors"]


def many(lab: Lab, count: int) -> None:
    lab.store_all([lab.draft(f"Number {n} of many tomatoes", store="long_term") for n in range(count)])


@pytest.mark.parametrize("costly", [False, True])
def test_a_model_that_fails_midway_is_gone_on_with(lab: Lab, slot: Slot, step: str, costly: bool) -> None:
    lab.store("first")
    items = [{"id": f"hand-{n:05}", "content": f"Number {n} of many tomatoes"} for n in range(800)]
    lab.edit_store(lambda data: data["long_term"].extend(items))
    settle()
    slot.model = Hashed("far", costly=costly, fail_after=600)
    search = lab.search()
    assert any("the model went away" in warning for warning in search.warnings())
    assert len(search("tomatoes")) == 10  # by words
    close(search)
    done = len(slot.model.texts)
    assert 0 < done <= 600
    slot.model = None
    waiting = state(lab)["waiting"]
    assert 0 < waiting < 801
    slot.model = back = Hashed("far", costly=costly)
    stats = lab.sync()
    assert stats.embedded == waiting and len(back.texts) == (801 - done if costly else waiting)
    found = state(lab)
    assert (found["vectors"], found["waiting"]) == (801, 0)


def test_a_model_that_never_answers_leaves_words(little: Lab, slot: Slot, step: str) -> None:
    slot.model = Hashed("far", fail_after=0)
    for _ in range(2):
        search = little.search()
        assert "ERR_042" in search("ERR_042")[0].candidate.text
        assert any("searched by words only: the model went away" in text for text in search.warnings())
        close(search)
    slot.model = Hashed("near")
    little.sync()
    found = state(little)
    assert (found["model"], found["vectors"]) == ("near", found["wanted"])


def test_vectors_of_the_old_model_are_not_asked_when_the_new_one_fails(little: Lab, slot: Slot, step: str) -> None:
    words = {}
    slot.model = None
    words = little.tops(QUESTIONS)
    slot.model = Hashed("old")
    assert little.tops(QUESTIONS) != words
    slot.model = failing = Hashed("new", fail_after=0)
    assert little.tops(QUESTIONS) == words
    assert failing.questions == []


def test_a_model_that_fails_at_the_question_leaves_words(
    little: Lab, slot: Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mabos_cli.errors import Unavailable

    little.sync()

    def fail(text: str) -> bytes:
        raise Unavailable("too busy")

    monkeypatch.setattr(slot.model, "embed_query", fail)
    search = little.search()
    assert "ERR_042" in search("ERR_042")[0].candidate.text
    assert any("too busy" in text for text in search.warnings())
    close(search)


def test_texts_without_a_direction_have_no_vector(lab: Lab, slot: Slot, step: str) -> None:
    lab.write("notes/a.md", "...\n")
    lab.write("notes/b.md", "The quince\n")
    lab.write("notes/c.md", "!!! ???\n")
    assert lab.sync().embedded == 3
    found = state(lab)
    assert (found["vectors"], found["waiting"], found["wanted"]) == (1, 0, 3)
    assert lab.sync().embedded == 0
    assert lab.ask("...") is not None
    lab.write("notes/a.md", "The pear\n")
    lab.sync()
    assert state(lab)["vectors"] == 2


def test_only_texts_without_a_direction_are_no_trouble(lab: Lab, slot: Slot, step: str) -> None:
    lab.write("notes/a.md", "...\n")
    lab.sync()
    assert lab.refs("quince") == []
    lab.write("notes/b.md", "The quince\n")
    assert lab.refs("quince") == ["notes/b.md:1-1"]
    assert state(lab)["vectors"] == 1


def test_without_a_model_there_are_words_and_later_vectors(little: Lab, slot: Slot, step: str) -> None:
    slot.model = None
    assert "ERR_042" in little.ask("ERR_042")[0].candidate.text
    slot.model = Hashed()
    settle()
    assert little.sync().embedded > 20
    slot.model = None
    little.write("notes/new.md", "marzipan\n")
    assert little.refs("marzipan") == ["notes/new.md:1-1"]
    slot.model = Hashed()
    assert little.sync().embedded == 1
    assert state(little)["waiting"] == 0


def test_an_answer_is_embedded_behind_its_question(lab: Lab, slot: Slot) -> None:
    talk = {"session": "s", "store": "long_term"}
    first = lab.store("Where is the quince?", author="Ada", observed_at="2026-01-01T10:00:00Z", **talk)
    lab.store("In the attic.", author="Bob", observed_at="2026-01-01T10:02:00Z", **talk)
    lab.sync()
    assert "Where is the quince?\nBob: In the attic." in slot.model.texts
    lab.store("Or was it the pear?", author="Ada", observed_at="2026-01-01T10:01:00Z", **talk)
    lab.sync()
    assert slot.model.texts[-1] == "Or was it the pear?\nBob: In the attic." or (
        "Or was it the pear?\nBob: In the attic." in slot.model.texts
    )
    slot.model.texts.clear()
    lab.update(first, content="Where is the medlar?")
    lab.sync()
    assert "Where is the medlar?\nAda: Or was it the pear?" in slot.model.texts
    assert not [text for text in slot.model.texts if "attic" in text]
