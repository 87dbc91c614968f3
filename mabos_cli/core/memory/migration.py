"""Migration: what a note that a person wrote becomes as a memory, by its words, the headings above it and what its comments say."""

import re
from _blake2 import blake2b
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.hierarchy.log_event import is_marked_untrusted, kind_of_title, split_kind, split_label
from mabos_cli.core.language.periods import MONTH, WEEKDAYS, find_day, month_number
from mabos_cli.core.language.text import fold, one_line, words
from mabos_cli.core.memory.item import PRIORITIES, TYPES, MemoryItem, check_tags
from mabos_cli.core.memory.observation import Redact
from mabos_cli.core.memory.stores import Draft
from mabos_cli.core.memory.trust import lowest_trust, trust_of_file

# The type of a note is the first that holds of:
#   1. the label that it begins with: `Decision: ...`, `**lesson** (0.70): ...`, or a sentence that says who decided
#   2. a box to tick: a plan
#   3. an order at its start (ORDERS), also behind a label: an instruction
#   4. below the name of a project: the first note is the project, the others are what 6 and 7 say
#   5. the headings above it, the nearest first, then the name of the file, then its title (kind_of_title)
#   6. its own words: the first row of WORDS that is found in it
#   7. in a daily note an event, elsewhere a fact; an event to come is a plan
ORDERS = r"(?i)\W*(?:\w[\w /-]{0,30}: )?(?:always|never|do not|don['’]t|must|make sure|remember to|ask before)\b"
WORDS = (
    ("preference", r"(?i)\b(?:prefers?|preferred|likes|dislikes|hates|favou?rite|i (?:like|love|hate|dislike))\b"),
    ("lesson", r"(?i)\b(?:lessons?|learn(?:ed|t)|turns out|note to self)\b"),
    ("plan", r"(?i)^\W*(?:to ?do|next|follow up)\b|\b(?:need|plan|have) to\b"),
    ("outcome", r"(?i)^\W*(?:shipped|released|launched|finished|completed|fixed|deployed|won|lost|signed|renewed)\b"),
)
assert {kind for kind, _ in WORDS} <= {*TYPES}

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
# Says why: it stays with the note before it.
_REASON = re.compile(
    r"(?i)\W*(?:(?:rationale|reasons?|why|because|alternatives?|trade-?offs?|consequences?|costs?|context)\W*:|because\b)"
)
# Headings between "Projects" and the name of a project.
_GROUPS = frozenset(
    "active current ongoing open paused done completed archived past planned future personal work side other new".split()
)
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
    is_step: bool = False  # whether it is numbered
    is_lead: bool = False  # whether it is the first below a heading that names a project or a person
    is_alone: bool = False  # whether it is all that stands below its heading
    page: str = ""  # the title of the whole file

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


def join_notes(notes: Iterable[Note], path: str, size: int) -> Iterator[Note]:
    """Yields notes with those in one that belong together, as far as they have at most `size` characters: a decision and why it was
    made, the steps of a procedure, what is known of a person, the properties of a project, what happened at a time of day.

    >>> found = join_notes([Note(1, 1, "Chose SQLite", ("Data",)), Note(2, 2, "Rationale: one file", ("Data",))], "MEMORY.md", 99)
    >>> [note.text for note in found]
    ['Chose SQLite\\n- Rationale: one file']
    """
    entries = list(notes)
    sizes = Counter(note.titles for note in entries)
    last: Note | None = None
    tags: tuple[tuple[str, str], ...] = ()
    for note in entries:
        is_new = last is None or last.titles != note.titles
        tags = () if is_new and last else tags
        if _is_timed(note) and split_label(note.text)[0] == "project":
            tags = (("tags", split_label(note.text)[1]),)
            continue
        is_alone = sizes[note.titles] == 1 and bool(_name_of(path))
        is_lead = is_new and bool(thing_of(note.titles, path))
        note = note._replace(is_lead=is_lead, is_alone=is_alone, marks=(*note.marks, *tags))
        if last and not is_new and len(last.text) + len(note.text) + 3 <= size and _belongs(last, note, path):
            last = last._replace(last=note.last, text=f"{last.text}\n- {note.text}", marks=(*last.marks, *note.marks))
            continue
        if last:
            yield last
        last = note
    if last:
        yield last


