"""Embeddings over HTTP against a real server on loopback: order, batches, retries, limits, and keys that stay secret."""

import math
import socket
import struct
import time
from typing import Any

import pytest

from mabos_cli.backends import http_client
from mabos_cli.backends.embeddings import open_embedder
from mabos_cli.backends.http_embeddings import HttpEmbedder, open_http
from mabos_cli.errors import Unavailable

from .service import Answer, Call, Service, serving, speak_openai, vector_of

KEY = "sk-secret-0123456789"
KEYS = {name: KEY for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "VOYAGE_API_KEY", "MABOS_EMBEDDINGS_API_KEY")}
OK = speak_openai
GOOD = Answer({"data": [{"index": 0, "embedding": [1.0, 1.0, 0.0]}]})


def at(service: Service, provider: str = "openai", pauses: list[float] | None = None, **more: Any) -> HttpEmbedder:
    sleep = (pauses if pauses is not None else []).append
    return open_http(provider, **{"url": service.url, "environ": KEYS, "sleep": sleep, **more})


def number_of(blob: bytes) -> float:
    """The number that vector_of put in."""
    first, second, *_ = struct.unpack(f"<{len(blob) // 4}f", blob)
    return round(first / second)


def failure(embedder: HttpEmbedder, texts: tuple[str, ...] = ("text 1",)) -> str:
    with pytest.raises(Unavailable) as caught:
        embedder.embed(texts)
    shown = f"{caught.value.message} {caught.value.hint}"
    assert KEY not in shown and "secret" not in shown and "\n" not in shown and caught.value.hint
    return caught.value.message


@pytest.mark.parametrize("provider", ["openai", "voyage", "gemini"])
@pytest.mark.parametrize(
    "url", ["https://evil.example/v1", "http://api.openai.com/v1", "https://api.openai.com.evil.example/v1"]
)
def test_the_key_of_a_provider_goes_to_its_own_host_only(provider: str, url: str) -> None:
    keys = {"OPENAI_API_KEY": "k-1", "VOYAGE_API_KEY": "k-2", "GEMINI_API_KEY": "k-3", "GOOGLE_API_KEY": "k-4"}
    with pytest.raises(Unavailable) as caught:
        open_http(provider, url=url, environ=keys)
    assert "MABOS_EMBEDDINGS_API_KEY" in caught.value.hint
    found = open_http(provider, url=url, environ={**keys, "MABOS_EMBEDDINGS_API_KEY": "mine"})
    assert [value.removeprefix("Bearer ") for value in found._client.headers.values()] == ["mine"]


def test_120_texts_are_three_requests_in_order() -> None:
    with serving(OK) as service:
        model = at(service)
        assert model.width == 0
        blobs = model.embed([f"text {n}" for n in range(120)])
    assert [number_of(blob) for blob in blobs] == [*range(120)]
    assert [len(call.body["input"]) for call in service.calls] == [50, 50, 20]
    assert model.width == 3
    assert all(math.isclose(sum(x * x for x in struct.unpack("<3f", blob)), 1, abs_tol=1e-6) for blob in blobs)


def test_openai_is_asked_as_it_wants() -> None:
    with serving(OK) as service:
        at(service, url=f"{service.url}/v1/", model="m-1").embed(["text 7"])
    [call] = service.calls
    assert call.path == "/v1/embeddings" and call.headers["Authorization"] == f"Bearer {KEY}"
    assert call.body == {"model": "m-1", "input": ["text 7"], "encoding_format": "float"}


def test_any_compatible_address_with_and_without_a_key() -> None:
    with serving(OK) as service:
        model = open_embedder("http", url=f"{service.url}/x/embeddings", model="m", environ={})
        model.embed(["text 1"])
        at(service, "http").embed(["text 1"])
    assert service.calls[0].path == "/x/embeddings" and "Authorization" not in service.calls[0].headers
    assert service.calls[1].headers["Authorization"] == f"Bearer {KEY}"
    assert model.model == f"http:{service.url.removeprefix('http://')}:m" and model.costly


def test_places_may_be_left_out() -> None:
    def plain(call: Call) -> Answer:
        return Answer({"data": [{"embedding": vector_of(text)} for text in call.body["input"]]})

    with serving(plain) as service:
        assert [*map(number_of, at(service, "http").embed(["a 3", "b 1"]))] == [3, 1]


def test_voyage_knows_documents_from_questions() -> None:
    with serving(OK) as service:
        model = at(service, "voyage")
        model.embed(["text 1"])
        model.embed_query("text 2")
    assert [call.body["input_type"] for call in service.calls] == ["document", "query"]
    assert service.calls[0].path == "/embeddings"


