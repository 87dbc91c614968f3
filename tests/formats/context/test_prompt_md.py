"""Files of a prompt by their sections, and what skills say of themselves."""

from mabos_cli.core.context.window import Skill
from mabos_cli.formats.context.prompt_md import parse_skill, split_sections


def test_sections_put_together_are_the_file() -> None:
    text = "Before.\n\n# Ann\n\nCurt.\n\n## Style\n\n```\n## no heading\n```\n\n## Style\n\nAgain.\n"
    found = split_sections("SOUL.md", text)
    assert [section.name for section in found] == ["SOUL.md", "SOUL.md", "SOUL.md › Style", "SOUL.md › Style"]
    assert "\n\n".join(section.text for section in found) + "\n" == text
    assert split_sections("SOUL.md", " \n\n") == []
    assert [section.text for section in split_sections("I.md", "---\nitems: 3\n---\n\n# Index\n")] == ["# Index"]


def test_prose_between_two_rules_is_told() -> None:
    assert [section.text for section in split_sections("P.md", "---\nBe curt.\n---\n")] == ["---", "Be curt.\n---"]


def test_a_skill_by_its_front_matter() -> None:
    text = "---\nname: pdf\ndescription: >\n  Fills in\n  forms.\nversion: 1.10\n---\n\n# PDF\n\nDo this.\n"
    assert parse_skill(text, "folder") == Skill("pdf", "Fills in forms.", "# PDF\n\nDo this.")


def test_front_matter_that_is_no_yaml() -> None:
    text = "---\nname: web\ndescription: Use when: a page is named, e.g. [x\n---\nBody"
    assert parse_skill(text, "folder") == Skill("web", "Use when: a page is named, e.g. [x", "Body")


def test_a_skill_that_says_nothing_of_itself() -> None:
    assert parse_skill("# Ship\n\nMerge, tag, push.\n", "ship") == Skill(
        "ship", "Merge, tag, push.", "# Ship\n\nMerge, tag, push."
    )
    assert parse_skill("", "ship") == Skill("ship", "", "")
    assert parse_skill("---\n- a\n- b\n---\nText", "list") == Skill("list", "Text", "Text")
