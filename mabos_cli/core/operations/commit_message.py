"""What a commit of ours says: the command, what it was about, the agent; and below what was written."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mabos_cli.core.language.text import one_line

_WIDTH, _MOST = 60, 20


class Wrote(NamedTuple):
    """A write: by which command, to what, and how much of each kind."""

    command: str
    ids: tuple[str, ...] = ()
    counts: Mapping[str, int] | None = None


def render_commit(command: str, agents: Sequence[str], about: str, wrote: Sequence[Wrote], answer: str = "") -> str:
    """The message of a commit. `about` is the text of the first thing that was written; where that is not known, what the command
    answered has to do.

    >>> render_commit("store", ["cfo"], "We bill per seat", [Wrote("store", ("M-1-0a",), {"put": 1})]).split("\\n")
    ['store: We bill per seat (M-1-0a) [cfo]', '', 'store: put 1; M-1-0a']
    """
    ids = list(dict.fromkeys(own for each in wrote for own in each.ids))
    more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
    first = f"{one_line(about, _WIDTH)} ({ids[0]}){more}" if about else one_line(answer, _WIDTH)
    told = f"{command}: {first}" if first else command
    subject = f"{told} [{', '.join(agents)}]" if agents else told
    return "\n".join((subject, "", *map(_line, wrote))).rstrip("\n")


def _line(wrote: Wrote) -> str:
    counts = ", ".join(f"{name} {count}" for name, count in (wrote.counts or {}).items() if count)
    ids = ", ".join(wrote.ids[:_MOST]) + (f" and {len(wrote.ids) - _MOST} more" if len(wrote.ids) > _MOST else "")
    return f"{wrote.command}: " + ("; ".join(filter(None, (counts, ids))) or "written")
