"""Files as people and other programs leave them: what makes no sense is told with its line, the rest is done, nothing is lost."""

import errno
import os
from pathlib import Path

import pytest

from commands.desk import Desk, Said

MIND = "Persona Capabilities Beliefs Desires Goals Intentions Plans Commitments Learnings Memory".split()
KINDS = ("belief", "desire", "goal", "intention", "plan", "commitment", "learning")
OVERDUE = "- I-001: Send the offer, status: active [deadline: 2026-02-20] [updated: 2026-02-23]\n"
ADDING = [
    ("belief", "add", "Churn", "3 %"), ("desire", "add", "Calm nights"), ("goal", "add", "Renew"), ("intention", "add", "Send it"),
    ("plan", "add", "Renewal", "--step", "Visit"), ("commitment", "add", "Accounts"), ("learning", "add", "Ask first"),
]  # fmt: skip


def cycle(desk: Desk) -> Said:
    said = desk.run("bdi", "cycle", "--json")
    assert (said.code, "Traceback" in said.stderr) == (0, False), said
    return said


def all_commands(desk: Desk) -> None:
    """Every reading command works, and none changes anything."""
    before = mind(desk)
    for words in (
        ("bdi", "status"),
        ("bdi", "conflicts"),
        ("goal", "tree"),
        *((kind, "list") for kind in KINDS),
    ):
        said = desk.run(*words)
        assert (said.code, "Traceback" in said.stderr) == (0, False), (words, said)
    assert mind(desk) == before


def mind(desk: Desk) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in desk.folder().glob("*.md") if path.is_file()}


# What makes no sense is told with its line


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("Beliefs.md", "# B\n\n## Price\n\nCertainty: 1.7\n\n12 EUR\n", "Beliefs.md:3: certainty '1.7' is outside 0..1"),
        ("Beliefs.md", "# B\n\n## Price\n\nCertainty: firm\n\n12 EUR\n", "Beliefs.md:3: certainty 'firm' is no number"),
        ("Beliefs.md", "# B\n\n## Price\n\nCertainty: .9\n[updated: 2026-02-30]\n", "Beliefs.md:3: '2026-02-30' is no date"),
        (
            "Beliefs.md",
            "# B\n\n| ID | Belief | Certainty |\n|-|-|-|\n| B-1 | x | 0.5 |\n| B-1 | y | 170 % |\n",
            "Beliefs.md:6: certainty '170 %' is outside 0..1",
        ),
        (
            "Beliefs.md",
            "# B\n\n| ID | Belief | Certainty |\n|-|-|-|\n| B-1 | x | 0.5 |\n| B-1 | y | 0.9 |\n",
            "Beliefs.md:6: B-1 is also the id of line 5",
        ),
        ("Desires.md", "# D\n\n## A\n\npriority: urgentish\n", "Desires.md:3: priority 'urgentish' is no number"),
        ("Desires.md", "# D\n\n## A\n\npriority: 1.7\n", "Desires.md:3: priority '1.7' is outside 0..1"),
        (
            "Goals.md",
            "# G\n\n- **G-001** a, status: active\n- **G-001** b, status: active\n",
            "Goals.md:4: G-001 is also the id of line 3",
        ),
        ("Intentions.md", "# I\n\n- a, status: active [deadline: soon]\n", "Intentions.md:3: deadline 'soon' is no date"),
        (
            "Intentions.md",
            "# I\n\n- a, status: active [updated: 31.02.2026]\n",
            "Intentions.md:3: updated '31.02.2026' is no date",
        ),
    ],
)  # fmt: skip
def test_values_that_make_no_sense_are_told_with_their_line(desk: Desk, name: str, text: str, told: str) -> None:
    desk.write(name, text)
    if name != "Intentions.md":
        desk.write("Intentions.md", f"# Intentions\n\n{OVERDUE}")
    said = cycle(desk)
    assert told in said.warnings
    assert said.data["agents"][0]["intentions_pruned"] == (name != "Intentions.md")
    assert (desk.folder() / name).read_text("utf-8") == text
    assert told in desk.run(f"{name[:-4].lower()}", "list", "--json").warnings
    all_commands(desk)


def test_a_bad_value_stops_no_other(desk: Desk) -> None:
    lines = [
        "- a, status: active [deadline: 2026-13-45]",
        OVERDUE.strip(),
        "- b, status: active [deadline: ???]",
    ]
    desk.write("Intentions.md", "# Intentions\n\n" + "\n".join(lines))
    said = cycle(desk)
    assert [each["id"] for each in said.data["agents"][0]["pruned"]] == ["I-001"]
    assert len(said.warnings) == 2
    after = (desk.folder() / "Intentions.md").read_text("utf-8").split("\n")
    assert (after[2], after[4]) == (lines[0], lines[2])


