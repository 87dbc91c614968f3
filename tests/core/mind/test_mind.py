"""What plans and statuses say."""

from mabos_cli.core.mind.mind import Step, find_step

STEPS = (
    Step("S1", "Visit them", True, "done", 3),
    Step("2", "Send the offer", None, "", 4),
    Step("", "Sign", None, "", 5),
)


def test_a_step_goes_by_its_name_else_by_its_place() -> None:
    assert find_step(STEPS, "s1") is STEPS[0]
    assert find_step(STEPS, "2") is STEPS[1]
    assert find_step(STEPS, "3") is STEPS[2]
    assert find_step(STEPS, "4") is None and find_step((), "1") is None
