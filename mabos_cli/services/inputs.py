"""Text that comes from outside: arguments, standard input, batch files. Checked at the door. Opens the workspace and the agent that a call is about."""

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from mabos_cli.config import Settings, check_setting, layer
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time, parse_when
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory import item as memory_item
from mabos_cli.core.memory.stores import Draft, Relatives
from mabos_cli.core.memory.trust import lowest_trust, needs_voucher, trust_by_source, trust_rank
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import InvalidFile, NotFound, UsageFault
from mabos_cli.formats.json.text import parse_json
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import is_inside
from mabos_cli.workspace.layout import AgentPaths, WorkspacePaths
from mabos_cli.workspace.locate import find_agent, find_workspace
from mabos_cli.workspace.memory.store import LongTermStore
from mabos_cli.workspace.runtime import now
from mabos_cli.workspace.settings import load_settings

_KEYS = frozenset(
    "content type importance priority tags store source context related_to derived_from expires_at observed_at created_at "
    "author session trust".split()
)


def read_stdin() -> str:
    """Reads standard input as text, byte for byte."""
    try:
        return stdin_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise UsageFault("standard input is not valid UTF-8", "convert it, for example with iconv -t utf-8") from None


def stdin_bytes() -> bytes:
    """Reads standard input."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageFault("nothing on standard input", "pipe the text in, or give it as an argument")
    return sys.stdin.buffer.read()


def text_argument(given: str, literal_dash: bool) -> str:
    """Returns the argument, or standard input when it is a dash that was not put behind `--`."""
    return read_stdin() if given == "-" and not literal_dash else given


def line_argument(given: str, literal_dash: bool) -> str:
    """Returns an argument, or standard input for a dash, as one word or line without what ends it."""
    return text_argument(given, literal_dash).strip()


def importance_of(
    importance: float | None, priority: str | None, number: str = "--importance", word: str = "--priority"
) -> float | None:
    """Returns the number that two options, which are two names for it, give, or None when neither is given."""
    if importance is not None and priority is not None:
        raise UsageFault(f"both {number} and {word} given", "they are two names for one number; give one")
    if priority is not None:
        return memory_item.PRIORITIES[memory_item.check_choice(priority, list(memory_item.PRIORITIES), "priority")]
    return None if importance is None else memory_item.check_importance(importance)


def option(name: str, value: Any) -> Any:
    """Checks an option that overrides a setting as the setting is checked; None when it was not given."""
    return None if value is None else check_setting(name, value)


def read_moment(text: str, now: datetime) -> datetime | None:
    """Returns the moment that --valid-at names; None when nothing is asked for."""
    return parse_when(text, now) if text.strip() else None


def stamp_of(text: str | None, now: datetime) -> str:
    """Returns a date option as it is stored; empty when it was not given."""
    return format_time(parse_when(text, now)) if text else ""


def secrets_mode(replace: bool, allow: bool, settings: Settings) -> str:
    """Returns what becomes of secrets in what is stored, by two options and the setting: refuse, redact or allow."""
    if replace and allow:
        raise UsageFault("both --redact and --allow-secret given", "one replaces secrets, the other keeps them")
    if replace:
        return "redact"
    return "refuse" if settings["secrets.refuse"] and not allow else "allow"


def refuse_secrets(settings: Settings, **texts: str) -> None:
    """Raises BadValue when a text that no option can let through holds a secret; the setting lets them all through."""
    from mabos_cli.core.language.secrets import redact

    for name, text in texts.items() if settings["secrets.refuse"] else ():
        if kinds := redact(text)[1]:
            raise BadValue(f"a secret in {name}: {', '.join(kinds)}", "remove the secret")


def draft_from(
    fields: dict[str, Any], settings: Settings, now: datetime, secrets: str | None = None, by: str = ""
) -> Draft:
    """Checks named values and returns them as a draft. Unknown names and bad values are BadValue.

    `secrets` says what becomes of them: refuse, redact or allow. A command without options for that leaves it to the setting.
    `by` names the person who vouches for what comes from outside.
    """
    hint = "--redact stores it with the secret replaced, --allow-secret as it is" if secrets else "remove the secret"
    fields, redacted = _without_secrets(fields, secrets or secrets_mode(False, False, settings), hint)
    unknown = fields.keys() - _KEYS
    if unknown:
        raise BadValue(f"unknown field {sorted(unknown)[0]!r}", f"known: {', '.join(sorted(_KEYS))}")
    for name in _KEYS - {"importance", "tags", "related_to", "derived_from"}:
        if not isinstance(fields.get(name, ""), str | None):
            raise BadValue(f"{name} must be text")
    lists = {name: _texts(fields.get(name), name) for name in ("tags", "related_to", "derived_from")}
    importance = importance_of(fields.get("importance"), fields.get("priority"))
    source = memory_item.check_word(fields.get("source") or "manual", "source")
    item = memory_item.MemoryItem(
        id="",
        content=memory_item.check_content(fields.get("content") or "", settings["memory.max_content_bytes"]),
        type=memory_item.check_choice(fields.get("type") or settings["memory.default_type"], memory_item.TYPES, "type"),
        importance=0.5 if importance is None else importance,
        source=source,
        trust=check_trust(fields.get("trust") or "", source, by),
        author=memory_item.check_word(fields.get("author") or "", "author"),
        session=memory_item.check_word(fields.get("session") or "", "session"),
        tags=memory_item.check_tags(lists["tags"]),
        related_to=tuple(memory_item.check_word(i, "id") for i in lists["related_to"]),
        derived_from=tuple(memory_item.check_word(i, "id") for i in lists["derived_from"]),
        context=memory_item.check_content(fields["context"], settings["memory.max_content_bytes"])
        if fields.get("context")
        else "",
        created_at=stamp_of(fields.get("created_at"), now),
        observed_at=stamp_of(fields.get("observed_at"), now),
        expires_at=_expiry(fields.get("expires_at"), now),
    )
    store = memory_item.check_choice(
        fields.get("store") or settings.keeping()[item.type].store, memory_item.STORES, "store"
    )
    vouched_by = by if needs_voucher(item.trust, source) else ""
    return Draft(item, store, graded=importance is not None, redacted=redacted, vouched_by=vouched_by)


def check_voucher(settings: Settings, by: str) -> str:
    """Returns the name of the person who vouches for something, checked; empty when nobody does."""
    refuse_secrets(settings, by=by)
    return memory_item.check_word(by, "name")


def check_trust(given: str, source: str, by: str = "", before: str = "agent") -> str:
    """Returns the trust that somebody asks for, checked; without one, what it was before, bounded by the source. UsageFault where
    that is more than an outside source has, or than what was untrusted had, and no person vouches for it."""
    usual = lowest_trust((before, trust_by_source("trusted", source)))
    trust = memory_item.check_choice(given, memory_item.TRUSTS, "trust") if given else usual
    if trust_rank(trust) and not trust_rank(usual) and not by:
        hint = f"--by NAME logs who vouches for it; without --trust it is stored as {memory_item.TRUSTS[0]}"
        about = f"with the source {one_line(source, 60)}" if needs_voucher(trust, source) else "for what is untrusted"
        raise UsageFault(f"--trust {trust} {about} needs --by NAME", hint)
    return trust


def _without_secrets(fields: dict[str, Any], mode: str, hint: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Returns the values, and the kinds of secrets replaced in them.

    This comes first: no later message can show a secret.
    """
    if mode == "allow":
        return fields, ()
    from mabos_cli.core.language.secrets import redact  # its rules are many: only what stores loads them

    kept: dict[str, Any] = {}
    kinds: set[str] = set()
    for name, value in fields.items():
        many = isinstance(value, list | tuple)
        texts = value if many else [value]
        parts = [redact(text) if isinstance(text, str) else (text, ()) for text in texts]
        found = sorted({kind for _, some in parts for kind in some})
        if found and mode == "refuse":
            place = name if name in _KEYS else "a field"
            raise BadValue(f"a secret in {place}: {', '.join(found)}", hint)
        kept[name] = [part for part, _ in parts] if many else parts[0][0]
        kinds.update(found)
    return kept, tuple(sorted(kinds))


