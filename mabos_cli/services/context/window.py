"""Builds the window of an agent: messages for a request, a conversation within a budget; says when to flush."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.context.conversation import Compressed, apply_plan, plan_compression, quote_turns
from mabos_cli.core.context.texts import END_TOKENS, Turn, total_cost
from mabos_cli.core.context.window import PARTS, Budget, Filling, Section, Skill, Window, WindowInput
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.checkpoint import should_flush
from mabos_cli.core.memory.item import check_word
from mabos_cli.errors import NotFound
from mabos_cli.formats.context.context_pack import inert
from mabos_cli.formats.context.prompt_md import parse_skill, split_sections
from mabos_cli.formats.markdown.escape import without_seal
from mabos_cli.formats.memory.checkpoint_md import render_flush_prompt
from mabos_cli.services.context.pack import Bounds, open_counter, pack_memory, read_history
from mabos_cli.services.inputs import Session, option, read_given
from mabos_cli.services.memory.checkpoints import note_flush, read_flushes
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import read_bytes

_LONGEST_SUMMARY = 4_000  # characters that a model may write about a conversation
_SKILL = "SKILL.md"
# By importance: what does not fit is left out from the end. Hosts keep some of them once for all agents.
PROMPT_FILES = (
    *("Persona.md", "SOUL.md", "IDENTITY.md", "Capabilities.md", "USER.md", "memory/INDEX.md", "AGENTS.md"),
    "memory/observations.md",
)


class Built(NamedTuple):
    """A window, its budget, what to tell the agent when memory is to be flushed, who counted tokens, and warnings."""

    window: Window
    budget: Budget
    flush_prompt: str
    counted_by: str
    warnings: list[str]


def build_window(
    call: Session,
    agent: Agent,
    request: str,
    system: str,
    skills: str,
    history: str,
    window: int | None,
    *,
    shared: bool = False,
) -> Built:
    """Builds the messages for a request within the window of a model, and counts what it packs of memory as used.

    `system`, `skills` and `history` name files; without `system`, it is the persona files of the agent.
    """
    counter, s = open_counter(agent), agent.settings
    given = _read_input(agent, request, system, skills, history)
    shares = (s[f"context.{part}_share"] for part in (*PARTS, "reserve"))
    ends = (s[f"context.{name}"] for name in ("compact_at", "flush_at", "recent_messages"))
    budget = Budget(option("context.window", window) or s["context.window"], *shares, *ends)
    filling = Filling(given, budget, counter.count)
    memory, warnings = "", list[str]()
    if filling.memory_room:
        packed = pack_memory(call, agent, given.request, Bounds(filling.memory_room, shared=shared))
        memory, warnings = packed.pack.text, packed.warnings
    made = filling.finish(memory, inert)
    prompt = flush_prompt(agent) if made.action == "flush" else ""
    return Built(made, budget, prompt, counter.name, [*warnings, *made.notes])


def _read_input(agent: Agent, request: str, system: str, skills: str, history: str) -> WindowInput:
    """Reads what a window is made of, without the secrets in files."""
    from mabos_cli.core.language.secrets import hide_in

    request = request.encode("utf-8", "replace").decode("utf-8")
    if not request.strip():
        raise BadValue("the request is empty", "say what the agent is asked, or - to read it from standard input")
    turns = read_history(history) if history else ()
    # A host that recorded the request already would have it answered twice.
    if turns and turns[-1].role == "user" and turns[-1].content.strip() == request.strip():
        turns = turns[:-1]
    texts = hide_in({system: read_given(system)} if system else load_prompt_files(agent))
    sections: list[Section] = []
    for name, text in texts.items():
        sections += split_sections("standard input" if name == "-" else name, text)
    return WindowInput(request, tuple(sections), hide_in(load_skills(skills)) if skills else (), turns)


def load_prompt_files(agent: Agent) -> dict[str, str]:
    """Returns texts by name, in order of importance: those of the agent, or else those of the whole workspace."""
    found = {}
    for name in PROMPT_FILES:
        for folder in (agent.paths.root, agent.paths.workspace.root):
            data = read_bytes(folder / name)
            if data is not None:
                found[name] = without_seal(data.decode("utf-8-sig", "replace"))
                break
    return found


def load_skills(path: str) -> tuple[Skill, ...]:
    """Returns the skills of a file or folder by name: its Markdown files, and the SKILL.md of each folder in it."""
    place = Path(path)
    if not os.path.isdir(path):
        return (parse_skill(read_given(path), _skill_name(place)),)
    files = {file for pattern in ("*.md", f"*/{_SKILL}") for file in place.glob(pattern) if file.is_file()}
    found = [parse_skill(read_given(str(file)), _skill_name(file)) for file in files if file.name != "README.md"]
    if not found:
        raise NotFound(f"no skills in {path}", f"a folder of Markdown files, or of folders with {_SKILL}")
    return tuple(sorted(found))


def _skill_name(file: Path) -> str:
    return file.resolve().parent.name if file.name == _SKILL else file.stem


class Shortened(NamedTuple):
    """A conversation within a budget, its cost, what it was before, who summed it up and who counted; and warnings."""

    made: Compressed
    budget: int
    tokens: int
    turns: int
    tokens_before: int
    summarized_by: str
    counted_by: str
    warnings: list[str]


def compress_history(agent: Agent, history: str, budget: int | None, keep: int | None, *, llm: bool) -> Shortened:
    """Shortens a conversation, given as a file, to a budget; with `llm`, a language model writes the summary."""
    s, counter = agent.settings, open_counter(agent)
    budget = int(s["context.window"] * s["context.history_share"]) if budget is None else budget
    keep = option("context.recent_messages", keep) or s["context.recent_messages"]
    if budget < 1:
        raise BadValue(f"--budget must be above 0, not {budget}", "as in --budget 8000")
    turns = read_history(history)
    plan = plan_compression(turns, budget - END_TOKENS, keep, counter.count)
    summary, by, warnings = _ask_model(agent, plan.rest) if llm else ("", "", [])
    made = apply_plan(plan, counter.count, inert, summary, by)
    before = total_cost(turns, counter.count) + END_TOKENS if turns else 0
    tokens = made.tokens + END_TOKENS if made.turns else 0
    by = by if summary else "quotes" if made.summarized else ""
    warnings += [f"{plural(made.left_out, 'turn')} left out for lack of space"] if made.left_out else []
    return Shortened(made, budget, tokens, len(turns), before, by, counter.name, warnings)


def _ask_model(agent: Agent, rest: Sequence[tuple[int, Turn]]) -> tuple[str, str, list[str]]:
    """Returns what the model writes about some turns, empty when it fails or there are none, its name, and warnings."""
    from mabos_cli.core.language.secrets import redact
    from mabos_cli.formats.search.llm_answers import LARGEST, parse_text, render_conversation_prompt
    from mabos_cli.services.search.llm_ask import Asker

    asker = Asker(agent, "summary")
    if not rest:
        return "", "", []
    prompt = render_conversation_prompt(quote_turns(rest, LARGEST, len))
    summary = asker.ask(prompt, lambda answer: parse_text(answer, _LONGEST_SUMMARY))
    return inert(redact(summary or "")[0]), asker.name, asker.warnings()


class FlushCheck(NamedTuple):
    """Holds whether to flush memory now, from which size on, whether this compaction was flushed already, and warnings."""

    flush: bool
    threshold: int
    already_flushed: bool
    warnings: list[str]


def check_flush(
    agent: Agent,
    total: int,
    window: int,
    session: str = "",
    compaction: int | None = None,
    soft: int | None = None,
    reserve: int | None = None,
) -> FlushCheck:
    """Says whether memory should be flushed before the context is compacted, at most once for each compaction."""
    if total < 0 or window <= 0 or (compaction or 0) < 0:
        fault = "token counts cannot be negative, and the window must be above 0"
        raise BadValue(fault, "as in --total-tokens 189000 --window 200000")
    session = check_word(session, "session")
    soft = agent.settings["flush.soft_tokens"] if soft is None else option("flush.soft_tokens", soft)
    reserve = agent.settings["flush.reserve_tokens"] if reserve is None else option("flush.reserve_tokens", reserve)
    flushed = read_flushes(agent).get(session)
    flush = should_flush(total, window, soft=soft, reserve=reserve, compaction=compaction, flushed_at=flushed)
    warnings = note_flush(agent, session, compaction) if flush and compaction is not None else []
    is_done = compaction is not None and compaction == flushed
    return FlushCheck(flush, max(0, window - reserve - soft), is_done, warnings)


def flush_prompt(agent: Agent) -> str:
    """Returns what to tell an agent before its context is compacted."""
    now = agent.now()
    return render_flush_prompt(agent.id, f"{now:%Y-%m-%d}", f"{now:%H%M}")
