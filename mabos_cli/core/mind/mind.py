"""Beliefs, desires, goals, intentions, plans and commitments as values, each with its place in a file."""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.text import fold
from mabos_cli.core.memory.item import PRIORITIES
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.records import NamedTuple

# Where a statement that is no belief comes from; it stands in the place of a path.
WITNESSES = ("fact", "memory")
LEVELS = ("strategic", "tactical", "operational")
# Words for how things stand, as people and other tools write them.
ACTIVE = frozenset(
    ("active", "executing", "in progress", "started", "running", "ongoing", "pursued", "on track", "wip", "under way")
)
DONE = frozenset(
    ("achieved", "completed", "complete", "done", "finished", "fulfilled", "kept", "reached", "met", "succeeded")
)
GONE = frozenset("abandoned dropped cancelled canceled withdrawn rejected retired superseded retracted broken".split())
FAILED = frozenset("failed impossible unreachable unattainable unachievable infeasible unfeasible".split())
# What nobody is to take up for now.
WAITING = frozenset(("on hold", "paused", "suspended", "deferred", "dormant", "postponed", "someday", "planned"))
_BEHIND = compiled(r"\(| by |[,;:.]|\s[-—–]\s")
STALLED = frozenset(("stalled", "blocked", "stuck", "behind", "late", "overdue", "delayed"))
# Goals that lie deeper than this below others stand at the top of a tree.
_DEEPEST = 50
_PRIORITIES = PRIORITIES | {
    "very high": 0.9,
    "very low": 0.1,
    "urgent": 0.95,
    "highest": 0.95,
    "normal": 0.5,
    "lowest": 0.1,
}
_LEVEL = compiled(
    r"(?P<stars>[★⭐]+)(?P<empty>☆*)|p(?P<rank>[0-4])\b|(?P<part>\d+(?:\.\d+)?)\s*(?:/|(?:out )?of)\s*(?P<whole>\d+)"
    r"|(?P<number>\d*\.?\d+)\s*(?P<percent>%?)(?=$|[\s(,;—–])|(?P<word>(?:very )?[a-z]+)"
)


