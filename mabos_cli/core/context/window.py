"""A whole context window: who the agent is, its skills, what it remembers, the conversation and the request, within a size."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.context.conversation import Compressed, Inert, compress
from mabos_cli.core.context.texts import END_TOKENS, MESSAGE_TOKENS, Count, Turn, fit_text, total_cost, turn_cost
from mabos_cli.core.language.text import one_line, plural, terms

PARTS = ("system", "skills", "memory", "history", "request")
_DESCRIBED = 300  # characters of a skill's description
_NAMED = 5  # sections or skills that a note names; more are counted


class Section(NamedTuple):
    """A section of what the agent is told first, with the name by which it is missed."""

    name: str
    text: str


class Skill(NamedTuple):
    """What the agent can do: a name, a line about it, and the whole text."""

    name: str
    description: str
    text: str


class Given(NamedTuple):
    """What a window is built of; sections come in order of importance."""

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
        """Tokens of a part's share."""
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
    """BadValue when the shares are more than the whole window."""
    total = sum(getattr(budget, part) for part in (*PARTS, "reserve"))
    if total > 1 + 1e-9:
        raise BadValue(f"the shares of the window add up to {total:g}", "context.*_share may add up to 1 at most")


def build_window(given: Given, budget: Budget, count: Count, pack: Callable[[int], str], inert: Inert = str) -> Window:
    """The window for a request; `pack` gives what is remembered for it within a number of tokens, `inert` guards quotes.

    The request stands as it is. The system part and skills have their shares at most. What is left is for memory and the
    conversation: memory may take its share, and beyond it what the conversation does not need, as long as that does not
    fill the window; the conversation has all the rest. A long request takes from both in proportion, last from the others.
    """
    check_shares(budget)
    request = Turn("user", given.request)
    room = budget.room - turn_cost(request, count)
    if room < 0:
        over = f"the request needs {turn_cost(request, count):,} tokens, and the window has room for {budget.room:,}"
        raise BadValue(over, "shorten it, or give a larger --window")
    filling = _Filling(budget, count, room)
    filling.add("system", lambda limit: fit_sections(given.system, limit, count))
    filling.add("skills", lambda limit: fit_skills(given.skills, given.request, limit, count))
    whole = total_cost(given.history, count)
    filling.add("memory", lambda limit: (pack(limit), ""), filling.memory_limit(whole, turn_cost(request, count)))
    found = compress(given.history, filling.room, budget.recent, count, inert)
    limits = filling.limits | {"history": filling.room, "request": budget.share("request")}
    tokens = filling.tokens | {"history": found.tokens, "request": turn_cost(request, count)}
    total = sum(tokens.values()) + END_TOKENS
    demand = total - found.tokens + whole
    messages = (*filling.messages, *found.turns, request)
    notes = tuple(filling.notes)
    return Window(messages, tokens, limits, total, demand, action_for(demand, budget), notes, found)


def action_for(demand: int, budget: Budget) -> str:
    """What a window of this many tokens calls for.

    >>> [action_for(demand, Budget(1000)) for demand in (849, 850, 900)]
    ['ok', 'compact', 'flush']
    """
    share = demand / budget.window
    return "flush" if share >= budget.flush_at else "compact" if share >= budget.compact_at else "ok"


class _Filling:
    """A window in the making: its first messages, and the room that is left."""

    def __init__(self, budget: Budget, count: Count, room: int) -> None:
        self._budget, self._count, self.room = budget, count, room
        self.messages: list[Turn] = []
        self.tokens: dict[str, int] = {}
        self.limits: dict[str, int] = {}
        self.notes: list[str] = []

    def add(self, part: str, make: Callable[[int], tuple[str, str]], limit: int | None = None) -> None:
        """Adds a message with what `make` gives for its room, and notes what was left out."""
        limit = min(self._budget.share(part) if limit is None else limit, self.room)
        inside = limit - MESSAGE_TOKENS - self._count("system")
        text, note = make(max(0, inside))
        turn = Turn("system", text)
        cost = turn_cost(turn, self._count) if text else 0
        self.limits[part], self.tokens[part] = limit, cost
        if text:
            self.messages.append(turn)
            self.room -= cost
        if note:
            self.notes.append(note)

    def memory_limit(self, history: int, request: int) -> int:
        """What memory may take of the room, before a conversation of a cost."""
        memory, other = self._budget.memory, self._budget.history
        fair = int(self.room * memory / (memory + other)) if memory + other else 0
        spent = sum(self.tokens.values()) + request + history + END_TOKENS
        # One token less than what would call for compaction: memory alone never does.
        spare = int(self._budget.window * self._budget.compact_at) - 1 - spent
        return max(min(self._budget.share("memory"), fair), min(self.room - history, spare))


def fit_sections(sections: Sequence[Section], room: int, count: Count) -> tuple[str, str]:
    """The sections that fit, the first ones first, and a note on those left out, which the text has as well."""
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
        return "", f"left out for want of room: {_listed(sections)}"
    more = f"; left out: {_listed(sections[1:])}" if sections[1:] else ""
    return short, f"shortened for want of room: {sections[0].name}{more}"


def _joined(sections: Sequence[Section], kept: int) -> tuple[str, str]:
    """The first sections as one text, and what it says about the others."""
    note = f"left out for want of room: {_listed(sections[kept:])}" if kept < len(sections) else ""
    parts = [section.text for section in sections[:kept]] + ([f"[{note}]"] if note else [])
    return "\n\n".join(parts), note


def _listed(sections: Sequence[Section]) -> str:
    names = [*dict.fromkeys(section.name for section in sections)]
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def fit_skills(skills: Sequence[Skill], request: str, room: int, count: Count) -> tuple[str, str]:
    """A line for each skill as far as they fit, then whole texts, those that the request speaks of first; and a note."""
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
    notes = {"left out for want of room": len(lines) - len(listed), "by a line only": len(listed) - len(whole)}
    told = [f"{plural(number, 'skill')} {how}" for how, number in notes.items() if number]
    return (text if listed else ""), "; ".join(told)


def _take(texts: Sequence[str], room: int, count: Count) -> tuple[list[str], int]:
    """The texts that fit, each in its turn, and the room that is left."""
    taken = []
    for text in texts:
        cost = count(text + "\n\n")
        if cost <= room:
            taken.append(text)
            room -= cost
    return taken, room
