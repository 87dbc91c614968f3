"""Settings of agent hosts: our hooks go in and out, and every other byte stays."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.operations.hook_hosts import EVENTS, NAMES
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.operations.host_settings import (
    Entry,
    Settings,
    add_entries,
    check_settings,
    hook_entries,
    remove_entries,
)

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
OWN = st.just({"hooks": [{"type": "command", "command": "echo mabos hook"}], "matcher": "*"})
LISTS = st.dictionaries(
    st.sampled_from([*NAMES["claude"], *NAMES["gemini"], *NAMES["cursor"], "PreToolUse"]),
    st.lists(VALUES | OWN, max_size=3),
    max_size=4,
)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Settings of all kinds, in all layouts."""
    others = draw(st.dictionaries(st.text(max_size=5) | st.just("version"), VALUES, max_size=3))
    others.pop("hooks", None)
    hooks = draw(st.none() | LISTS)
    given = others if hooks is None else draw(st.sampled_from([others | {"hooks": hooks}, {"hooks": hooks} | others]))
    layout = {"indent": draw(st.sampled_from([None, 0, 2, 4, "\t"])), "ensure_ascii": draw(st.booleans())}
    text = json.dumps(given, **layout, separators=draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,", " : ")])))
    if draw(st.booleans()):
        gaps = st.sampled_from(["", "", " ", "\n", "\r\n  ", "\t"])
        text = "".join(match[0] + draw(gaps) for match in _TOKEN.finditer(text))
    return draw(st.sampled_from(["", "\ufeff", "\n "])) + text + draw(st.sampled_from(["", "\n", "\r\n", " "]))


HOSTS = ("claude", "codex", "gemini", "cursor")  # those that run commands
SERVER = Entry(("mcpServers", "mabos"), {"command": "/a b/mabos", "args": ["mcp"]})
APPROVED = Entry(("enabledMcpjsonServers",), "mabos", True)


def settings_of(host: str, program: str = "mabos", options: str = "", *more: Entry, **how: Any) -> Settings:
    head = (("version", 1),) if host == "cursor" else ()
    return Settings(host, (*hook_entries(host, program, options), *more), head, **how)


def put(text: str | None, host: str, program: str = "mabos", options: str = "", *more: Entry) -> str:
    return add_entries(text, settings_of(host, program, options, *more), "s.json")


def take(text: str, host: str, *more: Entry) -> str | None:
    return remove_entries(text, settings_of(host, "mabos", "", *more), "s.json")


def load(text: str) -> Any:
    return json.loads(text.removeprefix("\ufeff"))


@settings(deadline=None)
@given(texts(), st.sampled_from(HOSTS))
def test_in_and_out_again_gives_back_every_byte(text: str, host: str) -> None:
    new = put(text, host)
    found, before = load(new), load(text)
    for (_, event), element, *_ in hook_entries(host, "mabos"):
        assert found["hooks"][event][-1] == element
        found["hooks"][event].pop()
    assert all(found["hooks"].get(event) == listed for event, listed in before.get("hooks", {}).items())
    assert {k: v for k, v in found.items() if k != "hooks"} == {k: v for k, v in before.items() if k != "hooks"}
    assert put(new, host) == new
    assert take(new, host) == text
    assert take(text, host) == text


@settings(max_examples=30, deadline=None)
@given(texts())
def test_hosts_that_share_a_file_do_not_touch_each_other(text: str) -> None:
    both = put(put(text, "claude"), "codex")
    assert take(both, "codex") == put(text, "claude")
    left = take(both, "claude")
    assert left is not None and take(left, "codex") is not None


@pytest.mark.parametrize("host", HOSTS)
def test_a_file_of_our_own_goes_when_the_hooks_go(host: str) -> None:
    new = put(None, host)
    assert new.endswith("}\n") and put(new, host) == new
    assert take(new, host) is None
    kept = new.replace('{\n  "hooks"', '{\n  "model": "x",\n  "hooks"', 1)
    left = take(kept, host)
    assert left is not None and load(left) == {"model": "x"} | ({"version": 1} if host == "cursor" else {})


@pytest.mark.parametrize(
    "text", ["{}", "{\n}\n", '{"hooks": {}}', '{\n  "version": 1\n}\n', '{"hooks": {"sessionStart": []}}']
)
def test_a_bare_file_of_somebody_else_stays(text: str) -> None:
    assert take(put(text, "cursor"), "cursor") == text


def test_what_each_host_is_given() -> None:
    for host in HOSTS:
        hooks = {entry.keys[1]: entry.value for entry in hook_entries(host, "mabos")}
        expected = {"claude": 5, "codex": 5, "gemini": 4, "cursor": 3}[host]
        assert len(hooks) == expected and {*hooks} <= {*NAMES[host]}
        ending = hooks[NAMES[host][EVENTS.index("session-end")]]
        run = ending if host == "cursor" else ending["hooks"][0]
        assert run["timeout"] == (3000 if host == "gemini" else 3)
        assert run["command"] == f"mabos hook session-end --host {host}"


def test_new_options_replace_the_old_ones() -> None:
    theirs = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}'
    one = put(theirs, "claude", program="/opt/a b/mabos", options="-w /srv/team")
    two = put(one, "claude", options="-a cfo")
    assert two == put(theirs, "claude", options="-a cfo") != one
    assert take(one, "claude") == theirs


