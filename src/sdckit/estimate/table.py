"""A table of estimates from one file: indicators by variable and domain, with variances."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit._support.messages import join_names
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.data.values import texts
from sdckit.engine import frames
from sdckit.errors import ColumnError, OptionError
from sdckit.estimate.design import Design, column_codes, design_of
from sdckit.estimate.indicator import Indicator, Source
from sdckit.estimate.replicates import Method, Replicates, given_replicates, replicates
from sdckit.estimate.variance import LOST, WHOLE, Estimate, Task, estimates, sorted_sample


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table of estimates: an indicator of a variable in a domain."""

    indicator: Indicator
    variable: str
    domain: tuple[str, ...] | None  # None: the whole file


@dataclass(frozen=True, slots=True)
class VarianceOptions:
    """How variances and intervals are made; `labels` are the value labels by which categories are known."""

    method: Method = Method.TAYLOR
    replicates: int = 100
    seed: int = 0
    level: float = 0.95
    percentile: bool = False
    by: tuple[str, ...] = ()
    margins: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    scale: float | None = None
    fpc: str | None = None
    labels: Labels = field(default_factory=Labels)


def table(
    data: Microdata, rows: Sequence[Row], options: VarianceOptions
) -> tuple[list[Estimate], tuple[str, ...]]:
    """One estimate a row; nan where the file lacks the column, the domain or the numbers.

    Indicators without a formula for their variance have it from the rescaled bootstrap, which agrees with
    linearisation, also in strata with few PSUs and for finite populations.
    """
    name = data.roles.id
    if name in data.columns:  # draws then do not depend on the order of the records
        data = data.with_frame(data.frame.sort(name))
    frame = data.frame
    design, notes = design_of(data, fraction=options.fpc)
    names = sorted({row.domain for row in rows if row.domain is not None})
    codes = _domain_codes(data, options.by, names)
    tasks: dict[int, Task] = {}
    for i, row in enumerate(rows):
        source = row.indicator.source(row.variable)
        if _readable(data, source):
            tasks[i] = Task(row.indicator, source, WHOLE if row.domain is None else names.index(row.domain))
    sources = {
        s: sorted_sample(frame, s, codes, len(names), s.spellings(options.labels))
        for s in {t.source for t in tasks.values()}
    }
    own = {i: t for i, t in tasks.items() if options.method is Method.TAYLOR and not t.indicator.has_formula}
    ways = [({i: t for i, t in tasks.items() if i not in own}, options)]
    if own:
        ways.append((own, replace(options, method=Method.RESCALED)))
        without = join_names(dict.fromkeys(t.indicator.name for t in own.values()))
        times = f"{options.replicates:,} replicates"
        notes += (f"Variance of {without} by the rescaled bootstrap ({times}): there is no formula.",)
    placed: dict[int, Estimate] = {}
    for some, way in ways:
        found = estimates(
            list(some.values()),
            sources,
            design,
            _repeated(data, design, way),
            level=options.level,
            percentile=options.percentile,
        )
        placed |= dict(zip(some, found, strict=True))
    return [placed.get(i, LOST) for i in range(len(rows))], notes


def _readable(data: Microdata, source: Source) -> bool:
    """Whether the file has the columns, as numbers where numbers are needed."""
    types = frames.schema(data.frame)
    numbers = [source.variable] if source.other or source.category is None else []
    numbers += [source.other] if source.other and source.category is None else []
    needed = [source.variable, *([source.other] if source.other else [])]
    return all(c in types for c in needed) and all(types[c].is_numeric() for c in numbers)


def _domain_codes(data: Microdata, by: tuple[str, ...], names: Sequence[tuple[str, ...]]) -> Ints:
    """[n] The place of each record's domain in `names`, −1 for none of them."""
    none = np.full(data.height, -1, dtype=np.int64)
    if not by or any(c not in data.columns for c in by):
        return none
    columns = [str(i) for i in range(len(by))]
    mine = pl.DataFrame({str(i): texts(data.frame[c]) for i, c in enumerate(by)})
    known = pl.DataFrame(names, schema=dict.fromkeys(columns, pl.String), orient="row").with_row_index("code")
    met = mine.join(known, on=columns, how="left", maintain_order="left")["code"]
    return np.asarray(met.cast(pl.Int64).fill_null(-1).to_numpy())


def _repeated(data: Microdata, design: Design, options: VarianceOptions) -> Replicates | None:
    if options.method is Method.TAYLOR:
        return None
    if options.method is Method.REPLICATES:
        lost = [c for c in options.weights if c not in data.columns]
        if not options.weights or lost:
            raise OptionError(
                "variance='replicates' needs the columns of the replicate weights in both files.",
                given=join_names(lost) or "none",
                hint="Name them in replicate_weights=.",
            )
        odd = [c for c in options.weights if not data.frame.schema[c].is_numeric()]
        if odd:
            raise ColumnError("Replicate weights must be numbers.", given=join_names(odd))
        columns = data.frame.select(pl.col(list(options.weights)).cast(pl.Float64))
        weights = np.ascontiguousarray(columns.to_numpy().T)
        return given_replicates(design, weights, scale=options.scale)
    columns = [c for c in options.margins or options.by or data.roles.strata if c in data.columns]
    data.require_categories(columns)
    margins = [column_codes(data.frame[c]) + 1 for c in columns] or [np.zeros(data.height, dtype=np.int64)]
    return replicates(design, options.method, options.replicates, seed=options.seed, margins=margins)


def domains_of(data: Microdata, by: tuple[str, ...]) -> dict[tuple[str, ...], tuple[int, ...]]:
    """The domains of a file, with their places in sorted order; records with a missing value are in none."""
    data.require_categories(by)
    codes = [column_codes(data.frame[c]) for c in by]
    written = [texts(data.frame[c]) for c in by]
    seen = pl.DataFrame({str(i): c for i, c in enumerate(codes)}).with_row_index("row")
    first = seen.filter(pl.all_horizontal(pl.col(str(i)) >= 0 for i in range(len(by))))
    first = first.unique([str(i) for i in range(len(by))], keep="first")
    return {tuple(str(t[row]) for t in written): tuple(place) for row, *place in first.iter_rows()}
