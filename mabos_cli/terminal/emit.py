"""Prints the result of a command: one JSON object, or compact text that cannot control the terminal."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mabos_cli.core.language.text import one_line, visible
from mabos_cli.errors import InvalidFile, MabosError
from mabos_cli.formats.json.text import dump_line


def emit(
    schema: str,
    data: dict[str, Any],
    text: Iterable[str] = (),
    *,
    as_json: bool,
    quiet: bool = False,
    warnings: Sequence[str] = (),
    show: "Callable[[Iterable[str]], None] | None" = None,
) -> None:
    """Prints a result: with as_json exactly one object on stdout; otherwise lines of text, warnings on stderr.

    On a terminal, `show` displays the lines instead.
    """
    if as_json:
        write(sys.stdout, dump_line({"schema": schema, "data": data, "warnings": list(warnings)}) + "\n")
        return
    for warning in warnings:
        write(sys.stderr, f"{_coloured('warning:', 130)} {one_line(warning)}\n")
    if not quiet and show and is_terminal(sys.stdout):
        show(text)
    elif not quiet:
        write(sys.stdout, "".join(visible(line) + "\n" for line in text))


def is_terminal(stream: Any) -> bool:
    """Returns whether a stream is a terminal that understands control sequences."""
    return stream is not None and stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def note(text: str) -> None:
    """Prints a note on stderr."""
    write(sys.stderr, one_line(text) + "\n")


def emit_error(error: MabosError, *, as_json: bool) -> None:
    """Prints an error: one line and a hint on stderr, nothing on stdout.

    Secrets in it are replaced.
    """
    from mabos_cli.core.language.secrets import redact

    message, hint = redact(error.message)[0], redact(error.hint)[0]
    if as_json:
        body = {"code": error.code, "message": message, "hint": hint}
        write(sys.stderr, dump_line({"schema": "mabos.error.v1", "error": body}) + "\n")
        return
    below = f"\n  {_coloured('hint:', 31)} {one_line(hint)}" if hint else ""
    write(sys.stderr, f"{_coloured('mabos:', 161)} {one_line(message)}{below}\n")


def _coloured(text: str, colour: int) -> str:
    """Returns a text in one of 256 colours where standard error is a terminal."""
    return f"\x1b[38;5;{colour}m{text}\x1b[0m" if is_terminal(sys.stderr) and not os.environ.get("NO_COLOR") else text


def write(stream: Any, text: str) -> None:
    """Writes UTF-8 in any locale, after removing a line of progress. A closed pipe or a missing stream is no error."""
    if bar := sys.modules.get("mabos_cli.terminal.progress"):
        bar.wipe()
    write_bytes(stream, text)


def write_bytes(stream: Any, text: str) -> None:
    """Writes a text as it is."""
    if stream is None:
        return
    try:
        stream.buffer.write(text.encode("utf-8", "backslashreplace"))
        stream.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            problem = (
                f"cannot write to {'standard output' if stream is sys.stdout else 'standard error'}: {error.strerror}"
            )
            raise InvalidFile(problem, "the command has finished; only its output is lost") from None


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Aligns rows as text; the last column is not padded.

    >>> columns([("a", "x"), ("bbb", "y")])
    ['a    x', 'bbb  y']
    """
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(len(row[n]) for row in cells) for n in range(len(cells[0]) - 1)] if cells else []
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True)), row[-1]]).rstrip()
        for row in cells
    ]
