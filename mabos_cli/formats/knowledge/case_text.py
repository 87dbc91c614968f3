"""Cases as text: on lines, as JSON with what makes them alike, and in mabos-cases.md for people and for search."""

import re
from _blake2 import blake2b
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from mabos_cli.core.knowledge.case import Case, CaseDeparture, render_metrics
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.formats.knowledge.cases import case_to_dict
from mabos_cli.formats.markdown.escape import derived_title, escape_block, inline, seal

if TYPE_CHECKING:
    from mabos_cli.core.knowledge.case_similarity import FoundCase, Side

PAGE = 100
_NOTE = "Edits here are set aside: change cases with `mabos case store` and `mabos case revise`."
_HEADING = re.compile(r"## \[case\] (.*) \((?:worked|FAILED|open)(, untrusted)?\)")


def case_line(case: Case) -> str:
    """Returns a case on a line."""
    about = one_line(case.context, 100) or one_line(", ".join((*case.beliefs, *case.desires)), 100)
    details = [case.stored_at[:10]] if case.stored_at else []
    details += [f"used {case.uses}x"] if case.uses else []
    return f"{one_line(case.id, 80)} {case.word}: {about}" + (f" ({', '.join(details)})" if details else "")


def solution_line(case: Case) -> str:
    """Returns what was done, on a line."""
    plan = [f"plan {case.plan_id}"] if case.plan_id else []
    return "; ".join([*plan, *(one_line(action, 100) for action in case.actions)])


def left_line(left: Collection[str]) -> list[str]:
    """Returns a line about the cases that had to leave, if any."""
    return [f"left for the archive: {one_line(', '.join(left), 200)}"] if left else []


def case_lines(case: Case, left: CaseDeparture | None) -> list[str]:
    """Returns all about a case; `left` says when and why it went to the archive."""
    rows = (
        ("beliefs", ", ".join(case.beliefs)),
        ("desires", ", ".join(case.desires)),
        ("context", one_line(case.context)),
        ("did", solution_line(case)),
        ("metrics", render_metrics(case.metrics)),
        ("lessons", one_line(case.lessons)),
        ("source", one_line(case.source, 200)),
        ("adapted from", case.adapted_from),
        ("merged", plural(case.merged, "time") if case.merged else ""),
        ("used", f"{plural(case.uses, 'time')}, last {case.last_used[:10]}" if case.uses else ""),
    )
    lines = [case_line(case), *(f"  {name}: {text}" for name, text in rows if text)]
    lines += [f"  archived {left.at[:10]}: {left.reason}"] if left else []
    return lines + [f"  {r.at[:10]} {r.by}; before: {_render_earlier(r.was)}" for r in reversed(case.revisions)]


def _render_earlier(was: tuple[tuple[str, Any], ...]) -> str:
    """Returns earlier values, on a line."""
    found = []
    for name, value in was:
        if name == "success":
            found.append(Case("", success=value).word)
        elif name == "metrics":
            found.append(render_metrics(value) or "no metrics")
        else:
            text = "; ".join(value) if isinstance(value, tuple) else str(value)
            found.append(f"{name.removesuffix('_id')} {one_line(text, 120) or 'none'}")
    return "; ".join(found)


def found_row(found: "FoundCase") -> dict[str, Any]:
    """Returns a case that was found as JSON."""
    parts = {name: None if value is None else round(value, 4) for name, value in found.score._asdict().items()}
    return {
        "case_id": found.case.id,
        "score": parts.pop("total"),
        "parts": parts,
        "failed": found.case.success is False,
        "beliefs": found.beliefs._asdict(),
        "desires": found.desires._asdict(),
        "case": case_to_dict(found.case),
    }


def proposed_row(found: "FoundCase") -> dict[str, Any]:
    """Returns the case that is to be used again as JSON."""
    return {
        "case_id": found.case.id,
        "score": round(found.score.total, 4),
        "plan_id": found.case.plan_id,
        "actions": found.case.actions,
        "missing": found.beliefs.missing + found.desires.missing,
        "extra": found.beliefs.extra + found.desires.extra,
    }


