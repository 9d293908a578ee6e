"""CrossTable: one or two variables counted in several files over the same categories, for mosaic plots."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sdckit._support.categories import (
    MISSING,
    Place,
    Sizes,
    level_sizes,
    merge_levels,
    rare_levels,
    rest_name,
)
from sdckit._support.messages import did_you_mean, join_names
from sdckit.data.microdata import Microdata
from sdckit.engine import tables
from sdckit.errors import ColumnError, DataError, OptionError

FEW = 5  # public: the smallest number of records that may be shown
MOST = 8  # categories of a variable; the smaller ones are put together

Cells = Mapping[Place, Sizes]  # records, weight


@dataclass(frozen=True, slots=True)
class CrossTable:
    """The variables' titles, their categories in order, and by file the records and the weight of each cell.

    rest: what the categories that were put together are called, one name for each variable.
    """

    titles: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    cells: tuple[Cells, ...]
    rest: tuple[str, ...]

    @property
    def files(self) -> tuple[dict[Place, float], ...]:
        """The (weighted) size of each cell in each file.

        To twelve figures: the last ones of a sum depend on its order, which threads decide.
        """
        return tuple(
            {place: float(f"{sizes[1]:.12g}") for place, sizes in cells.items()} for cells in self.cells
        )

    @property
    def merged_share(self) -> float:
        """The largest share of the records of a file that only show as put together."""
        shares = []
        for cells in self.cells:
            total = sum(sizes[0] for sizes in cells.values()) or 1.0
            hidden = sum(sizes[0] for place, sizes in cells.items() if any(map(str.__eq__, place, self.rest)))
            shares.append(hidden / total)
        return max(shares)


def tabulated(
    files: Sequence[Microdata], variables: str | Sequence[str], *, public: bool = False
) -> CrossTable:
    """Count one or two variables in files of the same kind, in labels, missing values last.

    Of more than nine categories the eight largest stay and the others are put together. `public` puts
    categories together until no cell of 1 to 4 records is left in any file. Sizes are sums of weights where
    there are weights.
    """
    names = (variables,) if isinstance(variables, str) else tuple(variables)
    _check(files, names)
    found = cross_table(files[0], names, [_cells(data, names) for data in files], least=FEW if public else 0)
    if found is None:
        raise DataError("There are too few records for a public mosaic of these variables.")
    return found


def cross_table(
    first: Microdata, names: tuple[str, ...], cells: Sequence[Cells], *, least: int = 0
) -> CrossTable | None:
    """The cells of several files with few categories, in order; None where there are too few records.

    least: categories are put together until every cell of every file has so many records, or none. That goes
    for the whole table at once: if a category stayed elsewhere in it, its total less what is shown would be
    the count to hide.
    """
    real = [{place[axis] for found in cells for place in found} for axis in range(len(names))]
    rest = tuple(map(rest_name, real))
    merged = list(cells)
    for axis in range(len(names)):
        beyond = rare_levels(_sums(merged, axis), MOST)
        merged = [merge_levels(found, axis, beyond, rest[axis]) for found in merged]
    while small := {p for found in merged for p, sizes in found.items() if 0 < sizes[0] < least}:
        sums = [_sums(merged, axis) for axis in range(len(names))]
        choices = [(sums[i][p[i]], i, p[i]) for p in small for i in range(len(names)) if len(sums[i]) > 1]
        if not choices:
            return None
        _, axis, name = min(choices)
        own, last = sums[axis], rest[axis]
        partner = min((n != last, own[n], n) for n in own if n != name)[2]  # the rest, or the next smallest
        merged = [merge_levels(found, axis, {name, partner}, last) for found in merged]
    levels = tuple(_ordered(first, name, merged, axis, rest[axis]) for axis, name in enumerate(names))
    return CrossTable(tuple(first.labels.name(n) for n in names), levels, tuple(merged), rest)


def _check(files: Sequence[Microdata], names: tuple[str, ...]) -> None:
    data = files[0]
    if len(names) not in (1, 2) or len(set(names)) < len(names):
        raise OptionError("A mosaic shows one variable or two.", given=join_names(names) or "none")
    for name in names:
        if name not in data.columns:
            raise ColumnError(f"There is no column {name!r}.", hint=did_you_mean(name, data.columns))
        if name in data.roles.direct:
            raise OptionError(f"{name!r} is a direct identifier, which is not drawn.")
        if not all(name in other.columns for other in files):
            raise ColumnError(f"A protected file no longer has the column {name!r}.")


def _cells(data: Microdata, names: tuple[str, ...]) -> Cells:
    """Cells by the text of their categories; columns get names of ours, so that no name can collide."""
    import narwhals as nw

    weight = data.roles.weight
    keys = [f"key_{i}" for i in range(len(names))]
    columns = [nw.col(name).alias(key) for key, name in zip(keys, names, strict=True)]
    mass = nw.lit(1.0) if weight is None else nw.col(weight).cast(nw.Float64)
    counted = tables.count_cells(data.table.select(*columns, mass.alias("mass")), keys, "mass")
    found: dict[Place, Sizes] = {}
    for *values, records, size in counted.select(*keys, tables.RECORDS, tables.WEIGHT_SUM).iter_rows():
        place = tuple(data.labels.text(name, value) for name, value in zip(names, values, strict=True))
        old = found.get(place, (0.0, 0.0))
        found[place] = old[0] + records, old[1] + size
    return found


def _sums(cells: Sequence[Cells], axis: int) -> dict[str, float]:
    """Records of all files by category of one variable."""
    sums: dict[str, float] = {}
    for found in cells:
        for name, records in level_sizes(found, axis).items():
            sums[name] = sums.get(name, 0.0) + records
    return sums


def _ordered(data: Microdata, name: str, cells: Sequence[Cells], axis: int, rest: str) -> tuple[str, ...]:
    """Categories in the order of the codes, others by number or alphabet; merged and missing ones last."""
    seen = {place[axis] for found in cells for place in found}
    coded = {str(text): i for i, text in enumerate(data.labels.values.get(name, {}).values())}

    def rank(text: str) -> tuple[bool, bool, int, float, str]:
        try:
            size = float(text)
        except ValueError:
            size = 0.0
        return text == MISSING, text == rest, coded.get(text, len(coded)), size, text

    return tuple(sorted(seen, key=rank))
