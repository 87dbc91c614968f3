"""The promises of the README at full size: one line of figures for each, and an exit of 1 when one was broken.

    python benchmarks/promises.py [writers] [kills] [contents] [damage] [full] [sealed] [foreign] [--small]

writers   8 processes at a time store 250 memories each, 5 % of them killed at any moment, while consolidate, lifecycle, index sync
          and hierarchy build run beside them, somebody reads, and a person edits MEMORY.md
kills     a kill at every change that 27 writing commands make to the disk, and at every third in turn a power cut, a full disk,
          an error of the disk and a read-only disk
contents  5,000 texts of odd characters by argument or standard input, and back
damage    twelve kinds of damage to every kind of file, beside all commands (the tests with FULL=1)
full      the same writing commands on a disk with 0, 4, 16, 64 and 256 KiB left (needs root)
sealed    all commands on a read-only disk (needs root)
foreign   all commands by somebody who owns nothing here (needs root)
--small   a tenth of everything, to see whether it runs

COMMANDS=store,update limits the kills to some commands.
"""

import argparse
import codecs
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1] / "tests"
sys.path.insert(0, str(TESTS))
from every_command import CALLS, NOW, Bench, Place, furnish  # noqa: E402
from faults import Fault  # noqa: E402
from forked import run, run_here, tree  # noqa: E402
from test_damaged_files import BESIDE, FILES, KINDS  # noqa: E402

MABOS = Path(sys.executable).with_name("mabos")
NOBODY = 65534
WRITING = (
    *("store", "store long", "store deferred", "update", "forget", "revive", "reinforce", "trust", "consolidate"),
    *("lifecycle run", "capture", "harvest", "migrate", "log consolidate", "log archive", "hierarchy build"),
    *("checkpoint", "belief add", "goal update", "bdi cycle", "fact assert", "fact retract", "rule create"),
    *("infer forward", "case store", "ontology merge", "materialize"),
)  # fmt: skip
OTHERS = ("powerloss", "ENOSPC", "EIO", "EROFS")


class Broken(Exception):
    """A promise was not kept."""