def found_lines(found: "FoundCase") -> list[str]:
    """Returns a case that was found, and why."""
    case, sides = found.case, (found.beliefs, found.desires)
    parts = zip(("Sb", "Sd", "Sc"), found.score[1:], strict=True)
    scores = ", ".join(f"{name} {value:.2f}" for name, value in parts if value is not None)
    matched = [each for side in sides for each in side.matched]
    rows = (
        ("matched", ", ".join(matched)),
        ("differs", _render_difference(sides)),
        ("did", solution_line(case)),
        ("lessons", one_line(case.lessons, 200)),
    )
    head = f"{one_line(case.id, 80)} {found.score.total:.2f} {case.word} ({scores})"
    head += f": {one_line(case.context, 100)}" if case.context else ""
    return [head, *(f"  {name}: {one_line(text, 400)}" for name, text in rows if text)]


def reuse_line(found: "FoundCase") -> str:
    """Returns what to do again, and in what the situation differs."""
    differs = _render_difference((found.beliefs, found.desires))
    solution = solution_line(found.case) or "no solution is noted"
    return f"reuse {found.case.id}: {solution}" + (f" (differs: {differs})" if differs else "")


def _render_difference(sides: "Iterable[Side]") -> str:
    """Returns what a case had that is not there now, and what is there now that it did not have."""
    both = tuple(sides)
    parts = ((word, [each for side in both for each in getattr(side, word)]) for word in ("missing", "extra"))
    return one_line("; ".join(f"{word} {', '.join(features)}" for word, features in parts if features), 400)


def page_of(case_id: str) -> str:
    """Returns the page that a case stands on: a hundred numbers each, so that a new case changes the last one only; other ids
    go by hash.

    >>> page_of("C-007"), page_of("C-1234"), page_of("deal 9")
    ('C-0000', 'C-1200', 'x-4')
    """
    if case_id[:2] == "C-" and case_id[2:].isdecimal() and case_id.isascii() and len(case_id) < 20:
        return f"C-{int(case_id[2:]) // PAGE * PAGE:04d}"
    return f"x-{blake2b(case_id.encode('utf-8', 'replace'), digest_size=1).hexdigest()[0]}"


def render_case(case: Case) -> str:
    """Returns the section of a case."""
    parts = [f"\n## [case] {inline(case.id)} ({case.word})\n"]
    parts += [f"\n{escape_block(case.context)}\n"] if case.context else []
    rows = (
        ("Beliefs", ", ".join(case.beliefs)),
        ("Desires", ", ".join(case.desires)),
        ("Plan", case.plan_id),
        ("Actions", "; ".join(case.actions)),
        ("Metrics", render_metrics(case.metrics)),
        ("Lessons", case.lessons),
        ("Source", case.source),
        ("Stored", case.stored_at[:10]),
    )
    parts += ["\n", *(f"- **{name}:** {inline(value)}\n" for name, value in rows if value)]
    return "".join(parts)


def render_cases_page(agent: str, name: str, cases: Iterable[Case], state: str = "") -> str:
    """Returns a page, or with an empty name the whole file."""
    return seal(derived_title("Cases", agent, name, state) + f" {_NOTE}\n" + "".join(map(render_case, cases)))


def render_cases_index(agent: str, count: int, pages: Collection[str], state: str) -> str:
    """Returns the file that stands for pages."""
    listed = "".join(f"- [{name}](mabos-cases/{name}.md)\n" for name in sorted(pages, key=lambda p: (len(p), p)))
    title = derived_title("Cases", agent, "", state, f"{plural(count, 'case')} on {plural(len(pages), 'page')}")
    return seal(f"{title} {_NOTE}\n\n{listed}")


def find_case_id(lines: list[str], number: int) -> str:
    """Returns the id of the case in whose section a line, counted from one, stands; empty when it stands in none."""
    for line in reversed(lines[:number]):
        match = _HEADING.fullmatch(line)
        if match:
            return match[1]
    return ""


def untrusted_case_lines(lines: list[str]) -> set[int]:
    """Returns the lines, counted from one, of the sections of untrusted cases."""
    found: set[int] = set()
    is_low = False
    for number, line in enumerate(lines, 1):
        match = _HEADING.fullmatch(line)
        is_low = bool(match[2]) if match else is_low
        found |= {number} if is_low else set()
    return found
