"""The manual page: made of the table of commands when a wheel is built."""

import re
import shutil
import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from mabos_cli.app import COMMANDS, GROUPS, find_commands

ROOT = Path(__file__).parent.parent


def render_manual() -> str:
    spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.render_manual((ROOT / "mabos_cli" / "templates" / "completion.txt").read_text("utf-8"))


def test_it_names_every_command() -> None:
    named = re.findall(r"^\.SS mabos (.*)$", render_manual(), re.MULTILINE)
    told = {re.sub(r" \[.*", "", name).replace("\\-", "-") for name in named}
    groups = [name for name in COMMANDS if find_commands(name).name]
    assert told == {*COMMANDS} | {f"{name} {below}" for name in groups for below in find_commands(name)}
    assert {*" ".join(GROUPS.values()).split()} == {*COMMANDS}


@pytest.mark.skipif(not (shutil.which("man") and shutil.which("groff")), reason="man is not installed")
def test_man_has_nothing_to_say_against_it(tmp_path: Path) -> None:
    page = tmp_path / "mabos.1"
    page.write_text(render_manual(), "utf-8")
    done = subprocess.run(
        ["man", "--warnings=all", "-l", page],
        capture_output=True,
        text=True,
        check=False,
        env={"MANWIDTH": "100", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "mabos goal close" in done.stdout and "130" in done.stdout
