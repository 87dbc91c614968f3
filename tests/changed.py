"""Prints the tests of what changed, for `make check`: the folders that mirror changed modules, changed tests, and the house.

python tests/changed.py [REVISION]     what differs from REVISION (HEAD, or the commit before it when nothing differs)
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALWAYS = ("tests/test_house.py",)


def changed_files(revision: str) -> list[str]:
    """Returns the paths that differ from a revision, new files included."""
    named = _git("diff", "--name-only", revision) + _git("ls-files", "--others", "--exclude-standard")
    return sorted(dict.fromkeys(named))


def find_tests(path: str) -> list[str]:
    """Returns the tests that a changed file concerns, as arguments of pytest.

    >>> find_tests("tests/core/memory/test_item.py")
    ['tests/core/memory/test_item.py']
    """
    file = Path(path)
    if file.parts[0] == "tests":
        return [path] if file.name.startswith("test_") and (ROOT / file).exists() else []
    if path.endswith(".md"):
        return ["tests/test_docs.py::test_links_lead_somewhere"]
    if file.parts[0] != "mabos_cli" or file.suffix != ".py":
        return []
    mirrored = Path("tests", *file.parent.parts[1:])
    if (ROOT / mirrored / f"test_{file.stem}.py").exists():
        return [(mirrored / f"test_{file.stem}.py").as_posix()]
    is_folder_of_tests = len(mirrored.parts) > 2 and any((ROOT / mirrored).glob("test_*.py"))
    found = [mirrored.as_posix()] if is_folder_of_tests else []
    if file.parts[1] == "commands":
        found += [f"tests/test_transcripts.py::test_transcript[{name}]" for name in _transcripts(file.stem)]
    return found


def _transcripts(command: str) -> list[str]:
    files = sorted((ROOT / "tests" / "transcripts").glob("*.txt"))
    return [file.stem for file in files if file.stem.split("-")[0] == command]


def _git(*words: str) -> list[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]


def main() -> None:
    changed = changed_files(sys.argv[1]) if sys.argv[1:] else changed_files("HEAD") or changed_files("HEAD~1")
    print(*dict.fromkeys([*ALWAYS, *(test for path in changed for test in find_tests(path))]))


if __name__ == "__main__":
    main()
