"""Tables of estimates from files in memory, or on an engine by cells of values and sums over units."""

from collections.abc import Sequence
from dataclasses import dataclass

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.data.values import texts
from sdckit.engine import batches
from sdckit.engine.joins import join_to_records
from sdckit.engine.tables import OURS, Table
from sdckit.errors import OptionError
from sdckit.estimate import table as in_memory
from sdckit.estimate.categories import occurring
from sdckit.estimate.cautions import Measured, cautions
from sdckit.estimate.indicator import DomainSample, Indicator, PovertyLineIndicator, Source
from sdckit.estimate.means import Mean, Ratio, Total
from sdckit.estimate.replicates import Method
from sdckit.estimate.table import Row, VarianceOptions, one_unit_note, readable
from sdckit.estimate.unit_sums import EngineDesign, UnitSums
from sdckit.estimate.value_cells import DOMAIN, WEIGHT, CellFinder, Second, ValueCells, X, Y
from sdckit.estimate.variance import LOST, WHOLE, Estimate, Task, interval, is_constant, with_line
from sdckit.estimate.woodruff import QuantileInterval

STRAIGHT = (Mean, Total, Ratio)  # whose influence is a straight line in the values: no cells are needed
SCORES = 2_000_000  # of records and estimates that a batch holds
_NONE = np.empty(0, dtype=np.int64)


def table(
    data: Microdata, rows: Sequence[Row], options: VarianceOptions
) -> tuple[list[Estimate], tuple[str, ...]]:
    """One estimate a row, and what must be said of the design; on DuckDB and Spark with linearised variances.

    There one pass over the records makes cells of values, from which estimates and influences come, and one
    adds up influences over the units of the design.
    """
    if data.engine == "polars":
        return in_memory.table(data, rows, options)
    _refuse_unready(data, rows, options)
    design = EngineDesign.of(data, options.sampling_used)
    names = sorted({row.domain for row in rows if row.domain is not None})
    tasks: dict[int, Task] = {}
    for i, row in enumerate(rows):
        source = row.indicator.source(row.variable)
        if readable(data, source):
            tasks[i] = Task(row.indicator, source, WHOLE if row.domain is None else names.index(row.domain))
    sources = list(dict.fromkeys(t.source for t in tasks.values()))
    records, columns = _records(data, sources, design, options, names)
    rough = {t.source for t in tasks.values() if not isinstance(t.indicator, STRAIGHT)}
    measured = {
        s: _Measured(
            ValueCells.of(_columns(records, columns[s]), data.height, _second(s), coarse=s not in rough)
        )
        for s in sources
    }
    found = {i: measured[t.source].estimate(t) for i, t in tasks.items()}
    again = {s for s in sources if measured[s].cells.hits}
    while again:
        for s in again:
            measured[s] = _Measured(measured[s].cells.refined())
        found |= {i: measured[t.source].estimate(t) for i, t in tasks.items() if t.source in again}
        again = {s for s in again if measured[s].cells.hits}
    scores = [found[i].scores(t, columns[t.source], measured[t.source].cells) for i, t in tasks.items()]
    sums = _sums(records, data.height, design, scores, {s: m.cells for s, m in measured.items()})
    placed: dict[int, Estimate] = {}
    alone: set[int] = set()
    if scores:
        singles, variances = sums.within_one_unit(design.rule), sums.variance(design.rule)
        for (i, task), single, variance in zip(tasks.items(), singles, variances, strict=True):
            known = found[i].variance(task, variance, single=bool(single))
            placed[i] = interval(found[i].value, known, sums.degrees, options.level, centre=found[i].centre)
            alone |= {task.domain} if single else set()
    notes = sums.notes(data, options.sampling_used)
    notes += one_unit_note([name for i, name in enumerate(names) if i in alone], options)
    notes += cautions(
        Measured(
            t.indicator,
            t.source.variable,
            found[i].sample,
            measured[t.source].cells.sample(WHOLE),
            by_formula=True,
        )
        for i, t in tasks.items()
        if not isinstance(t.indicator, STRAIGHT)
    )
    return [placed.get(i, LOST) for i in range(len(rows))], notes


