"""A language model as a real program and a real server on loopback: what arrives, comes back, or fails."""

import fcntl
import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mabos_cli.backends import llm
from mabos_cli.backends.llm import Llm, open_llm
from mabos_cli.commands.call import Call as Invocation
from mabos_cli.config import check_setting, layer
from mabos_cli.core import BadValue
from mabos_cli.errors import Unavailable
from mabos_cli.services.operations.setup import allow_settings
from mabos_cli.services.search.llm_ask import open_writer
from mabos_cli.workspace.layout import WorkspacePaths

from .service import Answer, Call, Service, serving

KEY = "sk-secret-0123456789"
KEYS = {"MABOS_LLM_API_KEY": KEY, "OPENAI_API_KEY": "sk-openai-secret-987654"}
LONG = "Zürich 東京 🦉 \x1b \u2028 end\n" * 40_000
ECHO = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"

Open = Callable[..., Llm]


def opened(**options: Any) -> Llm | None:
    given = {"command": "", "url": "", "model": "", "timeout": 30.0, "environ": {**os.environ}, **options}
    return open_llm(**given)


@pytest.fixture
def program(tmp_path: Path) -> Open:
    """Opens a model whose program is the given Python code; its words follow the script's name."""

    def write(code: str, words: str = "", **options: Any) -> Llm:
        script = tmp_path / "a model.py"
        script.write_text(code, "utf-8")
        model = opened(command=f"'{sys.executable}' '{script}' {words}", **options)
        assert model
        return model

    return write


def failure(act: Callable[[], Any]) -> str:
    """What is said of a failure: one line, a hint, and no secret in either."""
    with pytest.raises(Unavailable) as caught:
        act()
    shown = f"{caught.value.message} {caught.value.hint}"
    assert "secret" not in shown and "\n" not in shown and "\x1b" not in shown and caught.value.hint
    assert len(caught.value.message) < 350
    return caught.value.message


def refused(model: Llm, prompt: str = "Say hello") -> str:
    return failure(lambda: model.write(prompt))


# Which model, if any


def test_no_model_and_no_request_unless_the_settings_name_one() -> None:
    with serving(said("hello")) as service:
        assert opened(model="m", environ=KEYS) is None
        assert opened(command="  ", url=" ", environ=KEYS | {"OPENAI_BASE_URL": service.url}) is None
        assert opened(url=service.url, model="m", environ=KEYS) is not None
    assert service.calls == []


def test_both_configured_is_an_error() -> None:
    assert "both llm.command and llm.url" in failure(lambda: opened(command="cat", url="http://x/v1"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"command": "cat 'secret"}, "llm.command cannot be split into words: No closing quotation"),
        ({"command": "'' secret"}, "llm.command names no program"),
        ({"command": "/"}, "llm.command names no program"),
        ({"url": "http://x/v1"}, "llm.url needs llm.model"),
        ({"url": "ftp://x/v1", "model": "m"}, "llm.url is not an http address"),
        ({"url": "http://[", "model": "m"}, "llm.url is not an http address"),
        ({"url": "http://me:secret@x/v1", "model": "m"}, "llm.url holds a user or password"),
        (
            {"url": "http://x/v1", "model": "m", "environ": {"MABOS_LLM_API_KEY": "sk-sec\nret"}},
            "MABOS_LLM_API_KEY holds characters that no key has",
        ),
    ],
)
def test_settings_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    assert failure(lambda: opened(**options)) == message


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"command": "ollama run llama3.2"}, "command:ollama"),
        ({"command": "'/home/me/my tools/write' --key sk-1"}, "command:write"),
        ({"url": "http://x/v1", "model": "gpt-x"}, "gpt-x"),
        ({"url": "http://x/v1", "model": "meta/llama-3"}, "meta/llama-3"),
        ({"url": "http://x/v1", "model": "/srv/models/llama.gguf"}, "llama.gguf"),
        ({"url": "http://x/v1", "model": "./llama/"}, "llama"),
        ({"url": "http://x/v1", "model": "/"}, "model"),
    ],
)
def test_names_hold_no_path(options: dict[str, Any], name: str) -> None:
    model = opened(**options, environ=KEYS)
    assert model and model.name == name
    assert "sk-" not in repr(model)


def test_import_is_cheap() -> None:
    heavy = ("subprocess", "selectors", "shlex", "urllib.request", "http.client")
    code = f"import sys, mabos_cli.backends.llm; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# A program


def test_the_prompt_arrives_whole_and_the_answer_is_stripped(program: Open) -> None:
    assert program(ECHO).write("\n  Hello, Zürich 🦉\x1b \n\n") == "Hello, Zürich 🦉\x1b"
    long = LONG[: 1 << 19]
    assert len(long.encode()) > 700_000
    assert program(ECHO).write(long) == long.strip()


