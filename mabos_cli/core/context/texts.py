"""Texts within limits: turns of a conversation and their cost, words that tell what a prompt is about."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log, log10
from typing import NamedTuple, Protocol

from mabos_cli.core.language.text import stem, words, words_as_written

# What a provider adds: tokens around each message, and a few that open its answer.
MESSAGE_TOKENS, END_TOKENS = 4, 2
FEWEST = 3  # words of a prompt that may be about something
_MOST = 48  # words that a prompt is known by
# A word tells something that stands in few passages: of many passages in a twentieth, of few in a dozen or a third of them.
_COMMON, _DOZEN, _THIRD = 0.05, 12, 0.3
_EVERYWHERE = 0.5  # of all passages: what stands in more of them says nothing, whatever it stands beside
_PASTED = 4000  # characters of a prompt that are looked at
# What counts beside the meaning of a text for a prompt: the share of words in common, a name in common, the shape of an answer, and
# an answer in the first person to a question in it.
_SHARED, _NAMED, _SHAPED, _MINE = 0.5, 0.2, 0.1, 0.15
# How relevant a text must be: to a question; to a request, where it says how things are to be done, or anything else. The larger a
# memory, the more in it is like anything by chance.
_ASKED, _STANDING, _REQUESTED, _BRIEFLY = 0.2, 0.3, 0.4, 0.6
_SIZE, _SMALLEST, _PER_TEN_TIMES = 30, 10, (0.15, 0.04)  # texts of a memory for which this holds; below that and above
STANDING = ("instruction", "preference")
_NAMES = 60  # characters on either side of what says that something has another name
_FEW = 4  # texts that are given for their meaning at most
_CROWD, _AHEAD = 10, 0.1  # where so many are relevant, one must be so much more relevant than they are
# What stands between two names of one thing, as texts tell them.
_ALSO = re.compile(r"\b(?:known[ _]as|called|aka|nicknamed|alias|short for|stands for)\b")
_CLAUSE = re.compile(r"[.,;:()\n]|\b(?:is|are|was|were|also|better|formerly)\b")
_FIRST_WORD = re.compile(
    r"\W*(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could|should|shall|will|would|may|has|have)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = r"(?i)\b(?:i|me|my|mine|we|us|our|ours)\b"
_NAME = r"(?<=[\w,;:&)] )(?!\w+days?\b)[A-Z][\w'-]*[a-z][\w'-]*"  # no day of the week, no currency
# What a question asks for, and what a text has that tells it: a name, a time, an amount.
_SHAPES = (
    (r"\bwho\b|\bwhom\b|\bwhose\b|\bwhich\b|\bwhere\b", _NAME),
    (r"\bwhen\b|\bhow (?:long|soon)\b|\buntil\b|\bdeadline\b|\bwhat (?:time|day|date)\b", r"\d|(?:day|night|week|month|quarter|year)s?\b"),
    (r"\bhow (?!do|does|did|is|are|can|could|should|would|to|about|come)\w+", r"\d"),
)  # fmt: skip


class Count(Protocol):
    """Counts the tokens of a text."""

    def __call__(self, text: str, /) -> int: ...


class Turn(NamedTuple):
    """Holds what one message says. role is system, user, assistant or tool; at is ISO time, name the speaker or tool."""

    role: str
    content: str
    at: str = ""
    name: str = ""

    @property
    def sent_as(self) -> str:
        """Returns the role in a message to any provider: what a tool gave back comes from the user's side."""
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


class Prompt(NamedTuple):
    """A prompt as memory is asked with it: its text, the words that it may be about, what tells that a text answers it, and other
    names that memory knows for what it is about."""

    text: str
    asked: list[str]
    is_question: bool = False
    shape: str = ""
    other: str = ""

    names: frozenset[str] = frozenset()  # the words that it writes as such


