"""Numbers that nobody can compute without the key, not even from other numbers and their results.

SipHash-2-4 (Aumasson & Bernstein 2012) of whole numbers, and from it a permutation of a range: a Feistel
network of ten rounds on the two halves of a number, as in format-preserving encryption (Black & Rogaway 2002;
NIST SP 800-38G, method FF1, whose rounds use AES).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Floats, Ints

Words = npt.NDArray[np.uint64]

ROUNDS = 10
PIECE = 1 << 13  # numbers that stay in the processor's cache
COMPILED = 20_000  # from this many numbers on, compiled code is worth its start


def secret_uniform(numbers: Ints, key: Words, *, many: bool = False) -> Floats:
    """Numbers in (0, 1), 52 random bits, for whole numbers of 64 bits; key: two words.

    many: more numbers come in other calls, so that compiled code is worth its start.
    """
    numbers = np.ascontiguousarray(numbers, dtype=np.int64)
    if many or len(numbers) >= COMPILED:
        from sdckit.kernels.secret_rounds import compiled_uniform

        return compiled_uniform(numbers, key)
    hashed = siphash(key[:1], key[1:], numbers.view(np.uint64))
    return np.asarray(((hashed >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52)


def secret_places(numbers: Ints, key: Words, digits: int, *, many: bool = False) -> Ints:
    """A permutation of the whole numbers from 0 to 9·10^digits − 1; key and many as before."""
    low, high = halves(digits)
    numbers = np.ascontiguousarray(numbers, dtype=np.int64)
    if many or len(numbers) >= COMPILED:
        from sdckit.kernels.secret_rounds import compiled_places

        return compiled_places(numbers, key, low, high)
    found = np.empty(len(numbers), dtype=np.int64)
    for start in range(0, len(numbers), PIECE):
        found[start : start + PIECE] = _places_piece(numbers[start : start + PIECE], key, low, high)
    return found


def halves(digits: int) -> tuple[int, int]:
    """Two numbers of about the same size whose product is 9·10^digits."""
    root = int(10 ** (digits // 2))
    return (3 * root, 3 * root) if digits % 2 == 0 else (10 * root, 9 * root)


def _places_piece(numbers: Ints, key: Words, low: int, high: int) -> Ints:
    sizes = np.uint64(low), np.uint64(high)
    left, right = np.divmod(numbers.astype(np.uint64), sizes[1])
    for number in range(ROUNDS):
        drawn = siphash(key[:1], key[1:], right | np.uint64(number << 56))
        left, right = right, (left + drawn % sizes[number % 2]) % sizes[number % 2]
    return np.asarray((left * sizes[1] + right).astype(np.int64))


def siphash(first: Any, second: Any, message: Any) -> Any:
    """SipHash-2-4 of messages of 8 bytes under two words of a key: of arrays, in compiled code of numbers."""
    a = first ^ np.uint64(0x736F6D6570736575)
    b = second ^ np.uint64(0x646F72616E646F6D)
    c = first ^ np.uint64(0x6C7967656E657261)
    d = second ^ np.uint64(0x7465646279746573) ^ message
    end = np.uint64(8 << 56)  # the last block: how many bytes there were
    for number in range(8):
        if number == 2:
            a = a ^ message
            d = d ^ end
        if number == 4:
            a = a ^ end
            c = c ^ np.uint64(0xFF)
        a, c = a + b, c + d
        b, d = (b << np.uint64(13)) | (b >> np.uint64(51)), (d << np.uint64(16)) | (d >> np.uint64(48))
        b, d = b ^ a, d ^ c
        a = (a << np.uint64(32)) | (a >> np.uint64(32))
        a, c = a + d, c + b
        b, d = (b << np.uint64(17)) | (b >> np.uint64(47)), (d << np.uint64(21)) | (d >> np.uint64(43))
        b, d = b ^ c, d ^ a
        c = (c << np.uint64(32)) | (c >> np.uint64(32))
    return a ^ b ^ c ^ d
