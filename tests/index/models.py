"""Models for tests: small, exact, and able to fail when told to."""

from collections.abc import Sequence
from hashlib import blake2b
from math import sqrt
from struct import pack

from mabos_cli.core.language.text import terms
from mabos_cli.errors import Unavailable


class Hashed:
    """Words become numbers by their hash: texts with common words are alike. Remembers what it was asked to embed."""

    floor = 0.0

    def __init__(self, model: str = "hashed", width: int = 16, *, costly: bool = False, fail_after: int = -1) -> None:
        self.model, self.width, self.costly, self.fail_after = model, width, costly, fail_after
        self.texts: list[str] = []
        self.questions: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        if 0 <= self.fail_after < len(self.texts) + len(texts):
            raise Unavailable("the model went away")
        self.texts += texts
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> bytes:
        self.questions.append(text)
        return self._vector(text)

    def _vector(self, text: str) -> bytes:
        numbers = [0.0] * self.width
        for term in terms(text):
            digest = blake2b(f"{self.model} {term}".encode("utf-8", "replace"), digest_size=self.width).digest()
            numbers = [n + byte - 127.5 for n, byte in zip(numbers, digest, strict=True)]
        length = sqrt(sum(n * n for n in numbers)) or 1.0
        return pack(f"<{self.width}f", *(n / length for n in numbers))
