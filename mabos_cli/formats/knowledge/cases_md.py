"""mabos-cases.md: cases as Markdown, for people and for search; many are pages of a hundred by number."""

import re
from collections.abc import Collection, Iterable
from hashlib import blake2b

from mabos_cli.core.knowledge.case import Case, render_metrics
from mabos_cli.core.language.text import plural
from mabos_cli.formats.markdown.escape import escape_block, inline
from mabos_cli.formats.markdown.seal import seal

PAGE = 100
_NOTE = "Edits here are set aside: change cases with `mabos case store` and `mabos case revise`."
_HEADING = re.compile(r"## \[case\] (.*) \((?:worked|FAILED|open)\)")


def page_of(case_id: str) -> str:
    """The page that a case stands on: a hundred numbers each, so that a new case changes the last one only; other ids go by hash.

    >>> page_of("C-007"), page_of("C-1234"), page_of("deal 9")
    ('C-0000', 'C-1200', 'x-4')
    """
    if case_id[:2] == "C-" and case_id[2:].isdecimal() and case_id.isascii() and len(case_id) < 20:
        return f"C-{int(case_id[2:]) // PAGE * PAGE:04d}"
    return f"x-{blake2b(case_id.encode('utf-8', 'replace'), digest_size=1).hexdigest()[0]}"


def render_case(case: Case) -> str:
    """The section of a case."""
    told = [f"\n## [case] {inline(case.id)} ({case.word})\n"]
    told += [f"\n{escape_block(case.context)}\n"] if case.context else []
    rows = (
        ("Beliefs", ", ".join(case.beliefs)),
        ("Desires", ", ".join(case.desires)),
        ("Plan", case.plan_id),
        ("Actions", "; ".join(case.actions)),
        ("Metrics", render_metrics(case.metrics)),
        ("Lessons", case.lessons),
        ("Stored", case.stored_at[:10]),
    )
    told += ["\n", *(f"- **{name}:** {inline(value)}\n" for name, value in rows if value)]
    return "".join(told)


def render_mark(mark: str) -> str:
    """The words by which a file says what it was made from."""
    return f"(state {mark})"


def render_cases_page(agent: str, name: str, cases: Iterable[Case], mark: str = "") -> str:
    """A page, or with an empty name the whole file."""
    made = f"Auto-materialized from cases{f' {render_mark(mark)}' if mark else ''}."
    title = f"# MABOS Cases — {agent}{f' — {name}' if name else ''}\n\n> {made} {_NOTE}\n"
    return seal(title + "".join(map(render_case, cases)))


def render_cases_index(agent: str, count: int, pages: Collection[str], mark: str) -> str:
    """The file that stands for pages."""
    listed = "".join(f"- [{name}](mabos-cases/{name}.md)\n" for name in sorted(pages, key=lambda p: (len(p), p)))
    return seal(
        f"# MABOS Cases — {agent}\n\n> Auto-materialized from cases {render_mark(mark)}: "
        f"{plural(count, 'case')} on {plural(len(pages), 'page')}. {_NOTE}\n\n{listed}"
    )


def find_case_id(lines: list[str], number: int) -> str:
    """The id of the case in whose section a line, counted from one, stands; empty when it stands in none."""
    for line in reversed(lines[:number]):
        match = _HEADING.fullmatch(line)
        if match:
            return match[1]
    return ""
