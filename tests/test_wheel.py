"""The program as people get it: built as a wheel, installed alone in a fresh environment, run from another folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mabos_cli import __version__

ROOT = Path(__file__).parent.parent


def _run(*words: str | Path, cwd: Path) -> str:
    """The standard output of a command that must succeed."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MABOS_", "PYTHON"))
    }
    done = subprocess.run(
        words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{words[0]} exited with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """mabos in a fresh environment that holds the wheel and what it asks for, nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    quiet = ("--quiet", "--disable-pip-version-check")
    build = ("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT))
    _run(sys.executable, "-m", "pip", *build, *quiet, cwd=folder)
    wheels = list(folder.glob("mabos_cli-*.whl"))
    assert [wheel.name.split("-")[1] for wheel in wheels] == [__version__]
    _run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    # Compiling all that is installed, of which little is run here, takes as long as installing it.
    _run(*_pip(python), "install", "--no-compile", *quiet, wheels[0], cwd=folder)
    return python.with_name("mabos")


def _pip(python: Path) -> tuple[str | Path, ...]:
    """The pip of the environment that runs the tests, at work on another one."""
    return sys.executable, "-m", "pip", "--python", python


def test_version(program: Path, tmp_path: Path) -> None:
    assert _run(program, "--version", cwd=tmp_path) == f"mabos {__version__}\n"


def test_no_dev_packages(program: Path, tmp_path: Path) -> None:
    listed = json.loads(_run(*_pip(program.with_name("python")), "list", "--format", "json", cwd=tmp_path))
    names = {package["name"].lower() for package in listed}
    assert {"mabos-cli", "typer", "pyyaml"} <= names
    assert not names & {"pytest", "hypothesis", "ruff", "hatchling"}


def test_template_comes_out_of_the_wheel(program: Path, tmp_path: Path) -> None:
    root = tmp_path / "team"
    _run(program, "init", root, cwd=tmp_path)
    template = ROOT / "workspace-template"
    names = {path.relative_to(template).as_posix() for path in template.rglob("*") if path.is_file()}
    assert {".gitignore", "mabos.yaml", "agents/_agent/Persona.md"} <= names
    made = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert {name.replace("/_agent/", "/main/") for name in names} <= made
    for name in (".gitignore", "mabos.yaml"):
        assert (root / name).read_bytes() == (template / name).read_bytes()


def test_memory_works(program: Path, tmp_path: Path) -> None:
    root = tmp_path / "team"
    _run(program, "init", root, cwd=tmp_path)
    stored = json.loads(_run(program, "-w", root, "store", "We bill per seat", "--json", cwd=tmp_path))
    found = json.loads(_run(program, "-w", root, "recall", "bill", "--json", cwd=tmp_path))
    assert [row["ref"] for row in found["data"]["results"]] == [stored["data"]["id"]]
    assert found["data"]["results"][0]["content"] == "We bill per seat"


def test_shipped_data_comes_out_of_the_wheel(program: Path, tmp_path: Path) -> None:
    root = tmp_path / "team"
    _run(program, "init", root, "--agent", "ceo", cwd=tmp_path)
    _run(program, "ontology", "scaffold", "agency", cwd=root)
    shipped = ROOT / "mabos_cli" / "ontologies"
    for name in ("business.jsonld", "agency.jsonld"):
        assert (root / "ontologies" / name).read_bytes() == (shipped / name).read_bytes()
    assert "cfo (new): added" in _run(program, "typedb", "seed-goals", "--create-agents", cwd=root)
    assert "agent cfo is healthy" in _run(program, "demo", cwd=tmp_path)
    told = _run(
        program,
        "reason",
        "--agent",
        "ceo",
        "--input",
        ROOT / "fixtures/reasoning/causal.yaml",
        "-m",
        "causal",
        cwd=root,
    )
    assert told.startswith("causal: effect of ")
