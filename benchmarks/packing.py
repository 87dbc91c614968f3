"""Packing: what must never happen, and what a pack costs.

    python benchmarks/packing.py [--packs 2000] [--items 10000] [--runs 9]

- (a) generated workspaces, queries and budgets from 50 to 50,000 tokens, with 200 hostile texts among the memories and
  conversations as tails: packs over budget, lines without a source, frames that content could leave;
- (b) a mixed-trust workspace: lines below --min-trust trusted;
- (c) CPU time of `mabos context pack` against `mabos recall` with the same question, whole processes in turn in one run.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).parent))
from commands.desk import Desk, note
from framed import faults
from hostile_payloads import PAYLOADS
from timing import MABOS, compile_package, cpu_seconds
from workspaces import english, item_rows, make_items, say

from mabos_cli.commands.call import Call
from mabos_cli.core.context.texts import Turn
from mabos_cli.core.language.text import token_cost
from mabos_cli.core.memory.item import TRUSTS, TYPES
from mabos_cli.services.context.pack import Bounds, pack_memory

SIZES = (3, 40, 400, 2000)


def fill(desk: Desk, size: int, rnd: random.Random) -> None:
    """Memories of every trust and length, hostile ones among them, notes in files, a checkpoint and sessions of tools."""
    texts = [*rnd.sample(PAYLOADS, min(len(PAYLOADS), size // 2))]
    while len(texts) < size:
        texts.append(" ".join(say(rnd) + "." for _ in range(rnd.choice((1, 1, 2, 8, 60)))))
    rnd.shuffle(texts)
    items = [
        note(n, text, trust=rnd.choice(TRUSTS), type=rnd.choice(TYPES), importance=round(rnd.random(), 2))
        for n, text in enumerate(texts)
    ]
    desk.put(items[7:], working=items[:7])
    desk.write("memory/notes.md", "\n\n".join(f"## {say(rnd)}\n\n{rnd.choice(PAYLOADS)}" for _ in range(40)))
    desk.write("memory/checkpoints/2026-02-24-1400.md", f"# Session Checkpoint\n\n{rnd.choice(PAYLOADS)}\n")
    desk.write("sessions/a.jsonl", "".join(json.dumps({"role": "tool", "content": p}) + "\n" for p in PAYLOADS))


def make_query(rnd: random.Random) -> str:
    """A few words, a hostile text, or a whole pasted request."""
    kind = rnd.random()
    if kind < 0.2:
        return rnd.choice(PAYLOADS) + " budget"
    return (
        " ".join(say(rnd) for _ in range(40)) if kind < 0.3 else " ".join(rnd.choices(english(), k=rnd.randint(1, 8)))
    )


def check_packs(packs: int) -> None:
    """(a) and (b)."""
    over = bare = escapes = lines = below = filtered = empty = 0
    for size in SIZES:
        with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
            rnd, desk = random.Random(size), Desk(Path(folder) / "w")
            fill(desk, size, rnd)
            call = Call(workspace=os.fspath(desk.root), agent="main")
            home = call.open_agent()
            for _ in range(packs // len(SIZES)):
                budget = round(50 * 1000 ** rnd.random())
                roles = rnd.choices(("user", "assistant", "tool"), k=rnd.randint(0, 6))
                turns = [Turn(role, rnd.choice((say(rnd), rnd.choice(PAYLOADS)))) for role in roles]
                trust = rnd.choice(("", "", "agent", "trusted"))
                made = pack_memory(call, home, make_query(rnd), Bounds(budget, 4, trust), turns, count_uses=False).pack
                told = made.text.count("\n") - 2 - bool(made.placed) if made.text else 0
                wrong = faults(made.text, [each.entry.ref for each in (*made.placed, *made.tail)])
                over += token_cost(made.text) > budget if made.text else 0
                bare += sum(fault.startswith("no source") for fault in wrong)
                escapes += bool(wrong)
                lines, empty = lines + told, empty + (not made.text)
                if trust == "trusted":
                    filtered += 1
                    below += sum(each.entry.trust != "trusted" for each in made.placed)
                    below += sum(each.entry.type == "tool" for each in made.tail)
    print(
        f"(a) {packs} packs, {lines} lines, {empty} empty: {over} over budget, {bare} lines without a source, {escapes} with a fault of the frame"
    )
    print(f"(b) {filtered} packs with --min-trust trusted: {below} lines below it")


def measure(items: int, runs: int) -> None:
    """(c)."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "w"
        make_items(root, item_rows(items))
        asked = {
            "a question": "assignment expression evaluates operands before attribute lookup",
            "a pasted request of 400 words": " ".join(english()[5000:5400]),
        }
        words = {"recall": ["recall"], "context pack": ["context", "pack"]}
        times: dict[tuple[str, str], list[float]] = {(name, word): [] for name in asked for word in words}
        for run in range(runs + 2):
            for name, word in times:
                spent = cpu_seconds([MABOS, "-w", str(root), *words[word], asked[name]])
                if run > 1:
                    times[name, word].append(spent)
    for name in asked:
        base, found = (times[name, word] for word in words)
        ratio = statistics.median(one / other for one, other in zip(found, base, strict=True))
        told = f"{1000 * statistics.median(base):.0f} ms, context pack {1000 * statistics.median(found):.0f} ms"
        print(f"(c) {items} items, {name}: recall {told}, ratio {ratio:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packs", type=int, default=2000)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    os.environ["MABOS_NOW"] = "2026-02-24T14:30:00Z"
    compile_package()
    check_packs(options.packs)
    measure(options.items, options.runs)


if __name__ == "__main__":
    main()
