"""Measures whether what was stored stays in sight: shares of texts that are found hours and a night after they were stored.

    python benchmarks/sight.py

The texts and the questions about them are in fixtures/sight.json. Eight plain texts and one of each type, as `mabos skill` says,
are stored by the program itself; each is then asked for by recall (the first ten) and by a context pack of 600 tokens, hours later,
and again after a night of every scheduled job.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from timing import MABOS, compile_package

from mabos_cli.core.operations.schedule import JOBS

STORIES = json.loads((Path(__file__).parent.parent / "fixtures/sight.json").read_text("utf-8"))
MOMENTS = {"5 hours later": "2026-03-02T13:00:00Z", "a night later": "2026-03-03T08:00:00Z"}


def run(root: Path, now: str, *words: str) -> str:
    """Runs a command as cron does, at a moment; it must end 0. Returns what it printed."""
    env = {**os.environ, "LC_ALL": "C", "MABOS_NOW": now}
    return subprocess.run([MABOS, "-w", str(root), *words], env=env, capture_output=True, check=True).stdout.decode()


def tell(root: Path, name: str, stored: list[tuple[list[str], str, str]]) -> None:
    """Stores texts in the morning and prints how many of them are found later."""
    run(root, "2026-03-02T08:00:00Z", "init", str(root))
    for options, text, _ in stored:
        run(root, "2026-03-02T08:00:00Z", "store", text, *options)
    for when, now in MOMENTS.items():
        if when == "a night later":
            for job in JOBS:
                run(root, "2026-03-03T03:10:00Z", "schedule", "run", job.name)
        run(root, now, "store", "Somebody stored one more thing")
        found = [
            (
                text in [row["content"] for row in json.loads(run(root, now, "recall", asked, "--limit", "10", "--json"))["data"]["results"]],
                text in run(root, now, "context", "pack", asked, "--budget", "600", "--no-use"),
            )
            for _, text, asked in stored
        ]  # fmt: skip
        recalled, packed = (sum(column) for column in zip(*found, strict=True))
        print(f"{name:14}{when:16}recall {recalled} of {len(stored)}   pack {packed} of {len(stored)}", flush=True)


def main() -> None:
    compile_package()
    stories = {
        "eight stores": [([], text, asked) for text, asked in STORIES["eight"]],
        "skill": [(["--type", kind], text, asked) for kind, text, asked in STORIES["skill"]],
    }
    for name, stored in stories.items():
        with tempfile.TemporaryDirectory() as folder:
            tell(Path(folder), name, stored)


if __name__ == "__main__":
    main()
