"""Secret numbers: SipHash as published, and permutations that are one-to-one and look like chance."""

import numpy as np
import pytest

from sdckit.kernels import secret_numbers
from sdckit.kernels.secret_numbers import halves, secret_places, secret_uniform, siphash

KEY = np.frombuffer(bytes(range(16)), dtype="<u8").copy()


def naive_siphash(key: bytes, message: bytes) -> int:
    """SipHash-2-4 of 8 bytes in whole numbers of Python, after Aumasson & Bernstein (2012), section 2."""
    k0, k1 = (int.from_bytes(key[i : i + 8], "little") for i in (0, 8))
    v = [
        k0 ^ int.from_bytes(b"somepseu", "big"),
        k1 ^ int.from_bytes(b"dorandom", "big"),
        k0 ^ int.from_bytes(b"lygenera", "big"),
        k1 ^ int.from_bytes(b"tedbytes", "big"),
    ]

    def turned(x, by):
        return (x << by | x >> (64 - by)) % 2**64

    def rounds(times):
        for _ in range(times):
            for a, b, c, d, s, t in ((0, 1, 2, 3, 13, 16), (2, 1, 0, 3, 17, 21)):
                v[a], v[c] = (v[a] + v[b]) % 2**64, (v[c] + v[d]) % 2**64
                v[b], v[d] = turned(v[b], s) ^ v[a], turned(v[d], t) ^ v[c]
                v[a] = turned(v[a], 32)

    for block in (int.from_bytes(message, "little"), 8 << 56):
        v[3] ^= block
        rounds(2)
        v[0] ^= block
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def test_siphash_is_the_published_one():
    message = np.frombuffer(bytes(range(8)), dtype="<u8")
    assert int(siphash(KEY[:1], KEY[1:], message)[0]) == 0x93F5F5799A932462  # vector 8 of the reference


def test_siphash_is_that_of_plain_python():
    messages = np.random.default_rng(1).integers(0, 2**64, 50, dtype=np.uint64)
    key = np.array([3, 2**64 - 5], dtype=np.uint64)
    want = [naive_siphash(key.tobytes(), message.tobytes()) for message in messages]
    assert siphash(key[:1], key[1:], messages).tolist() == want


@pytest.mark.parametrize("digits", [1, 2, 3, 4])
@pytest.mark.parametrize("many", [False, True])
def test_places_are_a_permutation(digits, many):
    size = 9 * 10**digits
    assert np.prod(halves(digits)) == size
    found = secret_places(np.arange(size), KEY, digits, many=many)
    assert sorted(found.tolist()) == list(range(size))


def test_rounds_are_those_of_a_feistel_network():
    low, high = halves(5)
    want = []
    for number in (0, 1, 899_999, 123_456):
        left, right = divmod(number, high)
        for i in range(10):
            size = (low, high)[i % 2]
            drawn = naive_siphash(KEY.tobytes(), (right | i << 56).to_bytes(8, "little"))
            left, right = right, (left + drawn) % size
        want.append(left * high + right)
    assert secret_places(np.array([0, 1, 899_999, 123_456]), KEY, 5).tolist() == want


def test_compiled_code_gives_the_same(monkeypatch):
    numbers = np.random.default_rng(2).integers(-(2**63), 2**63 - 1, 20_000)
    small = numbers % (9 * 10**14)
    monkeypatch.setattr(secret_numbers, "COMPILED", 10**9)
    monkeypatch.setattr(secret_numbers, "PIECE", 700)
    assert (secret_uniform(numbers, KEY) == secret_uniform(numbers, KEY, many=True)).all()
    assert (secret_places(small, KEY, 14) == secret_places(small, KEY, 14, many=True)).all()


def test_neighbours_and_keys_have_nothing_in_common():
    n = 50_000
    other = KEY + np.uint64(1)
    numbers, bound = np.arange(n), 4.5 / np.sqrt(n)
    one = secret_places(numbers, KEY, 6)
    for compared in (numbers, np.roll(one, 1), secret_places(numbers, other, 6), one % 10):
        values = one // 10 if compared is not numbers and compared.max() < 10 else one
        assert abs(np.corrcoef(values, compared)[0, 1]) < bound
    drawn = secret_uniform(numbers, KEY)
    assert 0 < drawn.min() < drawn.max() < 1
    assert abs(drawn.mean() - 0.5) < 4.5 / np.sqrt(12 * n)
