"""A last line on files that we derive, which tells whether anybody changed them since."""

from zlib import crc32

_SEAL = "\n<!-- mabos generated {:08x} -->\n"
SEAL_SIZE = len(_SEAL.format(0))


def seal(text: str) -> str:
    """The text with a last line that tells whether anybody changed it since."""
    return text + _SEAL.format(crc32(text.encode("utf-8", "surrogatepass")))


def unsealed(text: str) -> str:
    """A sealed text without its last line."""
    return text[:-SEAL_SIZE]


def without_seal(text: str) -> str:
    """A text without the seal at its end, if there is one, whether or not it still fits."""
    start = len(text) - SEAL_SIZE
    return text[:start] if start >= 0 and text.startswith(_SEAL[:20], start) else text


def is_as_generated(text: str) -> bool:
    """Whether a sealed text is still what was written; empty text is, text without a seal is not."""
    return not text or seal(unsealed(text)) == text


def derived_title(kind: str, agent: str, name: str = "", state: str = "", more: str = "") -> str:
    """Returns the heading of a derived file and what it was made from: a state, and more about it.

    >>> print(derived_title("Facts", "main", "a7"))
    # MABOS Facts — main — a7
    <BLANKLINE>
    > Auto-materialized from facts.
    """
    made = f"Auto-materialized from {kind.lower()}{f' {state}' if state else ''}{f': {more}' if more else ''}."
    return f"# MABOS {kind} — {agent}{f' — {name}' if name else ''}\n\n> {made}"
