"""Numbers as people read them."""

from collections.abc import Sequence
from math import ceil, floor, inf, isfinite, isinf, isnan, log10

SPACE = "\N{NO-BREAK SPACE}"


def percent(share: float) -> str:
    """A share in percent, to about two figures, never rounded to a false 0 or 100.

    >>> [percent(s).replace(SPACE, " ") for s in (0, 0.0123, 0.5, 0.99999, 0.000001)]
    ['0 %', '1.2 %', '50 %', '>99.9 %', '<0.001 %']
    """
    if not isfinite(share):
        return number(share)
    size = abs(100 * share)
    if size == 0 or size == 100:
        text = f"{100 * share:.0f}"
    elif size < 0.001:
        text = "<0.001"
    elif 99.9 < size < 100:
        text = ">99.9"
    else:
        text = f"{100 * share:.1f}" if size >= 0.995 else f"{100 * share:.2g}"
        text = text.removesuffix(".0")
    return text + SPACE + "%"


def percent_beside(share: float, other: float | None) -> str:
    """A share in percent, with as many figures as tell it from another one.

    >>> [percent_beside(s, 0.1).replace(SPACE, " ") for s in (0.2, 0.1004, 0.1)]
    ['20 %', '10.04 %', '10 %']
    """
    text = percent(share)
    if other is None or share == other or text != percent(other):
        return text
    return f"{100 * share:.{figures_beside(share, other)}g}{SPACE}%"


def figures_beside(first: float, second: float | None) -> int:
    """How many figures, at least three, tell two numbers apart that differ.

    >>> figures_beside(0.2, 0.1), figures_beside(0.100004, 0.1)
    (3, 6)
    """
    if second is None or first == second:
        return 3
    return next((n for n in range(3, 17) if f"{first:.{n}g}" != f"{second:.{n}g}"), 17)


def number(value: float) -> str:
    """A number to three figures, with thousands separators and without exponents in the usual range.

    >>> [number(v) for v in (0, 12345, 12345.678, 0.012345, 0.00001, 24_874_916_200_000_000_000)]
    ['0', '12,345', '12,346', '0.0123', '<0.0001', '2.49e19']
    """
    if isnan(value):
        return "–"
    if isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= 1e12:
        text = f"{value:.3g}".replace("e+", "e")
    elif float(value).is_integer() or abs(value) >= 1000:
        text = f"{value:,.0f}"
    elif abs(value) < 0.0001:
        text = "<0.0001"
    else:
        text = f"{value:.3g}"
    return text.replace("-", "−")


def count_of(count: float, one: str, several: str) -> str:
    """A number with what it counts, in the singular or the plural.

    >>> [count_of(n, "record has", "records have") for n in (0, 1, 1200)]
    ['0 records have', '1 record has', '1,200 records have']
    """
    return f"{number(count)} {one if count == 1 else several}"


def count_records(count: float) -> str:
    """How many records, in the singular or the plural.

    >>> [count_records(n) for n in (1, 1200)]
    ['1 record', '1,200 records']
    """
    return count_of(count, "record", "records")


def short(value: float) -> str:
    """A number for a narrow axis: 2,500 · 12k · 3.4M.

    >>> [short(v) for v in (0.5, 2500, 12000, 3_400_000)]
    ['0.5', '2,500', '12k', '3.4M']
    """
    for size, letter in ((1e9, "B"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            unit = 1e3 if letter == "k" else size
            return f"{value / unit:.3g}{letter}".replace("-", "−")
    return f"{value:,.6g}".replace("-", "−")


def display(value: float, *, share: bool) -> str:
    """A share in percent, any other number as it is."""
    return percent(value) if share else number(value)


def round_step(span: float, parts: int) -> float:
    """A step of 1, 2, 2.5 or 5 times a power of ten that cuts `span` into about `parts`.

    >>> [round_step(s, 5) for s in (1, 12, 100_000)]
    [0.2, 2.5, 20000.0]
    """
    rough = span / parts
    power = 10.0 ** floor(log10(rough))
    size = next((s for s in (1, 2, 2.5, 5) if s * power >= rough * 0.9), 10)
    return size * power


def round_marks(low: float, high: float, parts: int) -> list[float]:
    """Round numbers from low to high.

    >>> round_marks(0, 1.1, 5)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    step = round_step(high - low, parts) if high > low else 1.0
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def coarse(values: Sequence[float]) -> list[float]:
    """Values of a chart's axis on a round grid of at least a hundred steps.

    A quantile can be the value of one record; what a chart shows of it need not be.

    >>> coarse([1234.56, 98765.43])
    [1200.0, 98800.0]
    """
    span = max(values) - min(values) if values else 0.0
    if not 0 < span < inf:
        return [float(f"{v:.3g}") for v in values]
    digits = -floor(log10(span / 100))
    return [float(f"{round(v, digits):.12g}") for v in values]
