"""docs/seeds.md: each command that a row names works on a workspace with something of every kind in it."""

import re
import shlex
from pathlib import Path

import pytest
from every_command import UNAVAILABLE, Bench, furnish
from pages import ROOT

PAGE = (ROOT / "docs" / "seeds.md").read_text("utf-8")
CALLS = sorted(
    {call for row in PAGE.split("\n") if row.startswith("|") for call in re.findall(r"`mabos ([^`]*)`", row)}
)
FILES = {"context": "{side}/chat.json", "ingest": "{side}/claude.jsonl", "store": "{side}/items.ndjson"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    seed = furnish(tmp_path_factory.mktemp("seed"))
    (seed.side / "items.ndjson").write_text('{"content": "The harbour closes at nine"}\n')
    return Bench(seed, Path(tmp_path_factory.mktemp("bench")))


@pytest.mark.parametrize("call", CALLS)
def test_a_command_of_the_page_works(call: str, bench: Bench) -> None:
    words = shlex.split(call)
    filled = [
        {"ID": "{gone}" if words[0] == "revive" else "{seat}", "FILE": FILES.get(words[0], ""), "TEXT": "pump"}.get(
            w, w
        )
        for w in words
    ]
    done = bench.fresh().do(*filled)
    needs_a_server = " ".join(words[:2]) in UNAVAILABLE
    assert done.code == (6 if needs_a_server else 0), done.stderr


def test_every_row_says_its_state() -> None:
    rows = [row.split("|")[2].strip() for row in PAGE.split("\n") if re.match(r"\| (?!section|-)", row)]
    assert len(rows) > 60
    assert all(re.match(r"(works|partly|differs|not|background)\b", state) for state in rows)
