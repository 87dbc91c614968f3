"""rules.json: one rule per line. The only place that knows the order of its keys; and rules as text."""

import re
from typing import TYPE_CHECKING, Any

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.rule import KINDS, OPERATORS, SEVERITIES, Pattern, Rule, is_variable, pattern_text
from mabos_cli.core.language.terms import AGGREGATES, is_expression, names_in
from mabos_cli.core.language.text import one_line
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import dump_line, parse_json, render_array, render_document, render_value, renewed
from mabos_cli.formats.knowledge.fields import foreign_keys, read_elements, read_texts, take_list, take_version

if TYPE_CHECKING:
    from mabos_cli.core.knowledge.constraints import Firing
    from mabos_cli.core.knowledge.ontology import BusinessRule

_ORDER = Rule._fields[:-1]  # all but extra
_TEXT = tuple(n for n in _ORDER if n not in ("conditions", "conclusion", "escalate", "confidence_factor", "enabled"))
_ALWAYS = frozenset(("id", "name", "type", "conditions", "confidence_factor", "enabled", "created_at"))
_KNOWN = frozenset(_ORDER)
_MEND = "repair the rule by hand, or restore the file from git"


class RuleFile:
    """A file of rules: the rules, the version, the last id if that rule is gone, and other keys as they were."""

    def __init__(
        self, rules: tuple[Rule, ...] = (), version: int = 0, last_id: str = "", extra: dict[str, Any] | None = None
    ) -> None:
        self.rules = rules
        self.version = version
        self.last_id = last_id
        self.extra = extra or {}
        self.raw: dict[str, dict[str, Any]] = {}  # the rules as they were read, by id


def parse_rules(data: bytes, path: str) -> RuleFile:
    """Returns the rules in a file, which may be a list or an object with one."""
    raw = parse_json(data, path)
    entries, others = take_list(raw, "rules", path, "a rule file must be an object with a list of rules", _MEND)
    version, last_id = take_version(others, path, _MEND)

    def read(entry: Any) -> Rule:
        return rule_from_dict(entry, path)

    found = list(read_elements(entries, "rules", path, data, read, "rule {}".format))
    file = RuleFile(tuple(rule for rule, _ in found), version, last_id, others)
    file.raw = {rule.id: entry for rule, entry in found}
    return file


def render_rules(file: RuleFile) -> bytes:
    """Returns the file's bytes. Of a rule that was read, only what changed is rewritten."""
    lines = [dump_line(_renewed(rule, file.raw.get(rule.id))).encode("utf-8") for rule in file.rules]
    others = [render_value(key, value) for key, value in file.extra.items()]
    others += [render_value("last_id", file.last_id)] if file.last_id else []
    return render_document([render_array("rules", lines), *others, render_value("version", file.version)])


def _renewed(rule: Rule, raw: dict[str, Any] | None) -> dict[str, Any]:
    new = rule_to_dict(rule)
    return new if raw is None else renewed(raw, rule_to_dict(rule_from_dict(raw, "")), new)


def rule_to_dict(rule: Rule) -> dict[str, Any]:
    """Returns the rule as JSON values in a fixed order; what its type does not use is left out, foreign keys come last."""
    found: dict[str, Any] = {}
    for name in _ORDER:
        value = getattr(rule, name)
        if name == "conditions":
            found[name] = [_pattern_to_dict(pattern) for pattern in value]
        elif name == "conclusion":
            found |= {name: _pattern_to_dict(value)} if value else {}
        elif name == "severity":
            found |= {name: value} if rule.type == "constraint" else {}
        elif value or name in _ALWAYS:
            found[name] = value
    return found | dict(rule.extra)


def _pattern_to_dict(pattern: Pattern) -> dict[str, Any]:
    found = {
        name: value for name, value in pattern._asdict().items() if name in ("subject", "predicate", "object") or value
    }
    if pattern.operator == "eq":
        del found["operator"]
    return found | ({"of": [_pattern_to_dict(each) for each in pattern.of]} if pattern.of else {})


