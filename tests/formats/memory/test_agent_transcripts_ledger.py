"""The ledger of transcripts: marks are found by name, newest first, and whatever is no mark is passed over."""

from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.formats.memory.agent_transcripts import Asked, Mark, Place, Scope, find_marks, render_mark

MARK = Mark(
    "a.jsonl",
    "codex",
    Place(120, 7),
    3,
    "s1",
    Scope(("user",), False, "2026-02-01T00:00:00.000Z"),
    (("0f", Asked("Bash", "ls", ("password",))),),
    ("2026-02-24.jsonl", Place(90, 8)),
)


def test_a_mark_comes_back_as_it_was() -> None:
    assert list(find_marks(render_mark(MARK), "a.jsonl")) == [MARK]
    assert render_mark(Mark("a", "claude", Place(1, 2))) == (
        b'{"file": "a", "host": "claude", "size": 1, "crc": 2, "line": 0}\n'
    )


def test_newest_first_and_by_name() -> None:
    marks = [MARK._replace(file=name, line=line) for line, name in enumerate(("a", "b", "a", 'a"b', "ab"))]
    data = b"".join(map(render_mark, marks))
    assert [mark.line for mark in find_marks(data, "a")] == [2, 0]
    assert [mark.line for mark in find_marks(data, 'a"b')] == [3]
    assert list(find_marks(data, "c")) == []


def test_what_is_no_mark_is_passed_over() -> None:
    good = render_mark(MARK)
    odd = [good[:-20] + b"\n", good.replace(b'"codex"', b'"nobody"'), good.replace(b"120", b'"x"'), b"\0\0\n"]
    odd += [
        b'["file": "a.jsonl"]\n',
        b'"\\"file\\": \\"a.jsonl\\""\n',
        good.replace(b'"calls": [[', b'"calls": [[1,'),
    ]
    data = b"".join(line for part in odd for line in (part, good))
    assert list(find_marks(data, "a.jsonl")) == [MARK] * len(odd)


@given(st.text(min_size=1, max_size=30), st.text(min_size=1, max_size=30))
@settings(deadline=None)
def test_any_name_finds_its_own_marks_only(one: str, other: str) -> None:
    data = render_mark(MARK._replace(file=one)) + render_mark(MARK._replace(file=other))
    assert {mark.file for mark in find_marks(data, one)} == {one}
