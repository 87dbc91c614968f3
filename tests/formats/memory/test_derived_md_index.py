import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.samples import AT, any_text, hostile_texts, make_item
from mabos_cli.core.context.memory_index import Domain, Foremost, Headline, Lines, MemoryIndex, Share, digest_items
from mabos_cli.core.memory.item import glance_of
from mabos_cli.formats.markdown.escape import is_as_generated
from mabos_cli.formats.memory.derived_md import Known, fit_index, parse_known, render_index, render_known

quick = settings(max_examples=60, deadline=None, derandomize=True)
NOW = "2026-02-24T14:30:00.000Z"
DOMAINS = (Domain("preferences", "preference", 3, 120), Domain("facts", "fact", 91_000, 4_550_000, 100))


def line(text, type="instruction", number=1, size=0):
    return Headline(f"M-{number}-0000", type, 0.95, AT, text, size or len(text))


def index(critical=(), projects=(), domains=DOMAINS, more=0, untrusted=0, instructions=(), items=0):
    lines = Lines(tuple(critical), tuple(instructions), tuple(projects))
    counts = {name: len(found) + (more if found else 0) for name, found in lines._asdict().items()}
    return MemoryIndex("main", lines, domains, counts | {"domains": len(domains)}, items, untrusted)


def sections(text):
    return {part.split("\n")[0]: part.split("\n")[2:] for part in text.split("\n## ")[1:]}


def test_index_says_what_is_critical_what_goes_on_and_what_can_be_loaded():
    long = line("Ask first…".rjust(240, "x"), "person", size=812)
    found = index([line("Never deploy on a Friday"), long], [line("Berth pricing")], more=2, untrusted=1)
    told = sections(render_index(found._replace(lines=found.lines._replace(instructions=(line("Be brief"),)))))
    assert told["Critical (always relevant)"][:-1] == [
        "- [I] Never deploy on a Friday",
        f"- [person] {long.text} `mabos get M-1-0000`",
        "- 2 more: `mabos recall --priority-min critical --limit 0`",
        "- 1 not shown, untrusted: `mabos trust --quarantine`",
    ]
    assert told["Instructions and preferences"][0] == "- Be brief"
    assert told["Active projects"][:-1] == [
        "- Berth pricing",
        "- 2 more: `mabos recall --type project --limit 0`",
    ]
    assert told["Domains"][:-1] == [
        "- preferences: 3 items, 120 tokens",
        "- facts: 91000 items, 4550000 tokens on 100 pages: `mabos recall WORDS --type fact`",
    ]
    assert "- `mabos read memory/domains/NAME.md` loads a domain." in told["Recall"]
    assert any("also the rest of lines that end with …" in row for row in told["Recall"])


def test_marks_that_are_used_are_explained():
    assert "set aside. [P] preference, [L] lesson.\n" in render_index(
        index([line("a", "preference"), line("b", "lesson")])
    )
    assert "set aside.\n" in render_index(index([line("a", "person")]))


def test_index_without_lines_says_what_there_is_and_what_to_do():
    empty = render_index(index(domains=()))
    assert "Nothing is remembered yet: `mabos store TEXT`." in empty
    assert list(sections(empty)) == ["Recall"]
    assert "Nothing is remembered" not in render_index(index(domains=(), items=8))


def test_what_was_decided_lately_has_a_place_before_all_that_is_known():
    decided = [line(f"We took number {n}", "decision", n) for n in range(40)]
    known = [line("w" * 200, "fact", n) for n in range(40)]
    found = fit_index(index()._replace(lines=Lines(lately=tuple(decided), known=tuple(known))), 1499 * 4)
    told = sections(render_index(found))
    assert told["Lately"][:3] == [f"- {AT[:10]} decision: We took number {n}" for n in range(3)]
    assert len(told["Known"]) > 20 and len(told["Lately"]) < 10


@quick
@given(st.lists(hostile_texts | any_text, max_size=5))
def test_what_items_say_makes_no_structure(texts):
    items = [make_item(n, text, importance=1.0, type="person") for n, text in enumerate(texts)]
    lines = digest_items(map(glance_of, items), items, {}, NOW, 6000)[1]
    text = render_index(index(lines.critical, more=0))
    told = sections(text)
    assert list(told) == [*(["Critical (always relevant)"] if texts else []), "Domains", "Recall"]
    assert sum(row.startswith("- [person] ") for row in told.get("Critical (always relevant)", ())) == len(texts)
    assert is_as_generated(text)
    assert text.count("<!--") - text.count("\\<!--") == 1


