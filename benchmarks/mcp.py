"""How soon `mabos mcp` answers, what its list costs; then many tool calls: time, open files and memory of the server.

    python benchmarks/mcp.py [--calls 1000] [--items 200]

The server is a process of its own, spoken to over its pipes as a host would. Calls are of every tenth kind: stores, recalls, packs,
facts, inference, a mind, a case, a worksheet, a status, and a call that is refused. What counts is that files and memory at the
end are what they were after the first hundred; a little more memory is the memories themselves and bounded caches.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}
Call = tuple[str, dict[str, Any]]

KINDS: tuple[Callable[[int], Call], ...] = (
    lambda n: (
        "memory_store_item",
        {"content": f"Sensor {n} of hall {n % 7} reads {n * 13}", "type": "observation", "importance": 0.3},
    ),
    lambda n: ("memory_recall", {"query": f"sensor in hall {n % 7}", "recursive_depth": n % 2}),
    lambda n: ("context_pack", {"query": f"what does hall {n % 7} need", "budget": 600}),
    lambda n: (
        "fact_assert",
        {
            "subject": f"hall-{n % 50}",
            "predicate": "hasLoad",
            "object": str(n),
            "confidence": 0.9,
            "source": "meter",
        },
    ),
    lambda n: ("fact_query", {"subject": f"hall-{n % 50}"}),
    lambda n: ("infer_forward", {"persist": False, "limit": 5}),
    lambda n: ("belief_list", {}),
    lambda n: (
        "cbr_store",
        {"situation": {"beliefs": [f"B-{n % 20:03d}"]}, "solution": {"actions": [f"look at {n % 20}"]}},
    ),
    lambda n: ("reason", {"problem": "Which hall fails first?", "method": "bayesian"}),
    lambda n: ("memory_status", {}) if n % 20 == 9 else ("memory_get", {"id": "M-0"}),
)


class Server:
    """A running `mabos mcp`."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, "-m", "mabos_cli", "-w", os.fspath(root), "mcp"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0
        self.ask("initialize", HELLO)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """What the server answers."""
        self.number += 1
        self._send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        assert self.process.stdout
        answer = json.loads(self.process.stdout.readline())
        assert answer.get("id") == self.number and "result" in answer, answer
        return answer["result"]

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def figures(self) -> tuple[int, float, float]:
        """Open files, memory in MiB, and CPU seconds so far."""
        folder = f"/proc/{self.process.pid}"
        pages = int(Path(folder, "statm").read_text().split()[1])
        used = Path(folder, "stat").read_text().rpartition(")")[2].split()
        ticks = int(used[11]) + int(used[12])
        memory = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
        return len(os.listdir(f"{folder}/fd")), memory, ticks / os.sysconf("SC_CLK_TCK")


def measure_start(root: Path, runs: int = 7) -> None:
    """Prints the CPU time of the first answers as multiples of `mabos status`, and the tokens of the list."""

    def spent(words: list[str], asked: list[str]) -> tuple[float, str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "mabos_cli", "-w", os.fspath(root), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdin and process.stdout
        for number, method in enumerate(asked):
            params = HELLO if method == "initialize" else {}
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.close()
        last = process.stdout.read().decode().strip().rpartition("\n")[2]
        usage = os.wait4(process.pid, 0)[2]
        return usage.ru_utime + usage.ru_stime, last

    cases = {
        "status": ["status"],
        "initialize": ["mcp"],
        "tools/list": ["mcp"],
        "--tools all": ["mcp", "--tools", "all"],
    }
    asked = {"initialize": ["initialize"], "tools/list": ["initialize", "tools/list"]}
    asked["--tools all"] = asked["tools/list"]
    found = {name: [spent(words, asked.get(name, [])) for _ in range(runs)] for name, words in cases.items()}
    bare = median(cpu for cpu, _ in found["status"])
    for name, rows in found.items():
        tokens = f", {len(rows[-1][1]) // 4} tokens" if "tools" in name else ""
        print(f"{name:>12}: {median(cpu for cpu, _ in rows) / bare:.2f} x of mabos status{tokens}")


def measure(root: Path, calls: int) -> None:
    """Makes the calls, and prints what they cost."""
    server = Server(root)
    start = time.perf_counter()
    marks = {1, 100, *range(calls // 5, calls + 1, calls // 5)}
    refused = 0
    for number in range(1, calls + 1):
        name, arguments = KINDS[number % len(KINDS)](number)
        refused += bool(server.ask("tools/call", {"name": name, "arguments": arguments}).get("isError"))
        if number in marks:
            files, memory, cpu = server.figures()
            print(f"after {number:>5} calls: {files} files, {memory:.1f} MiB, {cpu:.1f} s of CPU")
    spent = time.perf_counter() - start
    assert server.process.stdin
    server.process.stdin.close()
    code = server.process.wait(30)
    print(f"{spent / calls * 1000:.1f} ms a call; {refused} refused, {calls // 20} expected; ended {code}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--items", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "ws")
        mabos = [sys.executable, "-m", "mabos_cli"]
        subprocess.run([*mabos, "init", os.fspath(root), "--quiet"], check=True)
        rows = (
            {"content": f"Note {n}: pump {n % 17} runs at {n * 7}", "store": "long_term"} for n in range(given.items)
        )
        batch = "".join(json.dumps(row) + "\n" for row in rows)
        line = [*mabos, "-w", os.fspath(root), "--quiet", "store", "--batch", "-"]
        subprocess.run(line, input=batch.encode(), check=True)
        rule = [
            *mabos,
            "-w",
            os.fspath(root),
            "--quiet",
            "rule",
            "create",
            "if ?x hasLoad ?y and ?y > 100 then ?x is busy",
        ]
        subprocess.run(rule, check=True)
        measure_start(root)
        measure(root, given.calls)


if __name__ == "__main__":
    main()
