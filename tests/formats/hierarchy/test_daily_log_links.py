import pytest
from hypothesis import given, settings

from formats.samples import hostile_texts
from mabos_cli.formats.hierarchy.daily_log import relink_logs
from mabos_cli.formats.markdown.escape import is_as_generated, seal

quick = settings(deadline=None, derandomize=True)
DAYS = {"2026-01-05", "2025-12-31"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[a](memory/2026-01-05.md)", "[a](memory/archive/2026/2026-01-05.md)"),
        ("[a](memory/2025-12-31.md#^M-1-aaaa)", "[a](memory/archive/2025/2025-12-31.md#^M-1-aaaa)"),
        ('[a](<./memory/2026-01-05.md> "t")', '[a](<./memory/archive/2026/2026-01-05.md> "t")'),
        ("[a]: memory/2026-01-05.md", "[a]: memory/archive/2026/2026-01-05.md"),
        ("[a]: memory/2026-01-05.md\r", "[a]: memory/archive/2026/2026-01-05.md\r"),
    ],
)
def test_links_lead_to_the_archive(old, new):
    assert relink_logs(f"x {old}" if "]:" not in old else old, DAYS, "memory/")[0].endswith(new)
    assert relink_logs(new, DAYS, "memory/") == (new, 0)


@pytest.mark.parametrize(
    "text",
    [
        "memory/2026-01-05.md",
        "`mabos read memory/2026-01-05.md`",
        "[a](memory/2026-01-06.md)",
        "[a](memory/2026-01-05.md.bak)",
        "[a](memory/2026-01-05.markdown)",
        "[a](other/memory/2026-01-05.md)",
        "[a](../2026-01-05.md)",
        "a\\](memory/2026-01-05.md)",
        "```\n[a](memory/2026-01-05.md)\n```",
        "",
    ],
)
def test_all_else_stays(text):
    assert relink_logs(text, DAYS, "memory/") == (text, 0)


def test_links_of_summaries_go_up_one_folder():
    text = "- [Mon](../2026-01-05.md) and [Wed](../2025-12-31.md#x), [week](2026-W01.md)\n"
    assert relink_logs(text, DAYS, "../") == (
        "- [Mon](../archive/2026/2026-01-05.md) and [Wed](../archive/2025/2025-12-31.md#x), [week](2026-W01.md)\n",
        2,
    )


def test_generated_file_is_sealed_again_and_an_edited_one_is_not():
    sealed = seal("# Week\n\n[Mon](../2026-01-05.md)\n")
    new, count = relink_logs(sealed, DAYS, "../")
    assert count == 1 and is_as_generated(new) and "archive/2026" in new
    edited, count = relink_logs(sealed.replace("Week", "My week"), DAYS, "../")
    assert count == 1 and not is_as_generated(edited) and edited[-42:] == sealed[-42:]
    assert relink_logs(sealed, set(), "../") == (sealed, 0)


@quick
@given(hostile_texts, hostile_texts)
def test_only_the_links_change(before, after):
    link = "[a](memory/2026-01-05.md)"
    text = f"{before}\n\n{link}\n\n{after}"
    new, count = relink_logs(text, DAYS, "memory/")
    assert count <= 1
    assert new.replace("memory/archive/2026/", "memory/") == text
