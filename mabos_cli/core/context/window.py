"""A whole context window: persona, skills, memory, the conversation and the request, within a size."""

from collections.abc import Sequence
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.context.conversation import Compressed, Inert, compress
from mabos_cli.core.context.texts import END_TOKENS, MESSAGE_TOKENS, Count, Turn, fit_text, total_cost, turn_cost
from mabos_cli.core.language.text import one_line, plural, terms

PARTS = ("system", "skills", "memory", "history", "request")
_DESCRIBED = 300  # characters of a skill's description
_NAMED = 5  # sections or skills that a note names; more are counted


class Section(NamedTuple):
    """A section of the opening message, with the name that a warning uses when it is left out."""

    name: str
    text: str


class Skill(NamedTuple):
    """Holds what the agent can do: a name, a line about it, and the whole text."""

    name: str
    description: str
    text: str


class WindowInput(NamedTuple):
    """The request and the other parts of a window; sections come in order of importance."""

    request: str
    system: tuple[Section, ...] = ()
    skills: tuple[Skill, ...] = ()
    history: tuple[Turn, ...] = ()


class Budget(NamedTuple):
    """The size of a window, the shares of its parts and of the reserve for the answer, and when it is full."""

    window: int = 200_000
    system: float = 0.05
    skills: float = 0.075
    memory: float = 0.25
    history: float = 0.375
    request: float = 0.15
    reserve: float = 0.1
    compact_at: float = 0.85
    flush_at: float = 0.9
    recent: int = 6

    def share(self, part: str) -> int:
        """Returns tokens of a part's share."""
        return int(self.window * getattr(self, part))

    @property
    def room(self) -> int:
        """Tokens of all messages together: what is neither reserved nor opens the answer."""
        return self.window - self.share("reserve") - END_TOKENS


class Window(NamedTuple):
    """The messages, tokens and limits by part, what all would cost with the whole conversation, what to do about it, and what
    had to be left out."""

    messages: tuple[Turn, ...]
    tokens: dict[str, int]
    limits: dict[str, int]
    total: int
    demand: int
    action: str
    notes: tuple[str, ...]
    history: Compressed


def check_shares(budget: Budget) -> None:
    """Raises BadValue when the shares are more than the whole window."""
    total = sum(getattr(budget, part) for part in (*PARTS, "reserve"))
    if total > 1 + 1e-9:
        raise BadValue(f"the shares of the window add up to {total:g}", "context.*_share may add up to 1 at most")


class Filling:
    """A window while it is filled: the first messages are there, and `memory_room` tokens may be remembered.

    The request stands as it is. The system part and skills have their shares at most. What is left is for memory and the
    conversation: memory may take its share, and beyond it what the conversation does not need, as long as that does not
    fill the window; the conversation has all the rest. A long request takes from both in proportion, last from the others.
    """

    def __init__(self, given: WindowInput, budget: Budget, count: Count) -> None:
        check_shares(budget)
        self._given, self._budget, self._count = given, budget, count
        self._request = turn_cost(Turn("user", given.request), count)
        self.room = budget.room - self._request
        if self.room < 0:
            over = f"the request needs {self._request:,} tokens, and the window has room for {budget.room:,}"
            raise BadValue(over, "shorten it, or give a larger --window")
        self._messages: list[Turn] = []
        self._tokens: dict[str, int] = {}
        self._limits: dict[str, int] = {}
        self._notes: list[str] = []
        self._add("system", *fit_sections(given.system, self._limit("system", budget.share("system")), count))
        skills_room = self._limit("skills", budget.share("skills"))
        self._add("skills", *fit_skills(given.skills, given.request, skills_room, count))
        self._history = total_cost(given.history, count)
        self.memory_room = self._limit("memory", self._memory_limit())

    def finish(self, memory: str, inert: Inert = str) -> Window:
        """Returns the window with what is remembered; `inert` guards quotes."""
        given, budget = self._given, self._budget
        self._add("memory", memory)
        found = compress(given.history, self.room, budget.recent, self._count, inert)
        limits = self._limits | {"history": self.room, "request": budget.share("request")}
        tokens = self._tokens | {"history": found.tokens, "request": self._request}
        total = sum(tokens.values()) + END_TOKENS
        demand = total - found.tokens + self._history
        messages = (*self._messages, *found.turns, Turn("user", given.request))
        notes = tuple(self._notes)
        return Window(messages, tokens, limits, total, demand, action_for(demand, budget), notes, found)

    def _limit(self, part: str, limit: int) -> int:
        """Notes the limit of a part, and returns how many tokens its text may have."""
        self._limits[part] = min(limit, self.room)
        return max(0, self._limits[part] - MESSAGE_TOKENS - self._count("system"))

    def _add(self, part: str, text: str, note: str = "") -> None:
        """Adds a message, and notes what was left out of it."""
        turn = Turn("system", text)
        self._tokens[part] = turn_cost(turn, self._count) if text else 0
        self.room -= self._tokens[part]
        self._messages += [turn] if text else []
        self._notes += [note] if note else []

    def _memory_limit(self) -> int:
        """Returns what memory may take of the room, before the conversation."""
        memory, other = self._budget.memory, self._budget.history
        fair = int(self.room * memory / (memory + other)) if memory + other else 0
        spent = sum(self._tokens.values()) + self._request + self._history + END_TOKENS
        # One token less than what would call for compaction: memory alone never does.
        spare = int(self._budget.window * self._budget.compact_at) - 1 - spent
        return max(min(self._budget.share("memory"), fair), min(self.room - self._history, spare))


