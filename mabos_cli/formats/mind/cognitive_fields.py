"""Fields of cognitive files: what they may be called, and where in a line their values stand."""

import re

from mabos_cli.core.language.periods import written_day
from mabos_cli.core.memory.item import TRUSTS
from mabos_cli.core.mind.mind import ACTIVE, DONE, FAILED, GONE, STALLED, WAITING
from mabos_cli.core.records import NamedTuple


def _dated(meaning: str, words: str) -> dict[str, str]:
    """Returns the names of a date that some words give: updated, updated on, last updated."""
    return dict.fromkeys(
        (f"{lead}{word}{end}" for word in words.split() for lead in ("", "last ") for end in ("", " on", " at")),
        meaning,
    )


# What a field may be called, and what it is.
NAMES = {
    **{name: name for name in "id certainty priority status source trust progress owner text updated deadline".split()},
    **{name: name for name in "type supports motivates requires title about".split()},
    **dict.fromkeys(("confidence", "conf", "proficiency", "sure", "how sure"), "certainty"),
    **dict.fromkeys(("priority score", "priority level", "prio", "importance"), "priority"),
    **dict.fromkeys(("date", "since", "last review", "last activity"), "updated"),
    **_dated("updated", "updated modified reviewed evaluated checked touched"),
    **_dated("created", "created added recorded noted adopted started begun opened observed seen learned"),
    **_dated("closed", "completed achieved finished closed ended"),
    **dict.fromkeys(("due", "due date", "by", "by when", "until", "target date"), "deadline"),
    **dict.fromkeys(("level", "kind", "category"), "type"),
    **dict.fromkeys(("value", "content", "description", "details", "state", "tools"), "text"),
    **dict.fromkeys(("belief", "desire", "goal", "intention", "plan", "commitment", "learning", "lesson"), "title"),
    **dict.fromkeys(("subject", "name", "action", "step", "what", "task", "skill"), "title"),
    **dict.fromkeys(("goal id", "goals", "for goal"), "supports"),
    **dict.fromkeys(("motivated by", "for desire"), "desire"),
    **dict.fromkeys(("part of", "parent goal"), "parent"),
    **dict.fromkeys(("to", "to whom", "stakeholder", "assigned to"), "owner"),
    **dict.fromkeys(("rests on", "based on", "depends on", "derived from"), "rests"),
    **dict.fromkeys(("needs", "resource", "resources"), "needs"),
    **dict.fromkeys(("excludes", "conflicts with", "competes with"), "excludes"),
    **dict.fromkeys(("delegated by", "delegated from"), "delegated"),
}
TITLES = ("belief", "desire", "goal", "intention", "plan", "commitment", "learning", "lesson")
_DATED = ("updated", "created", "closed")
# In a section the heading is the title and the prose the text; these begin a line that is a field.
_IN_SECTIONS = {
    name: NAMES[name]
    for name in (
        "id, certainty, confidence, conf, priority, priority score, priority level, prio, importance, status, source, trust, "
        "progress, owner, to, to whom, stakeholder, assigned to, updated, last updated, updated at, deadline, due, due date, type, "
        "supports, motivates, requires, goal id, goals, for goal, resource, resources, delegated by, delegated from"
    ).split(", ")
}
# These are words of everyday prose too: they are fields where they are bold, or where an id follows; `about` where a name does.
_IF_MARKED = {
    **dict.fromkeys(("level", "kind", "category"), "type"),
    **{name: name for name in ("goal", "desire", "plan", "intention", "parent", "serves", "reason", "outcome", "note")},
    **dict.fromkeys(("description", "details", "belief", "value"), "text"),
    **dict.fromkeys(("about", "subject"), "about"),
    **{name: meaning for name, meaning in NAMES.items() if meaning in ("desire", "parent")},
    **dict.fromkeys(("rests on", "based on", "depends on", "derived from"), "rests"),
    **dict.fromkeys(("excludes", "conflicts with", "competes with"), "excludes"),
    "needs": "needs",
}
# And these are fields where a date follows.
_IF_DATED = {name: meaning for name, meaning in NAMES.items() if meaning in _DATED}
_BRACKETED = {name: NAMES[name] for name in ("due", "rests on", "resource", "delegated by")} | {
    name: name
    for name in (
        "deadline updated status priority certainty id progress supports motivates requires owner source trust type goal plan "
        "parent desire note reason outcome serves text created closed about rests needs excludes delegated"
    ).split()
}
ID = re.compile(r"\b[A-Z]{1,5}(?:[-./][A-Za-z0-9]+)*[-./]?\d+[A-Za-z0-9-]*\b")
_LINKS = re.compile(rf"(?:{ID.pattern}[,;\s]*)+(?:\.\s.*)?")
# An id at the head of a heading, a row or an item is one by what follows it: emphasis, a colon or a dash. Without a dash in
# it, it is one if its letter is that of a kind: G1, but not Q3.
_OPENING, _CLOSING = r"[*_`\[(\s]*", r"[*_`\])]*"
_HEAD = re.compile(
    rf"{_OPENING}([A-Z][A-Za-z]{{0,9}}(?:[-_./][A-Za-z0-9]+)*[-_./]\d[A-Za-z0-9._-]*?|(?:PL|[BDGICL])\d{{1,3}})"
    rf"(?:{_CLOSING}\s*[:—–|]|\.(?=\s)|[*_`\])]+(?=\s|$))"
)
_ITALIC = re.compile(r"(?:[-*+]\s+)?(?:_[^_]+_|\*[^*]+\*|\([^()]+\))")
_NOTHING = re.compile(r"(?i)(?:[-*+]\s+)?[*_`(]*(?:none|nothing|n/?a|tbd|to be defined|empty|[-—–]+)\b[*_`)]*\.?")
# Brackets do not nest, so that a line of many that are never closed is read once.
MARK = re.compile(rf"\[\s*({'|'.join(_BRACKETED)})\s*:([^\[\]\n]*)\]", re.IGNORECASE)
# What else an item says of itself behind its words: `Pay in May. Recorded: 2026-01-03`, `Call them | goal: G-1`.
_TAIL = rf"(?<=[.,;|] )(?:(?:{'|'.join(_IF_DATED)}|deadline|due)(?=:? +\d)|goal(?=: *{ID.pattern}))"
_DAY = r"(?:\d{4}-\d\d-\d\d\b|\d{1,2}\.? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2},? \d{4})"
_NUMBER, _SURELY = r"(?:\d[\d.]* ?%|0?\.\d+)", "(?:certain|sure|confident|certainty|confidence)"
INLINE = re.compile(
    # How sure one is, and since when, may be said without a colon: `; certainty 80 %`, `, conf. high`, `, recorded 2026-03-02`.
    r"(?:(?<=[.,;|–—-] )(?:(certainty|confidence|conf|importance|(?<=[|] )priority)\b\.?[:=]? +(?=\d|(?:very )?(?:high|low)\b|medium\b)"
    rf"|(added|created|recorded|noted|updated|reviewed|due|until|by|deadline) +(?={_DAY}))|"
    r"(?<![\w\[*])(?:\*\*)?(?!confidence\s*:\s*(?!very\b)[a-z]+ [a-z])(status|priority score|priority|certainty|confidence|progress"
    # These are words of prose too, unless they are bold.
    rf"|{_TAIL}|(?<=\*\*)(?:source|supports|(?:{'|'.join(_IF_DATED)})(?=\W*\d)))\s*:(?:\*\*)?\s*)"
    rf"({_DAY}|[a-z]+(?: [a-z]+){{1,2}}(?=\s*(?:[.,;|)]|$))"
    r"|[★☆⭐]+|\d[\d.]* ?%|\d[\d.]* ?/ ?\d+|[\w%-]+(?:\.[\w%-]+)*(?:[ \t]*\(\d{4}-\d\d-\d\d[^()\n]*\))?)"
    # Or the number comes first: `— 80 % certain`.
    rf"|(?<=[.,;|–—-] )({_NUMBER}) {_SURELY}\b",
    re.IGNORECASE,
)
_SURE = re.compile(
    r"(?i)\b(?:certain\w*|sure|confiden\w+|conf|priority|importance|added|created|recorded|noted|updated|reviewed|due|until|by|deadline)\b"
)
# Stars behind a title in bold, or behind one with an id, are its priority: `**G-1: Win the tender** ★★★★`.
_STARS = re.compile(r"\s[★☆⭐]+(?=[\s*_]*$)")
# What an item says of itself in parentheses, as (certainty 0.8, added 2026-03-02), and one part of that.
ASIDE = re.compile(r"\(([^()\[\]]*)\)")
_PART = re.compile(
    r"([A-Za-z][A-Za-z ]*?)\.?\s*[:=]?\s+(\d[\d.]* ?%|[\w.%/★☆⭐-]+(?: progress)?|\d[\w. ]+|(?<=source: |status: )[\w -]+)",
    re.IGNORECASE,
)
# How sure one is: (80 % sure), (0.8).
_SURE_PART = re.compile(rf"(?:({_NUMBER}) {_SURELY}|0?\.\d+|1\.0)", re.IGNORECASE)
# Words that say what they are of without a key.
_BARE = dict.fromkeys(("critical", "high", "medium", "low"), "priority")
_BARE |= dict.fromkeys(ACTIVE | DONE | GONE | FAILED | WAITING | STALLED, "status")
# A backslash that keeps a text from being read as a field, or as the end of a comment.
_KEPT = re.compile(r"\\([:>#])")
_SAYING = re.compile(rf"(?<![\w\[])(?:status|priority|certainty|progress|{_TAIL})\s*:", re.IGNORECASE)
_BOLD_KEY = re.compile(r"(\*\*|__)([^*_:]+(?:_[^*_:]+)*)(?::\1|\1\s*:)\s*(?=\S)")
_KEY = re.compile(
    r"(\s*(?:(?:[-*+]|\d+[.)])\s+)?(?:\[[ xX]\]\s+)?(\*\*|__|)([A-Za-z][A-Za-z ]{0,20}?)(?::\2|\2\s*:)\s*)(.*)"
)
# A name, not a sentence: `About: cfo`, `About: the Hamburg office`.
_NAMING = re.compile(r"\s*[\w'&/-]+(?: [\w'&/-]+){0,4}\s*")
_ONLY_ID = re.compile(rf"(\ufeff?(?:\*\*|__))({ID.pattern})(?:\*\*|__|:\*\*|:__).*")
_PAIR = re.compile(r"(\s*(?:[-*+]\s+)?([*_]{0,3})([A-Za-z][A-Za-z ]{0,20}?)[*_]{0,3}\s*:[*_]{0,3}\s*)(.*)")
# A date needs no colon: `- due 15.03.2026`.
_UNPAIRED = re.compile(r"(\s*[-*+]\s+()(due|deadline|until|updated|added|created|started)\s+)(?=\w*\d)([\w./ -]{6,20})")


