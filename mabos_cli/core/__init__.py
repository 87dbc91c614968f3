"""Pure functions over values. Standard library only; no files, clock, randomness, environment or printing."""


class BadValue(ValueError):
    """A value that cannot be accepted. The caller knows whether a command line or a file is to blame."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
