"""How alike two texts or words are, whether one text keeps to what others say, and an index that finds similar texts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, combinations
from math import ceil
from zlib import crc32

from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.text import STOP_WORDS, stem, stems, terms, words
from mabos_cli.core.records import NamedTuple

# Without its apostrophe a negation looks like the end of many words (payment), so that those verbs are named.
_NEGATION = (
    r"(?i)\b(?:no|not|never|none|nor|neither|nobody|nothing|without|cannot|\w+n['\u2019]t"
    r"|(?:do|does|did|is|are|was|were|wo|would|should|could|ca|has|have|had|must|need)nt)\b"
)
_NUMBER = r"[-+]?\d[\d.,:/%-]*"
_DIGITS = compiled(r"\d+(?:[.,]\d+)*")
_THOUSANDS = compiled(r",(?=\d{3}(?!\d))")
# Half of the words may be the writer's own; beyond that it talks about something else.
_LEAST_SHARED = 0.5
# A text says the same with and without them.
_FILLERS = frozenset("a an the please note fyi reminder just really actually basically simply indeed".split())
_OPENERS = frozenset(("remember", "that"))
_PUNCTUATION = ".,;:!?\"'()[]{}*_`\u2013\u2014\u2026\u201c\u201d\u201e\u00ab\u00bb"
_CONTRACTED = compiled(r"(?<=\w)'(re|ll|ve|m)\b")
# Words by which a statement can tell of a change; what it changes may share little more than a name with it.
_CHANGING = compiled(
    r"(?i)\b(?:as of|from (?:\w+ on|today|now)|(?:took|taken|takes) over|starting|effective|now|nowadays|no longer|any ?more|instead|new|moved|relocated|switched|changed|migrated|transferred|converted"
    r"|joined|left|quit|stopped|rewritten|rebuilt|ported|rewrote|renamed|rebranded|became|promoted|appointed|elected|raised"
    r"|lowered|increased|reduced|cut|extended|postponed|rescheduled)\b"
)
_APOSTROPHES = str.maketrans("", "", "'\u2019")


def word_set(text: str) -> frozenset[str]:
    """Returns the distinct words of a text, without fillers if there are others."""
    found = frozenset(words(text.translate(_APOSTROPHES)))
    return found - _FILLERS - _OPENERS or found


def likeness(a: frozenset[str], b: frozenset[str]) -> float:
    """Returns what two sets share over all that they hold (Jaccard), in 0..1.

    >>> likeness(word_set("the key is in the vault"), word_set("The key is in the vault!"))
    1.0
    """
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if shared else 0.0


def says_the_same(a: str, b: str) -> bool:
    """Returns whether one of two near-equal texts can stand for both: another number, a negation, or the same words in
    another order make them different claims.

    >>> says_the_same("The limit is 50", "the limit is 50!"), says_the_same("limit is 1.2", "limit is 2.1")
    (True, False)
    >>> says_the_same("We should ship", "We shouldn't ship"), says_the_same("Ann reports to Bo", "Bo reports to Ann")
    (False, False)
    """
    negated = [count_negations(text) for text in (a, b)]
    numbers = [[number.rstrip(".,:/-") for number in compiled(_NUMBER).findall(text)] for text in (a, b)]
    common = word_set(a) & word_set(b)
    order = [[*dict.fromkeys(word for word in words(text) if word in common)] for text in (a, b)]
    return negated[0] == negated[1] and numbers[0] == numbers[1] and order[0] == order[1] and bool(word_set(a))


def repeats(a: str, b: str) -> bool:
    """Returns whether two texts say the same in the same order: only case, punctuation and filler words may differ.

    >>> repeats("Please note: the limit is 1,000 a day.", "the limit is 1000 a day"), repeats("Use C++", "Use C")
    (True, False)
    """
    one, two = _statement(a), _statement(b)
    return bool(one) and one == two


@lru_cache(1 << 13)
def _statement(text: str) -> list[str]:
    """Returns the words of a text in order, with the signs inside them, without what says nothing."""
    plain = _CONTRACTED.sub(r" \1", _THOUSANDS.sub("", text.casefold().replace("\u2019", "'"))).replace("n't", " not")
    found = [word for word in (part.strip(_PUNCTUATION).rstrip("-") for part in plain.split()) if word]
    kept = [word for word in found if word not in _FILLERS] or found
    start = next((n for n, word in enumerate(kept) if word not in _OPENERS), 0)
    return kept[start:]


def count_negations(text: str) -> int:
    """Returns how often a text says no.

    >>> count_negations("We won't pay, and nobody asked"), count_negations("The payment is important")
    (2, 0)
    """
    return len(compiled(_NEGATION).findall(text))


def numbers_of(text: str) -> frozenset[str]:
    """Returns the numbers in a text, however they are written; the word one, which is mostly none, does not count.

    >>> sorted(numbers_of("1,000 seats at 2.50, twenty-one of them by 2026-02-03"))
    ['1000', '2', '2.5', '2026', '21', '3']
    """
    from mabos_cli.core.language.quantities import NUMBER_WORDS, write_digits  # here: few commands need it

    plain = write_digits(text)
    found = {_plain(digits) for digits in _DIGITS.findall(plain)}
    spelled = (word for word in words(plain) if word in NUMBER_WORDS and word != "one")
    return frozenset(found | {f"{NUMBER_WORDS[word]:g}" for word in spelled})


def _plain(digits: str) -> str:
    """Returns a number without thousands marks and needless zeros."""
    whole, point, part = _THOUSANDS.sub("", digits).partition(".")
    part = part.rstrip("0") if part.isdigit() else part
    return (whole.lstrip("0") or "0") + (point + part if part else "")


def find_fault(text: str, sources: Sequence[str], keep: float = 0.0) -> str:
    """Returns in a few words why a text must not replace its sources; empty when it may.

    keep is the share of the words of each source that it must hold, also of those that not all sources have in common:
    their subject alone says little.

    >>> find_fault("Seats cost 20 EUR", ["a seat costs 20 EUR a month", "EUR only"])
    ''
    >>> find_fault("Seats cost 30 EUR", ["a seat costs 20 EUR a month"])
    'its text has a number that is not in what it was told'
    """
    if not numbers_of(text) <= frozenset().union(*map(numbers_of, sources)):
        return "its text has a number that is not in what it was told"
    if count_negations(text) and not any(map(count_negations, sources)):
        return "its text denies something that was not denied"
    text_terms = set(terms(text))
    source_terms = [set(terms(source)) for source in sources]
    if not text_terms or len(text_terms & set().union(*source_terms)) < _LEAST_SHARED * len(text_terms):
        return "its text is about something else"
    common, held = set.intersection(*source_terms), {*stems(text)}
    if any(len(held & each) < keep * len(each) for source in source_terms for each in (source, source - common)):
        return "its text leaves out something of what it was told"
    return ""


def may_be_one(a: str, b: str, same_numbers: bool) -> bool:
    """Returns whether it is worth asking if two texts say the same: not when one denies what the other does not."""
    return bool(count_negations(a)) == bool(count_negations(b)) and (not same_numbers or numbers_of(a) == numbers_of(b))


def find_merge_fault(text: str, a: str, b: str) -> str:
    """Returns why a text must not take the place of two others: besides inventing nothing, it must lose no number and
    no denial."""
    if not numbers_of(a) | numbers_of(b) <= numbers_of(text):
        return "its text leaves out a number"
    if fault := find_fault(text, (a, b), keep=0.5):
        return fault
    if bool(count_negations(text)) != bool(count_negations(a) or count_negations(b)):
        return "its text does not deny what was denied"
    return ""


def edit_distance(one: str, two: str, most: int) -> int:
    """Returns the least number of letters to put in, take out or exchange; `most`, a small number, plus 1 when that is
    more.

    >>> edit_distance("kitten", "sitting", 5), edit_distance("kitten", "sitting", 2)
    (3, 3)
    """
    if abs(len(one) - len(two)) > most:
        return most + 1
    same = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    one, two = one[same:], two[same:]
    if not one or not two or most == 0:
        return min(len(one) + len(two), most + 1)
    # Three ways on, each with a letter less to spend: quick as long as few may differ, and most words part early.
    options = ((one[1:], two), (one, two[1:]), (one[1:], two[1:]))
    return 1 + min(edit_distance(*option, most - 1) for option in options)


def tolerance(length: int) -> int:
    """Returns how far two names of a length may be apart and still be taken for one: short ones must be equal (MRR and
    ARR are two things), of long ones two letters may differ."""
    return 0 if length < 6 else 1 if length < 9 else 2


# Two texts are compared when a band of their signatures is the same: the first few words of both, in one of some orders. Of texts
# that share nine words in ten none is missed, of those that share seven in ten one in twelve at most; short ones, of which a word
# more or less changes much, have more bands, and those of a few words more still. No order cares how rare a word is, so that common ones
# cost nothing.
_BANDS = ((20, 5, 1 << 30), (24, 4, 23), (20, 3, 10))  # how many, of how many words, for texts of at most so many words
_64 = 0xFFFFFFFFFFFFFFFF
_ORDERS = [n * 0x9E3779B97F4A7C15 & _64 for n in range(1, 1 + max(count for count, _, _ in _BANDS))]
_LEAST_BANDED = 0.65  # likeness
_FEW = 250  # texts that are all compared sooner than the marks of one are made
IN_BAND = 60  # texts of a band that are compared: the newest
WORDS_ASKED = 600  # holders of words that are looked at for one statement


@lru_cache(1 << 16)
def _number_of(word: str) -> int:
    mixed = crc32(word.encode("utf-8", "surrogatepass")) * 0x9E3779B97F4A7C15 & _64
    mixed = (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9 & _64
    return mixed ^ mixed >> 32


@lru_cache(1 << 13)
def bands(text: frozenset[str]) -> tuple[int, ...]:
    """Returns the bands of the signature of a text, as numbers of 32 bits.

    >>> one, other = (bands(word_set(f"the key of the vault is in the {place} drawer")) for place in ("top", "lower"))
    >>> len(one), bool({*one} & {*other})
    (64, True)
    """
    numbers = [*map(_number_of, text)]
    if not numbers:
        return ()
    kinds = [(count, size) for count, size, most in _BANDS if len(text) <= most]
    orders = _ORDERS[: max(count for count, _ in kinds)]
    ordered = [sorted(map(order.__xor__, numbers)) for order in orders]
    return tuple(
        hash((n, *words[:size])) & 0xFFFFFFFF for count, size in kinds for n, words in enumerate(ordered[:count])
    )


LONGEST_STATEMENT = 400  # characters; what is longer says more than one thing, and takes no other's place
_STATEMENT = 40  # distinct words of a text that says one thing
CANDIDATES = 40  # statements that share most of those words
# Share of its words that a statement has in common with one that tells of its change: their subject at least, and more of a long one.
_COMMON, _COMMON_LONG, _LONG = 0.25, 0.5, 5


def subjects(text: frozenset[str]) -> frozenset[str]:
    """Returns the words by which a statement is found, stemmed; none for a text that says more than one thing.

    >>> sorted(subjects(word_set("The team now uses Trello for planning")))
    ['plan', 'team', 'trello', 'use']
    """
    return frozenset(map(stem, text - STOP_WORDS)) if len(text) <= _STATEMENT else frozenset()


@lru_cache(1 << 10)
def _about(text: str) -> frozenset[str]:
    """Returns the words by which a text is found as a statement."""
    return subjects(word_set(text))


def may_update(older: str, newer: str, is_change: bool | None = None) -> bool:
    """Returns whether two statements that share a subject are worth comparing: they begin or end alike, or the newer one mentions a
    change and they share a quarter of the words of the shorter one, or half if it is long.

    >>> may_update("Our CTO is Jan", "Our CTO is Lisa"), may_update("Dana has a cat", "Dana moved to Lisbon")
    (True, True)
    >>> may_update("Dana has a cat", "Dana likes jazz and opera")
    False
    """
    if mentions_change(newer) if is_change is None else is_change:
        about = _about(older), _about(newer)
        least = min(map(len, about))
        return (_COMMON if least < _LONG else _COMMON_LONG) * least <= len(about[0] & about[1])
    one, two = words(older), words(newer)
    most = min(len(one), len(two))
    start = next((n for n in range(most) if one[n] != two[n]), most)
    end = next((n for n in range(most - start) if one[-1 - n] != two[-1 - n]), most - start)
    return 2 * (start + end) >= most or {*one} == {*two}


def mentions_change(text: str) -> bool:
    """Returns whether a statement has words of change, such as now, moved or instead."""
    return _CHANGING.search(text) is not None


class Statement(NamedTuple):
    """A statement to compare with others: its reference, its time, its text and its trust."""

    ref: str
    at: str
    text: str
    trust: str


def find_outdated(statements: Sequence[Statement]) -> dict[str, str]:
    """Returns the refs of statements that a newer one of equal trust replaces, each with the ref of the newest.

    >>> older = Statement("a", "2026-05-01", "Yara leads support since May", "agent")
    >>> newer = Statement("b", "2026-10-01", "Omar leads support now", "agent")
    >>> find_outdated([older, newer])
    {'a': 'b'}
    """
    ordered = sorted(statements, key=lambda one: (one.at, one.ref))
    changing = {one.ref: mentions_change(one.text) for one in ordered}
    found: dict[str, str] = {}
    for older, newer in combinations(ordered, 2):
        if older.trust != newer.trust or not _about(older.text) & _about(newer.text):
            continue
        if not may_update(older.text, newer.text, changing[newer.ref]):
            continue
        from mabos_cli.core.mind.claims.updates import find_update  # late: it loads tables of words

        if find_update(older.text, newer.text):
            found[older.ref] = newer.ref
    return found


class SubjectIndex:
    """Statements by each of their words, in memory."""

    def __init__(self) -> None:
        self._statements: list[tuple[str, frozenset[str]]] = []
        self._holders: dict[str, list[int]] = {}

    def add(self, key: str, text: frozenset[str]) -> None:
        """Makes a statement findable under a key."""
        about = subjects(text)
        for word in about:
            self._holders.setdefault(word, []).append(len(self._statements))
        self._statements.append((key, about))

    def find(self, text: frozenset[str], least: float) -> list[tuple[float, str]]:
        """Returns the keys of statements that are alike by at least so much, most alike first: of those that share as many words the
        newest are looked at."""
        asked = subjects(text)
        most, need = WORDS_ASKED // max(1, len(asked)), words_needed(asked, least)
        held = Counter(chain.from_iterable(self._holders.get(word, ())[-most:] for word in asked))
        best = sorted(((count, number) for number, count in held.items() if count >= need), reverse=True)[:CANDIDATES]
        found = (self._statements[number] for _, number in best)
        return sorted(((likeness(asked, about), key) for key, about in found), key=lambda hit: (-hit[0], hit[1]))


def words_needed(asked: frozenset[str], least: float) -> int:
    """Returns how many words a statement shares at least with one that it is alike by so much.

    >>> words_needed(frozenset("abcdefgh"), 0.2), words_needed(frozenset("a"), 0)
    (2, 1)
    """
    return max(1, ceil(least * len(asked) - 1e-9))


def marks_of(text: frozenset[str], floor: float) -> tuple[int, ...]:
    """Returns by what texts that are this alike find each other: bands, or each word where they need to share little."""
    return bands(text) if floor >= _LEAST_BANDED else tuple(_number_of(word) & 0xFFFFFFFF for word in text)


class WordIndex:
    """Texts in memory: finds those that are alike enough, of many by their marks, so that not all are compared."""

    def __init__(self, floor: float) -> None:
        self._floor = floor
        self._texts: dict[str, frozenset[str]] = {}
        self._holders: dict[int, list[str]] = {}

    def add(self, key: str, text: frozenset[str]) -> None:
        """Makes a text findable under a key."""
        self._texts[key] = text
        if len(self._texts) > _FEW:
            for other in (key,) if self._holders else self._texts:
                for mark in marks_of(self._texts[other], self._floor):
                    self._holders.setdefault(mark, []).append(other)

    def find(self, text: frozenset[str], threshold: float) -> list[tuple[float, str]]:
        """Keys of texts with at least this likeness (not below the floor), most alike first."""
        threshold = max(threshold, self._floor)
        keys: Iterable[str] = self._texts
        if self._holders:
            marks: Sequence[int] = marks_of(text, self._floor)
            if (
                self._floor < _LEAST_BANDED
            ):  # what is alike enough has one of its rarest words, or more than it may lack
                marks = sorted(marks, key=lambda mark: len(self._holders.get(mark, ())))
                marks = marks[: len(marks) - words_needed(text, threshold) + 1]
            keys = {key for mark in marks for key in self._holders.get(mark, ())[-IN_BAND:]}
        scored = ((likeness(text, self._texts[key]), key) for key in keys)
        return sorted((hit for hit in scored if hit[0] >= threshold), key=lambda hit: (-hit[0], hit[1]))