class Field(NamedTuple):
    """A value and its span: the line, counted from zero, and the columns."""

    value: str
    line: int
    start: int
    end: int


class Key(NamedTuple):
    """Holds what a line names before a colon, its value, and whether that tells what an entry is: its id, or its words."""

    name: str
    field: Field
    is_naming: bool


def bare(line: str) -> str:
    """Returns a line without what stands before its break, and without a byte order mark."""
    return line.rstrip("\r").removeprefix("\ufeff")


def plain(text: str) -> str:
    """Returns a text without marks and emphasis around it, and without the backslashes of inert()."""
    words = " ".join(MARK.sub("", text).split())
    mark = words[:2]
    # Only the first words are in bold: what closes that goes with what opens it.
    words = words[2:].replace(mark, "", 1) if mark in ("**", "__") and words.find(mark, 2) < len(words) - 2 else words
    words = _unemphasised(words).removeprefix("~~").removesuffix("~~")
    return _KEPT.sub(r"\1", words) if "\\" in words else words


def _unemphasised(words: str) -> str:
    """Returns words without the emphasis around them; that of a part of them, at their end too, is theirs."""
    inner = words.strip("*_")
    end = words[len(words.rstrip("*_")) :]
    return words if end and words[0] not in "*_" and end in inner else inner


