"""Settings of agent hosts: our hooks go in and out, and every other byte stays."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.operations.hook_hosts import EVENTS, HOSTS, NAMES
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.operations.hook_settings import add_hooks, check_settings, hooks_of, remove_hooks

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


def head_of(host: str) -> dict[str, Any]:
    return {"version": 1} if host == "cursor" else {}


def put(text: str | None, host: str, **how: str) -> str:
    return add_hooks(
        text,
        hooks_of(host, how.get("program", "mabos"), how.get("options", "")),
        host,
        "s.json",
        head_of(host),
    )


def load(text: str) -> Any:
    return json.loads(text.removeprefix("\ufeff"))


@settings(deadline=None)
@given(texts(), st.sampled_from(HOSTS))
def test_in_and_out_again_gives_back_every_byte(text: str, host: str) -> None:
    new = put(text, host)
    found, before = load(new), load(text)
    for event, element in hooks_of(host, "mabos"):
        assert found["hooks"][event][-1] == element
        found["hooks"][event].pop()
    assert all(found["hooks"].get(event) == listed for event, listed in before.get("hooks", {}).items())
    assert {k: v for k, v in found.items() if k != "hooks"} == {k: v for k, v in before.items() if k != "hooks"}
    assert put(new, host) == new
    assert remove_hooks(new, host, "s.json") == text
    assert remove_hooks(text, host, "s.json") == text


@settings(max_examples=30, deadline=None)
@given(texts())
def test_hosts_that_share_a_file_do_not_touch_each_other(text: str) -> None:
    both = put(put(text, "claude"), "codex")
    assert remove_hooks(both, "codex", "s.json") == put(text, "claude")
    left = remove_hooks(both, "claude", "s.json")
    assert left is not None and remove_hooks(left, "codex", "s.json") is not None


@pytest.mark.parametrize("host", HOSTS)
def test_a_file_of_our_own_goes_when_the_hooks_go(host: str) -> None:
    new = put(None, host)
    assert new.endswith("}\n") and put(new, host) == new
    assert remove_hooks(new, host, "s.json") is None
    kept = new.replace('{\n  "hooks"', '{\n  "model": "x",\n  "hooks"', 1)
    left = remove_hooks(kept, host, "s.json")
    assert left is not None and load(left) == {"model": "x"} | head_of(host)


@pytest.mark.parametrize(
    "text", ["{}", "{\n}\n", '{"hooks": {}}', '{\n  "version": 1\n}\n', '{"hooks": {"sessionStart": []}}']
)
def test_a_bare_file_of_somebody_else_stays(text: str) -> None:
    assert remove_hooks(put(text, "cursor"), "cursor", "s.json") == text


def test_what_each_host_is_given() -> None:
    for host in HOSTS:
        hooks = {hook.event: hook.element for hook in hooks_of(host, "mabos")}
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
    assert remove_hooks(one, "claude", "s.json") == theirs


def test_a_hook_that_a_person_put_beside_ours_stays() -> None:
    new = load(put("{}", "claude"))
    new["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "say done"})
    left = remove_hooks(json.dumps(new, indent=2), "claude", "s.json")
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
    left = remove_hooks(text, "claude", "s.json")
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
    assert remove_hooks(text, "claude", "s.json") == text


@pytest.mark.parametrize(
    "text, where",
    [
        ("", "s.json:1: the file is empty"),
        ('{\n  "a": 1 // why\n}', "s.json:2: not valid JSON"),
        ('{\n  "a": 1,}', "s.json:2: not valid JSON"),
        ('{"a": 1, "a": 2}', "s.json:1: not valid JSON: the key 'a' appears twice"),
        ("[]", "s.json:1: the settings must be an object"),
        ('{\n  "hooks": []\n}', "s.json:2: hooks must be an object"),
        ('{\n  "hooks": {\n    "Stop": {}\n  }\n}', "s.json:3: the hooks of Stop must be a list"),
        ('{"a": ' + "[" * 100_000, "s.json:1: not valid JSON: nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, where: str) -> None:
    for act in (
        lambda: put(text, "claude"),
        lambda: remove_hooks(text, "claude", "s.json"),
        lambda: check_settings(text, "s.json"),
    ):
        with pytest.raises(InvalidFile) as error:
            act()
        assert error.value.message.startswith(where)


def test_a_key_that_is_written_in_another_way_is_the_same_key() -> None:
    text = '{"\\u0068ooks": {"St\\u006fp": [1]}}'
    new = put(text, "claude")
    assert new.count('ooks": {') == 1 and len(load(new)["hooks"]["Stop"]) == 2
    assert remove_hooks(new, "claude", "s.json") == text