def _belongs(last: Note, note: Note, path: str) -> bool:
    """Returns whether a note below the same headings as the one before it is part of that."""
    if _REASON.match(note.text):
        return True
    if note.box or last.box or split_kind(note.text)[0] != "note" or re.match(ORDERS, note.text):
        return False
    kind = _kind_of_place(note, path)
    if last.is_step and note.is_step:
        return kind in ("", "plan")
    if kind == "decision":
        return bool(note.titles) and find_date(note.titles[-1]) is not None
    if _is_timed(note):
        return split_kind(last.text)[0] == "note" and bool(split_label(note.text)[0])
    return last.is_lead and (thing_of(note.titles, path) == "person" or bool(_PROPERTY.match(note.text)))


def _is_timed(note: Note) -> bool:
    return bool(note.titles) and _TIME.match(note.titles[-1]) is not None


def thing_of(titles: Sequence[str], path: str) -> str:
    """Returns project or person if the last heading is the name of one, which is so below headings such as "Projects".

    >>> thing_of(("Projects", "Active", "Website"), "MEMORY.md"), thing_of(("Website",), "memory/projects.md"), thing_of(("Projects",), "")
    ('project', 'project', '')
    """
    if not titles or kind_of_title(titles[-1]) or {*words(titles[-1])} <= _GROUPS:
        return ""
    places = (place for place in (*reversed(titles[:-1]), _name_of(path)) if not {*words(place)} <= _GROUPS)
    kind = kind_of_title(next(places, ""))
    return kind if kind in ("project", "person") else ""


def _name_of(path: str) -> str:
    """Returns the name of a file without its ending; empty for a daily note and for MEMORY.md, which name no topic."""
    name = path.rpartition("/")[2].removesuffix(".md")
    return "" if name == "MEMORY" or _DATE.match(name) else name


def _kind_of_place(note: Note, path: str) -> str:
    """Returns the type that the headings stand for, the nearest first, or the name and title of a file that is not of a day."""
    name = _name_of(path)
    places = (*reversed(note.titles), name, note.page if name else "")
    return next(filter(None, map(kind_of_title, places)), "")


def draft_note(note: Note, path: str, today: date, redact: Redact) -> Named:
    """Returns the note as a draft for long-term memory, without secrets: all that it says, and where it stood.

    >>> named = draft_note(Note(12, 14, "Prefers tea", ("People", "Ada")), "MEMORY.md", date(2026, 2, 24), lambda t: (t, ()))
    >>> named.draft.item.content, named.draft.item.type, named.draft.item.context
    ('Ada: Prefers tea', 'person', 'MEMORY.md:12-14 · People > Ada')
    """
    marks, titled = dict(note.marks), " > ".join(note.titles)
    day = re.fullmatch(r"(?:.*/)?(\d{4}-\d\d-\d\d)[^/]*", path)
    text, known_by = _standing_alone(note, path)
    content, kinds = redact(text)
    context, more = redact(f"{path}:{note.lines}{' · ' if titled else ''}{titled}")
    importance = importance_of(note, marks)
    key = key_of(redact(known_by)[0])
    item = MemoryItem(
        id="",
        content=content,
        type=type_of(note, path, today, daily=bool(day)),
        importance=0.5 if importance is None else importance,
        source=one_line(f"migrate:{path}")[:200],
        trust=lowest_trust((trust_of_file(path), "untrusted" if is_marked_untrusted(note.text) else "agent")),
        tags=tuple(tag for tag in tags_of(note, marks, _name_of(path)) if not redact(tag)[1]),
        observed_at=observed_at(note, marks, day[1] if day else "", today),
        context=one_line(context),
        extra=(("migrated", key),),
    )
    found = tuple(sorted({*kinds, *more}))
    return Named(path, note, key, Draft(item, "long_term", graded=importance is not None, redacted=found))