def action_for(demand: int, budget: Budget) -> str:
    """Returns what a window of this many tokens calls for.

    >>> [action_for(demand, Budget(1000)) for demand in (849, 850, 900)]
    ['ok', 'compact', 'flush']
    """
    share = demand / budget.window
    return "flush" if share >= budget.flush_at else "compact" if share >= budget.compact_at else "ok"


def fit_sections(sections: Sequence[Section], room: int, count: Count) -> tuple[str, str]:
    """Returns the sections that fit, the first ones first, and a note on those left out, which the text has as well."""
    if not sections:
        return "", ""
    spent, kept = 0, 0
    while kept < len(sections) and spent <= room:
        spent += count(sections[kept].text + "\n\n")
        kept += 1
    while kept:
        text, note = _joined(sections, kept)
        if count(text) <= room:
            return text, note
        kept -= 1
    short = fit_text(sections[0].text, room, count)
    if not short:
        return "", f"left out for lack of space: {_listed(sections)}"
    more = f"; left out: {_listed(sections[1:])}" if sections[1:] else ""
    return short, f"shortened for lack of space: {sections[0].name}{more}"


def _joined(sections: Sequence[Section], kept: int) -> tuple[str, str]:
    """Returns the first sections as one text, and what it says about the others."""
    note = f"left out for lack of space: {_listed(sections[kept:])}" if kept < len(sections) else ""
    parts = [section.text for section in sections[:kept]] + ([f"[{note}]"] if note else [])
    return "\n\n".join(parts), note


def _listed(sections: Sequence[Section]) -> str:
    names = [*dict.fromkeys(section.name for section in sections)]
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def fit_skills(skills: Sequence[Skill], request: str, room: int, count: Count) -> tuple[str, str]:
    """Returns a line for each skill as far as they fit, then whole texts, the relevant ones first; and a note."""
    asked = {*terms(request)}
    near = sorted(skills, key=lambda s: (-len(asked & {*terms(f"{s.name} {s.description}")}), s.name))
    left = room - count("Skills:\n")
    lines = [f"- {one_line(f'{skill.name}: {skill.description}', _DESCRIBED)}" for skill in near]
    listed, left = _take(lines, left, count)
    texts = [f"# {skill.name}\n\n{skill.text.strip()}" for skill in near if skill.text.strip()]
    whole, _ = _take(texts, left, count) if len(listed) == len(lines) else ([], 0)
    text = ""
    while listed and count(text := "\n\n".join(["Skills:\n" + "\n".join(listed), *whole])) > room:
        (whole or listed).pop()
    notes = {"left out for lack of space": len(lines) - len(listed), "by a line only": len(listed) - len(whole)}
    remarks = [f"{plural(number, 'skill')} {how}" for how, number in notes.items() if number]
    return (text if listed else ""), "; ".join(remarks)


def _take(texts: Sequence[str], room: int, count: Count) -> tuple[list[str], int]:
    """Returns the texts that fit, each in its turn, and the room that is left."""
    taken = []
    for text in texts:
        cost = count(text + "\n\n")
        if cost <= room:
            taken.append(text)
            room -= cost
    return taken, room
