"""Facts and rules of an agent: read as they are, changed under its lock."""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from mabos_cli.core.asserting import FactChanges
from mabos_cli.core.clock import format_time
from mabos_cli.core.fact import Fact, Triple
from mabos_cli.core.ids import parse_id
from mabos_cli.core.rule import Rule
from mabos_cli.errors import Conflict, InvalidFile
from mabos_cli.formats.facts import FactFile, parse_fact, parse_facts, render_fact, render_facts
from mabos_cli.formats.items import line_id
from mabos_cli.formats.json_text import dump_line
from mabos_cli.formats.rules import RuleFile, parse_rules, render_rules, rule_to_dict
from mabos_cli.workspace.fact_archive import append_fact_departures
from mabos_cli.workspace.facts_md import materialize_facts
from mabos_cli.workspace.files import Moved, append_bytes, read_bytes, replace_file
from mabos_cli.workspace.home import AgentHome
from mabos_cli.workspace.receipts import write_receipt
from mabos_cli.workspace.recovery import holding_lock
from mabos_cli.workspace.world import Mint

Result = TypeVar("Result")
_ATTEMPTS = 20


class Facts(NamedTuple):
    """The facts of an agent as they are on disk: asserted ones, and those that rules made of them."""

    asserted: FactFile
    derived: FactFile

    def all(self) -> Iterator[Fact]:
        """Every fact, asserted ones first."""
        yield from self.asserted.facts("facts.json")
        yield from self.derived.facts("facts-derived.json")

    def of(self, subjects: Iterable[str] | None) -> Iterator[Fact]:
        """The facts about some subjects, or all of them; only the lines of those are decoded."""
        if subjects is None:
            yield from self.all()
            return
        for subject in subjects:
            yield from self.where("subject", subject)

    def where(self, name: str, value: str) -> Iterator[Fact]:
        """The facts whose field has exactly a value."""
        for file in self:
            for line in file.lines_with(name, value):
                fact = parse_fact(line, "facts.json")
                if getattr(fact, name) == value:
                    yield fact

    def find(self, fact_id: str) -> Fact | None:
        """The fact with an id."""
        opening = b'{"id": %s, ' % dump_line(fact_id).encode()
        lines = (line for file in self for line in file.lines if line.startswith(opening))
        return next((parse_fact(line, "facts.json") for line in lines), None)

    def asserted_triple(self, triple: Triple) -> Fact | None:
        """The asserted fact that says this."""
        wanted = f'"subject": {dump_line(triple[0])}, "predicate": {dump_line(triple[1])}, '
        wanted = f'{wanted}"object": {dump_line(triple[2])}, "'
        lines = (line for line in self.asserted.lines if wanted.encode() in line)
        found = (parse_fact(line, "facts.json") for line in lines)
        return next((fact for fact in found if fact.triple == triple), None)

    def by_triple(self) -> dict[Triple, Fact]:
        """The asserted facts by what they say, for many questions at once."""
        return {fact.triple: fact for fact in self.asserted.facts()}


def load_facts(home: AgentHome) -> Facts:
    """The facts as they are on disk."""
    return Facts(_read(home, home.paths.facts)[0], _read(home, home.paths.derived_facts)[0])


def _read(home: AgentHome, path: Any) -> tuple[FactFile, bytes | None]:
    data = read_bytes(path)
    return (parse_facts(data, home.paths.cited(path)) if data is not None else FactFile()), data


class Means(NamedTuple):
    """What a plan may use besides the facts: new ids."""

    mint: Mint


Plan = Callable[[Facts, Means], tuple[FactChanges, Result]]


def change_facts(home: AgentHome, command: str, plan: Plan[Result]) -> tuple[Result, list[str]]:
    """Runs a plan on fresh facts under the agent's lock and writes its changes: its result, and warnings.

    The archive is written first: a crash before facts.json is replaced leaves a record too many, never a fact too few.
    """
    started = time.monotonic()
    with holding_lock(home, command) as holding:
        for _ in range(_ATTEMPTS):
            asserted, data = _read(home, home.paths.facts)
            facts = Facts(asserted, _read(home, home.paths.derived_facts)[0])
            changes, result = plan(facts, Means(Mint(home.moment, _last_id(asserted), letter="F")))
            if not (changes.put or changes.drop):
                return result, holding.warnings
            append_fact_departures(home.paths, changes.archive)
            _apply(asserted, changes)
            try:
                replace_file(
                    home.paths.facts, render_facts(asserted), root=home.paths.workspace.root, expect=data
                )
            except Moved:
                continue
            subjects = {fact.subject for fact in changes.put} | {d.fact.subject for d in changes.archive}
            warnings = [*holding.warnings, *_materialize(home, facts, subjects)[1]]
            ids = [fact.id for fact in changes.put] or list(changes.drop)
            write_receipt(
                home, command, {"facts": len(changes.put), "retracted": len(changes.drop)}, ids, started
            )
            return result, warnings
    raise Conflict("facts.json keeps changing", "something writes it without locking; try again")


def _last_id(file: FactFile) -> str:
    """The last id issued. A file that does not say, as other tools write it, is searched."""
    ids = [file.last_id] if file.last_id else [line_id(line) for line in file.lines]
    return max((i for i in ids if parse_id(i)), key=lambda i: parse_id(i) or (0, 0), default="")


def _apply(file: FactFile, changes: FactChanges) -> None:
    """The file with facts added, replaced and dropped, as lines."""
    new = {fact.id: render_fact(fact) for fact in changes.put}
    gone = set(changes.drop)
    kept = []
    for line in file.lines:
        own = line_id(line)
        if own not in gone:
            kept.append(new.pop(own, line))
    file.lines = [*kept, *new.values()]
    file.version += 1
    file.last_id = max(
        (i for i in (file.last_id, *(fact.id for fact in changes.put)) if parse_id(i)),
        key=lambda i: parse_id(i) or (0, 0),
        default=file.last_id,
    )


