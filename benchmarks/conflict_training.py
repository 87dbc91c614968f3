"""Trains the model that refutes conflicts among beliefs: mabos_cli/templates/conflicts.model.

    python benchmarks/conflict_training.py            holds out each writer in turn, trains on the rest and measures it
    python benchmarks/conflict_training.py --write    trains on all writers, measures fixtures/beliefs/unseen.txt and writes the model

The pairs are those of benchmarks/conflicts.py; unseen.txt is never trained on.
"""

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from conflicts import FIXTURES, Pair, beliefs_of, read_pairs

from mabos_cli.backends.wordllama import open_wordllama
from mabos_cli.core.mind.claims.match import tells_apart
from mabos_cli.core.mind.claims.overlay import ConflictModel, Overlay, Way, WordUse, inputs_of, open_side
from mabos_cli.core.mind.conflicts import Reading, read_belief
from mabos_cli.core.mind.pairs import candidate_pairs
from mabos_cli.formats.mind.attitudes import parse_beliefs
from mabos_cli.services.mind.conflict_model import open_conflict_model

MODEL = Path(__file__).parent.parent / "mabos_cli" / "templates" / "conflicts.model"
FLOOR, DECAY, STEPS, RATE, ROUNDS = 0.4, 0.003, 600, 0.025, 3
WEIGHTS = {"plain": 2.0, "contrast": 2.0, "business": 1.0}  # what is written like the pairs to come counts more
CROSS_WEIGHT = 0.3  # of a pair of beliefs that nobody put together
WAY_OF = {"named": "value", "named-value": "value", "quantifier": "negation"}


class Row:
    """A pair as it is trained on: its split and label, the way that its kind names, and the inputs of each way."""

    def __init__(self, split: str, pair: Pair, ways: Sequence[Way]) -> None:
        self.split, self.label, self.kind = split, bool(pair["conflict"]), str(pair["kind"])
        self.ways = ways
        self.inputs = [dict(inputs_of(way)) for way in ways]
        self.table: Any = None


def are_things_apart(a: Reading, b: Reading) -> bool:
    """Returns whether the headings tell two things apart."""
    content = a.content | b.content
    if not a.belief.text.strip() or not b.belief.text.strip() or a.subject == b.subject:
        return False
    repeated = [2 * len(x.about & (y.about | y.content)) >= len(x.about) for x, y in ((a, b), (b, a))]
    if any(each.claims[0].words[:1] >= ("\ue000",) for each in (a, b) if each.claims) and not any(repeated):
        return True
    which = [re.findall(r"\b(?:[A-Z]|\w*\d\w*)\b", each.belief.subject) for each in (a, b)]
    if all(which) and which[0] != which[1]:
        return True
    is_adding = bool(a.about - b.about - content and b.about - a.about - content)
    return is_adding and tells_apart(a.belief.subject, b.belief.subject, content)


def find_ways(pair: Pair, words: WordUse) -> list[Way]:
    """Returns the ways in which the beliefs of a pair might exclude each other."""
    beliefs = pair.get("beliefs") or beliefs_of(pair)
    if len(beliefs) < 2:
        return []
    a, b = map(read_belief, beliefs[:2])
    if are_things_apart(a, b):
        return []
    sides = [
        [
            open_side(claim, each.belief.subject if each.belief.text.strip() else "")
            for claim in (each.claims or each.titles)[:4]
        ]
        for each in (a, b)
    ]
    return [way for x in sides[0] for y in sides[1] for way in Overlay(x, y, words).ways()]


def pair_across(pairs: Sequence[Pair]) -> list[Pair]:
    """Returns for each belief the most alike one of another pair of its split, unless they say nearly the same: no conflict."""
    sides = [(pair["split"], n, belief) for n, pair in enumerate(pairs) for belief in beliefs_of(pair)]
    texts = [f"{belief.subject}. {belief.text}" for _, _, belief in sides]
    rows = np.array([np.frombuffer(row, "<f4") for row in open_wordllama().embed(texts)])
    found = []
    for i, row in enumerate(rows @ rows.T):
        for j in np.argsort(-row)[1:12]:
            if i < j and sides[i][0] == sides[j][0] and sides[i][1] != sides[j][1] and row[j] <= 0.8:
                both = [
                    {"subject": b.subject, "text": b.text, "certainty": 0.9, "updated": b.updated}
                    for b in (sides[i][2], sides[j][2])
                ]
                found.append({"split": sides[i][0], "kind": "cross", "conflict": False, "a": both[0], "b": both[1]})
                break
    return found