def rule_from_dict(raw: Any, where: str) -> Rule:
    """Returns the rule that a JSON object holds; InvalidFile names the place and the field that is off. Whether it makes sense
    is another question: a rule that cannot run is kept, and said to be one."""
    if not isinstance(raw, dict):
        raise InvalidFile(f"{where}: a rule must be an object", _MEND)
    label = f"{where}: rule {str(raw.get('id', '?'))[:60]}"
    values = read_texts(raw, _TEXT, label, _MEND)
    values.setdefault("name", values.get("id", ""))
    if not values.get("id") or values.get("type") not in KINDS:
        raise InvalidFile(f"{label}: id and a type of {', '.join(KINDS)} are required", _MEND)
    if values.get("severity", "warning") not in SEVERITIES:
        raise InvalidFile(f"{label}: severity must be one of {', '.join(SEVERITIES)}", _MEND)
    factor = raw.get("confidence_factor", 0.9)
    if isinstance(factor, bool) or not isinstance(factor, int | float):
        raise InvalidFile(f"{label}: confidence_factor must be a number", _MEND)
    conditions = raw.get("conditions", [])
    if not isinstance(conditions, list):
        raise InvalidFile(f"{label}: conditions must be a list", _MEND)
    conclusion = raw.get("conclusion")
    return Rule(
        **values,
        conditions=tuple(pattern_from_dict(each, label) for each in conditions),
        conclusion=None if conclusion is None else pattern_from_dict(conclusion, label),
        escalate=raw.get("escalate") is True,
        confidence_factor=factor,
        enabled=raw.get("enabled", True) is not False,
        extra=foreign_keys(raw, _KNOWN),
    )


def pattern_from_dict(raw: Any, label: str) -> Pattern:
    """Returns a condition or a conclusion. A part that is left out stands for anything: it becomes a variable of its own."""
    if not isinstance(raw, dict):
        raise InvalidFile(f"{label}: a condition must be an object", _MEND)
    parts = {name: raw.get(name) for name in Pattern._fields[:4]}
    inner = raw.get("of", [])
    if not isinstance(inner, list) or any(isinstance(value, list | dict) for value in parts.values()):
        raise InvalidFile(f"{label}: the parts of a condition must be text", _MEND)
    texts = {n: v if isinstance(v, str) else dump_line(v) for n, v in parts.items() if v is not None}
    found = Pattern(texts.get("subject", ""), texts.get("predicate", ""), texts.get("object", ""))
    found = found._replace(operator=texts.get("operator") or "eq")
    of = tuple(pattern_from_dict(each, label) for each in inner)
    if of and raw.get("negated") is True:
        return Pattern("", "", "", negated=True, of=of)
    found = found._replace(negated=raw.get("negated") is True, of=of)
    return found._replace(subject=found.subject or "?_subject", object=found.object or "?_object")


_SIGNS = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte", "=": "eq", "==": "eq", "!=": "ne", "<>": "ne"}
_KEYWORDS = ("if", "and", "then", "not")
_FORM = 'write: if ?x hasRevenue ?y and ?x locatedIn US then ?x isTaxable true; names of several words in "quotes"'
_COUNTED = "as in: ?n = count ?o of (?o placedBy ?x); sum, min, max and avg likewise"


def parse_rule_text(text: str, also: str = "") -> tuple[tuple[Pattern, ...], Pattern | None]:
    """Returns the conditions and the conclusion of a rule in words; a rule without `then` has no conclusion. Variables in
    `also`, a message that is filled in, stay bound.

    >>> parse_rule_text("if ?x hasRevenue ?y and ?y > 50000 then ?x is large")
    ((Pattern(subject='?x', predicate='hasRevenue', object='50000', operator='gt', negated=False, of=()),), \
Pattern(subject='?x', predicate='is', object='large', operator='eq', negated=False, of=()))
    """
    words = _words(text)
    if words and words[0].says("if"):
        words = words[1:]
    at = next((n for n, word in enumerate(words) if word.says("then")), len(words))
    conclusion = _pattern(words[at + 1 :]) if at < len(words) else None
    needed = {*conclusion[:3]} if conclusion else set()
    return _compared([_pattern(group) for group in _groups(words[:at])], needed, also), conclusion