def _materialize(home: AgentHome, facts: Facts, subjects: set[str] | None) -> tuple[list[str], list[str]]:
    counts = len(facts.asserted.lines), len(facts.derived.lines)
    return materialize_facts(home, counts, facts.of, subjects)


def rebuild_facts_md(home: AgentHome) -> tuple[list[str], list[str]]:
    """Writes mabos-facts.md anew where it is not as it should be. Under the agent's lock."""
    return _materialize(home, load_facts(home), None)


def load_rules(home: AgentHome) -> RuleFile:
    """The rules as they are on disk."""
    data = read_bytes(home.paths.rules)
    return parse_rules(data, home.paths.cited(home.paths.rules)) if data is not None else RuleFile()


def change_rules(
    home: AgentHome, command: str, plan: Callable[[tuple[Rule, ...]], tuple[Sequence[Rule], Result]]
) -> tuple[Result, list[str]]:
    """Runs a plan on the rules under the agent's lock and writes what it makes of them: its result, and warnings."""
    started = time.monotonic()
    with holding_lock(home, command) as holding:
        for _ in range(_ATTEMPTS):
            data = read_bytes(home.paths.rules)
            file = parse_rules(data, home.paths.cited(home.paths.rules)) if data is not None else RuleFile()
            rules, result = plan(file.rules)
            if tuple(rules) == file.rules:
                return result, holding.warnings
            kept = {rule.id for rule in rules}
            _archive_rules(home, [rule for rule in file.rules if rule.id not in kept])
            file.rules, file.version = tuple(rules), file.version + 1
            try:
                replace_file(
                    home.paths.rules, render_rules(file), root=home.paths.workspace.root, expect=data
                )
            except Moved:
                continue
            write_receipt(home, command, {"rules": len(rules)}, [], started)
            return result, holding.warnings
    raise Conflict("rules.json keeps changing", "something writes it without locking; try again")


def _archive_rules(home: AgentHome, gone: Sequence[Rule]) -> None:
    """Keeps rules that are taken out in the archive."""
    at = format_time(home.now())
    for rule in gone:
        record = {"id": rule.id, "kind": "rule", "reason": "deleted", "at": at, "rule": rule_to_dict(rule)}
        line = dump_line(record).encode("utf-8") + b"\n"
        append_bytes(home.paths.archive / f"{at[:7]}.jsonl", line, root=home.paths.workspace.root)


def next_rule_id(rules: Sequence[Rule]) -> str:
    """The id behind the highest: R-001, R-002, ..."""
    numbers = [int(match[1]) for rule in rules if (match := re.fullmatch(r"R-(\d+)", rule.id))]
    return f"R-{max(numbers, default=0) + 1:03d}"


class Derived(NamedTuple):
    """What a run of the rules changes on disk."""

    added: int
    changed: int
    removed: int


def write_derived_facts(
    home: AgentHome, facts: Sequence[Fact], mark: dict[str, int]
) -> tuple[Derived, list[str]]:
    """Replaces facts-derived.json by the facts that follow now. What is unchanged keeps its line, so that a second run leaves
    no diff; what no longer follows is dropped: it can be derived again, and its id with it. Under the agent's lock."""
    started, now = time.monotonic(), format_time(home.now())
    with holding_lock(home, "infer forward") as holding:
        old, data = _read(home, home.paths.derived_facts)
        known = {line_id(line): line for line in old.lines}
        lines, changed, subjects = [], 0, set()
        for fact in sorted(facts, key=lambda each: each.triple):
            line = known.get(fact.id)
            before = parse_fact(line, "facts-derived.json") if line else None
            stamps = {
                "created_at": before.created_at if before else now,
                "updated_at": before.updated_at if before else now,
            }
            new = fact._replace(**stamps)
            if new != before:
                new = new._replace(updated_at=now)
                changed += before is not None
                subjects.add(fact.subject)
            lines.append(line if new == before and line else render_fact(new))
        ids = {fact.id for fact in facts}
        gone = [parse_fact(line, "facts-derived.json") for own, line in known.items() if own not in ids]
        subjects |= {fact.subject for fact in gone}
        done = Derived(len(ids - known.keys()), changed, len(gone))
        new_file = FactFile(lines, old.version, "", dict(old.extra) | mark)
        if lines == old.lines and new_file.extra == old.extra:
            return done, holding.warnings
        new_file.version += 1
        try:
            replace_file(
                home.paths.derived_facts, render_facts(new_file), root=home.paths.workspace.root, expect=data
            )
        except Moved:
            raise Conflict("facts-derived.json was changed meanwhile", "try again") from None
        asserted = _read(home, home.paths.facts)[0]
        notes = _materialize(home, Facts(asserted, new_file), subjects)[1]
        write_receipt(home, "infer forward", done._asdict(), [], started)
    return done, [*holding.warnings, *notes]


def functional_predicates(home: AgentHome) -> tuple[frozenset[str], list[str]]:
    """The predicates that ontologies declare to have one value at a time, and warnings about files that cannot be read."""
    from mabos_cli.formats.ontology_roles import read_functional

    folder = home.paths.workspace.root / "ontologies"
    found: set[str] = set()
    warnings = []
    for path in sorted(folder.glob("*.jsonld")):
        try:
            found |= read_functional(read_bytes(path) or b"", home.paths.cited(path))
        except InvalidFile as error:
            warnings.append(error.message)
    return frozenset(found), warnings
