"""Names in a clause: what is one, which words belong together, and how each is led up to."""

from collections.abc import Sequence
from typing import NamedTuple

from mabos_cli.core.mind.claims.words import ALIASES, COPULAS, CURRENCIES, NAMES, PLACES, SILENT, SLOTS

# Names that are plain words as well.
_WORDS_TOO = frozenset("go rest spring mark swift rust react oracle max tim dan rails".split())
_ARTICLES = frozenset("the a an our my its their his her your this that new only own".split())
_ADVERBS = frozenset("now nowadays currently still already also always mainly mostly often usually".split())


class Name(NamedTuple):
    """A proper name, a code word, or whatever else stands where one would, with the word that leads to it."""

    key: str
    text: str
    slot: str = ""
    head: str = ""
    at: int = 0
    end: int = 0


def find_names(tokens: list[str]) -> list[Name]:
    """The names of a clause, with neighbours that belong together joined."""
    shouted = len(tokens) > 2 and all(token[:1].isupper() for token in tokens)
    marked = [_is_name(token, shouted) for token in tokens]
    if marked[:1] == [True] and not _is_known(tokens[0]) and marked[1:2] != [True]:
        # A sentence begins with a capital anyway.
        marked[0] = False
    found: list[Name] = []
    at = 0
    while at < len(tokens):
        end = next((n for n in range(at, len(tokens)) if not marked[n]), len(tokens))
        if end > at:
            text = " ".join(tokens[at:end]).replace("_", " ")
            slot, head = find_slot([token.casefold() for token in tokens[:at]])
            folded = text.casefold()
            found.append(Name(ALIASES.get(folded, folded), text, slot, head, at, end))
        at = max(end, at) + 1
    return found


def _is_name(token: str, shouted: bool) -> bool:
    folded = token.casefold()
    if not token[:1].isalpha() or (folded in SILENT and token not in ("US", "Go")):
        return False
    return _is_known(token) or (token[0].isupper() and not shouted)


def _is_known(token: str) -> bool:
    """Whether a word is a name wherever it stands."""
    folded = token.casefold()
    coded = any(c.isdigit() or c == "_" for c in token) or any(c.isupper() for c in token[1:])
    listed = folded in NAMES and not (folded in _WORDS_TOO and token.islower())
    return coded or listed or (token[0].isupper() and (folded in PLACES or folded in CURRENCIES))


def find_slot(before: Sequence[str]) -> tuple[str, str]:
    """How a name is led up to: the preposition, be, object or first; and the word before that."""
    left = [word for word in before if word not in _ARTICLES and word not in _ADVERBS]
    if not left:
        return "first", ""
    if left[-1] in SLOTS:
        return left[-1], left[-2] if left[1:] else ""
    return ("be", "") if left[-1] in COPULAS else ("object", left[-1])
