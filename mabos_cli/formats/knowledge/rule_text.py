"""Rules as people write them: `if ?x hasRevenue ?y and ?y > 50000 then ?x isTaxable true`."""

import re
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.rule import OPERATORS, Pattern, is_variable, pattern_text

_SIGNS = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte", "=": "eq", "==": "eq", "!=": "ne", "<>": "ne"}
_KEYWORDS = ("if", "and", "then")
_FORM = 'write: if ?x hasRevenue ?y and ?x locatedIn US then ?x isTaxable true; names of several words in "quotes"'


def parse_rule_text(text: str, also: str = "") -> tuple[tuple[Pattern, ...], Pattern | None]:
    """The conditions and the conclusion of a rule in words; a rule without `then` has no conclusion. Variables in `also`, a
    message that is filled in, stay bound.

    >>> parse_rule_text("if ?x hasRevenue ?y and ?y > 50000 then ?x is large")
    ((Pattern(subject='?x', predicate='hasRevenue', object='50000', operator='gt'),), Pattern(subject='?x', \
predicate='is', object='large', operator='eq'))
    """
    words = _words(text)
    if words and words[0].says("if"):
        words = words[1:]
    at = next((n for n, word in enumerate(words) if word.says("then")), len(words))
    groups: list[list[Word]] = [[]]
    for word in words[:at]:
        if word.says("and"):
            groups.append([])
        else:
            groups[-1].append(word)
    conclusion = _pattern(words[at + 1 :]) if at < len(words) else None
    needed = {conclusion.subject, conclusion.object} if conclusion else set()
    return _compared([_pattern(group) for group in groups], needed, also), conclusion


class Word(NamedTuple):
    """A word of a rule; one in quotes is a name, whatever it says."""

    text: str
    quoted: bool

    def says(self, keyword: str) -> bool:
        return not self.quoted and self.text.lower() == keyword

    @property
    def operator(self) -> str:
        known = _SIGNS.get(self.text) or (self.text if self.text in OPERATORS else "")
        return "" if self.quoted else known


def _words(text: str) -> list[Word]:
    """The words of a text. In quotes, \\" stands for a quote and \\\\ for a backslash."""
    found = []
    for match in re.finditer(r'"((?:[^"\\]|\\.)*)"(?!\S)|(\S+)', text, re.DOTALL):
        quoted, plain = match.groups()
        if plain and plain.startswith('"'):
            raise BadValue("cannot read the rule: a quote is not closed, or text follows it at once", _FORM)
        found.append(Word(plain, False) if plain else Word(re.sub(r'\\(["\\])', r"\1", quoted), True))
    return found


def _pattern(words: list[Word]) -> Pattern:
    """A condition: subject, predicate, object, with an operator before the object if it is not equal; or two terms compared."""
    terms = [word.text for word in words]
    if len(words) == 3 and words[1].operator:
        return Pattern(terms[0], "", terms[2], words[1].operator)
    if len(words) == 4 and words[2].operator:
        return Pattern(terms[0], terms[1], terms[3], words[2].operator)
    if len(words) != 3 or not all(terms):
        raise BadValue(f"cannot read {' '.join(terms)[:60]!r} as subject predicate object", _FORM)
    return Pattern(*terms)


def _compared(patterns: list[Pattern], needed: set[str], also: str) -> tuple[Pattern, ...]:
    """Conditions, with a comparison moved into the condition that binds its variable, if nothing else needs that: `?y > 5`
    behind `?x p ?y` becomes `?x p > 5`. What a message names stays bound."""
    kept = [pattern for pattern in patterns if pattern.predicate]
    tests = [pattern for pattern in patterns if not pattern.predicate]
    for test in tests:
        if not is_variable(test.subject):
            raise BadValue(f"{test.subject} {test.operator} {test.object} compares no variable", _FORM)
        named = [n for n, p in enumerate(kept) if test.subject in (p.subject, p.object)]
        others = sum(test.subject in (t.subject, t.object) for t in tests) > 1
        binding = kept[named[0]] if len(named) == 1 else test
        is_free = not others and test.subject not in needed and test.subject not in also
        if is_free and binding.object == test.subject != binding.subject and binding.operator == "eq":
            kept[named[0]] = binding._replace(object=test.object, operator=test.operator)
        else:
            kept.append(test)
    return tuple(kept)


def render_pattern(pattern: Pattern) -> str:
    """A condition in words that can be read again.

    >>> render_pattern(Pattern("?x", "hasRevenue", "50000", "gt"))
    '?x hasRevenue > 50000'
    """
    return pattern_text(pattern, _quoted)


def _quoted(term: str) -> str:
    """A term as it can be read again: in quotes if it is empty, has spaces or quotes, or would be taken for something else."""
    plain = term and not re.search(r'[\s"]', term) and term.lower() not in _KEYWORDS and not Word(term, False).operator
    escaped = re.sub(r'(["\\])', r"\\\1", term)
    return term if plain else f'"{escaped}"'


def render_rule_text(conditions: tuple[Pattern, ...], conclusion: Pattern | None) -> str:
    """A rule in words."""
    told = f"if {' and '.join(map(render_pattern, conditions))}"
    return f"{told} then {render_pattern(conclusion)}" if conclusion else told
