"""Answers hooks: `mabos hook EVENT [--host HOST] [-w DIR] [-a AGENT]`, the host's JSON on standard input.

Runs before the command line is loaded. A hook must never get in the way of a session: whatever goes wrong becomes a line in
.mabos/hook.log, the exit code is 0, and stdout holds what the host accepts or nothing. Only what an event needs is loaded: for
the end of a session that is json and os.
"""

import json
import os
import sys
import time
from collections.abc import Callable

from mabos_cli.core.operations.hook_hosts import (
    HOSTS,
    LATE,
    TELLING,
    TRIAL,
    context_answer,
    find_event,
    find_host,
    folders_of,
    is_again,
    session_of,
    word_of,
)
from mabos_cli.workspace.plain_files import (
    AGENTS,
    append_bounded,
    append_guarded,
    hook_answers,
    hook_lock,
    hook_log,
    hook_spool,
    is_agent_folder,
    is_workspace,
    machine_token,
    workspace_above,
)

TYPE_CHECKING = False  # so that nothing loads typing here; type checkers take it as true
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

LEARN = "learn"  # our own event, which follows the end of a session
# It runs at low priority and ends after five minutes; the next harvest stores the rest.
_BEHIND = "import os, signal; os.nice(10); signal.alarm(300); from mabos_cli.__main__ import main; main()"
_HELP = ("-h", "--help")
_VALUES = {"-w": "workspace", "--workspace": "workspace", "-a": "agent", "--agent": "agent", "--host": "host"}
_PATIENCE, _ALL = 0.4, 0.7  # seconds: for the next bytes of a payload, and for all of it
_MOST = 1 << 25
TIME = 1.0  # seconds of work for an answer at most
_PATIENT = 3  # times as long by the clock, on a busy machine: hosts wait ten seconds
_LOG = 1 << 16
_MOST_LINE = 1 << 12  # bytes of a line about the end of a session
_WAIT = 0.3  # seconds, while another process empties the spool


class HostCall:
    """A call by a host: event, host, payload, workspace and agent."""

    def __init__(self, event: str, host: str, payload: dict[str, object], root: str, agent: str) -> None:
        self.event, self.host, self.payload = event, host, payload
        self.root, self.agent = root, agent
        self.folder = os.path.join(root, AGENTS, agent)
        self.deadline = time.monotonic() + _seconds()
        named = os.path.expanduser(word_of(payload, "transcript_path"))
        # It is read later, from another folder.
        self.transcript = os.path.abspath(os.path.join(word_of(payload, "cwd"), named)) if named else ""


def _seconds() -> float:
    """Returns how long an answer may take."""
    try:
        return float(os.environ.get("MABOS_HOOK_TIME", TIME))
    except ValueError:
        return TIME


class Late(BaseException):
    """Raised when time is up; not an Exception, so that nothing that handles errors catches it."""


def is_called(words: list[str]) -> bool:
    """Returns whether a command line calls a hook, and does not ask for its help."""
    place = _skip_options(words)
    if words[place : place + 1] != ["hook"]:
        return False
    rest = words[place + 1 :]
    return bool(rest) and not any(word in _HELP for word in rest)


def _skip_options(words: list[str]) -> int:
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in (*_VALUES, "--lock-timeout") else 1
    return place


def main(words: list[str]) -> int:
    """Answers a host on stdout. The exit code is always 0."""
    options = {"workspace": "", "agent": "", "host": "auto", "event": ""}
    root, call, outcome = "", None, ""
    # Time may be up within a destructor or a callback of SQLite: Python prints such an exception and goes on.
    sys.unraisablehook = lambda ignored: None
    try:
        _read_words(words, options)
        payload = parse_payload(read_payload())
        call = find_call(options, payload)
        root = call.root if call else ""
        if call:
            answered = answer(call)
            _print(answered)
            outcome = "told" if answered else "silent" if call.event in TELLING else "noted"
    except (Late, KeyboardInterrupt) as stop:
        outcome = "late"
        log(root, f"{options['event']}: {'not ready in time' if isinstance(stop, Late) else 'interrupted'}")
    except Exception as error:  # whatever it is, the session goes on
        outcome = "failed"
        log(root, f"{options['event']}: {type(error).__name__}: {error}")
        if os.environ.get("MABOS_HOOK_DEBUG"):
            sys.stderr.write(f"mabos hook: {type(error).__name__}: {error}\n")
    if call and call.event != LEARN:
        _append(hook_answers(call.root), f"{call.agent} {call.host} {call.event} {outcome}")
    return 0