def _groups(words: list["Word"]) -> list[list["Word"]]:
    """Returns the words between `and`, where that is in no brackets."""
    groups: list[list[Word]] = [[]]
    depth = 0
    for word in words:
        if not word.quoted:
            depth += word.text.count("(") - word.text.count(")")
        if word.says("and") and depth <= 0:
            groups.append([])
        else:
            groups[-1].append(word)
    return groups


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
    """Returns the words of a text. In quotes of either kind, \\" stands for a quote and \\\\ for a backslash."""
    found = []
    for match in re.finditer(r"""(["'])((?:(?!\1)[^\\]|\\.)*)\1(?!\S)|(\S+)""", text, re.DOTALL):
        _, quoted, plain = match.groups()
        if plain and plain.startswith('"'):
            raise BadValue("cannot read the rule: a quote is not closed, or text follows it at once", _FORM)
        found.append(Word(plain, False) if plain else Word(re.sub(r"""\\(["'\\])""", r"\1", quoted), True))
    return found


def _pattern(words: list[Word]) -> Pattern:
    """Returns a condition: subject, predicate, object, with an operator before the object if it is not equal; or two terms
    compared."""
    terms = [word.text for word in words]
    if words and words[0].says(
        "not"
    ):  # a condition that must not hold, or several in brackets that must not hold together
        if len(words) > 1 and not words[1].quoted and words[1].text.startswith("("):
            return Pattern("", "", "", negated=True, of=tuple(map(_pattern, _groups(_within(words[1:])))))
        return _pattern(words[1:])._replace(negated=True)
    if len(words) > 4 and words[1].operator == "eq" and terms[2].lower() in AGGREGATES and not words[2].quoted:
        return _counted(words)
    sign = next((n for n, word in enumerate(words) if word.operator), 0)
    left, right = words[:sign], words[sign + 1 :]
    if sign and right and _is_term(right):
        obj = " ".join(terms[sign + 1 :])
        if len(left) == 2:
            return Pattern(terms[0], terms[1], obj, words[sign].operator)
        if _is_term(left):
            return Pattern(" ".join(terms[:sign]), "", obj, words[sign].operator)
    if len(words) != 3 or not all(terms):
        raise BadValue(f"cannot read {' '.join(terms)[:60]!r} as subject predicate object", _FORM)
    return Pattern(terms[0], terms[1], terms[2])


def _is_term(words: list[Word]) -> bool:
    """Returns whether words are one side of a comparison: a word, a quantity such as 30 days, or arithmetic."""
    if len(words) == 1:
        return True
    text = " ".join(word.text for word in words)
    is_plain = not any(word.quoted for word in words)
    return is_plain and (is_expression(text) or re.fullmatch(r"[^\s?]*\d\S* [^\W\d]+", text) is not None)


def _counted(words: list[Word]) -> Pattern:
    """Returns an aggregate: ?n = count ?o of (conditions)."""
    if not words[4].says("of") or len(words) < 6:
        raise BadValue(f"cannot read {' '.join(word.text for word in words)[:60]!r}", _COUNTED)
    of = tuple(map(_pattern, _groups(_within(words[5:]))))
    return Pattern(words[0].text, "", words[3].text, words[2].text.lower(), of=of)


def _within(words: list[Word]) -> list[Word]:
    """Returns the words inside brackets."""
    first, last = words[0], words[-1]
    if first.quoted or last.quoted or first.text[:1] != "(" or last.text[-1:] != ")":
        raise BadValue(f"brackets are missing around {' '.join(word.text for word in words)[:60]!r}", _COUNTED)
    if len(words) == 1:
        return [Word(first.text[1:-1], False)]
    inside = [first._replace(text=first.text[1:]), *words[1:-1], last._replace(text=last.text[:-1])]
    return [word for word in inside if word.text or word.quoted]


