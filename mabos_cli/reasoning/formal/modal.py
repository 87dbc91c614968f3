"""Finds what must be and what may be: a modal formula over possible worlds. Also reads formulas of logic, and finds where they hold."""

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.closures import bits
from mabos_cli.reasoning.answer import Answer, cut, listed, yes_no
from mabos_cli.reasoning.expression import SAME_SIGN, Node, Reader, Token, each_part, read_tokens
from mabos_cli.reasoning.inputs import AgentData, known_name

Relation = tuple[int, ...]  # for each world, the worlds that it sees
_MOST = 300  # parts of a formula
_HINT = "write p, !p, p & q, p | q, p -> q, p <-> q, []p (must), <>p (may), []_a p"
_SIGNS = SAME_SIGN | {"~": "not", "⊤": "true", "⊥": "false"}
_WORDS = ("not", "and", "or", "implies", "iff", "true", "false")
_TIGHTNESS = {"<->": 1, "->": 2, "or": 3, "and": 4}
_SHOWN = {"<->": " <-> ", "->": " -> ", "or": " | ", "and": " & "}
_TOKEN = re.compile(
    r"(?P<box>\[\s*(?P<b>\w*)\s*\]|□)(?:_(?P<bi>\w+))?"
    r"|(?P<diamond><\s*(?P<d>\w*)\s*>|[◇♢])(?:_(?P<di>\w+))?"
    r"|(?P<sign><->|<=>|->|=>|&&|\|\||[!~¬&∧|∨→↔⊤⊥()])"
    r"|(?P<word>\w+(?:-\w+)*)"
)


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns whether the formula holds at a world, or at all worlds."""
    formula = parse_formula(fields["formula"])
    worlds = tuple(fields["worlds"])
    parts = parts_of(formula)
    atoms = {part.value: 0 for part in parts if part.op == "name"}
    for n, true in enumerate(fields["worlds"].values()):
        for atom in true:
            atoms[atom] = atoms.get(atom, 0) | 1 << n
    sees, steps = _relations(fields, [*parts], worlds), []
    everywhere = (1 << len(worlds)) - 1
    considered = everywhere
    if fields["at"]:
        considered = 1 << worlds.index(known_name("at", fields["at"], worlds, "world"))
    where = where_true(formula, everywhere, atoms, sees)
    for part in parts:
        if part.parts:
            true_at = _named(where_true(part, everywhere, atoms, sees), worlds)
            steps.append(f"{render_formula(part)}: {listed(true_at) or 'nowhere'}")
    caveats = [f"{name} is true in no world" for name, at in atoms.items() if not at]
    detail = {
        "true_at": _named(where, worlds),
        "false_at": _named(everywhere & ~where, worlds),
        "relations": {
            modality or "access": {name: _named(seen, worlds) for name, seen in zip(worlds, relation, strict=True)}
            for modality, relation in sees.items()
        },
    }
    about, fails = render_formula(formula), considered & ~where
    if fields["at"]:
        summary = f"{about} {'does not hold' if fails else 'holds'} at {fields['at']}"
    else:
        share = f"({(considered & where).bit_count()} of {considered.bit_count()})"
        failing = f"; it fails at {listed(_named(fails, worlds))}" if fails else ""
        summary = f"{about} holds in {'not all' if fails else 'all'} worlds {share}{failing}"
    return Answer(yes_no(not fails, about), None, summary, cut(steps), detail, tuple(caveats))


def _named(members: int, worlds: tuple[str, ...]) -> list[str]:
    return [worlds[n] for n in bits(members)]


def _relations(fields: dict[str, Any], used: list[Node], worlds: tuple[str, ...]) -> dict[str, Relation]:
    """Returns the relations of the modalities in use."""
    relations: dict[str, Relation] = {}
    for part in used:
        if part.op not in ("box", "diamond") or part.value in relations:
            continue
        place, sees = "access", fields["access"]
        if part.value:
            place = f"agents.{part.value}"
            sees = fields["agents"][known_name("agents", part.value, fields["agents"], "modality")]
        elif fields["agents"] and not sees:
            hint = "give access, or write []_a with a name of agents"
            raise BadValue("access: the formula has a plain [] or <>", hint)
        found = [0] * len(worlds)
        for name, others in sees.items():
            start = worlds.index(known_name(place, name, worlds, "world"))
            for other in others:
                found[start] |= 1 << worlds.index(known_name(f"{place}.{name}", other, worlds, "world"))
        relations[part.value] = tuple(found)
    return relations


class _Reader(Reader):
    def read_part(self, depth: int) -> Node:
        token = self.peek()
        if token.kind not in ("box", "diamond"):
            return super().read_part(depth)
        self.next += 1
        return Node(token.kind, (self.read(5, depth + 1),), token.text)


def parse_formula(text: str, place: str = "formula") -> Node:
    """Returns the formula that a text stands for; BadValue says where it goes wrong. A box or diamond has its modality as value."""
    found = _Reader(text, [*map(_token, read_tokens(_TOKEN, text, place, _HINT))], place).read_all()
    if len([*each_part(found)]) > _MOST:
        raise BadValue(f"{place}: more than {_MOST} parts", "name some of them, and use the names")
    return found


def _token(match: re.Match[str]) -> Token:
    at = match.start()
    if match["box"]:
        return Token("box", match["bi"] or match["b"] or "", at)
    if match["diamond"]:
        return Token("diamond", match["di"] or match["d"] or "", at)
    word = match["sign"] or match["word"]
    if match["sign"] or word.lower() in _WORDS:
        return Token("sign", _SIGNS.get(word.lower(), word.lower()), at)
    return Token("name", word, at)


def render_formula(formula: Node, least: int = 0) -> str:
    """Returns the formula as text, with no more parentheses than it needs."""
    op, parts = formula.op, formula.parts
    if op in ("name", "value"):
        return str(formula.value).lower() if op == "value" else str(formula.value)
    if op in ("not", "box", "diamond"):
        sign = {"not": "!", "box": f"[{formula.value}]", "diamond": f"<{formula.value}>"}[op]
        return sign + render_formula(parts[0], 5)
    tight = _TIGHTNESS[op]
    sides = [render_formula(part, tight - (op == "->" and part is parts[-1])) for part in parts]
    return f"({_SHOWN[op].join(sides)})" if tight <= least else _SHOWN[op].join(sides)


def parts_of(formula: Node) -> dict[Node, None]:
    """Returns every formula within a formula and itself, each once, the inner ones first."""
    return {inner: None for part in formula.parts for inner in parts_of(part)} | {formula: None}


def where_true(
    formula: Node, everywhere: int, atoms: Mapping[str, int], sees: Mapping[str, Sequence[int]] | None = None
) -> int:
    """Returns the set of worlds where a formula holds, as bits: an atom where `atoms` says so, a box where all worlds in
    sight fulfil it, a diamond where one does."""
    op = formula.op
    if op == "name":
        return atoms[formula.value]
    if op == "value":
        return everywhere if formula.value else 0
    sides = [where_true(part, everywhere, atoms, sees) for part in formula.parts]
    if op in ("box", "diamond"):
        worlds = enumerate((sees or {})[formula.value])
        if op == "diamond":
            return sum(1 << n for n, seen in worlds if seen & sides[0])
        return sum(1 << n for n, seen in worlds if not seen & ~sides[0])
    if op == "not":
        return everywhere & ~sides[0]
    if op in ("and", "or"):
        return reduce(and_ if op == "and" else or_, sides)
    left, right = sides
    return (everywhere & ~left) | right if op == "->" else everywhere & ~(left ^ right)
