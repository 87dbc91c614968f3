"""Hooks of agent hosts: CPU time of a whole hook as a ratio to `python -c pass`, medians of interleaved runs, and how long each event
takes by the clock in a large workspace.

    python benchmarks/hooks.py [--items 10000] [--runs 25] [--busy]

`--busy` keeps every core at work meanwhile: the column `answered` says what came in time then.

Learning behind the end of a session is switched off: while it writes the index, prompts are answered by what is recent alone. The
index of the search and INDEX.md are there, as after any recall and any store. The transcript has 1 MB.
"""

import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from memory_index import make_rows, make_workspace, run
from timing import BARE, MABOS, compile_package

from mabos_cli.core.operations.hook_hosts import EVENTS

LIMITS = {"session-end": 2.5, "session-start": 3.0, "user-prompt": 7.0}


def measure(argv: list[str], payload: Path) -> tuple[float, float, bytes]:
    """CPU time and time by the clock of one call, which must end 0, and what it printed."""
    out = payload.with_suffix(".out")
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, str(payload), os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(out), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666),
    ]
    began = time.monotonic()
    pid = os.posix_spawn(argv[0], argv, dict(os.environ), file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    took = time.monotonic() - began
    if status:
        raise SystemExit(f"ended {os.waitstatus_to_exitcode(status)}: {' '.join(argv)}")
    return usage.ru_utime + usage.ru_stime, took, out.read_bytes()


def write_transcript(path: Path, size: int) -> None:
    """A transcript of Claude Code of about that many bytes, with the tokens of each answer."""
    lines, held, number = [], 0, 0
    while held < size:
        number += 1
        author = "user" if number % 2 else "assistant"
        message = {"role": author, "content": f"Step {number}: " + "the export reads from the replica " * 30}
        message |= {"usage": {"input_tokens": 10, "cache_read_input_tokens": 50_000, "output_tokens": 300}}
        record = {"type": author, "sessionId": "s1", "uuid": f"{number:08d}-0000", "message": message}
        lines.append(json.dumps(record) + "\n")
        held += len(lines[-1])
    path.write_text("".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--busy", action="store_true")
    options = parser.parse_args()
    compile_package()
    os.environ["MABOS_HOOK_HARVEST"] = "false"
    with tempfile.TemporaryDirectory() as folder:
        root, payload, transcript = (Path(folder) / name for name in ("workspace", "in.json", "talk.jsonl"))
        make_workspace(root, options.items)
        write_transcript(transcript, 1 << 20)
        words = str(make_rows(options.items)[options.items // 2]["content"]).split()
        said = {"session_id": "s1", "cwd": str(root), "transcript_path": str(transcript), "source": "compact"}
        payload.write_text(
            json.dumps(said | {"prompt": f"what about {' '.join(words[:6])} {words[-1]}", "reason": "exit"})
        )
        spin = [sys.executable, "-c", "while True: pass"]
        burning = [os.posix_spawn(spin[0], spin, dict(os.environ)) for _ in range(os.cpu_count() or 1) if options.busy]
        try:
            report(measure_all(payload, options.runs))
        finally:
            for pid in burning:
                os.kill(pid, signal.SIGKILL)
        run(
            root,
            "import sys; from mabos_cli.app import main; sys.exit(main(sys.argv[1:]))",
            "doctor",
            "--quiet",
        )


def measure_all(payload: Path, runs: int) -> dict[str, list[tuple[float, float, bytes]]]:
    """All runs of each case, in turn; the first, which warms up, is left out."""
    cases = {"pass": BARE} | {event: [MABOS, "hook", event] for event in EVENTS}
    found: dict[str, list[tuple[float, float, bytes]]] = {name: [] for name in cases}
    for number in range(runs + 1):
        for name, argv in cases.items():
            one = measure(argv, payload)
            found[name] += [one] if number else []
    return found


def report(found: dict[str, list[tuple[float, float, bytes]]]) -> None:
    base = statistics.median(cpu for cpu, _, _ in found["pass"])
    print(f"{'event':<15}{'CPU':>9}{'ratio':>8}{'at most':>9}{'clock':>10}{'slowest':>10}{'answered':>10}")
    for event in EVENTS:
        cpu = statistics.median(cpu for cpu, _, _ in found[event])
        clock = sorted(took for _, took, _ in found[event])
        limit = f"{LIMITS[event]}x" if event in LIMITS else ""
        answered = sum(bool(said) for _, _, said in found[event])
        print(
            f"{event:<15}{cpu * 1000:6.0f} ms{cpu / base:7.2f}x{limit:>9}{statistics.median(clock) * 1000:7.0f} ms{clock[-1] * 1000:7.0f} ms"
            f"{f'{answered} of {len(clock)}':>10}"
        )


if __name__ == "__main__":
    main()
