"""Finds what must be and what may be: a modal formula over given worlds, or in all models of a system."""

from collections.abc import Iterator
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, cut, listed, yes_no
from mabos_cli.reasoning.arithmetic import bits
from mabos_cli.reasoning.formal import formula as logic
from mabos_cli.reasoning.inputs import AgentData, check_size, known_name
from mabos_cli.reasoning.shape import Shape, list_of, map_of, optional, record, text, usual

MOST = 14  # atoms and boxes together: types are two to that power
_MOST_WORLDS, _MOST_PREMISES = 300, 100
_SEES = map_of(list_of(text("a world"), "the worlds in sight", 0), "for each world, the worlds that it sees", 0)
_WORLD = map_of(
    list_of(text("an atom"), "the atoms that are true there, [] for none; all others are false", 0), "possible worlds"
)
SHAPE: Shape = record(
    "Give a formula, and either worlds with who sees which (access, or agents by name), or valid_in without worlds.",
    formula=text(
        "the statement: atoms with ! & | -> <->, []p for must and <>p for may; []_a p for the modality or agent a; in quotes"
    ),
    premises=optional(list_of(text("a formula"), "formulas taken as true in the world that is looked at", 0), []),
    worlds=usual(_WORLD),
    access=usual(_SEES, {}),
    agents=optional(map_of(_SEES, "for each modality or agent that the formula names, which worlds see which", 0), {}),
    frame=optional(
        text("conditions on every relation, as words: " + ", ".join(logic.CONDITIONS) + "; or a system such as S4"), ""
    ),
    enforce=optional(
        text("close: add the pairs that the frame demands; check: refuse relations that lack them", "close", "check"),
        "close",
    ),
    at=optional(text("the world to look at; left out: all worlds"), ""),
    valid_in=optional(text("instead of worlds: the system to decide in", *logic.SYSTEMS), ""),
)
QUESTIONS: tuple[str, ...] = (
    "Which statement is in question, and what in it must be, may be, or is known by whom?",
    "Which situations are possible, and what is true in each?",
    "From each situation, which others cannot be ruled out?",
    "Is everything known true (reflexive), and does one know what one knows (transitive)?",
    "If no situations are given: in which system should it hold (K, T, D, B, S4, S5)?",
)


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns whether the formula holds at a world, at all worlds, or in all models of a system."""
    formula = logic.parse_formula(fields["formula"])
    check_size("premises", len(fields["premises"]), _MOST_PREMISES, "premises")
    premises = tuple(logic.parse_formula(said, f"premises[{n}]") for n, said in enumerate(fields["premises"], 1))
    if fields["worlds"] is not None:
        if fields["valid_in"]:
            hint = "give worlds, or valid_in, not both; frame goes with worlds"
            raise BadValue("valid_in: worlds are given too", hint)
        return _look(fields, formula, premises)
    for name in ("access", "agents", "frame", "at"):
        if fields[name]:
            raise BadValue(f"{name}: there are no worlds", "give worlds")
    if not fields["valid_in"]:
        hint = f"give worlds, or valid_in: {', '.join(logic.SYSTEMS)}"
        raise BadValue("worlds: neither worlds nor valid_in are given", hint)
    return _decide(formula, premises, fields["valid_in"])


def _decide(formula: logic.Formula, premises: tuple[logic.Formula, ...], system: str) -> Answer:
    """Returns the validity of a formula, or what follows from premises, in all models of a system."""
    base = logic.conjunction(premises)
    if premises and find_model(base, system) is None:
        hint = "leave one out; from these anything would follow"
        raise BadValue(f"premises: they cannot hold together in {system}", hint)
    against = find_model(logic.Formula("and", "", (base, logic.negation(formula))), system)
    said = logic.render_formula(formula)
    holds = against is None
    is_possible = holds or find_model(logic.Formula("and", "", (base, formula)), system) is not None
    detail: dict[str, Any] = {"system": system, "valid": holds, "satisfiable": is_possible}
    if not premises:
        others = [
            name for name in logic.SYSTEMS if name != system and find_model(logic.negation(formula), name) is None
        ]
        detail["also_valid_in"] = others
    steps = [f"{system}: relations are {' and '.join(logic.SYSTEMS[system]) or 'unrestricted'}"]
    steps += [f"premise: {logic.render_formula(premise)}" for premise in premises]
    if against is not None:
        detail["counter_model"] = _model_detail(against)
        steps += [f"counter-model, false at {against.worlds[0]}:", *_model_lines(against)]
        if detail.get("also_valid_in"):
            steps.append(f"it is valid in {', '.join(detail['also_valid_in'])}")
    value = True if holds else (None if premises and is_possible else False)
    summary = f"{said} {_verdict(value, bool(premises))} in {system}"
    if against is not None:
        summary += f": a model with {plural(len(against.worlds), 'world')} speaks against it"
    # A formula that is not valid is not false: what is answered with no is whether it holds in all models.
    about = said if premises else f"{said} is valid in {system}"
    return Answer(yes_no(value, about), None, summary, cut(steps), detail)


def _verdict(value: bool | None, has_premises: bool) -> str:
    if not has_premises:
        return "is valid" if value else "is not valid"
    if value is None:
        return "does not follow from the premises, nor does its opposite,"
    return "follows from the premises" if value else "is ruled out by the premises"


def _look(fields: dict[str, Any], formula: logic.Formula, premises: tuple[logic.Formula, ...]) -> Answer:
    """Returns the truth of a formula over the worlds that are given."""
    model, steps = _build(fields, (formula, *premises))
    known: dict[logic.Formula, int] = {}
    where = logic.where_true(model, formula, known)
    asked = model.everywhere
    if fields["at"]:
        asked = 1 << model.worlds.index(known_name("at", fields["at"], model.worlds, "world"))
    considered = asked & logic.where_true(model, logic.conjunction(premises), known)
    said = logic.render_formula(formula)
    fails = considered & ~where
    for part in logic.parts_of(formula):
        if part.parts:
            steps.append(f"{logic.render_formula(part)}: {listed(model.names(known[part])) or 'nowhere'}")
    caveats = [] if considered else ["the premises hold in no world in question, which leaves the formula open"]
    caveats += [f"{name} is true in no world" for name, worlds in model.atoms.items() if not worlds]
    detail = {
        "true_at": list(model.names(where)),
        "false_at": list(model.names(model.everywhere & ~where)),
        "considered": list(model.names(considered)),
        "relations": _relations(model),
    }
    is_one = bool(fields["at"])
    span = f"at {fields['at']}" if is_one else f"in {'not all' if fails else 'all'} worlds"
    summary = f"{said} {'does not hold' if is_one and fails else 'holds'} {span}"
    if not is_one:
        summary += " where the premises hold" if premises else ""
        summary += f" ({(considered & where).bit_count()} of {considered.bit_count()})"
        summary += f"; it fails at {listed(model.names(fails))}" if fails else ""
    if not considered:
        summary = f"{said} stays open: the premises hold {'not ' + span if is_one else 'in no world'}"
    return Answer(yes_no(not fails if considered else None, said), None, summary, cut(steps), detail, tuple(caveats))


def _build(fields: dict[str, Any], formulas: tuple[logic.Formula, ...]) -> tuple[logic.Model, list[str]]:
    """Returns the model as it was given, its relations logic.closed or checked, and what was done to them."""
    worlds = tuple(fields["worlds"])
    check_size("worlds", len(worlds), _MOST_WORLDS, "worlds")
    used = [part for formula in formulas for part in logic.parts_of(formula)]
    atoms = {part.name: 0 for part in used if part.op == "atom"}
    for n, (_, true) in enumerate(fields["worlds"].items()):
        for atom in true:
            atoms[atom] = atoms.get(atom, 0) | 1 << n
    conditions = _conditions(fields["frame"])
    steps, relations = [], {}
    for part in used:
        if part.op in ("box", "diamond") and part.name not in relations:
            sees, place = _sees(fields, part.name)
            relation, said = _enforced(_relation(sees, worlds, place), conditions, fields["enforce"], worlds, place)
            relations[part.name] = relation
            steps += said
    return logic.Model(worlds, atoms, relations), steps


def _sees(fields: dict[str, Any], modality: str) -> tuple[dict[str, list[str]], str]:
    if not modality:
        if fields["agents"] and not fields["access"]:
            hint = "give access, or write []_a with a name of agents"
            raise BadValue("access: the formula has a plain [] or <>", hint)
        return fields["access"], "access"
    return fields["agents"][known_name("agents", modality, fields["agents"], "modality")], f"agents.{modality}"


def _conditions(frame: str) -> tuple[str, ...]:
    found: list[str] = []
    for word in frame.replace(",", " ").split():
        if word != "and":
            found += logic.SYSTEMS.get(word) or (
                known_name("frame", word, (*logic.CONDITIONS, *logic.SYSTEMS), "condition"),
            )
    return tuple(dict.fromkeys(one for one in found if one in logic.CONDITIONS))


def _relation(sees: dict[str, list[str]], worlds: tuple[str, ...], place: str) -> logic.Relation:
    places = {name: n for n, name in enumerate(worlds)}
    found = [0] * len(worlds)
    for name, others in sees.items():
        for other in others:
            start = places[known_name(place, name, places, "world")]
            found[start] |= 1 << places[known_name(f"{place}.{name}", other, places, "world")]
    return tuple(found)


def _enforced(
    relation: logic.Relation, conditions: tuple[str, ...], how: str, worlds: tuple[str, ...], place: str
) -> tuple[logic.Relation, list[str]]:
    """Returns the relation as the frame wants it, and a line that says whether pairs were added."""
    if not conditions:
        return relation, []
    full = logic.closed(relation, conditions) if how == "close" else relation
    for condition in conditions:
        flaw = logic.find_flaw(full, condition)
        if flaw:
            shown = " -> ".join(worlds[n] for n in flaw)
            hint = (
                "each world must see some world" if condition == "serial" else "add the pair, or write enforce: close"
            )
            raise BadValue(f"{place}: not {condition}, see {shown}", hint)
    added = sum(sees.bit_count() for sees in full) - sum(sees.bit_count() for sees in relation)
    done = f"closed, {plural(added, 'pair')} added" if how == "close" else "checked, nothing is missing"
    return full, [f"{place}: {' and '.join(conditions)} ({done})"]


def _relations(model: logic.Model) -> dict[str, dict[str, list[str]]]:
    return {
        modality or "access": {
            name: [model.worlds[other] for other in bits(sees)]
            for name, sees in zip(model.worlds, relation, strict=True)
        }
        for modality, relation in model.relations.items()
    }


def _model_detail(model: logic.Model) -> dict[str, Any]:
    true = {name: [atom for atom, at in model.atoms.items() if at >> n & 1] for n, name in enumerate(model.worlds)}
    return {"false_at": model.worlds[0], "worlds": true, "relations": _relations(model)}


def _model_lines(model: logic.Model) -> list[str]:
    told = _model_detail(model)
    lines = []
    for world, true in told["worlds"].items():
        sees = [
            f"sees{'' if name == 'access' else f' by {name}'} {', '.join(relation[world]) or 'nothing'}"
            for name, relation in told["relations"].items()
        ]
        lines.append(f"{world}: {', '.join(true) or 'no atom'} true; {'; '.join(sees)}")
    return lines


def find_model(formula: logic.Formula, system: str) -> logic.Model | None:
    """Returns a model whose first world fulfils the formula, or None if no model of the system does."""
    types = _Types(logic.without_diamonds(formula), logic.SYSTEMS[system])
    return types.model() if types.alive & types.goal else None


class _Types:
    """The types of a formula as bits of whole numbers: a column has a bit for each type in which its formula holds."""

    def __init__(self, goal: logic.Formula, conditions: tuple[str, ...]) -> None:
        self.conditions = conditions
        self.is_equal = "euclidean" in conditions or {"symmetric", "transitive"} <= {*conditions}
        self.is_mutual = "symmetric" in conditions and not self.is_equal
        parts = logic.parts_of(goal)
        self.atoms = tuple(part.name for part in parts if part.op == "atom")
        boxes = [part for part in parts if part.op == "box"]
        size = len(self.atoms) + len(boxes)
        if size > MOST:
            hint = "leave out premises that do not matter, or give worlds instead of valid_in"
            raise BadValue(f"formula: {len(self.atoms)} atoms and {len(boxes)} boxes, more than {MOST} together", hint)
        self.full = (1 << (1 << size)) - 1
        self.columns = [_column(n, self.full) for n in range(size)]
        named = dict(zip((*self.atoms, *boxes), self.columns, strict=True))
        known: dict[logic.Formula, int] = {}
        self.goal = logic.evaluate(goal, self.full, named.__getitem__, lambda box, _: named[box], known)
        # For each modality, the columns of its boxes and of what they hold.
        self.boxes: dict[str, list[tuple[int, int]]] = {}
        for box in boxes:
            self.boxes.setdefault(box.name, []).append((named[box], known[box.parts[0]]))
        self.alive = self.full
        self._drop()

    def _drop(self) -> None:
        """Leaves only the types that can be worlds."""
        if "reflexive" in self.conditions:
            for box, body in (pair for pairs in self.boxes.values() for pair in pairs):
                self.alive &= ~box | body
        before = -1
        while before != self.alive:
            before = self.alive
            for modality, pairs in self.boxes.items():
                marks = [column for pair in pairs for column in (pair if self.is_mutual else pair[:1])]
                for group in _split(self.alive, marks):
                    if self._lacks_witness((group & -group).bit_length() - 1, modality):
                        self.alive &= ~group

    def reached(self, one: int, modality: str) -> int:
        """Returns the types that a type can see, given the conditions on the relation."""
        found = self.alive
        for box, body in self.boxes[modality]:
            if box >> one & 1:
                found &= body & box if "transitive" in self.conditions else body
            elif self.is_equal:
                found &= ~box
            if self.is_mutual and not body >> one & 1:
                found &= ~box
        return found

    def _lacks_witness(self, one: int, modality: str) -> bool:
        seen = self.reached(one, modality)
        if not seen and "serial" in self.conditions:
            return True
        return any(not box >> one & 1 and not seen & ~body for box, body in self.boxes[modality])

    def model(self) -> logic.Model:
        """Returns a model of the goal that grows from one type by the witnesses that it needs."""
        # The highest types have the most boxes true, and need the fewest witnesses.
        chosen = [(self.alive & self.goal).bit_length() - 1]
        edges: dict[str, dict[int, int]] = {modality: {} for modality in self.boxes}
        for n, one in enumerate(chosen):
            for modality, seen in edges.items():
                for wanted in self._wanted(one, modality):
                    if not any(wanted >> chosen[other] & 1 for other in bits(seen.get(n, 0))):
                        seen[n] = seen.get(n, 0) | 1 << _find_or_add(chosen, wanted)
        # The pairs that are needed and those that the conditions add: all of them are pairs that types allow.
        relations = {
            name: logic.closed(tuple(seen.get(n, 0) for n in range(len(chosen))), self.conditions)
            for name, seen in edges.items()
        }
        atoms = {
            name: sum(1 << n for n, one in enumerate(chosen) if column >> one & 1)
            for name, column in zip(self.atoms, self.columns, strict=False)
        }
        return logic.Model(tuple(f"w{n}" for n in range(1, len(chosen) + 1)), atoms, relations)

    def _wanted(self, one: int, modality: str) -> Iterator[int]:
        """Yields for each box that fails in a type, the types that may show it; if some world must be in sight, any."""
        seen = self.reached(one, modality)
        for box, body in self.boxes[modality]:
            if not box >> one & 1:
                yield seen & ~body
        if "serial" in self.conditions:
            yield seen


def _column(n: int, full: int) -> int:
    """Returns the bits of all numbers that have bit n set."""
    half = 1 << n
    return full // ((1 << 2 * half) - 1) * (((1 << half) - 1) << half)


def _split(group: int, marks: list[int]) -> Iterator[int]:
    """Yields the parts of a set of types that the columns do not tell apart."""
    if not marks:
        yield group
        return
    for part in (group & marks[0], group & ~marks[0]):
        if part:
            yield from _split(part, marks[1:])


def _find_or_add(chosen: list[int], wanted: int) -> int:
    for n, one in enumerate(chosen):
        if wanted >> one & 1:
            return n
    chosen.append(wanted.bit_length() - 1)
    return len(chosen) - 1
