"""How large a share is that was seen in so many of so many: estimates, intervals and the beta distribution."""

import math
from statistics import NormalDist

_TINY = 1e-300
_ROUNDS = 20_000
Interval = tuple[float, float]


def wilson(hits: int, count: int, level: float) -> Interval:
    """The interval of Wilson's score for a share; it stays within 0 and 1 and is good for few cases too.

    >>> [round(end, 4) for end in wilson(81, 263, 0.95)]
    [0.2553, 0.3662]
    """
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share, spread = hits / count, z * z / count
    middle = (share + spread / 2) / (1 + spread)
    reach = z / (1 + spread) * math.sqrt(share * (1 - share) / count + spread / (4 * count))
    return (0.0 if hits == 0 else max(0.0, middle - reach)), (1.0 if hits == count else min(1.0, middle + reach))


def clopper_pearson(hits: int, count: int, level: float) -> Interval:
    """The exact interval for a share: it holds the true one at least as often as the level says.

    >>> [round(end, 4) for end in clopper_pearson(81, 263, 0.95)]
    [0.2527, 0.3676]
    """
    tail = (1 - level) / 2
    low = beta_quantile(tail, hits, count - hits + 1) if hits else 0.0
    high = beta_quantile(1 - tail, hits + 1, count - hits) if hits < count else 1.0
    return low, high


def beta_below(x: float, a: float, b: float) -> float:
    """The probability that a beta variable is at most x (the regularized incomplete beta function).

    >>> round(beta_below(0.5, 2, 3), 10)
    0.6875
    """
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    # The fraction converges fast on one side of the mean only; the other side is one minus its mirror image.
    if x < (a + 1) / (a + b + 2):
        return math.exp(front) * _fraction(x, a, b) / a
    return 1 - math.exp(front) * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    total = d
    for m in range(1, _ROUNDS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d, c = 1 / _away(1 + step * d), _away(1 + step / c)
            total *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return total


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def beta_quantile(share: float, a: float, b: float) -> float:
    """The x below which a beta variable lies with this probability: Newton's steps, kept inside a shrinking bracket."""
    low, high, x = 0.0, 1.0, a / (a + b)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    for _ in range(100):
        off = beta_below(x, a, b) - share
        low, high = (x, high) if off < 0 else (low, x)
        slope = math.exp(front + (a - 1) * math.log(x) + (b - 1) * math.log1p(-x))
        step = x - off / slope if slope else low
        step = step if low < step < high else (low + high) / 2
        if abs(step - x) < 1e-15:
            return step
        x = step
    return x
