"""Notes what a program asks of the world beyond its memory: connections, other programs, and changes of files.

An interpreter that is started with this folder in PYTHONPATH loads it by itself. Events of mabos are written to the file
that WATCHED names, one JSON array each: what was done, and to what.
"""

import json
import os
import sys
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_PATHS = {
    "os.rename": 2,
    "os.link": 2,
    "os.symlink": 2,
    "os.remove": 1,
    "os.mkdir": 1,
    "os.rmdir": 1,
    "os.truncate": 1,
    "os.chmod": 1,
    "os.utime": 1,
}
_PROGRAMS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "pty.spawn")
_note = -1


def _told(event: str, args: tuple[Any, ...]) -> list[str]:
    """What an event is about; nothing when it is none of those that are noted."""
    if event == "open":
        return [os.path.abspath(os.fsdecode(args[0]))] if _is_path(args[0]) and args[2] & _WRITING else []
    if event == "sqlite3.connect":
        return [os.path.abspath(os.fsdecode(args[0]).removeprefix("file:").partition("?")[0])]
    if event in _PATHS:
        return [os.path.abspath(os.fsdecode(arg)) for arg in args[: _PATHS[event]] if _is_path(arg)]
    if event in ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"):
        return [repr(args[1])] if args[1] is not None else []
    if event.startswith("socket.get") and event != "socket.gethostname":
        return [repr(args[0])]
    return [str(args[0])] if event in _PROGRAMS else []


def _is_path(value: Any) -> bool:
    return isinstance(value, str | bytes | os.PathLike)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    global _note
    if _note == -2 or not (getattr(sys, "argv", None) or [""])[0].endswith("mabos"):
        return
    told, goal = _told(event, args), os.environ.get("WATCHED")
    if told and goal:
        if _note == -1:
            _note = -2  # what is opened here is not an event of the program
            _note = os.open(goal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        for each in told:
            os.write(_note, json.dumps([event, each]).encode() + b"\n")


sys.addaudithook(_hook)
