"""Finds what is obligatory, permitted or forbidden: which norms apply, clash and are violated."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.constraints import check_constraints
from mabos_cli.core.knowledge.explaining import fill_pattern
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.forward import forward_chain
from mabos_cli.core.knowledge.matching import fill
from mabos_cli.core.knowledge.relations import FactIndex
from mabos_cli.core.knowledge.rule import Rule, pattern_text, usable_rules
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, cut, listed, names, notes, yes_no
from mabos_cli.reasoning.inputs import AgentData, check_known, find_ways, known_facts, known_rules
from mabos_cli.reasoning.shape import check_size

CONFLICT, UNREGULATED = "conflict", "unregulated"
MOST_APPLYING = 1000
_NOT = re.compile(r"^not\s+", re.IGNORECASE)
OBLIGATORY, FORBIDDEN, PERMITTED, OPTIONAL = "obligatory", "forbidden", "permitted", "optional"
_MOST_NORMS = 300
# What each says of leaving the action undone.
DENIED = {OBLIGATORY: FORBIDDEN, FORBIDDEN: OBLIGATORY, PERMITTED: OPTIONAL, OPTIONAL: PERMITTED}
# Which cannot stand together over one action. What is obligatory is permitted as well, so those two can.
_CLASHES = ({OBLIGATORY, FORBIDDEN}, {PERMITTED, FORBIDDEN}, {OPTIONAL, OBLIGATORY})


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns whether the action asked about is allowed, or what is to be done."""
    policies, problems = policy_norms(known_rules(fields, agent))
    rows = [*fields["norms"], *policies]
    if not rows:
        raise BadValue("norms: there are none", "give norms, or policies among the rules")
    check_size("norms", len(rows), _MOST_NORMS, "norms")
    ids = [row["id"] for row in rows]
    check_known("norms", ids, ids)
    for field, other in (("done", "undone"), ("undone", "done")):
        for name in fields[field]:
            if plain_norm(PERMITTED, name)[1] != name:
                raise BadValue(f"{field}: {name!r} is no action", f"name the action itself, under {other}")
    both = [one for one in fields["done"] if one in fields["undone"]]
    if both:
        raise BadValue(f"undone: {both[0]!r} is among what was done too", "keep it in one of the lists")
    facts, caveats = _facts(fields, agent)
    index, context = FactIndex(facts), fields["context"]
    norms = [norm for n, row in enumerate(rows, 1) for norm in apply_norm(row, f"norms[{n}]", context, index)]
    check_size("norms", len(norms), MOST_APPLYING, "norms that apply")
    ruling = rule_on(norms, fields["done"], fields["undone"])
    broken = check_constraints(facts, known_rules(fields, agent)).found
    flags = dict.fromkeys(_NOT.sub("", flag) for row in rows for flag in (*row["if"], *row["unless"]))
    silent = [flag for flag in flags if flag not in context]
    known, asked = (
        {norm.action for norm in norms},
        [plain_norm(PERMITTED, fields["query"])[1]] if fields["query"] else [],
    )
    strange = [name for name in dict.fromkeys((*fields["done"], *fields["undone"], *asked)) if name not in known]
    caveats += problems + notes(
        (silent, f"taken as not holding, as the context does not name it: {listed(silent)}"),
        (strange, f"no norm that applies speaks of {listed(strange)}"),
    )
    return _answer(fields, ruling, norms, [one.message for one in broken], caveats)


def _facts(fields: dict[str, Any], agent: AgentData) -> tuple[list[Fact], tuple[str, ...]]:
    """Returns the facts, with all that follows from them."""
    facts, caveats = known_facts(fields, agent)
    asserted = [fact for fact in facts if not fact.rule_id]
    found = forward_chain(asserted, known_rules(fields, agent))
    caveats += tuple(f"{one.rule_id} was not run: {one.reason}" for one in found.problems)
    if found.fixpoint != "reached":
        caveats += (f"not all that follows from the facts was derived: {found.fixpoint}",)
    return [*asserted, *found.derived], caveats