def test_a_hook_that_a_person_put_beside_ours_stays() -> None:
    new = load(put("{}", "claude"))
    new["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "say done"})
    left = take(json.dumps(new, indent=2), "claude")
    assert left is not None
    assert load(left) == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}


@pytest.mark.parametrize(
    "command",
    [
        "mabos hook stop --host claude",
        "/home/me/.venv/bin/mabos hook Stop --host claude -w /srv",
        "'/opt/a b/mabos' hook stop --host claude",
        "/usr/bin/python3 -m mabos_cli hook stop --host claude",
    ],
)
def test_our_commands_are_known(command: str) -> None:
    text = json.dumps({"a": 1, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
    left = take(text, "claude")
    assert left is not None and command not in left


@pytest.mark.parametrize(
    "command",
    [
        "mabos hook stop --host codex",
        "mymabos hook stop --host claude",
        "echo mabos hook",
        "mabos store x",
        "",
    ],
)
def test_other_commands_are_left_alone(command: str) -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
    assert take(text, "claude") == text


@pytest.mark.parametrize(
    "text, where",
    [
        ("", "s.json:1: the file is empty"),
        ('{\n  "a": 1 // why\n}', "s.json:2: not valid JSON"),
        ('{\n  "a": 1,}', "s.json:2: not valid JSON"),
        ('{"a": 1, "a": 2}', "s.json:1: not valid JSON: the key 'a' appears twice"),
        ("[]", "s.json:1: the settings must be an object"),
        ('{\n  "hooks": []\n}', "s.json:2: hooks must be an object"),
        ('{\n  "hooks": {\n    "Stop": {}\n  }\n}', "s.json:3: hooks.Stop must be a list"),
        ('{"a": ' + "[" * 100_000, "s.json:1: not valid JSON: nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, where: str) -> None:
    for act in (
        lambda: put(text, "claude"),
        lambda: take(text, "claude"),
        lambda: check_settings(text, settings_of("claude"), "s.json"),
    ):
        with pytest.raises(InvalidFile) as error:
            act()
        assert error.value.message.startswith(where)


def test_a_key_that_is_written_in_another_way_is_the_same_key() -> None:
    text = '{"\\u0068ooks": {"St\\u006fp": [1]}}'
    new = put(text, "claude")
    assert new.count('ooks": {') == 1 and len(load(new)["hooks"]["Stop"]) == 2
    assert take(new, "claude") == text


@settings(max_examples=60, deadline=None)
@given(texts(), st.sampled_from(HOSTS))
def test_a_server_and_a_word_of_a_list_go_in_and_out(text: str, host: str) -> None:
    new = put(text, host, "mabos", "", SERVER, APPROVED)
    assert load(new)["mcpServers"]["mabos"] == SERVER.value and "mabos" in load(new)["enabledMcpjsonServers"]
    assert put(new, host, "mabos", "", SERVER, APPROVED) == new
    assert take(new, host, SERVER, APPROVED) == text


LOOSE = [
    "{}",
    "{ // mine\n}",
    '{\n  // mine\n  "a": 1, // one\n}\n',
    "{a: 1 /* x */}",
    "{'hooks': {Stop: [ /*c*/ ]}, }",
    '{\n  // "hooks": {"Stop": 1}\n  hooks: {Stop: [{command: \'say "}"\'},],},\n}',
    "{\n  url: 'http://a//b', n: +.5, h: 0xFF, \"mcpServers\": {x: {}, /* y */},\n}\n",
    '\ufeff{"a": "\u2028 // no comment"}',
]


@pytest.mark.parametrize("text", LOOSE)
def test_comments_and_bare_names_stay(text: str) -> None:
    wanted = settings_of("gemini", "mabos", "", SERVER, APPROVED, has_comments=True)
    new = add_entries(text, wanted, "s.json")
    assert add_entries(new, wanted, "s.json") == new
    assert remove_entries(new, wanted, "s.json") == text
    assert all(comment in new for comment in ("// mine", "// one", "/* x */", "/*c*/", "/* y */") if comment in text)


def test_a_comment_stays_with_the_member_that_it_is_about() -> None:
    wanted = Settings("gemini", (SERVER,), has_comments=True)
    assert add_entries('{\n  "a": 1 // one\n}\n', wanted, "s").endswith('},\n  "a": 1 // one\n}\n')


@pytest.mark.parametrize(
    "text, line",
    [
        ("{a: }", 1),
        ("{a 1}", 1),
        ("{\n/* open }", 2),
        ("{a: [1}", 1),
        ("{}\n}", 2),
        ('{"a": "x}', 1),
        ("{a: 1, a: 2}", 1),
        ("[" * 300, 1),
        ("{a: " + "[" * 100_000, 1),
    ],
)
def test_what_is_not_even_json5_is_refused(text: str, line: int) -> None:
    with pytest.raises(InvalidFile, match=f"^s.json:{line}: "):
        add_entries(text, settings_of("gemini", has_comments=True), "s.json")


def test_what_a_person_adds_beside_ours_stays() -> None:
    new = put('{\n  "a": 1\n}\n', "claude", "mabos", "", SERVER)
    more = new.replace('"mcpServers": {', '"b": 2,\n  "mcpServers": {').replace("\n}\n", ',\n  "c": 3\n}\n')
    assert put(more, "claude", "mabos", "", SERVER) == more
    assert load(take(more, "claude", SERVER) or "") == {"a": 1, "b": 2, "c": 3}


def test_what_a_person_adds_to_ours_stays() -> None:
    new = put("{}", "claude", "mabos", "", SERVER).replace('{"command": "/a b', '{"trust": true, "command": "/a b')
    assert put(new, "claude", "mabos", "", SERVER) == new
    other = put(new, "claude", "/opt/mabos", "", SERVER)
    assert other != new and load(other)["mcpServers"]["mabos"] == {"trust": True, **SERVER.value}
    assert take(other, "claude", SERVER) == "{}"


def test_a_server_of_that_name_which_is_not_ours_is_refused() -> None:
    text = '{"mcpServers": {\n"mabos": {"command": "other"}}}'
    with pytest.raises(InvalidFile, match=r"s\.json:2: mcpServers\.mabos is something else"):
        put(text, "claude", "mabos", "", SERVER)
    older = text.replace("other", "mabos")
    assert load(put(older, "claude", "mabos", "", SERVER))["mcpServers"]["mabos"] == SERVER.value
