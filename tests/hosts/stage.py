"""Where a host is tried: a home and a workspace of its own, the scripted model, and a note of every hook that is called."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hosts.model import Line, Model, Request
from hosts.packages import search_path
from hosts.recorded import RECORD, write_program
from hosts.terminal import end_group, wait_until

AGENT = "main"
LEARNING = 90  # seconds that what is learned behind a session may take on a busy machine


class Stage:
    """A home with a folder `app` that sessions run in, a workspace `team`, and a model; gone at the end of `with` unless it is kept."""

    def __init__(self, script: Sequence[Line] = (), keep: bool = False) -> None:
        self._keep = keep
        self.home = Path(tempfile.mkdtemp(prefix="mabos-hosts-")).resolve()
        self.app, self.team, self.mabos_path = self.home / "app", self.home / "team", self.home / "bin" / "mabos"
        self._record, self.model = self.home / "hooks.jsonl", Model(script)
        path = os.pathsep.join([str(self.mabos_path.parent), search_path()])
        self.env = {"HOME": str(self.home), "PATH": path, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self.env |= {RECORD: str(self._record), "NO_PROXY": "127.0.0.1,localhost"}
        self.app.mkdir()
        self.mabos_path.parent.mkdir()
        write_program(self.mabos_path)
        self.mabos("init", str(self.team), "--agent", AGENT)

    def __enter__(self) -> "Stage":
        return self

    def __exit__(self, *error: object) -> None:
        self.model.shutdown()
        for pid, _ in list(self._processes()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not self._keep:
            shutil.rmtree(self.home, ignore_errors=True)
            return
        lines = [json.dumps(request._asdict()) for request in self.model.requests]
        self.write("requests.jsonl", "\n".join(lines))
        print(f"kept {self.home}: hooks.jsonl, requests.jsonl, printed.txt", flush=True)

    def mabos(self, *words: str) -> str:
        """Runs mabos on the workspace, as an operator does."""
        about = () if words[0] == "init" else ("-w", str(self.team), "-a", AGENT)
        line = [str(self.mabos_path), *about, *words]
        done = subprocess.run(line, env=self.env, cwd=self.app, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"mabos {' '.join(words)}: {done.stderr}")
        return done.stdout

    @property
    def server(self) -> dict[str, Any]:
        """How a host starts our MCP server."""
        return {"command": str(self.mabos_path), "args": ["mcp", "-w", str(self.team), "-a", AGENT]}

    def write(self, path: str, value: Any) -> None:
        """Writes a file below the home: text, or JSON, in which other keys stay."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(value, dict) and file.exists():
            value = json.loads(file.read_text("utf-8")) | value
        file.write_text(value if isinstance(value, str) else json.dumps(value, indent=2), "utf-8")

    def hooks(self) -> list[dict[str, Any]]:
        """Returns the calls of hooks so far: words, payload, answer, seconds."""
        lines = self._record.read_text("utf-8").splitlines() if self._record.exists() else []
        return [json.loads(line) for line in lines]

    def forget_hooks(self) -> None:
        """Forgets the calls of hooks so far."""
        self._record.unlink(missing_ok=True)

    def asked(self, prompt: str, since: int = 0) -> list[Request]:
        """Returns the requests to the model that a prompt led to, without those that carry a tool's answer."""
        return [each for each in self.model.requests[since:] if prompt in each.last and not each.is_result]

    def was_asked(self, prompt: str, since: int) -> bool:
        """Returns whether the model was sent a prompt."""
        return bool(self.asked(prompt, since))

    def run(self, words: Sequence[str], seconds: float) -> str:
        """Runs a program of a host to its end; returns what it printed."""
        process = subprocess.Popen(
            words, env=self.env, cwd=self.app, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            return process.communicate(timeout=seconds)[0].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            return f"not ended within {seconds} seconds"
        finally:
            end_group(process)

    def open_sessions(self) -> set[str]:
        """Returns the ids of sessions that a hook was called in, and none at their end."""
        ended: dict[str, bool] = {}
        for hook in self.hooks():
            session = json.loads(hook["payload"] or "{}").get("session_id", "")
            ended[session] = ended.get(session, False) or "session-end" in hook["words"]
        return {session for session, is_over in ended.items() if not is_over}

    def wait_learned(self) -> bool:
        """Waits until nothing that learns behind a session runs any more."""
        time.sleep(0.5)
        return wait_until(lambda: not any(" hook learn " in words for _, words in self._processes()), LEARNING)

    def _processes(self) -> Iterator[tuple[int, str]]:
        """Yields the processes that have this home on their command line: they are ours, for nobody else knows it."""
        done = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            pid, _, words = line.strip().partition(" ")
            if str(self.home) in words:
                yield int(pid), words