class Norm(NamedTuple):
    """A norm that applies: what it says of an action, and under which conditions. `optional` means that the action may be left
    undone."""

    id: str
    modality: str
    action: str
    conditions: frozenset[str] = frozenset()
    priority: float = 0.0


class Clash(NamedTuple):
    """Two norms that cannot both be followed; the winner and why, or none."""

    one: Norm
    two: Norm
    winner: Norm | None
    why: str


class Ruling(NamedTuple):
    """The norms that stand, the clashes among all, and the violations with a reason each."""

    standing: tuple[Norm, ...]
    clashes: tuple[Clash, ...]
    violations: tuple[tuple[Norm, str], ...]


def _answer(
    fields: dict[str, Any], ruling: Ruling, norms: list[Norm], broken: list[str], caveats: tuple[str, ...]
) -> Answer:
    def shown(norm: Norm) -> str:
        return f"{norm.id} ({norm.modality}: {norm.action})"

    statuses = {norm.action: status_of(norm.action, ruling) for norm in norms}
    query = fields["query"]
    if query:
        right, action = plain_norm(PERMITTED, query)
        statuses[query] = status_of(action, ruling, is_denied=right == OPTIONAL)
    due = [norm.action for norm in ruling.standing if norm.modality == OBLIGATORY == statuses[norm.action]]
    to_do = tuple(dict.fromkeys(action for action in due if action not in (*fields["done"], *fields["undone"])))
    detail = {
        "status": statuses,
        "to_do": list(to_do),
        "applying": list(dict.fromkeys(norm.id for norm in norms)),
        "defeated": list(dict.fromkeys(n.id for n in norms if n not in ruling.standing)),
        "violations": [{"norm": norm.id, "action": norm.action, "why": why} for norm, why in ruling.violations],
        "broken_constraints": broken,
        "clashes": [
            {"norms": [c.one.id, c.two.id], "winner": c.winner.id if c.winner else None, "why": c.why}
            for c in ruling.clashes
        ],
    }
    for clash in open_conflicts(ruling):
        caveats += (f"unresolved: {shown(clash.one)} against {shown(clash.two)}; {clash.why}",)
    lines = [f"violated: {shown(norm)}, {why}" for norm, why in ruling.violations]
    lines += [f"violated: {one}" for one in broken]
    for clash in ruling.clashes:
        how = f"{clash.winner.id} wins: {clash.why}" if clash.winner else "unresolved"
        lines.append(f"clash: {shown(clash.one)} against {shown(clash.two)}; {how}")
    lines += [f"{action}: {status}" for action, status in statuses.items()]
    extra = f"; {plural(len(ruling.violations) + len(broken), 'violation')}" if ruling.violations or broken else ""
    if not query:
        summary = f"to be done: {listed(to_do) or 'nothing'}{extra}"
        return Answer(names(to_do), None, summary, cut(lines), detail, caveats)
    status = statuses[query]
    # That an action may be left undone does not say that it may be done.
    allowed = {FORBIDDEN: False, CONFLICT: None, UNREGULATED: None, OPTIONAL: None}.get(status, True)
    summary = f"{query} is {'in conflict' if status == CONFLICT else status}{extra}"
    return Answer(yes_no(allowed, f"{query} is allowed"), None, summary, cut(lines), detail, caveats)


