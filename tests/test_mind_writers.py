"""The mind under many hands: several processes, and kills; nothing that was acknowledged is lost."""

import re
import shutil
import threading
from pathlib import Path

import pytest
from forked import Fault, places, run, tree

BUSINESS = Path(__file__).parent.parent / "fixtures" / "business"
NOW = {"MABOS_NOW": "2026-02-24T12:00:00Z"}
ENDED = re.compile(rb"(?:expired|stalled) \(2026-02-24: [^()]*\)")
STORE = "\n## Session store\n\nCertainty: {}\n\nSessions are stored in {}.\n"


@pytest.fixture
def root(quick: Path) -> Path:
    """A workspace with agent ceo, who also is of two minds about a database."""
    shutil.copytree(BUSINESS / "agents/ceo", quick / "ws/agents/ceo")
    beliefs = quick / "ws/agents/ceo/Beliefs.md"
    more = STORE.format(0.9, "Redis") + STORE.format(0.8, "PostgreSQL")
    beliefs.write_text(beliefs.read_text("utf-8") + more, "utf-8")
    return quick / "ws"


def text_of(root: Path, name: str) -> str:
    return (root / "agents/ceo" / name).read_text("utf-8")


def test_writers_beside_cycles_lose_nothing(root: Path) -> None:
    problems: list[str] = []
    stop = threading.Event()

    def call(*words: str) -> None:
        done = run(*words, "-a", "ceo", "-w", str(root), **NOW)
        if done.code or "Traceback" in done.stderr:
            problems.append(f"{words}: {done.code} {done.stderr}")

    def writer(number: int) -> None:
        for n in range(4):
            call("belief", "add", f"B{number}N{n}", "so it is")
            call("intention", "progress", "I-CEO-001", f"P{number}N{n}")
            call("plan", "step", "PL-CEO-02", f"S{number}N{n}")

    def maintain() -> None:
        while not stop.is_set():
            call("bdi", "cycle")

    side = [threading.Thread(target=maintain)]
    writers = [threading.Thread(target=writer, args=(number,)) for number in range(3)]
    for thread in side + writers:
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    for thread in side:
        thread.join()
    assert not problems, "\n".join(problems)
    names = [f"{w}N{n}" for w in range(3) for n in range(4)]
    assert sorted(re.findall(r"(?m)^\| BE-\d+ \| B(\dN\d) ", text_of(root, "Beliefs.md"))) == names
    assert sorted(re.findall(r"(?m)2026-02-24: P(\dN\d)$", text_of(root, "Intentions.md"))) == names
    assert sorted(re.findall(r"(?m)^\d+\. S(\dN\d)$", text_of(root, "Plans.md"))) == names
    ids = re.findall(r"(?m)^\| (BE-\d+) ", text_of(root, "Beliefs.md"))
    assert len(ids) == len(set(ids))
    call("bdi", "cycle")
    before = tree(root)
    call("bdi", "cycle")
    assert tree(root) == before and not problems


COMMANDS = {
    "cycle": ("bdi", "cycle"),
    "belief": ("belief", "add", "The new one", "so it is"),
    "progress": ("intention", "progress", "I-CEO-001", "The new one"),
    "step": ("plan", "step", "PL-CEO-02", "The new one"),
    "resolve": ("bdi", "resolve", "d6754c53", "--keep", "b", "--reason", "The new one"),
}
FAULTS = ("kill", "ENOSPC", "powerloss", "EIO", "EROFS")


@pytest.mark.parametrize("command", COMMANDS)
def test_cut_off_anywhere_the_next_cycle_finishes_the_work(root: Path, command: str) -> None:
    words = (*COMMANDS[command], "-a", "ceo", "-w", str(root))
    shutil.copytree(root, root.parent / "seed")
    clean = run(*words, **NOW)
    assert clean.code == 0, clean.stderr
    first = 1 + [*COMMANDS].index(command) % 4  # the commands take different ones
    for turn, at in enumerate(places(clean.calls, 4, first)):
        fault = FAULTS[turn % len(FAULTS)]
        shutil.rmtree(root)
        shutil.copytree(root.parent / "seed", root)
        outcome = run(*words, fault=Fault(fault, at), **NOW)
        try:
            _check_whole(root, outcome.code == 0 and command != "cycle")
        except AssertionError as error:
            where = f"{fault} at change {at} of {clean.calls} (exit {outcome.code}, {outcome.stderr})"
            raise AssertionError(f"{where}: {error}") from error
        assert "Traceback" not in outcome.stderr


def _check_whole(root: Path, acknowledged: bool) -> None:
    after = run("bdi", "cycle", "-a", "ceo", "-w", str(root), **NOW)
    assert after.code == 0, after.stderr
    files = tree(root)
    seed = tree(root.parent / "seed")
    told = ENDED.sub(b"active", files["agents/ceo/Intentions.md"])
    assert len(ENDED.findall(files["agents/ceo/Intentions.md"])) == 2
    for name, data in seed.items():
        now = told if name.endswith("Intentions.md") else files[name]
        lost = [line for line in data.split(b"\n") if line not in now.split(b"\n")]
        # What a new date, or a conflict that is settled, takes the place of.
        counted = [b"Last updated: 2026-02-20T16:05:11.000Z", b"Revision count: 7"]
        assert lost in ([], counted) or b"[updated: 2026-02-20]" in lost[0], lost
    assert (b"The new one" in b"".join(files.values())) >= acknowledged
