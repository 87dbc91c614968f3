"""Migration: what a note that a person wrote becomes as a memory, by its words, the headings above it and what its comments say."""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from hashlib import blake2b
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.hierarchy.log_event import is_marked_untrusted, split_kind
from mabos_cli.core.language.periods import MONTH, WEEKDAYS, find_day, month_number
from mabos_cli.core.language.text import fold, one_line, stem, stems, words
from mabos_cli.core.memory.item import PRIORITIES, TYPES, MemoryItem, check_tags
from mabos_cli.core.memory.observation import Redact
from mabos_cli.core.memory.storing import Draft
from mabos_cli.core.memory.trust import lowest_trust, trust_of_file

# The type of a note is the first that holds of:
#   1. the word that it begins with: `Decision: ...`, `**lesson** (0.70): ...`, or a sentence that says who decided
#   2. a box to tick: a plan
#   3. an order at its start (ORDERS): an instruction
#   4. the headings above it, the nearest first, then the name of the file: the first row of HEADINGS with a word of it
#   5. its own words: the first row of WORDS that is found in it
#   6. in a daily note an event, elsewhere a fact
ORDERS = r"(?i)\W*(?:always|never|do not|don['’]t|must|make sure|remember to|ask before)\b"
HEADINGS = (
    ("preference", "preference prefer likes dislike favourite favorite style taste"),
    ("instruction", "instruction rule directive guideline policy convention boundary protocol always never"),
    ("decision", "decision decided"),
    ("lesson", "lesson learned learning pattern mistake gotcha retrospective"),
    ("plan", "todo task plan next tomorrow goal roadmap backlog upcoming recurring reminder milestone"),
    ("outcome", "outcome result done completed accomplishment achieved"),
    ("insight", "insight reflection idea"),
    ("observation", "observation observed"),
    ("person", "person people contact relationship team family colleague"),
    ("project", "project"),
    ("event", "event session log timeline meeting happened"),
    ("fact", "fact reference"),
)
WORDS = (
    ("preference", r"(?i)\b(?:prefers?|preferred|likes|dislikes|hates|favou?rite)\b"),
    ("lesson", r"(?i)\b(?:lessons?|learn(?:ed|t)|turns out|note to self)\b"),
    ("plan", r"(?i)^\W*(?:to ?do|next|follow up)\b|\b(?:need|plan|have) to\b"),
    ("outcome", r"(?i)^\W*(?:shipped|released|launched|finished|completed|fixed|deployed)\b"),
)
_STEMS = tuple((kind, frozenset(map(stem, names.split()))) for kind, names in HEADINGS)
assert {kind for kind, _ in HEADINGS + WORDS} <= {*TYPES}

