"""Pure functions over values. Standard library only; no files, clock, randomness, environment or printing."""


def read_data(name: str) -> str:
    """Returns the text of a table that is shipped beside the modules of core. It is read as they are, and is as constant."""
    data: bytes = __spec__.loader.get_data(f"{__path__[0]}/{name}")  # type: ignore[union-attr]
    return data.decode("utf-8")


class BadValue(ValueError):
    """A value that cannot be accepted. The caller knows whether a command line or a file is to blame."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
