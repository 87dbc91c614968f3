"""Regular expressions that take long to compile. Python compiles them anew in every process; whoever starts the program may hand in a
source that keeps what they come to."""

import re
from functools import cache
from typing import Protocol


class PatternSource(Protocol):
    """Gives the compiled form of a fixed pattern."""

    def find_compiled(self, pattern: str, flags: int) -> re.Pattern[str]: ...


_source: PatternSource | None = None


def use_patterns(source: PatternSource) -> None:
    """Takes the source that compiled patterns come from."""
    global _source
    _source = source


@cache
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Returns what re.compile does. For fixed patterns only: what users write is not to be kept.

    >>> compiled("a+b").findall("aab b ab")
    ['aab', 'ab']
    """
    return _source.find_compiled(pattern, flags) if _source else re.compile(pattern, flags)
