"""What long patterns compile to is kept between processes, and nobody notices but by the time it takes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mabos_cli.core.language import moments, quantities, secret_context, secrets
from mabos_cli.core.mind.claims import updates, words
from mabos_cli.workspace import patterns
from mabos_cli.workspace.patterns import KeptPatterns

LONG = [
    *((pattern, re.IGNORECASE) for pattern in (updates._SINCE, updates._AT_MOMENT)),
    *((pattern, 0) for pattern in (updates._SET, updates._ACTIVE, *secret_context.NAMES.values())),
    *((rule.pattern, 0) for rule in secrets._ALL),
    *((made.pattern, made.flags & re.IGNORECASE) for made in quantities._patterns().values()),
    *((made.pattern, made.flags & re.IGNORECASE) for made in (moments._pattern(), words._phrases()[0])),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "mabos/patterns"


def keep(*keys: tuple[str, int]) -> Path:
    kept = KeptPatterns()
    for pattern, flags in keys:
        kept.find_compiled(pattern, flags)
    kept.save()
    [path] = Path(os.environ["XDG_CACHE_HOME"], "mabos/patterns").iterdir()
    return path


def test_what_is_kept_is_what_would_be_compiled_and_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [re.compile(pattern, flags) for pattern, flags in LONG]
    keep(*LONG)
    monkeypatch.setattr(patterns.re, "compile", None)
    kept = KeptPatterns()
    found = [kept.find_compiled(pattern, flags) for pattern, flags in LONG]
    assert found == expected and len(found) > 100  # patterns are equal when their code is
    assert [each.groupindex for each in found] == [each.groupindex for each in expected]
    assert [each.groups for each in found] == [each.groups for each in expected]


def test_one_more_pattern_is_kept_with_those_before() -> None:
    keep(("a+", 0))
    keep(("b+", re.IGNORECASE))
    assert {*KeptPatterns()._known} == {("a+", 0), ("b+", int(re.IGNORECASE))}


@pytest.mark.skipif(os.name != "posix", reason="rights of files")
@pytest.mark.parametrize("mode", [0o755, 0o770, 0o702])
def test_a_folder_that_is_open_to_others_is_not_used(folder: Path, mode: int) -> None:
    keep(("a+", 0))
    assert folder.stat().st_mode & 0o077 == 0
    folder.chmod(mode)
    kept = KeptPatterns()
    assert not kept._known and kept.find_compiled("a+", 0).fullmatch("aa")
    kept.find_compiled("b+", 0)
    kept.save()
    folder.chmod(0o700)
    assert {*KeptPatterns()._known} == {("a+", 0)}


@pytest.mark.parametrize("data", [b"", b"\0", b"[1]", b"\xfb\xff\xff\xff\x7f", os.urandom(200)])
def test_a_damaged_file_is_as_good_as_none(data: bytes) -> None:
    path = keep(("a+", 0))
    path.write_bytes(data)
    assert KeptPatterns().find_compiled("a+", 0).fullmatch("aa")


def test_code_that_makes_no_sense_is_compiled_again() -> None:
    path = keep(("a+", 0))
    known = patterns.marshal.loads(path.read_bytes())
    flags, code, *rest = known["a+", 0]
    path.write_bytes(patterns.marshal.dumps({("a+", 0): (flags, b"\xff" * len(code), *rest)}))
    assert KeptPatterns().find_compiled("a+", 0).fullmatch("aa")


def test_the_program_keeps_them_for_the_next_process(tmp_path: Path, folder: Path) -> None:
    call = [sys.executable, "-m", "mabos_cli", "-w", str(tmp_path / "ws")]
    for words_ in (["init", str(tmp_path / "ws")], ["store", "We bill per seat and month since May", "-t", "decision"]):
        subprocess.run([*call, *words_], check=True, capture_output=True)
    assert len([*folder.iterdir()]) == 1 and KeptPatterns()._known
