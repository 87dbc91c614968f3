"""Records of every type that is mirrored, with texts that would break a query if they were not quoted, and the world they are in."""

from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random

from mabos_cli.core.knowledge.case import Case, KeptResult
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.rule import Pattern, Rule
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.mind.mind import Attitude, Belief, Step
from mabos_cli.core.mirror.fact_records import fact_record
from mabos_cli.core.mirror.mind_records import AgentMind, linked_records, mind_records
from mabos_cli.core.mirror.records import (
    Record,
    agent_record,
    case_record,
    memory_records,
    result_records,
    rule_record,
)

NOW = datetime(2026, 2, 24, 12, tzinfo=UTC)
NASTY = (
    '"; delete $e; #',
    "it's \\ \\n 'quoted' \"twice\"",
    "line\nbreak\r\nand\ttab \x00\x07\x1b\x7f\x85\u2028",
    "emoji 😀 森電機 e\u0301 \u202eevil",
    "# no comment $x isa goal; { } [ ] @key ..",
    "\\",
    "\\u0041 \\u{1F600} \\x",
)


def fuzzed(count: int) -> Iterator[str]:
    """Texts of odd characters, always the same."""
    chance = Random(8)
    odd = "\"'\\#$;{}()[],:.@nutrbf0aA \t\r\n\0\b\f\x1b\x7f\x85\u00a0\u2028\ufeff\ufffd\uffff😀森é\u0301\U0010ffff"
    for number in range(count):
        wide = [chr(chance.choice((chance.randrange(0xD800), chance.randrange(0xE000, 0x110000)))) for _ in range(4)]
        yield "".join(chance.choices([*odd, *wide], k=number % 40))


CEO = AgentMind(
    "ceo",
    [Belief("Market", "Grows", 0.9, id="B-001", supports=("G-1", "G-2"), updated="2026-02-01")],
    [Attitude("desire", "D-1", "Grow", priority=0.8, links={"motivates": ("G-1",)})],
    [
        Attitude(
            "goal",
            "G-1",
            "Reach 2.4 M",
            status="active",
            progress=77.0,
            deadline="2026-12-31",
            level="strategic",
        ),
        Attitude(
            "goal",
            "G-2",
            "Sign",
            status="active",
            progress=85.0,
            deadline="2026-02-20",
            links={"parent": ("G-1",)},
        ),
        Attitude("goal", "G-3", "Hire", status="Stalled (2026-02-01: no budget)", level="tactical"),
        Attitude("goal", "G-4", "Move", status="done", deadline="2026-01-01"),
        Attitude("goal", "G-5", "Report", status="active", progress=100.0, deadline="2026-01-01"),
        Attitude("goal", "G-6", "Today", status="active", deadline="2026-02-24"),
    ],
)
CFO = AgentMind(
    "cfo",
    [
        Belief("Rate", NASTY[0], 0.7, id="B-001", supports=("G-9", "G-1", "G-0")),
        Belief("Rate", "falls", 0.4, id="B-002", supports=("G-9",), status="retired"),
        Belief("Nameless", NASTY[2]),
    ],
    [Attitude("desire", "D-1", NASTY[1]), Attitude("desire", "D-2", "Calm", status="dropped")],
    [
        Attitude("goal", "G-9", NASTY[3], status="open", links={"desire": ("D-1",), "requires": ("PL-1",)}),
        Attitude("goal", "G-8", "Audit"),
    ],
    [
        Attitude(
            "plan",
            "PL-1",
            "Hedge",
            steps=(
                Step("S-1", NASTY[4], True, "done", 3),
                Step("S-2", "Ask, after S-1", None, "", 4),
                Step("", "Sign", False, "", 5),
            ),
        ),
        Attitude("plan", "PL-2", "Close", links={"goal": ("G-9", "G-8")}),
    ],
    [
        Attitude("intention", "I-1", "Hedge now", status="active", links={"goal": ("G-9",), "plan": ("PL-1",)}),
        Attitude("intention", "I-2", "Close books", links={"plan": ("PL-2",)}),
        Attitude("intention", "I-3", "Other"),
    ],
)


def known(agent: str, text: str) -> list[Record]:
    """A memory item, a fact, a rule, a case, and results with their methods."""
    times = {
        "created_at": "2026-02-24T10:00:00.123Z",
        "observed_at": "2026-02-23",
        "expires_at": "2027-01-01T00:00:00Z",
    }
    item = MemoryItem("M-1-000a", text, tags=("b", "a", text), derived_from=("M-0-0000",), author=text, **times)
    fact = Fact("F-1-000a", "Acme", "spends", text, 0.8, valid_from="2026-01-01", valid_until="2026-01-31")
    rule = Rule("R-1", text, "inference", (Pattern("?x", "spends", text, "gt"),), Pattern("?x", "is", "big"))
    case = Case("C-1", ("B-1", text), ("D-1",), text, "PL-1", (text, "b"), None, (("churn", 0.04),), text)
    past = KeptResult("T-1-000a", "bayesian", text, None, True, "2026-02-24T10:00:00Z", (("domain", text),), text)
    return [
        agent_record(agent, agent_role=text, is_shared=True),
        *memory_records(agent, item, "long_term"),
        *memory_records(agent, MemoryItem("M-2-000a", "plain words", created_at="nonsense")),
        fact_record(agent, fact),
        fact_record(agent, Fact("F-2-000a", "Acme", "owns", "boats", rule_id="R-1", derived_from=("F-1-000a",))),
        rule_record(agent, rule),
        case_record(agent, case),
        *result_records(agent, [(past, text), (past._replace(id="T-2-000a", confidence=0.5), "")]),
    ]


def world() -> list[Record]:
    """The records of two agents."""
    return [*known("ceo", NASTY[5]), *known("cfo", NASTY[6]), *linked_records((CEO, CFO))]


def nasty_records() -> list[Record]:
    """Records of every type with every odd text."""
    minds = [mind_records(CEO), mind_records(CFO)]
    return [record for text in NASTY for record in known("cfo", text)] + [each for mind in minds for each in mind]
