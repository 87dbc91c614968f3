import doctest

import pytest

from typedb_server import wire
from typedb_server.wire import all_in, bytes_in, field, number_in, read, repeated, text_in, unzigzag, zigzag


# The examples of the description of the encoding at protobuf.dev, and its edges.
@pytest.mark.parametrize(
    ("number", "value", "encoded"),
    [
        (1, 150, "08 96 01"),
        (2, "testing", "12 07 74 65 73 74 69 6e 67"),
        (3, bytes.fromhex("089601"), "1a 03 08 96 01"),
        (1, 0, "08 00"),
        (1, True, "08 01"),
        (1, -1, "08 ff ff ff ff ff ff ff ff ff 01"),
        (16, 1, "80 01 01"),
        (3, 1.5, "19 00 00 00 00 00 00 f8 3f"),
        (5, b"", "2a 00"),
        (5, "é", "2a 02 c3 a9"),
    ],
)
def test_a_field_is_encoded_as_the_format_says(number: int, value: int | float | str | bytes, encoded: str) -> None:
    assert field(number, value) == bytes.fromhex(encoded)


@pytest.mark.parametrize(
    ("signed", "number"), [(0, 0), (-1, 1), (1, 2), (-2, 3), (2**63 - 1, 2**64 - 2), (-(2**63), 2**64 - 1)]
)
def test_signed_numbers_zigzag_and_come_back(signed: int, number: int) -> None:
    assert zigzag(signed) == number
    assert unzigzag(number) == signed


def test_a_message_is_read_by_field_number() -> None:
    message = field(1, 300) + repeated(2, ["a", b"\x00\xff"]) + field(3, 1.5) + bytes.fromhex("25 01020304")
    fields = read(message)
    assert fields == {
        1: [300],
        2: [b"a", b"\x00\xff"],
        3: [bytes.fromhex("000000000000f83f")],
        4: [b"\x01\x02\x03\x04"],
    }
    assert number_in(fields, 1) == 300
    assert number_in(fields, 9, default=7) == 7
    assert all_in(fields, 2) == [b"a", b"\x00\xff"]
    assert bytes_in(fields, 9) == b""
    assert text_in(read(field(1, "é")), 1) == "é"


@pytest.mark.parametrize("broken", ["08", "08 96", "0a 05 61", "19 00", "0b", "08 ff ff ff ff ff ff ff ff ff ff 01"])
def test_a_message_that_is_cut_off_or_unknown_is_refused(broken: str) -> None:
    with pytest.raises(ValueError, match=r"varint|cut off|wire type"):
        read(bytes.fromhex(broken))


def test_numbers_and_texts_are_not_taken_for_one_another() -> None:
    with pytest.raises(ValueError, match="not a number"):
        number_in(read(field(1, "x")), 1)
    with pytest.raises(ValueError, match="no length"):
        bytes_in(read(field(1, 5)), 1)


def test_the_examples_hold() -> None:
    assert doctest.testmod(wire) == (0, 2)
