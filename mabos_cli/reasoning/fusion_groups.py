"""Which conclusions of several methods answer one question, so that they can be compared."""

from collections.abc import Mapping
from itertools import chain
from unicodedata import normalize

from mabos_cli.reasoning.answer import Answer, Conclusion

OPTIONS = ("choice", "ranking", "distribution")
# Options that are no options but a verdict.
TRUTH_WORDS = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}


def heaviest_group(answers: Mapping[str, Answer], shares: Mapping[str, float]) -> list[str]:
    """The methods whose conclusions answer one question, with the most weight. What is about nothing in particular is about the
    problem, and joins any group of its family; options and sets that have nothing in common answer different questions."""
    questions = {name: _question(answer.conclusion) for name, answer in answers.items()}
    named = {family for family, about in questions.values() if about}
    groups = []
    for family, about in dict.fromkeys(questions.values()):
        if not about and family in named:
            continue
        joined = [name for name, (its, of) in questions.items() if its == family and of in (about, "")]
        groups += _overlapping(joined, answers) if family in ("options", "names") else [joined]
    return max(groups, key=lambda group: sum(shares[name] for name in group))


def _question(conclusion: Conclusion) -> tuple[str, str]:
    """What a conclusion answers: its family, and what it is about."""
    about = folded(conclusion.about)
    if conclusion.kind == "truth" or is_yes_no(conclusion):
        return "truth", about
    if conclusion.kind in OPTIONS:
        return "options", about
    return conclusion.kind, f"{about} {conclusion.unit}".strip() if conclusion.kind == "number" else about


def is_yes_no(conclusion: Conclusion) -> bool:
    """Whether a choice is between yes and no."""
    options = option_names(conclusion)
    return conclusion.kind in OPTIONS and bool(options) and all(folded(name) in TRUTH_WORDS for name in options)


def option_names(conclusion: Conclusion) -> list[str]:
    """The options that a conclusion speaks of, each once; none of one that chooses nothing."""
    if conclusion.kind not in OPTIONS:
        return []
    listed = conclusion.value if conclusion.kind == "ranking" else (conclusion.value,)
    return list(dict.fromkeys((*listed, *(name for name, _ in conclusion.scores))))


def folded(name: str) -> str:
    """A name as it is compared: without regard to case, and to how its accents are encoded."""
    return normalize("NFC", normalize("NFC", name.strip()).casefold())


def _overlapping(joined: list[str], answers: Mapping[str, Answer]) -> list[list[str]]:
    """The methods in groups that speak of the same options or names: each has one that another of its group has."""
    groups: list[tuple[set[str], list[str]]] = []
    for name in joined:
        said = answers[name].conclusion
        options = {folded(one) for one in (said.value if said.kind == "names" else option_names(said))}
        met = [group for group in groups if group[0] & options]
        groups = [group for group in groups if group not in met]
        groups.append((options.union(*(known for known, _ in met)), [*chain(*(who for _, who in met)), name]))
    return [[name for name in joined if name in who] for _, who in groups]
