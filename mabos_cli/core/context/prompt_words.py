"""Whether memory has something to say about a prompt that nobody put as a question: words that tell, and passages that share enough
of them."""

from collections.abc import Collection, Mapping, Sequence
from math import log

from mabos_cli.core.language.text import words, words_as_written

FEWEST = 3  # words of a prompt that may be about something
_MOST = 48  # words that a prompt is known by
# A word tells something that stands in few passages: of many passages in a twentieth, of few in a dozen or a third of them.
_COMMON, _DOZEN, _THIRD = 0.05, 12, 0.3
_EVERYWHERE = 0.5  # of all passages: what stands in more of them says nothing, whatever it stands beside
_PASTED = 4000  # characters of a prompt that are looked at


def asked_about(prompt: str) -> list[str]:
    """The words that a prompt may be about; none for a command of the host, or for a word or two.

    >>> asked_about("How do we price seats?"), asked_about("/compact now please"), asked_about("go on")
    (['price', 'seats'], [], [])
    """
    text = prompt.strip()[:_PASTED]
    if text[:1] in ("/", "!", "#") or len(words(text)) < FEWEST:
        return []
    return [word for word in words_as_written(text) if len(word) > 1 or not word.isascii()]


def telling_words(asked: Sequence[str], held: Mapping[str, int], total: int) -> dict[str, float]:
    """The words of a prompt that memory knows and that do not stand everywhere, and what each is worth: the rarer the more.

    >>> telling_words(["seats", "price", "css"], {"seats": 2, "price": 900}, 1000)
    {'seats': 6.217}
    """
    most = max(_EVERYWHERE * total, 1)
    known = [word for word in asked if 0 < held.get(word, 0) <= most]
    rarest = sorted(known, key=lambda word: held[word])[:_MOST]
    return {word: round(log(1 + total / held[word]), 3) for word in known if word in rarest}


def words_needed(asked: int) -> int:
    """How many telling words a passage must share with a prompt that has so many words.

    Of many words, two stand together by chance in a passage that is about something else.

    >>> [words_needed(count) for count in (1, 2, 12, 13, 31)]
    [1, 2, 2, 3, 4]
    """
    return min(asked, 2 + (asked > 12) + (asked > 30))


def share_words(
    places: Mapping[str, Collection[int]], worth: Mapping[str, float], asked: Sequence[str], total: int
) -> dict[int, float]:
    """The passages that share enough words with a prompt, by what those are worth together.

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
