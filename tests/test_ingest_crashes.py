"""mabos ingest, killed, cut off or refused at every single change: the next run takes what is missing, and nothing twice."""

import json
import shutil
from collections import Counter
from pathlib import Path

from forked import Fault, places, run

OTHERS = ("powerloss", "ENOSPC", "EIO")
FIXTURES = Path(__file__).parents[1] / "fixtures" / "transcripts"


def keys(root: Path) -> Counter:
    """How often each entry was taken; lines that a power cut tore count for nothing."""
    found: Counter = Counter()
    for path in (root / "agents/main/observations").glob("2*.jsonl"):
        for line in path.read_bytes().split(b"\n"):
            try:
                found[json.loads(line)["key"]] += 1
            except ValueError:
                continue
    return found


def test_along_the_way(quick: Path) -> None:
    seed, root, folder = quick / "seed", quick / "ws", quick / "t"
    folder.mkdir()
    words = ("ingest", "transcript", str(folder), "-w")
    assert run("init", str(seed)).code == 0
    for name in ("claude", "codex", "openclaw"):
        data = (FIXTURES / f"{name}.jsonl").read_bytes()
        (folder / f"{name}.jsonl").write_bytes(data[: len(data) // 2])
    assert run(*words, str(seed)).code == 0
    for name in ("claude", "codex", "openclaw"):
        shutil.copy(FIXTURES / f"{name}.jsonl", folder)
    shutil.copytree(seed, root)
    calls = run(*words, str(root)).calls
    expected = keys(root)
    assert calls > 5 and len(expected) == 16 and set(expected.values()) == {1}
    for turn, at in enumerate(places(calls, 2)):
        for kind in ("kill", OTHERS[turn % len(OTHERS)]):
            shutil.rmtree(root)
            shutil.copytree(seed, root)
            done = run(*words, str(root), fault=Fault(kind, at))
            assert "Traceback" not in done.stderr, (kind, at)
            again = run(*words, str(root))
            assert again.code == 0, again.stderr
            assert keys(root) == expected, (kind, at)
            third = run(*words, str(root), "--json")
            assert [row["bytes"] for row in json.loads(third.stdout)["data"]["files"]] == [0, 0, 0], (
                kind,
                at,
            )
