import json

from mabos_cli.core.hierarchy.log_taking import DayTaken
from mabos_cli.formats.hierarchy.digest_json import parse_log_ledger, render_day_taken

LINE = DayTaken("2026-02-24", "d1", 0.6, ("M-1-aaaa",), ("log-1",), ("a", "b"))


def lines(*found):
    return b"".join(map(render_day_taken, found))


def test_lines_are_read_back():
    ledger = parse_log_ledger(lines(LINE, DayTaken("2026-02-25", "d2", 0.6)))
    assert ledger.keys == {"M-1-aaaa", "log-1"} and ledger.marks == {"a", "b"}
    assert ledger.done == {("2026-02-24", "d1"): 0.6, ("2026-02-25", "d2"): 0.6}
    assert parse_log_ledger(b"").done == {}


def test_empty_lists_are_left_out():
    assert json.loads(render_day_taken(DayTaken("2026-02-25", "d2", 0.6))) == {
        "day": "2026-02-25",
        "digest": "d2",
        "min_importance": 0.6,
    }


def test_day_is_done_for_the_same_text_and_no_lower_threshold():
    ledger = parse_log_ledger(lines(LINE, LINE._replace(min_importance=0.5), LINE._replace(min_importance=0.7)))
    assert ledger.is_done("2026-02-24", "d1", 0.6) and ledger.is_done("2026-02-24", "d1", 0.5)
    assert not ledger.is_done("2026-02-24", "d1", 0.4)
    assert not ledger.is_done("2026-02-24", "d2", 0.6) and not ledger.is_done("2026-02-25", "d1", 0.6)


def test_what_is_no_line_of_ours_is_passed_over():
    noise = b'<<<<<<< HEAD\n[1]\n{"day": 3, "taken": "x", "said": [1], "min_importance": true}\n{"day": "20\n\0\0'
    ledger = parse_log_ledger(lines(LINE) + noise)
    assert ledger == parse_log_ledger(lines(LINE))
