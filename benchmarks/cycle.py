"""The BDI cycle as a mind grows: how much longer ten times as many beliefs, goals and intentions take, for each of several sizes.

    python benchmarks/cycle.py [--sizes 1000 10000] [--runs 3]

Beliefs are generated: half of them sections, half rows of tables, about customers, services, people and places, with
numbers, dates and names, in sentences that share most of their words; one in fifty contradicts another one. For ten beliefs there is
a goal with an intention. A cycle is
timed in process, by the CPU: on the new workspace, once more, settled (nothing changed: no file of the mind is read), and after one
goal changed; `belief add` beside it. Sizes are taken in turn, and the best of the runs counts.
"""

import argparse
import os
import random
import tempfile
import time
from pathlib import Path

from mabos_cli.app import main as mabos

SUBJECTS = (
    "Renewal of",
    "Latency of",
    "Owner of",
    "Price for",
    "Contract with",
    "Backup of",
    "Stock of",
    "Budget of",
)
THINGS = (
    "Aurora",
    "Birch",
    "Cobalt",
    "Dune",
    "Ember",
    "Fjord",
    "Garnet",
    "Harbour",
    "Indigo",
    "Juniper",
    "Karst",
    "Lumen",
)
PEOPLE = (
    "Mara Lind",
    "Tom Okafor",
    "Ines Ruiz",
    "Yuki Sato",
    "Jan Novak",
    "Lea Brandt",
    "Omar Haddad",
    "Nina Falk",
)
PLACES = ("Kiel", "Lyon", "Porto", "Graz", "Oslo", "Turin", "Ghent", "Bergen")
TEXTS = (
    "The contract ends on 2026-{m:02d}-{d:02d} and {who} looks after it.",
    "It takes {n} ms at the median in {where}, measured by {who}.",
    "{who} is the owner and decides about changes in {where}.",
    "The price is EUR {n} a month for customers in {where}.",
    "Backups run every night at {d}:00 and are kept for {n} days.",
    "Customers in {where} ask for it about {n} times a month.",
    "The budget is {n} thousand EUR this year; {who} signed it.",
    "Demand in {where} is growing by {d} % a year, says {who}.",
)


def beliefs_file(count: int, seed: int = 7) -> str:
    """Beliefs.md with so many beliefs."""
    rnd = random.Random(seed)
    sections, rows = [], []
    for number in range(count):
        subject = f"{rnd.choice(SUBJECTS)} {rnd.choice(THINGS)} {number // 2}"
        told = dict(m=rnd.randint(1, 12), d=rnd.randint(1, 28), n=rnd.randint(10, 900))
        text = rnd.choice(TEXTS).format(who=rnd.choice(PEOPLE), where=rnd.choice(PLACES), **told)
        day = f"2026-{rnd.randint(1, 2):02d}-{rnd.randint(1, 24):02d}"
        certainty = round(rnd.uniform(0.5, 0.95), 2)
        if number % 50 == 49:  # the same subject and sentence as one before, with another number
            subject, text = f"Capacity of hall {number}", f"The hall holds {told['n']} pallets."
            sections.append(
                f"## {subject}\n\nCertainty: 0.8\n[updated: {day}]\n\nThe hall holds 9{told['n']} pallets.\n"
            )
            certainty = 0.9
        if number % 2:
            sections.append(f"## {subject}\n\nCertainty: {certainty}\n[updated: {day}]\n\n{text}\n")
        else:
            rows.append(f"| B-{number:05d} | {subject} | {text} | {certainty} | report | {day} |")
    head = (
        "# Beliefs\n\n## World\n\n| ID | Belief | Value | Certainty | Source | Updated |\n|---|---|---|---|---|---|\n"
    )
    return head + "\n".join(rows) + "\n\n" + "\n".join(sections)


def wants_files(count: int) -> dict[str, str]:
    """Goals.md, Intentions.md and Plans.md with so many goals and intentions, and a plan for every third; one goal in fifty is without an
    intention, one in fifty late."""
    goals, intentions, plans = ["# Goals\n"], ["# Intentions\n"], ["# Plans\n"]
    for n in range(count):
        thing, end = f"{THINGS[n % len(THINGS)]} {n}", "2026-02-20" if n % 50 == 1 else "2026-12-31"
        goals.append(f"## G-{n:04d}: Finish {thing}\n\nstatus: active\npriority: 0.{n % 9 + 1}\n[deadline: {end}]\n")
        if n % 50:
            text = f"## I-{n:04d}: Work on {thing}\n\nstatus: active\nGoal: G-{n:04d}\n[updated: 2026-02-22]\n"
            intentions.append(text)
        if n % 3 == 0:
            plans.append(
                f"## PL-{n:04d} Way to {thing}\n\nGoal: G-{n:04d}\n\n1. [ ] Begin (if the budget is signed)\n2. [ ] End\n"
            )
    return {"Goals.md": "\n".join(goals), "Intentions.md": "\n".join(intentions), "Plans.md": "\n".join(plans)}


def timed(*words: str) -> float:
    start = time.process_time()
    code = mabos([*words, "-q"])
    took = time.process_time() - start
    assert code == 0, (words, code)
    return took


def measure(folder: Path, count: int) -> dict[str, float]:
    """Seconds of a first cycle, a settled one and an added belief in a workspace with so many beliefs."""
    place = folder / f"w{count}-{time.monotonic_ns()}"
    assert mabos(["init", str(place), "-q"]) == 0
    (place / "agents/main/Beliefs.md").write_text(beliefs_file(count), "utf-8")
    for name, text in wants_files(count // 10).items():
        (place / "agents/main" / name).write_text(text, "utf-8")
    on = ("-w", str(place))
    first = timed("bdi", "cycle", *on)
    second, settled = timed("bdi", "cycle", *on), timed("bdi", "cycle", *on)
    goals = place / "agents/main/Goals.md"
    goals.write_text(goals.read_text("utf-8").replace("0.5", "0.6", 1), "utf-8")
    return {
        "first cycle": first,
        "second cycle": second,
        "settled cycle": settled,
        "cycle after one goal changed": timed("bdi", "cycle", *on),
        "belief add": timed("belief", "add", "A new one", "holds", *on),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="How the BDI cycle grows with beliefs.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    os.environ["MABOS_NOW"] = "2026-02-24T12:00:00Z"
    best: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), 20)  # imports
        for _ in range(given.runs):
            for size in given.sizes:
                found = measure(Path(folder), size)
                known = best.setdefault(size, found)
                best[size] = {name: min(took, known[name]) for name, took in found.items()}
    least = given.sizes[0]
    for name in best[least]:
        took = ", ".join(f"{size:,}: {best[size][name]:.2f} s" for size in given.sizes)
        ratios = ", ".join(f"{best[size][name] / best[least][name]:.1f} x" for size in given.sizes[1:])
        print(f"{name}: {took}; {ratios}")


if __name__ == "__main__":
    main()