def test_a_long_prompt_is_counted_by_the_program(program: Open) -> None:
    count = "import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"
    assert len(LONG.encode()) > 1 << 20
    assert program(count).write(LONG) == hashlib.sha256(LONG.encode()).hexdigest()


def test_no_shell_reads_the_words(program: Open, tmp_path: Path) -> None:
    words = "'two words' $HOME ~ * ; > x"
    assert (
        program("import sys; print(sys.argv[1:])", words).write("?")
        == "['two words', '$HOME', '~', '*', ';', '>', 'x']"
    )
    assert not (tmp_path / "x").exists()


def test_the_environment_is_passed_on(program: Open) -> None:
    model = program("import os; print(os.environ['COLOUR'])", environ={**os.environ, "COLOUR": "grün"})
    assert model.write("?") == "grün"


def test_a_program_is_found_by_the_path_of_the_environment(tmp_path: Path) -> None:
    tool = tmp_path / "greet"
    tool.write_text("#!/bin/sh\necho hello\n")
    tool.chmod(0o755)
    model = opened(command="greet", environ={"PATH": f"{tmp_path}{os.pathsep}{os.defpath}"})
    assert model and model.write("?") == "hello"


@pytest.mark.parametrize("prompt", ["short", LONG])
def test_a_program_need_not_read_its_prompt(program: Open, prompt: str) -> None:
    assert program("print('done')").write(prompt) == "done"
    assert program("import os; os.close(0); print('done')").write(prompt) == "done"


def test_a_program_that_closes_its_output_first_still_gets_the_prompt(program: Open) -> None:
    model = program(
        "import os, sys\nprint('done', flush=True)\nos.close(1)\nos.close(2)\n"
        "os._exit(0 if len(sys.stdin.buffer.read()) > 1 << 20 else 3)"
    )
    assert model.write(LONG) == "done"


def test_bytes_that_are_no_text_are_replaced(program: Open) -> None:
    assert program("import sys; sys.stdout.buffer.write(b'a\\xffb')").write("?") == "a\ufffdb"
    assert program(ECHO).write("a\ud800b") == "a?b"


def test_a_missing_program() -> None:
    model = opened(command="/no/such/secret/writer --fast")
    assert model and refused(model) == "the language model command:writer: no such program"