_DATE = re.compile(
    rf"\b(?:(\d{{4}}-\d\d-\d\d)|({MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})"
    rf"|(\d{{1,2}})(?:st|nd|rd|th)?\.? ({MONTH})\.? (\d{{4}}))\b",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(rf"(?:{'|'.join(WEEKDAYS)}),? *", re.IGNORECASE)
_TIME = re.compile(r"^\W*([01]?\d|2[0-3]):([0-5]\d)\b")
_RANKED = re.compile(rf"(?i)\b(?:priority|importance): *\**({'|'.join(PRIORITIES)})\b")
_TAG = re.compile(r"(?<!\S)#([^\W\d_][\w/-]*)")
_MOST_TAGS = 12
_TAG_WORDS = 4  # a heading with more of them is a sentence
# A note with no more words than these, or one that begins with the name of a property, does not say what it is about: the
# heading above it does.
_SHORT = 6
_PROPERTY = re.compile(
    r"(?i)\W*(?:status|state|goal|launch|budget|deadline|due|owner|role|repo|repository|url|stack|next|reason|rationale|email|phone"
    r"|port|host|version|contact|address|location|context|action|summary|notes?|risks?|blockers?)\W*:"
)


class Note(NamedTuple):
    """One entry of a file of notes: its lines, its text without marks, the headings above it, and what its comments say."""

    first: int
    last: int
    text: str
    titles: tuple[str, ...] = ()
    marks: tuple[tuple[str, str], ...] = ()
    box: str = ""  # x when it is ticked, - when it is not

    @property
    def lines(self) -> str:
        return f"{self.first}-{self.last}"


class Named(NamedTuple):
    """A note with the key by which it is known again, and the draft that it becomes."""

    path: str
    note: Note
    key: str
    draft: Draft

    @property
    def place(self) -> str:
        return f"{self.path}:{self.note.lines}"


def draft_note(note: Note, path: str, today: date, redact: Redact) -> Named:
    """The note as a draft for long-term memory, without secrets: all that it says, and where it stood.

    >>> named = draft_note(Note(12, 14, "Prefers tea", ("People", "Ada")), "MEMORY.md", date(2026, 2, 24), lambda t: (t, ()))
    >>> named.draft.item.content, named.draft.item.type, named.draft.item.context
    ('Ada: Prefers tea', 'person', 'MEMORY.md:12-14 · People > Ada')
    """
    marks, titled = dict(note.marks), " > ".join(note.titles)
    day = re.fullmatch(r"(?:.*/)?(\d{4}-\d\d-\d\d)[^/]*", path)
    kind = type_of(note, path, daily=bool(day))
    content, kinds = redact(_standing_alone(note, always=kind == "project"))
    context, more = redact(f"{path}:{note.lines}{' · ' if titled else ''}{titled}")
    importance = importance_of(note, marks)
    # A note that says what it is about is known again below any heading.
    key = key_of(redact(_standing_alone(note))[0])
    item = MemoryItem(
        id="",
        content=content,
        type=kind,
        importance=0.5 if importance is None else importance,
        source=one_line(f"migrate:{path}")[:200],
        trust=lowest_trust((trust_of_file(path), "untrusted" if is_marked_untrusted(note.text) else "agent")),
        tags=tuple(tag for tag in tags_of(note, marks) if not redact(tag)[1]),
        observed_at=observed_at(note, marks, day[1] if day else "", today),
        context=one_line(context),
        extra=(("migrated", key),),
    )
    found = tuple(sorted({*kinds, *more}))
    return Named(path, note, key, Draft(item, "long_term", graded=importance is not None, redacted=found))


def key_of(content: str) -> str:
    """What a text is known by, however it is spaced and capitalized, wherever it stands.

    >>> key_of("Prefers  Tea") == key_of("prefers tea"), key_of("at 9") == key_of("at 8")
    (True, False)
    """
    return blake2b(fold(content).encode("utf-8"), digest_size=8).hexdigest()


def _standing_alone(note: Note, *, always: bool = False) -> str:
    """The text, behind the heading above it where it does not say itself what it is about and the heading names a thing."""
    text = note.text.replace("\0", "\u2400")
    said, title = words(text), subject_of(note.titles[-1]) if note.titles else ""
    is_open = always or len(said) <= _SHORT or _PROPERTY.match(text)
    if not is_open or not title or kind_of_title(title) or {*words(title)} <= {*said}:
        return text
    return f"{title}: {text}"


def subject_of(title: str) -> str:
    """A heading without the date and time in it; empty when nothing else is.

    >>> subject_of("2026-02-11: Prices"), subject_of("08:15 - Mail"), subject_of("Monday, 16 February 2026")
    ('Prices', 'Mail', '')
    """
    bare = _TIME.sub("", _WEEKDAY.sub("", _DATE.sub("", title)), count=1)
    return bare.strip(" -:,.()[]–—·|") if bare != title else title


def kind_of_title(title: str) -> str:
    """The type that a heading stands for; empty when it names something else.

    >>> kind_of_title("Active Projects"), kind_of_title("Preferred tools"), kind_of_title("Website")
    ('project', 'preference', '')
    """
    found = {*stems(title)}
    return next((kind for kind, stems in _STEMS if found & stems), "")


def type_of(note: Note, path: str, *, daily: bool) -> str:
    """The type of a note, by the table above."""
    named = split_kind(note.text)[0]
    if named != "note":
        return named
    if note.box:
        return "plan"
    if re.match(ORDERS, note.text):
        return "instruction"
    name = path.rpartition("/")[2].removesuffix(".md")
    places = (*reversed(note.titles), "" if daily else name)
    by_words = (kind for kind, pattern in WORDS if re.search(pattern, note.text))
    found = next(filter(None, map(kind_of_title, places)), "") or next(by_words, "")
    return found or ("event" if daily else "fact")


def importance_of(note: Note, marks: Mapping[str, str]) -> float | None:
    """How important the note is said to be, or None: by a comment, in its own words, or as critical by a heading.

    >>> importance_of(Note(1, 1, "x"), {"importance": "7"}), importance_of(Note(1, 1, "Alpha (priority: high)"), {})
    (0.7, 0.8)
    """
    given = marks.get("importance", marks.get("priority", "")).casefold()
    if given in PRIORITIES:
        return PRIORITIES[given]
    if number := re.fullmatch(r"(\d+(?:\.\d+)?)(?: ?/ ?10)?", given):
        value = float(number[1])
        return min(1.0, value / 10 if value > 1 or "/" in given else value)
    ranked = _RANKED.search(note.text)
    if ranked:
        return PRIORITIES[ranked[1].casefold()]
    stated = split_kind(note.text)[2]
    if stated is not None:
        return stated
    is_critical = "CRITICAL" in note.text or any("critical" in words(title) for title in note.titles)
    return PRIORITIES["critical"] if is_critical else None


def observed_at(note: Note, marks: Mapping[str, str], day: str, today: date) -> str:
    """When it happened: by a comment, the date at its start, the headings from the nearest on, or the name of the file.

    A date to come is no date of an observation.
    """
    told = next((marks[name] for name in ("observed", "date") if name in marks), "")
    opening = _DATE.match(note.text, len(note.text) - len(note.text.lstrip("*_([`~ ")))
    found = [find_date(told), _day_of(opening) if opening else None]
    found += [find_date(title) for title in reversed(note.titles)] + [find_day(day)]
    known = next((one for one in found if one and one <= today), None)
    if known is None:
        return ""
    times = (_TIME.match(title) for title in reversed(note.titles))
    time = next((match for match in times if match), None)
    hour, minute = (int(time[1]), int(time[2])) if time else (0, 0)
    return f"{known.isoformat()}T{hour:02d}:{minute:02d}:00.000Z"


def find_date(text: str) -> date | None:
    """The first day that a text names with its year, if there is such a day.

    >>> find_date("Kickoff on 3rd Feb 2026"), find_date("2026-02-30"), find_date("March 4, 2025: launch")
    (datetime.date(2026, 2, 3), None, datetime.date(2025, 3, 4))
    """
    match = _DATE.search(text)
    return _day_of(match) if match else None


def _day_of(match: re.Match[str]) -> date | None:
    iso, month, day, year, day_first, month_then, year_last = match.groups()
    if iso:
        return find_day(iso)
    number = month_number(month or month_then)
    return find_day(f"{year or year_last}-{number:02d}-{int(day or day_first):02d}")


def tags_of(note: Note, marks: Mapping[str, str]) -> tuple[str, ...]:
    """Tags from the headings, #tags in the text, what a comment names, and a state other than active; once each."""
    titles = ([word for word in words(subject_of(title)) if not word.isdigit()] for title in note.titles)
    found = ["-".join(named) for named in titles if 0 < len(named) <= _TAG_WORDS]
    found += _TAG.findall(note.text)
    for name in ("trigger", "triggers", "tag", "tags"):
        found += marks.get(name, "").split(",")
    status = marks.get("status", "").casefold()
    found += [status] if status not in ("", "active") else []
    found += ["done"] if note.box == "x" else []
    return _printable(found)[:_MOST_TAGS]


def _printable(tags: Iterable[str]) -> tuple[str, ...]:
    kept: list[str] = []
    for tag in tags:
        try:
            kept += check_tags([one_line(tag)])
        except BadValue:
            continue
    return tuple(dict.fromkeys(kept))
