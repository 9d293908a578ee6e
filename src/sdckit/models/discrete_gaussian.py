"""Random numbers that a guarantee can rest on: exact, in whole numbers, from the secret source of the system.

Floating-point noise leaves traces of the number it was added to (Mironov 2012). Here every decision compares
whole numbers: the probabilities are those of the formulas, not near them.
"""

import secrets
from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Bools, Ints

Source = Callable[[int], bytes]  # so many random bytes
Numbers = npt.NDArray[Any]  # whole numbers: of 64 bits, or of Python where these are too short

_SHORT = 2**26  # a variance up to this is drawn in numbers of 64 bits
_LONGEST_ROOT = 2**31  # whose square is still one of them


def discrete_gaussian(variance: Fraction, count: int, source: Source = secrets.token_bytes) -> Ints:
    r"""So many whole numbers from the discrete Gaussian distribution, exactly.

    .. math:: P(X = x) = e^{-x^2/2\sigma^2} \Big/ \sum_{y} e^{-y^2/2\sigma^2}

    σ² is the `variance` (a fraction); that of X is never above it, and equal but for tiny amounts where
    σ ≥ 1. By rejection from discrete Laplace numbers.
    Reference: Canonne, Kamath & Steinke (2020), Algorithms 1 to 3. `source` gives random bytes: any but the
    default is for tests.

    >>> discrete_gaussian(Fraction(9), 4).shape
    (4,)
    """
    top, bottom = variance.numerator, variance.denominator
    scale = _whole_root(variance) + 1
    kind = np.int64 if max(top, bottom**2) <= _SHORT else object
    found: list[Ints] = []
    missing = count
    while missing > 0:
        y = _discrete_laplace(scale, missing + missing // 2 + 8, source)
        far = np.abs(y).astype(kind) * (bottom * scale) - top
        kept = y[_accepted_squares(far, 2 * top * bottom * scale**2, source)]
        found.append(kept[:missing])
        missing -= len(found[-1])
    return np.concatenate([np.zeros(0, dtype=np.int64), *found])


def exponential_choice(scores: Ints, rate: Fraction, source: Source = secrets.token_bytes) -> int:
    """The place of one score, drawn with probability ∝ exp(rate · score), exactly.

    A place is drawn evenly and kept with probability exp(−rate · (largest score − its score)), else drawn
    again. The scores are whole numbers, so that their sensitivity holds to the last digit.

    >>> exponential_choice(np.array([0, 10**6, 5]), Fraction(1))
    1
    """
    short = (int(scores.max()) - scores.astype(object)) * rate.numerator
    while True:
        places = uniform_below(len(scores), len(scores) + 8, source)
        kept = np.flatnonzero(exp_minus(short[places], rate.denominator, source))
        if len(kept):
            return int(places[kept[0]])


def exp_minus(top: Numbers, bottom: int, source: Source) -> Bools:
    """True with probability exp(−top/bottom), for every number of `top` (0 or more)."""
    whole, rest = top // bottom, top % bottom
    true = _exp_minus_fraction(rest, bottom, source)
    pending = np.flatnonzero(true & (whole > 0))
    left = whole[pending]
    while len(pending):  # one more factor e⁻¹ each
        one = _exp_minus_fraction(np.ones(len(pending), dtype=np.int64), 1, source)
        true[pending[~one]] = False
        left = left[one] - 1
        pending, left = pending[one][left > 0], left[left > 0]
    return true


def uniform_below(bound: int, count: int, source: Source) -> Numbers:
    """So many whole numbers, evenly from 0 to bound − 1."""
    bits = (bound - 1).bit_length()
    if bits > 62:
        return np.array([_one_below(bound, bits, source) for _ in range(count)], dtype=object)
    found = np.zeros(0, dtype=np.int64)
    mask = np.uint64(2**bits - 1)
    while len(found) < count:
        words = np.frombuffer(source(8 * (2 * (count - len(found)) + 8)), dtype="<u8") & mask
        drawn = words.astype(np.int64)
        found = np.concatenate([found, drawn[drawn < bound]])
    return found[:count]


def _one_below(bound: int, bits: int, source: Source) -> int:
    beyond = 1 << bits
    while True:
        drawn = int.from_bytes(source((bits + 7) // 8), "little") % beyond
        if drawn < bound:
            return drawn


def _exp_minus_fraction(top: Numbers, bottom: int, source: Source) -> Bools:
    """True with probability exp(−top/bottom) for fractions of at most 1.

    The number K of the first of the events with probabilities top/(bottom·1), top/(bottom·2), … that does not
    happen is odd with this probability.
    """
    odd = np.ones(len(top), dtype=np.bool_)
    pending = np.arange(len(top))
    k = 1
    while len(pending):
        happens = uniform_below(bottom, len(pending), source) < top[pending]
        if k > 1:
            happens = happens & (uniform_below(k, len(pending), source) == 0)
        pending = pending[happens.astype(np.bool_)]
        k += 1
        odd[pending] = k % 2 == 1
    return odd


def _discrete_laplace(scale: int, count: int, source: Source) -> Ints:
    """About so many whole numbers with P(x) ∝ exp(−|x|/scale): those of `count` tries that were kept."""
    low = uniform_below(scale, count, source)
    low = low[_exp_minus_fraction(low, scale, source)].astype(np.int64)
    turns = np.zeros(len(low), dtype=np.int64)
    pending = np.arange(len(low))
    while len(pending):
        pending = pending[_exp_minus_fraction(np.ones(len(pending), dtype=np.int64), 1, source)]
        turns[pending] += 1
    size = low + scale * turns
    negative = uniform_below(2, len(size), source) == 1
    kept: Bools = ~(negative & (size == 0))  # or 0 would come twice as often
    signed: Ints = np.where(negative, -size, size)
    return signed[kept]


def _accepted_squares(root: Numbers, bottom: int, source: Source) -> Bools:
    """True with probability exp(−root²/bottom)."""
    if root.dtype == np.int64 and (np.abs(root) >= _LONGEST_ROOT).any():
        root = root.astype(object)
    return exp_minus(root * root, bottom, source)


def _whole_root(variance: Fraction) -> int:
    """⌊σ⌋."""
    return isqrt(variance.numerator // variance.denominator)
