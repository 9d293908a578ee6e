"""Tabulated: one or two variables counted in several files over the same categories, for mosaic plots."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sdckit._support.messages import did_you_mean, join_names
from sdckit.data.microdata import Microdata
from sdckit.engine import tables
from sdckit.errors import ColumnError, DataError, OptionError

FEW = 5  # public: the smallest number of records that may be shown
MOST = 8  # categories of a variable; the smaller ones are put together
MISSING, OTHER = "missing", "other"

Place = tuple[str, ...]
Cells = Mapping[Place, tuple[float, float]]  # records, weight


@dataclass(frozen=True, slots=True)
class Tabulated:
    """The variables' titles, their categories in order, and by file the (weighted) size of each cell."""

    titles: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    files: tuple[Mapping[Place, float], ...]


def tabulated(
    files: Sequence[Microdata], variables: str | Sequence[str], *, public: bool = False
) -> Tabulated:
    """Count one or two variables in files of the same kind, in labels, missing values last.

    Of more than nine categories the eight largest stay and the others are put together. `public` puts
    categories together until no count of records between 1 and 4 is left in any file; those of the second
    variable in all columns alike, since otherwise the totals of another table would tell what is hidden.
    Sizes are sums of weights where there are weights.
    """
    names = (variables,) if isinstance(variables, str) else tuple(variables)
    first = files[0]
    _check(files, names)
    cells = [_cells(data, names) for data in files]
    for axis in range(len(names)):
        beyond = _beyond(cells, axis)
        cells = _put_together(cells, axis, beyond)
        if public:
            cells = _put_together(cells, axis, _few(_margins(cells, axis)))
    if public and len(names) == 2:
        columns = {place[0] for found in cells for place in found}
        cells = _put_together(cells, 1, _few([m for c in columns for m in _margins(cells, 1, column=c)]))
    levels = tuple(_ordered(first, name, cells, axis) for axis, name in enumerate(names))
    # the last figures of a sum depend on its order, which threads decide: a drawing should not
    sizes = tuple({place: float(f"{size:.12g}") for place, (_, size) in found.items()} for found in cells)
    return Tabulated(tuple(first.labels.name(n) for n in names), levels, sizes)


def together(counts: Sequence[Mapping[str, float]], least: int = FEW) -> set[str] | None:
    """The categories that must be shown as one, so that no file shows a count between 0 and `least`.

    Small ones, and as many of the next smallest as bring their sum to it. None: there are not enough records.

    >>> sorted(together([{"a": 50, "b": 9, "c": 2}, {"a": 50, "b": 11}, {"a": 61}]))
    ['b', 'c']
    """

    def small(names: set[str]) -> bool:
        sums = (sum(count.get(name, 0) for name in names) for count in counts)
        return any(0 < total < least for total in sums)

    names = {name for count in counts for name in count}
    chosen = {name for name in names if small({name})}
    rest = sorted(names - chosen, key=lambda name: (sum(count.get(name, 0) for count in counts), name))
    while small(chosen):
        if not rest:
            return None
        chosen.add(rest.pop(0))
    return chosen


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
    found: dict[Place, tuple[float, float]] = {}
    for *values, records, size in counted.select(*keys, tables.RECORDS, tables.WEIGHT_SUM).iter_rows():
        place = tuple(data.labels.text(name, value) for name, value in zip(names, values, strict=True))
        old = found.get(place, (0.0, 0.0))
        found[place] = old[0] + records, old[1] + size
    return found


def _margins(cells: Sequence[Cells], axis: int, *, column: str | None = None) -> list[dict[str, float]]:
    """Records by category of one variable, in each file; where the first variable has one value, if told."""
    margins = []
    for found in cells:
        margin: dict[str, float] = {}
        for place, (records, _) in found.items():
            if column in (None, place[0]):
                margin[place[axis]] = margin.get(place[axis], 0.0) + records
        margins.append(margin)
    return margins


def _beyond(cells: Sequence[Cells], axis: int) -> set[str]:
    sums: dict[str, float] = {}
    for margin in _margins(cells, axis):
        for name, records in margin.items():
            sums[name] = sums.get(name, 0.0) + records
    plain = sorted((n for n in sums if n != MISSING), key=lambda n: (-sums[n], n))
    return set(plain[MOST:]) if len(plain) > MOST + 1 else set()


def _few(counts: Sequence[Mapping[str, float]]) -> set[str]:
    found = together(counts)
    if found is None:
        raise DataError("There are too few records for a public mosaic of these variables.")
    return found


def _put_together(cells: Sequence[Cells], axis: int, names: set[str]) -> list[Cells]:
    """The cells with these categories of one variable put together."""
    done: list[Cells] = []
    for found in cells:
        merged: dict[Place, tuple[float, float]] = {}
        for place, (records, size) in found.items():
            if place[axis] in names:
                place = (*place[:axis], OTHER, *place[axis + 1 :])
            old = merged.get(place, (0.0, 0.0))
            merged[place] = old[0] + records, old[1] + size
        done.append(merged)
    return done


def _ordered(data: Microdata, name: str, cells: Sequence[Cells], axis: int) -> tuple[str, ...]:
    """Categories in the order of the codes, others by number or alphabet; merged and missing ones last."""
    seen = {place[axis] for found in cells for place in found}
    coded = {str(text): i for i, text in enumerate(data.labels.values.get(name, {}).values())}

    def rank(text: str) -> tuple[bool, bool, int, float, str]:
        try:
            size = float(text)
        except ValueError:
            size = 0.0
        return text == MISSING, text == OTHER, coded.get(text, len(coded)), size, text

    return tuple(sorted(seen, key=rank))
