"""Whether the counts of two pictures, subtracted from each other, give a count that is too small to show.

Age in fives and in tens: with 20 aged 0 to 4 in one picture and 22 aged 0 to 9 in the other, 2 are 5 to 9.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.data.microdata import Microdata
from sdckit.engine import tables
from sdckit.report.disclosure import FEW, OTHER

Picture = Mapping[str, Any]  # as `mosaics` and `histograms` make them


def small_difference(files: Sequence[Microdata], new: Picture, shown: Iterable[Picture]) -> bool:
    """Whether a picture with one of those already shown gives away 1 to 4 records of a file.

    Tiles and bars of two pictures are compared, not of three and more.
    """
    return any(few_by_subtraction(_both(data, new, old)) for old in shown for data in files)


def few_by_subtraction(counts: Ints) -> bool:
    """Whether 1 to 4 records follow from the row and column sums, all 5 or more, of a table.

    Which cells are empty is taken to be known, as that nobody aged 0 to 4 is 10 to 19. Some columns less
    some rows that lie inside of these are the records in the columns and outside of the
    rows. The smallest such difference that a cell is part of is a minimum cut: columns lead to rows by what
    they share, and a row leads to all its columns, which must be taken along.

    >>> few_by_subtraction(np.array([[20, 0], [2, 9], [0, 30]]))  # 22 less 20
    True
    >>> few_by_subtraction(np.array([[20, 3], [2, 9], [4, 30]]))  # no row lies inside of a column
    False
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, maximum_flow

    n = len(counts)
    edges = np.zeros((n + counts.shape[1],) * 2, dtype=np.int32)
    edges[n:, :n] = np.minimum(counts.T, FEW)
    # a row and a column that no small cut separates are one from then on, as if they shared many records
    part = connected_components(csr_array(edges >= FEW), directed=False)[1]
    edges[:n, n:] = np.where(counts > 0, FEW, 0)
    graph = csr_array(edges)
    for i, j in np.argwhere((counts > 0) & (counts < FEW)).tolist():
        if part[i] != part[n + j]:
            if maximum_flow(graph, n + j, i).flow_value < FEW:
                return True
            part[part == part[n + j]] = part[i]
    return False


def _both(data: Microdata, new: Picture, old: Picture) -> Ints:
    """Records by the tile or bar of both pictures."""
    columns = [c for i, picture in enumerate((new, old)) for c in _columns(picture, i)]
    names = [f"{i}_{j}" for i, picture in enumerate((new, old)) for j in range(len(_columns(picture, i)))]
    cells = tables.count_cells(data.table.select(*columns), names, None)
    rows, places = (_places(data, picture, cells, i) for i, picture in enumerate((new, old)))
    counts = np.zeros((rows.max() + 1, places.max() + 1), dtype=np.int64)
    np.add.at(counts, (rows, places), cells[tables.RECORDS].to_numpy())
    return counts


def _columns(picture: Picture, i: int) -> list[nw.Expr]:
    """What tells the place of a record: the keys of a mosaic, the number of the bar in a histogram."""
    if "names" in picture:
        return [nw.col(name).alias(f"{i}_{j}") for j, name in enumerate(picture["names"])]
    value = nw.col(picture["name"]).cast(nw.Float64)
    bar = nw.sum_horizontal(*[(value >= edge).cast(nw.Int64) for edge in picture["edges"]])
    return [nw.when(~value.is_null()).then(bar).alias(f"{i}_0")]


def _places(data: Microdata, picture: Picture, cells: pl.DataFrame, i: int) -> Ints:
    """The tile or bar of each row of the cells, as a number."""
    if "names" in picture:
        axes = []
        for j, (name, levels) in enumerate(
            zip(picture["names"], (picture["first"], picture["second"]), strict=True)
        ):
            texts = [data.labels.text(name, value) for value in cells[f"{i}_{j}"]]
            axes.append([text if text in levels else OTHER for text in texts])
        places = list(zip(*axes, strict=True))
    else:
        bars = cells[f"{i}_0"]
        missing = int(cells[tables.RECORDS].filter(bars.is_null()).sum())
        # no picture shows how many values are missing: a few of them are put anywhere
        places = (bars.fill_null(0) if missing < FEW else bars).to_list()
    number = {place: at for at, place in enumerate(dict.fromkeys(places))}
    return np.array([number[place] for place in places], dtype=np.int64)
