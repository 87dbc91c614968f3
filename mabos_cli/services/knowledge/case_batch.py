"""Cases from outside: NDJSON, or a file of cases."""

import json
from collections.abc import Callable, Iterator
from functools import partial

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.case import Case, check_case
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import parse_json
from mabos_cli.formats.knowledge.cases import CaseFile, case_from_dict
from mabos_cli.services.inputs import read_given

_HINT = (
    'nothing was stored; a case is {"situation": {"beliefs": [], "desires": [], "context": ""}, '
    '"solution": {"plan_id": "", "actions": []}, "outcome": {"success": true}}'
)


def read_cases(path: str) -> list[Case]:
    """The cases in NDJSON, a list or a case file, each made sure of; InvalidFile cites the first line that is off. What became of
    them elsewhere, such as how often they were used, is left there."""
    shown = "standard input" if path == "-" else path
    found = []
    try:
        for line, case in _read(read_given(path), shown):
            fresh = case._replace(uses=0, last_used="", merged=0, adapted_from="", revisions=())
            try:
                found.append(check_case(fresh))
            except BadValue as error:
                raise InvalidFile(f"{shown}:{line()}: {error.message}") from None
    except InvalidFile as error:
        raise InvalidFile(error.message, _HINT) from None
    return found


def _read(text: str, shown: str) -> Iterator[tuple[Callable[[], int], Case]]:
    """Cases, and what tells the line of each."""
    if text.lstrip()[:1] == "[" or _is_whole(text):
        data = text.encode("utf-8")
        raw = parse_json(data, shown)
        entries = raw.get("cases", [raw]) if isinstance(raw, dict) else raw
        if not isinstance(entries, list):
            raise InvalidFile(f"{shown}:1: cases must be a list")
        file = CaseFile(entries, None, shown, data)
        yield from ((partial(file.line, n), file.case(n)) for n in range(len(file)))
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            case = case_from_dict(parse_json(line, shown, line=number), f"{shown}:{number}")
            yield partial(int, number), case


def _is_whole(text: str) -> bool:
    """Whether a text is one JSON object, on however many lines; another one behind the first is soon seen."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
