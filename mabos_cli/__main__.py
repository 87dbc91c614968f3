"""Handles calls that need no command line parser, and passes all others to app."""

import atexit
import gc
import os
import sys

from mabos_cli import INTERRUPTED, __version__


def main() -> None:
    """Runs this process's command line and ends the process with its exit code."""
    code = INTERRUPTED
    try:
        code = run()
        if "threading" in sys.modules:
            _ignore_interrupts()
            sys.exit(code)
        _finish()
    except KeyboardInterrupt:  # behind the command it changes nothing: that is done or rolled back
        pass
    # The system frees what is left in one step; Python would take every module and every value apart first.
    os._exit(code)


def _finish() -> None:
    """Does what Python does before it takes a program apart."""
    atexit._run_exitfuncs()
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    except OSError:  # nobody reads the answer
        pass


def run() -> int:
    """Runs this process's command line and returns its exit code."""
    try:
        return _run()
    except KeyboardInterrupt:
        return INTERRUPTED


def _ignore_interrupts() -> None:
    """Ignores further interrupts: the work is done or rolled back by now."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end_in_passing(about: "sys.UnraisableHookArgs") -> None:
    """Exits where Python would only report an interrupt and continue, as in a destructor."""
    if isinstance(about.exc_value, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    sys.__unraisablehook__(about)


def _run() -> int:
    sys.unraisablehook = _end_in_passing
    if sys.argv[1:] == ["--version"]:
        print(f"mabos {__version__}")
        return 0
    if sys.argv[1:2] == ["complete"]:
        from mabos_cli.serve.complete import main as complete

        return complete(sys.argv[2:])
    # A short-lived process makes little garbage; collecting it while modules load costs a tenth of a command.
    gc.set_threshold(100_000, 20, 20)
    if "hook" in sys.argv[1:]:
        from mabos_cli.serve import hook

        if hook.is_called(sys.argv[1:]):
            return hook.main(sys.argv[1:])
    from mabos_cli.core.language.patterns import use_patterns
    from mabos_cli.workspace.patterns import KeptPatterns

    use_patterns(KeptPatterns)
    from mabos_cli.app import main as run_line  # behind it: modules compile patterns as they are loaded

    return run_line()


if __name__ == "__main__":
    main()
