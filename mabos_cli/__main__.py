"""Answers what needs no command line parser, and hands everything else to app."""

import gc
import sys


def main() -> int:
    """Runs this process's command line and returns its exit code."""
    if sys.argv[1:] == ["--version"]:
        from mabos_cli import __version__

        print(f"mabos {__version__}")
        return 0
    if sys.argv[1:2] == ["complete"]:
        from mabos_cli.serve.complete import main as complete

        return complete(sys.argv[2:])
    # A short-lived process makes little garbage; looking for it while modules load costs a tenth of a command.
    gc.set_threshold(100_000, 20, 20)
    code = _run()
    # What is left is freed with the process: looking for garbage once more at its end costs a tenth of a command.
    gc.freeze()
    return code


def _run() -> int:
    if "hook" in sys.argv[1:]:
        from mabos_cli.serve import hook

        if hook.is_called(sys.argv[1:]):
            return hook.main(sys.argv[1:])
    from mabos_cli.app import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
