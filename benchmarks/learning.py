"""Learning: trains the model that says which statements of a conversation are worth keeping, and measures what is learned.

    python benchmarks/learning.py --train            writes mabos_cli/templates/learning.json from fixtures/turns/train.txt
    python benchmarks/learning.py [--set FILE] [-v]  measures labelled turns (fixtures/turns/test.txt)

A line of a set is `TYPE|TEXT` with `-` for what should not be kept; several statements of one turn have a line each. A turn of a test
set may hold several: `TYPE,TYPE|TEXT`. Precision and recall count statements, types count where a statement was kept rightly; person and fact are one.
"""

import argparse
import json
from collections import Counter
from datetime import date
from pathlib import Path

from mabos_cli.core.memory.learning import NOISE, Judge, Turn, features_of, learn
from mabos_cli.services.memory.learning import load_judge

ROOT = Path(__file__).parent.parent
TURNS = ROOT / "fixtures" / "turns"
MODEL = ROOT / "mabos_cli" / "templates" / "learning.json"
FLOOR, LEAST, STEPS, DECAY = 0.6, 2, 800, 2.0
SAME = {"person": "fact", "project": "fact", "insight": "lesson"}


def read_set(path: Path) -> list[tuple[list[str], str]]:
    """Returns the types and the text of each turn."""
    rows = (line.split("|", 1) for line in path.read_text("utf-8").split("\n") if "|" in line)
    return [([kind for kind in kinds.strip().split(",") if kind != NOISE], text.strip()) for kinds, text in rows]


def train(path: Path) -> dict[str, object]:
    """Returns the weights of a multinomial logistic regression, by Newton-free gradient descent with momentum."""
    import numpy as np

    rows = [(kinds[0] if kinds else NOISE, features_of(text)) for kinds, text in read_set(path)]
    types = sorted({kind for kind, _ in rows})
    counts = Counter(feature for _, found in rows for feature in found)
    names = sorted(feature for feature, count in counts.items() if count >= LEAST)
    place = {name: n for n, name in enumerate(names)}
    inputs = np.zeros((len(rows), len(names)))
    for n, (_, found) in enumerate(rows):
        inputs[n, [place[feature] for feature in found if feature in place]] = 1
    wanted = np.array([[kind == name for name in types] for kind, _ in rows], float)
    weights = np.zeros((len(names), len(types)))
    speed = np.zeros_like(weights)
    rate = 4.0 / np.linalg.norm(inputs, 2) ** 2
    for _ in range(STEPS):
        ahead = weights + 0.9 * speed
        scores = inputs @ ahead
        shares = np.exp(scores - scores.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        speed = 0.9 * speed - rate * (inputs.T @ (shares - wanted) + DECAY * ahead)
        weights = weights + speed
    table = {
        name: [round(float(w), 2) for w in weights[n]] for name, n in place.items() if abs(weights[n]).max() >= 0.05
    }
    return {"types": types, "floor": FLOOR, "weights": table}


def measure(path: Path, judge: Judge, verbose: bool) -> None:
    """Prints precision, recall and the share of right types over a labelled set."""
    right = kept = wanted = typed = 0
    for kinds, text in read_set(path):
        found = [one.type for one in learn([Turn("user", text, date(2026, 3, 3))], judge)]
        hits = min(len(found), len(kinds))
        a = Counter(SAME.get(kind, kind) for kind in found)
        b = Counter(SAME.get(kind, kind) for kind in kinds)
        right, kept, wanted, typed = right + hits, kept + len(found), wanted + len(kinds), typed + (a & b).total()
        if verbose and a != b:
            print(f"{','.join(kinds) or '-':>22} {','.join(found) or '-':>22} | {text[:110]}")
    print(
        f"{path.name}: {wanted} to keep, {kept} kept; precision {right / max(1, kept):.3f}, recall {right / wanted:.3f}, types {typed / max(1, right):.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--set", type=Path, action="append", default=[])
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    if given.train:
        model = train(TURNS / "train.txt")
        MODEL.write_text(
            json.dumps(model, ensure_ascii=False, indent=0, separators=(",", ":"))
            .replace(",\n", ",")
            .replace("],", "],\n")
            + "\n",
            "utf-8",
        )
        print(f"{MODEL.name}: {len(model['weights'])} features, {MODEL.stat().st_size} bytes")  # type: ignore[arg-type]
    judge = load_judge()
    for path in given.set or [TURNS / "test.txt"]:
        measure(path, judge, given.verbose)


if __name__ == "__main__":
    main()