def _refuse_unready(data: Microdata, rows: Sequence[Row], options: VarianceOptions) -> None:
    """Refuse what only records in memory allow."""
    own = [row.indicator.name for row in rows if not row.indicator.has_formula]
    refused = {
        f"variance: {options.method}": options.method is not Method.TAYLOR,
        f"quantile_interval: {options.quantile_interval}": (
            options.quantile_interval is not QuantileInterval.LINEARISED
        ),
        f"your own functions: {join_names(dict.fromkeys(own))}": bool(own),
    }
    for what, so in refused.items():
        if so:
            raise OptionError(
                "These estimates need the records in memory.",
                given=f"{what}, on the {data.engine} engine",
                allowed="variance: taylor, quantile_interval: linearised, indicators with a formula",
                hint="data.collect() brings them into memory.",
            )


def _records(
    data: Microdata,
    sources: Sequence[Source],
    design: EngineDesign,
    options: VarianceOptions,
    names: Sequence[tuple[str, ...]],
) -> tuple[Table, dict[Source, tuple[str, str]]]:
    """The records with the columns of each source as numbers, their domain, their weight and the design."""
    table = data.table
    if names and all(c in data.columns for c in options.by):
        seen = occurring(data, options.by)
        codes = {name: i for i, name in enumerate(names)}
        written = pl.DataFrame([texts(seen[c]) for c in options.by]).rows()
        place = pl.Series(DOMAIN, [codes.get(row, -1) for row in written], dtype=pl.Int64)
        table = join_to_records(table, seen.with_columns(place), options.by, [DOMAIN])
    else:
        table = table.with_columns(nw.lit(-1).cast(nw.Int64).alias(DOMAIN))
    columns: dict[Source, tuple[str, str]] = {}
    for k, source in enumerate(sources):
        first, second = columns[source] = (f"{OURS}x{k}", f"{OURS}y{k}")
        spellings = source.spellings(options.labels)
        if source.other is None and source.category is not None:
            table = _member(data, table, source.variable, spellings, first)
        else:
            table = table.with_columns(nw.col(source.variable).cast(nw.Float64).alias(first))
        if source.other is None:
            table = table.with_columns(nw.lit(0.0).alias(second))
        elif source.category is not None:
            table = _member(data, table, source.other, spellings, second)
        else:
            table = table.with_columns(nw.col(source.other).cast(nw.Float64).alias(second))
    weight = nw.lit(1.0) if design.weight is None else nw.col(design.weight).cast(nw.Float64)
    table = table.with_columns(weight.alias(WEIGHT))
    ours = [DOMAIN, WEIGHT, *(c for pair in columns.values() for c in pair)]
    return table.select(*dict.fromkeys([*ours, *design.columns])), columns


def _member(data: Microdata, table: Table, column: str, spellings: Sequence[str], name: str) -> Table:
    """A column that is 1 in a category, 0 in others and NULL where there is none."""
    seen = occurring(data, [column])
    inside = texts(seen[column]).is_in(list(spellings)).cast(pl.Float64).alias(name)
    return join_to_records(table, seen.with_columns(inside), [column], [name])


def _second(source: Source) -> Second:
    if source.other is None:
        return Second.NONE
    return Second.NUMBER if source.category is None else Second.GROUP


def _columns(table: Table, pair: tuple[str, str]) -> Table:
    first, second = pair
    return table.select(nw.col(first).alias(X), nw.col(second).alias(Y), DOMAIN, WEIGHT)


@dataclass(frozen=True, eq=False)
class _Measured:
    """Estimates from the cells of a source."""

    cells: ValueCells

    @np.errstate(divide="ignore", invalid="ignore", over="ignore")
    def estimate(self, task: Task) -> "_Found":
        """The number, and the influence of the records of each cell on it."""
        indicator = task.indicator
        part: DomainSample = self.cells.sample(task.domain)
        influence = np.zeros(self.cells.cells.height)
        if not len(part.x):
            return _Found(np.nan, None, False, influence, part)
        if isinstance(indicator, PovertyLineIndicator):
            whole = self.cells.sample(WHOLE)
            part = with_line(part, indicator.line(whole))
            influence += indicator.influence_by_line(part, whole)
        moved, centre = indicator.influence(part), indicator.centre(part)
        influence[self.cells.inside(task.domain)] += 0.0 if moved is None else moved
        value = float(indicator.point(part)[0])
        return _Found(value, None if centre is None else float(centre[0]), True, influence, part)


