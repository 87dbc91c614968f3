"""Rules as people write them: `if ?x hasRevenue ?y and ?y > 50000 then ?x isTaxable true`."""

import re
import shlex

from mabos_cli.core import BadValue
from mabos_cli.core.rule import OPERATORS, Pattern, is_variable

_SIGNS = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte", "=": "eq", "==": "eq", "!=": "ne", "<>": "ne"}
_BACK = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "ne": "!=", "contains": "contains"}
_FORM = 'write: if ?x hasRevenue ?y and ?x locatedIn US then ?x isTaxable true; names of several words in "quotes"'


def parse_rule_text(text: str, also: str = "") -> tuple[tuple[Pattern, ...], Pattern | None]:
    """The conditions and the conclusion of a rule in words; a rule without `then` has no conclusion. Variables in `also`, a
    message that is filled in, stay bound.

    >>> parse_rule_text("if ?x hasRevenue ?y and ?y > 50000 then ?x is large")
    ((Pattern(subject='?x', predicate='hasRevenue', object='50000', operator='gt'),), Pattern(subject='?x', \
predicate='is', object='large', operator='eq'))
    """
    words = _words(text)
    if words[:1] and words[0].lower() == "if":
        words = words[1:]
    lowered = [word.lower() if not quoted else "" for word, quoted in _marked(text)][-len(words) :]
    at = lowered.index("then") if "then" in lowered else len(words)
    groups: list[list[str]] = [[]]
    for word, low in zip(words[:at], lowered[:at], strict=True):
        if low == "and":
            groups.append([])
        else:
            groups[-1].append(word)
    conclusion = _pattern(words[at + 1 :]) if at < len(words) else None
    needed = {conclusion.subject, conclusion.object} if conclusion else set()
    needed |= set(re.findall(r"\?\w+", also))
    return _compared([_pattern(group) for group in groups], needed), conclusion


def _words(text: str) -> list[str]:
    return [word for word, _ in _marked(text)]


def _marked(text: str) -> list[tuple[str, bool]]:
    """The words of a text, quoted ones whole, and whether each was quoted."""
    lexer = shlex.shlex(text, posix=False)
    lexer.whitespace_split, lexer.commenters, lexer.quotes = True, "", '"'
    try:
        found = list(lexer)
    except ValueError:
        raise BadValue("cannot read the rule: a quote is not closed", _FORM) from None
    return [
        (word[1:-1], True) if len(word) > 1 and word[0] == word[-1] == '"' else (word, False)
        for word in found
    ]


def _pattern(words: list[str]) -> Pattern:
    """A condition: subject, predicate, object, with an operator before the object if it is not equal; or two terms compared."""
    if len(words) == 3 and (words[1] in _SIGNS or words[1] in OPERATORS):
        return Pattern(words[0], "", words[2], _SIGNS.get(words[1], words[1]))
    if len(words) == 4 and (words[2] in _SIGNS or words[2] in OPERATORS):
        return Pattern(words[0], words[1], words[3], _SIGNS.get(words[2], words[2]))
    if len(words) != 3:
        raise BadValue(f"cannot read {' '.join(words)[:60]!r} as subject predicate object", _FORM)
    return Pattern(*words)


def _compared(patterns: list[Pattern], needed: set[str]) -> tuple[Pattern, ...]:
    """Conditions, with a comparison moved into the condition that binds its variable, if nothing else needs that: `?y > 5`
    behind `?x p ?y` becomes `?x p > 5`."""
    kept = [pattern for pattern in patterns if pattern.predicate]
    tests = [pattern for pattern in patterns if not pattern.predicate]
    for test in tests:
        if not is_variable(test.subject):
            raise BadValue(f"{test.subject} {test.operator} {test.object} compares no variable", _FORM)
        named = [n for n, p in enumerate(kept) if test.subject in (p.subject, p.object)]
        others = sum(test.subject in (t.subject, t.object) for t in tests) > 1 or test.subject in needed
        if len(named) == 1 and not others and kept[named[0]].object == test.subject:
            kept[named[0]] = kept[named[0]]._replace(object=test.object, operator=test.operator)
        else:
            kept.append(test)
    return tuple(kept)


def render_pattern(pattern: Pattern) -> str:
    """A condition in words.

    >>> render_pattern(Pattern("?x", "hasRevenue", "50000", "gt"))
    '?x hasRevenue > 50000'
    """
    if not pattern.predicate:
        return f"{pattern.subject} {_BACK.get(pattern.operator, '=')} {_quoted(pattern.object)}"
    sign = "" if pattern.operator == "eq" else f"{_BACK.get(pattern.operator, pattern.operator)} "
    return f"{_quoted(pattern.subject)} {_quoted(pattern.predicate)} {sign}{_quoted(pattern.object)}"


def _quoted(term: str) -> str:
    return (
        f'"{term}"' if re.search(r"\s", term) or term.lower() in ("and", "then", "if") or not term else term
    )


def render_rule_text(conditions: tuple[Pattern, ...], conclusion: Pattern | None) -> str:
    """A rule in words."""
    told = f"if {' and '.join(map(render_pattern, conditions))}"
    return f"{told} then {render_pattern(conclusion)}" if conclusion else told
