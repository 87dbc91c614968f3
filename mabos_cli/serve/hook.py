"""Answers the hooks of agent hosts: `mabos hook EVENT [--host HOST] [-w DIR] [-a AGENT]`, the host's JSON on standard input.

Runs before the command line is loaded. A hook must never get in the way of a session: whatever goes wrong becomes a line in
.mabos/hook.log, the exit code is 0, and stdout holds what the host accepts or nothing. Only what an event needs is loaded: for
the end of a session that is json and os.
"""

import json
import os
import sys
import time
from collections.abc import Callable

from mabos_cli.core.operations.hook_hosts import context_answer, is_again, word_of
from mabos_cli.serve.hook_given import Given, find_given, log, spool

_COMMANDS, _HELP = ("install", "uninstall"), ("-h", "--help")
_VALUES = {"-w": "workspace", "--workspace": "workspace", "-a": "agent", "--agent": "agent", "--host": "host"}
_PATIENCE, _ALL = 0.4, 0.7  # seconds: for the next bytes of a payload, and for all of it
_MOST = 1 << 25


class Late(BaseException):
    """Time is up. Nothing that handles errors may take it for one of its own."""


def is_called(words: list[str]) -> bool:
    """Whether a command line is a call of a host: the word hook behind options, and what is no command of it."""
    place = _skip_options(words)
    if words[place : place + 1] != ["hook"]:
        return False
    rest = words[place + 1 :]
    place = _skip_options(rest)
    event = rest[place] if place < len(rest) else ""
    return bool(rest) and event not in _COMMANDS and not any(word in _HELP for word in rest[:place])


def _skip_options(words: list[str]) -> int:
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in (*_VALUES, "--lock-timeout") else 1
    return place


def main(words: list[str]) -> int:
    """Answers a host on stdout. The exit code is always 0."""
    options = {"workspace": "", "agent": "", "host": "auto", "event": ""}
    _read_words(words, options)
    root = ""
    try:
        payload = parse_payload(read_payload())
        given = find_given(options, payload)
        root = given.root if given else ""
        if given:
            _say(answer(given))
    except (Late, KeyboardInterrupt) as stop:
        log(root, f"{options['event']}: {'not ready in time' if isinstance(stop, Late) else 'interrupted'}")
    except Exception as error:  # whatever it is, the session goes on
        log(root, f"{options['event']}: {type(error).__name__}: {error}")
        if os.environ.get("MABOS_HOOK_DEBUG"):
            sys.stderr.write(f"mabos hook: {type(error).__name__}: {error}\n")
    return 0


def _read_words(words: list[str], options: dict) -> None:
    """Takes the options that are known; what is not is left for a later version to know."""
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in _VALUES:
            options[_VALUES[name]] = value if equals else next(rest, "")
        elif not word.startswith("-") and word != "hook" and not options["event"]:
            options["event"] = word


def read_payload(fd: int = 0) -> bytes:
    """What a host writes to standard input. Nobody is waited for: not a terminal, not one who says nothing or does not end."""
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
    """Whether a payload is complete, for hosts that leave the pipe open."""
    try:
        return isinstance(json.loads(data), dict)
    except (ValueError, RecursionError):
        return False


def parse_payload(data: bytes) -> dict:
    """The object in a payload; an empty one where there is none."""
    try:
        found = json.loads(data.decode("utf-8", "replace").lstrip("\ufeff")) if data else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def answer(given: Given) -> dict:
    """What a host is told; empty for nothing."""
    if given.event == "session-end":
        spool(given, reason=word_of(given.payload, "reason"))
        return {}
    if given.event == "pre-compact":
        from mabos_cli.serve.hook_compact import note_session

        note_session(given)
        return {}
    if given.event == "stop":
        return {} if is_again(given.payload) else _in_time(given, _stop)
    return context_answer(
        given.host, given.event, _in_time(given, _start if given.event == "session-start" else _prompt)
    )


def _start(given: Given) -> str:
    from mabos_cli.serve.hook_start import opening_text

    return opening_text(given)


def _prompt(given: Given) -> str:
    from mabos_cli.serve.hook_prompt import prompt_text

    return prompt_text(given)


def _stop(given: Given) -> dict:
    from mabos_cli.serve.hook_stop import stop_answer

    return stop_answer(given)


def _in_time(given: Given, work: "Callable[[Given], object]") -> object:
    """What comes of some work that only reads; Late when it takes too long."""
    import signal

    def late(number: int, frame: object) -> None:
        raise Late

    old = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, max(0.001, given.deadline - time.monotonic()))
    try:
        return work(given)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def _say(told: dict) -> None:
    """Prints an answer in ASCII, whatever the locale. A host that does not listen any more is no error."""
    if told and sys.stdout is not None:
        try:
            sys.stdout.buffer.write(json.dumps(told).encode() + b"\n")
            sys.stdout.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