def _compared(patterns: list[Pattern], needed: set[str], also: str) -> tuple[Pattern, ...]:
    """Returns conditions, with a comparison moved into the condition that binds its variable, if nothing else needs that: `?y >
    5` behind `?x p ?y` becomes `?x p > 5`. What a message names stays bound."""
    kept = [pattern for pattern in patterns if pattern.predicate and not pattern.negated]
    others = [pattern for pattern in patterns if pattern.negated or pattern.of]
    tests = [pattern for pattern in patterns if not pattern.predicate and not pattern.inner]
    needed = needed | {name for each in others for part in (each, *each.inner) for name in part[:3]}
    for test in tests:
        if not is_variable(test.subject) and not is_expression(test.subject):
            raise BadValue(f"{test.subject} {test.operator} {test.object} compares no variable", _FORM)
        named = [n for n, p in enumerate(kept) if test.subject in (p.subject, p.object)]
        is_shared = sum(test.subject in (*names_in(t.subject), *names_in(t.object)) for t in tests) > 1
        is_shared = is_shared or is_expression(test.object) or is_expression(test.subject)
        binding = kept[named[0]] if len(named) == 1 else test
        is_free = not is_shared and test.subject not in needed and test.subject not in also
        if is_free and binding.object == test.subject != binding.subject and binding.operator == "eq":
            kept[named[0]] = binding._replace(object=test.object, operator=test.operator)
        else:
            kept.append(test)
    return (*kept, *others)


def render_pattern(pattern: Pattern) -> str:
    """Returns a condition in words that can be read again.

    >>> render_pattern(Pattern("?x", "hasRevenue", "50000", "gt"))
    '?x hasRevenue > 50000'
    """
    return pattern_text(pattern, _quoted)


def _quoted(term: str) -> str:
    """Returns a term as it can be read again: in quotes if it is empty, has spaces or quotes, or would be taken for something
    else."""
    plain = (
        term
        and not re.search(r"""[\s"]|^'""", term)
        and term.count("(") == term.count(")")
        and term.lower() not in _KEYWORDS
        and not Word(term, False).operator
    )
    escaped = re.sub(r'(["\\])', r"\\\1", term)
    return term if plain else f'"{escaped}"'


def render_rule_text(conditions: tuple[Pattern, ...], conclusion: Pattern | None) -> str:
    """Renders a rule as `if ... then ...`."""
    text = f"if {' and '.join(map(render_pattern, conditions))}"
    return f"{text} then {render_pattern(conclusion)}" if conclusion else text


def rule_line(rule: Rule) -> str:
    """Returns a rule on a line."""
    state = "" if rule.enabled else ", off"
    return f"{rule.label} ({rule.type}{state}): {one_line(render_rule_text(rule.conditions, rule.conclusion), 160)}"


def rule_lines(rule: Rule) -> list[str]:
    """Returns all about a rule, part by part."""
    lines = [rule_line(rule), *(f"  if {render_pattern(condition)}" for condition in rule.conditions)]
    lines += [f"  then {render_pattern(rule.conclusion)} (x {rule.confidence_factor:g})"] if rule.conclusion else []
    lines += [f"  says: {rule.violation_message}"] if rule.violation_message else []
    lines += [f"  do: {rule.action}{' (escalate)' if rule.escalate else ''}"] if rule.action else []
    return lines + ([f"  {rule.description}"] if rule.description else [])


def violation_row(violation: "Firing", rule: "BusinessRule | None") -> dict[str, Any]:
    """Returns a violation as JSON, with what an ontology says about the rule if it comes from one."""
    found: dict[str, Any] = {"rule": violation.rule.id, "severity": violation.rule.severity}
    found |= {"message": violation.message, "bindings": dict(violation.bindings), "facts": list(violation.supports)}
    if rule:
        found |= {"ontology": rule.source, "statement": rule.statement}
        found |= {"modality": rule.modality, "enforcement_level": rule.enforcement_level}
    return found


def action_row(action: "Firing") -> dict[str, Any]:
    """Returns an action that a policy asks for as JSON."""
    reasons = {"bindings": dict(action.bindings), "facts": list(action.supports)}
    return {"rule": action.rule.id, "action": action.message, "escalate": action.rule.escalate} | reasons
