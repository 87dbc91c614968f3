"""What a terminal gets and a pipe does not: short ids, ages, a pager, colours; and what neither may do."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from commands.desk import Desk, note
from forked import run
from screens import Seen, at_terminal

from mabos_cli.terminal import progress
from mabos_cli.terminal.screen import STYLES
from mabos_cli.workspace import ids

NOW = "2026-02-25T14:30:00Z"
HOSTILE = "[bold]x[/bold] [/red] \x1b[31mred \x1b]52;c;aGk=\x07 \u202edrowssap\u202c [link=http://x]y[/link] list[int]"


@pytest.fixture
def desk(quick: Path, still_world: None) -> Desk:
    """A workspace of three memories, of which two end alike."""
    desk = Desk(quick / "ws")
    texts = {"M-1771945200000-0002": "We bill per seat", "M-1771945200001-0002": "We bill in euro"}
    desk.put([note(0, text)._replace(id=name) for name, text in texts.items()])
    return desk


def look(desk: Desk, *words: str, size: tuple[int, int] = (80, 400), **environment: str) -> Seen:
    world = {"MABOS_NOW": NOW, "HOME": str(desk.root.parent), "MABOS_PAGER": "cat", "MABOS_INDEX_VECTORS": "lexical"}
    return at_terminal(words, desk.root, world | environment, size)


def test_an_id_is_short_where_that_is_enough_and_what_is_shown_can_be_given(desk: Desk) -> None:
    shown = look(desk, "recall", "bill").text
    ends = re.findall(r"^(\S+-0002)  ", shown, re.MULTILINE)
    assert sorted(ends) == ["0-0002", "1-0002"]
    for end, text in zip(sorted(ends), ("per seat", "in euro"), strict=True):
        assert f"We bill {text}" in look(desk, "get", end).text


@pytest.mark.parametrize("words", [("get",), ("forget",), ("reinforce",), ("trust",), ("update",), ("timeline",)])
def test_the_end_of_several_ids_is_an_error_that_lists_them(desk: Desk, words: tuple[str, ...]) -> None:
    done = run("-w", str(desk.root), *words, "0002", MABOS_NOW=NOW)
    assert done.code == 2 and "2 ids end with 0002" in done.stderr
    assert "M-1771945200000-0002, M-1771945200001-0002" in done.stderr


def test_ends_of_all_kinds_of_ids(desk: Desk) -> None:
    def do(*words: str) -> dict:
        done = run("-w", str(desk.root), *words, "--json", MABOS_NOW=NOW)
        assert done.code == 0, (words, done.stderr)
        return json.loads(done.stdout)["data"]

    fact = do("fact", "assert", "Ada", "worksFor", "Acme")["fact"]["id"]
    assert do("get", f"F-{fact[-4:]}")["fact"]["id"] == fact
    assert do("fact", "explain", fact[-4:])["tree"]
    do("goal", "add", "Ship it")
    assert do("goal", "close", "001")["id"] == "G-001"
    do("rule", "create", "if ?x worksFor ?y then ?y employs ?x")
    assert do("rule", "toggle", "1")["id"] == "R-001"
    seen = do("capture", "The pump hums")["id"]
    assert do("get", f"O-{seen[-4:]}")["observation"]["id"] == seen
    kept = do("store", "Pumps hum", "--related-to", "1-0002")
    assert "M-1771945200001-0002" in kept["related_to"]
    assert do("timeline", "1-0002")["focus"] == "M-1771945200001-0002"


def test_a_whole_id_reads_no_files() -> None:
    def fail() -> None:
        raise AssertionError("looked for the agent")

    for name in ("M-1771945200000-0002", "F-inf-b930b05b9c7c8ef5", "G-004", "G-004-kmp", "Ship it", "seat!"):
        assert ids.complete_id(fail, name, ids.LONG) == name  # type: ignore[arg-type]


def test_content_controls_nothing(desk: Desk) -> None:
    desk.put([note(0, HOSTILE)._replace(id="M-1771945200000-00aa")])
    for words in (
        ("recall", "drowssap"),
        ("get", "00aa", "--tree"),
        ("timeline",),
        ("reinforce", "00aa"),
    ):
        seen = look(desk, *words)
        assert seen.code == 0, seen.text
        codes = re.sub(r"\x1b\[[\d;]*m|\r\n", "", seen.written)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", codes), repr(codes)
    assert "[bold]x[/bold] [/red] ␛[31mred" in look(desk, "recall", "drowssap").text


def test_no_colour_and_no_terminal(desk: Desk) -> None:
    assert "\x1b[38" in look(desk, "status").written
    assert "38;5" not in look(desk, "status", NO_COLOR="1").written
    piped = run("-w", str(desk.root), "status", MABOS_NOW=NOW, MABOS_INDEX_VECTORS="lexical").stdout
    assert look(desk, "status", TERM="dumb").written.replace("\r\n", "\n") == piped
    data = look(desk, "status", "--json").written
    assert json.loads(data)["schema"] == "mabos.status.v1"


def test_a_pager_gets_what_is_longer_than_the_screen(desk: Desk) -> None:
    pager = "sed s/^/paged:/"
    assert look(desk, "config", size=(80, 24), MABOS_PAGER=pager).text.startswith("paged:")
    for words, changes in [(("status",), {}), (("config", "--no-pager"), {}), (("config",), {"MABOS_PAGER": ""})]:
        assert "paged:" not in look(desk, *words, size=(80, 24), **({"MABOS_PAGER": pager} | changes)).text
    assert look(desk, "config", size=(80, 24), MABOS_PAGER="no-such-pager").text.startswith("setting")
    assert look(desk, "config", size=(80, 24), MABOS_PAGER="true").code == 0  # it reads nothing


def write_batch(desk: Desk, count: int) -> Path:
    path = desk.root / "batch.ndjson"
    rows = ({"content": f"Note {n} tells of pump {n}", "type": "event", "store": "long_term"} for n in range(count))
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def test_progress_shows_itself_and_leaves_nothing(desk: Desk) -> None:
    batch = write_batch(desk, 300)

    def hurry() -> None:
        progress._AFTER = progress._EVERY = 0

    seen = at_terminal(
        ("store", "--batch", str(batch)), desk.root, {"MABOS_NOW": NOW, "HOME": str(desk.root)}, before=hurry
    )
    assert re.search(r"storing ━+─* \d+ of 300, [\d,]+/s, \ds left", seen.written), seen.written[-2000:]
    assert "\r\x1b[K" in seen.written and seen.text.strip() == "stored 300 items", seen.text
    assert "of 300" not in run("-w", str(desk.root), "store", "--batch", str(batch), MABOS_NOW=NOW).stderr


@pytest.mark.parametrize("wait", [0.0, 0.004, 0.02, 0.05, 0.1, 0.2, 0.4])
def test_an_interrupt_ends_it_whole_and_quietly(desk: Desk, wait: float) -> None:
    batch = write_batch(desk, 400)
    seen = at_terminal(
        ("store", "--batch", str(batch)), desk.root, {"MABOS_NOW": NOW, "HOME": str(desk.root)}, interrupt=wait
    )
    assert seen.code in (0, 130) and "Traceback" not in seen.written, seen.written
    held = json.loads(run("-w", str(desk.root), "status", "--json", MABOS_NOW=NOW).stdout)["data"]["stores"]
    assert held["long_term"] - 2 in ({400} if seen.code == 0 else {0, 400})


@pytest.mark.parametrize(
    ("program", "code"), [("/usr/bin/mabos", 130), ("-m", 130), ("/usr/bin/other", -signal.SIGINT)]
)
def test_an_interrupt_while_the_program_loads_ends_it_without_a_traceback(program: str, code: int) -> None:
    line = f"import sys; sys.argv[0] = {program!r}; import mabos_cli; raise KeyboardInterrupt"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, check=False)
    assert done.returncode == code and (b"Traceback" in done.stderr) == (code != 130), done.stderr


def test_colours_stand_out_from_white_and_from_black() -> None:
    for name, style in STYLES.items():
        if match := re.fullmatch(r"color\((\d+)\)", style):
            number = int(match[1])
            light = _luminance(number)
            assert 1.05 / (light + 0.05) >= 3.8 and (light + 0.05) / 0.05 >= 3.8, name


def _luminance(number: int) -> float:
    """The luminance of one of the 256 colours, as WCAG has it."""
    if number >= 232:
        parts = [8 + 10 * (number - 232)] * 3
    else:
        parts = [(0, 95, 135, 175, 215, 255)[(number - 16) // by % 6] for by in (36, 6, 1)]
    linear = [((part / 255 + 0.055) / 1.055) ** 2.4 if part > 10 else part / 3295 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_progress_of_a_part_says_what_it_is_a_part_of(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(progress, "_put", lines.append)
    monkeypatch.setattr(progress, "wipe", lambda: lines.append(""))
    monkeypatch.setattr(progress, "_AFTER", 0)
    monkeypatch.setattr(progress, "_EVERY", 0)
    harvest = progress.progress("harvesting")
    harvest(500, 1000)
    storing = progress.progress("storing")
    storing(3, 4)
    storing(4, 4)
    harvest(1000, 1000)
    progress.progress("indexing")(1, 2)
    assert lines[0].startswith("harvesting ━") and lines[1].startswith("harvesting 500 of 1,000: storing ━")
    assert lines[2] == "" and lines[3].startswith("indexing ━")
