"""Memory and mind for autonomous agents, as plain files."""

import os
import sys

__version__ = "0.2.0"
INTERRUPTED = 130


def _end_quietly(kind: type[BaseException], error: BaseException, trace: object) -> None:
    """Ends where an interrupt came before the program took over, or while it left."""
    if issubclass(kind, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    sys.__excepthook__(kind, error, error.__traceback__)


# First of all, where this process is the program: what is imported next takes longer than a person's finger.
if os.path.basename(sys.argv[0]) in ("mabos", "-m"):
    sys.excepthook = _end_quietly
