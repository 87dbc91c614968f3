"""store and update at the door: a secret is refused or replaced before anything is written, and shown nowhere."""

import json
from pathlib import Path

import pytest

from commands.desk import Desk, Said
from mabos_cli.core.language.secrets import redact

pytestmark = pytest.mark.usefixtures("still_world")
SET = Path(__file__).parents[3] / "fixtures" / "secrets.json"
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def desk(quick: Path) -> Desk:
    return Desk(quick / "workspace")


def holding(desk: Desk, *values: str) -> list[str]:
    """The files of the workspace that hold one of the values, the index and its journal among them."""
    files = {path: path.read_bytes() for path in desk.root.rglob("*") if path.is_file()}
    wanted = [value.encode() for value in values]
    return [path.name for path, data in files.items() if any(value in data for value in wanted)]


def refused(said: Said, place: str) -> bool:
    return f"a secret in {place}: github_token" in said.stderr and TOKEN not in said.stdout + said.stderr


@pytest.mark.parametrize("way", [(), ("--defer",), ("--if-new",), ("--store", "long_term"), ("--json",)])
def test_content_with_a_secret_is_refused(desk: Desk, way: tuple[str, ...]) -> None:
    said = desk.run("store", f"Deploy with {TOKEN}", *way)
    assert said.code == 2 and said.stdout == "" and refused(said, "content")
    assert "--redact" in said.stderr and "--allow-secret" in said.stderr
    assert holding(desk, TOKEN) == [] and desk.home().memory().short_term == ()


@pytest.mark.parametrize("name", ["context", "source", "author", "session", "tag", "related-to", "type", "expires"])
def test_every_other_word_is_looked_at_too(desk: Desk, name: str) -> None:
    said = desk.run("store", "Deployed", f"--{name}", TOKEN)
    place = {"tag": "tags", "related-to": "related_to", "expires": "expires_at"}.get(name, name)
    assert said.code == 2 and refused(said, place)


def test_a_message_about_another_fault_does_not_show_it(desk: Desk) -> None:
    """What is not refused as a secret can still be quoted by an error."""
    for words in (("get", TOKEN), ("store", "x", TOKEN), ("store", "x", "--allow-secret", "--type", TOKEN)):
        said = desk.run(*words)
        assert said.code != 0 and TOKEN not in said.stderr and "[redacted:github_token]" in said.stderr


def test_a_batch_cites_the_line_and_stores_nothing(desk: Desk) -> None:
    lines = [{"content": "fine"}, {"content": "fine too", "tags": ["ok", TOKEN]}]
    said = desk.run("store", "--batch", "-", stdin="\n".join(map(json.dumps, lines)).encode())
    assert said.code == 4 and refused(said, "tags") and "standard input:2: " in said.stderr
    assert desk.home().memory().short_term == ()
    odd = desk.run("store", "--batch", "-", stdin=json.dumps({"content": "x", TOKEN: 1}).encode())
    assert odd.code == 4 and TOKEN not in odd.stderr


def test_redact_replaces_it_everywhere(desk: Desk) -> None:
    words = ("--tag", "ok", "--tag", TOKEN, "--context", f"from {TOKEN}", "--author", f"ada {TOKEN}")
    said = desk.run("store", f"Deploy with {TOKEN}", *words, "--redact", "--json")
    assert said.warnings == ["secrets replaced: github_token"]
    (item,) = desk.home().memory().short_term
    assert item.content == "Deploy with [redacted:github_token]"
    assert item.tags == ("ok", "[redacted:github_token]") and item.author == "ada [redacted:github_token]"
    assert desk.recall("deploy").refs == [item.id] and holding(desk, TOKEN) == []


def test_redacting_what_holds_no_secret_says_nothing(desk: Desk) -> None:
    assert desk.run("store", "We bill per seat", "--redact", "--json").warnings == []