def test_of_two_intentions_with_one_id_the_first_is_meant_and_both_are_pruned(desk: Desk) -> None:
    desk.write("Intentions.md", "# I\n\n" + OVERDUE + OVERDUE.replace("offer", "bill"))
    said = desk.run("intention", "progress", "I-001", "sent", "--json")
    assert said.data["place"] == "Intentions.md:3"
    places = "Intentions.md:3, Intentions.md:5"
    assert said.warnings == [f"2 intentions go by 'I-001'; the first was meant ({places})"]
    row = cycle(desk).data["agents"][0]
    assert [each["title"] for each in row["pruned"]] == ["Send the offer", "Send the bill"]


def test_of_two_beliefs_about_one_subject_the_first_is_revised_and_that_is_said(desk: Desk) -> None:
    desk.write("Beliefs.md", "# B\n\n## Runway\n\nCertainty: 0.9\n\n## Runway\n\nCertainty: 0.8\n")
    said = desk.run("belief", "revise", "runway", "--certainty", "0.2", "--json")
    assert (said.data["line"], len(said.warnings)) == (3, 1)
    assert "2 beliefs go by 'runway'" in said.warnings[0]


# Shapes that are none


BROKEN = {
    "empty": b"",
    "blank": b" \n\n\t\n",
    "no headings": b"We believe that demand grows. Certainty: 0.9\n\nAnd that prices fall.\n",
    "no end": b"# Beliefs\n\n## Price\n\nCertainty: 0.9",
    "only a mark": b"\xef\xbb\xbf",
    "no delimiter": b"# B\n\n| ID | Belief | Certainty |\n| B-1 | x | 0.9 |\n",
    "delimiter only": b"|---|---|\n",
    "header only": b"# B\n\n| ID | Belief |\n|---|---|",
    "ragged": b"# B\n\n| ID | Belief | Certainty |\n|---|---|---|\n| B-1\n| B-2 | x | 0.9 | more | and more |\n||\n| | |\n",
    "open fence": b"# B\n\n```\n## Price\n\nCertainty: 0.9\nstatus: paused [deadline: 2026-01-01]\n",
    "open comment": b"# B\n\n<!--\n## Price\n\nCertainty: 0.9\nstatus: paused [deadline: 2026-01-01]\n",
    "not UTF-8": b"# B\n\n## Caf\xe9\n\nCertainty: 0.9\nstatus: paused\n\nOpens at 6.\n\n- \xff\xfe status: paused\n",
    "zeros": b"# B\n\0\0\0\n## \0\n\nCertainty: 0.9\n",
    "lone returns": b"# B\r\r## Price\r\rCertainty: 0.9\r",
    "control": "# B\n\n## a\x1b[2J\u202eb\u2028c\x85d\n\nCertainty: 0.9\n".encode(),
    "conflict": b"# B\n\n<<<<<<< HEAD\n## A\n\nCertainty: 0.9\n=======\n## B\n>>>>>>> x\n",
    "deep": b"#" * 5000 + b" x\n" + b"- " * 2000 + b"\n" + b"[" * 5000 + b"|" * 5000,
    "headings": b"# \n## \n### \n##\n#\n## ##\nCertainty: 0.9\n",
}


@pytest.mark.parametrize("way", BROKEN)
def test_shapes_that_are_none_are_left_as_they_are(desk: Desk, way: str) -> None:
    for name in MIND:
        (desk.folder() / f"{name}.md").write_bytes(BROKEN[way])
    before = mind(desk)
    row = cycle(desk).data["agents"][0]
    assert (row["chunks_processed"], row["pruned"]) == (1, [])
    assert {name: data for name, data in mind(desk).items() if name in before} == before
    all_commands(desk)
    if way == "not UTF-8":
        assert {f"{kind}.md:3: not valid UTF-8" for kind in MIND[2:6]} <= set(cycle(desk).warnings)


