"""The entailments of ontologies, as rules in the words that facts use: subclasses, equivalent classes, subproperties, domains, ranges,
inverses, symmetric, transitive and inverse functional properties, chains and sameAs conclude facts; disjoint classes are constraints.

Names are taken to be different things unless sameAs says otherwise, so two values of a functional property contradict each other
(`fact lint` reports them) instead of being one thing. Of several domains or ranges any will do, so only a single one entails.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from mabos_cli.core.knowledge.fact import Fact, Triple
from mabos_cli.core.knowledge.ontology import (
    TYPE_PREDICATES,
    Concept,
    Ontology,
    Property,
    Taxonomy,
    is_datatype,
    local_name,
    name_key,
)
from mabos_cli.core.knowledge.rule import Pattern, Rule, is_open, is_variable, needs_of, reach, stratify, usable_rules

PREFIX = "OWL-"
_SAME = frozenset(("sameAs", "same_as", "owl:sameAs", "http://www.w3.org/2002/07/owl#sameAs"))


def ontology_rules(
    ontology: Ontology, facts: Iterable[Fact], rules: Sequence[Rule] = (), goal: Triple | None = None
) -> list[Rule]:
    """Returns the rules that the ontology adds to those given, as far as they concern words that facts, rules or the goal use. A
    rule that would make one of those given depend on its own negation is left out."""
    words = _Words(ontology, facts, rules, goal)
    found = [*_property_rules(words), *_class_rules(words), *_same_rules(words)]
    return _without_circles(list({rule.id: rule for rule in found}.values()), rules)


class _Words:
    """The predicates and classes in use, and how properties and classes of the ontology are written there."""

    def __init__(self, ontology: Ontology, facts: Iterable[Fact], rules: Sequence[Rule], goal: Triple | None) -> None:
        self.ontology = ontology
        patterns = [each for rule in rules if rule.enabled for each in _patterns(rule)]
        self.predicates: dict[str, None] = {}
        classes: dict[str, None] = {}
        for subject, predicate, obj in (*patterns, *([goal] if goal else ())):
            self._add(subject, predicate, obj, classes)
        for fact in facts:
            self._add(*fact.triple, classes)
        self.types = sorted(TYPE_PREDICATES & self.predicates.keys()) or ["isA"]
        self.properties: dict[str, list[str]] = {}
        self.concepts: dict[str, list[str]] = {}
        for name in self.predicates:
            if matched := _one(ontology.properties_named(name), name):
                self.properties.setdefault(matched.id, []).append(name)
        for name in classes:
            if concept := _one(ontology.concepts_named(name), name):
                self.concepts.setdefault(concept.id, []).append(name)

    def _add(self, subject: str, predicate: str, obj: str, classes: dict[str, None]) -> None:
        if predicate and not is_variable(predicate):
            self.predicates[predicate] = None
            if predicate in TYPE_PREDICATES and not is_variable(obj) and not is_open(obj):
                classes[obj] = None

    def names(self, node_id: str, like: str = "") -> list[str]:
        """Returns the names in use of a class or a property; if there are none, its local name, or its id beside another id."""
        found = self.properties.get(node_id) or self.concepts.get(node_id)
        return found or [node_id if ":" in like else local_name(node_id)]


def _one(found: Sequence[Concept | Property], name: str) -> Concept | Property | None:
    """Returns what a name means, if that is clear."""
    is_clear = len(found) == 1 or (found and name_key(local_name(found[0].id)) == name_key(name))
    return found[0] if is_clear else None


def _patterns(rule: Rule) -> Iterator[Triple]:
    for each in (*rule.conditions, *([rule.conclusion] if rule.conclusion else ())):
        yield from ((one.subject, one.predicate, one.object) for one in (each, *each.of))


def _rule(
    kind: str, about: Sequence[str], source: str, conditions: Sequence[Triple | Pattern], concluded: Triple
) -> Rule:
    rule_id = "-".join((f"{PREFIX}{kind}", *("_".join(name.split()) for name in about)))
    why = f"{source} ontology: {kind} {' '.join(about)}" if source else f"OWL: {kind} {' '.join(about)}"
    patterns = tuple(each if isinstance(each, Pattern) else Pattern(*each) for each in conditions)
    return Rule(rule_id, why, "inference", patterns, Pattern(*concluded), confidence_factor=1.0, domain=source)


def _property_rules(words: _Words) -> Iterator[Rule]:
    """Yields the rules of the properties in use, and of those that they lead to."""
    inverses: dict[str, dict[str, None]] = {}
    for each in words.ontology.properties.values():
        for other in each.inverses:
            inverses.setdefault(each.id, {})[other] = None
            inverses.setdefault(other, {})[each.id] = None
    links: dict[str, dict[str, None]] = {}  # the properties that a property is a link in a chain of
    for each in words.ontology.properties.values():
        for link in (one for chain in each.chains for one in chain):
            links.setdefault(link, {})[each.id] = None
    waiting = list(words.properties)
    for prop in waiting:  # grows
        if prop not in words.ontology.properties:
            continue
        each = words.ontology.properties[prop]
        for name in words.properties[prop]:
            yield from _rules_of(each, name, list(inverses.get(prop, ())), words)
        chained = [words.ontology.properties[one] for one in links.get(prop, ())]
        ready = {one.id: [c for c in one.chains if prop in c and words.properties.keys() >= {*c}] for one in chained}
        for other in (*each.parents, *inverses.get(prop, ()), *(one for one, chains in ready.items() if chains)):
            if other not in words.properties:
                words.properties[other] = words.names(other, words.properties[prop][0])
                words.predicates |= dict.fromkeys(words.properties[other])
                waiting.append(other)
        for one in chained:
            for chain in ready[one.id]:  # properties in a row, between the ends of which another one holds
                for row in product(*(words.properties[link] for link in chain)):
                    steps = [(f"?x{number}", link, f"?x{number + 1}") for number, link in enumerate(row)]
                    for name in words.properties[one.id]:
                        yield _rule("chain", (*row, name), one.source, steps, ("?x0", name, f"?x{len(row)}"))


def _rules_of(each: Property, name: str, inverses: Sequence[str], words: _Words) -> Iterator[Rule]:
    forth, source = ("?x", name, "?y"), each.source
    for above in each.parents:
        for other in words.names(above, name):
            yield _rule("subPropertyOf", (name, other), source, [forth], ("?x", other, "?y"))
    for inverse in inverses:
        for other in words.names(inverse, name):
            yield _rule("inverseOf", (name, other), source, [forth], ("?y", other, "?x"))
    if "symmetric" in each.traits:
        yield _rule("symmetric", (name,), source, [forth], ("?y", name, "?x"))
    if "transitive" in each.traits:
        yield _rule("transitive", (name,), source, [forth, ("?y", name, "?z")], ("?x", name, "?z"))
    if "inverseFunctional" in each.traits:
        words.predicates |= {"sameAs": None} if _SAME.isdisjoint(words.predicates) else {}
        same = next(one for one in sorted(_SAME) if one in words.predicates)
        others = [("?z", name, "?y"), Pattern("?x", "", "?z", "ne")]
        yield _rule("inverseFunctional", (name,), source, [forth, *others], ("?x", same, "?z"))
    ends = (("domain", "?x", each.domains), ("range", "?y", each.ranges if each.kind == "object" else ()))
    for kind, term, classes in ends:
        if len(classes) == 1 and not is_datatype(classes[0]):
            words.concepts[classes[0]] = words.names(classes[0], name)
            for other in words.concepts[classes[0]]:
                yield _rule(kind, (name, other), source, [forth], (term, words.types[0], other))


def _class_rules(words: _Words) -> Iterator[Rule]:
    """Yields a rule for each class in use and each one above it, however far, so that proofs are short; for each type predicate in
    use."""
    taxonomy, types = Taxonomy(words.ontology), [*product(words.types, repeat=2)]
    for class_id, names in list(words.concepts.items()):
        source = words.ontology.concepts[class_id].source if class_id in words.ontology.concepts else ""
        for above, name in product(taxonomy.ancestors(class_id), names):
            for other, (predicate, concluded) in product(words.names(above, name), types):
                if (predicate, name) != (concluded, other):
                    about = (name, other, *(dict.fromkeys((predicate, concluded)) if len(words.types) > 1 else ()))
                    yield _rule("subClassOf", about, source, [("?x", predicate, name)], ("?x", concluded, other))


def _same_rules(words: _Words) -> Iterator[Rule]:
    """Yields the rules by which all that holds of a thing holds of what is the same; one for each predicate, because a rule that
    concludes any would make every negation depend on itself."""
    for same in sorted(_SAME & words.predicates.keys()):
        both = ("?x", same, "?y")
        yield _rule("sameAs", ("symmetric", same), "", [both], ("?y", same, "?x"))
        yield _rule("sameAs", ("transitive", same), "", [both, ("?y", same, "?z")], ("?x", same, "?z"))
        for name in (*words.predicates, *words.types):
            if name not in _SAME:
                yield _rule("sameAs", ("subject", name), "", [both, ("?x", name, "?z")], ("?y", name, "?z"))
                yield _rule("sameAs", ("object", name), "", [both, ("?z", name, "?x")], ("?z", name, "?y"))


def _without_circles(mine: list[Rule], given: Sequence[Rule]) -> list[Rule]:
    """Leaves out what leads from the conclusion of a rule given to what that rule negates or counts: domains and ranges, and if
    that is not enough, all that does."""
    usable = usable_rules(given, "inference")[0]
    if not any(needs_of(rule).closed for rule in usable):
        return mine
    before = {each.rule_id for each in stratify(usable)[1]}
    for kinds in ((f"{PREFIX}domain", f"{PREFIX}range"), (PREFIX,)):
        broken = {each.rule_id for each in stratify([*usable, *mine])[1]} - before
        for rule in (each for each in usable if each.id in broken):
            every = [(needs_of(each).all, {each.concluded.predicate}) for each in (*usable, *mine)]
            after = reach({rule.concluded.predicate}, every)
            behind = reach(needs_of(rule).closed, [(heads, needs) for needs, heads in every])
            between = {m.id for m in mine if needs_of(m).all & after and m.concluded.predicate in behind}
            mine = [m for m in mine if m.id not in between or not m.id.startswith(kinds)]
    return mine


def disjoint_constraints(ontology: Ontology) -> list[Rule]:
    """Returns a constraint for each two classes that have nothing in common, in the words of `ground_facts`."""
    found = {}
    for concept in ontology.concepts.values():
        for other in concept.disjoint:
            one, two = sorted((local_name(concept.id), local_name(other)))
            rule_id = f"{PREFIX}disjoint-{one}-{two}"
            conditions = (Pattern("?x", "type", one), Pattern("?x", "type", two))
            message = f"?x is {one} and {two}, and nothing can be both"
            found[rule_id] = Rule(
                rule_id, f"{concept.source} ontology: disjoint {one} {two}", "constraint", conditions,
                violation_message=message, severity="error", domain=concept.source,
            )  # fmt: skip
    return list(found.values())
