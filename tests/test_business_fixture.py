"""The business of fixtures/business: its README is true, and every command leaves the minds as they are."""

import json
import re
import shutil
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from commands.desk import Desk

BUSINESS = Path(__file__).parent.parent / "fixtures" / "business"
AGENTS = sorted(path.name for path in (BUSINESS / "agents").iterdir())
README = (BUSINESS / "README.md").read_text("utf-8")
TODAY = date(2026, 2, 24)
COGNITIVE = "Persona Capabilities Beliefs Desires Goals Intentions Plans Commitments Learnings Memory".split()
PATIENCE = {"open-minded": timedelta(7), "cautious": timedelta(3), "single-minded": None, "blind": None}
DERIVED = "cfo/memory/mabos-memory-items.md"
WORDS = {"Critical": 0.95, "High": 0.8, "Medium": 0.5, "Low": 0.2}

_PLACE = re.compile(r'`([\w/.-]+\.md):(\d+)` "([^"]+)"')
_INTENTION = re.compile(r"(?:### |## |\| |-\s+|\d+\. )(?:\[[ x]\] )?(?:\*\*)?(I-[A-Z]+-\d{3})\b")


class Place(NamedTuple):
    """A line of an agent's file that the README cites, with what stands there."""

    path: str
    line: int
    words: str


class Intention(NamedTuple):
    """An intention as it stands in a file: where it begins, and all of its lines."""

    agent: str
    line: int
    text: str

    def mark(self, name: str) -> date | None:
        """The date of `[deadline: ...]` or `[updated: ...]`, or of the last two cells of a plain table;
        what was only started was updated then."""
        found = re.search(rf"\[{name}: ([\d-]+)\]", self.text)
        plain = re.search(r"\| active \| ([\d-]+) \| ([\d-]+) \|", self.text)
        started = re.search(r"\*\*Started:\*\* ([\d-]+)", self.text) if name == "updated" else None
        given = found[1] if found else plain[1 + (name == "updated")] if plain else started[1] if started else None
        return date.fromisoformat(given) if given else None

    @property
    def is_active(self) -> bool:
        return bool(re.search(r"status: active|\| active \||Status:\*\* executing", self.text))


def read(path: str) -> str:
    return (BUSINESS / "agents" / path).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")


def line_of(place: Place) -> str:
    return read(place.path).split("\n")[place.line - 1]


