"""Errors that a user can do something about. Each knows its code and its exit code; app.py alone prints them."""


class MabosError(Exception):
    """The command could not do its job: one line that says why, and a hint that says what to do."""

    code = "internal"
    exit_code = 1
    # Whether the command printed its result all the same: in JSON that is the answer, and one object is enough.
    is_reported = False

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageFault(MabosError):
    """Invalid usage: unknown options, missing arguments, bad values."""

    code, exit_code = "usage", 2


class NotFound(MabosError):
    """A workspace, agent or item that is not there."""

    code, exit_code = "not_found", 3


class InvalidFile(MabosError):
    """A file that cannot be read, written or understood; the message cites path:line."""

    code, exit_code = "invalid_file", 4


class Conflict(MabosError):
    """Somebody else holds the lock or keeps changing the file; trying again is safe."""

    code, exit_code = "conflict", 5


class Unavailable(MabosError):
    """A backend that the user named explicitly is absent."""

    code, exit_code = "unavailable", 6


class CheckFailed(MabosError):
    """The check ran well and found problems; only where --check was given."""

    code, exit_code = "check_failed", 7
    is_reported = True
