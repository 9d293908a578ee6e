"""Suppression that asks for k records on some subsets of the keys only: an intruder who knows few keys."""

from collections.abc import Sequence

import numpy as np

from sdckit._support.arrays import Codes, Floats
from sdckit.kernels.suppression.counts import group_sizes
from sdckit.kernels.suppression.patterns import Bools, value_words
from sdckit.kernels.suppression.release import distinct_rows, draw_records, split_records
from sdckit.kernels.suppression.sound import Progress, UnreachableError, suppress_cells

Subsets = Sequence[Sequence[int]]


def suppress_on_subsets(
    codes: Codes,
    subsets: Subsets,
    *,
    k: int,
    cost: Floats,
    rng: np.random.Generator,
    effort: float = 1.0,
    progress: Progress | None = None,
) -> Bools:
    """Values [n, q] to suppress so that on every subset of keys each pattern occurs k times.

    codes [n, q]: the records, missing −1. Two ways are tried, each subset in turn until none is violated, and
    all keys at once; then single values are given back that no subset needs. The cheaper result is taken.
    """
    wanted = _largest(subsets)
    every = sorted({j for s in wanted for j in s})
    each = _in_turn(codes, wanted, k, cost, rng, effort / len(wanted), progress)
    together = codes.copy()
    try:
        _suppress(together, every, k, cost, rng, effort, progress)
    except UnreachableError:  # the keys that must stay are too rare together, not on a subset
        together = each
    found = [_give_back(codes, now, wanted, k, cost, rng) for now in (each, together)]
    masks = [(now < 0) & (codes >= 0) for now in found]
    prices = np.where(np.isfinite(cost), cost, 0.0)
    return masks[int(np.argmin([float((mask @ prices).sum()) for mask in masks]))]


def _largest(subsets: Subsets) -> list[tuple[int, ...]]:
    """Without subsets that are part of another: k records on some keys are k on fewer."""
    sets = sorted({frozenset(s) for s in subsets}, key=lambda s: (-len(s), sorted(s)))
    kept: list[frozenset[int]] = []
    for s in sets:
        if not any(s <= other for other in kept):
            kept.append(s)
    return [tuple(sorted(s)) for s in kept]


def _in_turn(
    codes: Codes,
    subsets: Subsets,
    k: int,
    cost: Floats,
    rng: np.random.Generator,
    effort: float,
    progress: Progress | None,
) -> Codes:
    now = codes.copy()
    while not is_sound_on(now, subsets, k):
        for subset in subsets:
            _suppress(now, subset, k, cost, rng, effort, progress)
    return now


def _suppress(
    now: Codes,
    subset: Sequence[int],
    k: int,
    cost: Floats,
    rng: np.random.Generator,
    effort: float,
    progress: Progress | None,
) -> None:
    """Blank values of `now` until each pattern on a subset of the keys occurs k times."""
    part = np.ascontiguousarray(now[:, list(subset)])
    first, counts, group = distinct_rows(part)
    try:
        release = suppress_cells(
            part[first], counts, k=k, cost=cost[list(subset)], effort=effort, progress=progress
        )
    except UnreachableError as error:
        raise UnreachableError(np.flatnonzero(np.isin(group, error.cells))) from None
    split = split_records(release, group)
    blank = draw_records(release, group, split, rng.random(len(group))[split], split)
    for position, j in enumerate(subset):
        now[blank >> position & 1 == 1, j] = -1


def is_sound_on(codes: Codes, subsets: Subsets, k: int) -> bool:
    """Whether each pattern occurs k times on every subset of the keys."""
    ones = np.ones(len(codes), np.int64)
    parts = (np.ascontiguousarray(codes[:, list(s)]) for s in subsets)
    return all(group_sizes(part, ones).min(initial=k) >= k for part in parts)


def _give_back(
    codes: Codes, now: Codes, subsets: Subsets, k: int, cost: Floats, rng: np.random.Generator
) -> Codes:
    """Show single values again where no subset falls below k, dearest keys first, records at random."""
    words = value_words(codes.max(axis=0, initial=-1).astype(np.int64), 1)
    prints = np.stack(
        [sum((words[j][now[:, j] + 1] for j in s), np.zeros(len(now), np.uint64)) for s in subsets], axis=1
    )
    counts = []
    for column in prints.T:
        values, size = np.unique(column, return_counts=True)
        counts.append(dict(zip(values.tolist(), size.tolist(), strict=True)))
    with_key = [[s for s, subset in enumerate(subsets) if j in subset] for j in range(codes.shape[1])]
    rows, keys = np.nonzero((now < 0) & (codes >= 0))
    order = np.lexsort((rng.random(len(rows)), -cost[keys]))
    shown = now.copy()
    for row, key in zip(rows[order].tolist(), keys[order].tolist(), strict=True):
        step = int(words[key][codes[row, key] + 1]) - int(words[key][0])
        moves = [(s, int(prints[row, s]), (int(prints[row, s]) + step) % (1 << 64)) for s in with_key[key]]
        if all(
            (counts[s][old] == 1 or counts[s][old] > k) and counts[s].get(new, 0) + 1 >= k
            for s, old, new in moves
        ):
            for s, old, new in moves:
                counts[s][old] -= 1
                counts[s][new] = counts[s].get(new, 0) + 1
                prints[row, s] = new
            shown[row, key] = codes[row, key]
    # words may coincide; what was there before is sound in any case
    return shown if is_sound_on(shown, subsets, k) else now
