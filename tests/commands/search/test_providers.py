"""Recall with models of other kinds: a real service on loopback, a service that is down, a model that is missing."""

import json
import re
import sys
from hashlib import blake2b

import pytest
from backends.service import Answer, serving

from commands.desk import note
from commands.notes import UNRELATED
from mabos_cli.backends import wordllama

KEY = "sk-loopback-1234567890"
WIDTH = 32


def vector_of(text: str) -> list[float]:
    """Words become numbers by their hash: texts with common words are alike."""
    numbers = [0.01] * WIDTH
    for word in re.findall(r"\w+", text.lower()):
        numbers[blake2b(word.encode(), digest_size=1).digest()[0] % WIDTH] += 1.0
    return numbers


def speak(call) -> Answer:
    """As OpenAI does."""
    texts = call.body["input"]
    return Answer({"data": [{"index": n, "embedding": vector_of(text)} for n, text in enumerate(texts)]})


def sent(service) -> list[str]:
    return [text for call in service.calls for text in call.body["input"]]


def embedded(service) -> list[str]:
    """The texts that were asked for, but for one that was sent ahead to learn the width of the vectors."""
    first, *others = [call.body["input"] for call in service.calls] or [[]]
    ahead = len(first) == 1 and others and first[0] in others[0]
    return [text for texts in ([] if ahead else [first]) + others for text in texts]


def settle(desk, url: str, *more: str, provider: str = "http") -> None:
    desk.settle("\n".join(["embeddings:", f"  provider: {provider}", f"  url: {url}", *more, ""]))


@pytest.fixture
def filled(desk):
    desk.put([note(n, f"{UNRELATED[n % 50]}, as of {n}") for n in range(120)])
    return desk


def test_recall_by_a_service(filled):
    with serving(speak) as service:
        settle(filled, f"{service.url}/v1")
        said = filled.recall("the garden fence in spring", "--explain")
        assert said.warnings == []
        assert said.data["results"][0]["content"].startswith("The garden fence")
        assert said.data["results"][0]["signals"]["semantic"] > 0.5
    assert {call.path for call in service.calls} == {"/v1/embeddings"}
    assert all("Authorization" not in call.headers for call in service.calls)


def test_texts_go_in_batches_of_fifty(filled):
    with serving(speak) as service:
        settle(filled, service.url)
        filled.recall("garden")
    assert [len(call.body["input"]) for call in service.calls][-4:] == [50, 50, 20, 1]
    assert len(embedded(service)) == 121


def test_a_second_recall_embeds_only_the_question(filled):
    with serving(speak) as service:
        settle(filled, service.url)
        first = filled.recall("garden fence").refs
        service.calls.clear()
        assert filled.recall("garden fence").refs == first
        assert sent(service) == ["garden fence"]
        service.calls.clear()
        filled.put([*(note(n, f"{UNRELATED[n % 50]}, as of {n}") for n in range(120)), note(900, "one more fence")])
        filled.recall("garden fence")
        assert embedded(service) == ["one more fence", "garden fence"]
        service.calls.clear()
        filled.recall()
        assert sent(service) == []  # without a question nothing is asked


def test_a_rebuild_takes_vectors_from_the_cache(filled):
    with serving(speak) as service:
        settle(filled, service.url)
        filled.recall("garden fence")
        service.calls.clear()
        assert filled.run("index", "sync", "--rebuild", "--json").data["embedded"] == 120
        assert len(sent(service)) <= 1


def test_a_service_that_is_down_is_one_warning(filled, monkeypatch):
    monkeypatch.setenv("MABOS_EMBEDDINGS_API_KEY", KEY)
    with serving(speak) as service:
        url = service.url
    settle(filled, url)
    said = filled.run("recall", "garden fence")
    assert said.code == 0
    assert said.stdout.splitlines()[0].endswith("The garden fence needs paint in spring, as of 100")
    (warning,) = said.stderr.splitlines()
    host = url.removeprefix("http://")
    assert warning == f"warning: searched by words only: embeddings from {host}: Connection refused"
    assert KEY not in said.stdout + said.stderr


def test_it_recovers_when_the_service_does(filled):
    with serving(Answer({"error": "overloaded"}, 400), speak) as service:
        settle(filled, service.url)
        first = filled.recall("garden fence")
        assert len(first.warnings) == 1 and "it answered 400" in first.warnings[0]
        assert first.refs
        second = filled.recall("garden fence", "--explain")
        assert second.warnings == []
        assert "semantic" in second.data["results"][0]["signals"]