def _read_words(words: list[str], options: dict[str, str]) -> None:
    """Reads the known options; those of later versions are skipped."""
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in _VALUES:
            options[_VALUES[name]] = value if equals else next(rest, "")
        elif not word.startswith("-") and word != "hook" and not options["event"]:
            options["event"] = word


def read_payload(fd: int = 0) -> bytes:
    """Reads what a host writes to standard input.

    Does not wait for a terminal, nor for a host that writes nothing or never closes the pipe.
    """
    from select import select

    data, end = bytearray(), time.monotonic() + _ALL
    try:
        while not os.isatty(fd) and time.monotonic() < end and select([fd], [], [], _PATIENCE)[0]:
            piece = os.read(fd, 1 << 20)
            data += piece if len(data) < _MOST else b""
            if not piece or (len(piece) < 1 << 16 and piece.rstrip().endswith(b"}") and _is_whole(data)):
                break
    except (OSError, ValueError):  # closed, or nothing that can be waited for
        pass
    return bytes(data)


def _is_whole(data: bytearray) -> bool:
    """Returns whether a payload is complete, for hosts that leave the pipe open."""
    try:
        return isinstance(json.loads(data), dict)
    except (ValueError, RecursionError):
        return False


def parse_payload(data: bytes) -> dict[str, object]:
    """Returns the object in a payload; an empty one where there is none."""
    try:
        found = json.loads(data.decode("utf-8", "replace").lstrip("\ufeff")) if data else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def answer(call: HostCall) -> dict[str, object]:
    """Returns the answer to a host; empty for none."""
    if call.event == "session-end":
        if session_of(call.payload) != TRIAL and not _is_noted(call):
            spool(call, reason=word_of(call.payload, "reason"))
            _learn_later(call)
        return {}
    if call.event == "session-start":
        if _is_waiting(call):
            _learn_later(call)
        from mabos_cli.serve.hook_opening import opening_text

        return context_answer(call.host, call.event, _in_time(call, opening_text))
    from mabos_cli.serve import hook_events

    if call.event == "pre-compact":
        if hook_events.is_compacting(call):
            hook_events.note_session(call)
            _learn_later(call)
        return {}
    if call.event == LEARN:
        hook_events.learn_now(call)
        return {}
    if call.event == "stop":
        if call.host in LATE and session_of(call.payload) != TRIAL:
            spool(call)
            if LATE[call.host]:
                _learn_later(call)
                return {}
        return {} if is_again(call.payload) else _in_time(call, hook_events.stop_answer)
    parts = [_in_time(call, hook_events.prompt_text)]
    if call.host == "gemini" and hook_events.was_compacted(call):
        from mabos_cli.serve.hook_opening import opening_text

        call.payload["source"] = "compact"
        parts.insert(0, opening_text(call))
    return context_answer(call.host, call.event, "\n".join(filter(None, parts)))


