"""Answers from facts and rules: conclusions, proofs, neighbours, and replies to questions."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.backward import PROVEN, Proof, Verdict, backward_chain
from mabos_cli.core.knowledge.case import Case
from mabos_cli.core.knowledge.explaining import Abduction, Explanation, abduce
from mabos_cli.core.knowledge.fact import Fact, Triple, find_contradictions, holds_at
from mabos_cli.core.knowledge.forward import Inference, Limits, forward_chain
from mabos_cli.core.knowledge.graph import (
    Concern,
    Edge,
    Graph,
    Match,
    Near,
    find_concerns,
    find_neighbors,
    find_path,
    match_idea,
    name_words,
)
from mabos_cli.core.knowledge.question import find_about, read_question, read_triple
from mabos_cli.core.knowledge.reply import UNKNOWN, Knowledge, Reply, answer_readings, find_leaves, not_read
from mabos_cli.core.knowledge.rule import Rule, is_variable
from mabos_cli.core.knowledge.vocabulary import Vocabulary
from mabos_cli.core.language.text import asked_words, words
from mabos_cli.core.memory.item import STORES, MemoryItem
from mabos_cli.core.memory.stores import FINDABLE
from mabos_cli.core.search.recall import Filters, Hit
from mabos_cli.errors import NotFound
from mabos_cli.formats.knowledge.facts import Derived
from mabos_cli.services.inputs import Session, without_gc
from mabos_cli.services.knowledge.facts import stale_warning
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.facts import load_facts
from mabos_cli.workspace.knowledge.rules import functional_predicates, inference_rules

_DEEPEST = 20  # proofs share their parts, and a tree of them would not
_FARTHEST = 12  # steps in the graph of facts
_FACTS, _MEMORIES, _GOALS, _CASES = 12, 5, 4, 3
_NEAR = 0.5  # the nearest case has this likeness by itself; above it, it shares words with the question


class Inferred(NamedTuple):
    """Holds what follows, or after a change what follows in another way than before; how many facts follow altogether; what changed on
    disk, and warnings."""

    inference: Inference
    total: int
    done: Derived = Derived(0, 0, 0)
    notes: Sequence[str] = ()
    is_renewed: bool = False


def infer_forward(agent: Agent, limits: Limits, *, persist: bool, at: datetime | None = None) -> Inferred:
    """Derives what follows and, if wanted, writes it. With a moment, only what holds then is returned."""
    if persist:
        from mabos_cli.services.knowledge.renewal import infer_and_write  # late: only this needs SQLite

        return infer_and_write(agent, limits)
    with without_gc():
        asserted = list(load_facts(agent).asserted.facts())
        found = forward_chain(asserted, inference_rules(agent, asserted), limits)
    if at:
        found = found._replace(derived=tuple(fact for fact in found.derived if holds_at(fact, at)))
    return Inferred(found, len(found.derived))


def prove(agent: Agent, goal: Triple, depth: int, at: datetime | None = None) -> Verdict:
    """Returns whether a goal follows from the facts of an agent, at a moment if one is given."""
    facts = list(load_facts(agent).all())
    return backward_chain(goal, facts, inference_rules(agent, facts, goal), _clamp(depth), at=at)


def find_hypotheses(agent: Agent, observation: Triple, depth: int, at: datetime | None = None) -> Abduction:
    """Returns what would explain an observation, by what holds at a moment if one is given."""
    facts = list(load_facts(agent).all())
    return abduce(observation, facts, inference_rules(agent, facts, observation), max(1, _clamp(depth)), at=at)


def _clamp(depth: int) -> int:
    """Returns a depth that can be searched and drawn."""
    return min(max(0, depth), _DEEPEST)


def load_graph(agent: Agent, at: datetime | None) -> Graph:
    """Returns the facts as a graph: all, or those that hold at a moment."""
    return Graph([fact for fact in load_facts(agent).all() if at is None or holds_at(fact, at)])


def find_near(agent: Agent, entity: str, hops: int, at: datetime | None = None) -> tuple[str, list[Near]]:
    """Returns the name of an entity as facts have it, and what is within so many steps of it."""
    graph = load_graph(agent, at)
    start = _find_node(agent, graph, entity)
    return start, find_neighbors(graph, start, _check_hops(hops))


def find_route(
    agent: Agent, start: str, goal: str, hops: int, at: datetime | None = None
) -> tuple[str, str, tuple[Edge, ...] | None]:
    """Returns the names of two entities as facts have them, and the shortest path between them, None if there is none."""
    graph = load_graph(agent, at)
    first, last = _find_node(agent, graph, start), _find_node(agent, graph, goal)
    return first, last, find_path(graph, first, last, _check_hops(hops))


def find_matches(agent: Agent, text: str, hops: int, limit: int, at: datetime | None = None) -> list[Match]:
    """Returns the things that an idea is about."""
    return match_idea(load_graph(agent, at), text, _check_hops(hops), limit)


class Preflight(NamedTuple):
    """Holds what to know before work on something: the things that it is about, facts by what they mean for it, decisions in memory,
    and warnings."""

    about: list[str]
    concerns: list[Concern]
    decisions: list[MemoryItem]
    warnings: list[str]


def find_preflight(agent: Agent, text: str, hops: int, at: datetime | None = None) -> Preflight:
    """Returns what is decided, blocked, contradicted and related about an entity, or about what a text names."""
    graph = load_graph(agent, at or agent.now())
    close = [node for node in graph.nodes() if node.casefold() == text.strip().casefold()]
    # Else the nodes whose whole names the text has.
    matches = [] if close else [found.node for found in match_idea(graph, text, 1, 0) if not found.path]
    about = close or [node for node in matches if {*name_words(node)} <= {*words(text)}]
    functional, warnings = functional_predicates(agent)
    rivals = find_contradictions(graph.facts, functional) if about else []
    concerns = find_concerns(graph, about, _check_hops(hops), rivals) if about else []
    memory = agent.memory()
    items = [item for store in STORES for item in getattr(memory, store) if item.type == "decision"]
    named = [{*name_words(node)} for node in about] or [{*asked_words(text)}]
    decisions = [item for item in items if any(names and names <= {*words(item.content)} for names in named)]
    return Preflight(about, concerns, decisions, warnings)


def _find_node(agent: Agent, graph: Graph, name: str) -> str:
    """Returns a node by its name, in whatever case if that is not ambiguous."""
    if name in graph:
        return name
    close = [node for node in graph.nodes() if node.casefold() == name.casefold()]
    if len(close) != 1:
        hint = "mabos fact query lists facts; mabos graph match searches"
        raise NotFound(f"no fact of agent {agent.id} names {name!r}", hint)
    return close[0]


def _check_hops(hops: int) -> int:
    if not 1 <= hops <= _FARTHEST:
        raise BadValue(f"--hops {hops} is outside 1..{_FARTHEST}", "as in --hops 2")
    return hops


class Answer(NamedTuple):
    """The answer to a question, with the facts, proofs, hypotheses, memories and cases that bear on it; and warnings."""

    reply: Reply
    facts: list[Fact]
    proofs: list[Verdict]
    hypotheses: list[Explanation]
    memories: list[Hit]
    cases: list[Case]
    warnings: list[str]


class _Prover:
    """Proves goals, each once. A question has many readings: what no rule concludes needs no look at all facts."""

    def __init__(self, facts: list[Fact], rules: Sequence[Rule], depth: int) -> None:
        self._facts, self._rules, self._depth = facts, rules, depth
        self._derivable = {rule.conclusion.predicate for rule in rules if rule.conclusion}
        self._by_predicate: dict[str, list[Fact]] = {}
        for fact in facts:
            self._by_predicate.setdefault(fact.predicate, []).append(fact)
        self.verdicts: dict[Triple, Verdict] = {}

    def __call__(self, goal: Triple) -> tuple[Proof, ...]:
        if goal not in self.verdicts:
            is_asserted = goal[1] not in self._derivable and not any(map(is_variable, self._derivable))
            near = self._by_predicate.get(goal[1], []) if is_asserted else self._facts
            self.verdicts[goal] = backward_chain(goal, near, self._rules, self._depth)
        return self.verdicts[goal].proofs


def answer(
    call: Session, agent: Agent, question: str, triple: Triple | None, depth: int, *, at: datetime | None, llm: bool
) -> Answer:
    """Answers a question in words, or whether a triple holds, now or at a moment. With `llm` a language model may say how to
    read it."""
    from mabos_cli.workspace.knowledge.ontologies import load_ontology

    held = load_facts(agent)
    facts, (ontology, warnings) = list(held.all()), load_ontology(agent.paths.workspace)
    every = inference_rules(agent, facts, triple)
    vocabulary = Vocabulary(facts, every, ontology)
    prove = _Prover(facts, every, _clamp(depth))
    knowledge = Knowledge(prove, ontology.functional_names(), at or agent.now())
    readings = [read_triple(triple)] if triple else read_question(question, vocabulary)
    reply = answer_readings(readings, vocabulary, knowledge)
    if llm and reply is None:
        goal, notes = _ask_for_triple(agent, question, vocabulary)
        reply = answer_readings([read_triple(goal)], vocabulary, knowledge) if goal else None
        warnings += notes
    about, near, unknown = find_about(question, facts, vocabulary)
    reply = reply or not_read(unknown, near)
    used = {fact.id: fact for proof in (*reply.proofs, *reply.against) for fact in find_leaves(proof)}
    found = list(used.values()) or near or about
    if reply.goal:
        prove(reply.goal)
    proofs = [v for goal, v in prove.verdicts.items() if goal == reply.goal and (triple or v.status == PROVEN)]
    is_open = reply.verdict == UNKNOWN and reply.goal
    hypotheses = abduce(reply.goal, facts, every).hypotheses[:_GOALS] if is_open and reply.goal else ()
    memories, notes = _recall(call, agent, question)
    cases, more = _find_cases(call, agent, question)
    warnings = list(dict.fromkeys([*warnings, *notes, *more, *stale_warning(agent, held)]))
    return Answer(reply, found[:_FACTS], proofs, list(hypotheses), memories, cases, warnings)


def _ask_for_triple(agent: Agent, question: str, vocabulary: Vocabulary) -> tuple[Triple | None, list[str]]:
    """Returns the triple that a language model reads in a question, if all its terms are known here, and warnings."""
    from mabos_cli.formats.search.llm_answers import parse_triple, render_reading_prompt
    from mabos_cli.services.search.llm_ask import Asker

    asker = Asker(agent, "question")
    names = sorted({name for called in vocabulary.names.values() for name in called})
    prompt = render_reading_prompt(question, sorted(vocabulary.uses), names)
    found = asker.ask(prompt, lambda text: parse_triple(text, {*names, "?"}, {*vocabulary.uses}))
    return found, asker.warnings()


def _recall(call: Session, agent: Agent, question: str) -> tuple[list[Hit], list[str]]:
    """Returns the memories about a question, and warnings. Facts and cases are shown separately."""
    from mabos_cli.services.knowledge.cases import UNDER
    from mabos_cli.services.search.agent_search import AgentSearch, SearchOptions

    options = SearchOptions(Filters(), FINDABLE, _MEMORIES + 5, agent.settings["recall.preset"])
    search = AgentSearch([agent], options, call.progress)
    hits = [hit for hit in search(question) if not hit.candidate.path.startswith(("memory/mabos-facts", UNDER))]
    return hits[:_MEMORIES], search.warnings()


def _find_cases(call: Session, agent: Agent, question: str) -> tuple[list[Case], list[str]]:
    """Returns the cases whose context or lessons speak about a question, and warnings."""
    from mabos_cli.services.knowledge.cases import find_texts
    from mabos_cli.workspace.knowledge.cases import load_cases

    file = load_cases(agent)
    near, warnings = find_texts(call, agent, file, question, 4 * _CASES)
    ids = [case_id for case_id, likeness in sorted(near.items(), key=lambda each: -each[1]) if likeness > _NEAR]
    return [file.case(file.places[case_id]) for case_id in ids[:_CASES]], warnings
