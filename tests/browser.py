"""A headless Chromium that tests drive over a pipe, with the protocol of its developer tools."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
_OPTIONS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --hide-scrollbars --no-first-run"
    " --disable-background-networking --disable-component-update --disable-sync"
)
_KEYS = {
    "Backspace": 8,
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}


class Browser:
    """One tab. Messages are JSON with a zero byte behind it; what happens meanwhile is kept in `events`."""

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back = to, os.fdopen(back, "rb", buffering=0)
        self._waiting = b""
        self._last = 0
        self._session = ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **given: Any) -> dict[str, Any]:
        """The result of a call; events that come before it are kept."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": given}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            found = self._read()
            if found.get("id") == self._last:
                assert "error" not in found, found
                return found["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._waiting:
            chunk = self._back.read(1 << 20)
            assert chunk, "the browser is gone"
            self._waiting += chunk
        line, _, self._waiting = self._waiting.partition(b"\0")
        found = json.loads(line)
        if "method" in found:
            self.events.append(found)
        return found

    def open(self, path: Path | str, width: int, height: int, scheme: str = "light") -> None:
        """Shows a file or an address in a window of a size, as a phone or a desk would."""
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=path if isinstance(path, str) else path.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._read()

    def ask(self, expression: str) -> Any:
        """What an expression of JavaScript gives, or promises, as a value."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, expression: str, seconds: float = 15) -> Any:
        """Asks until the answer is true in JavaScript, and gives it."""
        end = time.monotonic() + seconds
        while not (found := self.ask(f"(found => found instanceof Node || found)({expression})")):
            assert time.monotonic() < end, f"{expression}\n{self.ask('document.body.innerText')}"
            time.sleep(0.05)
        return found

    def press(self, *keys: str) -> None:
        """Presses keys by name, one after the other; a longer word that is no key is typed."""
        for key in keys:
            code = _KEYS.get(key)
            if code is None and len(key) > 1:
                self.call("Input.insertText", text=key)
                continue
            text = {"Enter": "\r"}.get(key, "" if code else key)
            known = {"key": key, "windowsVirtualKeyCode": code or ord(key.upper())}
            self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **known)
            self.call("Input.dispatchKeyEvent", type="keyUp", **known)

    def picture(self) -> bytes:
        """The window as a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def requests(self) -> list[str]:
        """Whatever the page asked for, itself included."""
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def complaints(self) -> list[str]:
        """What the browser wrote into its console."""
        return [e["params"]["entry"]["text"] for e in self.events if e["method"] == "Log.entryAdded"]


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser for as long as it is needed, with a profile that goes with it."""
    profile = tempfile.mkdtemp(prefix="mabos-browser-")
    commands, to = os.pipe()
    back, answers = os.pipe()
    script = f'exec "$0" "$@" 3<&{commands} 4>&{answers}'
    words = [*_OPTIONS.split(), "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(
        ["bash", "-c", script, CHROMIUM, *words], pass_fds=(commands, answers), stderr=subprocess.DEVNULL
    )
    os.close(commands)
    os.close(answers)
    try:
        yield Browser(to, back)
    finally:
        os.close(to)
        process.kill()
        process.wait()
        shutil.rmtree(profile, ignore_errors=True)
