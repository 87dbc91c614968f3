from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.hierarchy.drill import Trace, best_line, drill, match_terms, trace_of
from mabos_cli.core.hierarchy.log_event import LogEvent
from mabos_cli.core.language.periods import parse_period
from mabos_cli.core.language.text import stem, words
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.search.recall import Candidate, Hit

quick = settings(deadline=None, derandomize=True)
LEVELS = ["quarterly", "monthly", "weekly", "daily"]


class Shelf:
    """A HierarchyReader in dicts: logs by day, summaries by name, and a search that knows what each question finds."""

    def __init__(self, logs, summaries=None, finds=None):
        self.logs, self.summaries, self.finds = logs, summaries or {}, finds or {}
        self.days = [date.fromisoformat(day) for day in sorted(logs)]
        self.loaded, self.asked = [], []

    def read(self, period):
        self.loaded.append(period.name)
        return self.summaries.get(period.name) or "\n".join(self.logs.get(period.name, ()))

    def glance(self, period):
        return self.summaries.get(period.name, "")

    def events(self, day):
        return [LogEvent(day.name, n, text, id=f"M-{n}") for n, text in enumerate(self.logs[day.name], 1)]

    def ask(self, question):
        return self._traces(question)

    def follow(self, question, asked):
        self.asked.append(list(asked))
        return [t for word in asked for t in self._traces(word)]

    def holders(self, asked):
        held = [set(words(text)) for text in (*self.summaries.values(), *map("\n".join, self.logs.values()))]
        return {word: sum(word in there for there in held) for word in asked}

    def _traces(self, words):
        found = self.finds.get(words, ())
        spans = [(parse_period(name), score) for name, score in found]
        return [Trace(f"{p.name}", p.first, p.last, score) for p, score in spans]


def followed(descent):
    return [[c.period.name for c in step.children if c.followed] for step in descent.steps]


LOGS = {
    "2025-11-03": ["The berth price stays", "Nothing else"],
    "2026-02-24": ["We raised the berth price", "Storm came", "Ines ate soup"],
    "2026-02-25": ["Storm went"],
    "2026-03-01": ["The storm broke a window"],
}
FINDS = {"storm window": [("2026-03-01", 1.0), ("2026-02-24", 0.4)]}


def test_the_way_leads_down_to_the_line():
    descent = drill(shelf := Shelf(LOGS, finds=FINDS), "storm window", shelf.days)
    assert [step.level for step in descent.steps] == LEVELS
    assert followed(descent) == [["2026-Q1"], ["2026-03"], ["2026-W09"], ["2026-03-01"]]
    assert (descent.finds[0].event.text, descent.finds[0].event.line) == ("The storm broke a window", 1)
    assert descent.finds[0].matched == ("storm", "window")


def test_a_week_across_months_is_entered_for_the_days_within():
    """The way went into March: of week 9 only its Sunday lies there."""
    descent = drill(shelf := Shelf(LOGS, finds=FINDS), "storm window", shelf.days)
    assert [c.period.name for c in descent.steps[-1].children] == ["2026-03-01"]


def test_only_nodes_that_are_followed_are_read():
    drill(shelf := Shelf(LOGS, finds=FINDS), "storm window", shelf.days)
    assert "2025-Q4" not in shelf.loaded and "2025-11-03" not in shelf.loaded


def test_without_any_find_the_summaries_lead():
    told = {"2026-Q1": "A storm", "2026-02": "A storm", "2026-W09": "A storm", "2025-Q4": "Prices"}
    descent = drill(shelf := Shelf(LOGS, told), "storm", shelf.days, width=1)
    assert followed(descent) == [["2026-Q1"], ["2026-02"], ["2026-W09"], ["2026-02-24"]]
    assert descent.steps[0].children[0].line == "A storm"


def test_without_summaries_finds_lead():
    descent = drill(shelf := Shelf(LOGS, finds=FINDS), "storm window", shelf.days)
    assert descent.finds and all(not c.line for step in descent.steps[:3] for c in step.children)


def test_a_time_that_is_named_leads():
    finds = {"price in November": [("2025-11-03", 0.5), ("2026-02-24", 0.5)]}
    descent = drill(shelf := Shelf(LOGS, finds=finds), "price in November", shelf.days, width=1)
    assert followed(descent)[-1] == ["2025-11-03"]
    assert dict(descent.steps[1].children[0].signals)["named"] == 1.0


@pytest.mark.parametrize("width", [1, 2, 20])
def test_no_more_than_width_nodes_are_followed(width):
    finds = {"storm": [(day, 1.0) for day in LOGS]}
    descent = drill(shelf := Shelf(LOGS, finds=finds), "storm", shelf.days, width=width)
    assert all(1 <= len(names) <= width for names in followed(descent))
    assert len(followed(descent)[-1]) == min(width, 4)


def test_far_worse_nodes_are_not_followed():
    finds = {"storm": [("2026-02-24", 1.0), ("2025-11-03", 0.1)]}
    descent = drill(shelf := Shelf(LOGS, finds=finds), "storm", shelf.days, width=9)
    assert followed(descent)[0] == ["2026-Q1"]


def test_every_node_followed_below_has_a_followed_parent():
    finds = {"storm": [(day, 1.0) for day in LOGS]}
    descent = drill(shelf := Shelf(LOGS, finds=finds), "storm", shelf.days, width=2)
    above = {""}
    for step in descent.steps:
        assert {c.parent for c in step.children} <= above
        above = {c.period.name for c in step.children if c.followed}


