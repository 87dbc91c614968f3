"""Sends one JSON request to a web service: time, size and retries are bounded, and no key leaks."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException, HTTPResponse
from itertools import count
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from mabos_cli.errors import Unavailable

ATTEMPTS = 4
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 20.0
# A call with all its retries may take this many times the limit of one request.
_PATIENCE = 3
_LARGEST_ANSWER = 32 << 20
_CHUNK = 1 << 16
_LONGEST_BODY = 200


class TryAgain(Exception):
    """Raised for a temporary failure; `after` is the wait that the service asked for, or 0."""

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


class Client(NamedTuple):
    """The address and headers of a service. key_from names the variable with the key; the key is never shown."""

    url: str
    headers: Mapping[str, str]
    key_from: str = ""
    timeout: float = 10.0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    # How a fault begins, before the host, and what it advises to check.
    what: str = "embeddings from"
    advice: str = "embeddings.url, or choose another provider"

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    def ask(self, path: str, question: Any) -> Any:
        """Returns the JSON of the answer; Unavailable if there is none in time."""
        request = urllib.request.Request(
            self.url + path,
            data=json.dumps(question).encode(),
            headers={"Content-Type": "application/json", "User-Agent": "mabos", **self.headers},
        )
        deadline = self.clock() + _PATIENCE * self.timeout
        for attempt in count():
            try:
                return self._parse(self._send(request))
            except TryAgain as failure:
                pause = min(failure.after or _FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE)
                if attempt == ATTEMPTS - 1 or self.clock() + pause > deadline:
                    raise self._fault(f"{failure}, tried {attempt + 1} times") from None
            self.sleep(pause)

    def _send(self, request: urllib.request.Request) -> bytes:
        end = self.clock() + self.timeout
        # No proxy can reach this machine's own loopback.
        handlers = [_NoRedirects(), *([urllib.request.ProxyHandler({})] if is_loopback(self.url) else [])]
        send = urllib.request.build_opener(*handlers).open
        try:
            with send(request, timeout=self.timeout) as answer:
                return self._read(answer, end)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error, end) from None
        except (urllib.error.URLError, OSError, HTTPException) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            if isinstance(reason, TimeoutError):
                raise self._fault(f"no answer within {self.timeout:g} s") from None
            cut = isinstance(reason, ConnectionError | HTTPException)
            if cut and not isinstance(reason, ConnectionRefusedError):
                raise TryAgain("the connection was cut") from None
            raise self._fault(getattr(reason, "strerror", None) or type(reason).__name__) from None

    def _read(self, answer: HTTPResponse, end: float) -> bytes:
        """Returns the whole body within the time limit, which a socket would restart with every byte."""
        parts, size = [], 0
        while part := answer.read1(_CHUNK):
            parts.append(part)
            size += len(part)
            if size > _LARGEST_ANSWER:
                raise self._fault(f"its answer is larger than {_LARGEST_ANSWER >> 20} MiB")
            if self.clock() > end:
                raise self._fault(f"no whole answer within {self.timeout:g} s")
        # read1 ends without an error if the connection is closed early; then bytes of the promised length are missing.
        if answer.length:
            raise TryAgain("the connection was cut")
        return b"".join(parts)

    def _refusal(self, error: urllib.error.HTTPError, end: float) -> Exception:
        """Returns the error for an answer other than 200."""
        if error.code == 429 or error.code >= 500:
            return TryAgain(f"it answered {error.code}", _seconds(error.headers.get("Retry-After")))
        if error.code in (401, 403):
            # Services often repeat a part of the key here: their message is not passed on.
            return self._fault(f"it refused {'the key' if self.key_from else 'a call without a key'} ({error.code})")
        if error.code < 400:
            return self._fault(f"it answered {error.code} and points elsewhere; redirects are not followed")
        try:
            body = " ".join(error.read(_CHUNK).decode("utf-8", "replace").split())
        except (OSError, HTTPException):
            body = ""
        for secret in self.headers.values():
            body = body.replace(secret.removeprefix("Bearer "), "***")
        return self._fault(f"it answered {error.code}{': ' if body else ''}{body[:_LONGEST_BODY]}")

    def _parse(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise self._fault("its answer is not JSON") from None

    def _fault(self, reason: str) -> Unavailable:
        key = f"check {self.key_from} and " if self.key_from else "check "
        return Unavailable(f"{self.what} {self.host}: {reason}", f"{key}{self.advice}")


def check_url(url: str, setting: str, hint: str) -> str:
    """Returns an address without a final slash; Unavailable if it is invalid or contains a password."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or not url.isascii() or not url.isprintable() or " " in url:
        raise Unavailable(f"{setting} is not an http address", hint)
    if "@" in parts.netloc:
        raise Unavailable(f"{setting} holds a user or password", "keys are read from the environment alone")
    return url.rstrip("/")


def is_loopback(url: str) -> bool:
    """Returns whether an address is on this machine."""
    return urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")


def check_key(name: str, key: str) -> str:
    """Returns a key that is valid in a header; the http library would quote an invalid one in its error."""
    key = key.strip()
    if not key.isascii() or not key.isprintable():
        raise Unavailable(f"{name} holds characters that no key has", f"set {name} again")
    return key


def _seconds(text: str | None) -> float:
    """Returns the seconds of a Retry-After header; 0 for a date, its other form."""
    try:
        return min(max(float(text or 0), 0.0), _LONGEST_PAUSE)
    except ValueError:
        return 0.0


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to whatever host the answer names."""

    def redirect_request(self, *_: Any) -> None:
        return None