def key_of(content: str) -> str:
    """Returns what a text is known by, however it is spaced and capitalized, wherever it stands.

    >>> key_of("Prefers  Tea") == key_of("prefers tea"), key_of("at 9") == key_of("at 8")
    (True, False)
    """
    return blake2b(fold(content).encode("utf-8"), digest_size=8).hexdigest()


def _standing_alone(note: Note, path: str) -> tuple[str, str]:
    """Returns the text, behind the heading above it where that names a thing, or where the text does not say what it is about; and
    what the note is known by, which is the text alone where that says enough, so that it is known below any heading."""
    text, heading = note.text.replace("\0", "\u2400"), note.titles[-1] if note.titles else ""
    note_words, title = words(text), subject_of(heading)
    is_open = len(note_words) <= _SHORT or _PROPERTY.match(text) is not None
    names = title != heading or note.is_alone or bool(thing_of(note.titles, path)) or (note.is_step and "\n- " in text)
    has_it = fold(title) in fold(text) if names else {*words(title)} <= {*note_words}
    # The type says what a label said, except of a list; numbers in the label are importance.
    bare = split_kind(text)[1]
    bare = text if "\n" in text.removesuffix(bare) else bare
    if not (is_open or names) or not title or (kind_of_title(title) and not _is_timed(note)) or has_it:
        return bare, text
    return f"{title}: {bare}", f"{title}: {text}" if is_open else text


def subject_of(title: str) -> str:
    """Returns a heading without the date and time in it, or the "About" before it; empty when nothing else is left.

    >>> subject_of("2026-02-11: Prices"), subject_of("08:15 - Mail"), subject_of("Monday, 16 February 2026"), subject_of("About Ada")
    ('Prices', 'Mail', '', 'Ada')
    """
    bare = _TIME.sub("", _WEEKDAY.sub("", _DATE.sub("", title)), count=1)
    bare = re.sub(r"(?i)^about (?=\S)", "", bare)
    return bare.strip(" -:,.()[]–—·|") if bare != title else title


def type_of(note: Note, path: str, today: date, *, daily: bool) -> str:
    """Returns the type of a note, by the table above."""
    named = split_kind(note.text)[0]
    if named != "note":
        return named
    if note.box:
        return "plan"
    if re.match(ORDERS, note.text):
        return "instruction"
    thing = thing_of(note.titles, path)
    is_detail = thing == "project" and not note.is_lead
    by_words = next((kind for kind, pattern in WORDS if re.search(pattern, note.text)), "")
    found = by_words if is_detail else thing or _kind_of_place(note, path) or by_words
    opening = find_date(note.text[:24])
    if found == "event" and opening and opening > today:
        return "plan"
    return found or ("event" if daily else "fact")


def importance_of(note: Note, marks: Mapping[str, str]) -> float | None:
    """Returns how important the note is said to be, or None: by a comment, in its own words, or as critical by a heading.

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
    """Returns when it happened: by a comment, the date at its start, the headings from the nearest on, or the name of the file.

    A date to come is no date of an observation.
    """
    given_day = next((marks[name] for name in ("observed", "date") if name in marks), "")
    opening = _DATE.match(note.text, len(note.text) - len(note.text.lstrip("*_([`~ ")))
    found = [find_date(given_day), _day_of(opening) if opening else None]
    found += [find_date(title) for title in reversed(note.titles)] + [find_day(day)]
    known = next((one for one in found if one and one <= today), None)
    if known is None:
        return ""
    times = (_TIME.match(title) for title in reversed(note.titles))
    time = next((match for match in times if match), None)
    hour, minute = (int(time[1]), int(time[2])) if time else (0, 0)
    return f"{known.isoformat()}T{hour:02d}:{minute:02d}:00.000Z"


def find_date(text: str) -> date | None:
    """Returns the first day that a text names with its year, if there is such a day.

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


def tags_of(note: Note, marks: Mapping[str, str], name: str = "") -> tuple[str, ...]:
    """Returns tags from the name of the file, headings that stand for no type, #tags in the text, what a comment names, and a state
    other than active; once each."""
    topics = (subject_of(title) for title in (name, *note.titles) if not kind_of_title(title))
    titles = ([word for word in words(topic) if not word.isdigit()] for topic in topics)
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