def _texts(value: Any, name: str) -> list[str]:
    found = [value] if isinstance(value, str) else value or []
    if not isinstance(found, list | tuple) or not all(isinstance(part, str) for part in found):
        raise BadValue(f"{name} must be a list of texts")
    return [part for part in found if part.strip()]


def parse_ahead(text: str, now: datetime) -> datetime:
    """Parses a moment to come. An age such as 30d means from now on; a bare date lasts to its end."""
    moment = parse_when(text, now, end=True)
    return now + (now - moment) if text[-1:] in "smhdw" and text[:1].isdigit() else moment


def _expiry(text: str | None, now: datetime) -> str:
    """Parses an expiry date; empty for none."""
    if not text:
        return ""
    moment = parse_ahead(text, now)
    if moment <= now:
        raise BadValue(f"{text!r} is in the past: it would expire at once", "give a later date, or 30d")
    return format_time(moment)


def read_given(path: str) -> str:
    """Reads the text of a file, or of standard input for `-`, without a byte order mark."""
    if path == "-":
        return read_stdin().removeprefix("\ufeff")
    try:
        return given_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidFile(f"{path}: not valid UTF-8", "convert it, for example with iconv -t utf-8") from None


def find_target(named: str, hint: str) -> Path:
    """Returns the file to be written, links followed; UsageFault when it is a folder or a device."""
    target = Path(os.path.realpath(os.path.expanduser(named)))
    if target.exists() and not target.is_file():
        raise UsageFault(f"{named or 'an empty name'} is not a regular file", hint)
    return target


def given_bytes(path: str) -> bytes:
    """Reads the bytes of a file that somebody names, or of standard input for `-`."""
    with open_lines(path) as file:
        return file.read()


