"""The one door to a language model, if there is one: a prompt goes in, text comes out."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from mabos_cli.core.language.text import one_line
from mabos_cli.errors import Unavailable

if TYPE_CHECKING:
    from subprocess import Popen

LARGEST = 1 << 20
_CHUNK = 1 << 16
_TOLD = 200
# A socket overflows at some centuries; a day is for ever already.
_LONGEST = 86_400.0
# How often to look whether a program ended whose output somebody else still holds open.
_TICK = 0.2
# How long a program that was killed may take to vanish.
_LAST_WAIT = 5.0
_KEY = "MABOS_LLM_API_KEY"
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_ENDING = "/chat/completions"


class Llm(NamedTuple):
    """A model that writes. name says which one, without paths and keys; ask gives its answer as it came."""

    name: str
    ask: Callable[[str], str]

    def write(self, prompt: str) -> str:
        """Returns the text that the model answers, stripped; Unavailable when it gives none."""
        # A lone surrogate has no UTF-8, on the way in as on the way out.
        answer = _encode(self.ask(_encode(prompt).decode()))
        if len(answer) > LARGEST:
            raise _fault(self.name, _too_large())
        if not (text := answer.decode().strip()):
            raise _fault(self.name, "its answer is empty")
        return text


def open_llm(*, command: str, url: str, model: str, timeout: float, environ: Mapping[str, str]) -> Llm | None:
    """Returns the model that the settings name, or None when they name none. Nothing is run or sent yet."""
    command, url, timeout = command.strip(), url.strip(), min(timeout, _LONGEST)
    if command and url:
        raise Unavailable("both llm.command and llm.url are set", "keep one of them")
    if command:
        return _open_program(command, timeout, environ)
    return _open_chat(url, model.strip(), timeout, environ) if url else None


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _too_large() -> str:
    return f"its answer is larger than {LARGEST >> 20} MiB"


def _fault(name: str, reason: str, hint: str = "check the llm settings, or leave them empty") -> Unavailable:
    return Unavailable(f"the language model {name}: {reason}", hint)


def _open_chat(url: str, model: str, timeout: float, environ: Mapping[str, str]) -> Llm:
    """Returns a service that completes chats as OpenAI's does."""
    from mabos_cli.backends.http_client import Client, check_key, check_url

    hint = f"set llm.url to the address before {_ENDING}, such as http://127.0.0.1:8080/v1"
    where = check_url(url, "llm.url", hint).removesuffix(_ENDING)
    if not model:
        raise Unavailable("llm.url needs llm.model", "set llm.model to a model that the service has")
    key_from = _find_key(where, environ)
    key = check_key(key_from, environ[key_from]) if key_from else ""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    advice = "llm.url and llm.model"
    client = Client(where, headers, key_from, timeout, what="the language model at", advice=advice)

    def ask(prompt: str) -> str:
        message = {"role": "user", "content": prompt}
        question = {"model": model, "messages": [message], "temperature": 0, "stream": False}
        return _take_text(client.host, client.ask(_ENDING, question))

    # Some servers call a model by the path of its file; an owner before its name (meta/llama) is no path.
    is_path = model.startswith(("/", ".", "~"))
    return Llm(model.rstrip("/").rpartition("/")[2] or "model" if is_path else model, ask)


