"""What a line costs grows with its length, not with the square of it: files come from anywhere."""

from time import process_time

import pytest

from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import parse_json
from mabos_cli.formats.markdown.escape import escape_block, unescape_block
from mabos_cli.formats.memory.notes import parse_notes
from mabos_cli.formats.mind.cognitive import parse_cognitive

LONG = 50_000
RUNS = ("-" + "|" * LONG + "x", " " * LONG + "x|-", "-" + " " * LONG + "x|", "|" + "-|" * LONG + "x")


@pytest.mark.parametrize("line", RUNS, ids=lambda line: repr(line[:3]))
def test_rows_that_are_nearly_a_table(line: str) -> None:
    start = process_time()
    assert unescape_block(escape_block(line)) == line
    parse_cognitive(f"| a |\n{line}\n| b |\n")
    parse_notes(f"| a |\n{line}\n| b |\n", 1600)
    assert process_time() - start < 1


def test_a_key_that_is_there_twice_among_many() -> None:
    members = ", ".join(f'"k{number}": 0' for number in range(LONG))
    start = process_time()
    with pytest.raises(InvalidFile, match="the key 'last' appears twice"):
        parse_json(f'{{{members}, "last": 1, "last": 2}}', "x.json")
    assert process_time() - start < 1
