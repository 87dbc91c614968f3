"""Pure functions over values. Standard library only; no files, clock, randomness, environment or printing."""


def read_data(name: str) -> str:
    """Returns the text of a table that is shipped beside the modules of core. It is read as they are, and is as constant."""
    data: bytes = __spec__.loader.get_data(f"{__path__[0]}/{name}")  # type: ignore[union-attr]
    return data.decode("utf-8")


def read_table(name: str) -> dict[str, str]:
    """Returns the entries of a table by name: `name: words`, or `name = pattern`. What is indented below goes on, words behind a blank,
    a pattern as it stands; lines that begin with # are comments."""
    found: dict[str, str] = {}
    key = sign = ""
    for line in read_data(name).split("\n"):
        if line[:1] == " ":
            found[key] += line[4:] if sign == "=" or not found[key] else line[3:]
        elif line and line[0] != "#":
            at = next(place for place, letter in enumerate(line) if letter in ":=")
            key, sign = line[:at].strip(), line[at]
            found[key] = line[at + 1 :].strip()
    return found


class BadValue(ValueError):
    """A value that cannot be accepted. The caller knows whether a command line or a file is to blame."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
