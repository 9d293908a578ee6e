"""What must be known of the values of a column in a whole file before its strata are drawn, on any engine."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.data.naming import DIFFERENT, FEWEST
from sdckit.engine import frames
from sdckit.engine.tables import OURS, Table
from sdckit.errors import EngineError
from sdckit.models.column_codes import SEVERAL

SPIKE = 0.05  # share of a number's records from which on one value is a class of its own
FAMILY = 5  # records that share a text at least, so that it names neither a person nor a family
CODES = 1_000  # how far apart whole numbers may be that are counts or codes; amounts are farther
_X, _N, _HOME, _HOLDERS = f"{OURS}x", f"{OURS}n", f"{OURS}home", f"{OURS}holders"


class ColumnFacts:
    """Facts of a column, each found out where the records are when it is asked for.

    kind: the type that its values have in memory. Missing values are left out throughout.
    home: the column of households, so that a number which five members share is the number of one.
    """

    def __init__(self, table: Table, name: str, kind: pl.DataType, home: str | None = None) -> None:
        self.name, self.kind = name, kind
        homes = [] if home is None else [nw.col(home).alias(_HOME)]
        self._values: Table = table.select(nw.col(name).alias(_X), *homes).filter(~nw.col(_X).is_null())
        self._holders = nw.len() if home is None else nw.col(_HOME).n_unique()

    @cached_property
    def _row(self) -> dict[str, Any]:
        x = nw.col(_X)
        wanted = [x.count().alias("known"), x.n_unique().alias("different")]
        if self.kind.is_numeric():
            wanted += [x.min().alias("least"), x.max().alias("largest"), x.abs().min().alias("size")]
        return frames.gather(self._values.select(*wanted)).row(0, named=True)

    @property
    def known(self) -> int:
        """Records with a value."""
        return int(self._row["known"])

    @property
    def different(self) -> int:
        """Different values."""
        return int(self._row["different"] or 0)  # NULL of no value on DuckDB

    @property
    def least(self) -> Any:
        """The smallest number."""
        return self._row["least"]

    @property
    def largest(self) -> Any:
        """The largest number."""
        return self._row["largest"]

    @property
    def smallest_size(self) -> float:
        """The smallest of the numbers without their signs; 0 where there is none."""
        return float(self._row["size"] or 0)

    @cached_property
    def shared_by_few(self) -> int:
        """Records whose value fewer than FAMILY records have."""
        counts = self._counted(self._values).filter(nw.col(_N) < FAMILY)
        return int(frames.gather(counts.select(nw.col(_N).sum())).item() or 0)

    @cached_property
    def to_the_second(self) -> bool:
        """Whether times of day are known, and not to the minute only."""
        odd = self._values.select((nw.col(_X).dt.truncate("1m") != nw.col(_X)).cast(nw.Int64).sum())
        return bool(frames.gather(odd).item())

    @property
    def named_by_values(self) -> bool:
        """Whether at least half of the values differ, and there are enough of them."""
        return self.different >= max(FEWEST, DIFFERENT * self.known)

    def amounts(self) -> bool:
        """Whether its numbers are amounts: not whole, or too far apart for counts and codes."""
        values = frames.gather(self._finite().select(_X).unique())[_X].cast(pl.Float64).to_numpy()
        whole = bool((values == np.round(values)).all())
        return not whole or (len(values) > 0 and float(np.ptp(values)) > CODES)

    def spikes(self) -> tuple[float, ...]:
        """Values of more than 5 % of the records with a finite number, which five at least have."""
        finite = self._finite()
        n = int(frames.gather(finite.select(nw.len().cast(nw.Int64))).item())
        often = self._counted(finite).filter((nw.col(_N) > SPIKE * n) & (nw.col(_HOLDERS) >= SEVERAL))
        return tuple(sorted(_floats(frames.gather(often.select(_X)))))

    def counts_of(self, values: Sequence[float]) -> list[int]:
        """How many have each of these numbers; dates and times are what they are in memory."""
        if not values:
            return []
        counted = self._counted(self._values)
        if self.kind.is_temporal():
            if frames.engine_of(self._values.to_native()) != "polars":
                raise EngineError(
                    "Spikes of dates and times need the records in memory.",
                    given=join_names([self.name]),
                    hint="Leave them out, or bring the records into memory: data.collect().",
                )
        else:
            counted = counted.filter(nw.col(_X).cast(nw.Float64).is_in(list(values)))
        rows = frames.gather(counted)
        found = dict(zip(_floats(rows), rows[_HOLDERS].to_list(), strict=True))
        return [int(found.get(value, 0)) for value in values]

    def _counted(self, values: Table) -> Table:
        """The different values with the records, and the units, that have each."""
        counts = nw.len().cast(nw.Int64).alias(_N), self._holders.cast(nw.Int64).alias(_HOLDERS)
        return values.group_by(_X).agg(*counts)

    def _finite(self) -> Table:
        return self._values.filter(nw.col(_X).is_finite()) if self.kind.is_float() else self._values


def _floats(rows: pl.DataFrame) -> list[float]:
    """The values as numbers."""
    return rows[_X].to_physical().cast(pl.Float64).to_list()


def facts_of(data: Microdata, names: Sequence[str], home: str | None = None) -> dict[str, ColumnFacts]:
    """The facts of some columns of a file. home: its column of households, where some live with others."""
    empty = frames.gather(data.table.head(0))
    return {name: ColumnFacts(data.table, name, empty.schema[name], home) for name in names}