def test_rare_words_on_the_way_are_asked_for_once():
    told = {"2026-Q1": "The storm broke the Klintholm jetty", "2026-03": "Klintholm again, storm"}
    finds = FINDS | {"klintholm": [("2026-03-01", 0.9)]}
    descent = drill(shelf := Shelf(LOGS, told, finds), "storm window", shelf.days)
    assert "klintholm" in descent.steps[0].refined
    assert all("klintholm" not in step.refined for step in descent.steps[1:])
    assert shelf.asked[0][:2] == ["storm", "window"]


def test_the_limit_is_kept_and_the_best_come_first():
    logs = {"2026-02-24": [f"storm {n}" for n in range(9)]}
    finds = {"storm": [("2026-02-24", 1.0)]}
    found = drill(shelf := Shelf(logs, finds=finds), "storm", shelf.days, limit=4).finds
    assert [find.event.line for find in found] == [1, 2, 3, 4]
    assert [find.score for find in found] == sorted((find.score for find in found), reverse=True)


@pytest.mark.parametrize("question", ["", " ", "?", "the of and", "\x00", "🚀", "nowhere to be found"])
def test_odd_questions_find_nothing_and_do_no_harm(question):
    shelf = Shelf(LOGS)
    assert drill(shelf, question, shelf.days).finds == ()
    assert drill(Shelf({}), question, []) == ((), ())


def test_a_question_without_spaces_matches_what_is_told():
    shelf = Shelf({"2026-02-24": ["東京都の価格を上げた"]}, finds={"東京都の価格": [("2026-02-24", 0.5)]})
    [find] = drill(shelf, "東京都の価格", shelf.days).finds
    assert find.matched


def test_terms_are_matched_by_their_stems_and_weighed():
    weights = {stem("prices"): 3.0, stem("berths"): 1.0}
    assert match_terms("The price of a berth", weights) == (1.0, ("price", "berth"))
    assert match_terms("Pricing", weights) == (0.75, ("pricing",))
    assert match_terms("", weights) == (0.0, ()) == match_terms("price", {})


def test_the_best_line_is_none_of_the_front_matter():
    head = '---\nhash: "storm"\nsources: ["storm"]\n---\n# storm\n<!-- storm -->\n'
    text = f"{head}- a storm\n- storm and window"
    weights = {"storm": 1.0, "window": 1.0}
    assert best_line(text, weights) == ("storm and window", ("storm", "window"))
    assert best_line(text, {"absent": 1.0}) == ("", ())


spans = st.sampled_from(sorted(LOGS)) | st.sampled_from(("2026-Q1", "2026-02", "2026-W09", "2025-11"))
finds = st.lists(st.tuples(spans, st.floats(0, 1)), max_size=6)


@quick
@given(finds, st.sampled_from(("storm", "berth price in March 2026", "x")), st.integers(1, 3))
def test_any_find_gives_an_ordered_way(found, question, width):
    shelf = Shelf(LOGS, finds={question: found})
    descent = drill(shelf, question, shelf.days, width=width)
    assert [step.level for step in descent.steps] == LEVELS[: len(descent.steps)]
    for step in descent.steps:
        scores = [c.score for c in step.children]
        assert scores == sorted(scores, reverse=True) and sum(c.followed for c in step.children) <= width
    days = {name for names in followed(descent)[3:] for name in names}
    assert all(find.day.name in days and find.score > 0 for find in descent.finds)


@pytest.mark.parametrize(
    ("candidate", "first", "last"),
    [
        (
            Candidate("t", 0.5, "", MemoryItem("M-1", "t", created_at="2026-02-24T09:00:00.000Z")),
            "2026-02-24",
            "2026-02-24",
        ),
        (Candidate("t", 0.5, "", path="memory/2026-02-24.md", lines=(3, 4)), "2026-02-24", "2026-02-24"),
        (
            Candidate("t", 0.5, "", path="memory/archive/2026/2026-01-02.md", lines=(1, 1)),
            "2026-01-02",
            "2026-01-02",
        ),
        (Candidate("t", 0.5, "", path="memory/monthly/2026-02.md", lines=(1, 9)), "2026-02-01", "2026-02-28"),
    ],
)
def test_a_hit_leads_to_a_day_or_a_period(candidate, first, last):
    found = trace_of(Hit(candidate, 0.7, 0.7))
    assert found and (found.first.isoformat(), found.last.isoformat()) == (first, last)


@pytest.mark.parametrize("path", ["MEMORY.md", "memory/INDEX.md", "memory/monthly/notes.md"])
def test_a_hit_in_another_file_leads_nowhere(path):
    assert trace_of(Hit(Candidate("t", 0.5, "", path=path, lines=(1, 1)), 0.7, 0.7)) is None


def test_a_question_for_a_reason_leads_to_what_came_before():
    logs = {
        "2026-02-10": ["The driver was ill, so Orlik got its rolls late", "Flour came"],
        "2026-02-20": ["Orlik cancelled its rolls after the late delivery"],
        "2026-02-24": ["Orlik got a late cake"],
    }
    finds = {
        "why did Orlik cancel": [("2026-02-20", 1.0)],
        "rolls": [("2026-02-24", 0.9), ("2026-02-10", 0.8)],
    }
    descent = drill(shelf := Shelf(logs, finds=finds), "why did Orlik cancel", shelf.days)
    assert [(f.day.name, f.is_cause) for f in descent.finds] == [("2026-02-20", False), ("2026-02-10", True)]
    plain = drill(shelf := Shelf(logs, finds={"Orlik": [("2026-02-20", 1.0)]}), "Orlik", shelf.days)
    assert not any(find.is_cause for find in plain.finds)


def test_what_consolidation_wrote_is_no_find():
    shelf = Shelf(LOGS, finds=FINDS)
    told = shelf.events
    shelf.events = lambda day: [event._replace(source="consolidation") for event in told(day)]
    assert drill(shelf, "storm window", shelf.days).finds == ()
