"""Random numbers that are functions of a key and a record's number alone, in the same bits everywhere.

Two words are each made by rounds x → (x + key)³ mod P: the block of the MiMC cipher with fewer rounds, good
for simulation, not for secrecy against somebody who knows numbers and results.
"""

from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Floats, Ints

Words = npt.NDArray[np.uint64]

# The largest prime below 2^30.5 with P ≡ 2 (mod 3): cubing is one-to-one modulo P, and (2P)² fits in 63 bits,
# so that a sum of two numbers below P can be cubed as it is.
PRIME = 1_518_500_213
ROUNDS = (3, 2, 3)  # after the low part, the high part and the rest of a number have gone in
LOW = 1 << 10  # the second word without its last bits gives the digits behind the first
DIGITS = PRIME // LOW + 1
UNIT = 1.0 / (PRIME * DIGITS)
PIECE = 1 << 14  # numbers that stay in the processor's cache
COMPILED = 100_000  # from this many numbers on, compiled code is worth its start


def keyed_uniform(numbers: Ints, keys: Ints) -> Floats:
    """Numbers in (0, 1), 51 random bits, for whole numbers of 64 bits; keys: [2 words, 8 rounds] below P."""
    words = np.ascontiguousarray(keys, dtype=np.uint64)
    numbers = np.ascontiguousarray(numbers, dtype=np.int64)
    if len(numbers) >= COMPILED:
        from sdckit.kernels.keyed_rounds import compiled_uniform

        return compiled_uniform(numbers, words)
    found = np.empty(len(numbers))
    for start in range(0, len(numbers), PIECE):
        found[start : start + PIECE] = _uniform_piece(numbers[start : start + PIECE], words)
    return found


def keyed_normal(numbers: Ints, keys: Ints) -> Floats:
    """Standard normal numbers: `normal_of` the keyed uniform ones."""
    found = keyed_uniform(numbers, keys)
    for start in range(0, len(found), PIECE):
        found[start : start + PIECE] = normal_of(found[start : start + PIECE], Arrays())
    return found


def _uniform_piece(numbers: Ints, keys: Words) -> Floats:
    prime = np.uint64(PRIME)
    negative = numbers < 0
    size = np.where(negative, -1 - numbers, numbers).astype(np.uint64)
    rest, low = np.divmod(size, prime)
    over, high = np.divmod(rest, prime)
    parts = (low, high, over + np.uint64(4) * negative)
    words = []
    for word in range(2):
        x, number = np.zeros(len(numbers), np.uint64), 0
        for part, rounds in zip(parts, ROUNDS, strict=True):
            x = (x + part) % prime
            for _ in range(rounds):
                x = x + keys[word, number]
                x = x * x % prime * x % prime
                number += 1
        words.append(x)
    digits = words[0] * np.uint64(DIGITS) + words[1] // np.uint64(LOW)
    return np.asarray((digits.astype(np.float64) + 0.5) * UNIT)


class Arrays:
    """The operations that `normal_of` needs, for arrays; engines have their own."""

    def let(self, value: Any) -> Any:
        """A value that is used several times: where expressions are written out, under a name of its own."""
        return value

    def where(self, condition: Any, yes: Any, no: Any) -> Any:
        """One or the other, number by number."""
        return np.where(condition, yes, no)

    def sqrt(self, value: Any) -> Any:
        """The square root, which every machine rounds correctly."""
        return np.sqrt(value)


def normal_of(u: Any, operations: Any) -> Any:
    """The standard normal quantile of u by Wichura (1988), algorithm AS 241, to about 16 digits.

    Only + − × ÷ and the square root are used, in a fixed order: these are rounded alike on every machine,
    logarithms are not.
    """
    let, where = operations.let, operations.where
    q = let(u - 0.5)
    size = let(where(q < 0.0, -q, q))
    centre = let(0.180625 - q * q)
    tail = let(where(q < 0.0, u, 1.0 - u))
    root = let(operations.sqrt(-_logarithm(tail, operations)))
    near, far = let(root - 1.6), let(root - 5.0)
    outer = where(
        root <= 5.0,
        _polynomial(_C, near) / _polynomial(_D, near),
        _polynomial(_E, far) / _polynomial(_F, far),
    )
    outer = let(outer)
    middle = q * _polynomial(_A, centre) / _polynomial(_B, centre)
    return where(size <= 0.425, middle, where(q < 0.0, -outer, outer))


def _logarithm(x: Any, operations: Any) -> Any:
    """The natural logarithm of a number from 2⁻⁵² to ½, to the last digits.

    x = m·2^−e with m from √½ to √2, both exact; log m = 2·artanh((m−1)/(m+1)) by its series.
    """
    let, where = operations.let, operations.where
    exponent = x * 0.0
    for step in (32, 16, 8, 4, 2, 1):
        exponent = let(where(x < 2.0**-step, exponent + float(step), exponent))
        x = let(where(x < 2.0**-step, x * 2.0**step, x))
    exponent = let(where(x < 0.7071067811865476, exponent + 1.0, exponent))
    x = let(where(x < 0.7071067811865476, x * 2.0, x))
    t = let((x - 1.0) / (x + 1.0))
    square = let(t * t)
    return t * _polynomial(_SERIES, square) - exponent * 0.6931471805599453


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    """Horner's rule, the highest power first."""
    first, second, *others = coefficients
    return reduce(lambda total, following: total * x + following, others, x * first + second)


_SERIES = tuple(2.0 / power for power in range(23, 0, -2))
_A = (
    2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
    1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0,
)  # fmt: skip
_B = (
    5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
    5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0,
)  # fmt: skip
_C = (
    7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
    3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0,
)  # fmt: skip
_D = (
    1.05075007164441684324e-9, 5.475938084995344946e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
    6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0,
)  # fmt: skip
_E = (
    2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.6532189526576123093e-2,
    2.9656057182850489123e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0,
)  # fmt: skip
_F = (
    2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
    7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
    5.99832206555887937690e-1, 1.0,
)  # fmt: skip