def places(text: str) -> list[Place]:
    return [Place(path, int(line), words) for path, line, words in _PLACE.findall(text)]


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading of the README, without its header."""
    section = README.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    table = [line for line in section.split("\n") if line.startswith("|")]
    assert len(table) > 2, heading
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def cited(heading: str) -> set[tuple[str, int]]:
    """Agent and line of the first place of every row."""
    first = [places(row[0])[0] for row in rows(heading)]
    assert {place.path.split("/")[1] for place in first} == {"Intentions.md"}
    return {(place.path.split("/")[0], place.line) for place in first}


def prose(text: str) -> str:
    """The text with blanks for whatever is a comment, a fence or indented code; lines stay where they are."""
    for hidden in (r"(?s)<!--.*?-->", r"(?ms)^( *)```.*?^\1```$", r"(?m)^(?:\t| {4}(?! *[-*] )).*$"):
        text = re.sub(hidden, lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return text


def shape_of(text: str) -> str:
    """What a file is made of, in the letters of the README."""
    kinds = {"## ": "s", "### ": "b", r"\|": "t", r"[-*]\s": "l", r"\d+\. ": "n"}
    lines = [line for line in prose(text).split("\n") if line.strip() and not re.match(r"# |>|---", line)]
    found = {next((kind for mark, kind in kinds.items() if re.match(mark, line.strip())), "p") for line in lines}
    return "".join(kind for kind in "tsblnp" if kind in found) or "-"


def strategy_of(agent: str) -> str:
    return json.loads(read(f"{agent}/agent.json"))["bdi"]["commitmentStrategy"]


def intentions() -> Iterator[Intention]:
    for agent in AGENTS:
        lines = prose(read(f"{agent}/Intentions.md")).split("\n")
        starts = [n for n, line in enumerate(lines) if _INTENTION.match(line) or line.startswith("## ")]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            if _INTENTION.match(lines[start]):
                yield Intention(agent, start + 1, "\n".join(lines[start:end]))


def belief_at(place: Place) -> str:
    """All that a belief says: its row, or its section."""
    lines = prose(read(place.path)).split("\n")
    here = lines[place.line - 1]
    if here.startswith("|"):
        return here
    assert here.startswith("## ")
    end = next((n for n in range(place.line, len(lines)) if lines[n].startswith("## ")), len(lines))
    return "\n".join(lines[place.line - 1 : end])


# What the README says


def test_every_place_is_where_the_readme_says() -> None:
    found = places(README)
    assert len(found) > 100
    assert len(found) == len(re.findall(r"\.md:\d+`", README)), "a place without its words"
    wrong = [place for place in found if place.words not in line_of(place)]
    assert not wrong


def test_agents_and_shapes() -> None:
    told = {row[0]: row[1:] for row in rows("Agents and shapes")}
    assert sorted(told) == AGENTS and len(AGENTS) == 13
    for agent, (strategy, *shapes, also) in told.items():
        folder = BUSINESS / "agents" / agent
        assert json.loads(read(f"{agent}/agent.json"))["id"] == agent
        assert strategy == strategy_of(agent)
        assert shapes == [shape_of(read(f"{agent}/{name}.md")) for name in COGNITIVE], agent
        more = {path.name for path in folder.glob("*.*")} - {f"{name}.md" for name in COGNITIVE}
        logs = len([*(folder / "memory").glob("2*.md")])
        counted = [f"{logs} log{'s' * (logs > 1)}"] if logs else []
        assert [name for name in also.split(", ") if name] == [*sorted(more - {"agent.json"}), *counted]
        assert not (folder / "MEMORY.md").exists(), "one file with Memory.md on some disks"
    assert {strategy_of(agent) for agent in AGENTS} == set(PATIENCE)


def test_size() -> None:
    assert sum(path.stat().st_size for path in BUSINESS.rglob("*") if path.is_file()) < 250_000


def test_conflicts_are_between_certain_beliefs() -> None:
    told = rows("Planted conflicts")
    assert {row[0] for row in told} == {*AGENTS} - {"hr"}
    for agent, one, certainty, updated, another, other_certainty, other_updated, _ in told:
        pair = [places(one)[0], places(another)[0]]
        assert pair[0] != pair[1] and {place.path for place in pair} == {f"{agent}/Beliefs.md"}
        for place, sure, day in zip(pair, (certainty, other_certainty), (updated, other_updated), strict=True):
            text = belief_at(place)
            assert float(sure) > 0.6
            assert re.search(rf"(?m)(?:^Certainty: {sure}$|\| {sure} \|)", text), place
            assert re.search(rf"(?:\[updated: {day}\]|\| {day}(?: \||$))", text), place


def test_decoys_are_no_conflicts() -> None:
    planted = {frozenset(places(row[1] + row[4])) for row in rows("Planted conflicts")}
    decoys = {frozenset(places(row[0] + row[1])) for row in rows("Not conflicts")}
    assert len(decoys) >= 10 and not planted & decoys


def test_a_conflict_spans_two_chunks() -> None:
    headings = re.findall(r"(?m)^## (.*)$", read("knowledge/Beliefs.md"))
    assert len(headings) == 58
    assert [n for n, title in enumerate(headings, 1) if title == "Doors at Ostetal"] == [4, 57]


def test_overdue() -> None:
    found = {(i.agent, i.line) for i in intentions() if i.is_active and (i.mark("deadline") or TODAY) < TODAY}
    assert found == cited("Overdue on 2026-02-24")
    for place, deadline in rows("Overdue on 2026-02-24"):
        (one,) = [i for i in intentions() if (f"{i.agent}/Intentions.md", i.line) == places(place)[0][:2]]
        assert one.mark("deadline") == date.fromisoformat(deadline)


def test_stale() -> None:
    found = {}
    for one in intentions():
        patience, updated = PATIENCE[strategy_of(one.agent)], one.mark("updated")
        overdue = (one.mark("deadline") or TODAY) < TODAY
        if one.is_active and not overdue and patience and updated and TODAY - updated > patience:
            found[one.agent, one.line] = [updated.isoformat(), str((TODAY - updated).days)]
    assert found.keys() == cited("Stale on 2026-02-24")
    assert {tuple(row[1:]) for row in rows("Stale on 2026-02-24")} == {*map(tuple, found.values())}


def test_close_calls() -> None:
    by_id = {_INTENTION.match(one.text)[1]: one for one in intentions()}
    age = {name: (TODAY - one.mark("updated")).days for name, one in by_id.items() if one.mark("updated")}
    for place, why in rows("Neither, but close"):
        name = places(place)[0].words
        days = re.match(r"(?:exactly )?(\d+) days old, (?:but )?(\S+)$", why)
        if days:
            assert age[name] == int(days[1]) and strategy_of(by_id[name].agent) == days[2]
        elif why.startswith(("inside", "indented")):
            assert name not in by_id
    assert by_id["I-COO-003"].mark("deadline") == TODAY
    assert not by_id["I-COO-004"].is_active
    assert not cited("Neither, but close") & (cited("Overdue on 2026-02-24") | cited("Stale on 2026-02-24"))


def test_goals_that_are_gone() -> None:
    found = cited("Intentions whose goal is gone")
    gone = {_INTENTION.match(i.text)[1] for i in intentions() if i.is_active and (i.agent, i.line) in found}
    assert gone == {"I-CTO-003", "I-SAL-003", "I-STR-003"}
    assert "G-STR-T2" in read("strategy/Intentions.md")
    goal = read("strategy/Goals.md").partition("G-STR-T2")[2].partition("### ")[0]
    assert "**Desire:** D-STR-004" in goal


def test_desires_are_out_of_order() -> None:
    """All but one agent's: within a group of a table, or from section to section."""
    sorted_ones = []
    for agent in AGENTS:
        groups = []
        for group in read(f"{agent}/Desires.md").split("\n## "):
            cells = [word for word in re.findall(r"\| ([\w.]+) (?=\|)", group) if word in WORDS]
            groups.append([WORDS[word] for word in cells])
        text = read(f"{agent}/Desires.md")
        numbers = re.findall(r"(?m)^priority: ([\d.]+)|^\| D-LEG.*\| (0\.\d+) \|", text)
        values = [[float(a or b) for a, b in numbers]] if numbers else groups
        if all(group == sorted(group, reverse=True) for group in values):
            sorted_ones.append(agent)
    assert sorted_ones == ["knowledge"]


