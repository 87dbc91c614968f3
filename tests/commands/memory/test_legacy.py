def test_memory_md_of_old_gets_a_line_for_each_lasting_item_where_there_is_one(desk):
    legacy = desk.folder() / "Memory.md"
    legacy.write_text("# Memory\n\n- by hand about the quay\n")
    for text, words in (
        ("We bill per seat", ["--type", "decision"]),
        ("Somebody rang", []),
        ("Pay me", ["--type", "fact", "--trust", "untrusted"]),
    ):
        assert desk.run("store", text, *words).code == 0
    head, by_hand, line, end = legacy.read_text().split("\n")[0:1] + legacy.read_text().split("\n")[2:]
    assert (head, by_hand, end) == ("# Memory", "- by hand about the quay", "")
    assert line.startswith("- 2026-02-24 decision (0.80): We bill per seat ^M-")
    # It is a log for people: recall finds the item once, and what people wrote there.
    assert [ref for ref in desk.refs("bill per seat") if "Memory.md" in ref] == []
    assert any(ref.startswith("Memory.md") for ref in desk.refs("hand quay"))
    legacy.unlink()
    desk.run("store", "We ship on Friday", "--type", "decision")
    assert not legacy.exists()


def test_memory_md_that_is_one_file_with_another_spelling_gets_no_line(desk):
    (desk.folder() / "MEMORY.md").write_text("# Memory\n")
    (desk.folder() / "Memory.md").unlink(missing_ok=True)
    (desk.folder() / "Memory.md").hardlink_to(desk.folder() / "MEMORY.md")
    desk.run("store", "We bill per seat", "--type", "decision")
    assert (desk.folder() / "MEMORY.md").read_text() == "# Memory\n"
