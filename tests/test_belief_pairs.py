"""The labelled belief pairs of fixtures/belief_pairs.json: enough of each kind, well formed, in each split."""

import json
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

PAIRS = json.loads((Path(__file__).parent.parent / "fixtures" / "belief_pairs.json").read_text("utf-8"))
CONFLICTS = {"negation", "antonym", "number", "date", "named-value", "supersession"}
OTHERS = {"paraphrase", "scope", "time", "elaboration", "unrelated"}
SIDES = ("a", "b")


def test_there_are_enough_pairs_of_both_labels() -> None:
    labels = Counter(pair["conflict"] for pair in PAIRS)
    assert len(PAIRS) >= 120
    assert 0.45 <= labels[True] / len(PAIRS) <= 0.55


def test_there_are_enough_pairs_of_each_kind() -> None:
    kinds = Counter(pair["kind"] for pair in PAIRS)
    assert set(kinds) == CONFLICTS | OTHERS | {"uncertain"}
    assert all(kinds[kind] >= 18 for kind in CONFLICTS | OTHERS)
    assert 4 <= kinds["uncertain"] <= 8


def test_the_kind_says_the_label() -> None:
    assert [pair["id"] for pair in PAIRS if pair["conflict"] is not (pair["kind"] in CONFLICTS)] == []


def test_pairs_are_well_formed() -> None:
    for pair in PAIRS:
        assert set(pair) == {"id", "a", "b", "conflict", "kind", "split"}, pair["id"]
        for side in SIDES:
            belief = pair[side]
            assert set(belief) == {"subject", "text", "certainty", "updated"}, pair["id"]
            assert belief["subject"].strip() == belief["subject"] != "", pair["id"]
            assert belief["text"].strip() == belief["text"] != "", pair["id"]
            assert date.fromisoformat(belief["updated"]).isoformat() == belief["updated"], pair["id"]
            assert 0 < belief["certainty"] <= 1, pair["id"]


def test_ids_are_unique() -> None:
    assert len({pair["id"] for pair in PAIRS}) == len(PAIRS)


def test_no_pair_is_there_twice_whichever_way_round() -> None:
    seen = Counter(
        frozenset((pair[side]["subject"].casefold(), pair[side]["text"].casefold()) for side in SIDES) for pair in PAIRS
    )
    assert [pair for pair, times in seen.items() if times > 1] == []
    assert all(len(pair) == 2 for pair in seen), "a belief is paired with itself"


def test_only_the_uncertain_pairs_have_a_low_certainty_and_just_one() -> None:
    for pair in PAIRS:
        low = sum(pair[side]["certainty"] <= 0.6 for side in SIDES)
        assert low == (pair["kind"] == "uncertain"), pair["id"]


def test_a_superseding_belief_is_newer() -> None:
    for pair in PAIRS:
        if pair["kind"] == "supersession":
            assert pair["a"]["updated"] != pair["b"]["updated"], pair["id"]


@pytest.mark.parametrize("kind", sorted(CONFLICTS | OTHERS))
def test_each_kind_is_in_each_split(kind: str) -> None:
    splits = Counter(pair["split"] for pair in PAIRS if pair["kind"] == kind)
    assert set(splits) == {"dev", "test", "fresh", "blind"}
    assert min(splits.values()) >= 7


@pytest.mark.parametrize(("label", "least"), [(True, 1 / 4), (False, 1 / 6)])
def test_subjects_differ_in_a_part_of_the_pairs_of_both_labels(label: bool, least: float) -> None:
    differ = [pair["a"]["subject"] != pair["b"]["subject"] for pair in PAIRS if pair["conflict"] is label]
    assert least <= sum(differ) / len(differ) <= 0.5
