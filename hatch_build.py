"""Writes the manual page mabos.1 when a wheel is built, from the table of commands and options that completion reads."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ModuleNotFoundError:  # whoever only wants the page
    BuildHookInterface = object

_TABLE = Path(__file__).parent / "mabos_cli" / "templates" / "completion.txt"
_PLACES = {
    "files": "FILE",
    "folders": "DIR",
    "agents": "AGENT",
    "ids": "ID",
    "items": "ID",
    "archived": "ID",
    "paths": "PATH",
}
_HEAD = r""".TH MABOS 1 "" "mabos" "User Commands"
.SH NAME
mabos \- memory and mind for autonomous agents, as plain files
.SH SYNOPSIS
.B mabos
.I COMMAND
.RI [ OPTION ]...
.RI [ ARGUMENT ]...
.SH DESCRIPTION
A workspace is a folder of Markdown and JSON. Every command works on the files of one agent in it: memories, beliefs, goals, facts, rules and cases.
.PP
Begin with
.BR "mabos init" ,
.B mabos store
.IR TEXT ,
.B mabos recall
.IR QUERY .
.B mabos help
.I COMMAND
shows an example of each command. Of an id the end is enough."""
_TAIL = r""".SH EXIT STATUS
.TS
tab(|);
l l.
0|done; no results and warnings included
1|a bug
2|invalid usage
3|workspace, agent or item not found
4|a file cannot be read, written or understood
5|a conflict with another writer; try again
6|a backend that was named is absent
7|\-\-check found problems
130|interrupted
.TE
.SH ENVIRONMENT
.TP
.BR MABOS_WORKSPACE ", " MABOS_AGENT
The workspace and the agent where no option names them.
.TP
.BR MABOS_PAGER ", " PAGER
What shows a result that is longer than the screen; else less. Empty: nothing.
.TP
.B NO_COLOR
No colours.
.TP
.B MABOS_NOW
The time that it is, for runs that can be repeated.
.SH FILES
.TP
.I mabos.yaml
The settings of a workspace.
.TP
.I agents/ID/
The files of an agent.
.TP
.I .mabos/
Indexes, locks and receipts; it can be deleted."""


class ManualPage(BuildHookInterface):
    """Puts the page where man looks, below the prefix of an installation."""

    def initialize(self, version: str, build_data: dict) -> None:
        self._folder = TemporaryDirectory()
        page = Path(self._folder.name) / "mabos.1"
        page.write_text(render_manual(_TABLE.read_text("utf-8")), "utf-8")
        build_data["shared_data"][str(page)] = "share/man/man1/mabos.1"

    def finalize(self, version: str, build_data: dict, artifact_path: str) -> None:
        self._folder.cleanup()


def render_manual(table: str) -> str:
    """Returns the manual page of a table of commands."""
    blocks = _read(table)
    words = {name: [word for word, *_ in rows] for name, (_, _, rows) in blocks.items() if name[:1] == "@"}
    lines = ["'\\\" t", _HEAD, ".SH OPTIONS OF EVERY COMMAND", *_options(blocks["*"][2], words), ".SH COMMANDS"]
    for name, (about, arguments, rows) in blocks.items():
        if name and name[0] not in "*@":
            lines += [f".SS mabos {_plain(name)}{_arguments(arguments)}", _plain(f"{about}."), *_options(rows, words)]
    return "\n".join([*lines, _TAIL]) + "\n"


def _read(table: str) -> dict[str, tuple[str, str, list[list[str]]]]:
    """Returns what stands below each name: what it is about, its arguments, and the rows below it."""
    found: dict[str, tuple[str, str, list[list[str]]]] = {}
    rows: list[list[str]] = []
    for line in table.rstrip("\n").split("\n"):
        if line[:1] == " ":
            rows.append(line[1:].split("\t"))
        else:
            name, about, arguments = [*line.split("\t"), "", ""][:3]
            rows = []
            found[name] = (about, arguments, rows)
    return found


def _arguments(kinds: str) -> str:
    """Returns the arguments of a command as a usage line has them."""
    listed, _, more = kinds.partition(" *")
    names = [_PLACES.get(kind, "ARGUMENT") for kind in listed.split("|") if kind]
    return "".join(f" [{name}]" for name in names) + ("..." if kinds.endswith("*") else "") + more


def _options(rows: list[list[str]], words: dict[str, list[str]]) -> Iterator[str]:
    for names, kind, about in rows:
        value = "" if not kind else f" {_PLACES.get(kind, 'VALUE')}"
        choices = kind[1:].split(" ") if kind[:1] == "=" else words.get(kind, [])
        if 0 < len(choices) <= 6:
            value = f" {'|'.join(choices)}"
        yield f".TP\n.B {_plain(', '.join(sorted(names.split(' '), key=len)))}{_plain(value)}\n{_plain(about)}{'' if about.endswith('...') else '.'}"


def _plain(text: str) -> str:
    """Returns a text that troff sets as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text[:1] in (".", "'") else text
