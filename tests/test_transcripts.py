"""The main suite: every transcript must go exactly as it is written. UPDATE=1 rewrites the files with what really happens."""

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from difflib import unified_diff
from pathlib import Path

import pytest
from transcript import parse_transcript, run_transcript

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))


@pytest.fixture(scope="module")
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[Path, Future[str]]]:
    """The chosen transcripts, each in a folder of its own: they have nothing in common and run side by side."""
    calls = [item.callspec for item in request.session.items if hasattr(item, "callspec")]
    chosen = [call.params["path"] for call in calls if call.params.get("path") in TRANSCRIPTS]
    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:  # half of them wait for files to settle
        yield {path: pool.submit(_run, path, tmp_path_factory.mktemp(path.stem)) for path in chosen}
        pool.shutdown(cancel_futures=True)


def _run(path: Path, folder: Path) -> str:
    return run_transcript(parse_transcript(_read(path)), folder.resolve())


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path: Path, running: dict[Path, Future[str]]) -> None:
    written, actual = _read(path), running[path].result()
    steps = parse_transcript(written)
    assert steps, f"{path.name} has no `$ command` line"
    assert parse_transcript(actual) == steps, f"the output of {path.name} cannot be told from its commands"
    if os.environ.get("UPDATE"):
        path.write_bytes(actual.encode("utf-8"))
    elif actual != written:
        lines = (text.split("\n") for text in (written, actual))
        names = (f"{path.name} as written", f"{path.name} as it went")
        pytest.fail("\n".join(unified_diff(*lines, *names, lineterm="")), pytrace=False)


def test_output_cannot_be_taken_for_commands(tmp_path: Path) -> None:
    text = "# Prose.\n$ printf '$ x\\n! y\\n[2]\\n\\n# z\\n\\n'; echo no >&2; exit 3\n\n# More.\n$ printf half\n"
    actual = run_transcript(parse_transcript(text), tmp_path)
    shown = "\\$ x\n\\! y\n\\[2]\n\n\\# z\n\\\n! no\n[3]\n"
    head, tail = text.split("\n\n# More.")
    assert actual == f"{head}\n{shown}\n# More.{tail}half\\ no newline\n"
    assert parse_transcript(actual) == parse_transcript(text)