def read_prompt(text: str) -> Prompt:
    """Returns a prompt as memory is asked with it.

    >>> read_prompt("Who owns the webhooks?").is_question, read_prompt("run the tests").is_question
    (True, False)
    """
    text = text.strip()[:_PASTED]
    lowered = text.casefold()
    shape = next((answer for question, answer in _SHAPES if re.search(question, lowered)), "")
    is_question = text.endswith("?") or _FIRST_WORD.match(text) is not None
    names = frozenset(word.casefold().removesuffix("'s") for word in re.findall(_NAME, text))
    return Prompt(text, asked_about(text), is_question, shape if is_question else "", names=names)


def relevance(prompt: Prompt, text: str, shared: float, cosine: float) -> float:
    """Returns how relevant a text is to a prompt, given the share of the prompt's words in it and how much it means the same.

    >>> relevance(read_prompt("When does Dana come?"), "On Monday comes Dana", 0.5, 0.3)
    0.85
    """
    capitals = {word.casefold().removesuffix("'s") for word in re.findall(r"\b[A-Z][\w'-]+", text)}
    asked = {word.casefold() for word in prompt.asked}
    is_named = bool(prompt.names & capitals) or bool(
        asked & capitals and asked & {word.casefold().removesuffix("'s") for word in re.findall(_NAME, text)}
    )
    is_shaped = bool(prompt.shape and re.search(prompt.shape, text))
    is_mine = is_shaped and bool(re.search(_FIRST_PERSON, prompt.text) and re.search(_FIRST_PERSON, text))
    return round(cosine + _SHARED * shared + _NAMED * is_named + _SHAPED * is_shaped + _MINE * is_mine, 4)


def least_relevance(prompt: Prompt, kind: str, total: int) -> float:
    """Returns how relevant a text of a type must be to a prompt, in a memory of so many texts, to be worth its tokens.

    A question wants an answer; a request rather wants to be left alone, unless something says how it is to be done.

    >>> [least_relevance(read_prompt("run the tests"), kind, 30) for kind in ("instruction", "fact")]
    [0.3, 0.6]
    """
    requested = _REQUESTED if len(prompt.asked) >= FEWEST else _BRIEFLY
    least = _ASKED if prompt.is_question else _STANDING if kind in STANDING else requested
    times = log10(max(total, _SMALLEST) / _SIZE)
    return round(least + times * _PER_TEN_TIMES[times > 0], 4)


def choose_relevant(values: Mapping[int, float], least: Mapping[int, float], sure: Collection[int]) -> dict[int, float]:
    """Returns the few texts that are relevant enough, by number, besides those that are sure to be.

    Where many are relevant, those that are no more so than the others tell nothing.

    >>> choose_relevant({1: 0.5, 2: 0.3, 3: 0.1}, dict.fromkeys((1, 2, 3), 0.2), [3])
    {1: 0.5, 2: 0.3, 3: 0.1}
    >>> choose_relevant({n: 0.5 for n in range(20)}, dict.fromkeys(range(20), 0.2), [])
    {}
    """
    passing = sorted(
        (row for row in values if row not in sure and values[row] >= least[row]), key=lambda row: -values[row]
    )
    if len(passing) > _CROWD:
        bar = values[passing[_CROWD]] + _AHEAD
        passing = [row for row in passing if values[row] >= bar]
    return {row: values[row] for row in (*passing[:_FEW], *sure) if row in values}


def other_names(prompt: Prompt, texts: Iterable[str]) -> list[str]:
    """Returns the words of other names for what a prompt is about, as texts tell them.

    >>> other_names(read_prompt("what does the big one pay?"), ["- Acme Berths known_as The big one (1.00, manual)"])
    ['Acme', 'Berths']
    """
    asked = {stem(word.casefold()) for word in prompt.asked}
    found: dict[str, None] = {}
    for text, link in ((one, link) for one in texts for link in _ALSO.finditer(one)):
        before = [
            part for part in _CLAUSE.split(text[max(0, link.start() - _NAMES) : link.start()]) if part.strip(" -")
        ]
        one, other = (
            words_as_written(part) for part in ((before or [""])[-1], _CLAUSE.split(text[link.end() :][:_NAMES])[0])
        )
        for name, also in ((one, other), (other, one)):
            if name and {stem(word.casefold()) for word in name} <= asked:
                found |= dict.fromkeys(word for word in also if stem(word.casefold()) not in asked)
    return [*found]
