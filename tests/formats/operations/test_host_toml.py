"""A table of ours in config.toml: it goes in and out, and every other byte stays."""

import tomllib

import pytest

from mabos_cli.errors import InvalidFile
from mabos_cli.formats.operations.host_toml import add_table, remove_table

NAME = "mcp_servers.mabos"
VALUES = {"command": '/opt/a "b"/mabos', "args": ["mcp", "-w", "/srv/ü\U0001f600\x7f"]}
TEXTS = [
    None,
    "",
    "\n",
    "# mine",
    'model = "o3"',
    'model = "o3"\n',
    'model = "o3" # why\n\n[mcp_servers.docs]\ncommand = "docs"\n\n\n',
    '[tui]\r\ntheme = "x"\r\n',
    "\ufeffa = 1\n",
    'a = """\n[x]\n"""\n[y] # z\n',
]


@pytest.mark.parametrize("text", TEXTS)
def test_in_and_out_again_gives_back_every_byte(text: str | None) -> None:
    new = add_table(text, NAME, VALUES, "c.toml")
    assert tomllib.loads(new.removeprefix("\ufeff"))["mcp_servers"]["mabos"] == VALUES
    assert new.startswith(text or "")
    assert add_table(new, NAME, VALUES, "c.toml") == new
    assert remove_table(new, NAME, "c.toml") == text


def test_an_older_table_is_replaced_and_what_the_host_put_below_it_goes() -> None:
    older = 'a = 1\n\n[mcp_servers.mabos]\ncommand = "old"\n\n[mcp_servers."mabos".tools.x]\nok = true\n\n# of b\n[b]\nc = 1\n'
    assert remove_table(older, NAME, "c.toml") == "a = 1\n\n# of b\n[b]\nc = 1\n"
    new = add_table(older, NAME, VALUES, "c.toml")
    assert tomllib.loads(new) == {"a": 1, "b": {"c": 1}, "mcp_servers": {"mabos": VALUES}}


def test_what_a_person_adds_to_it_stays() -> None:
    new = add_table("a = 1\n", NAME, VALUES, "c.toml") + "required = true\n"
    assert add_table(new, NAME, VALUES, "c.toml") == new
    assert remove_table(new, NAME, "c.toml") == "a = 1\n"


@pytest.mark.parametrize(
    "text, message",
    [
        ("a = \n", "c.toml:1: not valid TOML"),
        ("\n[[", "c.toml:2: not valid TOML"),
        ("mcp_servers = {docs = {command = 'x'}}\n", "c.toml: our table cannot be added"),
        ("mcp_servers.mabos.command = 'x'\n", "c.toml: mcp_servers.mabos is no table of its own"),
        ('a = """\n[mcp_servers.mabos]\n"""\n', "c.toml: mcp_servers.mabos is no table of its own"),
    ],
)
def test_what_cannot_be_changed_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidFile) as error:
        add_table(text, NAME, VALUES, "c.toml")
    assert error.value.message.startswith(message)
