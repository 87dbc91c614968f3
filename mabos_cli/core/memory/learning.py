"""Learning: the few statements of a conversation that are worth keeping, typed and readable by themselves.

A model judges whether a statement is worth keeping, and as what (judging.py). Here is what a model of single sentences cannot see:
what somebody asks to keep, corrections, pronouns, and who said it.
"""

import re
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from mabos_cli.core import read_table
from mabos_cli.core.language.similar import likeness, word_set
from mabos_cli.core.language.statements import name_days, split_statements
from mabos_cli.core.memory.judging import NOISE, Judge, is_other_language, is_sure, read_cue

PERSON, AGENT, TOOL = "user", "assistant", "tool"
_TALK = read_table("memory/talk.txt")
# Tools of hosts that give back what stands in the person's own files; a setting adds to them.
LOCAL_TOOLS = frozenset(_TALK["local tools"].split())
_FETCHES = re.compile(r"https?://|\b(?:curl|wget|lynx|w3m|ftp|scp|mail|mutt)\b")
_LONGEST = 400  # characters of what is kept
_LONG_TURN = 2000  # characters from which on a message is taken to hold text that was pasted into it
_SHOWN = 20_000  # lines of tools that what an agent says is compared with
_QUOTED = 0.75  # of the words of a statement that a tool gave before: then it is the tool's

_FILLER, _EXPLICIT, _ASKS, _REQUEST, _STANDING, _PRONOUN, _REASON, _CORRECTS, _IT_IS, _INSTEAD = (
    re.compile(_TALK[name], re.IGNORECASE)
    for name in "filler,explicit,asks,request,standing,pronoun,reason,corrects,it is,instead".split(",")
)
_NAME, _SAYS = re.compile(_TALK["name"]), re.compile(_TALK["says"])
_LABELS = {name.removeprefix("label "): names for name, names in _TALK.items() if name.startswith("label ")}
_LABEL = re.compile(
    f"(?:{'|'.join(f'(?P<{kind}>{names})' for kind, names in _LABELS.items())})\\s*(?::|[–—]| - )\\s*(?P<rest>\\S.*)",
    re.IGNORECASE,
)


class Turn(NamedTuple):
    """Holds what somebody said in a session: the person, the agent, or a tool, whose text may come from outside."""

    author: str
    text: str
    day: date | None = None
    is_outside: bool = False


class Learned(NamedTuple):
    """A statement that is worth keeping: its type, the turn that it comes from, and whether only a tool vouches for it."""

    content: str
    type: str
    turn: int
    is_quoted: bool = False


def is_outside_tool(source: str, text: str, local: Collection[str] = ()) -> bool:
    """Returns whether the answer of a tool holds text from outside: of a web page, a letter, or a tool that is not known.

    >>> [is_outside_tool("tool:Bash", f"Bash: {command}\\n...", []) for command in ("ls", "curl https://example.com")]
    [False, True]
    >>> [is_outside_tool(f"tool:{name}", "", []) for name in ("mcp__mabos__memory_get", "mcp_mabos_memory_get", "mcp__web__get")]
    [False, False, True]
    """
    name = source.partition(":")[2].casefold()
    server = name.removeprefix("mcp").lstrip("_")  # as each host writes the names of our tools
    is_ours = name in LOCAL_TOOLS or name in local or server.startswith("mabos_")
    return not is_ours or bool(_FETCHES.search(text.partition("\n")[0]))


def learn(turns: Sequence[Turn], judge: Judge, first: int = 0) -> list[Learned]:
    """Returns what the turns of one session say that is worth keeping, in order; the turns before `first` are only context."""
    found: list[Learned] = []
    shown = deque[frozenset[str]](maxlen=_SHOWN)  # what tools gave, by its words
    came_from_outside = False
    before: list[str] = []  # what was said before, for what a statement refers to
    for number, turn in enumerate(turns):
        if turn.author == TOOL:
            came_from_outside |= turn.is_outside
            # After text from outside nothing that an agent says is its own, quoted or not.
            shown.extend(() if came_from_outside else map(word_set, split_statements(turn.text)[:500]))
            continue
        statements = split_statements(turn.text)
        if number >= first:
            is_person = turn.author == PERSON
            picked = _pick_person(turn, statements, before, judge) if is_person else _pick_agent(statements)
            for content, kind in picked:
                is_quoted = not is_person and (came_from_outside or _is_quoted(content, shown))
                found.append(Learned(_finish(content, turn), kind, number, is_quoted))
        before = [*before, *statements][-20:]
    return found


def strip_talk(text: str) -> str:
    """Returns a statement without the words of talk in front of it, and a standing request as what is asked for.

    >>> strip_talk("ok thanks, we use Postgres"), strip_talk("could you always answer in German?"), strip_talk("thanks!")
    ('we use Postgres', 'always answer in German', 'thanks!')
    """
    filler = _FILLER.match(text)
    text = text[filler.end() :] if filler and filler.end() < len(text) else text
    request = _REQUEST.match(text)
    return text[request.end() :].rstrip("?") if request and _STANDING.search(text) else text