def _find_key(url: str, environ: Mapping[str, str]) -> str:
    """Returns the variable that holds the key for an address, or nothing. OpenAI's key goes to OpenAI alone."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    is_openai = (parts.scheme, parts.hostname) == ("https", "api.openai.com")
    names = (_KEY, "OPENAI_API_KEY") if is_openai else (_KEY,)
    return next((name for name in names if environ.get(name, "").strip()), "")


def _take_text(host: str, answer: Any) -> str:
    """Returns what the assistant said; a model that declines says null."""
    try:
        text = answer["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        text = 0
    if not isinstance(text, str | None):
        reason = "its answer has another form than expected"
        raise Unavailable(f"the language model at {host}: {reason}", "check llm.url and llm.model")
    return text or ""


class Ended(NamedTuple):
    """A program that ended by itself: its exit code (minus the signal that ended it), and what it wrote."""

    code: int
    output: bytes
    errors: bytes


def _open_program(command: str, timeout: float, environ: Mapping[str, str]) -> Llm:
    """Returns a program that reads the prompt on standard input and writes the answer."""
    import shlex

    try:
        words = shlex.split(command)
    except ValueError as error:
        raise Unavailable(f"llm.command cannot be split into words: {error}", "quote it as in a shell") from None
    name = words[0].rstrip("/").rpartition("/")[2] if words else ""
    if not name:
        raise Unavailable("llm.command names no program", "set llm.command to a program and its options")
    name = f"command:{name}"

    def ask(prompt: str) -> str:
        ended = _run(name, words, _encode(prompt), timeout, environ)
        if ended.code:
            raise _fault(name, _reason(ended, environ))
        return ended.output.decode("utf-8", "replace")

    return Llm(name, ask)


def _reason(ended: Ended, environ: Mapping[str, str]) -> str:
    """Returns how a program failed, in its own words but for the keys in them."""
    how = f"exit code {ended.code}" if ended.code > 0 else f"ended by signal {-ended.code}"
    told = ended.errors.decode("utf-8", "replace").strip().split("\n")[0]
    # A short value is a word such as "none", which would be struck out of any text.
    values = [value.strip() for name, value in environ.items() if name.upper().endswith(_SECRET)]
    for secret in sorted((value for value in values if len(value) >= 8), key=len, reverse=True):
        told = told.replace(secret, "***")
    return f"{how}{': ' if told else ''}{one_line(told, _TOLD)}"


def _run(name: str, words: list[str], prompt: bytes, timeout: float, environ: Mapping[str, str]) -> Ended:
    """Returns what became of a program, run without a shell; Unavailable when it takes too long or says too much."""
    from subprocess import PIPE, Popen, TimeoutExpired

    end = time.monotonic() + timeout
    pipes: dict[str, Any] = {"stdin": PIPE, "stdout": PIPE, "stderr": PIPE, "bufsize": 0}
    try:
        # In a session of its own: what the program starts can be ended together with it.
        process = Popen(words, **pipes, env=dict(environ), start_new_session=True)
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or "it cannot be started"
        reason = "no such program" if isinstance(error, FileNotFoundError) else told
        hint = "give its full path in llm.command; no shell reads it, so that ~ and $ mean nothing"
        raise _fault(name, reason, hint) from None
    try:
        output, errors = _talk(process, prompt, end)
        if len(output) > LARGEST:
            raise _fault(name, _too_large())
        return Ended(process.wait(max(0.0, end - time.monotonic())), bytes(output), bytes(errors))
    except (TimeoutError, TimeoutExpired):
        raise _fault(name, f"no answer within {timeout:g} s", "llm.timeout sets the limit") from None
    finally:
        _end(process)


def _talk(process: "Popen[bytes]", prompt: bytes, end: float) -> tuple[bytearray, bytearray]:
    """Returns output and errors of a program that is fed the prompt meanwhile; TimeoutError when time is up."""
    from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector

    assert process.stdin and process.stdout and process.stderr, "all three are pipes"
    output, errors, left = bytearray(), bytearray(), memoryview(prompt)
    with DefaultSelector() as pipes:
        for pipe in (process.stdin, process.stdout, process.stderr):
            os.set_blocking(pipe.fileno(), False)
            pipes.register(pipe, EVENT_WRITE if pipe is process.stdin else EVENT_READ)
        while pipes.get_map() and len(output) <= LARGEST:
            # Asked before the pipes are: what a program wrote is in them when it ends.
            ended = process.poll() is not None
            if (patience := end - time.monotonic()) <= 0:
                raise TimeoutError
            ready: list[Any] = [key.fileobj for key, _ in pipes.select(0 if ended else min(_TICK, patience))]
            # What it started may live on with the pipes in its hands; nobody waits for that.
            if ended and not {process.stdout, process.stderr} & {*ready}:
                break
            for pipe in ready:
                if pipe is process.stdin:
                    left = _feed(pipe, left)
                    done = not left
                elif pipe is process.stdout:
                    done = _take(pipe, output, LARGEST + 1)
                else:
                    done = _take(pipe, errors, _CHUNK)
                if done:
                    pipes.unregister(pipe)
                    pipe.close()
    return output, errors


def _feed(pipe: Any, left: memoryview) -> memoryview:
    """Returns what is left to write; nothing, when the program reads no further."""
    try:
        return left[pipe.write(left[:_CHUNK]) or 0 :]
    except BrokenPipeError:
        return left[:0]


def _take(pipe: Any, kept: bytearray, room: int) -> bool:
    """Returns whether the pipe has come to its end."""
    # What does not fit is read too, so that the program can go on, and dropped.
    part: bytes | None = pipe.read(_CHUNK)
    kept += (part or b"")[: room - len(kept)]
    return part == b""


def _end(process: "Popen[bytes]") -> None:
    """Ends a program that runs still, with all that it started, and leaves no zombie."""
    from signal import SIGKILL
    from subprocess import TimeoutExpired

    # Before the pipes are closed: that could end it alone, and leave behind what it started.
    # Not once it was waited for: its number may belong to others then.
    if process.poll() is None:
        # One that runs as somebody else (sudo) cannot be ended, and is not waited for.
        with suppress(PermissionError, ProcessLookupError, TimeoutExpired):
            os.killpg(process.pid, SIGKILL)
            process.wait(_LAST_WAIT)
    for pipe in (process.stdin, process.stdout, process.stderr):
        assert pipe is not None, "all three are pipes"
        pipe.close()
