"""The records that look most like a person: by keys first, then by numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.kernels.hashing import distinct_rows
from sdckit.models.number_column import NumberColumn, number_columns
from sdckit.models.number_intruder import known_values
from sdckit.risk._known_values import KnownKeys, LinkedFiles, numbers_of
from sdckit.risk._moved_dates import intervals

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

ALL = 5_000  # persons up to whom everybody is asked
TARGETS = 2_000  # persons drawn from larger files
NEIGHBOURS = 20  # records that are asked
FAR = 1e3  # distance of another key, in standard deviations of the numbers
SHARE_OF_CELLS = 0.75  # of the records: with more combinations of keys a tree of records is as quick
FEW = 5  # combinations that are looked for first
AT_ONCE = 100  # persons whose combinations are looked up together
MOST_CELLS = 2_000_000  # combinations and
MOST_RECORDS = 30_000_000  # records that are looked at for all persons together before a tree is quicker


def nearest_records(
    files: LinkedFiles, keys: KnownKeys, numbers: Mapping[str, float]
) -> tuple[Ints, Bools, Ints]:
    """The records nearest to persons by numbers, within the same keys first; which is the own; the persons.

    Of large files persons drawn at random, the same in every order of the rows.
    """
    known = numbers_of(files, numbers)
    x, y, errors = known.true, known.released, known.errors
    together = intervals(files, known)
    if together is not None:
        x, y = number_columns(together[0]), number_columns(together[1])
        errors = np.append(errors, np.zeros(len(x) - len(errors)))
    n = files.original.height
    asked = np.arange(n) if n <= ALL else files.draw(TARGETS)
    pairs = tuple(zip(x, y, strict=True))
    scales = files.made(("scales", pairs), lambda: tuple(_scale(a.values, b.values) for a, b in pairs))
    of_asked = known_values(np.column_stack([c.values[asked] for c in x]), errors, files.identity[asked])
    persons = np.column_stack([_points(of_asked[:, v], scale) for v, scale in enumerate(scales)])
    images = true_in_released(keys, asked).astype(np.float64)
    released = _Released(y, scales, keys.released)
    cells = None
    if n > ALL and released.keys_decide(persons):
        lacks = np.column_stack([~column.present[asked] for column in x])
        made = ("near cells", keys, known.names)  # the same for all who know the same
        cells = files.made(made, lambda: _near_cells(released, images, lacks))
    near = _in_tree(released, persons, images) if cells is None else _in_cells(released, cells, persons)
    return near, np.asarray(near == files.own[asked, None]), asked


def true_in_released(keys: KnownKeys, persons: Ints | slice = slice(None)) -> Ints:
    """The true keys in the released categories, as far as the log knows them."""
    true = keys.true[persons].copy()
    for v, image in enumerate(keys.images):
        if image is not None:
            size = keys.sizes[v]
            mapped = image[np.where(true[:, v] < 0, size, true[:, v])]
            true[:, v] = np.where(mapped == size, -1, mapped)
    return true


@dataclass(frozen=True, eq=False)
class _Released:
    """The records: numbers, the scale of each, and codes of keys."""

    numbers: tuple[NumberColumn, ...]
    scales: tuple[tuple[float, float], ...]
    keys: Ints

    def points(self, rows: Ints | slice = slice(None)) -> Floats:
        """The numbers of some records, (rows, numbers)."""
        pairs = zip(self.numbers, self.scales, strict=True)
        return np.column_stack([_points(column.values[rows], scale) for column, scale in pairs])

    def keys_decide(self, persons: Floats) -> bool:
        """Whether another key, or a number that one of two lacks, outweighs any distance by numbers.

        Such a number adds (FAR − t)² where another key adds FAR². If no |t| is above T, the sum of all that
        this and the other numbers make differ is less than half a key where p·(2·T/FAR + 5·(T/FAR)²) < ½.
        """
        largest = float(np.abs(persons[persons < FAR]).max(initial=0.0))
        for column, scale in zip(self.numbers, self.scales, strict=True):
            ends = np.array([np.fmin.reduce(column.values), np.fmax.reduce(column.values)])
            points = _points(ends, scale)
            largest = max(largest, float(np.abs(points[points < FAR]).max(initial=0.0)))
        t = largest / FAR
        return len(self.numbers) * (2 * t + 5 * t * t) < 0.5


def _scale(true: Floats, released: Floats) -> tuple[float, float]:
    """Mean and standard deviation of a number in both files."""
    there = [values[np.isfinite(values)] for values in (true, released)]
    size = sum(values.size for values in there)
    if not size:
        return 0.0, 1.0
    middle = sum(float(values.sum()) for values in there) / size
    spread = sqrt(sum(float(((values - middle) ** 2).sum()) for values in there) / size)
    return middle, spread or 1.0


def _points(values: Floats, scale: tuple[float, float]) -> Floats:
    """Numbers on one scale; what is missing is far from everything else."""
    return np.where(np.isfinite(values), np.arcsinh((values - scale[0]) / scale[1]), FAR)


def _in_tree(released: _Released, persons: Floats, images: Floats) -> Ints:
    """The nearest of all records, by numbers and keys in one tree."""
    from scipy.spatial import cKDTree

    records = np.hstack([released.points(), FAR * released.keys])
    few = len(records) <= ALL
    tree = cKDTree(records, balanced_tree=few, compact_nodes=few)
    count = min(NEIGHBOURS, len(records))
    found = tree.query(np.hstack([persons, FAR * images]), k=count)[1]
    return np.asarray(found, dtype=np.int64).reshape(len(persons), count)


class _NearCells(NamedTuple):
    """The combinations of keys whose records are looked at, for each person, and these records."""

    cells: Ints  # of one person after the other
    start: Ints  # (persons + 1,) where those of each begin
    apart: Floats  # squared distance of each by keys
    rows: Ints  # records, sorted by combination
    first: Ints  # (combinations + 1,) where the records of each begin


def _near_cells(released: _Released, images: Floats, lacks: Bools) -> _NearCells | None:
    """The combinations of keys and of missing numbers with the nearest records; None where there are many.

    `lacks`: which numbers of a person are not known. Records whose keys and missing numbers are like the
    person's come first, then those with one difference of 1, and so on, whatever the numbers: so the nearest
    combinations that have enough records, and those as near, are all. Squared distances of codes are whole.
    """
    from scipy.spatial import cKDTree

    missing = [(~column.present).astype(np.int64) for column in released.numbers]
    columns = [*released.keys.T, *missing]
    first, cell = distinct_rows(columns)
    if len(first) > SHARE_OF_CELLS * len(cell):
        return None
    codes = np.column_stack([column[first] for column in columns]).astype(np.float64)
    size, count = np.bincount(cell), min(NEIGHBOURS, len(cell))
    images, q = np.hstack([images, lacks]), images.shape[1]
    tree = cKDTree(codes)
    reach, nearest = _reaches(tree, images, size, count)
    several = np.flatnonzero(reach >= 1.0)  # all others need but the records with the same
    lists, looked_at = [*nearest[:, None]], 0
    for some in np.split(several, np.arange(AT_ONCE, several.size, AT_ONCE)):
        for i, found in zip(some, tree.query_ball_point(images[some], reach[some]), strict=True):
            lists[i] = np.asarray(found)
            looked_at += len(found)
        if looked_at > MOST_CELLS:
            return None
    near, number = np.concatenate(lists).astype(np.int64), np.array([len(found) for found in lists])
    if int(size[near].sum()) > MOST_RECORDS:
        return None
    is_near = np.zeros(len(codes), dtype=np.bool_)
    is_near[near] = True
    place = np.cumsum(is_near) - 1
    rows = np.flatnonzero(is_near[cell])
    in_order = place[cell[rows]]
    rows = rows[np.argsort(in_order.astype(np.uint16) if place[-1] < 2**16 else in_order, kind="stable")]
    return _NearCells(
        place[near],
        np.append(0, np.cumsum(number)),
        FAR**2 * ((codes[near, :q] - np.repeat(images[:, :q], number, axis=0)) ** 2).sum(axis=1),
        rows,
        np.append(0, np.cumsum(size[is_near])),
    )


def _reaches(tree: "cKDTree", images: Floats, size: Ints, count: int) -> tuple[Floats, Ints]:
    """How far from each person there are enough records, and the nearest combination.

    Few combinations are looked for first: many persons have enough records with the same keys.
    """
    far, nearest = np.full(len(images), np.nan), np.zeros(len(images), dtype=np.int64)
    for k in (1, FEW, count):
        left = np.flatnonzero(np.isnan(far))
        apart, found = tree.query(images[left], k=np.arange(1, min(k, len(size)) + 1))
        nearest[left] = found[:, 0]
        enough = np.cumsum(size[found], axis=1) >= count
        there = enough.any(axis=1)
        far[left[there]] = apart[there, enough[there].argmax(axis=1)]
    return np.sqrt(np.round(far**2) + 0.5), nearest


def _in_cells(released: _Released, near: _NearCells, persons: Floats) -> Ints:
    """The nearest of the records that are near by their keys: the same as of all."""
    from sdckit.kernels.nearest_in_cells import nearest_in_cells

    count = min(NEIGHBOURS, len(released.keys))
    points = released.points(near.rows)
    found = nearest_in_cells(persons, near.cells, near.start, near.apart, points, near.first, count)
    return np.asarray(near.rows[found])
