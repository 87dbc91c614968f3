"""The hierarchy over a simulated year with known themes, decisions, turning points and facts (fixtures/year.py).

    python benchmarks/hierarchy.py [--seed 1] [--runs 5]

Prints how many planted themes, decisions and turning points the summaries name, the sizes of the files, how often drill
reaches the day of a planted fact and how much it reads, and what a rebuild costs: CPU time of a full build against one
after a single changed day and against one with nothing changed, in process and as whole processes, interleaved.

Then two stories of ten weeks with 20 planted decisions, outcomes and lessons each (fixtures/story), lived through with daily and
with weekly consolidation: how many can be read at each level, what drill finds and reads, and what consolidated texts keep.
"""

import argparse
import json
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "fixtures"))
sys.path.insert(0, str(Path(__file__).parent.parent / "fixtures" / "story"))
import story
from timing import BARE, MABOS, compile_package, cpu_seconds
from year import make_year, write_year

from mabos_cli.commands.call import Call
from mabos_cli.core.hierarchy.drill import drill
from mabos_cli.core.language.periods import month_of, quarter_of, week_of
from mabos_cli.core.language.similar import numbers_of
from mabos_cli.services.hierarchy.build import Order, build_hierarchy
from mabos_cli.services.hierarchy.drill import AgentHierarchy

LEVELS = ("weekly", "monthly", "quarterly")


def sections(text: str, *names: str) -> str:
    """The text below some headings of a summary."""
    found, inside = [], False
    for line in text.split("\n"):
        inside = line[3:] in names if line.startswith("## ") else inside and not line.startswith("### ")
        found += [line] if inside else []
    return "\n".join(found)


def periods(day: str) -> list[tuple[str, str]]:
    """The month and the quarter of a day or month, with their folders."""
    return [("monthly", day[:7]), ("quarterly", f"{day[:4]}-Q{(int(day[5:7]) + 2) // 3}")]


def judge(memory: Path, planted: dict) -> None:
    """Prints what of the planted the summaries name, and how large they are."""
    for level in LEVELS:
        sizes = [path.stat().st_size for path in (memory / level).glob("*.md")]
        print(f"{level}: {len(sizes)} files, {statistics.mean(sizes):,.0f} bytes on average, {max(sizes):,} at most")
    read = lambda level, name: (memory / level / f"{name}.md").read_text("utf-8")  # noqa: E731
    themes = [
        theme["key"].casefold().replace("-", " ")
        in sections(read(*place), "Themes", "Strategic Themes").casefold().replace("-", " ")
        for theme in planted["themes"]
        for place in dict.fromkeys(place for month in theme["months"] for place in periods(month))
    ]
    print(f"themes: {sum(themes)} of {len(themes)} (each in its months and quarters)")
    for name, headings in (
        ("decisions", ("Key Decisions",)),
        ("turning_points", ("Milestones", "Key Decisions")),
    ):
        named = [d["id"] in sections(read(*place), *headings) for d in planted[name] for place in periods(d["day"])]
        print(f"{name.replace('_', ' ')}: {sum(named)} of {len(named)} (each in its month and quarter)")


def measure_drill(root: Path, planted: dict) -> None:
    """Prints how often drill reaches the right day, and which share of all bytes it reads."""
    call = Call(workspace=str(root), agent="cfo")
    home, shares, reached, first = call.open_agent(), [], 0, 0
    for fact in planted["facts"]:
        world = AgentHierarchy(call, home)
        descent = drill(world, fact["question"], world.days, width=home.settings["hierarchy.width"])
        days = [c.period.name for step in descent.steps if step.level == "daily" for c in step.children if c.followed]
        reached += fact["day"] in days
        first += bool(descent.finds) and descent.finds[0].day.name == fact["day"]
        shares.append((sum(world.read_from.values()) + sum(world.found.values())) / world.whole()[1])
    print(
        f"drill: {reached} of {len(shares)} facts reached, {first} first; read {100 * statistics.mean(shares):.1f} % "
        f"of the bytes on average, {100 * max(shares):.1f} % at most"
    )


def in_process(root: Path) -> tuple[float, int]:
    """CPU seconds of a build, and how many files it wrote."""
    home = Call(workspace=str(root), agent="cfo").open_agent()
    start = time.process_time()
    built = build_hierarchy(home, Order())
    return time.process_time() - start, len(built.written)


def forget_all(root: Path) -> None:
    shutil.rmtree(root / ".mabos" / "hierarchy", ignore_errors=True)
    for level in LEVELS:
        shutil.rmtree(root / "agents" / "cfo" / "memory" / level, ignore_errors=True)


