"""What everything in a report goes through: text that is safe to show, and lists that say how much they leave out."""

from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from mabos_cli.core.language.secrets import redact
from mabos_cli.core.language.text import one_line

Row = TypeVar("Row")
# A secret is looked for before a text is cut, or its first half would be shown. The longest have half of this.
_READ = 32_768


class Cut(NamedTuple, Generic[Row]):
    """The rows that are shown, and how many are not."""

    rows: tuple[Row, ...] = ()
    left: int = 0

    @property
    def total(self) -> int:
        return len(self.rows) + self.left


def cut(rows: Iterable[Row], most: int) -> Cut[Row]:
    """The first rows, at most so many, and the number of the others.

    >>> cut("abc", 2)
    Cut(rows=('a', 'b'), left=1)
    """
    found = tuple(rows)
    return Cut(found[:most], max(0, len(found) - most))


def fair_share(sizes: Sequence[int], room: int) -> int:
    """About the largest number of rows that everybody may have for all to find room; one at least.

    >>> fair_share([2, 50, 60], 42)
    20
    """
    share = max(sizes, default=1)
    while share > 1 and sum(min(size, share) for size in sizes) > room:
        share -= max(1, share // 20)
    return max(1, share)


def shown(text: str, width: int = 160) -> str:
    """Text of somebody's as one line: secrets replaced, control and direction characters drawn, cut at a word.

    >>> shown("key\\n PASSWORD=hunter2x"), shown("one two three", 9)
    ('key PASSWORD=[redacted:password]', 'one two…')
    """
    return one_line(redact(text[:_READ])[0], width)