def _is_noted(call: HostCall) -> bool:
    """Returns whether the end of this session was recorded seconds ago: Gemini reports it three times."""
    try:
        with open(hook_spool(call.root, call.agent), "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _MOST_LINE))
            last = parse_payload(file.read().rstrip().rpartition(b"\n")[2])
    except OSError:
        return False
    new = {"event": call.event, "session_id": session_of(call.payload), "transcript_path": call.transcript}
    return bool(call.transcript) and last | new == last and word_of(last, "at")[:18] == stamp()[:18]  # of ten seconds


def _is_waiting(call: HostCall) -> bool:
    """Returns whether a recorded session waits to be harvested."""
    try:
        return os.stat(hook_spool(call.root, call.agent)).st_size > 0
    except OSError:
        return False


def _learn_later(call: HostCall) -> None:
    """Starts a separate process that harvests the recorded sessions, so that the next session knows them without a timer. A
    run with a fixed clock starts none."""
    if "MABOS_NOW" in os.environ or not hasattr(os, "posix_spawn"):
        return
    words = [sys.executable, "-c", _BEHIND, "hook", LEARN, "-w", call.root, "-a", call.agent]
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    os.posix_spawn(sys.executable, words, os.environ, file_actions=nowhere, setpgroup=0)


def _in_time(call: HostCall, work: "Callable[[HostCall], T]") -> "T":
    """Runs work that only reads; raises Late when it takes too much CPU time, or a multiple of that by the clock."""
    import signal

    def late(number: int, frame: object) -> None:
        raise Late

    rest = max(0.001, call.deadline - time.monotonic())
    timers = {signal.ITIMER_REAL: (signal.SIGALRM, _PATIENT * rest), signal.ITIMER_PROF: (signal.SIGPROF, rest)}
    old = {number: signal.signal(number, late) for number, _ in timers.values()}
    for timer, (_, seconds) in timers.items():
        signal.setitimer(timer, seconds)
    try:
        return work(call)
    finally:
        for timer in timers:
            signal.setitimer(timer, 0)
        for number, handler in old.items():
            signal.signal(number, handler)


def _print(answered: dict[str, object]) -> None:
    """Prints an answer in ASCII, whatever the locale. A host that closed the pipe is no error."""
    if answered and sys.stdout is not None:
        try:
            sys.stdout.buffer.write(json.dumps(answered).encode() + b"\n")
            sys.stdout.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def find_call(options: dict[str, str], payload: dict[str, object]) -> "HostCall | None":
    """Returns a call with its event, workspace and agent; None if one of them is not found."""
    event = options["event"] if options["event"] == LEARN else find_event(options["event"])
    event = event or find_event(word_of(payload, "hook_event_name"))
    root = find_root(options["workspace"], payload)
    if not root:
        return None
    if not event:
        log(root, f"{options['event'][:40]}: no such event")
        return None
    host = options["host"] if options["host"] in HOSTS else find_host(payload, os.environ)
    agent = find_agent_id(root, options["agent"])
    if not agent:
        log(root, f"{event}: which agent? name it with --agent or MABOS_AGENT")
        return None
    return HostCall(event, host, payload, root, agent)


def find_root(named: str, payload: dict[str, object]) -> str:
    """Returns the workspace: as named, from MABOS_WORKSPACE, or the nearest one above the session or this process."""
    named = named or os.environ.get("MABOS_WORKSPACE", "")
    if named:
        root = os.path.abspath(os.path.expanduser(named))
        return root if is_workspace(root) else ""
    for folder in (*folders_of(payload), _here()):
        if folder and (found := workspace_above(os.path.abspath(folder))):
            return found
    return ""


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def find_agent_id(root: str, named: str) -> str:
    """Returns the agent: as named, from MABOS_AGENT, or the only one; empty when there is none."""
    folder = os.path.join(root, AGENTS)
    named = named or os.environ.get("MABOS_AGENT", "")
    if named:
        # As it is spelled: a disk that ignores case finds a1 under the name A1.
        plain = not named.startswith(".") and named in os.listdir(folder)
        return named if plain and is_agent_folder(os.path.join(folder, named)) else ""
    found = [name for name in os.listdir(folder) if is_agent_folder(os.path.join(folder, name))]
    return found[0] if len(found) == 1 else ""


def spool(call: HostCall, **more: object) -> None:
    """Records a session durably for the next harvest."""
    record = {
        "at": stamp(),
        "event": call.event,
        "host": call.host,
        "session_id": session_of(call.payload),
        "transcript_path": call.transcript,
        "machine": machine_token(),
        **more,
    }
    path, lock = hook_spool(call.root, call.agent), hook_lock(call.root, call.agent)
    append_guarded(path, lock, json.dumps(record).encode() + b"\n", root=call.root, wait=_WAIT)


def stamp() -> str:
    """Returns this moment, or the one in MABOS_NOW."""
    return os.environ.get("MABOS_NOW") or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def log(root: str, line: str) -> None:
    """Adds a line to the log of the workspace, if there is one."""
    if not root:
        return
    _append(hook_log(root), " ".join(line.split())[:300])


def _append(path: str, line: str) -> None:
    """Adds a line with the time to a log of bounded size; does nothing where the folder is missing or cannot be written."""
    try:
        if os.path.isdir(os.path.dirname(path)):
            append_bounded(path, f"{stamp()} {line}\n".encode("utf-8", "replace"), _LOG)
    except OSError:
        pass
