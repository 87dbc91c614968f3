"""Facts on pages: the same answers as in one file, one page for a change, and what doctor, review and git make of them."""

import json
import random
import re
from pathlib import Path

import pytest

from commands.desk import Desk
from mabos_cli.formats.knowledge.fact_text import page_of
from mabos_cli.formats.knowledge.facts import parse_facts
from mabos_cli.formats.operations.git_merge import kind_of, merge_file
from mabos_cli.workspace.knowledge.facts import load_facts

PAGED = "facts:\n  split_above: 3\n  materialize_split_above: 4\n"
RULES = ("if ?x partOf ?y then ?x within ?y", "if ?x partOf ?y and ?y within ?z then ?x within ?z")


def do(desk: Desk, *words: str, **more) -> dict:
    return desk.run(*words, "--json", **more).data


def pages(desk: Desk, folder: str = "facts") -> dict[str, list[dict]]:
    found = {path.stem: json.loads(path.read_bytes())["facts"] for path in (desk.folder() / folder).glob("*.json")}
    return {name: facts for name, facts in found.items() if facts}


def settled(desk: Desk, text: str) -> None:
    (desk.root / "mabos.yaml").write_text(text)


def test_a_walk_answers_as_in_one_file(desk: Desk):
    for rule in RULES:
        do(desk, "rule", "create", rule)
    told = []
    for text in ("", PAGED):
        settled(desk, text)
        draw, said = random.Random(5), []
        for path in (desk.folder() / "facts.json", desk.folder() / "facts-derived.json"):
            path.unlink(missing_ok=True)
        for step in range(40):
            one, two = f"t{draw.randrange(6)}", f"t{draw.randrange(6)}"
            act = draw.randrange(8)
            if act < 5:
                said.append(
                    do(desk, "fact", "assert", one, "partOf", two, "--confidence", f"0.{draw.randint(1, 9)}")["state"]
                )
            elif act == 5:
                answer = desk.run("fact", "retract", "--subject", one, *(["--cascade"] if step % 2 else []), "--json")
                said.append(answer.code)
            else:
                found = do(desk, "infer", "forward", "--persist")
                said.append([found[name] for name in ("derived", "added", "changed", "removed")])
            said.append(
                [
                    [r[n] for n in ("subject", "predicate", "object", "confidence")]
                    for r in do(desk, "fact", "query", one)["facts"]
                ]
            )
        said.append(do(desk, "fact", "query", "*", "within", "*")["facts"] and "some")
        said.append(len(do(desk, "fact", "query")["facts"]))
        told.append(said)
        assert desk.run("doctor", "--check").code == 0, desk.run("doctor").stdout
        markdown = "".join(path.read_text() for path in (desk.folder() / "memory").glob("mabos-facts/*.md"))
        if text:
            assert pages(desk) and pages(desk, "facts-derived")
            assert all(page_of(fact["subject"]) == name for name, held in pages(desk).items() for fact in held)
            assert all(fact["id"] in markdown for held in pages(desk).values() for fact in held)
    assert told[0] == told[1]


def filled(desk: Desk, count: int = 12) -> Desk:
    settled(desk, PAGED)
    rows = "".join(f'{{"subject": "s{n}", "predicate": "p", "object": "o{n}"}}\n' for n in range(count))
    assert do(desk, "fact", "import", "-", stdin=rows.encode())["added"] == count
    return desk


def test_an_old_file_is_split_by_the_next_write_and_a_change_touches_one_page(desk: Desk):
    for n in range(3):
        do(desk, "fact", "assert", f"s{n}", "p", "o")
    settled(desk, PAGED)
    assert not pages(desk) and len(do(desk, "fact", "query")["facts"]) == 3
    do(desk, "fact", "assert", "s3", "p", "o")
    head = json.loads((desk.folder() / "facts.json").read_bytes())
    assert head["facts"] == "on pages" and sum(head["pages"].values()) == 4 == sum(map(len, pages(desk).values()))
    stamps = {path: path.stat().st_mtime_ns for path in (desk.folder() / "facts").iterdir()}
    do(desk, "fact", "assert", "s3", "q", "o")
    changed = [path.stem for path in (desk.folder() / "facts").iterdir() if stamps.get(path) != path.stat().st_mtime_ns]
    assert changed == [page_of("s3")]
    assert "s3 p o" in desk.run("fact", "explain", head["last_id"]).stdout


