"""Files that a newer version of mabos wrote: read as far as this one can, never written over, and named.

FULL=1 tries every command beside every such file; otherwise a part is drawn, the same at every run.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import quick_folder
from every_command import Bench, Place, furnish
from test_damaged_files import BESIDE, FULL

STEP = 19
FILES = (
    *("ontologies/saas.jsonld", "ontologies/proposals/shop-proposals.json"),
    *(
        f"agents/main/{name}"
        for name in (
            *("agent.json", "memory-store.json", "facts.json", "facts-derived.json", "rules.json", "cases.json"),
            *("archive/2026-02.jsonl", "observations/2026-02-24.jsonl", "observations/harvested/2026-02-24.jsonl"),
            *("observations/transcripts.jsonl", "trust.jsonl", "reasoning.jsonl"),
            *("memory/archive/consolidated.jsonl", "memory/archive/migrated.jsonl"),
        )
    ),
)
READING = (
    "status",
    "agent list",
    "recall",
    "get",
    "fact query",
    "rule list",
    "case list",
    "ontology list",
    "bdi status",
)


def make_newer(path: Path) -> None:
    """Says in a file that it is of format 2, and adds what this version does not know."""
    data = path.read_bytes()
    if path.suffix == ".jsonl":
        path.write_bytes(b'{"format": 2}\n' + data)
        return
    held = json.loads(data)
    held = {"cases": held} if isinstance(held, list) else held
    path.write_text(json.dumps({"format": 2, **held, "novelty": {"of": ["the future"]}}, indent=2) + "\n")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with quick_folder() as found:
        yield found


@pytest.fixture(scope="module")
def seed(folder: Path) -> Place:
    return furnish(folder / "seed")


@pytest.mark.parametrize("file", FILES)
def test_no_command_writes_over_a_newer_file(folder: Path, seed: Place, file: str) -> None:
    bench = Bench(seed, folder / "newer", lambda place: make_newer(place.root / file))
    calls = (
        BESIDE if FULL else {*BESIDE[7 * FILES.index(file) % STEP :: STEP], *READING, "doctor repair", "consolidate"}
    )
    wrong = []
    for call in sorted(calls):
        place = bench.fresh()
        before = (place.root / file).read_bytes()
        done = place.call(call)
        after = (place.root / file).read_bytes()
        if done.code not in (0, 3, 4, 6) or "Traceback" in done.stderr:
            wrong.append(f"{call}: exit {done.code}: {done.stderr}")
        if after != before:
            wrong.append(f"{call}: the file was changed")
        if call in READING and done.code:
            wrong.append(f"{call}: exit {done.code}: {done.stderr}")
        if done.code == 4 and "format 2" not in done.stderr:
            wrong.append(f"{call}: does not say why: {done.stderr}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("file", FILES)
def test_a_newer_file_is_named(folder: Path, seed: Place, file: str) -> None:
    place = Bench(seed, folder / "named", lambda place: make_newer(place.root / file)).fresh()
    name = file.removeprefix("agents/main/")
    found = json.loads(place.do("doctor", "--json").stdout)["data"]["findings"]
    assert name in [row["place"] for row in found if "is of format 2; this mabos knows format 1" in row["message"]]
    if file in ("agents/main/memory-store.json", "agents/main/facts.json", "agents/main/trust.jsonl"):
        (warning,) = [line for line in json.loads(place.do("status", "--json").stdout)["warnings"] if "format" in line]
        assert warning.startswith(f"{file} is of format 2")


def test_a_refused_write_leaves_everything_as_it_was(folder: Path, seed: Place) -> None:
    bench = Bench(seed, folder / "whole", lambda place: make_newer(place.root / "agents/main/memory-store.json"))
    place = bench.fresh()
    archive = place.root / "agents/main/archive/2026-02.jsonl"
    before = archive.read_bytes()
    done = place.do("forget", "{ada}", "--reason", "left")
    assert done.code == 4 and "update mabos" in done.stderr
    assert archive.read_bytes() == before
    assert place.do("get", "{ada}").code == 0
    assert place.do("store", "The other agent goes on", "-a", "other").code == 0


def test_a_merge_with_a_newer_side_is_left_to_a_person(folder: Path, seed: Place) -> None:
    place = Bench(seed, folder / "merge", lambda place: make_newer(place.side / "theirs.json")).fresh()
    before = (place.side / "ours.json").read_bytes()
    done = place.call("git merge")
    assert done.code == 4 and "format 2" in done.stderr
    assert (place.side / "ours.json").read_bytes() == before


def test_files_of_this_version_name_no_format(seed: Place) -> None:
    """A number that says nothing would change every file once."""
    for file in FILES:
        assert not (seed.root / file).read_bytes()[:40].lstrip().startswith(b'{"format"'), file
