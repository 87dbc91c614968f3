"""The simulated year of fixtures/year.py: the same bytes each time, and what is planted is really there, once."""

import json
import re
import sys
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from mabos_cli.core.language.text import terms, words
from mabos_cli.core.memory.item import TYPES
from mabos_cli.formats.hierarchy.daily_log import parse_log
from mabos_cli.formats.memory.items import parse_archive

FIXTURES = Path(__file__).parent.parent / "fixtures"
sys.path.insert(0, str(FIXTURES))

import year as generator  # noqa: E402

GAP = [f"2025-08-{day}" for day in range(11, 18)]
Told = tuple[str, set[str]]


@pytest.fixture(scope="module")
def made() -> generator.Year:
    """The year as the default seed makes it."""
    return generator.make_year()


@pytest.fixture(scope="module")
def folder(made: generator.Year, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The year as a workspace."""
    place = tmp_path_factory.mktemp("year")
    generator.write_year(place, made)
    return place


@pytest.fixture(scope="module")
def told(made: generator.Year) -> list[Told]:
    """Every entry and every line of a note as its day and its content words, lightly stemmed."""
    return [(day, set(terms(text))) for day, text in texts_of(made)]


def items_of(made: generator.Year) -> list:
    return [item for items in made.days.values() for item in items]


def texts_of(made: generator.Year) -> list[tuple[str, str]]:
    """Every entry and every line of a note, with its day."""
    entries = [(day, item.content) for day, items in made.days.items() for item in items]
    return entries + [(day, line) for day, note in made.notes.items() for line in note.split("\n") if line]


def render_all(made: generator.Year) -> str:
    return "".join(generator.render_day(made, day) for day in sorted({*made.days, *made.notes}))


def test_same_seed_same_year(made: generator.Year) -> None:
    assert generator.make_year() == made


def test_other_seed_without_plan(made: generator.Year) -> None:
    other = generator.make_year(seed=2, planted=False)
    assert [item.content for item in items_of(other)[:50]] != [item.content for item in items_of(made)[:50]]
    assert not (other.themes or other.decisions or other.turning_points or other.facts)
    assert len(other.days) > 340


def test_volume(made: generator.Year) -> None:
    assert 1_300_000 <= len(render_all(made).encode()) <= 1_800_000
    assert 300 <= len(made.days) <= 350
    for day, items in made.days.items():
        if date.fromisoformat(day).weekday() > 4:
            assert len(items) <= 6, day
        elif not "2025-07-16" <= day <= "2025-07-31" and day[5:] not in generator.HOLIDAYS:
            assert 8 <= len(items) <= 36, day


def test_days_and_gaps(made: generator.Year) -> None:
    days = sorted({*made.days, *made.notes})
    assert all(day.startswith("2025-") for day in days)
    assert list(made.days) == sorted(made.days)
    assert not set(GAP) & set(days)
    by_week = Counter(map(generator.week_of, days))
    assert "2025-W33" not in by_week
    assert (by_week["2025-W21"], by_week["2025-W52"]) == (1, 1)
    assert sum(len(made.days.get(f"2025-07-{n}", ())) for n in range(16, 32)) < 40
    assert len(set(made.notes) - set(made.days)) >= 4
    assert 1 / 8 < len(made.notes) / len(days) < 1 / 5


def test_entries(made: generator.Year) -> None:
    items = items_of(made)
    ids = [item.id for item in items]
    assert ids == sorted(set(ids))
    assert {item.type for item in items} == set(TYPES)
    assert {item.source for item in items} == {"manual", "tool:mail", "tool:ci", "bdi-cycle"}
    assert 0.5 < sum(bool(item.tags) for item in items) / len(items) < 0.7
    assert all("08:00" <= item.created_at[11:16] < "19:00" and len(item.tags) <= 3 for item in items)
    planted = {record["id"] for record in (*made.decisions, *made.turning_points)}
    assert max(item.importance for item in items if item.id not in planted) <= 0.8
    assert not [text for _, text in texts_of(made) if set("{}[]|<>") & set(text)]


def test_themes(made: generator.Year) -> None:
    assert Counter(theme["origin"] for theme in made.themes) == {"tag": 9, "phrase": 12, "heading": 6}
    per_month = Counter(month for theme in made.themes for month in theme["months"])
    assert len(per_month) == 12 and set(per_month.values()) <= {2, 3}
    assert sum(len(theme["months"]) > 1 for theme in made.themes) == 6
    for theme in made.themes:
        assert len(theme["quarters"]) == 1
        for month, amount in theme["entries_per_month"].items():
            weeks = {generator.week_of(day) for day in theme["days"] if day.startswith(month)}
            assert 8 <= amount <= 20 and len(weeks) >= 2, theme["key"]


def test_themes_show_only_where_they_are_planted(made: generator.Year) -> None:
    texts = [(day, text.casefold()) for day, text in texts_of(made)]
    for theme in made.themes:
        key = theme["key"]
        if theme["origin"] == "tag":
            days = [item.created_at[:10] for item in items_of(made) if key in item.tags]
            assert not [text for _, text in texts if key.replace("-", " ") in text]
        elif theme["origin"] == "phrase":
            days = [day for day, text in texts if key in text]
        else:
            days = [day for day, text in texts if re.search(f"^##.* {key}$", text)]
            assert not [text for _, text in texts if key in text and not text.startswith("#")]
        assert sorted(set(days)) == theme["days"], key
        if theme["origin"] != "heading":
            assert Counter(day[:7] for day in days) == theme["entries_per_month"]


def test_decisions_and_turning_points(made: generator.Year) -> None:
    found = {item.id: item for item in items_of(made)}
    assert len(made.decisions) == 30 and 10 <= len(made.turning_points) <= 12
    assert set(Counter(record["day"][:7] for record in made.decisions).values()) == {2, 3}
    for record in made.decisions:
        item = found[record["id"]]
        assert (item.type, item.content) == ("decision", record["text"])
        assert 0.85 <= item.importance <= 0.95 and 60 <= len(item.content) <= 140
    for record in made.turning_points:
        assert found[record["id"]].type in ("outcome", "event")
        assert found[record["id"]].importance >= 0.8


def test_facts_are_spread_and_ordinary(made: generator.Year) -> None:
    found = {item.id: item for item in items_of(made)}
    days = [date.fromisoformat(fact["day"]) for fact in made.facts]
    assert len(made.facts) == 40 and len({fact["day"] for fact in made.facts}) == 40
    assert {day.month for day in days} == set(range(1, 13))
    assert {day.weekday() for day in days} == set(range(7))
    traits = Counter(trait for fact in made.facts for trait in fact["traits"])
    assert (traits["note"], traits["rare"], traits["time"]) == (4, 6, 8) and traits["entity"] >= 10
    inside = [found[fact["id"]] for fact in made.facts if fact["id"]]
    assert all(0.35 <= item.importance <= 0.65 for item in inside)
    assert len(inside) == 36 and sum(bool(item.tags) for item in inside) == 20


def test_a_fact_has_one_right_day(made: generator.Year, told: list[Told]) -> None:
    for fact in made.facts:
        content = set(terms(fact["text"]))
        alike = [day for day, other in told if len(content & other) > len(content) / 2]
        assert alike == [fact["day"]], fact["text"]


def test_questions_paraphrase(made: generator.Year, told: list[Told]) -> None:
    for fact in made.facts:
        shared = set(terms(fact["question"])) & set(terms(fact["text"]))
        if "rare" in fact["traits"]:
            assert len(shared) == 1, (fact["question"], shared)
            assert [day for day, other in told if shared <= other] == [fact["day"]], shared
        else:
            assert 2 <= len(shared) <= 4, (fact["question"], shared)
        asked, text = words(fact["question"]), " ".join(words(fact["text"]))
        assert not [n for n in range(len(asked) - 3) if " ".join(asked[n : n + 4]) in text], fact["question"]
        if "entity" in fact["traits"]:
            days = [{day for day, other in told if word in other} for word in shared]
            assert max(map(len, days)) > 5, fact["question"]


def test_files(made: generator.Year, folder: Path) -> None:
    memory = folder / "agents" / "cfo" / "memory"
    truth = json.loads((folder / "planted.json").read_text("utf-8"))
    assert (truth["year"], truth["agent"], truth["themes"]) == (2025, "cfo", made.themes)
    for record in (*truth["decisions"], *truth["turning_points"], *truth["facts"]):
        log = (memory / f"{record['day']}.md").read_text("utf-8")
        assert record["text"] in log and f"^{record['id']}" in log
    for day, items in made.days.items():
        if day.endswith(("-03", "-24")):  # some days are enough: parsing all takes long
            entries = parse_log((memory / f"{day}.md").read_text("utf-8"))
            assert [entry.id for entry in entries] == [item.id for item in items]
            assert [entry.content for entry in entries] == [item.content for item in items]


def test_every_id_leads_to_the_archive(made: generator.Year, folder: Path) -> None:
    archived = []
    for path in sorted((folder / "agents" / "cfo" / "archive").glob("*.jsonl")):
        departures, skipped = parse_archive(path.read_bytes(), path.name)
        assert not skipped and all(one.at[:7] == path.stem for one in departures)
        archived += [one.item for one in departures]
    assert archived == items_of(made)
