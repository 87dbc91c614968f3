"""Random draws: distributions as people name them, correlated by rank, and what describes a sample."""

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from statistics import NormalDist
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.inputs import LARGEST, known_name, sum_to_one
from mabos_cli.reasoning.shape import Shape, conform, number, probability

_MOST_EXACT = 20_000  # hits up to which a tail is summed up
Interval = tuple[float, float]
Draw = Callable[[Any], float]  # takes a random.Random
_any = number("a number", -LARGEST, LARGEST)
_above = number("a number above 0", 0, LARGEST)
_logged = number("a figure of the logarithm", -30, 30)
_PARAMETERS: dict[str, dict[str, Shape]] = {
    "constant": {"value": _any},
    "normal": {"mean": _any, "sd": _above},
    "lognormal": {"mu": _logged, "sigma": number("of the logarithm", 0, 5)},
    "uniform": {"low": _any, "high": _any},
    "triangular": {"low": _any, "mode": _any, "high": _any},
    "pert": {"low": _any, "mode": _any, "high": _any},
    "beta": {"alpha": _above, "beta": _above},
    "exponential": {"mean": _above},
    "bernoulli": {"p": probability("a chance")},
    "poisson": {"rate": number("how many on average", 0, 1e6)},
}
ABOUT = ", ".join(f"{{{kind}: [{', '.join(names)}]}}" for kind, names in _PARAMETERS.items())


def parse_distribution(raw: Any, path: str) -> Draw:
    """Returns how to draw from `{normal: [100, 15]}`, `{normal: {mean: 100, sd: 15}}`, `{discrete: {1: 0.3}}` or a
    number."""
    if not isinstance(raw, dict):
        value = conform(_any, raw, {}, path)
        return lambda chance: value
    if len(raw) != 1:
        raise BadValue(f"{path}: must name one distribution", ABOUT)
    ((kind, fields),) = raw.items()
    known_name(path, str(kind), (*_PARAMETERS, "discrete"), "distribution")
    here = f"{path}.{kind}"
    if kind == "discrete":
        return _discrete(fields, here)
    wanted = _PARAMETERS[kind]
    named = fields if isinstance(fields, list | dict) else [fields]
    if isinstance(named, list) and len(named) == len(wanted):
        named = dict(zip(wanted, named, strict=True))
    if not isinstance(named, dict) or named.keys() != wanted.keys():
        raise BadValue(f"{here}: needs {', '.join(wanted)}", f"{kind}: [{', '.join(wanted)}]")
    figures = [conform(shape, named[name], {}, f"{here}.{name}") for name, shape in wanted.items()]
    return _DRAWS[kind](*figures, here)


def _uniform(low: float, high: float, path: str) -> Draw:
    _check_rising(path, low, high)
    return lambda chance: low + (high - low) * chance.random()


def _triangular(low: float, mode: float, high: float, path: str) -> Draw:
    _check_rising(path, low, mode, high)
    return lambda chance: chance.triangular(low, high, mode)


def _pert(low: float, mode: float, high: float, path: str) -> Draw:
    """Returns a beta between the bounds whose mean is (low + 4 mode + high) / 6."""
    _check_rising(path, low, mode, high)
    width = high - low
    if not width:
        return lambda chance: low
    alpha, beta = 1 + 4 * (mode - low) / width, 1 + 4 * (high - mode) / width
    return lambda chance: low + width * chance.betavariate(alpha, beta)


def _beta(alpha: float, beta: float, path: str) -> Draw:
    if min(alpha, beta) < 1e-3:
        raise BadValue(f"{path}: alpha and beta must be at least 0.001", "a beta needs both above 0")
    return lambda chance: chance.betavariate(alpha, beta)


def _check_rising(path: str, *figures: float) -> None:
    if list(figures) != sorted(figures):
        raise BadValue(f"{path}: {', '.join(f'{one:g}' for one in figures)} must rise", "low, mode if any, high")


def _poisson(rate: float, path: str) -> Draw:
    """Draws by inversion over all counts within 12 deviations; what lies beyond is rarer than any draw can show."""
    if rate == 0:
        return lambda chance: 0.0
    reach = 12 * math.sqrt(rate) + 30
    first = max(0, int(rate - reach))
    counts = range(first, int(rate + reach))
    sums = list(accumulate(math.exp(k * math.log(rate) - rate - math.lgamma(k + 1)) for k in counts))
    return lambda chance: float(first + min(bisect_right(sums, chance.random()), len(sums) - 1))


def _discrete(raw: Any, path: str) -> Draw:
    if not isinstance(raw, dict) or not raw:
        raise BadValue(f"{path}: must be values with their probabilities", "discrete: {10: 0.3, 20: 0.7}")
    values = [conform(_any, value, {}, f"{path}: a value") for value in raw]
    shares = {str(value): conform(probability(""), p, {}, f"{path}.{value}") for value, p in raw.items()}
    sums = list(accumulate(sum_to_one(path, shares).values()))
    last = max(at for at, share in enumerate(shares.values()) if share)
    return lambda chance: values[min(bisect_right(sums, chance.random()), last)]