class Problem(NamedTuple):
    """Something in a file that could not be understood, with its place."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class Belief(NamedTuple):
    """Something held true. The subject is a heading or the Belief cell of a table; the text says what about it, and may be
    empty when the subject is the whole statement. Who or what it is about, if that is said apart, sets it off from
    others with the same subject. It rests on facts and beliefs, by id."""

    subject: str
    text: str
    certainty: float = 0.5
    updated: str = ""
    id: str = ""
    source: str = ""
    supports: tuple[str, ...] = ()
    path: str = ""
    line: int = 0
    status: str = ""
    trust: str = "agent"
    rests: tuple[str, ...] = ()
    about: str = ""
    group: str = ""  # the heading above the list that it stands in

    @property
    def is_witness(self) -> bool:
        """Returns whether it is a fact or a memory, put as a belief to be compared with others."""
        return self.path in WITNESSES

    @property
    def is_held(self) -> bool:
        """Returns whether it is still believed: what was superseded or retracted stays in the file, with its certainty."""
        return status_word(self.status) not in GONE | FAILED

    @property
    def statement(self) -> str:
        """Returns the subject, the heading and the text as one sentence."""
        text = self.text or self.subject
        for head in (self.subject, self.about):
            text = f"{head}: {text}" if head and not _holds(text, head) else text
        return text

    @property
    def place(self) -> str:
        return f"{self.path} {self.id}" if self.is_witness else f"{self.path}:{self.line}"


def _holds(text: str, subject: str) -> bool:
    """Returns whether a text names its subject itself, so that it need not be said twice."""
    return subject.casefold() in text.casefold()


class Step(NamedTuple):
    """A step of a plan: its name there, what is to be done, whether it is done if that is said, and its place."""

    name: str
    text: str
    done: bool | None
    status: str
    line: int


class Attitude(NamedTuple):
    """A desire, goal, intention, plan, commitment or lesson. Links are ids by what they are to it: motivates, goal, ...
    `needs` are resources that it takes, `delegated` is the agent and the goal that it was handed down from."""

    kind: str
    id: str
    title: str
    text: str = ""
    status: str = ""
    priority: float | None = None
    progress: float | None = None
    deadline: str = ""
    updated: str = ""
    level: str = ""
    owner: str = ""
    links: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    steps: tuple[Step, ...] = ()
    group: str = ""
    path: str = ""
    line: int = 0
    trust: str = "agent"
    needs: tuple[str, ...] = ()
    delegated: str = ""

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"

    @property
    def name(self) -> str:
        """Returns what to call it in a message."""
        return self.id or self.title

    @property
    def label(self) -> str:
        """Returns its id, if it has one, and its title."""
        return f"{self.id} {self.title}".strip()

    def linked(self, *names: str) -> tuple[str, ...]:
        """Returns the ids that it is linked with, under one of some names, each once."""
        return tuple(dict.fromkeys(found for name in names for found in self.links.get(name, ())))


def parse_level(
    text: str, words: Mapping[str, float], what: str, *, has_ranks: bool = False
) -> tuple[float | None, str]:
    """Returns a number in 0..1, or None when nothing is said, and what is wrong with it: a number, a percentage, stars, a word,
    or a mark such as 8/10. With ranks, P1 is one, whole numbers to 5 are ranks with 1 as the highest, those to 10 are marks, and
    those to 100 percent.

    >>> parse_level("85 %", {}, "certainty"), parse_level("High (board)", {"high": 0.8}, "priority")
    ((0.85, ''), (0.8, ''))
    >>> parse_level("1.7", {}, "certainty"), parse_level("soon", {}, "certainty")
    ((None, "certainty '1.7' is outside 0..1"), (None, "certainty 'soon' is no number"))
    """
    said = text.strip().strip("*_`").casefold()
    match = _LEVEL.match(said)
    value: float | None
    if said in words or not said:
        return words.get(said), ""
    if match and match["stars"]:
        value = len(match["stars"]) / max(5, len(match["stars"]) + len(match["empty"]))
    elif match and match["rank"] and has_ranks:
        value = (1.0, 0.9, 0.7, 0.5, 0.3)[int(match["rank"])]
    elif match and match["whole"]:
        value = float(match["part"]) / max(1, int(match["whole"]))
    elif match and match["number"]:
        is_percent, is_exact = bool(match["percent"]), "." in match["number"] or not has_ranks
        value = _scaled(float(match["number"]), is_percent, is_exact)
    else:
        word = match["word"] if match and match["word"] else ""
        value = words.get(word, words.get(word.partition(" ")[0]))
    if value is None:
        return None, f"{what} {text[:20]!r} is no number"
    return (value, "") if 0 <= value <= 1 else (None, f"{what} {text[:20]!r} is outside 0..1")


def parse_priority(text: str) -> tuple[float | None, str]:
    """Returns a priority in 0..1, and what is wrong with it.

    >>> [parse_priority(each)[0] for each in ("0.94", "High (board)", "★★★★☆", "4 of 5", "P1", "2", "8", "85%")]
    [0.94, 0.8, 0.8, 0.8, 0.9, 0.8, 0.8, 0.85]
    >>> parse_priority("soon")
    (None, "priority 'soon' is no number")
    """
    return parse_level(text, _PRIORITIES, "priority", has_ranks=True)


def _scaled(number: float, is_percent: bool, is_exact: bool) -> float:
    """Returns a number on the scale that people mean by it; above 1 when there is none."""
    if is_percent or (not is_exact and 10 < number <= 100):
        return number / 100
    if is_exact or number <= 1 or number > 100:
        return number
    return round(1.2 - number / 5, 2) if number <= 5 else number / 10


def find_step(steps: Sequence[Step], name: str) -> Step | None:
    """Returns the step with a name, or at a place in the order, done or not; None when there is none."""
    by_name = [each for each in steps if each.name and each.name.casefold() == name.casefold()]
    by_number = [each for number, each in enumerate(steps, 1) if str(number) == name]
    return next(iter(by_name or by_number), None)


def status_word(status: str) -> str:
    """Returns the word of a status, without the date and the reason behind it, and without what brought it about.

    >>> status_word("Expired (2026-02-24: deadline 2026-02-20)")
    'expired'
    >>> status_word("superseded by B-002 (2026-02-24)"), status_word("✅ In_Progress — since May")
    ('superseded', 'in progress')
    """
    words = re.sub(r"[^\w\s-]|_", " ", _BEHIND.split(status, maxsplit=1)[0])
    return " ".join(words.replace("-", " ").split()).casefold()


def is_active(attitude: Attitude) -> bool:
    """Returns whether something is being pursued: said to be, or dated and not said to be anything else."""
    word = status_word(attitude.status)
    return word in ACTIVE or (not word and bool(attitude.deadline or attitude.updated))


def state_of(attitude: Attitude) -> str:
    """Returns how things stand, in one of five words: done, gone, stalled, active, open."""
    word = status_word(attitude.status)
    for state, words in (("done", DONE), ("gone", GONE | FAILED | {"expired"}), ("stalled", STALLED)):
        if word in words:
            return state
    return "active" if is_active(attitude) else "open"


def with_goals(attitudes: Iterable[Attitude], goals: Sequence[Attitude]) -> list[Attitude]:
    """Returns attitudes with their goals by name, where a file gives the title of one; words that are none are no link."""
    titled = {fold(goal.title): goal.name for goal in goals}
    return [
        each._replace(links={**each.links, "goal": tuple(filter(None, (_goal_name(link, titled) for link in found)))})
        if (found := each.linked("goal"))
        else each
        for each in attitudes
    ]


def _goal_name(link: str, titled: Mapping[str, str]) -> str:
    is_id = " " not in link and any(map(str.isdigit, link))
    return titled.get(fold(link), link if is_id else "")


class Branch(NamedTuple):
    """A goal with what motivates, serves and supports it, by name, and the goals below it."""

    goal: Attitude
    desires: tuple[str, ...]
    plans: tuple[str, ...]
    beliefs: tuple[str, ...]
    below: tuple["Branch", ...]
    is_root: bool


def build_tree(
    goals: Sequence[Attitude], desires: Sequence[Attitude], plans: Sequence[Attitude], beliefs: Sequence[Belief]
) -> list[Branch]:
    """Returns the goals that are part of no other one here, strategic ones first, each with all below it. Goals that
    are part of each other in a ring, or lie too deep to be drawn, stand at the top, once."""
    known, plans = {goal.id: goal for goal in goals if goal.id}, with_goals(plans, goals)
    below: dict[str, list[Attitude]] = {}
    for goal in goals:
        for parent in [each for each in goal.linked("parent") if each in known][:1]:
            below.setdefault(parent, []).append(goal)
    links = (_behind(desires, "motivates"), _behind(plans, "goal"), _supporting(beliefs))
    seen: set[int] = set()

    def branch(goal: Attitude, depth: int = 0) -> Branch:
        seen.add(goal.line)
        children = below.get(goal.id, ()) if depth < _DEEPEST else ()
        under = tuple(branch(each, depth + 1) for each in children if each.line not in seen)
        desires, plans = (
            tuple(dict.fromkeys((*goal.linked(kind), *links[n].get(goal.id, ()))))
            for n, kind in enumerate(("desire", "requires"))
        )
        return Branch(goal, desires, plans, tuple(links[2].get(goal.id, ())), under, not depth)

    tops = [goal for goal in goals if not any(parent in known for parent in goal.linked("parent"))]
    found = [branch(goal) for goal in sorted(tops, key=_rank)]
    return found + [branch(goal) for goal in goals if goal.line not in seen]


def _rank(goal: Attitude) -> int:
    return LEVELS.index(goal.level) if goal.level in LEVELS else len(LEVELS)


def _behind(attitudes: Sequence[Attitude], link: str) -> dict[str, list[str]]:
    """Returns names of what leads to a goal, by goal."""
    found: dict[str, list[str]] = {}
    for each in attitudes:
        for goal in each.linked(link):
            found.setdefault(goal, []).append(each.name)
    return found


def _supporting(beliefs: Sequence[Belief]) -> dict[str, list[str]]:
    """Returns the beliefs that support each goal; an untrusted one supports none."""
    found: dict[str, list[str]] = {}
    for belief in filter(lambda belief: belief.is_held and trust_rank(belief.trust), beliefs):
        for goal in belief.supports:
            found.setdefault(goal, []).append(belief.id or belief.subject)
    return found
