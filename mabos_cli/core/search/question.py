"""Reads a question: what is to be found as written, whom it names, which time it means, and whether it asks for one thing or many."""

import re
from collections.abc import Iterable
from datetime import date

from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.periods import MONTHS, SEASONS, mentioned, week_of
from mabos_cli.core.language.text import split_sentences, words, words_as_written

Spans = list[tuple[date, date]]
_FIRST_PERSON = frozenset("i me my mine myself we us our ours".split())
_RULE = (
    r"(?i)(?:^|[.!?]\s+)(?:please,? )?(?:always|never|from now on)(?!,| again)\b|\bi(?:['’]d| would)? (?:always |much )?prefer\b"
    r"|\bwhen(?:ever)? i ask\b"
)
LONGEST_ASKING = 800  # characters of a turn that may be a question as a whole
_LATEST = rf"(?i)\b(?:last|past|previous|this)\s+(?:{'|'.join((*MONTHS, *SEASONS))})\b"
# Something of each day or stretch that is named from the point of view of today.
_RELATIVE = r"(?i)day|night|morning|noon|evening|morrow|week|month|quarter|year"
# How an answer is to be given, in which order and at which length: no memory is about that.
_FORM = frozenset(
    "list order sequence timeline summary summarize summarise overview recap mention mentioned conversation conversations "
    "discussion discussions discussed session sessions chats items aspects different various total number times "
    "comprehensive clear tell give show walk brought".split()
)
_MANY = compiled(
    r"\b(?:list|order|sequence|chronolog\w+|timeline|summar\w+|overview|recap|how (?:many|often)|in total|throughout|across|"
    r"over time|all (?:the|of|my|our|your)|every|various|different|several)\b|\bin what ways\b|\bwhat are\b"
    r"|\b(?:what|which)(?: [\w+'-]+){0,2}? (?!is |was |does |has )[\w-]{3,}(?<!s)s (?:has|have|did|do|does|are|were)\b",
    re.IGNORECASE,
)


def asked_for(question: str, today: date | None = None) -> list[str]:
    """Returns the words that a question is searched by: without how the answer is to be given, with the dates of days that it
    names from the point of view of today.

    >>> asked_for("Can you list the harbours in order?"), asked_for("what's Ada's plan?"), asked_for("yesterday", date(2026, 3, 4))
    (['harbours'], ['Ada', 'plan'], ['yesterday', '3', 'March', '2026'])
    """
    found = words_as_written(question)
    if is_about_many(question):
        found = [word for word in found if word.casefold() not in _FORM] or found
    spans = times_in(question, (), today) if today else []
    for first, last in spans[:2]:
        days = (str(first.day),) if first == last else ()
        found += [*days, MONTHS[first.month - 1], str(first.year)]
    return [*dict.fromkeys(found)]


def is_about_many(question: str) -> bool:
    """Returns whether a question asks for a list, a count, an order or a summary: for several things that were told apart.

    >>> [is_about_many(q) for q in ("What books has Ada read?", "How many berths do we have?", "When does Ada come?")]
    [True, True, False]
    """
    return _MANY.search(question) is not None


def times_in(question: str, years: Iterable[int], today: date) -> Spans:
    """Returns the stretches of time that a question means, seen from today. Without a year, those of the given years.

    >>> times_in("What did we plan last week?", (), date(2026, 3, 4))
    [(datetime.date(2026, 2, 23), datetime.date(2026, 3, 1))]
    """
    if not compiled(r"\d|\b[A-Z]|(?i:\b(?:last|this|next|past|previous|in|ago|to|yester|tomorrow))").search(question):
        return []
    named = question
    if compiled(_RELATIVE).search(question):
        from mabos_cli.core.language.statements import name_days  # late: most questions name no such day

        named = name_days(question, today)
    weeks = [week_of(date.fromisoformat(day))[2:4] for day in compiled(r"\(week of (\d{4}-\d\d-\d\d)\)").findall(named)]
    latest = compiled(_LATEST).search(question)
    found = weeks or mentioned(named, {*years, *((today.year, today.year - 1) if latest else ())})
    has_ended = not (latest and latest[0].casefold().startswith("this"))
    past = [span for span in found if span[has_ended] <= today] if latest else []
    return [max(past)] if past else found