def test_gemini() -> None:
    def speak(call: Call) -> Answer:
        texts = [each["content"]["parts"][0]["text"] for each in call.body["requests"]]
        return Answer({"embeddings": [{"values": vector_of(text)} for text in texts]})

    with serving(speak) as service:
        model = at(service, "gemini", environ={"GOOGLE_API_KEY": KEY})
        assert [*map(number_of, model.embed(["a 3", "b 1"]))] == [3, 1]
        assert number_of(model.embed_query("c 5")) == 5
    first, second = service.calls
    assert first.path == "/models/gemini-embedding-001:batchEmbedContents"
    assert KEY in first.headers.values() and "Authorization" not in first.headers and KEY not in first.path
    assert first.body["requests"][0]["model"] == "models/gemini-embedding-001"
    assert [call.body["requests"][0]["taskType"] for call in (first, second)] == [
        "RETRIEVAL_DOCUMENT",
        "RETRIEVAL_QUERY",
    ]


def test_ollama_needs_no_key() -> None:
    def speak(call: Call) -> Answer:
        return Answer({"embeddings": [vector_of(text) for text in call.body["input"]]})

    with serving(speak) as service:
        model = at(service, "ollama", environ={})
        assert [*map(number_of, model.embed(["a 3", "b 1"]))] == [3, 1]
    assert service.calls[0].path == "/api/embed"
    assert service.calls[0].body == {"model": "nomic-embed-text", "input": ["a 3", "b 1"]}


def test_names_tell_models_and_servers_apart() -> None:
    assert open_http("openai", environ=KEYS).model == "openai:text-embedding-3-small"
    assert open_http("openai", model="x", environ=KEYS).model == "openai:x"
    assert open_http("openai", url="https://other.example/v1", environ=KEYS).model.startswith("openai:other.example:")


def test_empty_texts_are_not_sent() -> None:
    with serving(OK) as service:
        model = at(service)
        assert model.embed([]) == [] and not any(model.embed_query(" "))
        assert service.calls == []
        first, second, third = model.embed(["", "text 4", "\n"])
    assert not any(first) and not any(third) and number_of(second) == 4
    assert len(first) == 12 and service.calls[0].body["input"] == ["text 4"]


def test_odd_and_long_texts_arrive() -> None:
    with serving(GOOD) as service:
        at(service).embed(["a\ud800é" + "x" * 20_000])
    [text] = service.calls[0].body["input"]
    assert text.startswith("a?éxxx") and len(text) == 8_000


def test_retry_after_is_honoured() -> None:
    pauses: list[float] = []
    with serving(Answer({}, 429, (("Retry-After", "7"),)), OK) as service:
        assert number_of(at(service, pauses=pauses).embed(["text 9"])[0]) == 9
    assert pauses == [7.0] and len(service.calls) == 2


@pytest.mark.parametrize(("asked", "paused"), [("100000", 20.0), ("-5", 0.5), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.5)])
def test_retry_after_has_limits(asked: str, paused: float) -> None:
    pauses: list[float] = []
    with serving(Answer({}, 503, (("Retry-After", asked),)), OK) as service:
        at(service, pauses=pauses).embed(["text 9"])
    assert pauses == [paused]


def test_pauses_grow_and_then_it_gives_up() -> None:
    pauses: list[float] = []
    with serving(Answer({}, 500)) as service:
        said = failure(at(service, pauses=pauses))
    assert pauses == [0.5, 1.0, 2.0] and len(service.calls) == 4
    assert "500" in said and "tried 4 times" in said


def test_no_pause_beyond_the_limit_of_the_call() -> None:
    pauses: list[float] = []
    with serving(Answer({}, 429, (("Retry-After", "19"),))) as service:
        failure(at(service, pauses=pauses, timeout=5))
    assert pauses == [] and len(service.calls) == 1


def test_a_cut_connection_is_tried_again() -> None:
    with serving(GOOD._replace(claimed=5_000), OK) as service:
        assert number_of(at(service).embed(["text 9"])[0]) == 9
    assert len(service.calls) == 2