def pair_in_files() -> list[Pair]:
    """Returns the pairs of the business fixture that would be compared, without the planted conflicts: whole files of an agent."""
    planted = set(re.findall(r"(\w+)/Beliefs\.md:(\d+)", (FIXTURES / "business" / "README.md").read_text("utf-8")))
    found = []
    for path in sorted((FIXTURES / "business" / "agents").glob("*/Beliefs.md")):
        beliefs = [belief for belief in parse_beliefs(path.read_text("utf-8"), path.name)[0] if belief.is_held]
        for i, j in candidate_pairs([read_belief(belief).marks for belief in beliefs]):
            if not {(path.parent.name, str(beliefs[n].line)) for n in (i, j)} <= planted:
                pair = {"split": "business", "kind": "apart", "conflict": False}
                found.append(pair | {"beliefs": (beliefs[i], beliefs[j])})
    return found


def fit(rows: Sequence[Row], names: Sequence[str]) -> tuple[Any, float]:
    """Returns the weights of a logistic regression and its bias. Of a conflict the likeliest way counts, of other pairs all."""
    weights: Any = None
    for _ in range(ROUNDS):
        data, labels, counts = [], [], []
        for row in (row for row in rows if row.ways):
            chosen = range(len(row.ways))
            if row.label and weights is None:
                want = WAY_OF.get(row.kind, row.kind)
                named = [n for n, way in enumerate(row.ways) if way.kind == want] or chosen
                chosen = [max(named, key=lambda n: row.inputs[n]["least covered"])]
            elif row.label:
                chosen = [int((row.table @ weights).argmax())]
            data += [row.table[n] for n in chosen]
            labels += [row.label] * len(chosen)
            counts += [CROSS_WEIGHT if row.kind == "cross" else WEIGHTS.get(row.split, 1.0)] * len(chosen)
        inputs = np.hstack([np.array(data), np.ones((len(data), 1))])
        wanted, shares = np.array(labels, float), np.array(counts) / len(data)
        found, speed = np.zeros(inputs.shape[1]), np.zeros(inputs.shape[1])
        for _ in range(STEPS):
            slope = inputs.T @ (shares * (1 / (1 + np.exp(-inputs @ found)) - wanted)) + DECAY * np.append(
                found[:-1], 0
            )
            speed = 0.9 * speed - RATE * slope
            found = found + speed
        weights, bias = found[:-1], float(found[-1])
    return weights, bias


def tell(name: str, rows: Sequence[Row], weights: Any, bias: float) -> None:
    """Prints precision and recall on the pairs of a split, at several floors."""
    rows = [row for row in rows if row.kind not in ("cross", "apart")]
    scores = np.array([(row.table @ weights).max() + bias if row.ways else -9.0 for row in rows])
    labels = np.array([row.label for row in rows])
    cells = []
    for floor in (0.0, 0.25, 0.5, 0.75, 1.0, 1.5):
        found = scores > floor
        hits = int((found & labels).sum())
        cells.append(f"{floor}: {hits / max(1, found.sum()):.3f} / {hits / max(1, labels.sum()):.3f}")
    print(f"{name:<10}{len(rows):>5} pairs, precision / recall above {', '.join(cells)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    held = json.loads(MODEL.read_text("utf-8"))
    model = open_conflict_model()
    assert isinstance(model, ConflictModel)
    pairs = [pair for pair in read_pairs() if pair["kind"] != "uncertain"]
    pairs += pair_across([pair for pair in pairs if pair["split"] != "unseen"])
    pairs += pair_in_files()
    rows = [Row(pair["split"], pair, find_ways(pair, model.words)) for pair in pairs]
    names = sorted({name for row in rows for each in row.inputs for name in each})
    for row in rows:
        row.table = np.array([[each.get(name, 0.0) for name in names] for each in row.inputs]).reshape(-1, len(names))
    spread = np.vstack([row.table for row in rows]).std(0) + 1e-6
    for row in rows:
        row.table = row.table / spread
    known = [row for row in rows if row.split != "unseen"]
    for writer in () if given.write else (("dev", "test"), ("fresh",), ("blind",), ("files",), ("plain", "contrast")):
        weights, bias = fit([row for row in known if row.split not in writer], names)
        tell(writer[0], [row for row in known if row.split in writer], weights, bias)
    if given.write:
        weights, bias = fit(known, names)
        tell("unseen", [row for row in rows if row.split == "unseen"], weights, bias)
        kept = {name: round(float(w), 4) for name, w in zip(names, weights / spread, strict=True) if abs(w) > 1e-3}
        held |= {"weights": kept, "bias": round(bias, 4), "floor": FLOOR}
        MODEL.write_text(json.dumps(held, separators=(",", ":")) + "\n", "utf-8")
        print(f"{MODEL.name}: {MODEL.stat().st_size} bytes, {len(kept)} weights")


if __name__ == "__main__":
    main()
