"""What normally holds unless something speaks against it: the extensions of a default theory, and what is in all of them."""

import re
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, names, yes_no
from mabos_cli.reasoning.formal.drawn import drawn_facts
from mabos_cli.reasoning.formal.extensions import (
    Default,
    Extension,
    Literal,
    Literals,
    Strict,
    close,
    find_clash,
    find_extensions,
    is_preferred,
    opposite,
)
from mabos_cli.reasoning.input_checks import check_known, check_size
from mabos_cli.reasoning.own import Own
from mabos_cli.reasoning.shape import Shape, list_of, number, optional, record, text
from mabos_cli.reasoning.wording import cut, listed

_LITERAL = text("a statement; `not ...` denies it")
_STRICT = record(
    "a rule without exceptions",
    **{"if": optional(list_of(_LITERAL, "what must hold", least=0), [])},
    then=text("what then holds, always"),
)
_DEFAULT = record(
    "a rule with exceptions",
    name=optional(text("what it is called")),
    **{"if": optional(list_of(_LITERAL, "what must hold for it to apply", least=0), [])},
    then=text("what then normally holds"),
    unless=optional(list_of(_LITERAL, "what keeps it from applying where it holds", least=0), []),
    assuming=optional(list_of(_LITERAL, "what must not be denied, besides `then`", least=0), []),
    priority=optional(number("of two that oppose each other the higher goes first"), 0.0),
)
SHAPE: Shape = record(
    "Statements are words such as `tweety flies`; the same words are the same statement, and there is no ?x: name each thing.",
    facts=optional(list_of(_LITERAL, "what holds; left out, your own facts as `subject predicate object`", least=0)),
    strict=optional(list_of(_STRICT, "rules without exceptions, used forward only", least=0), []),
    defaults=list_of(_DEFAULT, "rules with exceptions"),
    query=optional(text("the statement that is asked about; left out, all that holds is listed")),
)  # fmt: skip
QUESTIONS: tuple[str, ...] = (
    "What is known for certain?",
    "What normally holds in such a case, and what are the exceptions?",
    "Which rules have no exception at all?",
    "Where two rules of thumb oppose each other, which one goes first?",
)
_NOT = re.compile(r"(?:not\s+|[-~!¬]\s*)", re.IGNORECASE)
_MOST_DEFAULTS, _MOST_STRICT, _SHOWN = 200, 2000, 50


def solve(given: dict[str, Any], own: Own) -> Answer:
    """Whether the statement asked about holds, or all that does."""
    check_size("defaults", len(given["defaults"]), _MOST_DEFAULTS, "defaults")
    check_size("strict", len(given["strict"]), _MOST_STRICT, "strict rules")
    strict = [
        Strict(_literals(row["if"], f"strict[{n}].if"), _literal(row["then"], f"strict[{n}].then"))
        for n, row in enumerate(given["strict"], 1)
    ]
    defaults = [_default(row, n) for n, row in enumerate(given["defaults"], 1)]
    check_known("defaults", [one.name for one in defaults], [one.name for one in defaults])
    query = _literal(given["query"], "query") if given["query"] else None
    start, caveats = _facts(given, own, strict, defaults)
    clash = find_clash(close(start, strict))
    if clash is not None:
        raise BadValue(f"facts: {clash!r} both holds and does not hold", "mend the facts or the strict rules first")
    found = find_extensions(start, strict, defaults)
    preferred = found
    if len(found) > 1 and len({one.priority for one in defaults}) > 1:
        chosen = [one for one in found if is_preferred(one, start, strict, defaults)]
        preferred = chosen or found
        if not chosen:
            caveats += ("priorities admit none of the extensions, so all of them count",)
    return _answer(query, found, preferred, defaults, strict, caveats)


def _literal(said: str, where: str) -> Literal:
    holds, rest = True, " ".join(said.split())
    while match := _NOT.match(rest):
        holds, rest = not holds, rest[match.end() :]
    if not rest:
        raise BadValue(f"{where}: denies nothing", "write: not, and a statement")
    return rest, holds


def _literals(said: list[str], where: str) -> Literals:
    return frozenset(_literal(one, f"{where}[{n}]") for n, one in enumerate(said, 1))


