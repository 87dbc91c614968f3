"""Reads what memory is asked with, for recall, packs and hooks alike: the words that it may be about, which kind of answer it
wants, whether it asks what was last; and how relevant texts are to it."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log, log10

from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.text import STOP_WORDS, asked_words, stem, terms, words, words_as_written
from mabos_cli.core.records import NamedTuple

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
# In a small memory: how relevant the best must be to answer a question surely, how relevant others must be beside it and at all, and how
# many are near where none is sure (twice as many for a question about many things).
_SURELY, _NEARLY, _AT_ALL, _NEAREST = 0.6, 0.1, 0.04, 16
# What stands between two names of one thing, as texts tell them.
_ALSO = compiled(r"\b(?:known[ _]as|called|aka|nicknamed|alias|short for|stands for)\b")
_CLAUSE = compiled(r"[.,;:()\n]|\b(?:is|are|was|were|also|better|formerly)\b")
_FIRST_WORD = r"(?i)\W*(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could|should|shall|will|would|may|has|have)\b"
_FIRST_PERSON = r"(?i)\b(?:i|me|my|mine|we|us|our|ours)\b"
_NAME = r"(?<=[\w,;:&)] )(?!\w+days?\b|(?:Janu|Febr|Septem|Octo|Novem|Decem)|(?:March|April|May|June|July|August)\b)[A-Z][\w'-]*[a-z][\w'-]*"  # no day, no month, no currency
# What a question asks for, and what a text has that tells it: a name, a time, an amount.
_SHAPES = (
    (r"\bwho\b|\bwhom\b|\bwhose\b|\bwhich\b|\bwhere\b", _NAME),
    (r"\bwhen\b|\bhow (?:long|soon)\b|\buntil\b|\bdeadline\b|\bwhat (?:time|day|date)\b", r"\d|(?:day|night|week|month|quarter|year)s?\b"),
    (r"\bhow (?!do|does|did|is|are|can|could|should|would|to|about|come)\w+", r"\d"),
)  # fmt: skip
# Kinds of values that a question may ask for, of which a text has one or does not answer it.
_VALUES = (
    (r"\b(?:how much|what|which)\b.*\b(?:costs?|charges?|pays?|paid|earns?|spen[dt]|salary|wage|fees?|price)\b|\bhow expensive\b",
     r"[$€£¥]|\b(?:usd|eur|gbp|chf|jpy|euros?|dollars?|pounds?|francs?|bucks?|cents?|yen|krone[rn]?|kronor|rupees?|pesos?|z[lł]oty\w*)\b"
     r"|\d[.,]\d\d\b|\bfree\b"),
    (r"\b(?:phone|telephone|mobile|extension)(?: number)?\b(?!.*\b(?:provider|contract)\b)", r"\d{3}|\d[\d ()/.-]{4,}\d"),
    (r"\bpercent(?:age)?\b", r"%|\bper ?cent|\b(?:half|third|quarter)\b|\d (?:in|out of) \d"),
    (r"\bhow (?:much does .* weigh|heavy)\b", r"\d ?(?:kg|kilos?|g|grams?|t|tons?|tonnes?|lbs?|pounds?|oz)\b|\b(?:kilo|pound|ton)"),
    (r"\b(?:what|which) colou?r\b", r"\b(?:red|orange|yellow|green|blue|purple|violet|pink|brown|black|white|gr[ae]y|beige|cream|gold|silver)\b"),
)  # fmt: skip
# How things go on and stand, and when; and what else a request says that is about nothing besides. The rest are stop words.
_PROCEEDING = (
    r"\b(?:go(?:ing|es)? on|went on|continu\w*|proceed|resume|carry on|pick (?:\w+ )?up|(?:we|you|i) (?:left|leave|stop(?:ped)?)|leave off|left (?:off|to do)|happen\w*|"
    r"chang\w*|new|news|latest|lately|recent(?:ly)?|status|progress|stand|situation|updates?|so far|catch|miss(?:ed)?|next|today|"
    r"yesterday|this morning|last night|(?:this|last|past) (?:\w+ )?(?:days?|weeks?|weekend|months?|session|time))\b"
    r"|\bwhere (?:were|was|are|am) (?:we|i)\b|\bhow (?:are things|is it going)\b|\bkeep going\b"
)
_BESIDE = (
    r"\b(?:sum|summary|summari[sz]e|recap|overview|bring|speed|tell|give|show|know|need|please|things?|everything|anything|something|"
    r"work(?:ing|ed)?|get|got|let|since|point|ok|okay|hello|hi|hey|week|months?|\w+day|january|february|march|april|may|june|july|august|"
    r"september|october|november|december|\d{1,4}(?:st|nd|rd|th)?)\b"
)
_LONGEST_LATEST = 80  # characters of such a request: what says more is about something

# Passages from which on a memory is large; share of a question that it must not know, and that no text may hold, to be beyond it: the
# latter for a question whose unknown words are none that it writes as names, and for others.
_LARGE_MEMORY, _UNKNOWN, _ENOUGH = 1000, 0.25, (0.4, 0.6)
_CAPITAL = r"(?<=\S )\w*[A-Z]\w*|\b\w+[A-Z]\w*"  # a word with a capital, unless it begins the question


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


def is_unheard_of(question: str, held: Mapping[str, int], total: int, texts: Iterable[str]) -> bool:
    """Returns whether a question asks for something that a large memory has never heard of.

    Much of what the question is about (rare words tell most) stands nowhere, and no text holds enough of the rest; where a name
    stands nowhere, a text must hold more of it. A small memory lacks most words: there it tells nothing.

    >>> is_unheard_of("How do I drain a Nomad client?", {"drain": 9, "client": 300}, 5000, ["Drain a node: kubectl drain"])
    True
    """
    asked = dict.fromkeys(asked_words(question))
    worth = {word: log(1 + total / (held.get(word, 0) + 0.5)) for word in asked}
    unknown = {word for word in asked if not held.get(word)}
    whole = sum(worth.values())
    if total < _LARGE_MEMORY or sum(worth[word] for word in unknown) < _UNKNOWN * whole:
        return False
    is_named = not unknown.isdisjoint(word.casefold() for word in compiled(_CAPITAL).findall(question))
    by_stem = {stem(word): value for word, value in worth.items()}
    held_most = max((sum(by_stem[term] for term in {*terms(text)} & by_stem.keys()) for text in texts), default=0.0)
    return held_most < _ENOUGH[is_named] * whole


class Prompt(NamedTuple):
    """A prompt as memory is asked with it: its text, the words that it may be about, what tells that a text answers it, and other
    names that memory knows for what it is about."""

    text: str
    asked: list[str]
    is_question: bool = False
    shape: str = ""
    other: str = ""
    names: frozenset[str] = frozenset()  # the words that it writes as such
    value: str = ""  # what a text holds that has the kind of value that is asked for
    wants_latest: bool = False  # asks how things stand or what happened, or to go on: about nothing in particular


def read_prompt(text: str) -> Prompt:
    """Returns a prompt as memory is asked with it.

    >>> read_prompt("Who owns the webhooks?").is_question, read_prompt("run the tests").is_question
    (True, False)
    >>> [read_prompt(text).wants_latest for text in ("Where were we?", "what happened this week", "what happened to the mast?")]
    [True, True, False]
    """
    text = text.strip()[:_PASTED]
    lowered = text.casefold()
    has_mark = text.endswith("?") and any(map(str.isalnum, text))
    is_question = has_mark or compiled(_FIRST_WORD).match(text) is not None
    names = _names_in(_NAME, text)
    wants_latest = len(text) <= _LONGEST_LATEST and _asks_for_latest(lowered)
    shape, value = (_answer_to(lowered, kinds) if is_question else "" for kinds in (_SHAPES, _VALUES))
    return Prompt(text, asked_about(text), is_question, shape, "", names, value, wants_latest)


def _answer_to(lowered: str, kinds: Sequence[tuple[str, str]]) -> str:
    """Returns the pattern of what answers a question, by the first kind that it is of."""
    return next((answer for question, answer in kinds if compiled(question).search(lowered)), "")


def _names_in(pattern: str, text: str) -> frozenset[str]:
    return frozenset(word.casefold().removesuffix("'s") for word in compiled(pattern).findall(text))


def _asks_for_latest(lowered: str) -> bool:
    """Returns whether a request says nothing but that things go on, stand or happen."""
    rest, found = compiled(_PROCEEDING).subn(" ", compiled(r"['’](?:s|re|ve)\b").sub("", lowered))
    return found > 0 and STOP_WORDS.issuperset(asked_words(compiled(_BESIDE).sub(" ", rest)))


def holds_value(prompt: Prompt, texts: Iterable[str]) -> bool:
    """Returns whether a text has the kind of value that a prompt asks for, if it asks for one: no other answers what something costs.

    >>> asked = read_prompt("What does the mixer cost?")
    >>> holds_value(asked, ["The mixer squeals"]), holds_value(asked, ["We paid 300 euros"])
    (False, True)
    """
    return not prompt.value or any(re.search(prompt.value, text.casefold()) for text in texts)


def relevance(prompt: Prompt, text: str, shared: float, cosine: float) -> float:
    """Returns how relevant a text is to a prompt, given the share of the prompt's words in it and how much it means the same.

    >>> relevance(read_prompt("When does Dana come?"), "On Monday comes Dana", 0.5, 0.3)
    0.85
    """
    capitals, asked = _names_in(r"\b[A-Z][\w'-]+", text), {word.casefold() for word in prompt.asked}
    is_named = bool(prompt.names & capitals or (asked & capitals and asked & _names_in(_NAME, text)))
    is_shaped = bool(prompt.shape and compiled(prompt.shape).search(text))
    is_mine = is_shaped and bool(compiled(_FIRST_PERSON).search(prompt.text) and compiled(_FIRST_PERSON).search(text))
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


def choose_nearest(values: Mapping[str, float], is_many: bool = False) -> tuple[list[str], bool]:
    """Returns what of a small memory is to be told for a question, most relevant first, and whether it surely answers: all that is
    nearly as relevant as the best then, else the few nearest.

    >>> choose_nearest({"a": 0.9, "b": 0.5, "c": 0.05}), choose_nearest({"a": 0.3, "b": 0.01})
    ((['a', 'b'], True), (['a'], False))
    """
    best = max(values.values(), default=0.0)
    passing = [ref for ref, value in values.items() if value >= max(_AT_ALL, _NEARLY * best)]
    passing.sort(key=lambda ref: -values[ref])
    return (passing, True) if best >= _SURELY else (passing[: _NEAREST * (1 + is_many)], False)


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
