"""mabos as a host calls it, each call of a hook noted in the file that HOSTS_RECORD names.

`program` writes it as a file called mabos, to be first on the PATH: what connects a host finds that one and writes it into the settings.
"""

import json
import os
import sys
import time
from pathlib import Path

RECORD = "HOSTS_RECORD"
_PROGRAM = """#!{python}
import sys
sys.path.insert(0, {tests!r})
from hosts.recorded import main
main()
"""


def write_program(path: Path) -> None:
    """Writes the program."""
    path.write_text(_PROGRAM.format(python=sys.executable, tests=str(Path(__file__).parent.parent)), "utf-8")
    path.chmod(0o755)


def main() -> None:
    """Runs mabos with what is on the command line."""
    from mabos_cli.__main__ import run
    from mabos_cli.serve import hook

    if hook.is_called(sys.argv[1:]):
        noted: dict[str, object] = {"words": sys.argv[1:], "at": time.time(), "payload": "", "answer": {}}
        read, show = hook.read_payload, hook._print

        def reading(fd: int = 0) -> bytes:
            data = read(fd)
            noted["payload"] = data.decode("utf-8", "replace")
            return data

        def showing(answered: dict[str, object]) -> None:
            noted["answer"] = answered
            show(answered)

        hook.read_payload, hook._print = reading, showing
        try:
            run()
        finally:
            noted["seconds"] = time.time() - float(str(noted["at"]))
            with open(os.environ[RECORD], "a", encoding="utf-8") as file:
                file.write(json.dumps(noted) + "\n")
    else:
        run()