def test_a_service_that_fails_halfway_recovers(filled):
    """The second batch is refused; the next recall embeds the rest, and no text twice."""
    batches = []

    def tire(call):
        batches.append(len(call.body["input"]))
        return Answer({"error": "no"}, 400) if batches.count(50) == 2 else speak(call)

    with serving(tire) as service:
        settle(filled, service.url)
        said = filled.recall("garden fence")
        assert len(said.warnings) == 1 and said.refs
        service.plan[:] = [speak]
        service.calls.clear()
        assert filled.recall("garden fence").warnings == []
        asked = embedded(service)
        assert len(asked) == len({*asked}) <= 121
        assert filled.run("index", "status", "--json").data["waiting_for_vectors"] == 0


def test_a_question_that_cannot_be_embedded_is_searched_by_words(filled):
    with serving(speak) as service:
        settle(filled, service.url)
        filled.recall("garden")
        service.plan[:] = [Answer({"error": "no"}, 400)]
        said = filled.recall("garden fence", "--explain")
    assert len(said.warnings) == 1 and said.warnings[0].startswith("searched by words only: ")
    assert said.data["results"][0]["content"].startswith("The garden fence")
    assert "semantic" not in said.data["results"][0]["signals"]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"<html>not JSON"),
        Answer({"data": []}),
        Answer({"data": [{"embedding": "text"}]}),
        Answer([1, 2, 3]),
        Answer({"error": {"message": f"bad key {KEY}"}}, 401),
        Answer({"error": f"never print {KEY}"}, 400),
        Answer(b"", 302, (("Location", "http://example.invalid/"),)),
    ],
    ids=["html", "none", "text", "list", "refused", "echo", "elsewhere"],
)
def test_answers_that_make_no_sense_are_one_warning_and_no_key(filled, monkeypatch, answer):
    monkeypatch.setenv("MABOS_EMBEDDINGS_API_KEY", KEY)
    with serving(answer) as service:
        settle(filled, service.url)
        texts = filled.run("recall", "garden fence", "-v"), filled.run("recall", "garden fence", "--json")
        status = filled.run("index", "status", "--json")
    assert all(call.headers["Authorization"] == f"Bearer {KEY}" for call in service.calls)
    for said in (*texts, status, filled.run("config", "--json"), filled.run("doctor", "--json")):
        assert KEY not in said.stdout + said.stderr
    assert texts[0].code == texts[1].code == 0
    assert texts[0].stderr.count("warning: ") == 1
    assert len(texts[1].warnings) == 1 and texts[1].refs
    kept = [path for path in filled.root.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert kept == []


def test_another_model_embeds_again_and_says_so(filled):
    with serving(speak) as service:
        settle(filled, service.url, "  model: one")
        filled.recall("garden fence")
        service.calls.clear()
        settle(filled, service.url, "  model: other-one")
        said = filled.recall("garden fence")
        assert len(said.warnings) == 1
        assert re.fullmatch(
            r"embedded 120 passages again: the model was http:.*:one and is now http:.*:other-one",
            said.warnings[0],
        )
        assert len(embedded(service)) == 121
        assert {call.body["model"] for call in service.calls} == {"other-one"}
        assert filled.recall("garden fence").warnings == []
        service.calls.clear()
        settle(filled, service.url, "  model: one")
        assert len(filled.recall("garden fence").warnings) == 1
        assert len(sent(service)) <= 2 and sent(service)[-1] == "garden fence"  # the others are in the cache


def speak_wider(call) -> Answer:
    """The same service under the same name, after an upgrade: its vectors have one number more."""
    texts = call.body["input"]
    return Answer({"data": [{"index": n, "embedding": [*vector_of(t), 0.5]} for n, t in enumerate(texts)]})


def test_another_width_of_the_same_model_embeds_again(filled):
    with serving(speak) as service:
        settle(filled, service.url)
        filled.recall("garden fence")
        service.plan[:] = [speak_wider]
        said = filled.recall("garden fence")
        assert said.code == 0 and said.refs
        assert filled.recall("garden fence", "--explain").data["results"][0]["signals"]["semantic"] > 0
        assert filled.run("index", "status", "--json").data["width"] == WIDTH + 1


def test_another_width_with_something_new_to_embed(filled):
    with serving(speak) as service:
        settle(filled, service.url)
        filled.recall("garden fence")
        service.plan[:] = [speak_wider]
        filled.put([*(note(n, f"{UNRELATED[n % 50]}, as of {n}") for n in range(120)), note(900, "one more fence")])
        said = filled.recall("garden fence", "--explain")
        assert said.data["results"][0]["signals"]["semantic"] > 0
        about = filled.run("index", "status", "--json").data
        assert (about["width"], about["waiting_for_vectors"]) == (WIDTH + 1, 0)
        assert about["path"] == ".mabos/index/main.sqlite"


def test_from_the_default_to_a_service_and_back(filled):
    default = filled.recall("garden fence").refs
    with serving(speak) as service:
        settle(filled, service.url)
        assert "the model was wordllama-l2_supercat-256" in filled.recall("garden fence").warnings[0]
    filled.settle("")
    said = filled.recall("garden fence")
    assert "is now wordllama-l2_supercat-256" in said.warnings[0]
    assert said.refs == default


@pytest.mark.parametrize(
    ("provider", "url", "said_to_be"),
    [
        ("http", "", "the provider http needs an address"),
        ("http", "ftp://x", "embeddings.url is not an http address"),
        ("http", "http://me:pass@x/v1", "embeddings.url holds a user or password"),
        ("openai", "", "openai needs a key"),
        ("voyage", "", "voyage needs a key"),
        ("gemini", "", "gemini needs a key"),
    ],
)
def test_a_provider_that_lacks_something_is_one_warning(filled, monkeypatch, provider, url, said_to_be):
    for name in ("OPENAI_API_KEY", "VOYAGE_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    settle(filled, url or '""', provider=provider)
    said = filled.recall("garden fence")
    [warning] = said.warnings
    assert warning.startswith(f"searched by words only: {said_to_be} (")  # and what to do
    assert said.refs


def test_a_provider_whose_package_is_missing_names_the_extra(filled, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    filled.settle(f"embeddings:\n  provider: onnx\n  path: {tmp_path}\n")
    [warning] = filled.recall("garden fence").warnings
    assert warning.endswith("the package onnxruntime is not installed (pip install 'mabos-cli[onnx]')")


def test_a_model_that_is_not_installed_is_one_warning(filled, monkeypatch):
    monkeypatch.setattr(wordllama, "find_spec", lambda name: None)
    said = filled.recall("garden fence")
    [warning] = said.warnings
    assert warning.startswith("searched by words only: the package wordllama is not installed (pip install ")
    assert said.data["results"][0]["content"].startswith("The garden fence")
    text = filled.run("recall", "garden fence")
    assert (text.code, text.stderr) == (0, f"warning: {said.warnings[0]}\n")


def test_a_model_that_comes_back_is_used_again(filled, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(wordllama, "find_spec", lambda name: None)
        assert "semantic" not in filled.recall("garden fence", "--explain").data["results"][0]["signals"]
    said = filled.recall("garden fence", "--explain")
    assert said.warnings == []
    assert "semantic" in said.data["results"][0]["signals"]


def test_weights_that_are_damaged_are_one_warning(filled, tmp_path):
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights/l2_supercat_256.safetensors").write_bytes(b"\0" * 100)
    filled.settle(f"embeddings:\n  path: {tmp_path}\n")
    said = filled.recall("garden fence")
    assert len(said.warnings) == 1 and said.warnings[0].startswith("searched by words only: ")
    assert said.refs


def test_an_unknown_provider_is_an_error_with_its_line(filled):
    filled.settle("embeddings:\n  provider: magic\n")
    said = filled.run("recall", "garden fence")
    assert said.code == 4
    assert said.stderr.startswith("mabos: mabos.yaml:2: embeddings.provider must be one of auto, ")


def test_the_program_itself_by_a_service(filled, mabos):
    """The same in a process of its own."""
    with serving(speak) as service:
        settle(filled, service.url)
        words = ("recall", "-w", str(filled.root), "garden fence", "--json")
        done = mabos(*words, MABOS_EMBEDDINGS_API_KEY=KEY)
        assert (done.code, done.stderr) == (0, "")
        assert json.loads(done.stdout)["warnings"] == []
        assert all(call.headers["Authorization"] == f"Bearer {KEY}" for call in service.calls)
    done = mabos(*words, MABOS_EMBEDDINGS_API_KEY=KEY)
    assert done.code == 0 and len(json.loads(done.stdout)["warnings"]) == 1
    assert KEY not in done.stdout + done.stderr