def measure_builds(root: Path, runs: int) -> None:
    """Prints what a full build, one after a changed day and one with nothing to do cost."""
    day = root / "agents" / "cfo" / "memory" / "2025-06-12.md"
    times: dict[str, list[float]] = {}
    command = [MABOS, "-w", str(root), "hierarchy", "build", "--quiet"]
    for number in range(runs):
        forget_all(root)
        full, wrote = in_process(root)
        with day.open("a") as log:
            log.write(f"\n- Decision: change the day once more, time {number}\n")
        one, changed = in_process(root)
        none, nothing = in_process(root)
        assert (changed, nothing) == (3, 0), "one changed day concerns its week, month and quarter"
        for name, value in (("full", full), ("one day", one), ("nothing", none)):
            times.setdefault(name, []).append(value)
        forget_all(root)
        times.setdefault("full, process", []).append(cpu_seconds(command))
        with day.open("a") as log:
            log.write(f"\n- Decision: and again, time {number}\n")
        times.setdefault("one day, process", []).append(cpu_seconds(command))
        times.setdefault("python -c pass", []).append(cpu_seconds(BARE))
    middle = {name: statistics.median(values) for name, values in times.items()}
    print(f"full build of {wrote} files: {1000 * middle['full']:.0f} ms of CPU time")
    for name in ("one day", "nothing"):
        ratio = statistics.median(f / o for f, o in zip(times["full"], times[name], strict=True))
        print(f"full / {name}: {ratio:.1f}")
    print(
        f"whole processes: full / one day {middle['full, process'] / middle['one day, process']:.1f}; "
        f"one day is {middle['one day, process'] / middle['python -c pass']:.1f} times python -c pass"
    )


def tell(root: Path, name: str, every: int) -> None:
    """Lives through a story, and prints what can be read, found and resolved afterwards."""
    told = story.read_story(name)
    story.live(root, told, every)
    print(f"{name}, consolidated {'daily' if every == 1 else 'weekly'}:")
    for level, name_of in zip(LEVELS, (week_of, month_of, quarter_of), strict=True):
        read = sum(ok for _, ok in story.readable(root, told, level, lambda day, of=name_of: of(day).name))
        sizes = [len(text.encode()) for text in story.summaries(root, level).values()]
        print(f"  {level}: {read} of {len(told.planted)} readable, {statistics.mean(sizes):,.0f} bytes on average")
    counted = sum(
        int(re.search(r"(?m)^entries: (\d+)", text)[1]) for text in story.summaries(root, "quarterly").values()
    )
    print(f"  counted: {counted} of {sum(map(len, told.days.values()))} memories")
    shares, effects, causes = [], 0, 0
    for effect, cause, question in told.questions:
        way = story.run(root, "hierarchy", "drill", question)
        days = [find["day"] for find in way["finds"]]
        effects, causes = effects + (effect in days), causes + (cause in days)
        shares.append((way["read"]["bytes"] + way["read"]["found"]) / way["whole"]["bytes"])
    print(
        f"  drill: {effects} effects and {causes} causes of {len(shares)} found; "
        f"read {100 * statistics.mean(shares):.1f} % of the bytes on average, {100 * max(shares):.1f} % at most"
    )
    print_texts(root)


def print_texts(root: Path) -> None:
    """Prints what the texts of live consolidated items keep of their members."""
    kept, ratios = Counter(), []
    for item, members in story.consolidated(root):
        text, size = item["content"].partition("] ")[2], sum(len(member["content"]) for member in members)
        ratios += [len(text) / size] if len(members) >= 4 else []
        for member in members:
            said = member["content"]
            facts = {"numbers": [number in numbers_of(text) for number in numbers_of(said)]}
            facts["names"] = [name in text for name in story.names_of(said)]
            facts["decisions"] = [said in text] if member["type"] == "decision" else []
            for what, found in facts.items():
                kept.update({what: sum(found), f"{what} of": len(found)})
    shares = ", ".join(f"{kept[what]} of {kept[f'{what} of']} {what}" for what in ("decisions", "numbers", "names"))
    print(f"  consolidated texts keep {shares}; groups of four and more: {statistics.mean(ratios):.2f} of the length")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    compile_package()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "year"
        write_year(root, make_year(seed=options.seed))
        planted = json.loads((root / "planted.json").read_text("utf-8"))
        in_process(root)
        judge(root / "agents" / "cfo" / "memory", planted)
        measure_drill(root, planted)
        measure_builds(root, options.runs)
        for name in ("bakery", "clinic"):
            for every in (1, 7):
                tell(Path(folder) / f"{name}-{every}", name, every)


if __name__ == "__main__":
    main()
