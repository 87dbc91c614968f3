"""How much of a text is told: one line (L0), its leading and most telling sentences (L1), or the detail (L2)."""

import re
from collections.abc import Collection
from typing import NamedTuple

from mabos_cli.core.language.text import one_line, stem, words

LAYERS = ("L0", "L1", "L2")
_WIDTHS = {"L0": 80, "L1": 280, "L2": 4000}
_READ = 16_000  # characters of a text in which telling sentences are looked for
# Quotes and brackets that close behind the last sign belong to the sentence.
_SENTENCE_END = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"')\]])|(?<=[.!?…][\"')\]]{2}))\s+|(?<=[。！？])|\n+")


class Told(NamedTuple):
    """A text at a layer, on one line, and the layer: the smallest that says as much."""

    layer: str
    text: str
    is_whole: bool


def tell(text: str, layer: str, asked: Collection[str] = ()) -> Told:
    """The text at a layer. asked are the stems of a question: sentences that hold them are told rather than others.

    >>> tell("Rent is due on the first.", "L2")
    Told(layer='L0', text='Rent is due on the first.', is_whole=True)
    >>> tell("A first line. " + "Nothing here. " * 30 + "Rent is 900. And so on.", "L1", {"rent"}).text[-30:]
    'Nothing here. … Rent is 900. …'
    """
    width = _WIDTHS[layer]
    if len(text) <= 8 * width:  # a longer one is cut, were it only for its spaces
        line = one_line(text)
        name = next((name for name in LAYERS if len(line) <= _WIDTHS[name]), "")
        if name and _WIDTHS[name] <= width:
            return Told(name, line, True)
    return Told(layer, _sum_up(text[:_READ], width, asked) if layer == "L1" else one_line(text, width), False)


def split_sentences(text: str) -> list[str]:
    """The sentences and lines of a text, each on one line.

    >>> split_sentences("# Rent\\nIt is due. (Pay it!) Now")
    ['# Rent', 'It is due.', '(Pay it!)', 'Now']
    """
    return [line for part in _SENTENCE_END.split(text) if (line := one_line(part))]


def _sum_up(text: str, width: int, asked: Collection[str]) -> str:
    """The leading sentence and those that hold most of what is asked, in their order, within the width."""
    sentences = split_sentences(text)
    lead = one_line(sentences[0], width // 2) if asked else one_line(" ".join(sentences), width - 2)
    chosen, room = {0: lead}, width - len(lead) - 2
    held = [_held(sentence, asked) for sentence in sentences]
    # What follows the lead is next to tell when nothing else is asked for.
    for at in sorted(range(1, len(sentences)), key=lambda n: (-held[n], n)):
        if len(sentences[at]) + 3 <= room:
            chosen[at] = sentences[at]
            room -= len(sentences[at]) + 3
        elif held[at] and room > width // 4:
            chosen[at] = one_line(sentences[at], room - 3)
            room = 0
    return _joined(chosen, len(sentences))


def _held(sentence: str, asked: Collection[str]) -> int:
    """How many of the stems that are asked for a sentence holds."""
    starts = {term[:2] for term in asked}  # a stem leaves the start of a word alone
    return len({stem(word) for word in words(sentence) if word[:2] in starts} & {*asked})


def _joined(chosen: dict[int, str], count: int) -> str:
    """Chosen sentences in their order, with a mark wherever something is left out."""
    told, last = "", -1
    for at in sorted(chosen):
        gap = "" if last < 0 else " " if at == last + 1 or told.endswith("…") else " … "
        told, last = f"{told}{gap}{chosen[at]}", at
    return told if last == count - 1 or told.endswith("…") else f"{told} …"
