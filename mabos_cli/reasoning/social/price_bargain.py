"""One price between a seller and a buyer: the room for agreement, the fair split, and what patience does to it."""

from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, quantity, yes_no
from mabos_cli.reasoning.shape import number, optional, record, text
from mabos_cli.reasoning.social.bargaining import split_alternating
from mabos_cli.reasoning.wording import figure

POWER = optional(number("bargaining power against the others; equal if left out", 0, 1e6), 1)
_SIDE = record(
    "one side of the deal",
    name=optional(text("who it is")),
    reserve=number("the worst price that is still better than no deal", -1e12, 1e12),
    power=POWER,
    patience=optional(number("what a gain is worth one round of offers later, 1 being the same", 0, 1)),
)
PRICE = record(
    "one price to agree on; instead of parties and options",
    seller=_SIDE,
    buyer=_SIDE,
    first=optional(text("who offers first", "seller", "buyer")),
    unit=optional(text("the unit of the price"), ""),
)


def solve_price(given: dict[str, Any]) -> Answer:
    """The price that shares the surplus, or that no price suits both."""
    seller, buyer, unit = given["seller"], given["buyer"], given["unit"]
    low, high = seller["reserve"], buyer["reserve"]
    names = {"seller": seller["name"] or "seller", "buyer": buyer["name"] or "buyer"}
    detail: dict[str, Any] = {"parties": names, "seller_reserve": low, "buyer_reserve": high, "surplus": high - low}
    if low > high:
        return _tell_gap(names, low, high, detail)
    power = seller["power"] + buyer["power"]
    if not power:
        raise BadValue("price: somebody must have power above 0", "leave power out to make it equal")
    price = low + (high - low) * seller["power"] / power
    steps = [
        f"room for agreement: {figure(low)} to {figure(high)}, surplus {figure(high - low)}",
        f"nash: {figure(price)}"
        + ("" if seller["power"] != buyer["power"] else ", the middle: gains are linear in price"),
    ]
    detail |= {"zopa": [low, high], "nash": price, "middle": (low + high) / 2}
    caveats = ["reservation prices are taken as true; each side gains by hiding its own"]
    if seller["patience"] is not None and buyer["patience"] is not None:
        rounds = _alternate(seller["patience"], buyer["patience"], low, high)
        detail["alternating_offers"] = rounds
        steps += [f"alternating offers, {names[who]} first: {figure(one)}" for who, one in rounds.items()]
        if given["first"]:
            price = rounds[given["first"]]
            steps.append(f"{names[given['first']]} offers first: that decides")
    elif given["first"] or seller["patience"] is not None or buyer["patience"] is not None:
        caveats.append("alternating offers need the patience of both sides")
    if low == high:
        caveats.append("one price only: nobody gains by the deal")
    summary = f"{figure(price)} {unit}".strip() + f", between {figure(low)} and {figure(high)}"
    return Answer(quantity(price, (low, high), unit, "the price"), None, summary, tuple(steps), detail, tuple(caveats))


def _tell_gap(names: dict[str, str], low: float, high: float, detail: dict[str, Any]) -> Answer:
    said = f"{names['seller']} wants at least {figure(low)}, {names['buyer']} pays at most {figure(high)}"
    steps = (f"gap of {figure(low - high)}",)
    return Answer(yes_no(False, "some price suits both"), None, f"no deal: {said}", steps, detail)


def _alternate(seller: float, buyer: float, low: float, high: float) -> dict[str, float]:
    """The price at which offers that alternate end at once, by who offers first."""
    return {
        "seller": low + (high - low) * split_alternating(seller, buyer),
        "buyer": high - (high - low) * split_alternating(buyer, seller),
    }
