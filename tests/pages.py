"""The pages of the documentation: README.md and docs/, their fences, code, links and headings, and the page of settings.

A fence without a language whose lines start with `$ ` is a transcript: the commands are run in order, one shell and one
folder for each page, and what they print stands below them. Standard output comes first, then standard error, then
`[exit 3]` if it is not 0. A command with `<<` goes on in lines that start with `> `. Setup that would bore a reader stands
in an HTML comment that starts with `<!-- setup`. Fences that name a language are not run.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from forked import PROGRAM
from transcript import Shell, shown_lines

from mabos_cli.config import SECTIONS, SETTINGS, Setting, env_name
from mabos_cli.core.language.clock import format_span

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
NOW = "2026-02-24T15:00:00Z"


class Line(NamedTuple):
    """A line of a page: its number from 1 on, the kind of place it stands in, and the language of its fence.

    kind is prose, setup, fence (the marks themselves too) or shown, which is a fence that is run.
    """

    number: int
    text: str
    kind: str
    language: str = ""


def parse_page(text: str) -> list[Line]:
    """The lines of a page, each with the place that it stands in."""
    lines: list[Line] = []
    kind, language = "prose", ""
    written = text.split("\n")
    for number, line in enumerate(written, 1):
        if kind == "prose" and line.startswith("```"):
            language = line[3:].strip()
            body = written[number : written.index("```", number)]
            kind = "shown" if not language and any(row.startswith("$ ") for row in body) else "fence"
            lines.append(Line(number, line, "fence", language))
        elif kind in ("fence", "shown") and line == "```":
            lines.append(Line(number, line, "fence", language))
            kind, language = "prose", ""
        elif kind == "prose" and line == "<!-- setup":
            kind = "setup"
            lines.append(Line(number, line, "prose"))
        elif kind == "setup" and line == "-->":
            kind = "prose"
            lines.append(Line(number, line, kind))
        else:
            lines.append(Line(number, line, kind, language))
    return lines


def run_page(text: str, folder: Path, program: str = PROGRAM) -> tuple[str, int]:
    """The page with what its commands really print, and how many they are. Setup that fails is an AssertionError."""
    shell = Shell(folder, NOW, program)
    shell.environment["CHECKOUT"] = str(ROOT)
    lines, actual = parse_page(text), []
    commands, at = 0, 0
    while at < len(lines):
        line = lines[at]
        if line.kind not in ("shown", "setup") or not line.text.startswith("$ "):
            actual.append(line.text)
            at += 1
            continue
        first, at = at, at + 1
        while "<<" in line.text and lines[at].text[:2] in ("> ", ">"):
            at += 1
        command = "\n".join(row.text[2:] for row in lines[first:at])
        actual += [row.text for row in lines[first:at]]
        output = _output(shell, command, folder)
        if line.kind == "setup":
            assert not output or not output[-1].startswith("[exit "), f"{command}: {output}"
            continue
        assert not any(row.startswith("```") for row in output), f"{command} prints the end of a fence"
        commands += 1
        actual += output
        while lines[at].kind == "shown" and not lines[at].text.startswith("$ "):
            at += 1
    return "\n".join(actual), commands


def _output(shell: Shell, command: str, folder: Path) -> list[str]:
    code, out, err = shell.run(command)
    lines = [line for data in (out, err) for line in shown_lines(data, folder)]
    bin_folder = os.path.dirname(shell.program)
    lines = [line.replace("<tmp>", "~").replace(bin_folder, "~/.local/bin") for line in lines]
    return [*lines, *([f"[exit {code}]"] if code else [])]


def code_spans(line: str) -> list[str]:
    """What stands between backticks in a line of prose."""
    return re.findall(r"`([^`]+)`", line)


def links(text: str) -> Iterator[tuple[int, str]]:
    """Line and target of every link in prose."""
    for line in parse_page(text):
        if line.kind == "prose":
            bare = re.sub(r"`[^`]*`", "", line.text)
            yield from ((line.number, target) for target in re.findall(r"\]\(([^)\s]+)\)", bare))


def anchors(text: str) -> set[str]:
    """The names by which the headings of a page can be linked to, as GitHub makes them."""
    headings = [
        line.text.lstrip("#") for line in parse_page(text) if line.kind == "prose" and line.text.startswith("#")
    ]
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


_ABOUT_SETTINGS = """# Settings

This page is generated from the table in `mabos_cli/config.py`. Later layers override earlier ones: the default, `mabos.yaml`, the `settings` object of an agent's
`agent.json`, the environment, an option of the command. `mabos config` shows what is in effect and where each value comes from.
[files.md](files.md#mabosyaml) shows how both files look.

The environment variable of a setting is `MABOS_` and its name in capitals, with `_` for the dot: `{variable}` for `{name}`.
A time is a number of seconds, or 30s, 15m, 2h, 7d. A share is between 0 and 1. A rhythm is 30m or 2h, 03:10 for each day, Sun 04:10
for each week, or off. A store and time is `long_term 30d` or `long_term never`. An invalid value is an error that cites file and line. An unknown
name is a warning, so that an older mabos can use the files of a newer one.

A setting marked as risky (it runs a program, sends data or weakens a check) is ignored in `mabos.yaml` and `agent.json` until you permit
its exact value on this machine with `mabos allow`; `mabos allow --show` lists these settings. The environment needs no permission.
"""
_KINDS = {
    "count": "number, 0 or more",
    "size": "number, 1 or more",
    "fraction": "share",
    "weight": "number",
    "span": "time",
    "rhythm": "rhythm",
    "keeping": "store and time",
    "flag": "true or false",
    "text": "text",
}


def render_settings() -> str:
    """docs/settings.md: every setting with its default, what it may be, and what it means."""
    first = SETTINGS[0].name
    lines = [_ABOUT_SETTINGS.format(name=first, variable=env_name(first))]
    for section in SECTIONS:
        rows = [_setting_row(setting) for setting in SETTINGS if setting.name.split(".")[0] == section]
        lines += [f"## {section}\n", "| setting | default | value | meaning |", "|---|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _setting_row(setting: Setting) -> str:
    what = _KINDS.get(setting.kind, ", ".join(setting.choices))
    default = setting.default
    if setting.kind == "span":
        default = format_span(default)
    elif setting.kind == "flag":
        default = str(default).lower()
    elif isinstance(default, float):
        default = f"{default:g}"
    risk = f" (**{setting.risk}**)" if setting.risk else ""
    return f"| `{setting.name}` | {default} | {what} | {setting.about}{risk} |"
