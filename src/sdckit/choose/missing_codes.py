"""Values that look like codes for a missing answer: −9, 99, "n/a"."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from sdckit.choose.words_among_numbers import words_among_numbers
from sdckit.data.labels import Labels

OFTEN = 5  # records at least that have a code that is shown
MOST = 5  # different codes in a column at most
FAR = 2  # times the largest other value at least, so that 9 among 1 to 4 is a code and 9 among 1 to 8 is not
HEAP = (
    3  # times as many records at least as any of the next values, so that 99 among ages or incomes is a code
)
NEXT = 5  # of the next values that are compared, on each side
NO_ANSWER = (
    "na, n/a, n.a., nan, null, missing, ., -, ?, refused, refusal, rf, not stated, not answered, no answer"
)
NOT_KNOWN = (
    "dk, don't know, do not know, not applicable, -1, -2, -3, -7, -8, -9, -77, -88, -97, -98, -99, -999"
)
TEXTS = frozenset(f"{NO_ANSWER}, {NOT_KNOWN}".split(", "))
NUMBER = re.compile(r"-?\d{1,15}(\.\d+)?")
ENDS = (7, 8, 9)  # of 97, 998, 77: the codes that questionnaires use


def missing_codes(series: pl.Series, labels: Labels) -> tuple[Any, ...]:
    """The values of a column that may stand for a missing answer, where several records have them.

    Numbers: a few negative codes among numbers that are not negative, or 9, 99, 998 and the like at least
    twice as large as all others; 99 and the like with three times as many records as any of the next five
    values. Texts: words for no answer, a few words among many numbers, and such numbers among other numbers
    or among words. Value labels: words for no answer. A guess, for somebody to check.

    >>> missing_codes(pl.Series([20, 35, 50, -9] * 5), Labels())
    (-9,)
    >>> missing_codes(pl.Series(["yes", "no", "n/a"] * 5), Labels())
    ('n/a',)
    >>> missing_codes(pl.Series([20, 35, 50, 61, 72, 94] * 2 + [99] * 6), Labels())
    (99,)
    >>> missing_codes(pl.Series(["yes", "no", "99"] * 5), Labels())
    ('99',)
    >>> missing_codes(pl.Series([*map(str, range(30)), *["verweigert"] * 5]), Labels())
    ('verweigert',)
    >>> missing_codes(pl.Series([-4, 3, -9, 8, -250] * 5), Labels())
    ()
    """
    if series.dtype.is_nested():
        return ()
    counts = series.drop_nulls().alias("value").value_counts(name="of records")
    often = set(counts.filter(pl.col("of records") >= OFTEN)["value"].to_list())
    texts = labels.values.get(series.name, {})
    said = {v for v in often if str(texts.get(v, "")).strip().lower() in TEXTS}
    if series.dtype.is_integer() or series.dtype.is_float():
        found = _numbers(dict(counts.rows())) & often | said
    elif series.dtype in (pl.String, pl.Categorical, pl.Enum):
        found = {v for v in often if str(v).strip().lower() in TEXTS} | words_among_numbers(series) & often
        found = found | said | _among_texts({v: n for v, n in counts.rows() if v not in found}) & often
    else:
        found = said
    whole = [int(v) if isinstance(v, float) and v == int(v) else v for v in sorted(found)]
    return tuple(whole) if len(whole) <= MOST else ()


def _numbers(records: Mapping[Any, int]) -> set[Any]:
    """Codes among different numbers, each with how many records have it."""
    below = {v for v in records if v < 0}
    found = below if all(_is_code(-v) or v == -1 for v in below) and len(below) < len(records) else set()
    above = sorted(v for v in records if v >= 0)
    codes = [v for v in above if _is_code(v)]
    others = [v for v in above if not _is_code(v)]
    if len(others) > 1 and found == below:
        found = found | {v for v in codes if v >= FAR * max(others)} | _heaped(records, above)
    return found


def _heaped(records: Mapping[Any, int], rising: Sequence[Any]) -> set[Any]:
    """9, 99 and the like beyond all others, or 99 and longer ones among others, with far more records."""
    found = set()
    for at, code in enumerate(rising):
        below, above = rising[max(at - NEXT, 0) : at], rising[at + 1 : at + 1 + NEXT]
        # 99 after 98 goes on in the same way; 9 among others may be years of school
        apart = code > 9 if above else below and code - below[-1] >= 2
        if not apart or not _is_code(code) or set(str(int(code))) != {"9"} or len(above or below) < NEXT:
            continue
        if records[code] >= HEAP * max(records[v] for v in (*below, *above) if v):
            found.add(code)
    return found


def _among_texts(records: Mapping[str, int]) -> set[str]:
    """Codes among texts that are numbers, or among words where every number looks like a code."""
    numbers = {v: float(v) for v in records if NUMBER.fullmatch(str(v).strip())}
    if len(numbers) < len(records):
        return set(numbers) if all(_is_code(abs(v)) for v in numbers.values()) else set()
    totals: Counter[float] = Counter()
    for text, number in numbers.items():
        totals[number] += records[text]
    found = _numbers(totals)
    return {text for text, number in numbers.items() if number in found}


def _is_code(value: float) -> bool:
    """Whether a number is 7, 8 or 9, all of its digits alike, or 97, 998 and the like."""
    if value != value or abs(value) == float("inf") or value != int(value):
        return False
    digits = str(int(value))
    return int(digits[-1]) in ENDS and (set(digits) <= {digits[-1]} or set(digits[:-1]) == {"9"})
