"""Calls a language model, if one is configured: takes a prompt, returns text."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from mabos_cli.core.language.text import one_line
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import Unavailable

if TYPE_CHECKING:
    from subprocess import Popen

LARGEST = 1 << 20
_CHUNK = 1 << 16
_LONGEST_REASON = 200
# Longer timeouts would overflow in a socket.
_LONGEST = 86_400.0
# Seconds between two checks of how much a program has written.
_TICK = 0.05
# How long a program that was killed may take to vanish.
_LAST_WAIT = 5.0
_KEY = "MABOS_LLM_API_KEY"
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_ENDING = "/chat/completions"


class Llm(NamedTuple):
    """A language model: its name, without paths and keys, and a function that returns its raw answer."""

    name: str
    ask: Callable[[str], str]

    def write(self, prompt: str) -> str:
        """Returns the stripped answer of the model; Unavailable if there is none."""
        # A lone surrogate has no UTF-8, on the way in as on the way out.
        answer = _encode(self.ask(_encode(prompt).decode()))
        if len(answer) > LARGEST:
            raise _fault(self.name, _too_large())
        if not (text := answer.decode().strip()):
            raise _fault(self.name, "its answer is empty")
        return text


def open_llm(*, command: str, url: str, model: str, timeout: float, environ: Mapping[str, str]) -> Llm | None:
    """Returns the configured model, or None. Nothing is run or sent yet."""
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
    """Returns the model of an OpenAI-compatible service."""
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
    """Returns the variable with the key for an address, or nothing. OpenAI's key is sent to OpenAI only."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    is_openai = (parts.scheme, parts.hostname) == ("https", "api.openai.com")
    names = (_KEY, "OPENAI_API_KEY") if is_openai else (_KEY,)
    return next((name for name in names if environ.get(name, "").strip()), "")


def _take_text(host: str, answer: Any) -> str:
    """Returns the text of the assistant; a model that declines returns null."""
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
    """Describes how a program failed, with its first line of standard error, without keys."""
    how = f"exit code {ended.code}" if ended.code > 0 else f"ended by signal {-ended.code}"
    line = ended.errors.decode("utf-8", "replace").strip().split("\n")[0]
    # A short value is often a word such as "none", which would be replaced in any text.
    values = [value.strip() for name, value in environ.items() if name.upper().endswith(_SECRET)]
    for secret in sorted((value for value in values if len(value) >= 8), key=len, reverse=True):
        line = line.replace(secret, "***")
    return f"{how}{': ' if line else ''}{one_line(line, _LONGEST_REASON)}"


def _run(name: str, words: list[str], prompt: bytes, timeout: float, environ: Mapping[str, str]) -> Ended:
    """Runs a program without a shell and returns how it ended; Unavailable when it takes too long or writes too much.

    It reads and writes files, not pipes: whatever it started may live on with them, and nobody waits for that.
    """
    from subprocess import Popen
    from tempfile import TemporaryFile

    with TemporaryFile() as asked, TemporaryFile() as output, TemporaryFile() as errors:
        asked.write(prompt)
        asked.seek(0)
        try:
            # In a session of its own: what the program starts can be ended together with it.
            process = Popen(words, stdin=asked, stdout=output, stderr=errors, env=dict(environ), start_new_session=True)
        except (OSError, ValueError) as error:
            message = getattr(error, "strerror", None) or "it cannot be started"
            reason = "no such program" if isinstance(error, FileNotFoundError) else message
            hint = "give its full path in llm.command; no shell reads it, so that ~ and $ mean nothing"
            raise _fault(name, reason, hint) from None
        try:
            if not _wait(process, output, timeout):
                raise _fault(name, f"no answer within {timeout:g} s", "llm.timeout sets the limit")
        finally:
            _end(process)
        output.seek(0)
        errors.seek(0)
        answer = output.read(LARGEST + 1)
        if len(answer) > LARGEST:
            raise _fault(name, _too_large())
        return Ended(process.returncode, answer, errors.read(_CHUNK))


def _wait(process: "Popen[bytes]", output: IO[bytes], timeout: float) -> bool:
    """Waits until a program ends or has written too much; returns whether it did so in time."""
    from subprocess import TimeoutExpired

    end = time.monotonic() + timeout
    while (rest := end - time.monotonic()) > 0 and os.fstat(output.fileno()).st_size <= LARGEST:
        with suppress(TimeoutExpired):
            process.wait(min(_TICK, rest))
            return True
    return rest > 0


def _end(process: "Popen[bytes]") -> None:
    """Ends a program that runs still, with all that it started, and leaves no zombie."""
    from signal import SIGKILL
    from subprocess import TimeoutExpired

    # Not once it was waited for: its number may belong to others then.
    if process.poll() is None:
        # One that runs as somebody else (sudo) cannot be ended, and is not waited for.
        with suppress(PermissionError, ProcessLookupError, TimeoutExpired):
            os.killpg(process.pid, SIGKILL)
            process.wait(_LAST_WAIT)
