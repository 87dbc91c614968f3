"""What is obligatory, permitted or forbidden: norms that apply, where they clash, and what follows from violations."""

from difflib import get_close_matches
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.constraints import check_constraints
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.forward import forward_chain
from mabos_cli.core.knowledge.joins import FactIndex
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, names, yes_no
from mabos_cli.reasoning.formal.drawn import drawn_facts, drawn_rules
from mabos_cli.reasoning.formal.norm_input import MOST_APPLYING, World, apply_norm, flag_name, plain_norm, policy_norms
from mabos_cli.reasoning.formal.norms import (
    CONFLICT,
    FORBIDDEN,
    OBLIGATORY,
    OPTIONAL,
    PERMITTED,
    UNREGULATED,
    Done,
    Norm,
    Ruling,
    actions_of,
    find_levels,
    open_conflicts,
    rule_on,
    status_of,
)
from mabos_cli.reasoning.input_checks import check_known, check_size, known_name
from mabos_cli.reasoning.own import Own
from mabos_cli.reasoning.shape import Shape, list_of, map_of, number, optional, parsed, record, text, truth, usual
from mabos_cli.reasoning.wording import cut, listed

_FLAG = text("a flag of the context; `not ...` denies it")
_PATTERN = parsed("pattern", "a condition on facts, such as `?x isA contractor`")
_NORM = record(
    "one norm",
    id=text("what it is called"),
    modality=text("what it says", OBLIGATORY, PERMITTED, FORBIDDEN),
    action=text("of which action; `not ...` is to leave it undone, and ?x stands for what `where` finds"),
    **{"if": optional(list_of(_FLAG, "flags that must hold for it to apply", least=0), [])},
    unless=optional(list_of(_FLAG, "flags that are exceptions", least=0), []),
    where=optional(list_of(_PATTERN, "conditions on facts", least=0), []),
    except_where=optional(list_of(_PATTERN, "conditions on facts that are exceptions", least=0), []),
    priority=optional(number("where norms clash, the higher wins"), 0.0),
    deadline=optional(text("by when, such as 2026-03-31")),
    after=optional(text("the id of the norm whose violation calls for this one"), ""),
)
SHAPE: Shape = record(
    "Policies among the rules count as obligations, constraints as prohibitions of a state.",
    norms=usual(list_of(_NORM, "the norms, besides policies among the rules", least=0), []),
    context=optional(map_of(truth("whether it holds"), "flags of the situation; one that is not named does not hold", least=0), {}),
    done=optional(list_of(text("an action"), "what was done", least=0), []),
    undone=optional(list_of(text("an action"), "what was not done and can no longer be done", least=0), []),
    exclusive=optional(list_of(list_of(text("an action"), "actions", least=2), "groups of which only one can be done", least=0), []),
    query=optional(text("the action that is asked about; left out, all that is to be done is listed")),
    unregulated=optional(text("what holds where no norm speaks", "open", "permitted", "forbidden"), "open"),
    facts=optional(list_of(parsed("fact", "a fact"), "facts for `where`; left out, your own", least=0)),
    rules=optional(list_of(parsed("rule", "a rule"), "rules by which more facts follow; left out, your own", least=0)),
)  # fmt: skip
QUESTIONS: tuple[str, ...] = (
    "Which norms bear on this: laws, contracts, policies, promises?",
    "Under which conditions does each apply, and what are its exceptions?",
    "Which norm goes before which where they clash?",
    "What was already done or missed, and which deadlines have passed?",
    "What is owed when a norm is violated?",
)
_MOST_NORMS = 300


def solve(given: dict[str, Any], own: Own) -> Answer:
    """Whether the action asked about is allowed, or what is to be done."""
    policies, problems = policy_norms(drawn_rules(given, own))
    rows = [*given["norms"], *policies]
    if not rows:
        raise BadValue("norms: there are none", "give norms, or policies among the rules")
    check_size("norms", len(rows), _MOST_NORMS, "norms")
    ids = [row["id"] for row in rows]
    check_known("norms", ids, ids)
    after = {row["id"]: row["after"] and known_name(f"norms.{row['id']}.after", row["after"], ids) for row in rows}
    levels = find_levels(after)
    if isinstance(levels, tuple):
        raise BadValue(f"norms: each waits for the violation of the next: {' -> '.join(levels)}", "break the ring")
    for field in ("done", "undone"):
        for name in given[field]:
            if plain_norm(PERMITTED, name)[1] != name:
                other = "undone" if field == "done" else "done"
                raise BadValue(f"{field}: {name!r} is no action", f"name the action itself, under {other}")
    both = [one for one in given["done"] if one in given["undone"]]
    if both:
        raise BadValue(f"undone: {both[0]!r} is among what was done too", "keep it in one of the lists")
    facts, caveats = _facts(given, own)
    world = World(given["context"], FactIndex(facts))
    norms = [norm for n, row in enumerate(rows, 1) for norm in apply_norm(row, f"norms[{n}]", world)]
    check_size("norms", len(norms), MOST_APPLYING, "norms that apply")
    state = Done(given["done"], given["undone"], own.now)
    ruling = rule_on(norms, [frozenset(group) for group in given["exclusive"]], state, levels)
    broken = check_constraints(facts, drawn_rules(given, own)).found
    caveats += (*problems, *_caveats(given, rows, norms))
    return _answer(given, ruling, norms, state, [one.message for one in broken], caveats)


