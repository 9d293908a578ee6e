"""Rank swapping and rank groups in plain Python."""

import random


def naive_partners(n: int, window: int, draw: random.Random) -> list[int]:
    """From the lowest rank up, each unpaired rank draws one of the unpaired ranks above it in its window."""
    partner: dict[int, int] = {}
    for i in range(n):
        free = [j for j in range(i + 1, min(i + window, n - 1) + 1) if j not in partner]
        if i not in partner and free:
            j = draw.choice(free)
            partner[i], partner[j] = j, i
    return [partner.get(i, i) for i in range(n)]


def naive_largest_group(n: int, share: float) -> int:
    """The most consecutive ranks with |i/n − j/n| < share between the first and the last (at least 1)."""
    size = 1
    while size < n and size / n < share - 1e-12:
        size += 1
    return size
