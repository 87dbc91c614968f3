"""Inference after a change: the same facts as from scratch, whatever changed."""

import random

import pytest

from core.knowledge.test_strata import random_program
from core.rulesets import random_facts, random_rules
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.forward import Limits, conclude, forward_chain, run_chain
from mabos_cli.core.knowledge.relations import FactIndex
from mabos_cli.core.knowledge.renewal import Changed, renew_inference
from mabos_cli.core.knowledge.rule import Pattern, Rule
from mabos_cli.formats.knowledge.rules import parse_rule_text


class MemoryRows:
    """Facts of the last run in memory, as a source."""

    def __init__(self, given, outcome):
        self._index = FactIndex(given)
        for predicate, rows in outcome.settled:
            named = [(*row[:5], -1, given_fact(row, outcome), predicate) for row in rows]
            self._index.relation(predicate).is_timed |= any(row[4] is not None for row in rows)
            self._index.add(predicate, named)

    def find(self, predicate, subject, obj):
        names = [predicate] if predicate is not None else [*self._index.relations]
        return [row for name in names for row in self._index.find(name, subject, obj)]

    def predicates(self):
        return {name: relation.is_timed for name, relation in self._index.relations.items()}


def given_fact(row, outcome):
    """Returns the fact that a row of a run stands for, as far as what rests on it needs it."""
    own, trust = outcome.named[id(row)]
    return Fact(own, row[0], row[7], row[1], row[2], trust=trust, rule_id="derived")


def rows(facts):
    return [row for relation in FactIndex(facts).relations.values() for row in relation.rows]


def renewed(before, after, rules):
    """What follows after a change, by what followed before; None where it is not renewed."""
    was = conclude(run_chain(before, rules, Limits()))
    one, two = ({fact.id: fact for fact in facts} for facts in (before, after))
    triples = {one.get(i, two.get(i)).triple for i in one.keys() | two.keys() if one.get(i) != two.get(i)}
    changed = Changed(*(rows([f for f in facts if f.triple in triples]) for facts in (before, after)))
    found = renew_inference(MemoryRows(before, was), changed, rules, Limits(), len(was.inference.derived))
    if found is None:
        return None
    kept = [fact for fact in was.inference.derived if fact.triple not in found.affected]
    return sorted([*kept, *found.outcome.inference.derived], key=lambda fact: (fact.triple, fact.valid_from))


def change(draw, facts, make):
    """Some facts without a few, with a few more, and with others that are less sure, of another trust or time."""
    found = [fact for fact in facts if draw.random() > 0.1]
    for place in range(len(found)):
        if draw.random() < 0.1:
            found[place] = found[place]._replace(
                confidence=draw.choice((0.3, 0.9)), trust=draw.choice(("trusted", "untrusted"))
            )
    return [*found, *(fact._replace(id=f"F-new{n}") for n, fact in enumerate(make()) if draw.random() < 0.3)]


@pytest.mark.parametrize("seed", range(40))
def test_the_same_as_from_scratch_over_time(seed):
    draw = random.Random(seed)
    before = random_facts(draw, draw.randint(4, 20), 4, weighed=True, timed=seed % 3 > 0)
    rules = random_rules(draw, draw.randint(1, 6), weighed=True)
    after = change(draw, before, lambda: random_facts(draw, 4, 4, weighed=True, timed=seed % 2 > 0))
    found = renewed(before, after, rules)
    assert found == sorted(forward_chain(after, rules).derived, key=lambda fact: (fact.triple, fact.valid_from))


@pytest.mark.parametrize("seed", range(60))
def test_the_same_as_from_scratch_with_negation_and_counts(seed):
    draw = random.Random(seed)
    triples, rules = random_program(draw)
    days = ("", "2026-01-01", "2026-02-01", "2026-03-01")

    def make(some):
        times = sorted(draw.sample(days, 2)) if seed % 2 else ("", "")
        return [
            Fact(f"F-{n}", *one, draw.choice((1.0, 0.8)), valid_from=times[0], valid_until=times[1])
            for n, one in enumerate(sorted(some))
        ]

    rules = [rule._replace(confidence_factor=draw.choice((1.0, 0.9))) for rule in rules]
    if seed % 4:  # what concludes a number is derived again from scratch
        rules = [
            r._replace(conclusion=Pattern("e1", "some", r.concluded.subject)) if r.concluded.object == "?t" else r
            for r in rules
        ]
    before = make(triples)
    after = change(draw, before, lambda: make(random_program(draw)[0]))
    found = renewed(before, after, rules)
    if seed % 4:
        assert found is not None
    if found is not None:
        assert found == sorted(forward_chain(after, rules).derived, key=lambda fact: (fact.triple, fact.valid_from))


def test_only_what_a_change_reaches_is_derived_again():
    texts = ("if ?x partOf ?y then ?x within ?y", "if ?x partOf ?y and ?y within ?z then ?x within ?z")
    texts += (
        "if ?p inverseOf ?q and ?x ?p ?y then ?y ?q ?x",
        "if ?x within ?y and ?x price ?p and ?p > 5 then ?y holds dear",
    )
    rules = [Rule(f"R-{n}", "", "inference", *parse_rule_text(text)) for n, text in enumerate(texts)]
    before = [Fact(f"F-{g}-{n}", f"t{g}-{n}", "partOf", f"t{g}-{n + 1}") for g in range(20) for n in range(5)]
    before += [Fact("F-i", "within", "inverseOf", "contains"), Fact("F-p", "t3-1", "price", "$7")]
    for after in (
        [*before, Fact("F-x", "t3-5", "partOf", "t4-0")],
        before[:-1],
        [f for f in before if f.id != "F-7-2"],
    ):
        was = conclude(run_chain(before, rules, Limits()))
        touched = [f for f in (*before, *after) if (f in before) != (f in after)]
        source = MemoryRows(before, was)
        asked = 0
        find = source.find

        def counting(*ends, find=find):
            nonlocal asked
            found = find(*ends)
            asked += len(found)
            return found

        source.find = counting
        changed = Changed(*(rows([f for f in touched if f in facts]) for facts in (before, after)))
        found = renew_inference(source, changed, rules, Limits(), len(was.inference.derived))
        assert found and asked < 1500 and len(found.affected) < 120, (asked, len(found.affected))
        kept = [fact for fact in was.inference.derived if fact.triple not in found.affected]
        expected = forward_chain(after, rules).derived
        assert sorted([*kept, *found.outcome.inference.derived]) == sorted(expected)
