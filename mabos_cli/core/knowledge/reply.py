"""Answers to questions that were read as triples: yes, no, unknown, when, why, what, how many; with proof or counter-evidence."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from mabos_cli.core.knowledge.backward import Proof
from mabos_cli.core.knowledge.fact import LAST, Fact, Triple, interval
from mabos_cli.core.knowledge.ontology import TYPE_PREDICATES
from mabos_cli.core.knowledge.vocabulary import Reading, Vocabulary
from mabos_cli.core.language.text import one_line
from mabos_cli.core.language.values import compare, find_value
from mabos_cli.core.memory.trust import trust_rank

YES, NO, UNKNOWN, KNOWN = "yes", "no", "unknown", "known"
_LEAST_SURE = 0.5  # what is less sure than this does not answer
_YES = {"yes": "true", "no": "false", "true": "true", "false": "false"}
_SHOWN = 12
Prove = Callable[[Triple], Sequence[Proof]]


class Reply(NamedTuple):
    """An answer: its verdict, the values that were asked for, one line that says it, how the question was read, what proves
    it, what speaks against it, and the triple that was looked for."""

    verdict: str
    kind: str
    values: tuple[str, ...]
    line: str
    reading: str = ""
    proofs: tuple[Proof, ...] = ()
    against: tuple[Proof, ...] = ()
    goal: Triple | None = None


class Knowledge(NamedTuple):
    """Holds what answers are based on: proofs of goals, functional predicates, and the time."""

    prove: Prove
    functional: frozenset[str]
    now: datetime


def answer_readings(readings: Sequence[Reading], vocabulary: Vocabulary, knowledge: Knowledge) -> Reply | None:
    """Returns the answer on which all readings that have one agree; those with a word that was not checked count only if there
    is no other. None if there is no reading."""
    replies = []
    for reading in readings:
        one = _Evaluation(reading, vocabulary, knowledge)
        say = {"truth": one.say_whether, "when": one.say_when, "why": one.say_why}.get(reading.kind, one.say_what)
        replies.append((say(), bool(reading.noun)))
    for unchecked in (False, True):
        definite = [reply for reply, noun in replies if noun == unchecked and reply.verdict != UNKNOWN]
        if not definite:
            continue
        # A cause says more than that something is asserted.
        definite = [reply for reply in definite if reply.values or reply.kind != "why"] or definite
        if len({(reply.verdict, frozenset(reply.values)) for reply in definite}) == 1:
            return max(definite, key=lambda reply: sum(proof.confidence for proof in reply.proofs))
        ways = "; ".join(dict.fromkeys(f"{reply.reading}: {reply.line}" for reply in definite))
        return definite[0]._replace(
            verdict=UNKNOWN, values=(), line=f"unknown: it can be read in several ways: {one_line(ways, 300)}"
        )
    return replies[0][0] if replies else None


def not_read(unknown: Sequence[str], near: Sequence[Fact]) -> Reply:
    """Returns the answer to a question that has no reading, with what is known nearest to it."""
    why = f"nothing here knows {_listed(unknown)}" if unknown else "it has no reading in the words of the facts"
    known = f"; known: {_listed([one_line(' '.join(fact.triple), 80) for fact in near[:3]])}" if near else ""
    return Reply(UNKNOWN, "", (), f"unknown: {why}{known}")


def find_leaves(proof: Proof) -> list[Fact]:
    """Returns the facts that a proof rests on."""
    return [proof.fact] if proof.fact else [fact for part in proof.parts for fact in find_leaves(part)]


class _Evaluation:
    """One reading held against what can be proven."""

    def __init__(self, reading: Reading, vocabulary: Vocabulary, knowledge: Knowledge) -> None:
        self.reading, self.vocabulary, self.knowledge = reading, vocabulary, knowledge
        self.goal = (reading.subject or "?s", reading.predicate, reading.object or "?o")
        self.proofs = [*knowledge.prove((self.goal[0], self.goal[1], "?o" if reading.subject else self.goal[2]))]
        if reading.object is None and {proof.triple[2].casefold() in _YES for proof in self.proofs} == {True}:
            self.reading = reading._replace(object="true")  # who is taxable is one of whom it is true
        self.is_number = reading.subject is not None and vocabulary.is_attribute(reading.predicate)
        self.is_single = reading.predicate in knowledge.functional

    def _in_time(self, proof: Proof) -> bool:
        start, end = _span(proof)
        if self.reading.period and not self._asks_for_date():
            first, last = (
                interval(Fact("", "", "", "", valid_from=day, valid_until=day)) for day in self.reading.period
            )
            return start <= last[1] and end >= first[0]
        return start <= self.knowledge.now and (self.reading.is_past or end >= self.knowledge.now)

    def _asks_for_date(self) -> bool:
        """Returns whether the time in the question is the value that is asked about, as in `founded in 2014`."""
        return bool(self.proofs) and all(_year(proof.triple[2]) for proof in self.proofs)

    def _matches(self, proof: Proof) -> bool:
        value = proof.triple[2]
        if self.reading.compared:
            return compare(self.reading.compared[0], value, self.reading.compared[1])
        if self.reading.object is not None:
            same = _YES.get(value.casefold(), value) == _YES.get(self.reading.object.casefold(), self.reading.object)
            return same or compare("eq", value, self.reading.object)
        if self.reading.period and self._asks_for_date():
            first, last = self.reading.period
            return first[: len(value)] <= value[:10] <= last[: len(value)]
        return True

    def say_whether(self) -> Reply:
        holding = [proof for proof in self.proofs if self._in_time(proof)]
        matching = [proof for proof in holding if self._matches(proof)]
        others = [proof for proof in holding if not self._matches(proof)]
        ended = [proof for proof in self.proofs if self._matches(proof) and proof not in holding]
        if matching:
            best = max(matching, key=_weight)
            rivals = [proof for proof in others if _overlap(proof, best)] if self.is_single else []
            rival = max(rivals, key=_weight, default=None)
            if rival and _weight(rival) > _weight(best):
                return self._reply(NO, (), f"no: {_cite(rival)}", [rival], [best])
            if best.confidence < _LEAST_SURE:
                return self._reply(UNKNOWN, (), f"unknown: only {_cite(best)} says so", [], [best])
            return self._reply(YES, (), f"yes: {_cite(best)}", [best], rivals)
        if ended:
            now = f"; {'then' if self.reading.period else 'now'} {_cite(others[0])}" if others else ""
            return self._reply(NO, (), f"no: {_cite(ended[0])}{now}", [], [*ended[:1], *others[:1]])
        if others and self._excludes(others):
            return self._reply(NO, (), f"no: {_cite(max(others, key=_weight))}", [], others[:3])
        known = f"; known: {_listed(proof.triple[2] for proof in others)}" if others else ""
        return self._reply(UNKNOWN, (), f"unknown: no fact says {self._asked()}{known}", [], others[:3])

    def _excludes(self, others: list[Proof]) -> bool:
        """Returns whether what is known rules out what is asked: there is one value at a time, or one that has an order."""
        if self.reading.subject is None or self.reading.noun or max(proof.confidence for proof in others) < _LEAST_SURE:
            return False
        values = {proof.triple[2] for proof in others}
        if self.reading.compared:
            given = self.reading.compared[1]
            return all(any(compare(op, value, given) for op in ("lt", "eq", "gt")) for value in values)
        if self.reading.period and self._asks_for_date():
            return self.is_single or len(values) == 1
        thing = self.reading.object or ""
        if self.reading.predicate in self.vocabulary.places:  # who lives in Porto may live in Portugal
            links = self.vocabulary.holders.get(thing, ())
            if any(self.knowledge.prove((value, link, thing)) for value in values for link in links):
                return False
        asked = _YES.get(thing.casefold(), "")
        opposite = {"true": "false", "false": "true"}.get(asked)
        return self.is_single or (opposite is not None and {_YES.get(one.casefold()) for one in values} == {opposite})

    def _asked(self) -> str:
        subject, predicate, obj = (part.lstrip("?") if part in ("?s", "?o") else part for part in self.goal)
        shown = " ".join(self.reading.compared) if self.reading.compared else "anything" if obj == "o" else obj
        return f"{'anything' if subject == 's' else subject} {predicate} {shown}"

    def say_what(self) -> Reply:
        holding = [proof for proof in self.proofs if self._in_time(proof) and self._matches(proof)]
        against: list[Proof] = []
        if self.is_single and self.reading.subject:
            found, holding = sorted(holding, key=_weight, reverse=True), []
            for proof in found:
                (against if any(_overlap(proof, one) for one in holding) else holding).append(proof)
            against = [proof for proof in against if proof.triple not in {one.triple for one in holding}]
        open_part = 2 if self.reading.subject else 0
        if self.reading.members:
            kinds, members = TYPE_PREDICATES & self.vocabulary.uses.keys(), self.reading.members
            inside = {proof.triple[0] for kind in kinds for proof in self.knowledge.prove(("?s", kind, members))}
            holding = [proof for proof in holding if proof.triple[open_part] in inside]
        values = tuple(dict.fromkeys(proof.triple[open_part] for proof in holding))
        if not values or max(proof.confidence for proof in holding) < _LEAST_SURE:
            return self._reply(UNKNOWN, (), f"unknown: no fact says {self._asked()}", [], holding[:3])
        counts = self.reading.kind == "count" and not (self.is_number and len(values) == 1)
        head = str(len(values)) if counts else _listed(values)
        more = _listed(values) if counts else _cite(holding[0]) if len(values) == 1 else self._asked()
        return self._reply(KNOWN, values, f"{head}: {more}", holding, against)

    def say_when(self) -> Reply:
        found = [proof for proof in self.proofs if self._matches(proof) and proof.confidence >= _LEAST_SURE]
        if self.reading.object is None:
            dated = [proof for proof in found if _year(proof.triple[2])]
            values = tuple(dict.fromkeys(proof.triple[2] for proof in dated))
            if values and (len(values) == 1 or not self.is_single):
                return self._reply(KNOWN, values, f"{_listed(values)}: {_cite(dated[0])}", dated)
        edge = self.reading.edge
        spans = {date: proof for proof in found if (date := _dates(proof, edge))}
        if not spans:
            known = f"; {_cite(found[0])} has no dates" if found else ""
            return self._reply(UNKNOWN, (), f"unknown: no fact dates {self._asked()}{known}", [], found[:1])
        return self._reply(KNOWN, tuple(spans), f"{_listed(spans)}: {self._asked()}", [*spans.values()])

    def say_why(self) -> Reply:
        found = [
            proof for proof in self.proofs if self._matches(proof) and (self._in_time(proof) or self.reading.is_past)
        ]
        if not found:
            return self._reply(UNKNOWN, (), f"unknown: no fact says {self._asked()}", [])
        if self.reading.object is None and self.reading.predicate in self.vocabulary.causes:
            values = tuple(dict.fromkeys(proof.triple[2] for proof in found))
            return self._reply(KNOWN, values, f"because of {_listed(values)}: {_cite(found[0])}", found)
        best = max(found, key=_weight)
        if self.reading.object is None and not best.rule:
            return self._reply(UNKNOWN, (), f"unknown: no fact says why {_cite(best)}", [], [best])
        parts = [part.triple for part in best.parts]
        values = tuple(dict.fromkeys(term for part in parts for term in (part[0], part[2])))
        if best.rule:
            because = " and ".join(" ".join(part) for part in parts)
            line = f"because {because} ({best.rule.label}): {_cite(best)}"
        else:
            source = best.fact.source if best.fact else ""
            line = f"it is asserted, source {source}: {_cite(best)}"
        return self._reply(KNOWN, values, line, [best])

    def _reply(
        self, verdict: str, values: tuple[str, ...], line: str, proofs: Sequence[Proof], against: Sequence[Proof] = ()
    ) -> Reply:
        text, kind = self.reading.text, self.reading.kind
        return Reply(verdict, kind, values, line, text, tuple(proofs), tuple(against), self.goal)


def _span(proof: Proof) -> tuple[datetime, datetime]:
    return interval(Fact("", *proof.triple, valid_from=proof.valid_from, valid_until=proof.valid_until))


def _weight(proof: Proof) -> tuple[int, float, datetime]:
    """Returns how much a proof counts: by trust, then by confidence, then the later one."""
    trust = trust_rank(proof.fact.trust) if proof.fact else min((_weight(part)[0] for part in proof.parts), default=0)
    start, end = _span(proof)
    return trust, proof.confidence, start if end == LAST else end


def _overlap(a: Proof, b: Proof) -> bool:
    (start, end), (first, last) = _span(a), _span(b)
    return start <= last and first <= end


def _dates(proof: Proof, edge: str = "") -> str:
    since, until = proof.valid_from, proof.valid_until
    if edge:
        return since if edge == "start" else until
    if since and until:
        return f"{since} to {until}"
    return f"since {since}" if since else f"until {until}" if until else ""


def _cite(proof: Proof) -> str:
    dates = f", {_dates(proof)}" if _dates(proof) else ""
    return f"{one_line(' '.join(proof.triple), 140)} ({proof.confidence:.2f}{dates})"


def _listed(values: Iterable[str]) -> str:
    names = [*dict.fromkeys(values)]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def _year(value: str) -> bool:
    """Returns whether a value is a date, or a year."""
    found = find_value(value)
    return found is not None and (found.kind == "time" or (value.isdigit() and len(value) == 4))