def test_update_is_a_door_too(desk: Desk) -> None:
    item = desk.run("store", "Deploy on Monday", "--json").data["id"]
    for option in ("--content", "--context", "--tag"):
        assert desk.run("update", item, option, TOKEN).code == 2
    said = desk.run("update", item, "--content", f"Deploy with {TOKEN}", "--redact", "--json")
    assert said.data["item"]["content"] == "Deploy with [redacted:github_token]"
    assert said.warnings == ["secrets replaced: github_token"] and holding(desk, TOKEN) == []
    assert desk.run("update", item, "--content", TOKEN, "--allow-secret", "--json").data["item"]["content"] == TOKEN


def test_it_can_be_allowed_once_or_for_good(desk: Desk) -> None:
    assert desk.run("store", TOKEN, "--redact", "--allow-secret").code == 2
    assert desk.run("store", f"one {TOKEN}", "--allow-secret").code == 0
    desk.settle("secrets:\n  refuse: false\n")
    assert desk.run("store", f"two {TOKEN}").code == 0
    assert desk.run("store", f"three {TOKEN}", "--redact").code == 0
    texts = [item.content for item in desk.home().memory().short_term]
    assert texts == [f"one {TOKEN}", f"two {TOKEN}", "three [redacted:github_token]"]


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (("forget", "{id}", "--reason", TOKEN), "reason"),
        (("trust", "{id}", "--set", "trusted", "--by", "ada", "--reason", TOKEN), "reason"),
        (("trust", "{id}", "--set", "trusted", "--by", TOKEN), "by"),
    ],
)
def test_reasons_and_names_hold_no_secret(desk: Desk, words: tuple[str, ...], place: str) -> None:
    own = desk.run("store", "We bill per seat", "--json").data["id"]
    said = desk.run(*(word.format(id=own) for word in words))
    assert said.code == 2 and refused(said, place) and holding(desk, TOKEN) == []
    assert [item.trust for item in desk.home().memory().short_term] == ["agent"]
    desk.settle("secrets:\n  refuse: false\n")
    assert desk.run(*(word.format(id=own) for word in words)).code == 0


def test_a_checkpoint_is_written_without_its_secrets(desk: Desk) -> None:
    words = ("--decision", f"use {TOKEN}", "--next", "rotate it")
    said = desk.run("checkpoint", "-c", "-", *words, "--json", stdin=f"Deploying with {TOKEN}".encode())
    assert said.data["redacted"] == ["github_token"] and said.warnings == ["secrets replaced: github_token"]
    assert holding(desk, TOKEN) == []
    text = (desk.folder() / said.data["path"]).read_text()
    assert "Deploying with [redacted:github_token]" in text and "rotate it" in text
    desk.settle("secrets:\n  refuse: false\n")
    plain = desk.run("checkpoint", "-c", TOKEN, "--json")
    assert plain.data["redacted"] == [] and TOKEN in (desk.folder() / plain.data["path"]).read_text()


def test_no_labelled_value_reaches_the_workspace(desk: Desk) -> None:
    samples = json.loads(SET.read_text("utf-8"))["secrets"]
    values = ["".join(sample["parts"]) for sample in samples]
    texts = [sample["line"].replace("{secret}", value) for sample, value in zip(samples, values, strict=True)]
    # What the rules miss is for their own test; a PIN of four digits stands in many a time of day.
    known = [v for text, v in zip(texts, values, strict=True) if len(v) >= 8 and v not in redact(text)[0]]
    assert len(known) > 0.95 * len(values)
    lines = [
        json.dumps({"content": text, "store": "long_term", "context": f"number {n}"}) for n, text in enumerate(texts)
    ]
    said = desk.run("store", "--batch", "-", "--redact", "--json", stdin="\n".join(lines).encode())
    assert len(said.data["items"]) == len(samples)
    assert desk.recall("token").data["results"]
    assert holding(desk, *known, *(json.dumps(value)[1:-1] for value in known)) == []
