"""Learning: trains the model that says which statements of a conversation are worth keeping, and measures what is learned.

    python benchmarks/learning.py [--set FILE] [-v]  measures labelled turns (fixtures/turns/blind.txt, which nothing is trained on)
    python benchmarks/learning.py --train            writes mabos_cli/templates/learning.model from the other files there
    python benchmarks/learning.py --cross            holds out each voices-*.txt in turn, trains on the rest and measures it

A line of a set is `TYPE|TEXT` or `TYPE,TYPE|TEXT`: the statements of a turn that are worth keeping, `-` for none. Precision and recall count
statements, types count where a statement was kept rightly; facts about persons and about all else are one type, `strict` counts them as two.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from datetime import date
from itertools import combinations
from math import log
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from mabos_cli.backends.wordllama import PIECES, WIDTH, open_wordllama
from mabos_cli.core.language.statements import split_statements
from mabos_cli.core.memory.judging import NOISE, Judge, features_of, parse_classes
from mabos_cli.core.memory.learning import Turn, learn, strip_talk
from mabos_cli.services.memory.learning import load_judge, read_judge

ROOT = Path(__file__).parent.parent
TURNS = ROOT / "fixtures" / "turns"
MODEL = ROOT / "mabos_cli" / "templates" / "learning.model"
TYPES = (NOISE, "decision", "fact", "instruction", "lesson", "outcome", "person", "plan", "preference")
FLOOR, LEAST, STEPS, DECAY, MOMENTUM = 0.55, 3, 150, 4.0, 0.96
BROAD, NARROW, ROUNDS = 250, 1000, 12
Labelled = list[tuple[list[str], str]]


def read_set(path: Path) -> Labelled:
    """Returns the types and the text of each turn."""
    rows = (line.split("|", 1) for line in path.read_text("utf-8").split("\n") if "|" in line)
    return [([kind for kind in kinds.strip().split(",") if kind != NOISE], text.strip()) for kinds, text in rows]


def cluster(rows: Any, count: int) -> tuple[Any, Any]:
    """Returns the class of each row and the centres of the classes: spherical k-means from evenly spaced rows."""
    centres = rows[:: max(1, len(rows) // count)][:count].copy()
    places = np.zeros(len(rows), int)
    for _ in range(ROUNDS):
        places = (rows @ centres.T).argmax(1)
        sums = np.zeros_like(centres)
        np.add.at(sums, places, rows)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 0, sums / np.maximum(lengths, 1e-9), centres)
    return places, centres


def classify_words() -> list[str]:
    """Returns classes of words that are used alike, by the word vectors of the default model; each with the class above it."""
    model = open_wordllama()
    model._tokenizer.load_all()
    pieces = {piece.decode("utf-8", "ignore"): number for piece, number in model._tokenizer._pieces.items()}
    words = {name[1:]: n for name, n in pieces.items() if name[0] == "\u2581" and name[1:].isalpha() and name.islower()}
    # A word that is more frequent with a capital is a name: pieces are numbered by frequency.
    words = {word: n for word, n in words.items() if n < pieces.get(f"\u2581{word.capitalize()}", PIECES)}
    vectors = np.frombuffer(model._weights.data, "<f2", PIECES * WIDTH, model._start).reshape(PIECES, WIDTH)
    rows = _unit(vectors[[*words.values()]].astype(np.float32))
    rows = _unit(rows - rows.mean(0))
    narrow, centres = cluster(rows, NARROW)
    broad, _ = cluster(_unit(centres), BROAD)
    members: list[list[str]] = [[] for _ in range(NARROW)]
    for word, place in zip(words, narrow, strict=True):
        members[place].append(word)
    return [f"{broad[place]} {' '.join(sorted(found))}" for place, found in enumerate(members)]


def _unit(rows: Any) -> Any:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def assign(turns: Labelled, judge: Judge | None) -> list[tuple[str, str]]:
    """Returns the statements of turns with their types: in a turn of several, the types go in order to those that fit them best."""
    found: list[tuple[str, str]] = []
    for kinds, text in turns:
        parts = [strip_talk(part) for part in split_statements(text)]
        shares = [judge.shares(part) for part in parts] if judge and kinds and len(parts) > 1 else []

        def fit(places: Sequence[int], kinds: list[str] = kinds, shares: list[dict[str, float]] = shares) -> float:
            pairs = zip(places, kinds, strict=False)
            return sum(log(shares[n][kind] + 1e-9) - log(shares[n][NOISE] + 1e-9) for n, kind in pairs)

        if len(parts) > 1 and kinds and not judge:
            continue
        choices = combinations(range(len(parts)), min(len(kinds), len(parts)))
        best = max(choices, key=fit) if shares else range(len(kinds))
        labels = dict(zip(best, kinds, strict=False))
        found += [(labels.get(n, NOISE), part) for n, part in enumerate(parts)]
    return found


class Inputs:
    """Which features each statement has, as a sparse matrix of ones."""

    def __init__(self, found: Sequence[Sequence[int]], width: int) -> None:
        self.width, self._columns = width, np.array([n for row in found for n in row])
        self._starts = np.cumsum([0, *map(len, found)])[:-1]
        order = np.argsort(self._columns, kind="stable")
        self._rows = np.repeat(np.arange(len(found)), [*map(len, found)])[order]
        self._named, self._firsts = np.unique(self._columns[order], return_index=True)

    def times(self, weights: Any) -> Any:
        return np.add.reduceat(weights[self._columns], self._starts, axis=0)

    def back(self, errors: Any) -> Any:
        sums = np.zeros((self.width, errors.shape[1]), np.float32)
        sums[self._named] = np.add.reduceat(errors[self._rows], self._firsts, axis=0)
        return sums


def fit(rows: Sequence[tuple[str, str]], classes: list[str]) -> bytes:
    """Returns a multinomial logistic regression as it is stored: a line of JSON, then rows of a checksum and a byte for each type."""
    known = parse_classes(classes)
    features = [features_of(text, known) for _, text in rows]
    counts = Counter(feature for found in features for feature in found)
    place = {name: n for n, name in enumerate(sorted(f for f, count in counts.items() if count >= LEAST))}
    inputs = Inputs([[place[f] for f in sorted(found) if f in place] for found in features], len(place))
    wanted = np.array([[kind == name for name in TYPES] for kind, _ in rows], np.float32)
    probe = np.ones((len(place), 1), np.float32)
    for _ in range(15):
        probe = inputs.back(inputs.times(probe))
        length = float(np.linalg.norm(probe))
        probe /= length
    weights = np.zeros((len(place), len(TYPES)), np.float32)
    speed, rate = np.zeros_like(weights), 1 / (0.5 * length + DECAY)
    for _ in range(STEPS):
        ahead = weights + MOMENTUM * speed
        scores = inputs.times(ahead)
        shares = np.exp(scores - scores.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        speed = MOMENTUM * speed - rate * (inputs.back(shares - wanted) + DECAY * ahead)
        weights = weights + speed
    return _pack(place, weights, classes)


def _pack(place: dict[str, int], weights: Any, classes: list[str]) -> bytes:
    weights = weights - weights.mean(1, keepdims=True)
    step = float(f"{abs(weights).max() / 127:.3g}")
    small = np.clip(np.rint(weights / step), -127, 127).astype(np.int8)
    head = {"types": TYPES, "floor": FLOOR, "step": step, "classes": classes}
    data = {crc32(name.encode()): small[n].tobytes() for name, n in place.items() if abs(small[n]).max() > 1}
    rows = b"".join(number.to_bytes(4, "little") + row for number, row in sorted(data.items()))
    return json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" + rows


def train(turns: Labelled, classes: list[str], rounds: int = 2) -> bytes:
    """Returns a model of labelled turns: first of those with one statement, then of all, with types where that model puts them."""
    model = b""
    for _ in range(rounds):
        model = fit(assign(turns, read_judge(model) if model else None), classes)
    return model


def measure(name: str, turns: Labelled, judge: Judge, verbose: bool) -> None:
    """Prints precision, recall and the share of right types over labelled turns."""
    right = kept = wanted = typed = strict = 0
    for kinds, text in turns:
        found = [one.type for one in learn([Turn("user", text, date(2026, 3, 3))], judge)]
        a, b = (Counter("fact" if kind == "person" else kind for kind in some) for some in (found, kinds))
        hits = min(len(found), len(kinds))
        right, kept, wanted, typed = right + hits, kept + len(found), wanted + len(kinds), typed + (a & b).total()
        strict += (Counter(found) & Counter(kinds)).total()
        if verbose and a != b:
            print(f"{','.join(kinds) or '-':>22} {','.join(found) or '-':>22} | {text[:110]}")
    shares = f"precision {right / max(1, kept):.3f}, recall {right / max(1, wanted):.3f}"
    types = f"types {typed / max(1, right):.3f} (strict {strict / max(1, right):.3f})"
    print(f"{name}: {len(turns)} turns, {wanted} to keep, {kept} kept; {shares}, {types}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--cross", action="store_true")
    parser.add_argument("--set", type=Path, action="append", default=[])
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    sets = {path.name: read_set(path) for path in sorted(TURNS.glob("*.txt")) if path.name != "blind.txt"}
    if given.cross:
        classes = classify_words()
        for held in (name for name in sets if name.startswith("voices")):
            rest = [row for name, rows in sets.items() if name != held for row in rows]
            measure(held, sets[held], read_judge(train(rest, classes)), given.verbose)
        return
    if given.train:
        MODEL.write_bytes(train([row for rows in sets.values() for row in rows], classify_words()))
        print(f"{MODEL.name}: {MODEL.stat().st_size} bytes")
        load_judge.cache_clear()
    for path in given.set or [TURNS / "blind.txt"]:
        measure(path.name, read_set(path), load_judge(), given.verbose)


if __name__ == "__main__":
    main()
