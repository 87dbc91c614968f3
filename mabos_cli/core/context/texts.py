"""Texts within limits: turns of a conversation and their cost, layers of detail, words that tell what a prompt is about."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log
from typing import NamedTuple, Protocol

from mabos_cli.core.language.text import one_line, split_sentences, stem, words, words_as_written

# What a provider adds: tokens around each message, and a few that open its answer.
MESSAGE_TOKENS, END_TOKENS = 4, 2
LAYERS = ("L0", "L1", "L2")
_WIDTHS = {"L0": 80, "L1": 280, "L2": 4000}
_READ = 16_000  # characters of a text in which telling sentences are looked for
FEWEST = 3  # words of a prompt that may be about something
_MOST = 48  # words that a prompt is known by
# A word tells something that stands in few passages: of many passages in a twentieth, of few in a dozen or a third of them.
_COMMON, _DOZEN, _THIRD = 0.05, 12, 0.3
_EVERYWHERE = 0.5  # of all passages: what stands in more of them says nothing, whatever it stands beside
_PASTED = 4000  # characters of a prompt that are looked at


class Count(Protocol):
    """Counts the tokens of a text."""

    def __call__(self, text: str, /) -> int: ...


class Turn(NamedTuple):
    """What one message says. role is system, user, assistant or tool; at is ISO time, name the speaker or tool."""

    role: str
    content: str
    at: str = ""
    name: str = ""

    @property
    def sent_as(self) -> str:
        """The role in a message to any provider: what a tool gave back comes from the user's side."""
        return "user" if self.role == "tool" else self.role


def turn_cost(turn: Turn, count: Count) -> int:
    """Returns tokens of a turn as a message.

    >>> turn_cost(Turn("user", "12345678"), lambda text: len(text) // 4)
    7
    """
    return MESSAGE_TOKENS + count(turn.sent_as) + count(turn.content)


def total_cost(turns: Iterable[Turn], count: Count) -> int:
    """Returns tokens of messages together, without those that open the answer."""
    return sum(turn_cost(turn, count) for turn in turns)


def fit_text(text: str, room: int, count: Count) -> str:
    """Returns the text if it costs at most `room`; else its start and end around a mark, empty if that is too much.

    >>> fit_text("a" * 60 + "z" * 60, 80, len)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa … [70 characters left out] … zzzzzzzzzzzzzzzz'
    """
    total = count(text)
    if total <= room:
        return text
    keep = len(text) * room // total if room > 0 else 0
    while keep > 0:
        head = keep - keep // 3
        left_out = f" … [{len(text) - keep:,} characters left out] … "
        short = text[:head] + left_out + text[len(text) - keep // 3 :]
        cost = count(short)
        if cost <= room:
            return short
        keep = min(keep - 1, keep * room // cost)
    return ""


class Told(NamedTuple):
    """A text at a layer, on one line, and the layer: the smallest that says as much."""

    layer: str
    text: str
    is_whole: bool


def tell(text: str, layer: str, asked: Collection[str] = ()) -> Told:
    """Returns the text at a layer. Sentences that hold the stems in `asked` are preferred.

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


def _sum_up(text: str, width: int, asked: Collection[str]) -> str:
    """Returns the leading sentence and those that hold most of what is asked, in their order, within the width."""
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
    """Returns how many of the stems that are asked for a sentence holds."""
    starts = {term[:2] for term in asked}  # a stem leaves the start of a word alone
    return len({stem(word) for word in words(sentence) if word[:2] in starts} & {*asked})


def _joined(chosen: dict[int, str], count: int) -> str:
    """Returns chosen sentences in their order, with a mark wherever something is left out."""
    told, last = "", -1
    for at in sorted(chosen):
        gap = "" if last < 0 else " " if at == last + 1 or told.endswith("…") else " … "
        told, last = f"{told}{gap}{chosen[at]}", at
    return told if last == count - 1 or told.endswith("…") else f"{told} …"


def asked_about(prompt: str) -> list[str]:
    """Returns the words that a prompt may be about; none for a command of the host, or for a word or two.

    >>> asked_about("How do we price seats?"), asked_about("/compact now please"), asked_about("go on")
    (['price', 'seats'], [], [])
    """
    text = prompt.strip()[:_PASTED]
    if text[:1] in ("/", "!", "#") or len(words(text)) < FEWEST:
        return []
    return [word for word in words_as_written(text) if len(word) > 1 or not word.isascii()]


def telling_words(asked: Sequence[str], held: Mapping[str, int], total: int) -> dict[str, float]:
    """Returns the words of a prompt that memory knows and that are not everywhere, and their worth: the rarer the more.

    >>> telling_words(["seats", "price", "css"], {"seats": 2, "price": 900}, 1000)
    {'seats': 6.217}
    """
    most = max(_EVERYWHERE * total, 1)
    known = [word for word in asked if 0 < held.get(word, 0) <= most]
    rarest = sorted(known, key=lambda word: held[word])[:_MOST]
    return {word: round(log(1 + total / held[word]), 3) for word in known if word in rarest}


def words_needed(asked: int) -> int:
    """Returns how many telling words a passage must share with a prompt that has so many words.

    Of many words, two stand together by chance in a passage that is about something else.

    >>> [words_needed(count) for count in (1, 2, 12, 13, 31)]
    [1, 2, 2, 3, 4]
    """
    return min(asked, 2 + (asked > 12) + (asked > 30))


def share_words(
    places: Mapping[str, Collection[int]], worth: Mapping[str, float], asked: Sequence[str], total: int
) -> dict[int, float]:
    """Returns the passages that share enough words with a prompt, by what those are worth together.

    Enough are as many words that tell as are needed, or more of those that are common here: a memory that is all about berths
    and prices has something to say about the berth price after five weeks. A rare word makes up for no other. A passage with all
    words of a prompt answers it, however common they are, unless it is one word.

    >>> share_words({"seats": {1, 2}, "price": {2, 3}}, {"seats": 6.0, "price": 2.0}, ["seats", "price", "css"], 1000)
    {}
    >>> share_words({"seats": {1, 2}, "price": {2, 3}}, {"seats": 6.0, "price": 2.0}, ["seats", "price"], 1000)
    {2: 8.0}
    """
    needed = words_needed(len(asked))
    just = round(log(1 + total / max(_COMMON * total, min(_DOZEN, _THIRD * total), 1)), 3)
    shared: dict[int, list[float]] = {}
    for word, passages in places.items():
        for passage in passages:
            shared.setdefault(passage, []).append(worth[word])
    return {
        passage: sum(found)
        for passage, found in shared.items()
        if sum(min(one, just) for one in found) > needed * just - 0.001 or 1 < len(asked) == len(found)
    }