def inert(text: str) -> str:
    """Returns a text that stays one: no part of it is a field in brackets or ends a comment.

    >>> print(inert("see [status: done] -->"))
    see [status\\: done] --\\>
    """
    return MARK.sub(_colon_kept, text).replace("-->", "--\\>")


def inert_line(text: str) -> str:
    """Returns a text that stays one on a line of its own too: `Status: done` is no field there."""
    kept = inert(text)
    is_key = _pair(kept) or ((key := find_key(kept, 0)) and key.is_naming)
    return kept.replace(":", "\\:", 1) if is_key else kept


def inert_item(text: str) -> str:
    """Returns a text that stays one among the words of an item too."""
    return _SAYING.sub(_colon_kept, inert_line(text))


def _colon_kept(match: re.Match[str]) -> str:
    return match[0].replace(":", "\\:", 1)


def marks_of(line: str, number: int, start: int = 0, end: int | None = None) -> dict[str, Field]:
    """Fields in brackets, as [deadline: 2026-02-20], within a part of a line."""
    found: dict[str, Field] = {}
    for match in MARK.finditer(line, start, len(line) if end is None else end) if "[" in line else ():
        found.setdefault(_BRACKETED[match[1].lower()], trimmed(line, number, *match.span(2)))
    return found


def trimmed(line: str, number: int, start: int, end: int, around: str = "") -> Field:
    """Returns what stands in a part of a line, without blanks around it, and without some other characters."""
    part = line[start:end]
    value = part.strip().strip(around + " \t")
    # Where nothing stands a value goes behind one blank.
    begin = start + (part.find(value) if value else part[:1] == " ")
    return Field(value, number, begin, begin + len(value))


