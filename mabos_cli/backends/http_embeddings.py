"""Embeddings over HTTP: OpenAI, Gemini, Voyage, Ollama and whatever speaks like OpenAI. Keys come from the environment."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from mabos_cli.backends.embeddings import pack_unit
from mabos_cli.backends.http_client import Client, check_key, check_url, is_loopback
from mabos_cli.errors import Unavailable

BATCH = 50
# Every service takes this much of a text, in any script; more is refused by some and cut by others.
_CHARACTERS = 8_000
_WIDEST = 16_384
_OTHER_KEY = "MABOS_EMBEDDINGS_API_KEY"


class Provider(NamedTuple):
    """Holds what differs between the services. keys are the variables that may hold the key."""

    url: str
    path: str
    model: str
    keys: tuple[str, ...] = ()
    key_needed: bool = True
    key_header: str = "Authorization"


_PROVIDERS = {
    "openai": Provider("https://api.openai.com/v1", "/embeddings", "text-embedding-3-small", ("OPENAI_API_KEY",)),
    "voyage": Provider("https://api.voyageai.com/v1", "/embeddings", "voyage-3.5", ("VOYAGE_API_KEY",)),
    "gemini": Provider(
        "https://generativelanguage.googleapis.com/v1beta",
        "/models/{model}:batchEmbedContents",
        "gemini-embedding-001",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        key_header="x-goog-api-key",
    ),
    "ollama": Provider("http://127.0.0.1:11434", "/api/embed", "nomic-embed-text", key_needed=False),
    "http": Provider("", "/embeddings", "default", (_OTHER_KEY,), key_needed=False),
}


def open_http(
    provider: str,
    *,
    model: str = "",
    url: str = "",
    timeout: float = 10.0,
    environ: Mapping[str, str],
    sleep: Callable[[float], None] = time.sleep,
) -> "HttpEmbedder":
    """Returns the embedder of a service; nothing is sent yet. Unavailable when its key or address is missing."""
    about = _PROVIDERS[provider]
    where = _check_url(url or about.url, provider)
    key_from, key = _find_key(provider, about, where, environ)
    headers = {about.key_header: f"Bearer {key}" if about.key_header == "Authorization" else key} if key else {}
    model = model or about.model
    # Another server may mean something else by the same name.
    name = f"{provider}:{model}" if where == about.url else f"{provider}:{urlsplit(where).netloc}:{model}"
    return HttpEmbedder(provider, model, name, Client(where, headers, key_from, timeout, sleep))


def _check_url(url: str, provider: str) -> str:
    hint = "set embeddings.url to the address before /embeddings, such as http://127.0.0.1:8080/v1"
    if not url:
        raise Unavailable(f"the provider {provider} needs an address", hint)
    where = check_url(url, "embeddings.url", hint)
    return where.removesuffix("/embeddings") if provider != "ollama" else where


def _find_key(provider: str, about: Provider, where: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """Returns the variable that holds the key, and the key. A provider's key goes to its own host or to this machine, and nowhere else:
    another address has a variable of its own."""
    is_known = is_loopback(where) or (urlsplit(where)[:2] == urlsplit(about.url)[:2] and where.startswith("https:"))
    names = about.keys if is_known else (_OTHER_KEY,)
    for name in names:
        if key := environ.get(name, "").strip():
            return name, check_key(name, key)
    if about.key_needed:
        other = "" if is_known else f" for {urlsplit(where).netloc}"
        raise Unavailable(f"{provider} needs a key{other}", f"set {' or '.join(names)} in the environment")
    return "", ""


class HttpEmbedder:
    """A service that embeds. width is 0 until its first answer; later answers must agree with it."""

    costly, is_slow = True, False
    floor = 0.0

    def __init__(self, provider: str, model: str, name: str, client: Client) -> None:
        self.model = name
        self.width = 0
        self._provider = provider
        self._asked = model
        self._client = client

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Returns one vector for each document, in order, asked for in batches of 50."""
        return self._embed(texts, question=False)

    def embed_query(self, text: str) -> bytes:
        """Returns the vector of one question; some models make a difference between it and a document."""
        return self._embed([text], question=True)[0]

    def _embed(self, texts: Sequence[str], *, question: bool) -> list[bytes]:
        # Services refuse empty texts; a lone surrogate has no UTF-8.
        cut = [text[:_CHARACTERS].encode("utf-8", "replace").decode() for text in texts]
        places = [place for place, text in enumerate(cut) if text.strip()]
        found: dict[int, bytes] = {}
        for first in range(0, len(places), BATCH):
            chosen = places[first : first + BATCH]
            vectors = self._ask([cut[place] for place in chosen], question)
            found |= zip(chosen, vectors, strict=True)
        return [found.get(place) or bytes(4 * self.width) for place in range(len(texts))]

    def _ask(self, texts: list[str], question: bool) -> list[bytes]:
        path = _PROVIDERS[self._provider].path.format(model=quote(self._asked.removeprefix("models/"), safe=""))
        answer = self._client.ask(path, _make_question(self._provider, self._asked, texts, question))
        try:
            vectors = _take_vectors(self._provider, answer)
            if len(vectors) != len(texts):
                raise ValueError(f"{len(vectors)} vectors for {len(texts)} texts")
            return [self._pack(vector) for vector in vectors]
        except (KeyError, TypeError, AttributeError):
            reason = "its answer has another form than expected"
        except ValueError as error:
            reason = f"its answer has {error}"
        raise Unavailable(f"embeddings from {self._client.host}: {reason}", "check embeddings.model and embeddings.url")

    def _pack(self, vector: Any) -> bytes:
        if not isinstance(vector, list) or not all(type(value) in (int, float) for value in vector):
            raise TypeError("not a list of numbers")
        if not 0 < len(vector) <= _WIDEST or self.width not in (0, len(vector)):
            raise ValueError(f"vectors of {len(vector)} numbers{f', not {self.width}' if self.width else ''}")
        packed = pack_unit(vector)
        self.width = len(vector)
        return packed


def _make_question(provider: str, model: str, texts: list[str], question: bool) -> dict[str, Any]:
    if provider == "gemini":
        name = f"models/{model.removeprefix('models/')}"
        task = "RETRIEVAL_QUERY" if question else "RETRIEVAL_DOCUMENT"
        return {
            "requests": [{"model": name, "content": {"parts": [{"text": text}]}, "taskType": task} for text in texts]
        }
    asked: dict[str, Any] = {"model": model, "input": texts}
    if provider == "voyage":
        asked["input_type"] = "query" if question else "document"
    elif provider in ("openai", "http"):
        asked["encoding_format"] = "float"
    return asked


def _take_vectors(provider: str, answer: Any) -> list[Any]:
    """Returns the vectors of an answer in the order of the texts; KeyError or TypeError when it has another form."""
    if provider == "ollama":
        return [*answer["embeddings"]]
    if provider == "gemini":
        return [entry["values"] for entry in answer["embeddings"]]
    entries = answer["data"]
    if any("index" in entry for entry in entries):
        places = [entry["index"] for entry in entries]
        if sorted(places) != [*range(len(entries))]:
            raise ValueError("places that do not count up from 0")
        entries = sorted(entries, key=lambda entry: entry["index"])
    return [entry["embedding"] for entry in entries]
