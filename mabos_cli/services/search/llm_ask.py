"""Introduces the language model that the settings name, if any, to the commands that let it write."""

import os
import re
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from mabos_cli.backends.llm import Llm, open_llm
from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.errors import MabosError, Unavailable
from mabos_cli.workspace.agent import Agent

if TYPE_CHECKING:
    from mabos_cli.formats.hierarchy.summary_md import Overview

Read = TypeVar("Read")
_LONGEST_OVERVIEW = 1200  # characters


def open_writer(agent: Agent) -> Llm | None:
    """Returns the model that writes for an agent, or None by default; Unavailable when the settings contradict."""
    options = {name: agent.settings[f"llm.{name}"] for name in ("command", "url", "model", "timeout")}
    return open_llm(**options, environ=os.environ)


class Asker:
    """Puts questions to the model that the user asked for, until it fails or there were enough. What it answers is for `read`
    to judge. Whoever asks does without an answer that does not come; no lock is held meanwhile."""

    def __init__(self, agent: Agent, noun: str) -> None:
        writer = open_writer(agent)
        if writer is None:
            raise Unavailable("no language model is configured", "set llm.command or llm.url, or leave --llm out")
        self._writer = writer
        self._noun = noun
        self._most = agent.settings["llm.max_questions"]
        self._down = ""
        self._without: Counter[str] = Counter()
        self.asked = 0

    @property
    def name(self) -> str:
        return self._writer.name

    @property
    def mark(self) -> str:
        """Returns the name by which text of the model is marked, fit to stand in a line of Markdown."""
        return "llm:" + re.sub(r"[^\w./:@+-]+", "-", self.name)[:80]

    def ask(self, prompt: str, read: Callable[[str], Read]) -> Read | None:
        """Returns what `read` makes of the answer, or None when there is none that is any good."""
        reason = self._down
        if not reason and self.asked >= self._most:
            reason = f"llm.max_questions is {self._most}"
        if not reason:
            self.asked += 1
            try:
                return read(self._writer.write(prompt))
            except BadValue as error:
                reason = f"the language model {self.name}: {error.message}"
            except Unavailable as error:
                # One that takes a minute to say nothing is not asked twenty times.
                reason = self._down = error.message
        self.do_without(reason)
        return None

    def do_without(self, reason: str) -> None:
        """Notes that something is not put to the model, and why."""
        self._without[reason] += 1

    def warnings(self) -> list[str]:
        """Returns what went wrong, each kind once."""
        without = "without a language model"
        return [f"{plural(count, self._noun)} {without}: {reason}" for reason, count in self._without.items()]


class OverviewWriter:
    """Asks a language model for overviews, until it fails: then the summaries do without it for this time."""

    def __init__(self, writer: Llm) -> None:
        self._writer = writer
        self._trouble = ""
        self._without = 0

    def __call__(self, text: str) -> "Overview":
        """Returns the overview of a summary."""
        from mabos_cli.formats.hierarchy.summary_md import Overview
        from mabos_cli.formats.search.llm_answers import render_overview_prompt
        from mabos_cli.services.hierarchy.build import FAILED

        if not self._trouble:
            try:
                text = self._writer.write(render_overview_prompt(text))
                return Overview(text[:_LONGEST_OVERVIEW], self._writer.name)
            except MabosError as error:
                self._trouble = error.message
        self._without += 1
        return Overview("", FAILED)

    def warnings(self) -> list[str]:
        """Returns what went wrong, once."""
        return [f"{plural(self._without, 'summary')} without an overview: {self._trouble}"] if self._trouble else []