@contextmanager
def open_lines(path: str) -> Iterator[BinaryIO]:
    """Opens a file of lines that somebody names, to be read a piece at a time, or standard input for `-`."""
    if path == "-":
        yield BytesIO(stdin_bytes())
        return
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below, where errors are of those who read it
    except FileNotFoundError:
        raise NotFound(f"no file {path}", "give a file, or - for standard input") from None
    except OSError as error:
        raise InvalidFile(
            f"cannot read {path}: {error.strerror}", "give a plain file, or - for standard input"
        ) from None
    with file:
        yield file if file.seekable() else BytesIO(file.read())


class BatchLines(NamedTuple):
    """How the lines of an NDJSON file become drafts; lines win over what was `given` for all."""

    shown: str
    given: dict[str, Any]
    settings: Settings
    now: datetime
    secrets: str | None = None
    by: str = ""

    def read(self, lines: Iterable[bytes], before: int = 0, *, stored: int = 0) -> Iterator[Draft]:
        """Yields the drafts of lines that come behind others; InvalidFile cites the first invalid line."""
        outcome = (
            f"the {stored} lines before are stored, and running it again continues there"
            if stored
            else "nothing was stored"
        )
        for number, line in enumerate(lines, before + 1):
            text = _decode_line(line, self.shown, number)
            if not text.strip():
                continue
            fields = parse_json(text, self.shown, line=number, hint=f"{outcome}; each line must be one JSON object")
            if not isinstance(fields, dict):
                raise InvalidFile(
                    f"{self.shown}:{number}: each line must be an object", 'like {"content": "...", "type": "fact"}'
                )
            try:
                yield draft_from(_defaults(self.given, fields) | fields, self.settings, self.now, self.secrets, self.by)
            except (BadValue, UsageFault) as error:
                raise InvalidFile(
                    f"{self.shown}:{number}: {error.message}", f"{outcome}; {error.hint}".rstrip("; ")
                ) from None


def _decode_line(line: bytes, shown: str, number: int) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError:
        raise InvalidFile(f"{shown}:{number}: not valid UTF-8", "convert it, for example with iconv -t utf-8") from None


def _defaults(given: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """Returns what was given for all lines, except importance where a line grades itself."""
    graded = {"importance", "priority"}
    return {n: v for n, v in given.items() if n not in graded or not graded & fields.keys()}


NO_AGENTS = "no agents; make one: mabos agent create ID"


class Session:
    """The workspace and the agent that a caller names, and how long to wait for its lock."""

    def __init__(
        self,
        workspace: str | None = None,
        agent: str | None = None,
        lock_timeout: str | None = None,
        opened: list[Agent] | None = None,
    ) -> None:
        self.workspace = workspace
        self.agent = agent
        self.lock_timeout = lock_timeout
        # The agents that were opened, for what follows a write; nothing follows where there is no list.
        self.opened = opened
        # What the settings of the agents that were opened have to say, for the warnings of the answer.
        self.notices: list[str] = []

    # How doors show that something takes long: by what it is about, a function of done and total. Most do not.
    progress: Callable[[str], Callable[[int, int], None] | None] | None = None
    # How doors make sure, under the lock, that what somebody decided on is still so: it raises Conflict where it is not.
    confirm: Callable[[], None] | None = None

    def open_workspace(self) -> WorkspacePaths:
        """Finds the workspace of this call."""
        return find_workspace(self.workspace)

    def open_agent(self, *, fallback: bool = False) -> Agent:
        """Opens the agent of this call, with its settings."""
        return self.agent_of(find_agent(self.open_workspace(), self.agent), fallback=fallback)

    def agent_of(self, agent: AgentPaths, *, fallback: bool = False) -> Agent:
        """Opens an agent under this call's options; with fallback, settings that cannot be read are the defaults."""
        try:
            settings = load_settings(agent.workspace, agent, {"lock.timeout": self.lock_timeout})
        except InvalidFile:
            if not fallback:
                raise
            settings = layer([])
        floor = settings["memory.related_threshold"]
        self.notices += [notice for notice in settings.warnings if notice not in self.notices]
        relatives = partial(_open_relatives, floor)
        home = Agent(agent, settings, now(), relatives, changes=[], progress=self.progress, confirm=self.confirm)
        if self.opened is not None:
            self.opened.append(home)
        return home


def _open_relatives(floor: float, long_term: LongTermStore, writes: bool) -> Relatives:
    """Opens the index of similar items, brought up to date, in its file or, if nothing is to be written, in memory; SQLite is
    loaded only when somebody asks for relatives."""
    from mabos_cli.index.similar import SimilarIndex

    path = long_term.paths.similar
    place = path if is_inside(path, long_term.paths.workspace.root) else None
    return SimilarIndex(place, floor, long_term.sources(), writes=writes)


@contextmanager
def without_gc() -> Iterator[None]:
    """Leaves out the search for cycles, of which there are none among values: a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