def fields_of(line: str, number: int) -> dict[str, Field]:
    """Returns the fields that a line of a section holds: `Certainty: 0.9`, `- **Source:** board`, `[updated:
    2026-02-01]`."""
    found = marks_of(line, number)
    pair = _pair(line)
    if pair:
        name, start, value = pair
        stop = MARK.search(value)
        end = start + (stop.start() if stop else len(value))
        found.setdefault(name, trimmed(line, number, start, end, "*_"))
    return found


def _pair(line: str) -> tuple[str, int, str] | None:
    """Returns the field that a line names before a colon: what it is, where its value starts, and the rest of the
    line."""
    match = (_PAIR if ":" in line else _UNPAIRED).fullmatch(bare(line))
    if not match:
        return None
    # The expression counts from the text behind a byte order mark.
    start = len(match[1]) + line.startswith("\ufeff")
    name = match[3].strip().casefold()
    if name == "trust" and not match[4].strip("*_` ").casefold().startswith(TRUSTS):
        return None  # prose about trust
    if name in _IN_SECTIONS and (":" in line or written_day(match[4])):
        return _IN_SECTIONS[name], start, match[4]
    if name in _IF_MARKED and (match[2] or ID.match(match[4]) or (name == "about" and _NAMING.fullmatch(match[4]))):
        return _IF_MARKED[name], start, match[4]
    if name in (*_IF_DATED, "target") and written_day(match[4]):
        return _IF_DATED.get(name, "deadline"), start, match[4]
    return None


def find_key(line: str, number: int) -> Key | None:
    """Returns the key that a line of a block begins with, be it an item or not: in bold any word is one.

    >>> [(key.name, key.field.value, key.is_naming) for key in [find_key("1. **Belief:** Rent is due", 0)] if key]
    [('belief', 'Rent is due', True)]
    """
    if lead := _ONLY_ID.match(line):
        return Key("id", Field(lead[2], number, *lead.span(2)), True)
    match = _KEY.fullmatch(bare(line)) if ":" in line else None
    name = match[3].strip().casefold() if match else ""
    if not match or not (match[2] or name in NAMES or name in _IF_MARKED):
        return None
    start = len(match[1]) + line.startswith("\ufeff")
    stop = MARK.search(match[4])
    field = trimmed(line, number, start, start + (stop.start() if stop else len(match[4])), "*_")
    if name == "id":
        return Key(name, field, bool(ID.match(field.value)))
    is_link = name in _IF_MARKED and name != "belief" and _LINKS.fullmatch(field.value)
    return Key(name, field, name in TITLES and bool(field.value) and not is_link)


def split_key(words: str) -> tuple[str, str]:
    """Returns what a text names in bold before a colon, and what it says of it; both empty where it names nothing.

    >>> split_key("**Budget:** 2,000 EUR"), split_key("Budget: 2,000 EUR")
    (('Budget', '2,000 EUR'), ('', ''))
    """
    match = _BOLD_KEY.match(words)
    return (match[2].strip(), words[match.end() :]) if match else ("", "")


def is_placeholder(line: str) -> bool:
    """Returns whether a line says that nothing is there, or is a remark in italics: `_None yet._`, `- TBD`, `---`."""
    words = bare(line).strip()
    return bool((words and not words.strip("-*_ ")) or _ITALIC.fullmatch(words) or _NOTHING.fullmatch(words))


