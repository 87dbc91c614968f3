from pathlib import Path

from commands.desk import Desk


def tree(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_review_of_memories_cites_them_and_writes_nothing(desk: Desk) -> None:
    said = desk.run("store", "Dana lives in Berlin", "--type", "person", "--json").data["id"]
    desk.run("store", "Dana reports to Ada", "--type", "person", "--source", "tool:web")
    desk.run("fact", "assert", "dana", "speaks", "German")
    before = tree(desk.root)
    data = desk.run("fact", "extract", "--review", "--json").data
    assert tree(desk.root) == before and data["writes_performed"] is False
    found = {row["predicate"]: row for row in data["candidates"]}
    assert {name: (row["subject"], row["trust"]) for name, row in found.items()} == {
        "livesIn": ("dana", "agent"),
        "reportsTo": ("dana", "untrusted"),
    }
    assert (found["livesIn"]["citation"], found["livesIn"]["action"]) == (said, "new")
    chosen = found["livesIn"]["id"]
    done = desk.run("fact", "extract", "--apply", chosen, "--json").data
    [fact] = done["asserted"]
    assert done["writes_performed"] is True and fact["source"] == f"memory:{said}" and fact["confidence"] < 1
    again = desk.run("fact", "extract", "--json").data
    assert [row["predicate"] for row in again["candidates"]] == ["reportsTo"] and again["known"] == 1
    assert desk.run("fact", "extract", "--apply", chosen).code == 3
    assert desk.run("fact", "extract", "--apply", chosen, "--review").code == 2


def test_of_two_memories_that_say_the_same_the_trusted_one_is_cited(desk: Desk) -> None:
    desk.run("store", "Dana lives in Berlin.", "--source", "tool:web", "--type", "fact")
    good = desk.run("store", "Dana lives in Berlin, near the park", "--type", "fact", "--json").data["id"]
    [row] = desk.run("fact", "extract", "--json").data["candidates"]
    assert (row["citation"], row["trust"]) == (good, "agent")


def test_a_text_is_read_line_by_line(desk: Desk) -> None:
    text = b"Hello.\n\nAcme's revenue is $2M. We use Adyen.\n"
    words = ("fact", "extract", "-", "--we", "Umbra", "--source", "mail:ada", "--json")
    rows = desk.run(*words, stdin=text).data["candidates"]
    assert [(row["subject"], row["citation"], row["trust"]) for row in rows] == [
        ("Acme", "standard input:3", "untrusted"),
        ("Umbra", "standard input:3", "untrusted"),
    ]
    done = desk.run(*words, "--apply", "all", stdin=text).data
    assert [fact["trust"] for fact in done["asserted"]] == ["untrusted", "untrusted"]


def test_another_value_of_a_functional_predicate_is_named(desk: Desk) -> None:
    (desk.root / "ontologies").mkdir(exist_ok=True)
    (desk.root / "ontologies/people.jsonld").write_text(
        '{"@context": {"owl": "http://www.w3.org/2002/07/owl#"}, "@graph": '
        '[{"@id": "livesIn", "@type": ["owl:ObjectProperty", "owl:FunctionalProperty"]}]}'
    )
    known = desk.run("fact", "assert", "Dana", "livesIn", "Rome", "--json").data["fact"]["id"]
    [row] = desk.run("fact", "extract", "Dana lives in Berlin", "--json").data["candidates"]
    assert (row["action"], row["of"]) == ("contradicts", [known])
