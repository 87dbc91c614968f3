"""Describes what changed between two states of an agent: rows by section, new ones first, then by weight."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from mabos_cli.core.knowledge.case import Case
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.rule import Rule
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.mind.mind import Attitude, Belief, status_word
from mabos_cli.core.operations.three_way import is_only_used

T = TypeVar("T")
NEW, CHANGED, GONE = "new", "changed", "gone"
_STATES = (NEW, CHANGED, GONE)
_SIGNS = {NEW: "+", CHANGED: "~", GONE: "-"}
_WIDTH = 100
_SUBJECT, _IDS = 60, 20


class Row(NamedTuple):
    """A change: the state, id and text of the thing, what changed about it, and its place. Rows are counted by group."""

    state: str
    id: str
    text: str
    change: str = ""
    place: str = ""
    weight: float = 0.0
    group: str = ""


class Section(NamedTuple):
    """Sorted rows of one kind."""

    name: str
    rows: tuple[Row, ...]


def make_section(name: str, rows: Iterable[Row]) -> Section:
    """Returns a section with sorted rows."""
    order = sorted(rows, key=lambda row: (_STATES.index(row.state), -row.weight, row.id, row.text))
    return Section(name, tuple(order))


def differing(old: Mapping[str, T], new: Mapping[str, T]) -> Iterator[tuple[T | None, T | None]]:
    """Yields the values that differ, before and now; None stands for a missing one."""
    for key in dict.fromkeys((*new, *old)):
        if old.get(key) != new.get(key):
            yield old.get(key), new.get(key)


def state_of(was: object, now: object) -> str:
    """Returns whether something is new, gone or changed, by its value before and now."""
    return NEW if was is None else GONE if now is None else CHANGED


def _changes(was: Any, now: Any, names: Sequence[str]) -> list[str]:
    """Describes the fields that differ, as `source mail -> none`."""
    return [
        f"{name.replace('_', ' ')} {_short(getattr(was, name))} -> {_short(getattr(now, name))}"
        for name in names
        if getattr(was, name) != getattr(now, name)
    ]


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
    return one_line(text, 40) or "none"


def _row(
    was: Any, now: Any, text: str, changes: Sequence[str], content: Callable[[Any], str], **about: Any
) -> Row | None:
    """Returns the row of something with an id; None where it was there before, and nothing that counts changed.

    `content` is what it says: the earlier one is quoted.
    """
    if was and now and content(was) != content(now):
        changes = [*changes, f"was: {one_line(content(was), _WIDTH)}"]
    if was and now and not changes:
        return None
    return Row(state_of(was, now), (now or was).id, text, "; ".join(changes), **about)


def item_row(
    was: tuple[str, MemoryItem] | None, now: tuple[str, MemoryItem] | None, why: Mapping[str, str]
) -> Row | None:
    """Describes what happened to a memory; None where it was only used, or made room.

    `why` has the reasons of those that left.
    """
    store, item = now or was  # type: ignore[misc]
    changes = [] if now else [why.get(item.id, "removed")]
    if was and now:
        lasts = was[0] != store == "long_term"
        if is_only_used(was[1], item) and not lasts:
            return None
        changes = [f"{was[0]} -> {store}"] if lasts else []
        changes += _changes(was[1], item, ("type", "importance", "trust", "tags", "expires_at"))
        changes += [f"was: {one_line(was[1].content, _WIDTH)}"] if was[1].content != item.content else []
    low = "untrusted " if item.trust == "untrusted" else ""
    text = f"{item.type} {item.importance:.2f} {low}{one_line(item.content, _WIDTH)}"
    return Row(state_of(was, now), item.id, text, "; ".join(changes), store, item.importance, item.type)


def fold_parts(rows: Sequence[Row], parts: Mapping[str, str]) -> Iterator[Row]:
    """Yields rows of memories without those that were consolidated into a new one, which says how many they were.

    `parts` has the id of the new memory for each of them.
    """
    new = {row.id for row in rows if row.state == NEW}
    into = Counter(parts[row.id] for row in rows if row.state == GONE and parts.get(row.id) in new)
    for row in rows:
        if row.state == GONE and parts.get(row.id) in into:
            continue
        yield row._replace(change=f"from {into[row.id]} earlier items") if row.id in into else row


def fact_row(was: Fact | None, now: Fact | None) -> Row | None:
    """Describes what happened to a fact."""
    fact: Any = now or was
    changes = _changes(was, now, ("confidence", "source", "trust", "valid_from", "valid_until")) if was and now else []
    text = f"{one_line(' '.join(fact.triple), _WIDTH)} ({fact.confidence:.2f})"
    return _row(was, now, text, changes, lambda fact: " ".join(fact.triple), weight=fact.confidence)


def belief_row(was: Belief | None, now: Belief | None) -> Row | None:
    """Describes what happened to a belief; None where only its date changed."""
    belief: Any = now or was
    changes = _changes(was, now, ("certainty", "status", "source", "trust")) if was and now else []
    low = "" if trust_rank(belief.trust) else f", {belief.trust}"
    text = f"{one_line(belief.statement, _WIDTH)} ({belief.certainty:.2f}{low})"
    about = {"place": now.place if now else "", "weight": belief.certainty}
    return _row(was, now, text, changes, lambda belief: belief.statement, **about)


def attitude_row(was: Attitude | None, now: Attitude | None) -> Row | None:
    """Describes what happened to a desire, goal, intention, plan, commitment or lesson."""
    one: Any = now or was
    changes = []
    if was and now:
        changes = _changes(was, now, ("status", "progress", "priority", "deadline", "title", "text", "owner"))
        old, new = (f"{sum(bool(step.done) for step in each.steps)} of {len(each.steps)}" for each in (was, now))
        changes += [f"steps done {old} -> {new}"] if old != new else []
    status = f" [{one_line(status_word(one.status), 40)}]" if one.status else ""
    about = {"place": now.place if now else "", "weight": one.priority or 0.0}
    return _row(was, now, one_line(one.title or one.text, _WIDTH) + status, changes, lambda one: "", **about)


def case_row(was: Case | None, now: Case | None) -> Row | None:
    """Describes what happened to a case; None where it was only used."""
    case: Any = now or was
    names = ("success", "context", "plan_id", "actions", "lessons", "beliefs", "desires")
    situation = case.context or ", ".join((*case.beliefs, *case.desires))
    text = f"{case.word}: {one_line(situation, 60)} -> {one_line(case.plan_id or '; '.join(case.actions), 60)}"
    return _row(was, now, text, _changes(was, now, names) if was and now else [], lambda case: "")


def rule_row(was: tuple[Rule, str] | None, now: tuple[Rule, str] | None) -> Row:
    """Describes what happened to a rule, which comes with its text."""
    rule, text = now or was  # type: ignore[misc]
    changes = []
    if was and now:
        changes += [f"was: {one_line(was[1], _WIDTH)}"] if was[1] != text else []
        changes += ["enabled" if rule.enabled else "disabled"] if was[0].enabled != rule.enabled else []
    name = f"{one_line(rule.name, 40)}: " if rule.name != rule.id else ""
    return Row(state_of(was, now), rule.id, f"{rule.type} {name}{one_line(text, _WIDTH)}", "; ".join(changes))


def count_states(section: Section) -> dict[str, int]:
    """Counts the rows of a section that are new, changed and gone."""
    found = Counter(row.state for row in section.rows)
    return {state: found[state] for state in _STATES}


def section_lines(section: Section, limit: int) -> Iterator[str]:
    """Yields the lines of a section: counts, then a line per row."""
    counts = ", ".join(f"{count} {state}" for state, count in count_states(section).items() if count)
    groups = Counter(row.group for row in section.rows if row.group)
    by_size = sorted(groups.items(), key=lambda pair: (-pair[1], pair[0]))
    kinds = ", ".join(f"{name} {count}" for name, count in by_size)
    yield f"{section.name}: {counts}" + (f" ({kinds})" if len(groups) > 1 else "")
    shown = section.rows[:limit] if limit else section.rows
    for row in shown:
        parts = (_SIGNS[row.state], row.id, row.place if ":" in row.place else "", row.text)
        yield "  " + " ".join(filter(None, parts)) + (f" ({row.change})" if row.change else "")
    if len(shown) < len(section.rows):
        yield f"  and {len(section.rows) - len(shown)} more: --limit 0 shows all"


class Wrote(NamedTuple):
    """A write: by which command, to what, and how much of each kind."""

    command: str
    ids: tuple[str, ...] = ()
    counts: Mapping[str, int] | None = None


def render_commit(command: str, agents: Sequence[str], about: str, wrote: Sequence[Wrote], answer: str = "") -> str:
    """Returns the message of a commit.

    `about` is the text of the first thing that was written; without it, the answer of the command is quoted.

    >>> render_commit("store", ["cfo"], "We bill per seat", [Wrote("store", ("M-1-0a",), {"put": 1})]).split("\\n")
    ['store: We bill per seat (M-1-0a) [cfo]', '', 'store: put 1; M-1-0a']
    """
    ids = list(dict.fromkeys(record_id for each in wrote for record_id in each.ids))
    more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
    first = f"{one_line(about, _SUBJECT)} ({ids[0]}){more}" if about else one_line(answer, _SUBJECT)
    text = f"{command}: {first}" if first else command
    subject = f"{text} [{', '.join(agents)}]" if agents else text
    return "\n".join((subject, "", *map(_write_line, wrote))).rstrip("\n")


def _write_line(wrote: Wrote) -> str:
    counts = ", ".join(f"{name} {count}" for name, count in (wrote.counts or {}).items() if count)
    ids = ", ".join(wrote.ids[:_IDS]) + (f" and {len(wrote.ids) - _IDS} more" if len(wrote.ids) > _IDS else "")
    return f"{wrote.command}: " + ("; ".join(filter(None, (counts, ids))) or "written")
