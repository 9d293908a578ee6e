"""Who changes places with whom: ranks within a window, and households of one profile in different areas."""

import numpy as np

from sdckit._support.arrays import Floats, Ints
from sdckit.kernels._jit import inner, jit
from sdckit.kernels.hash_table import mix


def swap_in_window(n: int, window: int, seed: int) -> Ints:
    """For each of n ranks the rank it changes places with: see `draw_partners`."""
    partner = np.arange(n)
    draw_partners(partner, window, seed)
    return partner


@jit
def draw_partners(partner: Ints, window: int, seed: int) -> None:
    """Fill in for each rank the one it changes places with, at most `window` (1 or more) away; pairs, random.

    `partner` comes with the ranks 0, 1, … themselves. From the lowest up, each rank without a partner draws
    one uniformly among those above it, within the window, that have none. The highest rank of the window is
    always free, or the window reaches the end and the ranks left are counted; so drawing until a free one
    comes ends, after O(1) draws a rank on average. If n is odd one rank keeps its place.
    """
    n = partner.shape[0]
    left = n  # ranks without a partner
    draws = 0
    for i in range(n):
        if partner[i] != i:
            continue
        left -= 1
        if left == 0:
            break
        above = min(window, n - 1 - i)
        j = i
        while partner[j] != j or j == i:
            word = mix(np.uint64(seed) + np.uint64(draws))
            draws += 1
            j = i + 1 + int((word >> np.uint64(11)) * 2.0**-53 * above)
        partner[i], partner[j] = j, i
        left -= 1


@jit
def pair_households(queue: Ints, levels: Ints, start: Ints, stop: Ints, drawn: Floats, partner: Ints) -> Ints:
    """Give places of the queue, one after the other, a partner; returns in which turn each place got one.

    Places 0 … n−1 are households sorted by profile, then area from coarse to fine. start and stop are
    (depth+1, n): the first place of the household's profile (row 0) and of its area at levels 0 … depth−1
    (row level+1) within the profile, and one after the last. A place of the queue looks for a free one
    outside its area at its level: first within the area one level up, then ever wider, last in the profile.
    partner (n,) comes as −1 and is filled in, as are the turns; a place that is taken already, or finds none,
    is passed over. Partners are uniform over places, by the numbers in [0, 1) that the queue has drawn; a
    taken place hands on to the next free one.
    """
    n = partner.shape[0]
    following = np.arange(n + 1)  # the next free place from here on, as a forest with shortened paths
    turns = np.full(n, -1)
    for turn in range(queue.shape[0]):
        me = queue[turn]
        if partner[me] >= 0:
            continue
        inside = levels[turn] + 1
        low, high = start[inside, me], stop[inside, me]
        for around in range(inside - 1, -1, -1):
            first, last = start[around, me], stop[around, me]
            other = free_outside(following, first, low, high, last, drawn[turn])
            if other >= 0:
                partner[me], partner[other] = other, me
                turns[me], turns[other] = turn, turn
                following[me], following[other] = me + 1, other + 1
                break
    return turns


@inner
def free_outside(following: Ints, first: int, low: int, high: int, last: int, uniform: float) -> int:
    """A free place in [first, low) or [high, last), from a random one on and around; −1 if there is none."""
    room = (low - first) + (last - high)
    if room == 0:
        return -1
    drawn = first + int(uniform * room)
    begin = drawn if drawn < low else drawn + (high - low)
    place = next_free(following, begin)
    if low <= place < high:
        place = next_free(following, high)
    if place < last:
        return place
    place = next_free(following, first)
    if low <= place < high:
        place = next_free(following, high)
    return place if place < last else -1


@inner
def next_free(following: Ints, place: int) -> int:
    """The first free place from here on; n if there is none."""
    end = place
    while following[end] != end:
        end = following[end]
    while place != end:
        step = following[place]
        following[place] = end
        place = step
    return end
