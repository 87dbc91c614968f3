"""Every way of comparing vectors gives the same answers, and going from one to another never mixes them."""

import builtins
import importlib
import importlib.util
import sys
from random import Random

import pytest

from mabos_cli.index import vectors as engines_module
from mabos_cli.index.ask import search_lanes
from mabos_cli.index.vectors import open_engine
from mabos_cli.services.search.agent_search import AgentIndex
from mabos_cli.services.search.index import describe_index

from .lab import Lab, check_sound, differences, engines
from .models import Hashed
from .world import QUESTIONS, sentence

STEPS = engines()
WITH_VECTORS = [step for step in STEPS if step != "lexical"]


def use(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    monkeypatch.setenv("MABOS_INDEX_VECTORS", step)


def check(lab: Lab, step: str) -> None:
    """The index is whole, of this step, and as a fresh one."""
    searching = lab.open()
    index = searching.index
    assert index is not None and index.path == lab.index
    assert index.engine.step == step
    check_sound(index.db)
    tables = {name for (name,) in index.db.execute("SELECT name FROM sqlite_master")}
    assert not {"passages_vec", "passages_blob"} <= tables
    index.close()
    assert differences(lab.contents(), lab.fresh_contents()) == {}


def test_here_is_more_than_one_step() -> None:
    assert {"scan", "lexical"} < set(STEPS)


def test_every_step_with_vectors_finds_the_same(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    rnd = Random(9)
    texts = [f"{sentence(rnd)} {sentence(rnd)}" for _ in range(300)]
    lab.store_all([lab.draft(text, store="long_term", importance=0.5) for text in texts])
    answers = {}
    for step in WITH_VECTORS:
        use(monkeypatch, step)
        answers[step] = lab.tops(QUESTIONS)
    assert all(found == answers["scan"] for found in answers.values())
    assert sum(len(found) == 10 for found in answers["scan"].values()) > len(QUESTIONS) // 2
    use(monkeypatch, "lexical")
    lexical = lab.tops(QUESTIONS)
    assert lexical != answers["scan"]
    assert all(found for question, found in lexical.items() if question != "ERR_042")


@pytest.mark.parametrize("step", WITH_VECTORS)
def test_what_all_texts_have_in_common_tells_nothing(lab: Lab, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    use(monkeypatch, step)
    opening = "I am working on my project and would like your help with"
    texts = [f"{opening} {sentence(Random(n))}" for n in range(120)]
    *_, about_cats = lab.store_all(
        [lab.draft(text, store="long_term") for text in (*texts, "A kitten sleeps on the sofa")]
    )
    searching = lab.open()
    assert searching.index
    found = search_lanes(searching.index, "I would like your help with my project about cats", 20)["vectors"]
    searching.index.close()
    assert about_cats in [ref for ref, *_ in found]  # behind 73 others, if the words that all share counted in full


@pytest.mark.parametrize("step", STEPS)
def test_a_step_answers_and_says_what_it_is(busy: Lab, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    use(monkeypatch, step)
    assert "ERR_042" in busy.ask("ERR_042")[0].candidate.text
    assert all(len(found) for found in busy.tops(QUESTIONS, archived=True).values())
    check(busy, step)
    about = describe_index(AgentIndex(busy.home()))
    assert about["step"] == step and about["state"] == "fresh"
    held = busy.contents()["vectors"].total()
    assert (held == 0) == (step == "lexical")


def test_going_between_steps_heals_and_never_mixes(busy: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Hashed()
    monkeypatch.setattr(AgentIndex, "_embedder", lambda self: model)
    expected = {}
    for number, step in enumerate([*STEPS, *reversed(STEPS), *WITH_VECTORS]):
        use(monkeypatch, step)
        found = busy.tops(QUESTIONS)
        kind = step if step == "lexical" else "vectors"
        assert expected.setdefault(kind, found) == found, (number, step)
        if step != "lexical":  # which leaves the vectors of a scan where they are
            check(busy, step)


def test_edits_while_there_were_no_vectors_are_made_good(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scanned, then words only, then scanned again: both keep the same file."""
    model = Hashed()
    monkeypatch.setattr(AgentIndex, "_embedder", lambda self: model)
    ids = lab.store_all(
        [
            lab.draft(f"Turn {n} of the talk", session="s", observed_at=f"2026-01-01T10:0{n}:00Z", store="long_term")
            for n in range(5)
        ]
    )
    lab.write("notes/a.md", "The quince.\n")
    lab.write("notes/b.md", "The pear.\n")
    use(monkeypatch, "scan")
    lab.sync()
    use(monkeypatch, "lexical")
    lab.update(ids[1], content="Another word at this turn")
    (lab.agent / "notes/b.md").unlink()
    lab.sync()
    lab.write("notes/c.md", "- \n\n...\n")
    lab.sync()
    use(monkeypatch, "scan")
    lab.sync()
    check(lab, "scan")


def test_without_sqlite_vec_vectors_are_scanned(busy: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = busy.tops(QUESTIONS[:3])
    monkeypatch.setattr(engines_module, "find_spec", lambda name: None)
    assert open_engine().step == "scan"
    assert open_engine("wheel").step == "scan"
    assert busy.tops(QUESTIONS[:3]) == answers
    check(busy, "scan")


def test_a_package_without_its_library_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    (tmp_path / "__init__.py").write_text("")
    spec = importlib.util.spec_from_file_location("sqlite_vec", tmp_path / "__init__.py")
    monkeypatch.setattr(engines_module, "find_spec", lambda name: spec)
    assert open_engine().step == "scan"


def test_a_library_that_does_not_load_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "vec0.so").write_bytes(b"of another processor")
    spec = importlib.util.spec_from_file_location("sqlite_vec", tmp_path / "__init__.py")
    monkeypatch.setattr(engines_module, "find_spec", lambda name: spec)
    assert open_engine().step == "scan"


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Makes packages impossible to import."""
    for name in [name for name in sys.modules if name.partition(".")[0] in names]:
        monkeypatch.delitem(sys.modules, name)
    real_module, real_import = importlib.import_module, builtins.__import__

    def refuse(name: str) -> None:
        if name.partition(".")[0] in names:
            raise ImportError(name)

    def import_module(name: str, *rest):
        refuse(name)
        return real_module(name, *rest)

    def plain_import(name: str, *rest, **more):
        refuse(name)
        return real_import(name, *rest, **more)

    monkeypatch.setattr(importlib, "import_module", import_module)
    monkeypatch.setattr(builtins, "__import__", plain_import)


def test_without_a_wheel_vectors_are_scanned(busy: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = busy.tops(QUESTIONS[:3])
    without(monkeypatch, "sqlean", "pysqlite3")
    engine = open_engine()
    assert engine.step in ("extension", "scan") and engine.sqlite.__name__ == "sqlite3"
    assert busy.tops(QUESTIONS[:3]) == answers
    check(busy, engine.step)


def test_without_any_sqlite_the_files_are_searched(busy: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "sqlean", "pysqlite3", "sqlite3", "_sqlite3")
    search = busy.search()
    assert "ERR_042" in search("ERR_042")[0].candidate.text
    assert any("SQLite" in warning for warning in search.warnings())


def test_what_is_wanted_and_absent_steps_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines_module, "_python_sqlite", lambda: ())
    assert open_engine("extension").step == "scan"
    monkeypatch.setattr(engines_module, "_WHEELS", ("no_such_wheel",))
    assert open_engine("wheel").step == "scan"
    assert open_engine().step == "scan"
    assert open_engine("lexical").step == "lexical"
