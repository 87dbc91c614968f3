"""SHACL: shapes become constraints, as far as facts can answer them, and ontologies become shapes."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from mabos_cli.core.knowledge.ontology import Ontology, Property, is_datatype, local_name
from mabos_cli.core.knowledge.rule import Pattern, Rule
from mabos_cli.core.language.text import one_line
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import dump_line
from mabos_cli.formats.knowledge.jsonld import WELL_KNOWN

SH = "http://www.w3.org/ns/shacl#"
SHAPE = "shape"  # the key of a rule that names the shape it was made of
SHAPE_FORMATS = ("turtle", "jsonld")
Term = tuple[str, str]  # iri, blank or literal, and what it says
_RDF, _RDFS = WELL_KNOWN["rdf"], WELL_KNOWN["rdfs"]
_CLASSES = frozenset((f"{_RDFS}Class", f"{WELL_KNOWN['owl']}Class"))
_SEVERITIES = {"Violation": "error", "Warning": "warning", "Info": "info"}
# What says nothing about facts, or is read together with something else.
_SILENT = frozenset(
    "path property message severity deactivated name description order group defaultValue targetClass targetNode "
    "targetSubjectsOf targetObjectsOf flags ignoredProperties".split()
)
_BOUNDS = {"minInclusive": "gte", "maxInclusive": "lte", "minExclusive": "gt", "maxExclusive": "lt"}
_PAIRS = {"lessThan": "lt", "lessThanOrEquals": "lte"}


class Shapes(NamedTuple):
    """The constraints that shapes ask for, the shapes by IRI, and what was not understood."""

    rules: list[Rule]
    names: frozenset[str]
    notes: list[str]


class _Focus(NamedTuple):
    """Holds what a constraint is about: a shape, the conditions that select a thing, the variable that stands for it, and the values
    that a path leads to from it."""

    shape: Term
    label: str
    conditions: tuple[Pattern, ...]
    variable: str = "?x"
    message: str = ""
    severity: str = "error"
    enabled: bool = True
    path: tuple[Pattern, ...] = ()
    value: str = ""

    def test(self, operator: str, given: str) -> tuple[Pattern, ...]:
        """Returns the condition that a value does not meet a comparison."""
        return (*self.path, Pattern(self.value, "", given, operator))

    def lack(self, *more: Pattern) -> tuple[Pattern, ...]:
        """Returns the condition that there is no value."""
        inner = (*self.path, *more)
        return (inner[0]._replace(negated=True),) if len(inner) == 1 else (Pattern("", "", "", negated=True, of=inner),)

    def number(self, operator: str, limit: str) -> tuple[Pattern, ...]:
        """Returns the condition that there are too few or too many values."""
        if (operator, limit) == ("lt", "1"):
            return self.lack()
        return Pattern("?n", "", self.value, "count", of=self.path), Pattern("?n", "", limit, operator)


def read_shapes(triples: Iterable[tuple[Term, str, Term]]) -> Shapes:
    """Reads the shapes in some triples as constraints, one for each demand."""
    reader = _Reader(triples)
    for shape in sorted(reader.shapes()):
        targets = [*reader.targets(shape)]
        if targets:
            reader.seen.add(shape)
        for focus in targets:
            reader.read_shape(focus)
    left = sorted(reader.shapes() - reader.seen)
    notes = [f"{reader.shown(shape)} has no target, and no shape refers to it" for shape in left]
    names = Counter[tuple[str, str]]()
    rules = []
    # In an order that does not depend on the names of nameless nodes, which differ from run to run.
    for _, rule in sorted({(rule.extra, rule.name, rule.conditions): rule for rule in reader.rules}.items()):
        shape_id = str(dict(rule.extra)[SHAPE])
        names[shape_id, rule.name] += 1
        number = names[shape_id, rule.name]
        rules.append(rule._replace(name=f"{rule.name} {number}") if number > 1 else rule)
    return Shapes(rules, frozenset(shape_id for shape_id, _ in names), sorted(reader.notes) + notes)


class _Reader:
    """Triples by subject, and the rules made of them."""

    def __init__(self, triples: Iterable[tuple[Term, str, Term]]) -> None:
        self.statements: dict[Term, dict[str, list[Term]]] = {}
        for subject, predicate, obj in triples:
            self.statements.setdefault(subject, {}).setdefault(predicate, []).append(obj)
        self.rules: list[Rule] = []
        self.notes: list[str] = []
        self.seen: set[Term] = set()
        self.within: list[Term] = []

    def values(self, subject: Term, name: str) -> list[Term]:
        return sorted(self.statements.get(subject, {}).get(name if ":" in name else SH + name, []))

    def one(self, subject: Term, name: str) -> str:
        return next((value for _, value in self.values(subject, name)), "")

    def items(self, head: Term) -> list[Term]:
        """Returns the items of a list; InvalidFile when it goes in circles."""
        found, seen = [], {head}
        while head[1] != f"{_RDF}nil" and (first := self.values(head, f"{_RDF}first")):
            found.append(first[0])
            head = next(iter(self.values(head, f"{_RDF}rest")), ("iri", f"{_RDF}nil"))
            if head in seen:
                raise InvalidFile("a list of the shapes is circular", "repair rdf:rest")
            seen.add(head)
        return found

    def shapes(self) -> set[Term]:
        """Returns the shapes: nodes that are typed as one, or that have a target or properties."""
        kinds = {f"{SH}NodeShape", f"{SH}PropertyShape"}
        return {
            subject
            for subject, statements in self.statements.items()
            if kinds & {value for _, value in statements.get(f"{_RDF}type", ())}
            or any(name.startswith((f"{SH}target", f"{SH}property")) for name in statements)
        }

    def shown(self, shape: Term) -> str:
        return local_name(shape[1]) if shape[0] == "iri" else "a nameless shape"

    def targets(self, shape: Term) -> Iterator[_Focus]:
        """Yields the targets of a shape."""
        kinds = {value for _, value in self.values(shape, f"{_RDF}type")}
        classes = self.values(shape, "targetClass") + ([shape] if kinds & _CLASSES else [])
        found = [(name, (Pattern("?x", "type", local_name(name[1])),)) for name in classes]
        found += [
            (name, (Pattern("?x", local_name(name[1]), "?_"),)) for name in self.values(shape, "targetSubjectsOf")
        ]
        found += [(name, (Pattern("?_", local_name(name[1]), "?x"),)) for name in self.values(shape, "targetObjectsOf")]
        for name, conditions in found:
            label = local_name(shape[1]) if shape[0] == "iri" else f"{local_name(name[1])} shape"
            yield _Focus(shape if shape[0] == "iri" else name, label, conditions)
        for name in self.values(shape, "targetNode"):
            node_name = _named(name)  # counted, so that it is looked at whatever is known of it
            start = (Pattern("?_n", "", "?_c", "count", of=(Pattern(node_name, "type", "?_c"),)),)
            yield _Focus(shape if shape[0] == "iri" else name, f"{self.shown(shape)} {node_name}", start, node_name)
        if not found and self.values(shape, "target"):
            self.notes.append(f"{self.shown(shape)}: sh:target is not understood, and left out")

    def read_shape(self, focus: _Focus, shape: Term | None = None) -> None:
        """Makes rules of all that a shape asks of a thing: by itself, or of what a path leads to."""
        shape = shape or focus.shape
        if shape in self.within:
            self.notes.append(f"{self.shown(shape)} refers to itself: only its first turn is read")
            return
        self.within.append(shape)
        self.seen.add(shape)
        severity = _SEVERITIES.get(local_name(self.one(shape, "severity")), focus.severity)
        message = one_line(self.one(shape, "message"), 500) or focus.message
        enabled = focus.enabled and self.one(shape, "deactivated") != "true"
        focus = focus._replace(severity=severity, message=message, enabled=enabled)
        steps = self._steps(shape)
        if steps is not None:
            self._read_values(focus, shape, steps)
        for part in self.values(shape, "property"):
            self.read_shape(focus, part)
        self.within.pop()

    def _steps(self, shape: Term) -> list[tuple[str, bool]] | None:
        """Returns the properties of a path, each with whether it is followed backwards; None for a path that is not understood."""
        paths = self.values(shape, "path")
        found: list[tuple[str, bool]] = []
        for step in [each for path in paths for each in (self.items(path) or [path])]:
            inverse = self.values(step, "inversePath")
            name = inverse[0] if inverse else step
            if name[0] != "iri":
                self.notes.append(
                    f"{self.shown(shape)}: only properties, their inverses and sequences of them are understood as sh:path"
                )
                return None
            found.append((local_name(name[1]), bool(inverse)))
        return found

    def _read_values(self, focus: _Focus, shape: Term, steps: list[tuple[str, bool]]) -> None:
        """Adds a rule for each demand of a shape on the values at the end of a path."""
        base = focus.variable if focus.variable.startswith("?") else "?x"
        ends = [focus.variable, *(f"{base}{n}" for n in range(1, len(steps)))]
        value = f"{base}v" if steps else focus.variable
        path = tuple(
            Pattern(*((last, name, start) if back else (start, name, last)))
            for (name, back), start, last in zip(steps, ends, [*ends[1:], value], strict=False)
        )
        label = " ".join([focus.label, *("^" * back + name for name, back in steps)])
        values = focus._replace(label=label, path=path, value=value)
        for key in sorted(self.statements.get(shape, {})):
            name = key.removeprefix(SH)
            if not key.startswith(SH) or name in _SILENT:
                continue
            made = self._broken(values, shape, name)
            if made is None:
                self.notes.append(f"{label}: sh:{name} is not understood, and left out")
            for conditions in made or ():
                self._add(values, name, conditions)

    def _broken(self, values: _Focus, shape: Term, name: str) -> list[tuple[Pattern, ...]] | None:
        """Returns the conditions that violate a demand on values; None when it is not supported."""
        given = self.values(shape, name)
        if name in ("node", "and"):
            inner = given if name == "node" else [item for each in given for item in self.items(each)]
            focus = values._replace(conditions=(*values.conditions, *values.path), variable=values.value)
            for each in inner:
                self.read_shape(focus, each)
            return []
        if name == "or":
            return [found for each in given if (found := self._neither(values, self.items(each)))] or None
        if name in ("in", "languageIn"):
            listed = [item for each in given for item in self.items(each)]
            names = dict.fromkeys(spelling for item in listed for spelling in (item[1], _named(item)))
            return [values.test("not_among", "\n".join(names))] if name == "in" else None
        if name == "pattern":
            flags = "(?i)" if "i" in self.one(shape, "flags") else ""
            return [values.test("not_matches", flags + self._expression(text)) for _, text in given]
        test = _TESTS.get(name)
        return [test(values, term) for term in given] if test else None

    def _expression(self, text: str) -> str:
        try:
            re.compile(text)
        except re.error as error:
            raise InvalidFile(
                f"sh:pattern {text[:60]!r} is no regular expression: {error}", "nothing was imported"
            ) from None
        return text

    def _neither(self, values: _Focus, options: Sequence[Term]) -> tuple[Pattern, ...] | None:
        """Returns the condition that a value is of none of some classes and datatypes; None where the options have other demands."""
        types, conditions = [], []
        for option in options:
            keys = {key.removeprefix(SH) for key in self.statements.get(option, {}) if key.startswith(SH)}
            if keys == {"datatype"}:
                types.append(self.one(option, "datatype"))
            elif keys == {"class"}:
                conditions.append(Pattern(values.value, "type", local_name(self.one(option, "class")), negated=True))
            else:
                return None
        test = [Pattern(values.value, "", " ".join(types), "not_typed")] if types else []
        return (*values.path, *test, *conditions)

    def _add(self, focus: _Focus, name: str, conditions: tuple[Pattern, ...]) -> None:
        label = f"{focus.label} {name}"
        message = re.sub(r"\{[$?]this\}", "?x", focus.message)
        message = re.sub(r"\{[$?]value\}", "?xv", message)
        self.rules.append(Rule(
            "R-new", label, "constraint", (*focus.conditions, *conditions), None, "", message, focus.severity,
            enabled=focus.enabled, domain="shacl", extra=((SHAPE, focus.shape[1]),),
        ))  # fmt: skip


def _named(term: Term) -> str:
    """Returns a value as facts write it."""
    return term[1] if term[0] == "literal" else local_name(term[1])


_TESTS: dict[str, Callable[[_Focus, Term], tuple[Pattern, ...]]] = {
    "minCount": lambda values, term: values.number("lt", term[1]),
    "maxCount": lambda values, term: values.number("gt", term[1]),
    "datatype": lambda values, term: values.test("not_typed", term[1]),
    "class": lambda values, term: (*values.path, Pattern(values.value, "type", local_name(term[1]), negated=True)),
    "minLength": lambda values, term: values.test("not_matches", f"(?s)^.{{{int(term[1])},}}$"),
    "maxLength": lambda values, term: values.test("not_matches", f"(?s)^.{{0,{int(term[1])}}}$"),
    "hasValue": lambda values, term: (
        values.lack(Pattern(values.value, "", _named(term))) if values.path else values.test("ne", _named(term))
    ),
    "disjoint": lambda values, term: (*values.path, Pattern(values.variable, local_name(term[1]), values.value)),
    **{
        name: lambda values, term, sign=sign: values.test(f"not_{sign}", term[1])  # type: ignore[misc]
        for name, sign in _BOUNDS.items()
    },
    **{
        name: lambda values, term, sign=sign: (  # type: ignore[misc]
            *values.path,
            Pattern(values.variable, local_name(term[1]), "?xw"),
            Pattern(values.value, "", "?xw", f"not_{sign}"),
        )
        for name, sign in _PAIRS.items()
    },
}


def update_shapes(
    rules: Sequence[Rule], shapes: Shapes, next_id: Callable[[], str], now: str
) -> tuple[list[Rule], dict[str, int]]:
    """Returns rules with the constraints of shapes in place of those that the same shapes asked for before, and how many are added,
    updated, unchanged and removed. Which of them are switched off stays as it is."""
    mine = {
        (dict(rule.extra).get(SHAPE), rule.name): rule for rule in rules if dict(rule.extra).get(SHAPE) in shapes.names
    }
    counts = dict.fromkeys(("added", "updated", "unchanged", "removed"), 0)
    renewed: dict[str, Rule] = {}
    added = []
    for rule in shapes.rules:
        old = mine.pop((dict(rule.extra)[SHAPE], rule.name), None)
        if old is None:
            added.append(rule._replace(id=next_id(), created_at=now))
            continue
        renewed[old.id] = rule._replace(id=old.id, created_at=old.created_at, enabled=old.enabled and rule.enabled)
        counts["unchanged" if renewed[old.id] == old else "updated"] += 1
    gone = {rule.id for rule in mine.values()}
    counts |= {"added": len(added), "removed": len(gone)}
    return [*(renewed.get(rule.id, rule) for rule in rules if rule.id not in gone), *added], counts


def render_shapes(ontology: Ontology, expand: Callable[[str], str]) -> str:
    """Returns a shape in Turtle for each class that has properties: what kind their values are, and that a functional one has at
    most one."""
    spaces = {"sh": SH, "rdfs": _RDFS, "xsd": WELL_KNOWN["xsd"], "rdf": _RDF}
    lines = [f"@prefix {name}: <{space}> ." for name, space in sorted(spaces.items())]
    for key, concept in sorted(ontology.concepts.items()):
        found = sorted((p for p in ontology.properties.values() if key in p.domains), key=lambda each: each.id)
        parts = [part for each in found if (part := _property_shape(each, expand))]
        if parts:
            name = [f"  sh:name {dump_line(concept.label)} ;"] if concept.label else []
            shape = f"<{expand(key)}Shape> a sh:NodeShape ;"
            lines += ["", shape, f"  sh:targetClass <{expand(key)}> ;", *name, f"  sh:property {' , '.join(parts)} ."]
    return "\n".join(lines) + "\n"


def _property_shape(each: Property, expand: Callable[[str], str]) -> str:
    """Renders the demands on the values of a property; empty if there are none."""
    kinds = [
        f"sh:datatype {name}" if name.startswith("xsd:") else f"sh:class <{expand(name)}>"
        for name in each.ranges
        if name != "rdfs:Literal" and (is_datatype(name) or name != "owl:Thing")
    ]
    asked = ["sh:maxCount 1"] if each.is_functional else []
    if len(kinds) == len(each.ranges) and kinds:
        asked += kinds if len(kinds) == 1 else [f"sh:or ( {' '.join(f'[ {kind} ]' for kind in kinds)} )"]
    label = [f"sh:name {dump_line(each.label)}"] if each.label else []
    return f"[\n    {' ; '.join([f'sh:path <{expand(each.id)}>', *label, *asked])}\n  ]" if asked else ""