@dataclass(frozen=True, slots=True)
class _Found:
    """An estimate, and what each cell's records add to its variance. there: the domain has records."""

    value: float
    centre: float | None
    there: bool
    influence: Floats
    sample: DomainSample

    def variance(self, task: Task, variance: float, *, single: bool) -> float:
        """Its variance by that of its scores; `single`: all records are of one sampling unit."""
        if not self.there or (single and not task.indicator.grows_with_weight):
            return np.nan
        return 0.0 if is_constant(task.indicator, self.sample) else float(variance)

    def scores(self, task: Task, columns: tuple[str, str], cells: ValueCells) -> "_Scores":
        """What makes the scores of records."""
        straight = isinstance(task.indicator, STRAIGHT)
        totals = {name: getattr(self.sample, name) for name in ("total", "amount")} if self.there else {}
        if self.there and isinstance(task.indicator, Ratio):
            totals["second_amount"] = self.sample.second_amount
        influence = np.append(self.influence, 0.0)  # the last is found by −1
        return _Scores(
            task.indicator if straight else None, task.source, task.domain, columns, totals, influence
        )


@dataclass(frozen=True, slots=True)
class _Scores:
    """How the score of a record is made: by the influence of its cell, or by a straight line."""

    straight: Indicator | None
    source: Source
    domain: int
    columns: tuple[str, str]
    totals: dict[str, Floats]
    influence: Floats

    @property
    def by_cell(self) -> bool:
        """Whether all records of a cell have the same influence."""
        return self.straight is None or not self.totals

    def summed(self, cells: ValueCells) -> tuple[int, float, float]:
        """How many records are in the domain; the sums of all weighted influences and of their squares."""
        inside = int(cells.cells["records"].filter(pl.Series(cells.inside(self.domain))).sum())
        weight, squares = (cells.cells[name].to_numpy() for name in ("weight", "squares"))
        influence = self.influence[:-1]
        return inside, float(influence @ weight), float(influence**2 @ squares)

    def of(self, frame: pl.DataFrame, cell: Ints, inside: Bools) -> Floats:
        """[n] The influence of each record."""
        if self.straight is None or not self.totals:
            return self.influence[cell]
        x, y = (frame[c].fill_null(np.nan).to_numpy() for c in self.columns)
        sample = DomainSample(x, np.empty((1, 0)), y)
        sample.__dict__.update(self.totals)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(inside, np.asarray(self.straight.influence(sample)), 0.0)


def _sums(
    records: Table,
    height: int,
    design: EngineDesign,
    scores: Sequence[_Scores],
    cells: dict[Source, ValueCells],
) -> UnitSums:
    """Sums of weighted influences over the units of the design.

    Where each record is a unit of its own, and all are of one stratum, the sums over cells tell those of what
    all records of a cell share; the records are gone through for the others only.
    """
    known = [] if design.strata or design.cluster else [k for k, s in enumerate(scores) if s.by_cell]
    others = [k for k in range(len(scores)) if k not in known]
    parts = [UnitSums.of_units(height, *scores[k].summed(cells[scores[k].source])) for k in known]
    if others or not parts:
        some = [scores[k] for k in others]
        finders = {s.source: cells[s.source].finder for s in some if s.by_cell}
        parts.append(_unit_sums(records, design, some, finders))
    return UnitSums.beside(parts, known + others)


def _unit_sums(
    records: Table, design: EngineDesign, scores: Sequence[_Scores], finders: dict[Source, CellFinder]
) -> UnitSums:
    """The same from the records."""
    columns = {s.source: s.columns for s in scores}

    def work(frame: pl.DataFrame) -> Floats:
        domain = frame[DOMAIN].fill_null(-1).to_numpy()
        there, cell = {}, {}
        for source, (first, second) in columns.items():
            x, y = (frame[c].fill_null(np.nan).to_numpy() for c in (first, second))
            there[source] = ~(np.isnan(x) | np.isnan(y))
            if source in finders:
                group = y if _second(source) is Second.GROUP else np.where(np.isnan(y), np.nan, 0.0)
                cell[source] = finders[source].find(x, domain, group)
        inside = np.column_stack(
            [there[s.source] & ((s.domain == WHOLE) | (domain == s.domain)) for s in scores]
            or [np.zeros(frame.height, dtype=np.bool_)]
        )
        made = np.column_stack(
            [s.of(frame, cell.get(s.source, _NONE), inside[:, k]) for k, s in enumerate(scores)]
            or [np.zeros(frame.height)]
        )
        weighted = made * frame[WEIGHT].to_numpy()[:, None]
        return design.rows(frame, weighted, inside, full=False)

    size = min(batches.BATCH, max(SCORES // max(len(scores), 1), 1000))
    parts = batches.fold_batches(records, work, together=design.together, records=size)
    return UnitSums.of(parts, design.codes.height, max(len(scores), 1), full=False)
