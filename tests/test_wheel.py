"""The program as people get it: built as a wheel, installed alone in a fresh environment, run from another folder."""

import json
import os
import subprocess
import sys
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pages import run_page
from test_manual import render_manual

from mabos_cli import __version__

ROOT = Path(__file__).parent.parent


def _run(*words: str | Path, cwd: Path) -> str:
    """The standard output of a command that must succeed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MABOS_", "PYTHON"))}
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{words[0]} exited with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the archive of the sources."""
    folder = tmp_path_factory.mktemp("built")
    _run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    return folder


def test_the_manual_page_is_in_the_wheel(built: Path) -> None:
    with ZipFile(next(built.glob("*.whl"))) as wheel:
        [page] = [name for name in wheel.namelist() if name.endswith("share/man/man1/mabos.1")]
        assert wheel.read(page).decode("utf-8") == render_manual()


@pytest.fixture(scope="module")
def program(built: Path) -> Path:
    """mabos in a fresh environment that holds the wheel and what it asks for, nothing else.

    What it asks for is linked from the environment that runs the tests: `make matrix` has pip find and install it.
    """
    _run(sys.executable, "-m", "venv", "--without-pip", built / "venv", cwd=built)
    python = built / "venv" / "bin" / "python"
    [wheel] = built.glob(f"mabos_cli-{__version__}-*.whl")
    _run(*_pip(python), "install", "--no-deps", "--quiet", wheel, cwd=built)
    _link(python, "")
    _run(*_pip(python), "check", cwd=built)
    return python.with_name("mabos")


def _link(python: Path, extra: str) -> None:
    """Links what mabos asks for, with an extra or without, into its environment."""
    site = _site(python)
    [own] = distributions(name="mabos-cli", path=[str(site)])
    for package in _asked_for(own, extra, {}).values():
        for name in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
            if not (site / name).exists():
                (site / name).symlink_to(package.locate_file(name))


def _site(python: Path) -> Path:
    [site] = python.parent.parent.glob("lib/*/site-packages")
    return site


def _asked_for(package: Distribution, extra: str, known: dict[str, Distribution]) -> dict[str, Distribution]:
    """What a package needs, and what that needs, by name."""
    for text in package.requires or ():
        needed = Requirement(text)
        name = canonicalize_name(needed.name)
        if name in known or (needed.marker and not needed.marker.evaluate({"extra": extra})):
            continue
        known[name] = distribution(name)
        for below in needed.extras or {""}:
            _asked_for(known[name], below, known)
    return known


def _pip(python: Path) -> tuple[str | Path, ...]:
    """The pip of the environment that runs the tests, at work on another one."""
    return sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python


def test_sources_build_the_same_wheel(built: Path) -> None:
    [sources] = built.glob("mabos_cli-*.tar.gz")
    build = ("wheel", "--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", built / "again", sources)
    _run(sys.executable, "-m", "pip", *build, cwd=built)
    [wheel], [again] = built.glob("*.whl"), built.glob("again/*.whl")
    assert _contents(again) == _contents(wheel)


def _contents(wheel: Path) -> dict[str, bytes]:
    with ZipFile(wheel) as file:
        return {name: file.read(name) for name in file.namelist()}


def test_version(program: Path, tmp_path: Path) -> None:
    assert _run(program, "--version", cwd=tmp_path) == f"mabos {__version__}\n"


def test_no_dev_packages(program: Path) -> None:
    names = {canonicalize_name(package.name) for package in distributions(path=[str(_site(program))])}
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


def test_the_tutorial_goes_as_it_is_written(program: Path, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
    assert run_page(text, tmp_path.resolve(), str(program))[0] == text
