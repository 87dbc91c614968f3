"""Entries of cognitive files as values: what was understood of sections, tables and lists, and where it stands."""

import re
from collections.abc import Mapping

from mabos_cli.core.memory.trust import Claim, trust_by_source
from mabos_cli.core.records import NamedTuple
from mabos_cli.formats.markdown.escape import BULLET
from mabos_cli.formats.mind.cognitive_fields import Field

VOUCHED = "(vouched by "  # behind the trust of an entry from outside, with the name of a person
ANY = "[A-Z]{1,5}"  # the prefix of an id, of whatever kind
HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
ITEM = re.compile(rf"({BULLET}[ \t]+(?:\[[ xX]\][ \t]+)?)(.*)")


class Entry(NamedTuple):
    """A belief, goal, ... as it stands in a file: a section, a row of a table, or an item of a list.

    The last line is that of its own text; headings below a section are not part of it.
    """

    shape: str
    group: str
    title: str
    text: str
    fields: Mapping[str, Field]
    first: int
    last: int
    level: int = 0
    above: str = ""  # the id or the title of the item that it is nested in

    def get(self, name: str) -> str:
        """Returns the value of a field, empty when there is none."""
        return self.fields[name].value if name in self.fields else ""

    @property
    def is_block(self) -> bool:
        """Returns whether an entry is a block of lines that begin with keys: `- **Belief:** Rent is due`."""
        return self.shape == "item" and any(name in self.fields for name in ("title", "id"))

    @property
    def claim(self) -> Claim:
        """Returns what an entry says of its trust, without who vouches for it."""
        word = self.get("trust").partition("(")[0].strip("*_` ").casefold()
        return Claim(self.get("id") or self.title, word, self.get("source"))

    @property
    def trust(self) -> str:
        """Returns how far an entry is trusted: as it says, and no more than its source, unless it names who vouches for it."""
        is_vouched = VOUCHED in self.get("trust")
        return trust_by_source(self.claim.trust or "agent", "" if is_vouched else self.get("source"))


class Table(NamedTuple):
    """A table: the heading above it, its columns by what they are, and its lines."""

    group: str
    columns: tuple[str, ...]
    header: int
    first: int
    last: int
    is_log: bool


class Heading(NamedTuple):
    """A heading that counts: line, level, words, the last line before the next heading of any level, and the line and the
    words of the heading that it stands below; the title of the file gives no words."""

    line: int
    level: int
    title: str
    last: int
    above: int
    group: str


def headed(heading: Heading) -> Entry:
    """Returns a heading as an entry, whatever stands below it."""
    return Entry("section", heading.group, heading.title, "", {}, heading.line, heading.last, heading.level)
