from mabos_cli.formats.memory.observations import (
    Cover,
    HarvestLedger,
    crc_before,
    last_cover,
    names_any,
    parse_harvests,
    render_cover,
    render_taken,
)

DATA = b"".join(b'{"text": "%d"}\n' % n for n in range(1000))


def cover(size: int, floor: float = 0.0) -> Cover:
    return Cover(size, crc_before(DATA, size), floor)


def test_what_is_written_is_read_in_any_order():
    lines = [
        render_taken(["O-1-0000"], "t"),
        render_cover(cover(10)),
        render_cover(cover(20, 0.3)),
        render_taken(["O-2-0000"], "t"),
    ]
    ledger = HarvestLedger(frozenset(("O-1-0000", "O-2-0000")), (cover(10), cover(20, 0.3)))
    assert parse_harvests(b"".join(lines)) == ledger
    turned = parse_harvests(b"".join(reversed(lines)))
    assert (turned.ids, set(turned.covers)) == (ledger.ids, set(ledger.covers))


def test_torn_lines_and_what_is_no_record_are_passed_over():
    data = b'{"ids": ["O-1-0000", 5]}\n[]\n{"ids": 7}\n{"size": "x"}\n{"size": -1, "crc": 0}\n{"ids": ["O-2-0000"'
    assert parse_harvests(data) == HarvestLedger(frozenset(("O-1-0000",)))


def test_a_file_that_grew_is_read_from_where_it_was_settled():
    ledger = HarvestLedger(covers=(cover(100), cover(5000), cover(50)))
    assert ledger.find_cover(DATA, 0.0).size == 5000
    assert ledger.find_cover(DATA[:4999], 0.0).size == 100
    assert ledger.find_cover(b"x" + DATA, 0.0).size == 0
    assert ledger.find_cover(b"", 0.0).size == 0


def test_a_cover_holds_for_harvests_that_ask_for_as_much_or_more():
    ledger = HarvestLedger(covers=(cover(5000, 0.3), cover(100)))
    assert [ledger.find_cover(DATA, floor).size for floor in (0.0, 0.29, 0.3, 0.5)] == [100, 100, 5000, 5000]


def test_of_equal_covers_that_for_the_lowest_floor_counts():
    ledger = HarvestLedger(covers=(cover(100, 0.6), cover(5000, 0.3), cover(5000, 0.1), cover(5000, 0.6)))
    assert ledger.find_cover(DATA, 0.6) == cover(5000, 0.1)


def test_the_last_cover_is_found_from_the_end_alone():
    lines = render_taken([f"O-{n}-0000" for n in range(100)], "t") + render_cover(cover(20, 0.5))
    assert last_cover(lines[-512:]) == cover(20, 0.5)
    assert last_cover(lines + render_taken(["O-1-0000"], "t")) is None
    assert last_cover(lines[:-20]) is None
    assert last_cover(b"") is None


def test_ids_are_found_by_text():
    data = b'{"derived_from": ["O-1771943400000-00a4", "O-0123456789abcdef"], "x": "O-1771943400000-00a5 said"}'
    wanted = ["O-1771943400000-00a4", "O-1771943400000-00a5", "O-0123456789abcdef", "O-1771943400000-00a"]
    assert names_any(data, wanted) == {wanted[0], wanted[2]}


def test_ids_that_stand_elsewhere_than_in_a_lineage_say_nothing():
    ids = [f"O-177194340000{n}-00a4" for n in range(4)]
    data = f'{{"related_to": ["{ids[0]}"], "tags": ["{ids[1]}"],\n "derived_from" : [\n"M-1-0000",\n "{ids[2]}"\n]}}'
    told = f'{{"content": "\\"derived_from\\": [\\"{ids[3]}\\"]"}}'
    assert names_any(f"{data}\n{told}".encode(), ids) == {ids[2]}