def demand(kept: Any, about: str) -> None:
    if not kept:
        raise Broken(about)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder in memory, or else on the disk; /dev/shm makes kills comparable from machine to machine."""
    memory = Path("/dev/shm")
    made = Path(tempfile.mkdtemp(prefix="mabos-promises-", dir=memory if os.access(memory, os.W_OK) else None))
    os.chmod(made, 0o755)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


# Many writers, kills, maintenance, a reader and a person


class Crowd:
    """Many processes on one workspace, and what each was told."""

    def __init__(self, root: Path, writers: int, each: int) -> None:
        self.root, self.writers, self.each = root, writers, each
        self.environment = {**os.environ, "MABOS_WORKSPACE": str(root), "MABOS_INDEX_VECTORS": "lexical"}
        self.environment |= {"MABOS_LOCK_TIMEOUT": "60", "MABOS_INDEX_WAIT": "60"}
        self.known: set[str] = set()
        self.typed: list[str] = []
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.times = [0.3]
        self.stop = threading.Event()

    def start(self, *words: str) -> subprocess.Popen:
        return subprocess.Popen(
            [MABOS, *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def end(self, process: subprocess.Popen, words: tuple[str, ...]) -> str:
        """What a process printed that nobody killed; anything but exit 0 is wrong."""
        out, err = process.communicate(timeout=120)
        if process.returncode or "Traceback" in err:
            self.wrong.append(f"{' '.join(words)}: exit {process.returncode} {err[-500:]}")
        return out

    def write(self, number: int) -> None:
        chance = random.Random(number)
        for n in range(self.each):
            words = ("store", f"W{number}N{n}", "--tag", f"t{number % 3}", "-i", "0.9")
            began, process = time.monotonic(), self.start(*words)
            if chance.random() < 0.05:
                time.sleep(chance.uniform(0, 1.2) * self.times[len(self.times) // 2])
                process.send_signal(signal.SIGKILL)
                process.communicate()
                self.counts["killed" if process.returncode else "too late to kill"] += 1
            else:
                self.end(process, words)
                self.times.append(time.monotonic() - began)
            if process.returncode == 0:
                self.known.add(words[1])

    def maintain(self) -> None:
        while not self.stop.is_set():
            for words in (
                ("consolidate",),
                ("lifecycle", "run", "--yes"),
                ("index", "sync"),
                ("hierarchy", "build"),
            ):
                self.end(self.start(*words), words)
            self.counts["rounds of maintenance"] += 1

    def contents(self) -> list[str]:
        words = ("recall", "--limit", "0", "--archived", "--json")
        found = json.loads(self.end(self.start(*words), words))["data"]
        if found.get("stale"):
            self.counts["reads that said they are stale"] += 1
            return []
        return [row["content"] for row in found["results"] if row["source"] != "consolidation"]

    def read(self) -> None:
        while not self.stop.is_set():
            before = {*self.known}
            found = {*self.contents()}
            self.counts["reads"] += 1
            if found and before - found:
                self.wrong.append(f"a read missed {sorted(before - found)[:5]}")

    def type(self) -> None:
        """Reads, thinks, and saves over the file if nobody changed it meanwhile, as an editor does."""
        path = self.root / "agents/main/MEMORY.md"
        while not self.stop.is_set():
            before, text = path.stat(), path.read_text("utf-8")
            time.sleep(0.5)
            if (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino):
                line = f"typed {len(self.typed)}"
                path.with_name("MEMORY.md~").write_text(f"{text}- {line}\n", "utf-8")
                os.replace(path.with_name("MEMORY.md~"), path)
                self.typed.append(line)

    def go(self) -> None:
        side = [threading.Thread(target=each) for each in (self.maintain, self.read, self.type)]
        writers = [threading.Thread(target=self.write, args=(n,)) for n in range(self.writers)]
        for thread in side + writers:
            thread.start()
        for thread in writers:
            thread.join()
        self.stop.set()
        for thread in side:
            thread.join()


def writers(share: float) -> str:
    with folder() as here:
        root = here / "ws"
        demand(run("init", str(root)).code == 0, "no workspace")
        crowd = Crowd(root, 8, round(250 * share))
        began = time.monotonic()
        crowd.go()
        took = time.monotonic() - began
        found = Counter(crowd.contents())
        demand(not crowd.wrong, "\n".join(crowd.wrong[:5]))
        demand(not crowd.known - found.keys(), f"lost: {sorted(crowd.known - found.keys())[:5]}")
        demand(max(found.values()) == 1, "something is there twice")
        memory = (root / "agents/main/MEMORY.md").read_text("utf-8")
        demand(all(f"- {line}\n" in memory for line in crowd.typed), "an edit was overwritten")
        demand(run("doctor", "--check", "-w", str(root)).code == 0, "doctor found something")
        told = ", ".join(f"{count} {name}" for name, count in sorted(crowd.counts.items()))
        size = f"{crowd.writers} x {crowd.each} stores in {took:.0f} s: {len(crowd.known)} acknowledged"
        return f"{size}, {told}, {len(crowd.typed)} edits by a person; 0 lost, 0 doubled, 0 stale reads, 0 edits overwritten"


# Kills and faults at every change


def known(place: Place) -> set[str]:
    """The ids of all that a workspace holds, live, queued or archived, as its files have them; doctor says whether they can be read."""
    agent = place.root / "agents/main"
    files = [
        place.root / ".mabos/queue/main.jsonl",
        *agent.glob("*.json"),
        *agent.glob("archive/*"),
        *agent.glob("observations/*.jsonl"),
    ]
    texts = [path.read_text("utf-8") for path in files if path.is_file() and path.name != "facts-derived.json"]
    return {each for text in texts for each in re.findall(r'"(?:case_)?id": "([A-Z]-[\w-]+)"', text)}


def strike(bench: Bench, name: str, fault: Fault, before: set[str]) -> bool:
    """One fault, and whether something derived was left to doctor."""
    place = bench.fresh()
    done = place.call(name, fault=fault)
    about = f"{name}, {fault.kind} at change {fault.at} (exit {done.code})"
    demand("Traceback" not in done.stderr, f"{about}: {done.stderr[-800:]}")
    demand(done.code in (0, 4, 5, -signal.SIGKILL), f"{about}: {done.stderr}")
    after = place.do("store", "life goes on")
    demand(after.code == 0, f"{about}: the next store: exit {after.code} {after.stderr}")
    again = place.call(name)
    demand(again.code in (0, 2, 3, 5), f"{about}: once more: exit {again.code} {again.stderr}")
    lost = before - known(place)
    demand(not lost, f"{about}: lost {sorted(lost)[:3]}")
    found = place.do("doctor", "--check")
    is_mended = bool(found.code or [*place.root.rglob(".mabos-tmp-*")])
    if is_mended:  # Markdown that is behind what it is made from, or temporary files beside it
        demand("problem:" not in found.stdout, f"{about}: {found.stdout}")
        place.do("doctor", "--repair")
        found = place.do("doctor", "--check")
        demand(found.code == 0, f"{about}: {found.stdout}")
        demand(not [*place.root.rglob(".mabos-tmp-*")], f"{about}: a temporary file is left")
    return is_mended


def kills(share: float) -> str:
    counts: Counter[str] = Counter()
    commands = [name for name in os.environ.get("COMMANDS", "").split(",") if name] or WRITING
    with folder() as here:
        bench = Bench(furnish(here / "seed"), here / "tried")
        for name in commands:
            place = bench.fresh()
            before = known(place)
            calls = place.call(name).calls
            demand(calls > 5, f"{name} writes nothing")
            print(f"  {name}: {calls} changes", file=sys.stderr, flush=True)
            for at in range(1, calls + 1, max(1, round(1 / share))):
                # A kill at each change, and at every third another fault in turn.
                for kind in ("kill", OTHERS[at // 3 % len(OTHERS)])[: 1 + (at % 3 == 0)]:
                    counts["mended"] += strike(bench, name, Fault(kind, at), before)
                    counts[kind] += 1
    told = ", ".join(f"{counts[kind]} {kind}" for kind in OTHERS)
    return f"{len(commands)} commands: {counts['kill']} points of kill, {told}; 0 lost, 0 blocked, 0 tracebacks; {counts['mended']} left something derived to doctor --repair"


# Contents


def odd_text(chance: random.Random) -> str:
    """A text that would like to be something else: structure, control characters, any letter of Unicode."""
    parts = [
        "\n",
        "\r",
        "\r\n",
        "\t",
        " ",
        "#",
        "## ",
        "---\n",
        "```",
        "~~~",
        "<!--",
        "-->",
        "|",
        ": ",
        "- ",
        "> ",
        "[[",
        "]]",
    ]
    parts += [
        "\\",
        '"',
        "'",
        "\x1b[2J",
        "\x85",
        "\u2028",
        "\ufeff",
        "\u202e",
        "\x7f",
        "{}",
        "%s",
        "$HOME",
        "^M-1-aaaa",
        "é",
        "e\u0301",
        "😀",
    ]
    letters = (chr(chance.choice((chance.randint(1, 0xD7FF), chance.randint(0xE000, 0x10FFFF)))) for _ in iter(int, 1))
    drawn = [chance.choice(parts) if chance.random() < 0.7 else next(letters) for _ in range(chance.randint(1, 60))]
    return "".join(drawn)


def contents(share: float) -> str:
    chance, sent, refused = random.Random(11), {}, 0
    count = round(5000 * share)
    with folder() as here:
        root = here / "ws"
        demand(run("init", str(root)).code == 0, "no workspace")
        at = {"MABOS_NOW": NOW, "MABOS_INDEX_VECTORS": "lexical"}
        where = ("--json", "-w", str(root), "-i", "0.7")
        size = 0
        for number in range(count):
            text = odd_text(chance)
            by_argument = number % 2
            words = ("--", text) if by_argument else ("-",)
            done = run("store", *where, *words, stdin="" if by_argument else text, **at)
            if done.code == 2 and not text.strip():
                refused += 1
                continue
            demand(done.code == 0, f"{text!r}: exit {done.code} {done.stderr}")
            sent[json.loads(done.stdout)["data"]["id"]] = text
            size += len(text.encode())
        found = run("recall", "--limit", "0", "--archived", "--json", "-w", str(root), **at)
        back = {row["id"]: row["content"] for row in json.loads(found.stdout)["data"]["results"] if row.get("id")}
        demand(
            back == sent,
            f"{sum(back.get(i) != text for i, text in sent.items())} came back other than they were",
        )
        for item_id in [*sent][:: max(1, len(sent) // 200)]:
            got = run("get", item_id, "--json", "-w", str(root), **at)
            demand(json.loads(got.stdout)["data"]["item"]["content"] == sent[item_id], f"get {item_id}")
        demand(run("doctor", "--check", "-w", str(root), **at).code == 0, "doctor found something")
    told = (
        f"{len(sent)} texts, {size:,} bytes, half by argument and half by standard input: all came back byte for byte"
    )
    return told + (f"; {refused} blank ones refused" if refused else "")


# Damage, and places


def damage(share: float) -> str:
    words = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "load", "-p", "no:cacheprovider"]
    full = {"FULL": "1"} if share == 1 else {}
    done = subprocess.run(
        [*words, TESTS / "test_damaged_files.py"],
        env={**os.environ, **full},
        capture_output=True,
        text=True,
        check=False,
    )
    demand(done.returncode == 0, done.stdout[-3000:])
    size = f"{len(KINDS)} kinds of damage x {len(FILES)} kinds of file x {len(BESIDE)} calls of all commands"
    runs = len(KINDS) * len(FILES) * len(BESIDE) if share == 1 else "a part"
    return f"{size} = {runs:,} runs: 0 tracebacks, 0 files changed, 0 agents held up" if full else f"{size}: {runs}"


def mounted(*words: str) -> None:
    done = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise PermissionError(done.stderr.strip() or "mount failed")


@contextmanager
def mount(where: Path, *words: str) -> Iterator[None]:
    mounted(*words, str(where))
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(where)], check=False)


def full_disk(seed: Place, here: Path, share: float) -> str:
    """A small disk that fills up, to the last kibibytes."""
    ends: Counter[int] = Counter()
    names = [name for name in WRITING if name != "typedb seed-goals"][:: max(1, round(1 / share))]
    for room in (0, 4, 16, 64, 256):
        for name in names:
            place = Place(here / "small/ws", here / "small/side", seed.ids)
            (here / "small").mkdir(exist_ok=True)
            with mount(here / "small", "-t", "tmpfs", "-o", "size=16m", "tmpfs"):
                shutil.copytree(seed.root.parent, here / "small", dirs_exist_ok=True, symlinks=True)
                before = known(place)
                free = os.statvfs(here / "small")
                with open(here / "small/filler", "wb") as filler:
                    filler.write(bytes(max(0, free.f_bavail * free.f_frsize - room * 1024)))
                done = place.call(name)
                demand(done.code in (0, 4) and "Traceback" not in done.stderr, f"{name} with {room} KiB: {done}")
                ends[done.code] += 1
                (here / "small/filler").unlink()
                demand(
                    place.do("store", "life goes on").code == 0,
                    f"{name} with {room} KiB: the next store fails",
                )
                demand(place.do("doctor", "--check").code == 0, f"{name} with {room} KiB: doctor found something")
                demand(not before - known(place), f"{name} with {room} KiB: lost")
    return f"{ends.total()} writes with 0 to 256 KiB left, {ends[4]} refused with exit 4, {ends[0]} done; nothing lost"


def beside_all(place: Place, call: Callable[[str], Any], about: str) -> str:
    """All commands where nothing can be written: they answer or say why not, and change nothing."""
    before, ends = tree(place.root), Counter()
    for name in BESIDE:
        done = call(name)
        demand(done.code in (0, 3, 4, 6) and "Traceback" not in done.stderr, f"{about}, {name}: {done}")
        ends[done.code] += 1
    demand(tree(place.root) == before, f"{about}: a file was changed")
    return f"{about}: {ends[0]} calls answered, {ends[4]} refused with exit 4, {ends.total() - ends[0] - ends[4]} other; nothing changed"


def read_only(seed: Place, here: Path, _: float) -> str:
    place = Bench(seed, here / "sealed").fresh()
    with mount(place.root, "--bind", str(place.root)):
        mounted("-o", "remount,bind,ro", str(place.root))
        return beside_all(place, place.call, "read-only")


def foreign_owner(seed: Place, here: Path, _: float) -> str:
    """As somebody who owns nothing here. Forked, because the interpreter itself may be out of their reach."""
    from warm import load_all

    if os.geteuid():
        raise PermissionError("only root can become somebody else")
    load_all()
    codecs.lookup("utf-8-sig")
    place = Bench(seed, here / "foreign").fresh()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        told = "the child died"
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            here_too = {"MABOS_NOW": NOW, "MABOS_INDEX_VECTORS": "lexical", "HOME": "/nonexistent"}

            def call(name: str) -> Any:
                words = [place.fill(word) for word in CALLS[name]]
                whose = () if {"-a", "--all"} & {*words} else ("-a", "main")
                os.chdir(place.side)
                return run_here("-w", str(place.root), *whose, *words, **here_too)

            told = beside_all(place, call, "files of somebody else")
        except Broken as error:
            told = f"!{error}"
        finally:
            os.write(writing, told.encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        told = answer.read()
    os.waitpid(pid, 0)
    demand(not told.startswith("!"), told)
    return told


def in_place(trial: Callable[[Place, Path, float], str]) -> Callable[[float], str]:
    """A part that needs a furnished workspace, and rights that not everybody has."""

    def part(share: float) -> str:
        with folder() as here:
            try:
                return trial(furnish(here / "seed"), here, share)
            except PermissionError as error:
                return f"skipped: {error}"

    return part


PARTS = {"writers": writers, "kills": kills, "contents": contents, "damage": damage}
PARTS |= {"full": in_place(full_disk), "sealed": in_place(read_only), "foreign": in_place(foreign_owner)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    broken = False
    for name in given.parts or PARTS:
        began = time.monotonic()
        try:
            told = PARTS[name](0.1 if given.small else 1)
        except Broken as error:
            broken, told = True, f"BROKEN: {error}"
        print(f"{name}: {told} ({time.monotonic() - began:.0f} s)", flush=True)
    sys.exit(broken)


if __name__ == "__main__":
    main()
