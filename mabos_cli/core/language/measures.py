"""What numbers are given in: scales, currencies, units with what they measure, and parts of a whole."""

from mabos_cli.core.language.clock import DAY

SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "bn": 1e9, "b": 1e9, "billion": 1e9}
SCALES |= {"hundred": 1e2, "dozen": 12.0, "tn": 1e12, "trillion": 1e12}
MONEY = {"$": "usd", "us$": "usd", "usd": "usd", "dollar": "usd", "€": "eur", "eur": "eur", "euro": "eur"}
MONEY |= {"£": "gbp", "gbp": "gbp", "pound": "gbp", "chf": "chf", "franc": "chf", "¥": "jpy", "jpy": "jpy"}
# Each with the dimension in which others can be converted to it, and its size there.
UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("%", "percent"), ("%", 1.0)),
    **dict.fromkeys(("percentage point", "pp"), ("points", 1.0)),
    **dict.fromkeys(("ms", "millisecond"), ("time", 0.001)),
    **dict.fromkeys(("s", "sec", "second"), ("time", 1.0)),
    **dict.fromkeys(("min", "minute"), ("time", 60.0)),
    **dict.fromkeys(("h", "hr", "hour"), ("time", 3600.0)),
    **dict.fromkeys(("d", "day", "calendar day"), ("time", DAY)),
    **dict.fromkeys(("working day", "business day", "workday"), ("workdays", 1.0)),
    **dict.fromkeys(("w", "week"), ("time", 7 * DAY)),
    **dict.fromkeys(("mo", "month"), ("time", 365.25 / 12 * DAY)),
    "quarter": ("time", 365.25 / 4 * DAY),
    **dict.fromkeys(("y", "yr", "year"), ("time", 365.25 * DAY)),
    **{name: ("bytes", 1e3**n) for n, name in enumerate(("byte", "kb", "mb", "gb", "tb", "pb"))},
    **{name: ("bytes", 1024.0 ** (n + 1)) for n, name in enumerate(("kib", "mib", "gib", "tib"))},
    **dict.fromkeys(("km", "kilometre", "kilometer"), ("metres", 1000.0)),
    **dict.fromkeys(("metre", "meter"), ("metres", 1.0)),
    **dict.fromkeys(("cm", "centimetre"), ("metres", 0.01)),
    **dict.fromkeys(("mile",), ("metres", 1609.34)),
    **dict.fromkeys(("kg", "kilo", "kilogram"), ("grams", 1000.0)),
    **dict.fromkeys(("g", "gram"), ("grams", 1.0)),
    **dict.fromkeys(("ton", "tonne", "t"), ("grams", 1e6)),
    **dict.fromkeys(("mg", "milligram"), ("grams", 0.001)),
    **dict.fromkeys(("mm", "millimetre", "millimeter"), ("metres", 0.001)),
    **dict.fromkeys(("l", "litre", "liter"), ("litres", 1.0)),
    **dict.fromkeys(("ml", "millilitre", "milliliter"), ("litres", 0.001)),
    **dict.fromkeys(("ha", "hectare"), ("square metres", 1e4)),
    **dict.fromkeys(("m²", "sqm", "square metre", "square meter"), ("square metres", 1.0)),
    "acre": ("square metres", 4046.86),
    **{name: ("watts", 1e3**n) for n, name in enumerate(("watt", "kw", "mw", "gw"))},
    **{name: ("watt hours", 1e3**n) for n, name in enumerate(("kwh", "mwh", "gwh"), 1)},
    **{name: ("hertz", 1e3**n) for n, name in enumerate(("hz", "khz", "mhz", "ghz"))},
    **{name: (name, 1.0) for name in ("fps", "rpm", "mph", "volt", "bar", "psi", "px", "kcal", "dpi")},
    **dict.fromkeys(("°c", "degree"), ("degrees", 1.0)),
    "°f": ("°f", 1.0),
    "cent": ("cents", 1.0),
}
# Parts of a whole, in percent.
PARTS = {"half": 50.0, "third": 100 / 3, "quarter": 25.0, "fifth": 20.0, "tenth": 10.0}
PARTS |= {"halve": 50.0, "sixth": 100 / 6, "eighth": 12.5}
