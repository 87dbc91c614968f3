"""Every command that README.md shows with its output is run, in order, and must print just that. UPDATE=1 rewrites it."""

import os
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
NOW = "2026-02-24T15:00:00Z"


def test_readme_shows_what_happens(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MABOS_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment |= {"PATH": path, "HOME": str(tmp_path), "MABOS_NOW": NOW, "LC_ALL": "C.UTF-8"}

    def run(command: str, folder: Path) -> str:
        done = subprocess.run(
            ["sh", "-c", f"{command} 2>&1"],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return done.stdout.decode("utf-8")

    run('mabos init ~/team --agent cfo --role "finance lead"', tmp_path)
    written = README.read_text("utf-8")
    shown: list[str] = []
    commands, inside, skipping = 0, False, False
    for line in written.split("\n"):
        if line.startswith("```"):
            inside, skipping = not inside, False
        elif inside and line.startswith("$ "):
            commands, skipping = commands + 1, True
            shown += [line, *run(line[2:], tmp_path / "team").rstrip("\n").split("\n")]
            continue
        if not skipping:
            shown.append(line)
    actual = "\n".join(shown)
    if os.environ.get("UPDATE"):
        README.write_text(actual, "utf-8")
    assert commands >= 9
    assert actual == written or os.environ.get("UPDATE")
