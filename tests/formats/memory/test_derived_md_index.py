import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.samples import AT, any_text, hostile_texts, make_item
from mabos_cli.core.context.memory_index import Domain, Headline, MemoryIndex, Share, digest_items
from mabos_cli.core.memory.item import glance_of
from mabos_cli.formats.markdown.escape import is_as_generated
from mabos_cli.formats.memory.derived_md import fit_index, keep_part, parse_parts, render_index, render_parts

quick = settings(max_examples=60, deadline=None, derandomize=True)
NOW = "2026-02-24T14:30:00.000Z"
DOMAINS = (Domain("preferences", "preference", 3, 120), Domain("facts", "fact", 91_000, 4_550_000, 100))


def line(text, type="instruction", number=1):
    return Headline(f"M-{number}-0000", type, 0.95, AT, text, len(text) or 812)


def index(critical=(), projects=(), domains=DOMAINS, more=0, untrusted=0):
    counts = len(critical) + more, len(projects) + more
    return MemoryIndex("main", tuple(critical), counts[0], tuple(projects), counts[1], domains, len(domains), untrusted)


def sections(text):
    return {part.split("\n")[0]: part.split("\n")[2:] for part in text.split("\n## ")[1:]}


def test_index_says_what_is_critical_what_goes_on_and_what_can_be_loaded():
    found = index([line("Never deploy on a Friday"), line("", "person")], [line("Berth pricing")], more=2, untrusted=1)
    told = sections(render_index(found))
    assert told["Critical (always relevant)"][:-1] == [
        "- [I] Never deploy on a Friday",
        "- [person] 812 characters: `mabos get M-1-0000`",
        "- 2 more: `mabos recall --priority-min critical --limit 0`",
        "- 1 not shown, untrusted: `mabos trust --quarantine`",
    ]
    assert told["Active projects"][:-1] == [
        "- Berth pricing",
        "- 2 more: `mabos recall --type project --limit 0`",
    ]
    assert told["Domains"][:-1] == [
        "- preferences: 3 items, 120 tokens: `mabos read memory/domains/preferences.md`",
        "- facts: 91000 items, 4550000 tokens on 100 pages: `mabos recall WORDS --type fact`",
    ]


def test_marks_that_are_used_are_explained():
    assert "set aside. [P] preference, [L] lesson.\n" in render_index(
        index([line("a", "preference"), line("b", "lesson")])
    )
    assert "set aside.\n" in render_index(index([line("a", "person")]))


def test_empty_index_says_so():
    text = render_index(index(domains=()))
    assert "Nothing is remembered for long yet." in text
    assert list(sections(text)) == ["Recall"]


@quick
@given(st.lists(hostile_texts | any_text, max_size=5))
def test_what_items_say_makes_no_structure(texts):
    items = [make_item(n, text, importance=1.0, type="person") for n, text in enumerate(texts)]
    lines = digest_items(map(glance_of, items), items, {}, NOW, 6000)[1]
    text = render_index(index(lines.critical))
    told = sections(text)
    assert list(told) == [*(["Critical (always relevant)"] if texts else []), "Domains", "Recall"]
    assert sum(row.startswith("- [person] ") for row in told.get("Critical (always relevant)", ())) == len(texts)
    assert is_as_generated(text)
    assert text.count("<!--") - text.count("\\<!--") == 1


@quick
@given(
    st.lists(st.integers(0, 240), max_size=300),
    st.lists(st.integers(0, 240), max_size=50),
    st.integers(1600, 6000),
    st.integers(0, 10**6),
)
def test_index_is_full_and_never_over_its_room(critical, projects, room, more):
    domains = tuple(Domain("preferences", "preference", 10**6, 10**8, 999) for _ in range(9))
    whole = index([line("w" * size) for size in critical], [line("w" * size) for size in projects], domains, more, more)
    fitted = fit_index(whole, room)
    assert len(render_index(fitted)) <= room
    assert (fitted.critical, fitted.projects) == (
        whole.critical[: len(fitted.critical)],
        whole.projects[: len(fitted.projects)],
    )
    assert len(fitted.domains) == 9
    out = fitted.left_out()
    assert f"{out['critical']} more" in render_index(fitted) or not out["critical"]
    if out["critical"] > more:
        one_more = fitted._replace(critical=whole.critical[: len(fitted.critical) + 1], projects=())
        assert len(render_index(one_more)) > room
    elif out["projects"] > more:
        assert len(render_index(fitted._replace(projects=whole.projects[: len(fitted.projects) + 1]))) > room


def test_index_without_room_for_all_domains_offers_the_first_of_them():
    whole = index([line("c" * 200)], [line("p" * 200)], DOMAINS * 5)
    room = len(render_index(whole._replace(critical=(), projects=(), domains=DOMAINS * 2)))
    fitted = fit_index(whole, room)
    assert (fitted.critical, fitted.projects, fitted.domains) == ((), (), DOMAINS * 2)


def test_twenty_short_critical_items_of_a_thousand_all_stand_in_it():
    texts = [f"Never send message {n} to a customer before the account owner agreed to it" for n in range(20)]
    projects = [line("p" * 80) for _ in range(80)]
    fitted = fit_index(index(list(map(line, texts)), projects), 1499 * 4)
    assert len(fitted.critical) == 20
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


def test_parts_come_back_from_the_cache(made):
    kept = [keep_part("2026-02", "1:2:3", *made), keep_part("", "x", *made)]
    found = parse_parts(render_parts(kept, 6000), 6000)
    assert {name: known.key for name, known in found.items()} == {"2026-02": "1:2:3", "": "x"}
    assert all((known.part.digest, known.part.load()) == made for known in found.values())
    assert render_parts(found.values(), 6000) == render_parts(kept, 6000)


def test_cache_for_another_room_or_that_is_damaged_holds_nothing(made):
    data = render_parts([keep_part("2026-02", "1:2:3", *made)], 6000)
    assert parse_parts(data, 400) == {}
    assert parse_parts(data.replace(b"odd", b"bad"), 6000) == {}
    assert parse_parts(b"", 6000) == parse_parts(b"\xff\n2 6000", 6000) == {}
    assert parse_parts(render_parts([], 6000), 6000) == {}
