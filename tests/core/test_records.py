"""Records are what NamedTuple of typing makes."""

import copy
import pickle
import typing

import pytest

from mabos_cli.core import records


class Ours(records.NamedTuple):
    """Holds a point."""

    x: int
    y: "list[str]" = []  # noqa: RUF012
    label: str = "none"

    @property
    def double(self) -> int:
        return 2 * self.x


class Theirs(typing.NamedTuple):
    x: int
    y: "list[str]" = []  # noqa: RUF012
    label: str = "none"


def test_a_record_is_the_tuple_that_typing_makes() -> None:
    ours, theirs = Ours(1, label="a"), Theirs(1, label="a")
    assert ours == theirs == (1, [], "a") and hash(Ours(1, ())) == hash(Theirs(1, ()))  # type: ignore[arg-type]
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert ours._asdict() == theirs._asdict() and ours._fields == theirs._fields
    assert Ours._field_defaults == Theirs._field_defaults and Ours._make(theirs) == theirs
    assert ours._replace(x=2).double == 4 and isinstance(ours._replace(), Ours)
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)
    assert Ours.__doc__ == "Holds a point." and not hasattr(ours, "__dict__")
    for again in (copy.copy(ours), copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert again == ours and type(again) is Ours
    match ours:
        case Ours(x, _, label):
            assert (x, label) == (1, "a")


@pytest.mark.parametrize("kind", [Ours, Theirs])
def test_what_does_not_fit_is_refused(kind: typing.Any) -> None:
    with pytest.raises(TypeError, match=rf"{kind.__name__}\.__new__\(\) missing 1 required positional argument: 'x'"):
        kind()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        kind(1, z=2)
    with pytest.raises(TypeError, match="xpected 3 arguments, got 1"):
        kind._make([1])
    with pytest.raises((TypeError, ValueError), match=r"Got unexpected field names: \['z'\]"):
        kind(1)._replace(z=2)
    with pytest.raises(AttributeError):
        kind(1).x = 2
