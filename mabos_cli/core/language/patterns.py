"""Regular expressions of commands that somebody waits for. Python compiles them anew in every process; whoever starts the program may hand in a
source that keeps what they come to."""

import re
from collections.abc import Callable
from functools import cache
from typing import AnyStr, Protocol


class PatternSource(Protocol):
    """Gives the compiled form of a fixed pattern."""

    def find_compiled(self, pattern: AnyStr, flags: int) -> re.Pattern[AnyStr]: ...


_source: PatternSource | None = None
_open: Callable[[], PatternSource] | None = None


def use_patterns(open_source: Callable[[], PatternSource]) -> None:
    """Takes what opens the source that compiled patterns come from, when the first one is asked for."""
    global _open
    _open = open_source


@cache
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Returns what re.compile does. For fixed patterns only: what users write is not to be kept.

    >>> compiled("a+b").findall("aab b ab")
    ['aab', 'ab']
    """
    global _open, _source
    if _open:
        opening, _open = _open, None  # what the source itself needs is compiled
        _source = opening()
    return _source.find_compiled(pattern, flags) if _source else re.compile(pattern, flags)


compiled_bytes: Callable[[bytes], re.Pattern[bytes]] = compiled  # type: ignore[assignment]  # the same for bytes