def test_a_connection_closed_without_a_word_is_tried_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        import threading

        accepted = []

        def hang_up() -> None:
            for _ in range(http_client.ATTEMPTS):
                connection, _ = listener.accept()
                accepted.append(connection.recv(10))
                connection.close()

        threading.Thread(target=hang_up, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        said = failure(open_http("openai", url=url, environ=KEYS, sleep=lambda _: None))
    assert "cut" in said and len(accepted) == 4


def test_a_silent_service_is_given_up_in_time() -> None:
    with serving(GOOD._replace(wait=30.0)) as service:
        start = time.monotonic()
        assert "no answer within 0.3 s" in failure(at(service, timeout=0.3))
    assert time.monotonic() - start < 3 and len(service.calls) == 1


def test_a_dripping_service_is_given_up_in_time() -> None:
    with serving(GOOD._replace(drip=0.05)) as service:
        start = time.monotonic()
        assert "within 0.3 s" in failure(at(service, timeout=0.3))
    assert time.monotonic() - start < 3


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    assert "Connection refused" in failure(open_http("ollama", url=url, environ={}))


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_not_tried_again_nor_shown(status: int) -> None:
    echo = Answer({"error": {"message": f"Incorrect API key provided: {KEY} secret"}}, status)
    with serving(echo) as service:
        assert f"refused the key ({status})" in failure(at(service))
    assert len(service.calls) == 1


def test_other_refusals_are_told_without_the_key() -> None:
    with serving(Answer(f"no such model\n for {KEY} {'x' * 999}".encode(), 404)) as service:
        said = failure(at(service))
    assert "404: no such model for *** xxx" in said and len(said) < 300


def test_redirects_are_not_followed() -> None:
    with serving(OK) as other, serving(Answer({}, 307, (("Location", other.url),))) as service:
        assert "307" in failure(at(service))
    with serving(OK) as other, serving(Answer({}, 302, (("Location", other.url),))) as service:
        assert "redirects" in failure(at(service))
    assert other.calls == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>hello</html>", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        ([], "another form"),
        ({"data": 5}, "another form"),
        ({"data": [5]}, "another form"),
        ({"data": [{"index": 0}]}, "another form"),
        ({"data": [{"index": 0, "embedding": "x"}]}, "another form"),
        ({"data": [{"index": 0, "embedding": [1, "x"]}]}, "another form"),
        ({"data": [{"index": 0, "embedding": [1, None]}]}, "another form"),
        ({"data": [{"index": 0, "embedding": [1, True]}]}, "another form"),
        ({"data": []}, "0 vectors for 1 texts"),
        ({"data": [{"index": n, "embedding": [1.0]} for n in range(2)]}, "2 vectors for 1 texts"),
        ({"data": [{"index": 1, "embedding": [1.0]}]}, "places"),
        ({"data": [{"index": 0, "embedding": []}]}, "vectors of 0 numbers"),
        ({"data": [{"index": 0, "embedding": [0.5] * 20_000}]}, "vectors of 20000 numbers"),
        ({"data": [{"index": 0, "embedding": [1.0, math.nan]}]}, "not finite"),
        ({"data": [{"index": 0, "embedding": [1.0, math.inf]}]}, "not finite"),
        ({"data": [{"index": 0, "embedding": [1.0, 10**400]}]}, "no numbers"),
    ],
)
def test_answers_that_are_no_vectors(body: Any, said: str) -> None:
    with serving(Answer(body)) as service:
        assert said in failure(at(service))
    assert len(service.calls) == 1


def test_another_width_than_before() -> None:
    wide = Answer({"data": [{"index": 0, "embedding": [1.0] * 4}]})
    with serving(GOOD, wide) as service:
        model = at(service)
        model.embed(["text 1"])
        assert "vectors of 4 numbers, not 3" in failure(model)
    two = [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]
    with serving(Answer({"data": two})) as service:
        assert "vectors of 2 numbers, not 1" in failure(at(service), ("a", "b"))


def test_a_huge_answer_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "_LARGEST_ANSWER", 1 << 20)
    with serving(Answer(b" " * (8 << 20))) as service:
        assert "larger than 1 MiB" in failure(at(service))


@pytest.mark.parametrize("provider", ["openai", "gemini", "voyage"])
def test_a_missing_key(provider: str) -> None:
    with pytest.raises(Unavailable) as caught:
        open_embedder(provider, environ={"OPENAI_API_KEY": " ", "OTHER": "x"})
    assert provider in caught.value.message and "_API_KEY" in caught.value.hint


def test_a_key_that_is_none() -> None:
    with pytest.raises(Unavailable) as caught:
        open_http("openai", environ={"OPENAI_API_KEY": "sk-sec\nret"})
    assert "sk-" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:80",
        "ftp://x/y",
        "http://",
        "http://x:99999",
        "http://a b/",
        "http://[",
        "http://u:pw@x/",
    ],
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(Unavailable) as caught:
        open_http("http", url=url, environ={})
    assert "pw" not in caught.value.message + caught.value.hint


def test_numbers_of_any_size_become_length_one() -> None:
    with serving(Answer({"data": [{"index": 0, "embedding": [3e200, 4e200]}]})) as service:
        assert struct.unpack("<2f", at(service).embed(["x"])[0]) == pytest.approx((0.6, 0.8))
