"""A command in a fork of a warm process ends as it does in a process that was started for it."""

import os
import shutil
from pathlib import Path

import pytest
from conftest import NOW
from forked import execute, start, tree

LINES = (
    ((), b""),
    (("--version",), b""),
    (("--help",), b""),
    (("store", "We bill per seat", "--tag", "price"), b""),
    (("store", "-", "--json"), "Größe: 東京\n".encode()),
    (("store", "-"), b"caf\xe9"),
    (("store", "caf\udce9"), b""),
    (("store", "--batch", "-"), b""),
    (("recall", "caf\udce9 seat"), b""),
    (("stoer", "x"), b""),
    (("read", "../mabos.yaml"), b""),
    (("config", "recall"), b""),
    (("agent", "show", "--json"), b""),
)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    made = start(("init", "ws"), {**os.environ, "MABOS_NOW": NOW}, folder)
    assert made.code == 0, made.stderr
    return folder / "ws"


@pytest.mark.parametrize(("words", "stdin"), LINES)
def test_warm_and_cold_end_alike(template: Path, tmp_path: Path, words: tuple[str, ...], stdin: bytes) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "MABOS_NOW": NOW, "LC_ALL": "C.UTF-8"}
    environment |= {"MABOS_RECALL_LIMIT": "3", "MABOS_INDEX_VECTORS": "lexical", "TZ": "Asia/Tokyo"}
    told = []
    for way in (start, execute):
        root = shutil.copytree(template, tmp_path / "ws")
        ended = way(words, environment, root / "agents", stdin)
        told.append((*ended[:3], tree(root)))
        shutil.rmtree(root)
    assert told[0] == told[1]


def test_a_command_leaves_nothing_behind_for_the_next(template: Path, tmp_path: Path) -> None:
    bare = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "MABOS_NOW": NOW}
    elsewhere = bare | {"MABOS_RECALL_LIMIT": "3", "MABOS_WORKSPACE": str(template)}
    assert b" 3 " in execute(("config", "recall.limit"), elsewhere, tmp_path).stdout
    assert b" 3 " not in execute(("config", "recall.limit"), bare, template).stdout
    lost = execute(("config",), bare, tmp_path)
    assert (lost.code, lost.stdout) == start(("config",), bare, tmp_path)[:2] == (3, b"")