@pytest.mark.parametrize("way", BROKEN)
def test_adding_to_a_broken_file_loses_nothing_of_it(desk: Desk, way: str) -> None:
    for name in MIND:
        (desk.folder() / f"{name}.md").write_bytes(BROKEN[way])
    for words in ADDING:
        said = desk.run(*words, "--json")
        assert said.code == 0, (words, said)
        file = said.data.get("path") or said.data["place"].partition(":")[0]
        left = [line.rstrip(b"\r") for line in (desk.folder() / file).read_bytes().split(b"\n")]
        for line in BROKEN[way].split(b"\n"):
            assert line.rstrip(b"\r") in left or not line.strip(), (words, line)
        assert words[2].encode() in b"\n".join(left)
    all_commands(desk)


# Files that are being saved, not there, or not to be had


def test_a_file_that_an_editor_has_just_emptied_is_waited_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("Intentions.md", "")
    text = f"# Intentions\n\n{OVERDUE}"
    monkeypatch.setattr("time.sleep", lambda _: desk.write("Intentions.md", text))
    assert cycle(desk).data["agents"][0]["intentions_pruned"] == 1
    desk.write("Intentions.md", "")
    assert desk.run("intention", "drop", "I-001").code == 0
    # One that was empty all along keeps nobody waiting.
    (desk.folder() / "Intentions.md").write_bytes(b"")
    os.utime(desk.folder() / "Intentions.md", (0, 0))
    assert cycle(desk).data["agents"][0]["intentions"] == 0


@pytest.mark.parametrize("name", MIND)
def test_a_missing_file_is_an_empty_one(desk: Desk, name: str) -> None:
    desk.write("Intentions.md", f"# Intentions\n\n{OVERDUE}")
    (desk.folder() / f"{name}.md").unlink()
    row = cycle(desk).data["agents"][0]
    assert row["intentions_pruned"] == (name != "Intentions")
    assert not (desk.folder() / f"{name}.md").exists()
    all_commands(desk)
    for words in ADDING:
        assert desk.run(*words).code == 0, words


@pytest.mark.parametrize("name", ["Beliefs", "Desires", "Goals", "Intentions"])
def test_a_folder_in_place_of_a_file_is_an_error_and_nothing_is_written(desk: Desk, name: str) -> None:
    desk.write("Intentions.md", f"# Intentions\n\n{OVERDUE}")
    (desk.folder() / f"{name}.md").unlink()
    (desk.folder() / f"{name}.md").mkdir()
    before = mind(desk)
    for words in (("bdi", "cycle"), (f"{name.lower()[:-1]}", "list"), (f"{name.lower()[:-1]}", "add", "x")):
        said = desk.run(*words)
        assert (said.code, f"{name}.md" in said.stderr, "Traceback" in said.stderr) == (4, True, False)
    # What links to it is looked up before anything is written, not behind.
    if name == "Goals":
        assert desk.run("intention", "add", "x", "--goal", "G-1").code == 4
        assert desk.run("belief", "add", "x", "--supports", "G-1").code == 4
    assert mind(desk) == before


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_folder_that_cannot_be_written(desk: Desk, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    desk.write("Intentions.md", f"# Intentions\n\n{OVERDUE}")
    before = mind(desk)
    real = os.open

    def refuse(path: str, flags: int, *args: int, **kwargs: int) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(number, os.strerror(number))
        return real(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)
    for words in (("bdi", "cycle"), ("intention", "progress", "I-001", "x", "--deadline", "7d"), *ADDING):
        said = desk.run(*words)
        assert (said.code, "Traceback" in said.stderr) == (4, False), words
        assert os.strerror(number) in said.stderr
    assert mind(desk) == before
    all_commands(desk)
    assert desk.run("bdi", "cycle", "--dry-run", "--json").data["agents"][0]["intentions_pruned"] == 1


@pytest.mark.parametrize("words", [ADDING[0], ADDING[1], ADDING[2]])
def test_a_derived_file_that_cannot_be_written_is_a_warning(desk: Desk, words: tuple[str, ...]) -> None:
    """The edit itself is done: an error would make an agent do it again."""
    path: Path = desk.folder() / "memory"
    path.mkdir(exist_ok=True)
    (path / "mabos-beliefs.md").mkdir()
    said = desk.run(*words, "--json")
    assert (said.code, ["derived files are behind" in warning for warning in said.warnings]) == (0, [True])
    assert len(desk.run(words[0], "list", "--json").data[f"{words[0]}s"]) == 1
    assert [warning for warning in cycle(desk).warnings if "derived files are behind" in warning]


def test_a_chunk_of_nothing(desk: Desk) -> None:
    desk.write("Beliefs.md", "# B\n\n## Price\n\nCertainty: 0.9\n\n12 EUR\n")
    desk.settle("bdi.chunk: 0\n")
    assert desk.run("bdi", "cycle").code in (0, 4)
