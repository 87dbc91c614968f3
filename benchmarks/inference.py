"""Forward chaining against clingo: CPU seconds of both and their ratio.

    python benchmarks/inference.py [--runs 5]

Transitive closures by the linear rule, over a chain (one derivation for each path) and over a random graph (several, of
different length), and mixed rules: 40 predicates, 30 rules, 50,000 facts; the linear rule over 2,000 nodes with loops, and the
transitive one over dense graphs with some 20,000 and 100,000 conclusions. Each side runs in processes of its own, taking turns;
the best run counts. Ours goes from facts as values to derived facts with confidence, supports, trust and ids. Clingo's goes
from the text of a program, made before the clock starts, to its derived atoms as Python values; it has no confidence, and
keeps no supports. `args` reads each atom as a tuple of its name and arguments, `text` as one string, which is cheaper. Start-up
and imports are not counted, and neither side looks for cycles of objects, as the program does not while it infers.
"""

import argparse
import gc
import json
import random
import subprocess
import sys
import time
from itertools import pairwise
from typing import NamedTuple

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.forward import Limits, forward_chain
from mabos_cli.core.knowledge.rule import Pattern, Rule

SIDES = ("ours", "args", "text")
LINEAR = (
    (("X", "edge", "Y"),), ("X", "path", "Y"),
), ((("X", "edge", "Y"), ("Y", "path", "Z")), ("X", "path", "Z"))  # fmt: skip
Atom = tuple[str, str, str]


class Case(NamedTuple):
    """Facts and rules, as triples; a term of a rule in capitals is a variable."""

    facts: list[Atom]
    rules: tuple[tuple[tuple[Atom, ...], Atom], ...]


def chain(paths: int) -> Case:
    """A chain whose closure has about so many paths."""
    length = round((2 * paths) ** 0.5)
    return Case([(f"n{n}", "edge", f"n{n + 1}") for n in range(length)], LINEAR)


def graph(paths: int) -> Case:
    """A random graph without loops whose closure has about so many paths."""
    draw = random.Random(7)
    nodes = round((2.6 * paths) ** 0.5)
    facts = {(f"n{n}", "edge", f"n{min(nodes, n + draw.randint(1, 6))}") for n in range(nodes) for _ in range(2)}
    return Case(sorted(facts), LINEAR)


TRANSITIVE = (
    (("X", "edge", "Y"),), ("X", "path", "Y"),
), ((("X", "path", "Y"), ("Y", "path", "Z")), ("X", "path", "Z"))  # fmt: skip


def tangle(nodes: int, edges: int, rules: tuple[tuple[tuple[Atom, ...], Atom], ...]) -> Case:
    """A random graph with loops, in which what can be reached can be reached in many ways."""
    draw = random.Random(nodes)
    facts = {(f"n{draw.randrange(nodes)}", "edge", f"n{draw.randrange(nodes)}") for _ in range(edges)}
    return Case(sorted(facts), rules)


def mixed() -> Case:
    """Rules of one to three conditions over 40 predicates, a quarter of which are only derived."""
    draw = random.Random(11)
    given, derived = [f"p{n}" for n in range(30)], [f"p{n}" for n in range(30, 40)]
    things = [f"e{n}" for n in range(5000)]
    facts: set[Atom] = set()
    while len(facts) < 50_000:
        facts.add((draw.choice(things), draw.choice(given), draw.choice(things)))
    rules = []
    for number in range(30):
        source = given if number < 20 else given + derived
        terms = "XYZW"[: draw.randint(2, 4)]
        conditions = tuple((a, draw.choice(source), b) for a, b in pairwise(terms))
        rules.append((conditions, (terms[0], derived[number % 10], terms[-1])))
    return Case(sorted(facts), tuple(rules))


CASES = {
    "chain 1,000": lambda: chain(1_000),
    "chain 10,000": lambda: chain(10_000),
    "chain 100,000": lambda: chain(100_000),
    "graph 10,000": lambda: graph(10_000),
    "graph 100,000": lambda: graph(100_000),
    "mixed": mixed,
    "linear 2,000": lambda: tangle(2_000, 2_400, LINEAR),
    "dense 150": lambda: tangle(150, 750, TRANSITIVE),
    "dense 320": lambda: tangle(320, 1_600, TRANSITIVE),
}


def run_ours(case: Case) -> tuple[float, int]:
    """CPU seconds and the number of derived facts."""
    facts = [Fact(f"F-{n}", *triple) for n, triple in enumerate(case.facts)]
    term = lambda text: f"?{text}" if text.isupper() else text  # noqa: E731
    pattern = lambda atom: Pattern(term(atom[0]), atom[1], term(atom[2]))  # noqa: E731
    rules = [
        Rule(f"R-{n:03}", "", "inference", tuple(map(pattern, conditions)), pattern(conclusion))
        for n, (conditions, conclusion) in enumerate(case.rules)
    ]
    start = time.process_time()
    found = forward_chain(facts, rules, Limits(max_facts=1_000_000))
    took = time.process_time() - start
    assert found.fixpoint == "reached"
    return took, len(found.derived)


def run_clingo(case: Case, read: str) -> tuple[float, int]:
    """CPU seconds and the number of derived atoms."""
    import clingo

    term = lambda text: text if text.isupper() else f'"{text}"'  # noqa: E731
    atom = lambda triple: f"{triple[1]}({term(triple[0])},{term(triple[2])})"  # noqa: E731
    program = "".join(f"{atom(fact)}.\n" for fact in case.facts)
    program += "".join(
        f"{atom(conclusion)} :- {', '.join(map(atom, conditions))}.\n" for conditions, conclusion in case.rules
    )
    derived = sorted({conclusion[1] for _, conclusion in case.rules})
    start = time.process_time()
    control = clingo.Control(["--warn=none"])
    control.add("base", [], program)
    control.ground([("base", [])])
    found: list = []
    for name in derived:
        symbols = (one.symbol for one in control.symbolic_atoms.by_signature(name, 2))
        if read == "text":
            found += [str(symbol) for symbol in symbols]
        else:
            for symbol in symbols:
                one, two = symbol.arguments
                found.append((name, one.string, two.string))
    return time.process_time() - start, len(found)


def measure(name: str, side: str) -> tuple[float, int]:
    """One run in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--case", name, "--side", side], capture_output=True, text=True, check=True
    )
    seconds, count = json.loads(done.stdout)
    return seconds, count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--case", choices=CASES, help="only this, and with --side in this process")
    parser.add_argument("--side", choices=SIDES)
    options = parser.parse_args()
    if options.side:
        case = CASES[options.case]()
        gc.disable()
        print(json.dumps(run_ours(case) if options.side == "ours" else run_clingo(case, options.side)))
        return
    print(f"{'':<16}{'derived':>9}{'ours':>9}{'clingo args':>13}{'ratio':>7}{'clingo text':>13}{'ratio':>7}")
    for name in [options.case] if options.case else CASES:
        runs = [[measure(name, side) for side in SIDES] for _ in range(options.runs)]
        counts = {count for run in runs for _, count in run}
        if len(counts) > 1:
            raise SystemExit(f"{name}: the sides derive different numbers of facts: {counts}")
        ours, args, text = (min(run[n][0] for run in runs) for n in range(3))
        print(
            f"{name:<16}{counts.pop():>9,}{ours:>9.3f}{args:>13.3f}{ours / args:>7.2f}{text:>13.3f}{ours / text:>7.2f}"
        )


if __name__ == "__main__":
    main()
