"""Categories that moved to a few others only, as to neighbouring districts: more than the attack knows."""

import numpy as np

from sdckit._support.arrays import Ints
from sdckit.models.category_channel import CategoryChannel
from sdckit.risk._kept_parts import blocks_of_moves
from sdckit.risk._known_values import (
    SURE,
    CountedPairs,
    KnownKeys,
    LinkedFiles,
    changed_like_numbers,
    moved_nearby,
)

FEWER = 2.0  # times as often as by chance two records of the same category meet again in another one
ENOUGH = 0.05  # share of the persons whose category moved


def moved_to_few(files: LinkedFiles, keys: KnownKeys, counted: CountedPairs) -> tuple[str, ...]:
    """The keys whose categories went to far fewer others than moves to anywhere would have.

    An intruder who knows the map of districts, or how codes were exchanged, looks among a few categories; the
    attack looks among all, and what a category became cannot be learned from the pairs without a trace of
    each of them. Numbers that moved nearby and are attacked as numbers are left out.
    """
    nearby = {c for c in changed_like_numbers(files, keys, counted) if moved_nearby(files, c)}
    linked = np.flatnonzero(files.own >= 0)
    own = files.own[linked]
    found = []
    for j, (name, channel) in enumerate(zip(keys.names, counted.channels, strict=True)):
        if not channel.moves or not channel.learnable or name in nearby:
            continue
        true, shown = keys.true[linked, j], keys.released[own, j]
        image = channel.images(true)
        moved = (image != shown) & (image < channel.size) & (shown >= 0)
        if moved.mean() <= ENOUGH:
            continue
        blocks = blocks_of_moves(true, shown, (true != shown) & (true >= 0) & (shown >= 0), channel.size)
        if _meet_again(image[moved], shown[moved], channel, blocks):
            found.append(name)
    return tuple(found)


def _meet_again(image: Ints, shown: Ints, channel: CategoryChannel, blocks: Ints | None) -> bool:
    """Whether records of the same category meet again in another one far more often than by chance.

    Of m records of a category C(m, 2)·Σp² pairs are expected to meet, p being the share of each other
    category in its block among those to which records moved.
    """
    size = channel.size
    pull = channel.pull[:size]
    block = np.zeros(size, dtype=np.int64) if blocks is None else blocks
    sums = [np.bincount(block, pull**power) for power in (1, 2, 3)]
    records = np.bincount(image, minlength=size).astype(np.float64)
    rest = sums[0][block] - pull
    rest = np.where(rest > 0, rest, np.inf)  # no record can move from a category alone in its block
    two, three = ((sums[k - 1][block] - pull**k) / rest**k for k in (2, 3))
    two, three = np.clip(two, 0.0, 1.0), np.clip(three, 0.0, 1.0)
    pairs = records * (records - 1) / 2
    triples = records * (records - 1) * (records - 2) / 6
    expected = float((pairs * two).sum())
    variance = float((pairs * (two - two**2) + 6 * triples * np.maximum(three - two**2, 0.0)).sum())
    counts = np.unique(image * size + shown, return_counts=True)[1].astype(np.float64)
    met = float((counts * (counts - 1) / 2).sum())
    return met > FEWER * expected and met - expected > SURE * max(np.sqrt(variance), 1.0)