def _facts(given: dict[str, Any], own: Own) -> tuple[list[Fact], tuple[str, ...]]:
    """The facts, with all that follows from them."""
    facts, caveats = drawn_facts(given, own)
    asserted = [fact for fact in facts if not fact.rule_id]
    found = forward_chain(asserted, drawn_rules(given, own))
    caveats += tuple(f"{one.rule_id} was not run: {one.reason}" for one in found.problems)
    if found.fixpoint != "reached":
        caveats += (f"not all that follows from the facts was derived: {found.fixpoint}",)
    return [*asserted, *found.derived], caveats


def _caveats(given: dict[str, Any], rows: list[dict[str, Any]], norms: list[Norm]) -> tuple[str, ...]:
    flags = dict.fromkeys(flag_name(flag) for row in rows for flag in (*row["if"], *row["unless"]))
    silent = [flag for flag in flags if flag not in given["context"]]
    said = [f"taken as not holding, as the context does not name it: {listed(silent)}"] if silent else []
    known, query = actions_of(norms), given["query"]
    for name in dict.fromkeys(
        (*given["done"], *given["undone"], *([plain_norm(PERMITTED, query)[1]] if query else []))
    ):
        close = get_close_matches(name, known, n=1)
        if name not in known:
            said.append(f"no norm that applies speaks of {name!r}" + (f"; did you mean {close[0]}?" if close else ""))
    return tuple(said)


def _answer(
    given: dict[str, Any], ruling: Ruling, norms: list[Norm], state: Done, broken: list[str], caveats: tuple[str, ...]
) -> Answer:
    called = [norm for norm in norms if not norm.after or norm in ruling.standing]
    statuses = {action: status_of(action, ruling) for action in actions_of(called)}
    query = given["query"]
    if query:
        right, action = plain_norm(PERMITTED, query)
        statuses[query] = status_of(action, ruling, is_denied=right == OPTIONAL)
    conflicts = open_conflicts(ruling)
    to_do = tuple(
        norm.action for norm in ruling.standing
        if norm.modality == OBLIGATORY and norm.action not in (*state.done, *state.undone)
        and statuses[norm.action] == OBLIGATORY
    )  # fmt: skip
    detail = _detail(ruling, called, statuses, to_do, broken)
    for clash in conflicts:
        caveats += (f"unresolved: {_said(clash.one)} against {_said(clash.two)}; {clash.why}",)
    lines = _lines(ruling, statuses, broken)
    extra = f"; {plural(len(ruling.violations) + len(broken), 'violation')}" if ruling.violations or broken else ""
    if not query:
        to_do = tuple(dict.fromkeys(to_do))
        told = f"to be done: {listed(to_do) or 'nothing'}{extra}"
        return Answer(names(to_do), None, told, cut(lines), detail, caveats)
    status = statuses[query]
    # That an action may be left undone does not say that it may be done.
    is_silent = status in (UNREGULATED, OPTIONAL)
    allowed = {FORBIDDEN: False, CONFLICT: None}.get(status, None if is_silent else True)
    if is_silent and given["unregulated"] != "open":
        allowed = given["unregulated"] == "permitted"
    told = f"{query} is {'in conflict' if status == CONFLICT else status}{extra}"
    return Answer(yes_no(allowed, f"{query} is allowed"), None, told, cut(lines), detail, caveats)


def _said(norm: Norm) -> str:
    return f"{norm.id} ({norm.modality}: {norm.action})"


def _lines(ruling: Ruling, statuses: dict[str, str], broken: list[str]) -> list[str]:
    lines = [f"violated: {_said(norm)}, {why}" for norm, why in ruling.violations]
    lines += [f"violated: {one}" for one in broken]
    lines += [f"in force after that: {_said(norm)}" for norm in ruling.standing if norm.after]
    for clash in ruling.clashes:
        how = f"{clash.winner.id} wins: {clash.why}" if clash.winner else "unresolved"
        lines.append(f"clash: {_said(clash.one)} against {_said(clash.two)}; {how}")
    return lines + [f"{action}: {status}" for action, status in statuses.items()]


def _detail(
    ruling: Ruling, norms: list[Norm], statuses: dict[str, str], to_do: tuple[str, ...], broken: list[str]
) -> dict[str, Any]:
    return {
        "status": statuses,
        "to_do": list(dict.fromkeys(to_do)),
        "applying": list(dict.fromkeys(norm.id for norm in norms)),
        "defeated": list(dict.fromkeys(n.id for n in norms if n not in ruling.standing)),
        "violations": [{"norm": norm.id, "action": norm.action, "why": why} for norm, why in ruling.violations],
        "broken_constraints": broken,
        "repairs": [{"norm": n.id, "action": n.action, "after": n.after} for n in ruling.standing if n.after],
        "clashes": [
            {"norms": [c.one.id, c.two.id], "winner": c.winner.id if c.winner else None, "why": c.why}
            for c in ruling.clashes
        ],
    }
