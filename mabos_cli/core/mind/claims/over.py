"""What a clause says is over: moved from X to Y, X replaced by Y, cancelled X, with Y instead of X."""

from collections.abc import Sequence
from itertools import pairwise

from mabos_cli.core.mind.claims.names import Name
from mabos_cli.core.mind.claims.words import SILENT, SLOTS, root

# Words by which a claim says that something is over, or that it is new.
CUES = frozenset(
    "nolonger anylonger stopped abolished discontinued retired replaced formerly left lost now nowadays "
    "migrated moved switched changed rewritten since new renamed added converted transferred became "
    "instead rebuilt cancelled dropped".split()
)
# What was moved from one to another is no longer with the first.
_SHIFTS = frozenset("moved migrated switched transferred converted changed".split())
_LEAVING = frozenset("cancelled dropped left abandoned lost quit ditched retired terminated fired".split())
# Who did so no longer does what he did here.
_GONE = frozenset("left quit resigned retired departed died fired dismissed".split())


def find_over(words: tuple[str, ...], names: list[Name]) -> frozenset[str]:
    """What a clause says is over: instead of X, from X to Y, replaced X, X replaced by Y, cancelled X."""
    over = {name.key for name in names if name.slot == "object" and name.head in _LEAVING}
    if {"ended", "terminated", "cancelled", "retired"} & {*words} and "be" not in words:
        over |= {name.key for name in names if (name.head, name.slot) == ("contract", "with")}
        if ("contract", "with") in pairwise(words):
            over |= {" ".join(_phrase(words[words.index("contract") + 2 :]))}
    for at in (n for n, pair in enumerate(pairwise(words)) if pair == ("instead", "of")):
        over |= {name.key for name in names if at + 2 <= name.at <= at + 3}
        over |= {root(word) for word in words[at + 2 : at + 4] if word not in SILENT}
    if "replaced" in words:
        at = words.index("replaced")
        passive = "by" in words[at + 1 : at + 3]
        if passive:
            over |= {name.key for name in names if name.at < at}
            over |= {root(word) for word in words[:at] if word not in SILENT and not over}
        elif words[at + 1 : at + 2] != ("retired",):
            over |= {name.key for name in names if name.at > at and name.slot != "with"}
            over |= {" ".join(_phrase(words[at + 1 :]))}
    if _GONE & {*words[1:4]} and words[0] not in SILENT and not words[0].endswith("s"):
        over |= {names[0].key} if names and names[0].at == 0 else {root(words[0])}
    if CUES & {*words} and "to" in words:
        over |= {name.key for name in names if name.slot == "from"}
    if not over and _SHIFTS & {*words} and "from" in words and "to" in words[words.index("from") :]:
        over |= {" ".join(_phrase(words[words.index("from") + 1 :]))}
    return frozenset(over) - {""}


def _phrase(words: Sequence[str]) -> list[str]:
    """The roots of the things that come first, up to a word that leads to something else."""
    found: list[str] = []
    for word in words[:5]:
        if word in SLOTS or word in ("and", "or") or not word[:1].isalpha():
            break
        found += [root(word)] if word not in SILENT else []
    return found