def rule_on(norms: Sequence[Norm], done: Collection[str], undone: Collection[str]) -> Ruling:
    """Returns which norms stand, as no standing norm defeats them, which clash, and which of those that stand were violated."""
    pairs = [(a, b) for a, b in combinations(norms, 2) if a.action == b.action and {a.modality, b.modality} in _CLASHES]
    clashes = [_judge(one, two) for one, two in pairs]
    stands: dict[Norm, bool] = {}  # defeat is an order, so only stronger norms matter
    for norm in sorted(norms, key=lambda norm: (-norm.priority, -len(norm.conditions))):
        beaten_by = [one.winner for one in clashes if one.winner and norm in (one.one, one.two) and norm != one.winner]
        stands[norm] = not any(stands.get(stronger) for stronger in beaten_by)
    standing = tuple(norm for norm in norms if stands[norm])
    wrong = {FORBIDDEN: (done, "done although forbidden"), OBLIGATORY: (undone, "not done")}
    judged = ((norm, *wrong.get(norm.modality, ((), ""))) for norm in standing)
    violations = tuple((norm, why) for norm, actions, why in judged if norm.action in actions)
    return Ruling(standing, tuple(clashes), violations)


def _judge(one: Norm, two: Norm) -> Clash:
    """Decides a clash: the higher priority wins, then the norm with all conditions of the other and more."""
    strong, weak = sorted((one, two), key=lambda norm: (-norm.priority, -len(norm.conditions)))
    if strong.priority != weak.priority:
        return Clash(one, two, strong, f"priority {strong.priority:g}")
    if strong.conditions > weak.conditions:
        return Clash(one, two, strong, "more specific")
    return Clash(one, two, None, "equal priority, and neither is more specific")


def status_of(action: str, ruling: Ruling, is_denied: bool = False) -> str:
    """Returns what the norms that stand say of an action, or of leaving it undone."""
    if any(action in (clash.one.action, clash.two.action) for clash in open_conflicts(ruling)):
        return CONFLICT
    found = {norm.modality for norm in ruling.standing if norm.action == action}
    found = {DENIED[one] for one in found} if is_denied else found
    return next((one for one in (OBLIGATORY, FORBIDDEN, PERMITTED, OPTIONAL) if one in found), UNREGULATED)


def open_conflicts(ruling: Ruling) -> list[Clash]:
    """Returns the clashes that nothing resolves, between norms that both stand."""
    standing = {*ruling.standing}
    return [c for c in ruling.clashes if c.winner is None and c.one in standing and c.two in standing]


def policy_norms(rules: Iterable[Rule]) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Returns the policies as obligations, and what keeps others from being used."""
    usable, problems = usable_rules(rules, "policy")
    empty = {"if": [], "unless": [], "priority": 0.0}
    rows = [
        {"id": rule.id, "modality": OBLIGATORY, "action": rule.action, "where": [*rule.conditions], **empty}
        for rule in usable
    ]
    return rows, tuple(f"{one.rule_id} was not used: {one.reason}" for one in problems)


def _holds(flag: str, context: Mapping[str, bool]) -> bool:
    return context.get(_NOT.sub("", flag), False) != bool(_NOT.match(flag))


def apply_norm(row: Mapping[str, Any], where: str, context: Mapping[str, bool], index: FactIndex) -> list[Norm]:
    """Returns the norm for each way in which its conditions hold and no exception does."""
    is_met = all(_holds(flag, context) for flag in row["if"])
    if not is_met or any(_holds(flag, context) for flag in row["unless"]):
        return []
    ways = find_ways(row["where"], index, f"{where}.where", "?x isA contractor") if row["where"] else [{}]
    check_size(f"{where}.where", len(ways), MOST_APPLYING, "matches")
    found = []
    for values in ways:
        filled = (pattern_text(fill_pattern(one, values)) for one in row["where"])
        modality, action = plain_norm(row["modality"], fill(row["action"], tuple(values.items())))
        found.append(Norm(row["id"], modality, action, frozenset((*row["if"], *filled)), row["priority"]))
    return found


def plain_norm(modality: str, action: str) -> tuple[str, str]:
    """Returns the same of the action itself: to be obliged not to do it is to be forbidden to."""
    while denied := _NOT.match(action):
        modality, action = DENIED[modality], action[denied.end() :]
    return modality, action
