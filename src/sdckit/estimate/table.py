"""A table of estimates from one file: indicators by variable and domain, with variances."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit._support.messages import join_names
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.data.values import as_text, texts
from sdckit.engine import frames
from sdckit.estimate.categories import occurring
from sdckit.estimate.cautions import Measured, cautions
from sdckit.estimate.design import Design
from sdckit.estimate.indicator import Indicator, Source
from sdckit.estimate.quantiles import Quantile
from sdckit.estimate.replicates import Method, Replicates, given_replicates, replicates
from sdckit.estimate.replication import ReplicateOptions, replicate_columns
from sdckit.estimate.sampling import SamplingOptions, column_codes, design_of
from sdckit.estimate.stage import SinglePsu
from sdckit.estimate.variance import (
    LOST,
    WHOLE,
    Estimate,
    SortedSample,
    Task,
    estimates,
    members,
    sorted_sample,
)
from sdckit.estimate.woodruff import QuantileInterval, woodruff

FEW_UNITS = 10  # in a stratum: a bootstrap of as many has variances a tenth too small


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
    replication: ReplicateOptions = field(default_factory=ReplicateOptions)
    sampling: SamplingOptions = field(default_factory=SamplingOptions)
    quantile_interval: QuantileInterval = QuantileInterval.LINEARISED
    labels: Labels = field(default_factory=Labels)

    @property
    def sampling_used(self) -> SamplingOptions:
        """The sampling as the method sees it: strata with a single PSU add nothing to drawn replicates."""
        rules = {Method.TAYLOR: self.sampling.single_psu, Method.REPLICATES: SinglePsu.CERTAINTY}
        return replace(self.sampling, single_psu=rules.get(self.method, SinglePsu.REMOVE))


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
    design, notes = design_of(data, options.sampling_used)
    names = sorted({row.domain for row in rows if row.domain is not None})
    codes = _domain_codes(data, options.by, names)
    tasks: dict[int, Task] = {}
    for i, row in enumerate(rows):
        source = row.indicator.source(row.variable)
        if readable(data, source):
            tasks[i] = Task(row.indicator, source, WHOLE if row.domain is None else names.index(row.domain))
    sources = {
        s: sorted_sample(frame, s, codes, len(names), s.spellings(options.labels))
        for s in {t.source for t in tasks.values()}
    }
    own = {i: t for i, t in tasks.items() if options.method is Method.TAYLOR and not t.indicator.has_formula}
    ways = [({i: t for i, t in tasks.items() if i not in own}, design, options)]
    if own:
        ways.append((own, _first_stage(design), replace(options, method=Method.RESCALED)))
        without = join_names(dict.fromkeys(t.indicator.name for t in own.values()))
        times = f"{options.replicates:,} replicates"
        notes += (f"Variance of {without} by the rescaled bootstrap ({times}): there is no formula.",)
        if design.later:
            notes += (f"The finite population is left out of the variance of {without}, which is too large.",)
    placed: dict[int, Estimate] = {}
    for some, way, how in ways:
        found = _estimated(list(some.values()), sources, way, _repeated(data, way, how, rows), options)
        placed |= dict(zip(some, found, strict=True))
    if options.method in (Method.BOOTSTRAP, Method.CALIBRATED):
        notes += _few_units_note(design)
    if options.method is not Method.REPLICATES:
        alone = {t.domain for t in tasks.values() if _in_one_unit(sources[t.source], t.domain, design)}
        notes += one_unit_note([name for i, name in enumerate(names) if i in alone], options)
    notes += cautions(_measured(task, sources, design, options) for task in tasks.values())
    return [placed.get(i, LOST) for i in range(len(rows))], (*notes, *_unused(design, options))


def _measured(
    task: Task, sources: dict[Source, SortedSample], design: Design, options: VarianceOptions
) -> Measured:
    sample, whole = (
        sources[task.source].sample(design.weights[None, :], domain) for domain in (task.domain, WHOLE)
    )
    turned = options.quantile_interval is not QuantileInterval.LINEARISED  # an interval of F turned over
    by_formula = options.method is Method.TAYLOR or (turned and isinstance(task.indicator, Quantile))
    return Measured(task.indicator, task.source.variable, sample, whole, by_formula)


def _few_units_note(design: Design) -> tuple[str, ...]:
    """What must be said of a bootstrap of so many sampling units as there are, where these are few."""
    several = design.clusters[design.clusters > 1]
    if not len(several) or several.min() >= FEW_UNITS:
        return ()
    return (
        f"Strata have as few as {several.min()} sampling units. A bootstrap that draws as many as there are "
        "has variances too small by 1 in that number; the rescaled one (variance: rescaled) has not.",
    )


def _in_one_unit(source: SortedSample, domain: int, design: Design) -> bool:
    return design.within_one_unit(members(source.rows_of(domain), len(design.weights)))


def domain_name(domain: Sequence[str], by: Sequence[str], labels: Labels) -> str:
    """The values of a domain by their labels."""
    names = ({as_text(code): text for code, text in labels.values.get(c, {}).items()} for c in by)
    return " × ".join(known.get(value, value) for known, value in zip(names, domain, strict=True))


def one_unit_note(domains: Sequence[tuple[str, ...]], options: VarianceOptions) -> tuple[str, ...]:
    """What must be said of domains whose records are all of one PSU."""
    if not domains:
        return ()
    which = join_names((domain_name(domain, options.by, options.labels) for domain in domains), 6)
    return (f"With records of one sampling unit only, so that nothing but totals has a variance: {which}.",)


def _estimated(
    tasks: list[Task],
    sources: dict[Source, SortedSample],
    design: Design,
    repeated: Replicates | None,
    options: VarianceOptions,
) -> list[Estimate]:
    """One estimate a task; quantiles with the interval that was asked for."""
    level, kind = options.level, options.quantile_interval
    found = estimates(tasks, sources, design, repeated, level=level, percentile=options.percentile)
    if kind is QuantileInterval.LINEARISED:
        return found
    places = [
        i for i, t in enumerate(tasks) if isinstance(t.indicator, Quantile) and np.isfinite(found[i].value)
    ]
    mine, theirs = [tasks[i] for i in places], [found[i] for i in places]
    for i, one in zip(
        places, woodruff(mine, theirs, sources, design, repeated, kind=kind, level=level), strict=True
    ):
        found[i] = one
    return found


def _first_stage(design: Design) -> Design:
    """The design for replicates: of several stages the first, as if drawn with replacement.

    With a correction for the first stage alone, what the later ones add would be missing.
    """
    return replace(design, fraction=np.zeros_like(design.fraction), later=()) if design.later else design


def _unused(design: Design, options: VarianceOptions) -> Iterator[str]:
    """What is said of the design and has no part in these variances."""
    if options.method in (Method.BOOTSTRAP, Method.CALIBRATED, Method.REPLICATES) and options.sampling.fpc:
        yield f"variance='{options.method}' does not use fpc."


def readable(data: Microdata, source: Source) -> bool:
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


def _repeated(
    data: Microdata, design: Design, options: VarianceOptions, rows: Sequence[Row]
) -> Replicates | None:
    given = options.replication
    if options.method is Method.TAYLOR:
        return None
    if options.method is Method.REPLICATES:
        smooth = all(row.indicator.smooth for row in rows)
        weights = replicate_columns(data, given.weights, negative=smooth)
        return given_replicates(design, weights, given.squares(), mse=given.mse is not False)
    columns = [c for c in options.margins or options.by or data.roles.strata if c in data.columns]
    data.require_categories(columns)
    margins = [column_codes(data.frame[c]) + 1 for c in columns] or [np.zeros(data.height, dtype=np.int64)]
    return replicates(
        design, options.method, options.replicates, seed=options.seed, margins=margins, mse=given.mse
    )


def domains_of(data: Microdata, by: tuple[str, ...]) -> dict[tuple[str, ...], tuple[int, ...]]:
    """The domains of a file, with their places in sorted order; records with a missing value are in none."""
    data.require_categories(by)
    frame = occurring(data, by)
    codes = [column_codes(frame[c]) for c in by]
    written = [texts(frame[c]) for c in by]
    seen = pl.DataFrame({str(i): c for i, c in enumerate(codes)}).with_row_index("row")
    first = seen.filter(pl.all_horizontal(pl.col(str(i)) >= 0 for i in range(len(by))))
    first = first.unique([str(i) for i in range(len(by))], keep="first")
    return {tuple(str(t[row]) for t in written): tuple(place) for row, *place in first.iter_rows()}
