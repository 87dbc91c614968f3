"""A model that takes long: it embeds behind the commands, and until it has embedded everything the other one answers."""

from collections.abc import Sequence

import pytest

from mabos_cli.services.search import agent_search
from mabos_cli.services.search.agent_search import AgentIndex, AgentSearch

from .lab import Lab, close, engines
from .models import Hashed
from .world import QUESTIONS


class Slow(Hashed):
    """The model that takes long; what it is asked to embed may be a reason for something to happen meanwhile."""

    is_slow = True

    def __init__(self) -> None:
        super().__init__("slow", 24, costly=True)
        self.meanwhile = lambda: None

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.meanwhile()
        return super().embed(texts)


class Models:
    """The two models, and how often somebody was asked to embed later."""

    def __init__(self) -> None:
        self.slow, self.fast, self.asked = Slow(), Hashed("fast"), 0

    def later(self, agent: object) -> None:
        self.asked += 1

    def answering(self, lab: Lab) -> str:
        """The model that answers, seen by who is asked about the question."""
        self.slow.questions.clear(), self.fast.questions.clear()
        assert lab.ask(QUESTIONS[0])
        assert bool(self.slow.questions) != bool(self.fast.questions), "never both in one ranking"
        return "slow" if self.slow.questions else "fast"


@pytest.fixture(params=[step for step in engines() if step != "lexical"])
def models(little: Lab, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Models:
    models = Models()
    monkeypatch.setenv("MABOS_INDEX_VECTORS", request.param)
    monkeypatch.setattr(AgentIndex, "_embedder", lambda self: models.slow)
    monkeypatch.setattr(AgentIndex, "_stand_in", lambda self: models.fast)
    monkeypatch.setattr(agent_search, "sync_later", models.later)
    monkeypatch.setattr(agent_search.os, "nice", lambda by: 0)
    monkeypatch.setattr(agent_search, "_PATIENCE", 300)
    return models


def embed_all(lab: Lab) -> int:
    searching = lab.open()
    done = searching.embed_all(0)
    searching.index.close()
    return done


def test_the_other_answers_until_all_is_embedded(little: Lab, models: Models) -> None:
    little.sync()
    assert models.answering(little) == "fast" and models.asked and not models.slow.texts
    wanted = len(models.fast.texts)
    assert embed_all(little) == wanted == len(models.slow.texts)
    asked = models.asked
    assert models.answering(little) == "slow" and embed_all(little) == 0 and models.asked == asked
    assert little.contents()["vectors"].total() == wanted  # those of the other stay, for who cannot wait


def test_a_few_are_embedded_at_once_and_many_later(little: Lab, models: Models) -> None:
    embed_all(little)
    little.store("The quince is ripe")
    assert models.answering(little) == "slow" and "quince" in models.slow.texts[-1]
    little.write("notes/many.md", "".join(f"# Part {n}\n\n{'The medlar is not ripe. ' * 80}{n}\n" for n in range(5)))
    assert models.answering(little) == "fast"
    assert embed_all(little) == 10 and models.answering(little) == "slow"


def test_what_changes_meanwhile_is_embedded_as_it_is_then(little: Lab, models: Models) -> None:
    little.write("notes/a.md", "The quince is ripe\n")
    little.sync()

    def change() -> None:
        models.slow.meanwhile = lambda: None
        little.write("notes/a.md", "The medlar is rotten\n")
        little.sync(rebuild=True)

    models.slow.meanwhile = change
    assert embed_all(little)
    assert models.answering(little) == "slow"
    assert little.refs("medlar")[0] == "notes/a.md:1-1" and not any(
        "quince" in hit.candidate.text for hit in little.ask("quince")
    )


def test_a_rebuild_embeds_nothing_again(little: Lab, models: Models) -> None:
    embed_all(little)
    done = len(models.slow.texts)
    little.sync(rebuild=True)
    assert models.answering(little) == "slow" and len(models.slow.texts) == done


def test_a_setting_lets_the_command_wait(little: Lab, models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MABOS_EMBEDDINGS_BACKGROUND", "false")
    assert models.answering(little) == "slow" and not models.asked


def test_a_model_that_fails_leaves_the_answer_to_the_other(little: Lab, models: Models) -> None:
    embed_all(little)
    models.slow.fail_after = 0
    little.store("The quince is ripe")
    search = little.search()
    assert search(QUESTIONS[0]) and "slow cannot answer: the model went away" in search.warnings()
    close(search)


def test_agents_that_are_asked_together_are_asked_by_one_model(little: Lab, models: Models) -> None:
    embed_all(little)
    home = little.home()
    search = AgentSearch([home, home], little.search().options)
    assert all(index.is_strong for index in search._indexes())
    close(search)
    first = AgentIndex.refresh

    def refresh(self: AgentIndex, **how: bool):
        index = first(self, **how)
        return index.use_weak() if self.label else index

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AgentIndex, "refresh", refresh)
        search = AgentSearch([home, home], search.options)
    assert not any(index.is_strong for index in search._indexes())
    close(search)
