"""The door to all providers, and vectors as they are stored."""

import doctest
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.backends import embeddings
from mabos_cli.backends.embeddings import pack_unit
from mabos_cli.errors import UsageFault


def test_unknown_provider() -> None:
    with pytest.raises(UsageFault) as caught:
        embeddings.open_embedder("word2vec", environ={})
    assert "wordllama" in caught.value.hint and "word2vec" in caught.value.message


def test_doctests() -> None:
    assert doctest.testmod(embeddings) == (0, 1)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=20))
def test_a_packed_vector_has_length_one_or_is_zero_or_is_refused(values: list[float]) -> None:
    try:
        blob = pack_unit(values)
    except ValueError:
        return
    found = struct.unpack(f"<{len(values)}f", blob)
    assert any(blob) == (math.hypot(*values) >= 1e-30)
    assert not any(blob) or sum(x * x for x in found) == pytest.approx(1, abs=1e-5)
