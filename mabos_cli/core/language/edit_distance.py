"""How many letters must change to turn one word into another."""


def edit_distance(one: str, two: str, most: int) -> int:
    """The least number of letters to put in, take out or exchange; `most`, a small number, plus 1 when that is more.

    >>> edit_distance("kitten", "sitting", 5), edit_distance("kitten", "sitting", 2)
    (3, 3)
    """
    if abs(len(one) - len(two)) > most:
        return most + 1
    same = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    one, two = one[same:], two[same:]
    if not one or not two or most == 0:
        return min(len(one) + len(two), most + 1)
    # Three ways on, each with a letter less to spend: quick as long as few may differ, and most words part early.
    ways = ((one[1:], two), (one, two[1:]), (one[1:], two[1:]))
    return 1 + min(edit_distance(*way, most - 1) for way in ways)


def tolerance(length: int) -> int:
    """How far two names of a length may be apart and still be taken for one: short ones must be equal (MRR and ARR are two
    things), of long ones two letters may differ."""
    return 0 if length < 6 else 1 if length < 9 else 2
