"""`make check` runs the tests of what changed: which those are."""

import pytest
from changed import ROOT, find_tests


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("tests/core/memory/test_item.py", ["tests/core/memory/test_item.py"]),
        ("tests/conftest.py", []),
        ("mabos_cli/core/memory/item.py", ["tests/core/memory/test_item.py"]),
        ("README.md", ["tests/test_docs.py::test_links_lead_somewhere"]),
        ("mabos_cli/py.typed", []),
        ("pyproject.toml", []),
    ],
)
def test_changed_files_have_tests(path: str, tests: list[str]) -> None:
    assert find_tests(path) == tests
    assert all((ROOT / test.partition("::")[0]).exists() for test in tests)


def test_a_command_brings_its_transcripts() -> None:
    found = find_tests("mabos_cli/commands/memory/store.py")
    assert "tests/test_transcripts.py::test_transcript[store]" in found
    assert "tests/test_transcripts.py::test_transcript[store-batch]" in found