def test_a_page_that_is_missing_is_an_error_and_what_a_killed_split_left_is_none(desk: Desk):
    folder = desk.folder() / "facts"
    folder.mkdir()
    (folder / f"{page_of('s1')}.json").write_text(
        '{"facts": [{"id": "F-9", "subject": "s1", "predicate": "x", "object": "y"}]}'
    )
    filled(desk)
    assert len(do(desk, "fact", "query", "s1")["facts"]) == 1
    (folder / f"{page_of('s1')}.json").unlink()
    answer = desk.run("fact", "query", "s1")
    assert answer.code == 4 and "is missing" in answer.stderr


def test_doctor_counts_and_files_what_lies_elsewhere(desk: Desk):
    filled(desk)
    head, folder = desk.folder() / "facts.json", desk.folder() / "facts"
    page = folder / f"{page_of('s1')}.json"
    page.write_bytes(page.read_bytes().replace(b'"subject": "s1"', b'"subject": "moved"'))
    found = json.loads(head.read_bytes())
    found["facts"] = [{"id": "F-7", "subject": "stray", "predicate": "p", "object": "o"}]
    head.write_text(json.dumps(found))
    assert [do(desk, "fact", "query", name)["facts"] != [] for name in ("stray", "moved")] == [True, False]
    told = desk.run("doctor", "--check")
    assert told.code == 7 and "of other pages" in told.stdout and "belong on pages" in told.stdout
    assert desk.run("doctor", "--repair").code == 0
    assert desk.run("doctor", "--check").code == 0, desk.run("doctor").stdout
    assert [len(do(desk, "fact", "query", name)["facts"]) for name in ("stray", "moved", "s1")] == [1, 1, 0]
    assert len(load_facts(desk.home()).asserted) == 13


def versions(desk: Desk, monkeypatch, *changes: tuple[str, str]) -> list[dict[str, bytes]]:
    """The files of facts after each of some calls, each from the same start."""
    paths = [desk.folder() / "facts.json", *sorted((desk.folder() / "facts").glob("*.json"))]
    start = {path: path.read_bytes() for path in paths}
    found = []
    for hour, (text, words) in enumerate((("", ""), *changes), 16):
        settled(desk, text)
        monkeypatch.setenv("MABOS_NOW", f"2026-02-24T{hour}:00:00Z")
        for path in (desk.folder() / "facts").glob("*.json"):
            path.unlink()
        for path, data in start.items():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
        for each in filter(None, words.split("; ")):
            assert desk.run(*each.split(" ")).code == 0
        now = [desk.folder() / "facts.json", *(desk.folder() / "facts").glob("*.json")]
        found.append({path.relative_to(desk.folder()).as_posix(): path.read_bytes() for path in now if path.exists()})
    return found


@pytest.mark.parametrize("is_split", [True, False])
def test_git_merges_pages_and_a_side_that_split(desk: Desk, monkeypatch, is_split: bool):
    if is_split:
        filled(desk, 6)
    else:
        for n in range(3):
            do(desk, "fact", "assert", f"s{n}", "p", f"o{n}")
    calls = ("fact assert s0 q ours; fact assert s9 q ours", "fact assert s0 q theirs; fact retract --subject s1")
    sides = [(PAGED, calls[0]), (PAGED if is_split else "", calls[1])]
    base, ours, theirs = versions(desk, monkeypatch, *sides)
    assert (len(base) > 1, len(ours) > 1, len(theirs) > 1) == (is_split, True, is_split)
    for name in {*base, *ours, *theirs}:
        sides = tuple(side.get(name, b"") for side in (base, ours, theirs))
        path = f"agents/main/{name}"
        assert kind_of(path) == ("fact page" if "/" in name else "facts")
        if not all(sides[1:]) or len({*sides}) == 1:
            merged = sides[1] or sides[2]
        else:
            merged = merge_file(kind_of(path), path, sides).data
            mirrored = merge_file(kind_of(path), path, (sides[0], sides[2], sides[1])).data
            assert parse_facts(merged, path).ids() == parse_facts(mirrored, path).ids()
        (desk.folder() / name).write_bytes(merged)
    settled(desk, PAGED)
    do(desk, "fact", "assert", "last", "p", "o")
    desk.run("doctor", "--repair")
    triples = {tuple(fact.triple) for fact in load_facts(desk.home()).asserted.facts()}
    expected = {("s0", "q", "ours"), ("s0", "q", "theirs"), ("s9", "q", "ours"), ("s0", "p", "o0"), ("last", "p", "o")}
    assert expected <= triples and (("s1", "p", "o1") in triples) == (not is_split)
    assert desk.run("doctor", "--check").code == 0, desk.run("doctor").stdout


def test_pages_that_say_something_else_are_refused(desk: Desk):
    path: Path = desk.folder() / "facts.json"
    path.write_text('{"facts": [], "pages": {"../x": 1}}')
    assert desk.run("fact", "query").code == 4
    assert re.search("pages must say", desk.run("fact", "query").stderr)