def _default(row: dict[str, Any], n: int) -> Default:
    """The default of a row. What is concluded is assumed too, so that it is never drawn against what is known."""
    where = f"defaults[{n}]"
    then = _literal(row["then"], f"{where}.then")
    unless = {opposite(one) for one in _literals(row["unless"], f"{where}.unless")}
    assuming = _literals(row["assuming"], f"{where}.assuming") | unless | {then}
    clash = find_clash(assuming)
    if clash is not None:
        raise BadValue(f"{where}: assumes {clash!r} and its denial, so it never applies", "check unless and assuming")
    when = _literals(row["if"], f"{where}.if")
    name = row["name"] or f"{' and '.join(row['if']) or 'normally'}: {row['then']}"
    return Default(name, when, assuming, then, row["priority"])


def _facts(
    given: dict[str, Any], own: Own, strict: list[Strict], defaults: list[Default]
) -> tuple[Literals, tuple[str, ...]]:
    """What holds: the input's statements, or those of the agent's facts that some rule speaks about."""
    if given["facts"] is not None:
        return _literals(given["facts"], "facts"), ()
    used = {atom for rule in (*strict, *defaults) for atom, _ in (*rule.when, rule.then)}
    used |= {atom for one in defaults for atom, _ in one.assuming}
    facts, caveats = drawn_facts(given, own)
    told = frozenset(
        (atom, True) for atom in (" ".join(" ".join(fact.triple).split()) for fact in facts) if atom in used
    )
    return told, (*caveats, f"{len(told)} of your own facts bear on the rules") if own.facts else caveats


def _shown(literal: Literal) -> str:
    return literal[0] if literal[1] else f"not {literal[0]}"


def _sorted(literals: Literals) -> list[str]:
    return [_shown(one) for one in sorted(literals, key=lambda one: (one[0], not one[1]))]


def _answer(
    query: Literal | None, found: list[Extension], preferred: list[Extension], defaults: list[Default],
    strict: list[Strict], caveats: tuple[str, ...],
) -> Answer:  # fmt: skip
    about = _shown(query) if query else ""
    detail = _detail(found, preferred, defaults)
    count = len(preferred)
    ways = plural(count, "extension") + (f" preferred among {len(found)}" if count < len(found) else "")
    lines = [
        f"{n}. {listed(_sorted(one.literals), 12)} by {listed([defaults[m].name for m in sorted(one.applied)]) or 'no default'}"
        for n, one in enumerate(preferred, 1)
    ]
    if not found:
        told = "there is no extension: some default undoes what it rests on"
        verdict = yes_no(None, about) if query else names(())
        return Answer(verdict, None, told, (), detail, caveats)
    if strict:
        caveats += ("strict rules are used forward only: from what they conclude nothing follows backward",)
    if query is None:
        told = f"{ways}; in all of them: {listed(detail['in_all'], 12) or 'nothing'}"
        return Answer(names(tuple(detail["in_all"])), None, told, cut(lines), detail, caveats)
    holding = sum(query in one.literals for one in preferred)
    denied = sum(opposite(query) in one.literals for one in preferred)
    detail["holds_in"], detail["denied_in"] = holding, denied
    value = True if holding == count else False if denied == count else None
    told = f"{about}: {'holds' if value else 'does not hold' if value is False else 'open'}; "
    told += f"in {holding} of {ways}" + (f", denied in {denied}" if denied else "")
    return Answer(yes_no(value, about), None, told, cut(lines), detail, caveats)


def _detail(found: list[Extension], preferred: list[Extension], defaults: list[Default]) -> dict[str, Any]:
    everywhere = frozenset.intersection(*(one.literals for one in preferred)) if preferred else frozenset()
    chosen = {one.applied for one in preferred}
    return {
        "extensions": [
            {
                "holds": _sorted(one.literals),
                "defaults": [defaults[n].name for n in sorted(one.applied)],
                "preferred": one.applied in chosen,
            }
            for one in found[:_SHOWN]
        ],
        "extension_count": len(found),
        "preferred_count": len(preferred),
        "in_all": _sorted(everywhere),
        "in_some": _sorted(frozenset().union(*(one.literals for one in preferred))),
    }
