"""Plain text: what may be shown, how it is shortened, which words it has, what it costs."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from mabos_cli.core.language.patterns import compiled

# Everything that can move a cursor, rewrite a line, open a link or reorder what a person reads. Patterns of this
# size take longer to compile than a whole command needs to run: they are made when text first needs them.
_UNSAFE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
# Scripts written without spaces: every character is a word of its own, or nothing would ever match.
_UNSPACED = "[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f]"
# Those, and scripts whose words come with endings attached: an index finds them by neighbouring characters.
_UNCUT = _UNSPACED[:-1] + "\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\uac00-\ud7af\U00020000-\U0002fa1f]"
# Marks belong to the words they stand on: accents that stand apart, Hebrew and Arabic points, Indic vowel signs.
_WORD = compiled(
    "[\\w\\u0300-\\u036f\\u0591-\\u05bd\\u05bf-\\u05c7\\u064b-\\u065f\\u0670\\u0900-\\u0963\\u0966-\\u0df3]+"
)

# Endings that are words by themselves to an index: what is, Ada's, they'll. A negated verb says nothing that is searched for.
_CONTRACTED = compiled(r"\b\w+n['’]t\b|(?<=\w)['’](?:s|re|ve|ll|d|m)\b", re.IGNORECASE)

STOP_WORDS = frozenset(
    (
        "a about after all also an and any are as at be because been before being but by can could did do does "
        "doing for from had has have having he her here hers him his how i if in into is it its itself just me "
        "more most my no nor not now of off on once only or other our ours out over own same she should so some "
        "such than that the their theirs them then there these they this those through to too under until up "
        "very was we were what when where which while who whom why will with would you your yours"
    ).split()
)

# Quotes and brackets that close behind the last sign belong to the sentence.
_SENTENCE_END = r"(?:(?<=[.!?…])|(?<=[.!?…][\"')\]])|(?<=[.!?…][\"')\]]{2}))\s+|(?<=[。！？])|\n+"


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"<U+{code:04X}>"


def visible(text: str) -> str:
    """Returns the text with control and direction characters drawn instead of obeyed; line breaks and tabs stay.

    >>> visible("a\\x1b[31mred")
    'a␛[31mred'
    """
    return text if text.isprintable() else re.sub(_UNSAFE, _picture, text)


def one_line(text: str, width: int = 0) -> str:
    """Returns the text on one line, drawn safely, cut at a word near width characters (0: not cut).

    >>> one_line("a\\n\\n  b c", 0)
    'a b c'
    >>> one_line("alpha beta gamma", 12)
    'alpha beta…'
    """
    start = text.lstrip()[: 8 * width] if width else text
    line = visible(" ".join(start.split()))
    if not width or (len(line) <= width and len(start) < 8 * width):
        return line
    cut = line[: width - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > width // 2 else cut).rstrip() + "…"


def split_sentences(text: str) -> list[str]:
    """Returns the sentences and lines of a text, each on one line.

    >>> split_sentences("# Rent\\nIt is due. (Pay it!) Now")
    ['# Rent', 'It is due.', '(Pay it!)', 'Now']
    """
    return [line for part in compiled(_SENTENCE_END).split(text) if (line := one_line(part))]


def whole_sentences(text: str, width: int, most: int) -> str:
    """Returns as many leading sentences as fit into width characters, on one line; the first one may take `most`.

    >>> whole_sentences("It is due. Pay it now.", 8, 15), whole_sentences("It is due on Monday", 8, 12)
    ('It is due.', 'It is due…')
    """
    first, *rest = split_sentences(text[: 8 * most]) or [""]
    line = one_line(first, most)
    for sentence in rest:
        if len(line) + 1 + len(sentence) > width:
            break
        line += f" {sentence}"
    return line


def words(text: str) -> list[str]:
    """Returns the words of a text, folded; characters of unspaced scripts count as words.

    >>> words("Don't panic: v2.0")
    ['don', 't', 'panic', 'v2', '0']
    """
    found = _WORD.findall(text.casefold())
    if text.isascii() or not compiled(_UNSPACED).search(text):
        return found
    return [part for word in found for part in (word if compiled(_UNSPACED).search(word) else (word,))]


def join_names(written: Sequence[str], common: Collection[str], dull: Collection[str] = STOP_WORDS) -> Iterator[str]:
    """Yields the words of one sentence, with names of several words in one piece. What begins a sentence is written large anyway:
    it belongs to a name unless it is one of the common words.

    >>> list(join_names("We met Havel Foods and Brandt & Sons".split(), {"we"}))
    ['We', 'met', 'Havel Foods', 'and', 'Brandt & Sons']
    """
    name: list[str] = []
    for place, word in enumerate(written):
        folded = word.casefold()
        if word[:1].isupper() and folded not in dull and (place or folded not in common):
            name.append(word)
        elif not (word == "&" and name):
            yield from _joined(name)
            name = []
            yield word
        else:
            name.append(word)
    yield from _joined(name)


def _joined(name: list[str]) -> list[str]:
    """Returns a run of words as one name; so many that they are rather a title stand alone."""
    name = name[:-1] if name[-1:] == ["&"] else name
    return [" ".join(name)] if name and len(name) <= 5 else name


def stems(text: str) -> list[str]:
    """Returns the words of a text, stemmed lightly, with repetition.

    >>> stems("Plans and plans")
    ['plan', 'and', 'plan']
    """
    return [stem(word) for word in words(text)]


def fold(text: str) -> str:
    """Returns the text as texts are compared: without regard to case, blanks and line breaks.

    >>> fold("We  ship\\non FRIDAY")
    'we ship on friday'
    """
    return " ".join(text.casefold().split())


def spaced(text: str) -> str:
    """Returns the text with every character of a script that is hard to cut into words standing apart, for a word
    index.

    >>> spaced("Tokyo 東京都 ok")
    'Tokyo  東  京  都  ok'
    """
    return text if text.isascii() else re.sub(f"({_UNCUT})", r" \1 ", composed(text))


def split_uncut(word: str) -> list[str]:
    """Returns a word as a word index holds it: runs of such characters become pairs of neighbours.

    >>> split_uncut("東京都v2"), split_uncut("seat")
    (['東 京', '京 都', 'v2'], ['seat'])
    """
    if word.isascii() or not re.search(_UNCUT, word):
        return [word]
    found = []
    for run in re.findall(f"{_UNCUT}+|[^{_UNCUT[1:]}+", word):
        if len(run) > 1 and re.match(_UNCUT, run):
            found += [f"{one} {two}" for one, two in pairwise(run)]
        else:
            found.append(run)
    return found


def cut_text(text: str, size: int, most: int = 0) -> list[str]:
    """Returns the text in parts of at most `size` characters, cut at the end of a line, a sentence or a word where
    there is one.

    With `most`, the last of that many parts takes all that is left.

    >>> cut_text("One two. Three four five.", 12)
    ['One two. ', 'Three four ', 'five.']
    """
    parts: list[str] = []
    start = 0
    while len(text) - start > size and len(parts) + 1 != most:
        least, most_end = start + size // 2, start + size
        ends = (text.rfind(mark, least, most_end) + len(mark) for mark in ("\n", ". ", " "))
        end = next((n for n in ends if n > least), most_end)
        parts.append(text[start:end])
        start = end
    return [*parts, text[start:]]


def asked_words(text: str) -> list[str]:
    """Returns the words worth searching for, as they are written, in order and once; all words when only stop words
    remain.

    >>> asked_words("What were the deploys about?"), asked_words("who are you"), asked_words("what's Ada's plan? don't ask")
    (['deploys'], ['who', 'are', 'you'], ['ada', 'plan', 'ask'])
    """
    seen = dict.fromkeys(_WORD.findall(_uncontracted(text).casefold()))
    return [word for word in seen if word not in STOP_WORDS] or list(seen)


def _uncontracted(text: str) -> str:
    """Returns a text without the endings of contractions and possessives; as it is when nothing else is in it."""
    if "'" not in text and "’" not in text:
        return text
    found = _CONTRACTED.sub(" ", text)
    return found if _WORD.search(found) else text


def words_as_written(text: str) -> list[str]:
    """Returns the words worth searching for, in the letters that stand there: a word index folds them in its own way.

    >>> words_as_written("Who is in the Straße?")
    ['Straße']
    """
    seen = {word.casefold(): word for word in reversed(_WORD.findall(composed(_uncontracted(text))))}
    found = [word for folded, word in reversed(seen.items()) if folded not in STOP_WORDS]
    return found or list(reversed(seen.values()))


def composed(text: str) -> str:
    """Returns the text with letters and their accents in one piece, as far as there are such, and without halves of
    characters."""
    if text.isascii():
        return text
    from unicodedata import normalize

    return normalize("NFC", text.encode("utf-8", "replace").decode("utf-8"))


def terms(text: str) -> list[str]:
    """Returns the words worth searching for, stemmed lightly, in order and once; all words when only stop words remain.

    >>> terms("What were the deploys about?")
    ['deploy']
    """
    seen = dict.fromkeys(words(_uncontracted(text)))
    kept = [word for word in seen if word not in STOP_WORDS] or list(seen)
    return list(dict.fromkeys(stem(word) for word in kept))


@lru_cache(1 << 15)
def stem(word: str) -> str:
    """Returns the word without a plain English ending, so that plurals and tenses meet.

    >>> [stem(w) for w in ("price", "pricing", "priced", "prices", "shipping", "policies", "glass", "bus")]
    ['pric', 'pric', 'pric', 'pric', 'ship', 'policy', 'glass', 'bus']
    """
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            return word[:-1] if word[-1] == word[-2] and word[-1] not in "lsz" else word
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def plural(count: int, noun: str) -> str:
    """Returns a count with its noun.

    >>> plural(1, "item"), plural(2, "memory")
    ('1 item', '2 memories')
    """
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeou" else f"{count} {noun}s"


def token_cost(text: str, per_token: int = 4) -> int:
    """Returns about how many tokens a model pays to read the text: four characters each, at least one."""
    return max(1, -(-len(text) // per_token))


_LEAST_STATED, _STATED = 4, 24  # words of a statement that are looked for as they are written


def statement(text: str) -> str:
    """Returns the beginning of a text that is no question, to be found as written: who asks for a memory in its own words means that
    one, and not the one like it with another number.

    >>> statement("The backup took 28 minutes"), statement("how long did the backup take?")
    ('The backup took 28 minutes', '')
    """
    stated = " ".join(text[:4000].split()[:_STATED])
    return stated if stated.count(" ") >= _LEAST_STATED - 1 and not text.rstrip().endswith("?") else ""