_DRAWS: dict[str, Callable[..., Draw]] = {
    "constant": lambda value, path: lambda chance: value,
    "normal": lambda mean, sd, path: lambda chance: chance.gauss(mean, sd),
    "lognormal": lambda mu, sigma, path: lambda chance: math.exp(chance.gauss(mu, sigma)),
    "uniform": _uniform,
    "triangular": _triangular,
    "pert": _pert,
    "beta": _beta,
    "exponential": lambda mean, path: lambda chance: -mean * math.log(1 - chance.random()),
    "bernoulli": lambda p, path: lambda chance: float(chance.random() < p),
    "poisson": _poisson,
}


def correlate(
    columns: dict[str, list[float]], names: Sequence[str], root: Sequence[Sequence[float]], chance: Any
) -> None:
    """Puts the draws of some variables into the order of correlated normal scores. Each column keeps exactly its values, so every
    distribution can be correlated with every other."""
    count = len(columns[names[0]])
    rows = [[chance.gauss(0, 1) for _ in names] for _ in range(count)]
    for at, name in enumerate(names):
        scores = [sum(weight * row[k] for k, weight in enumerate(root[at][: at + 1])) for row in rows]
        ordered = sorted(columns[name])
        for value, place in zip(ordered, sorted(range(count), key=scores.__getitem__), strict=True):
            columns[name][place] = value


def cholesky(matrix: Sequence[Sequence[float]], path: str) -> list[list[float]]:
    """Returns the lower triangle whose square is the matrix; BadValue if no variables can be correlated like that."""
    size = len(matrix)
    root = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            left = matrix[i][j] - sum(root[i][k] * root[j][k] for k in range(j))
            if i != j:
                root[i][j] = left / root[j][j] if root[j][j] > 1e-9 else 0.0
            elif left < -1e-9:
                raise BadValue(f"{path}: these correlations contradict each other", "make some of them weaker")
            else:
                root[i][i] = math.sqrt(max(0.0, left))
    if any(
        abs(sum(root[i][k] * root[j][k] for k in range(size)) - matrix[i][j]) > 1e-6
        for i in range(size)
        for j in range(i)
    ):
        raise BadValue(f"{path}: these correlations contradict each other", "make some of them weaker")
    return root


def percentile(ordered: Sequence[float], share: float) -> float:
    """Returns the value below which a share of a sorted sample lies, with a straight line between neighbours."""
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def ranks(values: Sequence[float]) -> list[float]:
    """Returns the rank of each value; equal ones share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found, start = [0.0] * len(values), 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for place in order[start : end + 1]:
            found[place] = (start + end) / 2
        start = end + 1
    return found


def correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Returns Pearson's correlation, None where one side does not vary."""
    count = len(one)
    a, b = math.fsum(one) / count, math.fsum(other) / count
    across = math.fsum((x - a) * (y - b) for x, y in zip(one, other, strict=True))
    size = math.fsum((x - a) ** 2 for x in one) * math.fsum((y - b) ** 2 for y in other)
    return across / math.sqrt(size) if size > 0 else None


def described(values: Sequence[float]) -> Mapping[str, Any]:
    """Returns the mean with its standard error, spread and percentiles of a sample."""
    count, ordered = len(values), sorted(values)
    mean = math.fsum(values) / count
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / max(1, count - 1))
    points = {f"p{at}": percentile(ordered, at / 100) for at in (5, 10, 25, 50, 75, 90, 95)}
    ends = {"low": ordered[0], "high": ordered[-1]}
    return {"mean": mean, "standard_error": sd / math.sqrt(count), "sd": sd, **points, **ends}


def wilson(hits: int, count: int, level: float) -> Interval:
    """Returns the interval of Wilson's score for a share; it stays within 0 and 1 and is good for few cases too."""
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share, spread = hits / count, z * z / count
    middle = (share + spread / 2) / (1 + spread)
    reach = z / (1 + spread) * math.sqrt(share * (1 - share) / count + spread / (4 * count))
    return (0.0 if hits == 0 else max(0.0, middle - reach)), (1.0 if hits == count else min(1.0, middle + reach))


def binomial_tail(hits: int, count: int, share: float) -> float:
    """Returns the probability of at least so many hits. It is also that of a beta variable with the parameters `hits` and
    `count - hits + 1` to lie below the share."""
    if share <= 0 or share >= 1:
        return float(share >= 1)
    if count > _MOST_EXACT:
        return math.erfc((hits - 0.5 - count * share) / math.sqrt(2 * count * share * (1 - share))) / 2
    ways = [math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) for k in range(hits, count + 1)]
    logs = [way + k * math.log(share) + (count - k) * math.log1p(-share) for k, way in enumerate(ways, hits)]
    return min(1.0, math.fsum(map(math.exp, logs)))
