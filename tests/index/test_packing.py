"""Texts and vectors as the index keeps them."""

import doctest
from math import sqrt
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.index import packing
from mabos_cli.index.packing import pack_text, pack_vector, signs_of, unpack_text


def test_doctests() -> None:
    assert doctest.testmod(packing).failed == 0


@given(st.text(st.characters(codec=None)))
def test_a_text_comes_back(text: str) -> None:
    assert unpack_text(pack_text(text)) == text


@pytest.mark.parametrize("damaged", [b"\xff\xff\xff", "text", 5])
def test_what_is_no_packed_text_is_an_error(damaged: object) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        unpack_text(damaged)


@given(st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=64))
def test_a_packed_vector_points_the_same_way(numbers: list[float]) -> None:
    packed = pack_vector(pack(f"<{len(numbers)}f", *numbers))
    codes = [byte - 256 if byte > 127 else byte for byte in packed]
    sizes = [sqrt(sum(n * n for n in row)) for row in (numbers, codes)]
    assert len(packed) == len(numbers) and len(signs_of(packed)) == -(-len(numbers) // 8)
    if max(map(abs, numbers)) > 1e-30:
        cosine = sum(n / sizes[0] * c / sizes[1] for n, c in zip(numbers, codes, strict=True))
        assert cosine > 0.999
