from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.formats.markdown.escape import is_as_generated, without_seal
from mabos_cli.workspace.memory.observation_log import extend_log, listed_ids


def item(day: int, n: int = 0, importance: float = 0.6, text: str = "We bill per seat") -> MemoryItem:
    at = f"2026-03-{day:02}T10:{n:02}:00.000Z"
    return MemoryItem(f"M-{day}-{n:04}", text, importance=importance, created_at=at, type="fact")


def extend(text: str, *items: MemoryItem, gone: tuple[str, ...] = (), days: int = 7, size: int = 4000) -> str:
    return extend_log(text, "main", items, gone, days=days, size=size, bands=(0.8, 0.5))


def test_a_page_is_dated_and_graded() -> None:
    page = extend("", item(2, 5, 0.9, "Use\n# Adyen"), item(1), item(1, 1, 0.2))
    assert without_seal(page).split("\n")[4:] == [
        "## 2026-03-01",
        "- 10:00 nice_to_have fact: We bill per seat (M-1-0000)",
        "",
        "## 2026-03-02",
        "- 10:05 must_remember fact: Use # Adyen (M-2-0005)",
        "",
    ]
    assert is_as_generated(page) and listed_ids(page) == ["M-1-0000", "M-2-0005"]


def test_what_was_written_stays_the_beginning_of_the_page() -> None:
    page, fell_out = "", 0
    for day in range(1, 29):
        for n in range(3):
            grown = extend(page, item(day, n), days=100, size=2000)
            is_kept = without_seal(grown).startswith(without_seal(page).rstrip("\n"))
            assert is_kept or n == 0 or len(without_seal(grown)) < 0.8 * len(page)
            fell_out += not is_kept and bool(page)
            assert len(without_seal(grown)) <= 2000 and f"M-{day}-{n:04}" in grown
            assert grown == extend(grown, item(day, n), days=100, size=2000)
            page = grown
    # Several days leave at once: most writes leave the beginning as it was.
    assert 2 <= fell_out <= 12
    assert without_seal(page).split("\n## ")[0] == without_seal(extend("", item(1))).split("\n## ")[0]


def test_days_leave_whole_and_late_items_join_the_last_day() -> None:
    page = extend("", *(item(day) for day in range(1, 10)), days=3)
    assert [line for line in page.split("\n") if line.startswith("## ")] == [f"## 2026-03-0{n}" for n in (7, 8, 9)]
    assert listed_ids(extend(page, item(8, 30), days=3))[-1] == "M-8-0030"
    assert extend(page, item(8, 30), days=3).count("## 2026") == 3


def test_one_day_does_not_pass_the_bound_and_keeps_room_for_what_must_be_remembered() -> None:
    page = extend("", *(item(1, n) for n in range(60)), size=2000)
    assert 800 < len(without_seal(page)) <= 1100
    page = extend(page, *(item(1, n, 0.9)._replace(id=f"M-x-{n}") for n in range(60)), size=2000)
    assert len(without_seal(page)) <= 2000 and page.count("must_remember") > 5


def test_what_was_forgotten_is_taken_out() -> None:
    page = extend("", item(1), item(2), item(2, 1))
    assert listed_ids(extend(page, gone=("M-2-0000", "M-9-0000"))) == ["M-1-0000", "M-2-0001"]
    assert "2026-03-01" not in extend(page, gone=("M-1-0000",))