def is_within(at: str, spans: Spans) -> bool:
    """Returns whether a moment lies in one of the stretches."""
    return any(first.isoformat() <= at[:10] <= last.isoformat() for first, last in spans) if at else False


def asking_share(text: str) -> float:
    """Returns how much of a turn is questions: those tell less than answers do. What is long tells something besides.

    >>> asking_share("Oh nice! Where was it?"), asking_share("It was in Lyon.")
    (0.62, 0.0)
    """
    if "?" not in text or len(text) > LONGEST_ASKING:
        return 0.0
    parts = split_sentences(text)
    return round(sum(len(part) for part in parts if part.endswith("?")) / max(1, sum(map(len, parts))), 2)


def sets_rule(text: str) -> bool:
    """Returns whether a turn says how things are to be done from then on, or what its author prefers.

    >>> [sets_rule(text) for text in ("Always format code when I ask for it.", "I prefer tea", "I always lose. Never again?")]
    [True, True, False]
    """
    return compiled(_RULE).search(text) is not None


def may_rule(line: str) -> bool:
    """Returns whether a record may hold a turn that sets a rule, without reading it."""
    return compiled(r"(?i)\b(?:always|never|from now on|prefer|ask)\b").search(line) is not None


def phrases(text: str) -> list[tuple[str, bool]]:
    """Returns what is to be found as written: quoted phrases, which are sure, and what looks like an id or a file.

    >>> phrases('why "per seat" in ERR_42 and src/app.py or v2.1.0 at 7:30pm, and/or p.m.')
    [('per seat', True), ('ERR_42', False), ('src/app.py', False), ('v2.1.0', False)]
    """
    text = text[:4000]
    quoted = [part.strip() for part in compiled(r'"([^"\n]{2,200})"').findall(text)]
    tokens = compiled(r"[\w@#./:+-]*\w").findall(compiled(r'"[^"\n]*"').sub(" ", text))
    found = [(part, True) for part in quoted if words(part)]
    return (found + [(token, False) for token in dict.fromkeys(tokens) if _is_identifier(token)])[:20]


def _is_identifier(token: str) -> bool:
    """Returns whether a token is the name of a thing, rather than a word, an abbreviation, a number or a measure."""
    if len(token) < 4 or not compiled(r"[^\W\d_]").search(token):
        return False
    if compiled(r"[\d.,:-]+[^\W\d_]{1,3}").fullmatch(token):  # 7:30pm, 10km, 1990s
        return False
    if compiled(r"\d|_|@|::").search(token):
        return True
    parts = re.split(r"[./]", token)
    if "." in token:  # app.py and example.org, not p.m or i.e
        return all(len(part) > 1 for part in parts if part) and len(parts) > 1
    return len(parts) > 2  # a path, not and/or


def names_in(question: str, authors: Iterable[str]) -> frozenset[str]:
    """Returns the authors that a question names: by a whole name, by a first name, or by a last one that is nobody else's.

    >>> sorted(names_in("What did Ada say to Stone?", ["Ada Lovelace", "bob stone", "Eve", ""]))
    ['Ada Lovelace', 'bob stone']
    """
    asked, known = set(words(question)), {author: words(author) for author in authors}
    last = [parts[-1] for parts in known.values() if parts]
    return frozenset(
        author
        for author, parts in known.items()
        if parts
        and (
            asked.issuperset(parts)
            or (len(parts[0]) > 2 and parts[0] in asked)
            or (len(parts[-1]) > 2 and parts[-1] in asked and last.count(parts[-1]) == 1)
        )
    )


def is_first_person(question: str) -> bool:
    """Returns whether the one who asks speaks of themselves."""
    return not _FIRST_PERSON.isdisjoint(words(question))


def without(question: str, names: Iterable[str]) -> str:
    """Returns the question without the names of authors: a vector of a name says nothing about what was said.

    >>> without("When did Ada's brother visit?", ["Ada"])
    'When did brother visit?'
    """
    parts = sorted({part for name in names for part in words(name)}, key=len, reverse=True)
    if not parts:
        return question
    pattern = rf"\b(?:{'|'.join(map(re.escape, parts))})\b(?:['’]s)?\s*"
    return re.sub(pattern, "", question, flags=re.IGNORECASE).strip() or question
