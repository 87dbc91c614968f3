"""Facts under many hands: several processes, and kills; nothing that was acknowledged is lost, and no triple occurs twice."""

import json
import shutil
import threading
from itertools import cycle
from pathlib import Path

import pytest
from forked import Fault, run, tree

NOW = {"MABOS_NOW": "2026-02-24T12:00:00Z"}


@pytest.fixture
def root(quick: Path) -> Path:
    """A workspace with a dozen facts on pages, and two rules."""
    root = quick / "ws"
    assert run("init", str(root), **NOW).code == 0
    (root / "mabos.yaml").write_text("facts:\n  materialize_split_above: 4\n")
    call(root, "rule", "create", "if ?x partOf ?y then ?x within ?y")
    call(root, "rule", "create", "if ?x partOf ?y and ?y within ?z then ?x within ?z")
    for number in range(8):
        call(root, "fact", "assert", f"s{number}", "partOf", f"s{number // 2}")
    call(root, "infer", "forward", "--persist")
    return root


def call(root: Path, *words: str) -> None:
    done = run(*words, "-w", str(root), **NOW)
    assert done.code == 0 and "Traceback" not in done.stderr, f"{words}: {done.code} {done.stderr}"


def facts_of(root: Path, name: str = "facts.json") -> list[dict]:
    facts = json.loads((root / "agents/main" / name).read_text("utf-8"))["facts"]
    triples = [(fact["subject"], fact["predicate"], fact["object"]) for fact in facts]
    assert len(triples) == len(set(triples)) == len({fact["id"] for fact in facts})
    return facts


def check_settled(root: Path) -> None:
    """The next run of maintenance works, and leaves nothing to do for a rebuild of the pages."""
    call(root, "infer", "forward", "--persist")
    before = tree(root)
    call(root, "materialize")
    assert {n: d for n, d in tree(root).items() if "facts" in n} == {n: d for n, d in before.items() if "facts" in n}
    facts_of(root, "facts-derived.json")


def test_writers_beside_inference_lose_nothing(root: Path) -> None:
    problems: list[BaseException] = []
    stop = threading.Event()

    def attempt(*words: str) -> None:
        try:
            call(root, *words)
        except AssertionError as error:
            problems.append(error)

    def writer(number: int) -> None:
        for n in range(3):
            attempt("fact", "assert", f"W{number}N{n}", "partOf", "s1")
            attempt("fact", "assert", "shared", "partOf", f"s{n}")  # all say the same
        attempt("rule", "create", f"if ?x owns ?y then ?y ownedBy{number} ?x")
        attempt("fact", "retract", "--subject", f"s{number + 2}", "--cascade")

    def maintain() -> None:
        while not stop.is_set():
            attempt("infer", "forward", "--persist")

    side = threading.Thread(target=maintain)
    writers = [threading.Thread(target=writer, args=(number,)) for number in range(3)]
    for thread in [side, *writers]:
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    side.join()
    assert not problems, problems[0]
    facts = facts_of(root)
    assert {f["subject"] for f in facts} == {*(f"W{w}N{n}" for w in range(3) for n in range(3)), "shared", "s0", "s1", "s5", "s6", "s7"}  # fmt: skip
    assert [fact["id"] for fact in facts] == sorted(fact["id"] for fact in facts)
    rules = json.loads((root / "agents/main/rules.json").read_text())["rules"]
    assert [rule["id"] for rule in rules] == [f"R-00{n}" for n in range(1, 6)]
    check_settled(root)


COMMANDS = {
    "assert": ("fact", "assert", "new", "partOf", "s1"),
    "update": ("fact", "assert", "s7", "partOf", "s3", "--confidence", "0.5"),
    "retract": ("fact", "retract", "--subject", "s3", "--cascade"),
    "infer": ("infer", "forward", "--persist"),
    "rule": ("rule", "create", "if ?x partOf ?y then ?y has ?x"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_fault_anywhere_loses_nothing(root: Path, command: str) -> None:
    """A few of the points, each with another fault; crashpoint takes all of them."""
    if command == "infer":
        call(root, "fact", "assert", "late", "partOf", "s7")
    seed = shutil.copytree(root, root.parent / "seed")
    words = (*COMMANDS[command], "-w", str(root))
    clean = run(*words, **NOW)
    assert clean.code == 0 and clean.calls > 10
    for at, fault in zip(range(1, clean.calls + 1, 7), cycle(("kill", "powerloss", "ENOSPC")), strict=False):
        shutil.rmtree(root)
        shutil.copytree(seed, root)
        outcome = run(*words, fault=Fault(fault, at), **NOW)
        assert "Traceback" not in outcome.stderr, outcome.stderr
        try:
            check_whole(root, command, outcome.code == 0)
        except AssertionError as error:
            where = f"{fault} at change {at} of {clean.calls} (exit {outcome.code}, {outcome.stderr})"
            raise AssertionError(f"{where}: {error}") from error


def check_whole(root: Path, command: str, acknowledged: bool) -> None:
    check_settled(root)
    facts = {fact["subject"]: fact for fact in facts_of(root)}
    kept = {f"s{number}" for number in range(8)} - ({"s3"} if command == "retract" else set())
    assert kept <= facts.keys()
    assert not acknowledged or command != "assert" or "new" in facts
    assert not acknowledged or command != "update" or facts["s7"]["confidence"] == 0.5
    assert not acknowledged or command != "retract" or "s3" not in facts
    rules = json.loads((root / "agents/main/rules.json").read_text())["rules"]
    assert len(rules) == 3 if command == "rule" and acknowledged else len(rules) >= 2


def test_the_same_words_once_more_finish_what_a_killed_assertion_left(root: Path) -> None:
    seed = shutil.copytree(root, root.parent / "seed")
    words = ("fact", "assert", "new", "partOf", "s1", "-w", str(root))
    calls = run(*words, **NOW).calls
    for at in range(calls // 2, calls + 1, 2):
        shutil.rmtree(root)
        shutil.copytree(seed, root)
        run(*words, fault=Fault("kill", at), **NOW)
        call(root, *words[:5])
        assert run("doctor", "--check", "-w", str(root), **NOW).code == 0, at
