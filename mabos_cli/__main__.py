"""Handles calls that need no command line parser, and passes all others to app."""

import gc
import os
import signal
import sys

from mabos_cli import INTERRUPTED, __version__


def main() -> int:
    """Runs this process's command line and returns its exit code."""
    try:
        return _main()
    except KeyboardInterrupt:
        code = INTERRUPTED
    _leave()
    return code


def _leave() -> None:
    """Ignores further interrupts: the work is done or rolled back by now."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end_in_passing(about: "sys.UnraisableHookArgs") -> None:
    """Exits where Python would only report an interrupt and continue, as in a destructor."""
    if isinstance(about.exc_value, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    sys.__unraisablehook__(about)


def _main() -> int:
    sys.unraisablehook = _end_in_passing
    if sys.argv[1:] == ["--version"]:
        print(f"mabos {__version__}")
        return 0
    if sys.argv[1:2] == ["complete"]:
        from mabos_cli.serve.complete import main as complete

        return complete(sys.argv[2:])
    # A short-lived process makes little garbage; collecting it while modules load costs a tenth of a command.
    gc.set_threshold(100_000, 20, 20)
    code = _run()
    # Memory is freed with the process: collecting garbage once more at the end costs a tenth of a command.
    gc.freeze()
    _leave()
    return code


def _run() -> int:
    if "hook" in sys.argv[1:]:
        from mabos_cli.serve import hook

        if hook.is_called(sys.argv[1:]):
            return hook.main(sys.argv[1:])
    from mabos_cli.core.language.patterns import use_patterns
    from mabos_cli.workspace.patterns import KeptPatterns

    use_patterns(KeptPatterns)
    from mabos_cli.app import main as run  # behind it: modules compile patterns as they are loaded

    return run()


if __name__ == "__main__":
    sys.exit(main())