def _is_quoted(content: str, shown: Collection[frozenset[str]]) -> bool:
    words = word_set(content)
    return any(words and len(words & line) >= _QUOTED * len(words) for line in shown)


def _pick_agent(statements: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields what an agent marks as decided, learned or achieved; all else that it says is talk."""
    for statement in statements:
        if (labelled := _labelled(statement)) and labelled[0] in ("decision", "lesson", "outcome"):
            yield labelled[1], labelled[0]


def _labelled(text: str) -> tuple[str, str] | None:
    """Returns the type and text of a statement with a label in front, such as `Decision: ...`."""
    match = _LABEL.fullmatch(text.strip("*_ "))
    rest = match["rest"].strip("*_ ") if match else ""
    if not match or len(rest.split()) < 2:
        return None
    return next(kind for kind in _LABELS if match[kind]), rest


def _pick_person(
    turn: Turn, statements: Sequence[str], before: Sequence[str], judge: Judge
) -> Iterator[tuple[str, str]]:
    """Yields what a person said that is worth keeping, as text and type."""
    is_long = len(turn.text) > _LONG_TURN
    for at, raw in enumerate(statements):
        text = strip_talk(raw)
        asked = _labelled(text) or _asked_to_keep(text, judge) or read_cue(text)
        if is_long and not asked and 2 < at < len(statements) - 2:
            continue
        kind, text = asked or _judge(text, [*before, *statements[:at]], judge)
        if not kind:
            continue
        text = _standing_alone(text, statements[:at] or before[-2:], is_asked=asked is not None)
        if not text:
            continue
        after = statements[at + 1] if at + 1 < len(statements) else ""
        if _REASON.match(after) and len(text) + len(after) < _LONGEST:
            text = f"{text.rstrip('.')}. {after}"
        yield text, kind


def _asked_to_keep(text: str, judge: Judge) -> tuple[str, str] | None:
    """Returns the type and text of what somebody asks to keep; None where nobody does."""
    match = _EXPLICIT.match(text)
    rest = text[match.end() :].strip() if match else ""
    if len(rest.split()) < 2 or _ASKS.match(rest):
        return None
    if text.endswith("?"):
        rest = rest.rstrip("?") + "."
    if task := re.match(r"to (?!be\b)", rest):
        rest = rest[task.end() :]
        return ("instruction" if _STANDING.search(rest) else "plan"), rest
    return judge.best(rest), rest


def _judge(text: str, before: Sequence[str], judge: Judge) -> tuple[str, str]:
    """Returns the type of a statement, empty where it is not worth keeping, and the statement as it is to be kept."""
    corrects = _CORRECTS.match(text)
    if corrects and len(text) > corrects.end():
        text = text[corrects.end() :]
        if mended := _correct(text, before):
            return judge.best(mended), mended
    if len(text.split()) < 3 or (is_other_language(text) and not is_sure(judge.shares(text), NOISE)):
        return "", ""
    return "" if text.endswith("?") else judge.judge(text), text


def _correct(text: str, before: Sequence[str]) -> str:
    """Returns what was said before as a correction has it: the new value in the place of the old one; empty if none fits."""
    earlier = [line for line in reversed(before) if not line.endswith("?")]
    if swap := _INSTEAD.match(text):
        old = re.compile(rf"\b{re.escape(swap['old'].strip())}\b", re.IGNORECASE)
        line = next((line for line in earlier if old.search(line)), "")
        return old.sub(swap["new"].strip().replace("\\", ""), line, count=1)
    if match := _IT_IS.fullmatch(text):
        for line in earlier:
            if known := _SAYS.match(strip_talk(line)):
                return f"{known['head']} {match['value']}"
    return ""


def _standing_alone(text: str, before: Sequence[str], *, is_asked: bool) -> str:
    """Returns a statement with the one before it where a pronoun refers to that; empty where nothing tells whom it means."""
    refers = _PRONOUN.search(text)
    if not refers or (refers.start() and _NAME.search(text[: refers.start()])):
        return text
    earlier = (strip_talk(line) for line in reversed(before) if not line.endswith("?"))
    context = next((line for line in earlier if _NAME.search(line) and not _PRONOUN.match(line)), "")
    if context and len(context) + len(text) < _LONGEST and likeness(word_set(context), word_set(text)) < 0.8:
        return f"{context.rstrip('.!')}. {text[0].upper()}{text[1:]}"
    return text if is_asked or refers.start() else ""


def _finish(text: str, turn: Turn) -> str:
    """Returns a statement as it is kept: days named, a capital in front, bounded."""
    text = text.strip(" -–—:;,")
    text = name_days(text, turn.day) if turn.day else text
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST].rsplit(' ', 1)[0]} …"
    return text[:1].upper() + text[1:]