@quick
@given(
    st.lists(st.integers(1, 240), max_size=200),
    st.lists(st.integers(1, 240), max_size=100),
    st.lists(st.integers(1, 240), max_size=50),
    st.integers(1700, 6000),
    st.sampled_from((0, 7, 10**6)),
)
def test_index_is_full_and_never_over_its_room(critical, instructions, projects, room, more):
    domains = tuple(Domain("preferences", "preference", 10**6, 10**8, 999) for _ in range(9))
    made = [[line("w " * (size // 2) + "w") for size in sizes] for sizes in (critical, projects, instructions)]
    whole = index(*made[:2], domains, more, more, instructions=made[2])
    fitted = fit_index(whole, room)
    text, out = render_index(fitted), fitted.left_out()
    assert len(text) <= room
    assert len(fitted.domains) == 9
    for name in ("critical", "instructions", "projects"):
        shown, there = getattr(fitted.lines, name), getattr(whole.lines, name)
        assert all(short.text.rstrip("…") in long.text for short, long in zip(shown, there, strict=False))
        assert f"{out[name]} more" in text or not out[name]
    # Projects have their place however many other lines there are.
    assert fitted.lines.projects or not projects or room < 2400


def test_projects_have_a_place_beside_any_number_of_critical_items():
    fitted = fit_index(index([line("c" * 200)] * 99, [line("p" * 80)] * 30), 1499 * 4)
    assert len(fitted.lines.projects) > 5
    assert len(fitted.lines.critical) > 10


def test_lines_are_shortened_before_one_is_left_out():
    rules = [
        f"Rule {n}: what was promised is sent on the Thursday before it, with the name of whoever did check it twice"
        for n in range(55)
    ]
    fitted = fit_index(index(instructions=[line(text) for text in rules]), 1499 * 4)
    assert fitted.left_out()["instructions"] == 0
    assert all(shown.text.endswith("…") and len(shown.text) > 50 for shown in fitted.lines.instructions)
    assert "also the rest of lines that end with …" in render_index(fitted)


def test_index_without_room_for_all_domains_offers_the_first_of_them():
    whole = index([line("c" * 200)], [line("p" * 200)], DOMAINS * 5)
    room = len(render_index(whole._replace(lines=Lines(), domains=DOMAINS * 2)))
    fitted = fit_index(whole, room)
    assert (fitted.lines, fitted.domains) == (Lines(), DOMAINS * 2)


def test_twenty_short_critical_items_of_a_thousand_all_stand_in_it():
    texts = [f"Never send message {n} to a customer before the account owner agreed to it" for n in range(20)]
    projects = [line("p" * 80) for _ in range(80)]
    fitted = fit_index(index(list(map(line, texts)), projects), 1499 * 4)
    assert len(fitted.lines.critical) == 20
    assert fitted.left_out()["projects"] > 0


@pytest.fixture
def made():
    items = [
        make_item(1, "a\u2028b", importance=1.0, derived_from=("M-2-0000",)),
        make_item(2, "c", type="project", expires_at="2026-05-01T00:00:00.000Z"),
        make_item(3, "d", type="odd", trust="untrusted", importance=0.97),
    ]
    shares = {"projects": Share(1, 80, "2026-05-01T00:00:00.000Z")}
    return digest_items(map(glance_of, items), items, shares, NOW, 6000)


def known(made):
    foremost = Foremost()
    foremost.put("2026-02", made[1], 6000)
    return Known({"2026-02": ("1:2:3", made[0]), "": ("x", made[0])}, foremost)


def test_parts_come_back_from_the_cache(made):
    data = render_known(known(made), 6000)
    found = parse_known(data, 6000)
    assert found.parts == known(made).parts
    assert found.foremost.lines == known(made).foremost.lines
    assert render_known(found, 6000) == data


def test_cache_for_another_room_or_that_is_damaged_holds_nothing(made):
    data = render_known(known(made), 6000)
    assert parse_known(data, 400).parts == {}
    assert parse_known(data.replace(b"odd", b"bad"), 6000).parts == {}
    assert parse_known(b"", 6000).parts == parse_known(b"\xff\n2 6000", 6000).parts == {}
