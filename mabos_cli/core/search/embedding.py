"""What the index asks of a model, whichever it is."""

from collections.abc import Sequence
from typing import Protocol


class Embedder(Protocol):
    """A model that turns texts into vectors: little-endian float32 of length one, all zero for an empty text.

    model names the model and all that changes its vectors; width is 0 until an answer told it; costly says that
    vectors are worth keeping by (model, hash of the text); floor is the cosine below which two texts have nothing in
    common, 0 when that is not known.
    """

    model: str
    width: int
    costly: bool
    floor: float

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector for each document, in order."""

    def embed_query(self, text: str) -> bytes:
        """The vector of one question."""