def test_odd_bytes() -> None:
    data = {f"{path.parent.name}/{path.name}": path.read_bytes() for path in BUSINESS.glob("agents/*/*.md")}
    assert [name for name in data if b"\r" in data[name]] == ["support/Beliefs.md"]
    assert data["support/Beliefs.md"].count(b"\r\n") == data["support/Beliefs.md"].count(b"\n")
    assert [name for name in data if data[name].startswith(b"\xef\xbb\xbf")] == ["compliance/Beliefs.md"]
    assert [name for name in data if not data[name]] == ["hr/Learnings.md"]
    assert [name for name in data if data[name] and not data[name].endswith(b"\n")] == ["ontology/Desires.md"]
    assert data["ontology/Commitments.md"] == b"# Commitments\n"
    assert data["legal/Memory.md"].endswith(b"  \n \n")
    assert {name for name in data if b"\t" in data[name]} == {"hr/Capabilities.md", "support/Intentions.md"}
    escaped = {name for name in data if name.endswith("Beliefs.md") and b"\\|" in data[name]}
    assert escaped == {"ceo/Beliefs.md", "coo/Beliefs.md", "legal/Beliefs.md"}
    assert "* -text\n" in (BUSINESS / ".gitattributes").read_text()


# What the commands do


class Office(Desk):
    """A copy of the business."""

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(BUSINESS, root)

    def files(self) -> dict[str, bytes]:
        """Every file below agents/, by its path there."""
        below = self.root / "agents"
        return {path.relative_to(below).as_posix(): path.read_bytes() for path in below.rglob("*") if path.is_file()}


@pytest.fixture
def office(still_world: None, quick: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    monkeypatch.setenv("MABOS_INDEX_VECTORS", "lexical")
    return Office(quick / "business")


def test_agent_list(office: Office) -> None:
    said = office.run("agent", "list", "--json")
    assert [row["id"] for row in said.data["agents"]] == AGENTS
    assert said.warnings == []
    assert {row["id"]: row["role"] for row in said.data["agents"]}["coo"] == ""


def test_cited_lines_can_be_read(office: Office) -> None:
    for place in places(README):
        agent, _, name = place.path.partition("/")
        said = office.run("read", f"{name}:{place.line}", "-a", agent)
        assert said.code == 0 and place.words in said.stdout, place


def test_the_store_of_the_other_program_is_read(office: Office) -> None:
    status = office.run("status", "-a", "cfo", "--json").data
    assert "M-1771002000000-aa07" in office.run("recall", "Pagel receivables", "-a", "cfo", "--json").refs
    assert status["stores"] == {"working": 1, "short_term": 2, "long_term": 3}
    assert office.run("get", "M-1771002000000-aa07", "-a", "cfo", "--json").data["item"]["embedding_id"]


@pytest.mark.parametrize("agent", AGENTS)
def test_no_command_touches_a_mind(agent: str, office: Office) -> None:
    before = office.files()
    heading = re.search(r"(?m)^(?:## |\| B[\w-]+ \| )([^|\n]+)", read(f"{agent}/Beliefs.md"))[1].strip()
    shown = office.run("agent", "show", agent, "--json").data
    assert shown["manifest"] == json.loads(read(f"{agent}/agent.json"))
    assert {f"{name}.md" for name in COGNITIVE} <= set(shown["files"])
    for words in (["status"], ["index", "sync"], ["recall", heading], ["recall", heading, "--depth", "2"]):
        said = office.run(*words, "-a", agent, "--json")
        assert said.code == 0 and not said.warnings, said
    assert any(ref.startswith("Beliefs.md:") for ref in said.refs), said.refs
    assert office.files() == before, "reading changed something"
    found = office.run("doctor", "-a", agent, "--json").data
    assert "problem" not in {finding["level"] for finding in found["findings"]}
    built = office.run("hierarchy", "build", "-a", agent, "--json").data["written"]
    assert bool(built) == bool([name for name in before if re.match(rf"{agent}/memory/2.*\.md", name)])
    assert office.run("materialize", "-a", agent, "--json").code == 0
    assert office.run("index", "sync", "-a", agent).code == 0
    after = office.files()
    changed = {name for name in before if after.get(name) != before[name]}
    assert changed == ({DERIVED} if agent == "cfo" else set())
    new = {name.split("/")[:3][-1] for name in after.keys() - before.keys()}
    assert new <= {"weekly", "monthly", "quarterly", "archive", "mabos-beliefs.md", "domains", "INDEX.md"}
    if changed:  # the other program's version of a derived file is set aside, not lost
        assert before[DERIVED] in after.values()