def test_a_program_that_cannot_be_run(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    model = opened(command=f"'{tmp_path}/notes.txt'")
    assert model and refused(model) == "the language model command:notes.txt: Permission denied"
    strange = opened(command="cat \0")
    assert strange and refused(strange) == "the language model command:cat: it cannot be started"


def test_an_exit_code_is_told_with_the_first_line_of_the_errors(program: Open) -> None:
    told = "\n  no \x1b[31mmodel " + "é" * 999 + "\nsecond"
    code = f"import sys; sys.stderr.buffer.write({told.encode()}); print('x'); sys.exit(7)"
    message = refused(program(code))
    assert ": exit code 7: no ␛[31mmodel ééé" in message and "second" not in message
    assert len(message.partition("code 7: ")[2]) <= 200
    assert refused(program("raise SystemExit(3)")).endswith(": exit code 3")
    assert refused(program("import os; os.kill(os.getpid(), 9)")).endswith(": ended by signal 9")


def test_a_key_in_the_errors_is_struck_out(program: Open) -> None:
    keys = KEYS | {"MY_TOKEN": f"{KEY}-and-more", "NO_KEY": "bad"}
    code = 'import os, sys; sys.exit(f\'bad key {os.environ["MABOS_LLM_API_KEY"]} {os.environ["MY_TOKEN"]}\')'
    assert refused(program(code, environ={**os.environ, **keys})).endswith("exit code 1: bad key *** ***")


@pytest.mark.parametrize("code", ["", "print(' \\n\\t ')"])
def test_an_empty_answer(program: Open, code: str) -> None:
    assert refused(program(code)).endswith(": its answer is empty")


def test_an_answer_may_have_one_mebibyte_and_no_more(program: Open) -> None:
    assert len(program(f"print('x' * {llm.LARGEST - 1})").write("?")) == llm.LARGEST - 1
    assert refused(program(f"print('x' * {llm.LARGEST})")).endswith(": its answer is larger than 1 MiB")


def test_an_endless_answer_is_not_read_to_its_end(program: Open, tmp_path: Path) -> None:
    model = program(FAMILY + "while True: print('x' * 9999)", f"'{tmp_path / 'pid'}'")
    assert refused(model).endswith(": its answer is larger than 1 MiB")
    assert all_ended(tmp_path / "pid.lock")


def test_errors_may_be_long(program: Open) -> None:
    code = "import sys\nfor _ in range(3000): sys.stderr.write('noise ' * 2000)\nprint('done')"
    assert program(code).write(LONG) == "done"


# A program that takes too long

# The lock is held until the last of the family has ended, whether or not somebody waited for it.
FAMILY = """
import fcntl, os, subprocess, sys, time
lock = open(sys.argv[1] + ".lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
subprocess.Popen(["sleep", "60"], pass_fds=[lock.fileno()])
subprocess.Popen(["sh", "-c", "sleep 60; true"], pass_fds=[lock.fileno()])
print("half an answer", flush=True)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(os.getpid()))
os.rename(sys.argv[1] + ".new", sys.argv[1])
"""


def all_ended(lock: Path) -> bool:
    """Whether everybody who holds a lock ends within a while."""
    end = time.monotonic() + 20
    with lock.open() as file:
        while time.monotonic() < end:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                time.sleep(0.02)
    return False


def test_the_time_limit_ends_all_that_the_program_started(program: Open, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    # Long enough for a busy machine to start Python, and far from the 60 seconds of those that sleep.
    model = program(FAMILY + "time.sleep(60)", f"'{pid}'", timeout=4.0)
    start = time.monotonic()
    assert refused(model, LONG).endswith(": no answer within 4 s")
    assert time.monotonic() - start < 40
    assert all_ended(tmp_path / "pid.lock")
    with pytest.raises(ChildProcessError):  # it was waited for
        os.waitpid(int(pid.read_text()), os.WNOHANG)


def test_the_time_limit_is_a_total(program: Open) -> None:
    drip = "import time\nwhile True:\n    print('x', flush=True)\n    time.sleep(0.05)"
    assert refused(program(drip, timeout=1.0)).endswith(": no answer within 1 s")
    closed = "import os, time\nprint('x', flush=True)\nos.close(1)\nos.close(2)\nos.close(0)\ntime.sleep(60)"
    assert refused(program(closed, timeout=1.0)).endswith(": no answer within 1 s")


def test_what_a_program_leaves_running_is_not_waited_for(program: Open, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    start = time.monotonic()
    assert program(FAMILY, f"'{pid}'", timeout=50.0).write(LONG) == "half an answer"
    assert time.monotonic() - start < 40
    os.killpg(int(pid.read_text()), signal.SIGKILL)
    assert all_ended(tmp_path / "pid.lock")


def test_an_interrupt_ends_the_program_too(tmp_path: Path) -> None:
    pid, script = tmp_path / "pid", tmp_path / "a model.py"
    # When the program has the whole prompt, the one that wrote it waits for the answer.
    script.write_text(f"import sys\nsys.stdin.read()\n{FAMILY}time.sleep(60)")
    command = f"'{sys.executable}' '{script}' '{pid}'"
    code = (
        "import os, sys, signal\nfrom mabos_cli.backends.llm import open_llm\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "open_llm(command=sys.argv[1], url='', model='', timeout=50, environ=os.environ).write('?')"
    )
    with subprocess.Popen([sys.executable, "-c", code, command], stderr=subprocess.PIPE) as writer:
        end = time.monotonic() + 30
        while not pid.exists() and time.monotonic() < end:
            time.sleep(0.02)
        writer.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in writer.communicate(timeout=30)[1]
    assert all_ended(tmp_path / "pid.lock")


# A service


def said(content: Any) -> Answer:
    return Answer({"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]})


def at(service: Service, **more: Any) -> Llm:
    model = opened(**{"url": f"{service.url}/v1", "model": "m-1", "environ": KEYS, **more})
    assert model
    return model


def test_a_service_is_asked_as_it_wants() -> None:
    with serving(said("\n Guten Tag 🦉\n")) as service:
        assert at(service).write("Grüß 東京\n") == "Guten Tag 🦉"
    [call] = service.calls
    assert call.path == "/v1/chat/completions" and call.headers["Authorization"] == f"Bearer {KEY}"
    assert call.body == {
        "model": "m-1",
        "messages": [{"role": "user", "content": "Grüß 東京\n"}],
        "temperature": 0,
        "stream": False,
    }


def test_a_long_prompt_reaches_the_service_whole() -> None:
    def echo(call: Call) -> Answer:
        return said(str(call.body["messages"][0]["content"] == LONG))

    with serving(echo) as service:
        assert at(service).write(LONG) == "True"


def test_the_whole_address_may_be_given() -> None:
    with serving(said("yes")) as service:
        assert at(service, url=f"{service.url}/v1/chat/completions/").write("?") == "yes"
    assert service.calls[0].path == "/v1/chat/completions"


def test_the_key_of_openai_goes_to_openai_alone() -> None:
    only = {"OPENAI_API_KEY": KEY}
    with serving(said("yes")) as service:
        at(service, environ=only).write("?")
        at(service, environ={}).write("?")
    assert all("Authorization" not in call.headers for call in service.calls)
    assert llm._find_key("https://api.openai.com/v1", only) == "OPENAI_API_KEY"
    assert llm._find_key("https://API.OpenAI.com:443/v1", only) == "OPENAI_API_KEY"
    assert llm._find_key("https://api.openai.com/v1", KEYS) == "MABOS_LLM_API_KEY"
    assert llm._find_key("https://api.openai.com/v1", {"MABOS_LLM_API_KEY": " "} | only) == "OPENAI_API_KEY"
    for other in ("http://api.openai.com", "https://api.openai.com.example.org", "https://x/api.openai.com"):
        assert llm._find_key(other, only) == ""


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer({"error": f"bad key {KEY}"}, 401), "it refused the key (401)"),
        (Answer(f"no such model\n for {KEY}".encode(), 404), "it answered 404: no such model for ***"),
        (Answer({}, 503, (("Retry-After", "19"),)), "it answered 503, tried 1 times"),
        (
            Answer({}, 307, (("Location", "http://127.0.0.1:9/"),)),
            "it answered 307 and points elsewhere; redirects are not followed",
        ),
        (Answer(b"<html>"), "its answer is not JSON"),
        (Answer([]), "its answer has another form than expected"),
        (Answer({"choices": []}), "its answer has another form than expected"),
        (Answer({"choices": [{"message": "x"}]}), "its answer has another form than expected"),
        (said(["x"]), "its answer has another form than expected"),
    ],
)
def test_a_service_that_fails(answer: Answer, message: str) -> None:
    with serving(answer) as service:
        host = service.url.removeprefix("http://")
        assert refused(at(service, timeout=5.0)) == f"the language model at {host}: {message}"
    assert len(service.calls) == 1


@pytest.mark.parametrize("content", ["", " \n", None])
def test_a_service_that_says_nothing(content: str | None) -> None:
    with serving(said(content)) as service:
        assert refused(at(service)) == "the language model m-1: its answer is empty"


def test_a_service_that_says_too_much_or_half_a_character() -> None:
    with serving(said("é" * (llm.LARGEST // 2 + 1)), said("a\ud800b")) as service:
        assert refused(at(service)) == "the language model m-1: its answer is larger than 1 MiB"
        assert at(service).write("?") == "a?b"


def test_a_silent_service_is_given_up() -> None:
    with serving(said("yes")._replace(wait=30.0)) as service:
        assert refused(at(service, timeout=0.3)).endswith(": no answer within 0.3 s")


def test_nobody_there() -> None:
    with serving(said("yes")) as service:
        pass
    with pytest.raises(Unavailable) as caught:
        at(service, timeout=1e300).write("?")
    host = service.url.removeprefix("http://")
    assert caught.value.message == f"the language model at {host}: Connection refused"
    assert caught.value.hint == "check MABOS_LLM_API_KEY and llm.url and llm.model"


# Settings


def test_settings_are_off_and_of_one_line() -> None:
    settings = layer([])
    chosen = {name: value for name, value in settings.values.items() if name.startswith("llm.")}
    bounds = {"llm.timeout": 60.0, "llm.max_questions": 20}
    assert chosen == {"llm.command": "", "llm.url": "", "llm.model": "", **bounds}
    assert check_setting("llm.command", "ollama run 'llama 3'") == "ollama run 'llama 3'"
    assert check_setting("llm.timeout", "2m") == 120.0
    for name, value in (
        ("command", "a\nb"),
        ("command", ["a"]),
        ("url", "x\x1b"),
        ("model", 4),
        ("timeout", -1),
    ):
        with pytest.raises(BadValue):
            check_setting(f"llm.{name}", value)


def test_the_writer_of_an_agent(workspace: Path, still_world: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def writer() -> Llm | None:
        return open_writer(Invocation(workspace=str(workspace)).open_agent())

    assert writer() is None
    (workspace / "mabos.yaml").write_text("llm:\n  command: cat\n")
    assert writer() is None
    allow_settings(WorkspacePaths(workspace))
    found = writer()
    assert found and (found.name, found.write("hello")) == ("command:cat", "hello")
    monkeypatch.setenv("MABOS_LLM_URL", "http://127.0.0.1:9/v1")
    assert "both" in failure(writer)
