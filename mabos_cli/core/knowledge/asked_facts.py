"""What a question in words is about: the facts that it names, and what it may ask to be proved."""

from collections.abc import Iterable, Sequence

from mabos_cli.core.knowledge.fact import Fact, Triple
from mabos_cli.core.knowledge.graph import is_plain, name_words
from mabos_cli.core.knowledge.rule import Rule
from mabos_cli.core.language.text import STOP_WORDS, stem, words


def find_asked(
    question: str, facts: Sequence[Fact], rules: Sequence[Rule], most_goals: int
) -> tuple[list[Fact], list[Triple]]:
    """The facts that a question is about, those with most of its words first, and goals that it may ask for: something that it
    names, with a predicate that it names.

    >>> facts = [Fact("F-1", "acme", "locatedIn", "US"), Fact("F-2", "zenith", "locatedIn", "EU")]
    >>> [fact.id for fact in find_asked("Where is Acme located?", facts, [], 4)[0]]
    ['F-1']
    """
    asked = {word for word in words(question) if word not in STOP_WORDS}
    nodes = dict.fromkeys(name for fact in facts for name in (fact.subject, fact.object))
    named = {node for node in nodes if (own := name_words(node)) and asked.issuperset(own) and not is_plain(node)}
    scored = []
    for fact in facts:
        if fact.subject in named or fact.object in named:
            told = {word for part in fact.triple for word in name_words(part)}
            scored.append((-len(asked & told), fact.triple, fact))
    concluded = {rule.conclusion.predicate for rule in rules if rule.conclusion and rule.type == "inference"}
    wanted = [p for p in sorted(concluded) if _meet(asked, name_words(p))]
    goals = [(node, predicate, "*") for node in sorted(named) for predicate in wanted][:most_goals]
    return [fact for _, _, fact in sorted(scored, key=lambda each: each[:2])], goals


def _meet(asked: Iterable[str], own: Iterable[str]) -> bool:
    """Whether one of some words is a form of one of others, as taxed is of taxable; short words meet too easily."""
    mine = [word for word in own if len(word) > 3]
    return any(_is_form(word, each) for word in asked if len(word) > 3 for each in mine)


def _is_form(a: str, b: str) -> bool:
    return a[:4] == b[:4] or a.startswith(stem(b)) or b.startswith(stem(a))
