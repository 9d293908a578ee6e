"""How much a hidden variable depends on released columns, alone and together, whatever its values mean."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from sdckit._support.arrays import Ints
from sdckit.risk._released_columns import BINS

GROUPS, VALUES = 20, 16  # of a column and of the hidden variable where many columns are compared


def binned(codes: Ints) -> Ints:
    """Codes in bins of about as many records each."""
    rank = np.searchsorted(np.sort(codes), codes)
    return rank * BINS // max(len(codes), 1)


def coarse(codes: Ints, size: int, groups: int) -> Ints:
    """Codes below a number: as they are where they are few, else in bins of their order."""
    return codes if size <= groups else binned(codes) * groups // BINS


def dependence(x: Ints, size: int, codes: Ints, groups: int) -> float:
    """How often a value drawn from the others in the same group is the own (Goodman & Kruskal's tau)."""
    group_sizes = np.bincount(codes, minlength=groups)
    cells, counts = np.unique(codes * size + x, return_counts=True)
    others = np.maximum(group_sizes[cells // size] - 1, 1)
    return float((counts * (counts - 1) / others).sum())


def agreement(x: Ints, codes: Ints, groups: int) -> float:
    """The same for few values and groups: each record asks its group how many others have its value."""
    pairs = codes * VALUES + x
    alike = np.bincount(pairs, minlength=groups * VALUES).take(pairs) - 1
    others = np.bincount(codes, minlength=groups).take(codes) - 1
    return float((alike / np.maximum(others, 1)).sum())


def telling_together(x: Ints, codes: Mapping[str, Ints], count: int, most: int) -> list[tuple[str, ...]]:
    """Sets of so many columns, first those that tell most of x beyond what the best of them tells alone.

    Of two codes whose sum is the hidden one, neither depends on it. most: columns that are looked at.
    """
    alone = {c: agreement(x, of, GROUPS) for c, of in codes.items()}
    kept = sorted(codes, key=lambda c: -alone[c])[:most]
    sizes = {c: int(codes[c].max(initial=0)) + 1 for c in kept}
    scores: dict[tuple[str, ...], float] = {}
    for columns in combinations(sorted(kept, key=list(codes).index), count):
        together, groups = codes[columns[0]], sizes[columns[0]]
        for c in columns[1:]:
            together, groups = together * sizes[c] + codes[c], groups * sizes[c]
        scores[columns] = agreement(x, together, groups) - max(alone[c] for c in columns)
    return sorted(scores, key=lambda columns: -scores[columns])
