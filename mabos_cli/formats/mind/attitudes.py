"""Desires.md, Goals.md, Intentions.md, Commitments.md and Learnings.md as values, and what is wrong in them."""

import re
from collections.abc import Sequence

from mabos_cli.core.language.clock import find_time
from mabos_cli.core.language.ids import counted_id
from mabos_cli.core.language.periods import written_date
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import TRUSTS
from mabos_cli.core.mind import mind
from mabos_cli.core.records import NamedTuple
from mabos_cli.formats.markdown.escape import unescape_block
from mabos_cli.formats.mind import cognitive_fields
from mabos_cli.formats.mind.cognitive import CognitiveFile, is_aside, parse_cognitive
from mabos_cli.formats.mind.entries import ANY, Entry, headed
from mabos_cli.formats.mind.plans import find_plans, steps_of

_CERTAINTIES = {
    "certain": 1.0,
    "very high": 0.95,
    "high": 0.85,
    "medium": 0.6,
    "moderate": 0.6,
    "low": 0.3,
    "very low": 0.1,
}
# What is written down without a certainty is held to be true; one that makes no sense says nothing.
_UNSAID, _UNKNOWN = 0.7, 0.5
# Beliefs and facts that a source names.
_EVIDENCE = re.compile(r"\b[BF][A-Z]?-[A-Za-z0-9-]*\d[A-Za-z0-9-]*")


class Kind(NamedTuple):
    """How a kind of attitude is written: its file, its ids, and the names of its links with what they lead to."""

    file: str
    prefix: str
    links: tuple[str, ...] = ()


KINDS = {
    "belief": Kind("Beliefs.md", "B", ("supports",)),
    "desire": Kind("Desires.md", "D", ("motivates", "serves")),
    "goal": Kind("Goals.md", "G", ("requires", "parent", "desire", "excludes")),
    "intention": Kind("Intentions.md", "I", ("goal", "plan")),
    "plan": Kind("Plans.md", "PL", ("goal",)),
    "commitment": Kind("Commitments.md", "C"),
    "learning": Kind("Learnings.md", "L"),
}
_DUE = re.compile(r"(?i)\b(?:by|until|due|before):?\s*(?=\w*\s?\d)([\w ,.-]{4,20}?)[\s.)*_]*(?:\(\S+\))?$")
# Dates that are none, but say so: people write them where a date is asked for.
_OPEN_END = re.compile(r"(?i)ongoing|always|never|none|open|continuous|at once|asap|each .*|every .*|n/?a|tbd|[-—–]+")
_VIA = re.compile(rf"({cognitive_fields.ID.pattern})(?:\s+via\s+({cognitive_fields.ID.pattern}))?")
_STANDING = sorted(mind.ACTIVE | mind.DONE | mind.GONE | mind.FAILED | mind.WAITING | {"expired", "stalled"}, key=len)
_STATUS = re.compile(rf"\b(?:{'|'.join(reversed(_STANDING))})\b", re.IGNORECASE)


def parse_attitudes(text: str, kind: str, path: str) -> tuple[list[mind.Attitude], list[mind.Problem]]:
    """Returns the attitudes of a file in order, plans with their steps, and what in it makes no sense; one bad value does not hide
    the others."""
    found: list[mind.Attitude] = []
    problems: list[mind.Problem] = []
    seen: dict[str, int] = {}
    file = parse_cognitive(text)
    for entry in entries_of(file, kind):
        if kind in ("goal", "intention") and _is_prose(entry, kind):
            continue
        each, troubles = read_attitude(file, entry, kind)
        steps = tuple(steps_of(file, entry)) if kind == "plan" else ()
        each = each._replace(path=path, line=entry.first + 1, steps=steps)
        troubles += note_id(seen, each.id, each.line)
        problems += [mind.Problem(path, each.line, trouble) for trouble in troubles]
        found.append(each)
    return found, problems


def note_id(seen: dict[str, int], entry_id: str, line: int) -> list[str]:
    """Notes where an id stands, and tells if it stood before."""
    known = seen.setdefault(entry_id, line) if entry_id else line
    return [f"{entry_id} is also the id of line {known}"] if known != line else []


def _is_prose(entry: Entry, kind: str) -> bool:
    """Returns whether a section is only what somebody wrote below the heading of a group."""
    return entry.shape == "section" and not entry.fields and not split_id(entry, KINDS[kind].prefix)[0]


