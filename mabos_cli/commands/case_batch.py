"""Cases from outside: NDJSON, or a file of cases."""

import re
from collections.abc import Iterator

from mabos_cli.commands.inputs import read_given
from mabos_cli.core import BadValue
from mabos_cli.core.case import Case, check_case
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.cases import case_from_dict, parse_cases
from mabos_cli.formats.json_text import parse_json

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
        for where, case in _read(read_given(path), shown):
            fresh = case._replace(uses=0, last_used="", merged=0, adapted_from="", revisions=())
            try:
                found.append(check_case(fresh))
            except BadValue as error:
                raise InvalidFile(f"{where}: {error.message}") from None
    except InvalidFile as error:
        raise InvalidFile(error.message, _HINT) from None
    return found


def _read(text: str, shown: str) -> Iterator[tuple[str, Case]]:
    if re.match(r'\s*(?:\[|\{\s*"cases")', text):
        file = parse_cases(text.encode("utf-8"), shown)
        yield from ((f"{shown}: case {case.id}", case) for case in file.cases())
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{shown}:{number}"
            yield where, case_from_dict(parse_json(line, shown, line=number), where)
