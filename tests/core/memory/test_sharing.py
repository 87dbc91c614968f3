"""What other agents may read."""

import doctest

from mabos_cli.core.memory import trust
from mabos_cli.core.memory.trust import parse_sharing, retells


def test_doctests() -> None:
    assert doctest.testmod(trust).failed == 0


def test_settings_say_what_is_shared() -> None:
    tags = parse_sharing(False, " Pricing, , hiring ")
    assert tags.tags == ("pricing", "hiring") and tags.is_any and not parse_sharing(False, " ,").is_any
    assert tags.admits(["HIRING"]) and not tags.admits([]) and not tags.admits(["pricing", "private"])
    assert parse_sharing(True, "").admits([]) and not parse_sharing(True, "private").admits(["private"])


def test_a_text_that_tells_most_of_a_private_one_is_noticed() -> None:
    assert retells("We heard that the Oslo office is sold in May, says the board", ["The Oslo office is sold in May"])
    assert not retells("The Oslo office is large", ["The Oslo office is sold in May"]) and not retells("Oslo", [""])