def read_attitude(file: CognitiveFile, entry: Entry, kind: str) -> tuple[mind.Attitude, list[str]]:
    """Returns an entry as an attitude, without its place, and what is wrong with it."""
    entry_id, title = split_id(entry, KINDS[kind].prefix)
    if title == entry_id and entry.text:  # an id alone is no title
        title = re.split(r"(?<=[.!?])\s", entry.text)[0]
    priority, trouble = mind.parse_priority(entry.get("priority") or entry.get("certainty"))
    troubles = [trouble] if trouble else []
    for name in ("deadline", "updated"):
        date = entry.get(name)
        vague = _OPEN_END.fullmatch(date) or (kind == "commitment" and not re.search(r"\d", date))
        if date and not find_time(date) and not written_date(date) and not vague:
            troubles.append(f"{name} {date[:40]!r} is no date")
    links = {name: _linked(entry, name) for name in KINDS[kind].links}
    if kind in ("intention", "plan"):
        links["goal"] = links["goal"] or _linked(entry, "supports")
    via = _VIA.fullmatch(title) if kind == "intention" else None
    if via:
        links = {"goal": links["goal"] or (via[1],), "plan": links["plan"] or tuple(filter(None, via.groups()[1:]))}
    elif kind in ("intention", "plan") and not links["goal"]:
        aside = re.search(rf"\((?:goal:?\s*)?({cognitive_fields.ID.pattern})\)", title)
        links["goal"] = (aside[1],) if aside else ()
    elif kind == "goal" and not links["parent"] and cognitive_fields.ID.fullmatch(entry.above.replace(".", "")):
        links["parent"] = (entry.above,)
    due = _date(entry, "deadline") or (_find_due(title) if kind != "plan" else "")
    attitude = mind.Attitude(
        kind,
        entry_id,
        title,
        entry.text,
        _status(file, entry),
        priority,
        _progress(entry.get("progress")),
        due,
        _date(entry, "updated", "closed", "created"),
        _level(file, entry) if kind == "goal" else "",
        entry.get("owner"),
        {name: ids for name, ids in links.items() if ids},
        group=entry.group,
        trust=entry.trust,
        needs=tuple(filter(None, (cognitive_fields.plain(each) for each in re.split(r"[,;]", entry.get("needs"))))),
        delegated=entry.get("delegated"),
    )
    return attitude, [*troubles, *check_trust(entry)]


def check_trust(entry: Entry) -> list[str]:
    """Returns what is wrong with the trust that an entry names; a word that is not known counts as untrusted."""
    word = entry.claim.trust
    return [f"trust {word[:40]!r} is none of {', '.join(TRUSTS)}"] if word and word not in TRUSTS else []


def split_id(entry: Entry, prefix: str) -> tuple[str, str]:
    """Returns the id of an entry and its title: the id may be a field of its own, or the first word of the title."""
    if entry.get("id"):
        entry_id = entry.get("id").strip("*_` ")
        return entry_id, entry.title or entry_id
    # TypeScript MABOS has BE-001 and DI-001 besides B-001 and D-001.
    entry_id, title = cognitive_fields.split_head(entry.title, prefix)
    # Behind an id, the title of an item is written as if it began a line.
    return entry_id, (unescape_block(title) if entry_id and entry.shape == "item" else title) or entry_id


def goal_group(file: str, level: str) -> str:
    """Returns the heading for goals of a level, or for those that are pursued, if the text of a file has one."""
    titles = [heading.title for heading in parse_cognitive(file).headings if heading.level > 1]
    named = [t for t in titles if level in t.casefold()] or [t for t in titles if "active" in t.casefold()]
    return named[0] if named else ""


def priority_of(entry: Entry) -> float | None:
    """Returns the priority that an entry names, as a number, or None when it names none."""
    return mind.parse_priority(entry.get("priority"))[0]


def _linked(entry: Entry, name: str) -> tuple[str, ...]:
    """Returns the ids in a field of links, or else the words: those of a title. What is said behind a full stop is prose."""
    words = re.split(r"\.\s", entry.get(name))[0]
    found = tuple(dict.fromkeys(cognitive_fields.ID.findall(words)))
    return found or ((cognitive_fields.plain(words),) if name == "goal" and words.strip("-—– ") else ())


def _progress(text: str) -> float | None:
    """Returns progress in percent, if that is what a field says."""
    match = re.match(r"(\d+(?:\.\d+)?)\s*(?:%|$|[,;(])", text)
    return float(match[1]) if match else None


def _status(file: CognitiveFile, entry: Entry) -> str:
    """Returns how things stand: as the entry says, as its box says, or as the heading above it says."""
    status = entry.get("status")
    if status:
        return status
    if entry.shape == "item" and re.match(r"\S+\s+\[[xX]\]", file.lines[entry.first]):
        return "completed"
    if "~~" in file.lines[entry.first] and re.search(r"~~.+~~", file.lines[entry.first]):
        return "dropped"
    found = _STATUS.search(entry.group)
    return found[0].casefold() if found else ""


def _date(entry: Entry, *names: str) -> str:
    """Returns the first date among some fields, as 2026-02-24 where it is written in another way."""
    date = next((entry.get(name) for name in names if entry.get(name)), "")
    return date if find_time(date) else written_date(date, is_end=names[0] == "deadline") or date


def _find_due(title: str) -> str:
    """Returns the day by which something is to be done, if its title ends so: `Teach Ivo sauces by 2026-03-31`."""
    match = _DUE.search(title)
    return written_date(match[1], is_end=True) if match else ""


