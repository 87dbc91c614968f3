"""A language model on loopback that says what each test tells it to, and watches the lock while it is asked."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from backends.service import Answer, Call, serving

from .desk import Desk, Said

Says = str | Answer | Callable[[str], str]


class Model:
    """What it was asked, and whether the agent's lock was free each time."""

    def __init__(self, desk: Desk, says: Says) -> None:
        self.prompts: list[str] = []
        self.locked = False
        self._desk, self._says = desk, says

    def __call__(self, call: Call) -> Answer:
        [message] = call.body["messages"]
        self.prompts.append(message["content"])
        self.locked = self.locked or self._is_locked()
        said = self._says(message["content"]) if callable(self._says) else self._says
        return said if isinstance(said, Answer) else Answer({"choices": [{"message": {"content": said}}]})

    def _is_locked(self) -> bool:
        path = self._desk.root / ".mabos" / "locks" / "main.lock"
        if not path.exists():
            return False
        handle = os.open(path, os.O_RDWR)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False


@contextmanager
def model(desk: Desk, says: Says, **settings: Any) -> Iterator[Model]:
    """The model that the workspace names while the block lasts."""
    asked = Model(desk, says)
    with serving(asked) as service:
        more = "".join(f"  {name}: {value}\n" for name, value in settings.items())
        desk.settle(f"llm:\n  url: {service.url}/v1\n  model: tiny (q4)\n{more}")
        yield asked
    assert not asked.locked, "the lock was held while the model was asked"


def entries(prompt: str) -> list[str]:
    """The numbered lines of a prompt, without their numbers."""
    lines = prompt.split("\n<data ")[1].split("\n</data ")[0].split("\n")[1:]
    return [line.partition(". ")[2] for line in lines]


# What may come instead of a good answer, and what is said of it.
FAILURES = {
    "refused": (Answer("no", 401), "401"),
    "empty": ("", "empty"),
    "null": (Answer({"choices": [{"message": {"content": None}}]}), "empty"),
    "garbage": (Answer({"hello": 1}), "another form"),
    "too large": (Answer({"choices": [{"message": {"content": "x" * (1 << 21)}}]}), "MiB"),
    "prose": ("Certainly! I would love to.", ""),
    "late": (Answer({}, wait=5.0), "within"),
}


def check_unavailable(said: Said) -> None:
    """A model that was named and is not there."""
    assert said.code == 6 and said.stdout == ""
    assert "no language model is configured" in said.stderr and "--llm" in said.stderr
