"""Random facts and rules, and forward chaining written as simply as possible: what the tests of inference share."""

from itertools import product

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.rule import Pattern, Rule, is_variable

GIVEN, CONCLUDED = ("p", "q", "r"), ("s", "t", "u")
LINEAR = (
    Rule("R-1", "", "inference", (Pattern("?x", "edge", "?y"),), Pattern("?x", "path", "?y")),
    Rule("R-2", "", "inference", (Pattern("?x", "edge", "?y"), Pattern("?y", "path", "?z")), Pattern("?x", "path", "?z")),
)  # fmt: skip


def random_facts(draw, count, things=6, *, weighed=False, timed=False):
    """Facts over few things; some of predicates that rules conclude as well. Timed ones may say a triple several times, for times
    that may overlap."""
    found = {}
    for number in range(count):
        triple = (
            f"e{draw.randrange(things)}",
            draw.choice((*GIVEN, *GIVEN, "s")),
            f"e{draw.randrange(things)}",
        )
        day = draw.randint(1, 20)
        times = {"valid_from": f"2026-01-{day:02}", "valid_until": f"2026-01-{day + draw.randint(0, 10):02}"}
        kept = {name: text for name, text in times.items() if timed and draw.random() < 0.5}
        sure = draw.choice((1.0, 0.9, 0.81, 0.5, round(draw.random(), 2))) if weighed else 1.0
        found.setdefault(
            (triple, number * timed),
            Fact(f"F-{number}", *triple, sure, trust=draw.choice(("agent", "untrusted")), **kept),
        )
    return list(found.values())


def random_rules(draw, count, *, linear=False, weighed=False):
    """Rules of one to three conditions with constants, repeated variables and inequalities, often recursive. Linear ones have
    at most one condition that rules conclude."""
    rules = []
    while len(rules) < count:
        conditions = []
        for at in range(draw.randint(1, 3)):
            source = GIVEN if linear and at else (*GIVEN, *CONCLUDED)
            terms = [draw.choice(("?x", "?y", "?z", "?x", "?y", "e1")) for _ in range(2)]
            conditions.append(Pattern(terms[0], draw.choice(source), terms[1]))
        bound = sorted({term for one in conditions for term in (one.subject, one.object) if is_variable(term)})
        if not bound:
            continue
        if len(bound) > 1 and draw.random() < 0.3:
            conditions.insert(draw.randrange(len(conditions) + 1), Pattern(bound[0], "", bound[1], "ne"))
        said = [draw.choice((*bound, *bound, "e2")) for _ in range(2)]
        factor = draw.choice((0.9, 1.0, 0.5)) if weighed else 0.9
        rules.append(
            Rule(f"R-{len(rules):03}", "", "inference", tuple(conditions),
                 Pattern(said[0], draw.choice(CONCLUDED), said[1]), confidence_factor=factor)
        )  # fmt: skip
    return rules


def brute_force(facts, rules):
    """What follows, settled one triple at a time: of all derivations from what is settled, the best is taken next.

    By triple: confidence, depth, rule id and the triples of the supports."""
    settled = {}
    for fact in sorted(facts, key=lambda fact: fact.confidence):
        settled[fact.triple] = (fact.confidence, 0)
    derived = {}
    while found := [each for rule in rules for each in _derivations(rule, settled)]:
        sure, depth, rule_id, supports, triple = min(found)
        settled[triple] = (-sure, depth)
        derived[triple] = (-sure, depth, rule_id, supports)
    return derived


def by_the_day(facts, rules, days):
    """What follows on each day from the facts of that day: the confidence by day and triple."""
    found = {}
    for day in days:
        held = [fact for fact in facts if (fact.valid_from or day) <= day <= (fact.valid_until or day)]
        found |= {(day, triple): sure for triple, (sure, *_) in brute_force(held, rules).items()}
    return found


def _derivations(rule, settled):
    """Every derivation by a rule of a triple that is not settled, as a tuple that sorts by how good it is."""
    named = [one for one in rule.conditions if one.predicate]
    rows = [[triple for triple in settled if triple[1] == one.predicate] for one in named]
    for supports in product(*rows):
        values = {}
        terms = [(one[at], triple[at]) for one, triple in zip(named, supports, strict=True) for at in (0, 2)]
        if not all(values.setdefault(t, v) == v if is_variable(t) else t == v for t, v in terms):
            continue
        if any(values[c.subject] == values[c.object] for c in rule.conditions if not c.predicate):
            continue
        triple = tuple(values.get(term, term) for term in rule.conclusion[:3])
        if triple not in settled:
            sure = min(settled[one][0] for one in supports) * rule.confidence_factor
            yield -sure, 1 + max(settled[one][1] for one in supports), rule.id, supports, triple