def _level(file: CognitiveFile, entry: Entry) -> str:
    """Returns whether a goal is strategic, tactical or operational: by its own field, its first line, or the heading
    above."""
    texts = [entry.get("type"), entry.group]
    texts += [file.lines[entry.first]] if entry.shape == "item" else []
    return next((level for text in texts for level in mind.LEVELS if level in text.casefold()), "")


def parse_beliefs(text: str, path: str) -> tuple[list[mind.Belief], list[mind.Problem]]:
    """Returns the beliefs of a file in order, and what in it makes no sense; one bad value does not hide the others."""
    beliefs: list[mind.Belief] = []
    problems: list[mind.Problem] = []
    seen: dict[str, int] = {}
    for entry in parse_cognitive(text).entries:
        line = entry.first + 1
        certainty, trouble = mind.parse_level(entry.get("certainty"), _CERTAINTIES, "certainty")
        problems += [mind.Problem(path, line, trouble)] if trouble else []
        updated = _date(entry, "updated", "created")
        if updated and not written_date(updated):
            problems.append(mind.Problem(path, line, f"{updated[:40]!r} is no date"))
        belief_id, subject = split_id(entry, KINDS["belief"].prefix)
        problems += [mind.Problem(path, line, each) for each in (*check_trust(entry), *note_id(seen, belief_id, line))]
        supports = tuple(part for part in re.split(r"[,;\s]+(?:and\s+)?", entry.get("supports")) if part)
        about = cognitive_fields.plain(entry.get("about"))
        sure = (_UNKNOWN if trouble else _UNSAID) if certainty is None else certainty
        fields = (sure, updated, belief_id, entry.get("source"), supports)
        rests = (*cognitive_fields.ID.findall(entry.get("rests")), *_EVIDENCE.findall(entry.get("source")))
        # An id alone is no subject.
        subject, words = (entry.text, "") if subject == belief_id and entry.text else (subject, entry.text)
        belief = mind.Belief(subject, words, *fields, path, line, entry.get("status"), entry.trust, rests, about)
        belief = belief._replace(group=entry.group if entry.shape == "item" else "")
        beliefs.append(belief)
    return beliefs, problems


def entries_of(file: CognitiveFile, kind: str) -> Sequence[Entry]:
    """Returns the entries of a file of a kind, in order."""
    return find_plans(file) if kind == "plan" else file.entries


def find_unread(text: str, kind: str, path: str) -> list[mind.Problem]:
    """Returns what no entry was made of in a file of a kind, each block of lines once; what stands before the first
    heading below the title, quotes, and logs are nothing to be read."""
    file = parse_cognitive(text)
    read = set(file.hidden) | {heading.line for heading in file.headings}
    for table in file.tables:
        read |= {*range(table.header, table.first), *(range(table.first, table.last + 1) if table.is_log else ())}
    for entry in (*entries_of(file, kind), *file.entries):
        if kind not in ("goal", "intention") or not _is_prose(entry, kind):
            read.update(range(entry.first, entry.last + 1))
    for heading in file.headings:
        if heading.level == 1 or is_aside(heading):
            body = range(heading.line, heading.last + 1)
            read.update({*body} - ({*file.find_items(body)} if heading.level == 1 else set()))
        elif cognitive_fields.split_head(heading.title, ANY)[0]:
            read.update(range(heading.line, file.end_of(heading)))
    start = file.headings[0].line if file.headings else 0
    left = [n for n in range(start, len(file.lines)) if n not in read and _says_something(file.lines[n])]
    firsts = [n for n in left if n - 1 not in left or not file.lines[n - 1].strip()]
    return [mind.Problem(path, n + 1, f"not read as a {kind}: {one_line(file.lines[n].strip(), 60)!r}") for n in firsts]


def _says_something(line: str) -> bool:
    """Returns whether a line holds words that could be meant as an entry."""
    is_lead = line.lstrip()[:1] == ">" or line.rstrip().endswith(":")
    return bool(re.search(r"\w", line)) and not is_lead and not cognitive_fields.is_placeholder(line)


def find_entry(file: CognitiveFile, kind: str, name: str) -> Entry | None:
    """Returns the first entry that a name means, if there is one."""
    return next(iter(find_entries(file, kind, name)), None)


def find_entries(file: CognitiveFile, kind: str, name: str) -> list[Entry]:
    """Returns the entries with an id, or else with a title, in whatever case. Without the letters that a clone puts behind the
    number of an id, it means those with that number."""
    wanted = {name.strip().casefold(), cognitive_fields.plain(name).casefold()} - {""}
    entries = [*entries_of(file, kind), *(headed(heading) for heading in file.headings if kind == "plan")]
    named = [(entry, *split_id(entry, KINDS[kind].prefix)) for entry in entries]
    by_id = [entry for entry, entry_id, _ in named if entry_id and entry_id.casefold() in wanted]
    by_title = [e for e, _, title in named if wanted & {title.casefold(), e.title.casefold()}]
    return by_id or by_title or [entry for entry, entry_id, _ in named if counted_id(entry_id).casefold() in wanted]
