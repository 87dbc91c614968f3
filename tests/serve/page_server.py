"""A server of `mabos ui` in a process of its own, as tests ask it over HTTP."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

KIND = {"Content-Type": "application/json"}


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def value(self) -> Any:
        return json.loads(self.body)


class Page:
    """A server in a process of its own, and its address taken apart."""

    def __init__(self, root: Path, *words: str, **variables: str) -> None:
        given = {name: value for name, value in os.environ.items() if not name.startswith("MABOS_")}
        program = [sys.executable, "-m", "mabos_cli", "-w", os.fspath(root), "--json", "ui", *words]
        self.process = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=given | variables)
        assert self.process.stdout is not None
        self.url: str = json.loads(self.process.stdout.readline())["data"]["url"]
        self.host, self.token = self.url.removeprefix("http://").strip("/").split("/")

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        connection = http.client.HTTPConnection(self.host, timeout=60)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            found = connection.getresponse()
            return Answer(found.status, dict(found.getheaders()), found.read())
        finally:
            connection.close()

    def get(self, path: str = "", **headers: str) -> Answer:
        return self.ask("GET", f"/{self.token}/{path}", **headers)

    def call(self, name: str, **arguments: Any) -> Answer:
        return self.ask("POST", f"/{self.token}/api/{name}", json.dumps(arguments).encode(), **KIND)

    def end(self, number: int = signal.SIGTERM) -> tuple[int, bytes]:
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors


@contextmanager
def open_page(root: Path, *words: str, **variables: str) -> Iterator[Page]:
    page = Page(root, *words, **variables)
    try:
        yield page
    finally:
        page.process.kill()
        page.process.communicate()
