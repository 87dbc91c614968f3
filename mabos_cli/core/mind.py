"""What an agent holds true, wants and does, as values with the place in the file that they come from."""

from typing import NamedTuple


class Belief(NamedTuple):
    """Something held true. The subject is what it is about: a heading, or the Belief or About cell of a table; the text
    says what about it, and may be empty when the subject is the whole statement."""

    subject: str
    text: str
    certainty: float = 0.5
    updated: str = ""
    id: str = ""
    source: str = ""
    supports: tuple[str, ...] = ()
    path: str = ""
    line: int = 0

    @property
    def statement(self) -> str:
        """All that it says, as one text."""
        if not self.text:
            return self.subject
        return self.text if _holds(self.text, self.subject) else f"{self.subject}: {self.text}"

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


def _holds(text: str, subject: str) -> bool:
    """Whether a text names its subject itself, so that it need not be said twice."""
    return subject.casefold() in text.casefold()