def split_head(title: str, prefix: str) -> tuple[str, str]:
    """Returns the id that a title begins with, and the rest. One that has a prefix needs nothing behind it.

    >>> split_head("**INT-CFO-1**: Build the model", "I"), split_head("G-1 Ship", "G"), split_head("ISO-9001 audit", "G")
    (('INT-CFO-1', 'Build the model'), ('G-1', 'Ship'), ('', 'ISO-9001 audit'))
    """
    lead = f"{prefix[0]}[A-Z]{{0,3}}" if prefix.isalpha() else prefix
    # With its own letter a number needs no more: G1 Ship.
    number = rf"|{lead}\d{{1,3}}(?=\s[A-Z])" if prefix.isalpha() else ""
    named = rf"{_OPENING}({lead}[-./][A-Za-z0-9./-]*\d[A-Za-z0-9-]*{number})\b{_CLOSING}(?::| \|)?"
    match = re.match(named, title) or _HEAD.match(title)
    if not match:
        return "", title
    rest = title[match.end() :].lstrip(".-")
    mark = next((m for m in ("**", "__") if title.lstrip().startswith(m) and rest.count(m) % 2), "")
    return match[1], _unemphasised((rest.replace(mark, "", 1) if mark else rest).lstrip(" :—–*_").rstrip(" :—–"))


def is_only_fields(line: str) -> bool:
    """Returns whether a line says nothing but fields."""
    return bool(_pair(line)) or not MARK.sub("", line).strip(" \t\r-*+")


def inline_fields(line: str, number: int) -> dict[str, Field]:
    """Fields of an item, in brackets or within its words: `Ship the beta, status: active [deadline: 2026-02-20]`."""
    fields = marks_of(line, number)
    words = MARK.sub(lambda match: " " * len(match[0]), line)
    for match in INLINE.finditer(words) if ":" in words or _SURE.search(words) else ():
        name, value = next(filter(None, match.groups()[:3]), "certainty").lower(), 4 if match[4] else 5
        fields.setdefault(_BRACKETED.get(name, NAMES[name]), Field(match[value], number, *match.span(value)))
    if stars := find_stars(line):
        fields.setdefault("priority", Field(stars[0].strip(), number, stars.start() + 1, stars.end()))
    for aside in ASIDE.finditer(words) if "(" in words else ():
        fields = aside_fields(aside, number) | fields
    return fields


def find_stars(line: str) -> re.Match[str] | None:
    """Returns the stars that a heading or an item ends with, if they are the priority of what stands before them.

    >>> [bool(find_stars(line)) for line in ("- **Win it** ★★", "### G-1: Win it ★★", "- The hotel has ★★★★")]
    [True, True, False]
    """
    match = _STARS.search(line) if "★" in line or "⭐" in line else None
    words = line[: match.start()].strip().lstrip("#-*+0123456789.) ") if match else ""
    return (
        match
        if match and (line[: match.start()].endswith(("**", "__")) or split_head(words, "[A-Z]{1,5}")[0])
        else None
    )


def aside_fields(aside: re.Match[str], number: int = 0) -> dict[str, Field]:
    """Returns the fields that parentheses hold, if all in them is fields."""
    found: dict[str, Field] = {}
    for part in re.finditer(r"[^,;]+", aside[1]):
        words = part[0].strip()
        match, start = _PART.fullmatch(words), aside.start(1) + part.start() + part[0].find(words)
        sure = _SURE_PART.fullmatch(words)
        if words.casefold() in _BARE or sure:
            value = (sure and sure[1]) or words
            found.setdefault(
                "certainty" if sure else _BARE[words.casefold()], Field(value, number, start, start + len(value))
            )
            continue
        name = match[1].casefold() if match else ""
        is_dated = name in _IF_DATED or NAMES.get(name) == "deadline"
        if not match or not (is_dated or name in _BRACKETED or name in _IN_SECTIONS or NAMES.get(name) == "certainty"):
            return {}
        if is_dated and not written_day(match[2]):
            return {}
        found.setdefault(
            _BRACKETED.get(name) or NAMES.get(name, name),
            Field(match[2], number, start + match.start(2), start + match.end(2)),
        )
    # A word for a priority alone says something else: sales (low).
    return {} if found.keys() == {"priority"} and found["priority"].value.casefold() in _BARE else found
