"""No command writes a secret that somebody gives it: every free word of every command is tried with one in it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import quick_folder
from every_command import CALLS, Bench, Place, furnish

# Invented, and in the form of a live key.
SECRET = "sk-proj-Zx81kQ0vT3mN7pR2sW6yB4dF9hJ1lC5aE8gU0iO3qK7"
# Words that choose, count, name or date, where a text is refused for other reasons; and what leaves the workspace.
_OPTIONS_OF_WORDS = frozenset(
    "--content --reason --context --decision --role --by --outcome --goal --step --to --definition --action --lessons "
    "--tag --tool --session --source --author --happened -c".split()
)


def _variants(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The words of a call with the secret behind each free text in turn."""
    first = next(
        (at for at, word in enumerate(words) if word.startswith("-") or " " in word or "{" in word), len(words)
    )
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        is_text = at >= min(first, 2) and not word.startswith("-") and "{" not in word and not before.startswith("--")
        if at and (before in _OPTIONS_OF_WORDS or is_text):
            yield (*words[:at], f"{word} {SECRET}", *words[at + 1 :])


TRIED = [(name, variant) for name, words in CALLS.items() for variant in _variants(words)]
# Texts that no call of the table gives.
TRIED += [
    ("fact assert", ("fact", "assert", "db", "password", "Tr0ub4dor&3xyz", "--source", "me")),
    ("fact assert source", ("fact", "assert", "a", "b", "c", "--source", SECRET)),
    ("fact import", ("fact", "import", "{side}/secret.ndjson")),
    ("store batch", ("store", "--batch", "{side}/batch.ndjson")),
    ("belief add", ("belief", "add", "Supply", "enough", "--source", SECRET)),
    ("case store", ("case", "store", "--belief", f"key {SECRET}", "--action", "Wait", "--success")),
    ("rule create", ("rule", "create", f"if ?x has {SECRET} then ?x needs audit")),
    ("init", ("init", "{side}/fresh", "--role", SECRET)),
    ("reason", ("reason", "solve", SECRET, "--method", "deductive", "--save")),
    ("checkpoint", ("checkpoint", "-c", "x", "--finding", SECRET, "--next", SECRET, "--question", SECRET)),
    ("capture", ("capture", SECRET, "--tool", "pytest")),
    ("plan add", ("plan", "add", "Hire", "--step", SECRET)),
    ("learning add", ("learning", "add", f"Use {SECRET}")),
]


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with quick_folder() as folder:
        seed = furnish(folder / "seed")
        (seed.side / "secret.ndjson").write_text(
            json.dumps({"subject": "a", "predicate": "key", "object": SECRET}) + "\n"
        )
        (seed.side / "batch.ndjson").write_text(json.dumps({"content": f"the key is {SECRET}"}) + "\n")
        yield Bench(seed, folder / "copy")


def holding(place: Place, text: str) -> list[str]:
    """The files of the workspace, and of one made beside it, that hold a text."""
    found = []
    for root in (place.root, place.side / "fresh"):
        for here, _, names in os.walk(root):
            found += [path for path in (Path(here) / name for name in names) if text.encode() in path.read_bytes()]
    return [str(path.relative_to(place.root.parent)) for path in found]


@pytest.mark.parametrize(("name", "words"), TRIED, ids=[f"{n}-{i}" for i, (n, _) in enumerate(TRIED)])
def test_a_secret_is_refused_or_redacted(bench: Bench, name: str, words: tuple[str, ...]) -> None:
    place = bench.fresh()
    done = place.do(*words)
    assert "Traceback" not in done.stderr
    for secret in (SECRET, "Tr0ub4dor&3xyz"):
        assert holding(place, secret) == [], (words, done)
        assert secret not in done.stderr


def test_the_table_reaches_every_command_that_writes_texts() -> None:
    tried = {words[0] for _, words in TRIED}
    assert tried >= {
        *(
            "store",
            "update",
            "forget",
            "trust",
            "fact",
            "rule",
            "case",
            "ontology",
            "agent",
            "belief",
            "goal",
            "desire",
        ),
        *("intention", "plan", "commitment", "learning", "checkpoint", "capture", "reason", "bdi", "init"),
    }


def test_what_was_allowed_blocks_nobody(bench: Bench) -> None:
    """A secret that a person allowed, or wrote into a file, is no reason to refuse what comes later."""
    place = bench.fresh()
    assert (
        place.do(
            "store",
            f"The key is {SECRET}",
            "--type",
            "fact",
            "--store",
            "short_term",
            "--allow-secret",
            "--importance",
            "0.9",
        ).code
        == 0
    )
    assert place.do("store", f"Deferred key {SECRET[::-1]}", "--allow-secret", "--defer").code == 0
    with open(place.root / "agents/main/Beliefs.md", "a") as file:
        file.write(f"\n## Hosting\n\nThe server's password: {SECRET[3:]}\n")
    (place.root / "agents/main/memory/2026-02-01.md").write_text(
        f"# 2026-02-01\n\n- Decision: important: token={SECRET}\n"
    )
    for words in (
        ("belief", "add", "Supply", "enough"),
        ("consolidate",),
        ("store", "Later"),
        ("lifecycle", "run", "--yes"),
    ):
        done = place.do(*words)
        assert done.code == 0, (words, done.stderr)
    for words in (("log", "consolidate"), ("hierarchy", "build"), ("bdi", "cycle"), ("materialize",)):
        assert place.do(*words).code == 0, words
    assert SECRET not in (place.root / "agents/main/memory/weekly/2026-W05.md").read_text()
    added = (place.root / "agents/main/MEMORY.md").read_text().partition("Consolidated")
    assert SECRET not in added[0]
