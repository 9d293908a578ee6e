"""Indicators: what the tables of an analyst say before and after, with confidence intervals."""

import math
import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.messages import join_names
from sdckit.data.common_columns import as_list, common_numeric
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.engine import tables
from sdckit.errors import OptionError, RoleError
from sdckit.estimate.catalogue import IndicatorRequest, chosen
from sdckit.estimate.categories import Pair, with_category
from sdckit.estimate.combine import combined
from sdckit.estimate.comparison import Comparison, compared, comparison_frame
from sdckit.estimate.engine_table import table
from sdckit.estimate.estimated import ALL
from sdckit.estimate.indicator import PovertyLineIndicator
from sdckit.estimate.inequality import Gini
from sdckit.estimate.means import Mean
from sdckit.estimate.poverty import PovertyThreshold
from sdckit.estimate.quantiles import Quantile
from sdckit.estimate.replicates import Method
from sdckit.estimate.replication import JACKKNIVES, ReplicateOptions
from sdckit.estimate.sampling import SamplingOptions
from sdckit.estimate.stage import SinglePsu
from sdckit.estimate.table import Row, VarianceOptions, domain_name, domains_of
from sdckit.estimate.variance import Estimate
from sdckit.estimate.woodruff import QuantileInterval
from sdckit.methods.options import Columns, OneOf, Option, Requires
from sdckit.methods.registry import utility
from sdckit.methods.spec import Better, Figure, share
from sdckit.utility._estimates import (
    OVERLAPS,
    REPLICATE_RULES,
    USUAL,
    FpcOption,
    IndicatorsOption,
    LevelOption,
    MseOption,
    ReplicateFactorsOption,
    ReplicateKindOption,
    ReplicateRhoOption,
    ReplicateScaleOption,
    ReplicateWeightsOption,
    SinglePsuDomainsOption,
    SinglePsuOption,
    SynthesisOption,
    UnitsOption,
    relative_size,
    single_file_note,
    synthesis_of,
)
from sdckit.utility._private_noise import noise_note

DRAWN = (Method.BOOTSTRAP, Method.RESCALED, Method.CALIBRATED, Method.REPLICATES)
INCOME = re.compile(r"income|(?<![a-z])inc(?![a-z])", re.IGNORECASE)  # not province, nor since


class Interval(StrEnum):
    """How bootstrap intervals are made: from the variance of the replicates or their quantiles."""

    NORMAL = "normal"
    PERCENTILE = "percentile"


@utility(
    "Indicators and their confidence intervals",
    family="What analysts compute",
    bounds=(0, 1),
    better=Better.HIGH,
    unit="mean overlap of the confidence intervals",
    several=True,
    share=True,
    engines="all",
    main="indicators",
    rules=(
        Requires("interval", "variance", DRAWN),
        Requires("margins", "variance", (Method.CALIBRATED,)),
        Requires("replicate_weights", "variance", (Method.REPLICATES,)),
        Requires("mse", "variance", (*DRAWN, Method.JACKKNIFE)),
        Requires("single_psu", "variance", (Method.TAYLOR,)),
        Requires("single_psu_domains", "variance", (Method.TAYLOR,)),
        OneOf(("interval", "quantile_interval")),
        *REPLICATE_RULES,
    ),
    figures={
        **OVERLAPS,
        "rows": Figure("Estimates compared", "estimates", Better.NEITHER),
        "smallest_overlap": share("Smallest overlap", better=Better.HIGH),
        "mean_difference_percent": Figure("Mean difference in percent", "percent"),
    },
    chart=charts.estimates,
    reference="Karr, Kohnen, Oganian, Reiter & Sanil (2006); Templ (2017), ch. 5; Reiter (2003)",
    interpretation=(
        "1: the intervals are the same. 0.9 and more: practically the same answer; below 0.5 the protected "
        "file says something else about at least some indicators; 0: no interval meets its original."
    ),
)
def indicators(
    original: Microdata,
    protected: Microdata | Sequence[Microdata],
    *,
    indicators: IndicatorsOption = USUAL,
    variables: Annotated[
        Columns,
        Option("Variables", "The variables to estimate from.", basic=True, absent="the numeric columns"),
    ] = (),
    by: Annotated[
        Columns, Option("Domains", "Estimate also in each group of these columns.", absent="no domains")
    ] = (),
    variance: Annotated[
        Method,
        Option(
            "Variance",
            "How variances are estimated.",
            choices={
                "taylor": "linearisation",
                "bootstrap": "primary sampling units are drawn within strata",
                "rescaled": "rescaled bootstrap (Rao and Wu)",
                "calibrated": "bootstrap raked to the margins",
                "jackknife": "one primary sampling unit is left out at a time",
                "replicates": "by replicate weights of the data",
            },
        ),
    ] = Method.TAYLOR,
    replicates: Annotated[
        int, Field(ge=2), Option("Replicates", "How many samples a bootstrap draws.")
    ] = 100,
    level: LevelOption = 0.95,
    interval: Annotated[
        Interval,
        Option(
            "Intervals",
            "How intervals are made of replicates.",
            choices={
                "normal": "from the variance of the replicates",
                "percentile": "percentiles of the replicates",
            },
        ),
    ] = Interval.NORMAL,
    margins: Annotated[
        Columns, Option("Margins", "Columns that replicates are raked to.", absent="by, or the strata")
    ] = (),
    replicate_weights: ReplicateWeightsOption = (),
    replicate_kind: ReplicateKindOption = None,
    replicate_scale: ReplicateScaleOption = None,
    replicate_factors: ReplicateFactorsOption = (),
    replicate_rho: ReplicateRhoOption = None,
    mse: MseOption = None,
    fpc: FpcOption = None,
    units: UnitsOption = (),
    single_psu: SinglePsuOption = SinglePsu.ADJUST,
    single_psu_domains: SinglePsuDomainsOption = False,
    quantile_interval: Annotated[
        QuantileInterval,
        Option(
            "Intervals of quantiles",
            "How the intervals of quantiles and medians are made.",
            choices={
                "linearised": "from the variance, as for other indicators",
                "woodruff": "Woodruff: from the interval of the distribution function",
                "logit": "the same, on the logit scale",
                "beta": "the same, by Korn and Graubard's beta limits",
            },
        ),
    ] = QuantileInterval.LINEARISED,
    synthesis: SynthesisOption = None,
    seed: Annotated[int, Field(ge=0), Option("Seed", "Start of the random numbers of the bootstrap.")] = 0,
) -> Result:
    r"""Estimates with variances from both files, overall and by domain, and how far their intervals overlap.

    .. math:: J = \tfrac12\left[\frac{U_\cap-L_\cap}{U-L} + \frac{U_\cap-L_\cap}{U'-L'}\right]

    The value is the mean over all rows of J cut to 0…1. `parts` has a row for each indicator, variable and
    domain: both estimates θ, θ′, variances V, V′ and intervals; |θ−θ′|/|θ| and |V−V′|/V in percent;
    (θ−θ′)²+|V−V′|; whether the original interval contains θ′; J itself, negative where they are apart; and a
    verdict. An estimate, or an interval, that the protected file no longer allows counts as 0; one without an
    interval in the original is shown and does not count.

    `indicators`: "usual" (means of the numeric variables, Gini of those without negative values), the panel
    "poverty" or "location", or a list of mean, total, proportion, ratio, median, quantile, gini, s80s20,
    poverty_rate, poverty_threshold, poverty_gap, fgt0, fgt1, fgt2, pay_gap and functions (values, weights) →
    number; options as {"quantile": {"p": 0.9}} or {"s80s20": {"ties": "split"}}, also `variable`. Definitions
    are laeken's: Gini, poverty rate and gap are in percent, the poverty line is that of the whole file in
    every domain. Where a quantile lies among many records with one value, the formula of its variance does
    not hold, and a note says so; where it is the largest value, it has no interval. Another note says where
    values are negative. Gini and S80/S20 are not defined where those whose sum they divide by have 0 or less,
    nor gaps below such a line. A category, as in {"proportion": {"category": "high"}} or
    {"pay_gap": {"group": "sex", "reference": "male"}}, is a value or its label; one that neither file has is
    refused.
    `variables`: the numeric columns; for poverty the one whose name says income. `by`: domains, crossed.

    `variance`: taylor (linearisation; densities by Hall & Sheather's bandwidth; your own functions, for which
    there is no formula, have theirs from the rescaled bootstrap), bootstrap (PSUs within strata), rescaled
    (Rao–Wu), calibrated (bootstrap raked to `margins`, by default `by` or the strata), jackknife (leave one
    PSU out; refused for numbers that rest on a quantile, where it is wrong), or replicates: the columns
    `replicate_weights`, V = s Σ r_j (θ_j − c)². `replicate_kind` or `replicate_scale` gives the scale s;
    `replicate_factors` are the r_j, `replicate_rho` is Fay's coefficient; c is θ (`mse` true) or the mean of
    the replicates (false). Intervals are θ ± t·√V with PSUs − strata degrees of freedom (with replicate
    weights at most their rank − 1) or, with interval="percentile", percentiles of the replicates (refused
    for taylor and jackknife); that of S80/S20 is θ̃·exp(± t·√V/θ), θ̃ being θ without the record that steps
    over each quantile: a sample's ratio is skewed, and a little too small. `quantile_interval`: quantiles
    and medians have the same interval (linearised), or the values at the ends of an interval of F(θ)
    (woodruff; logit and beta on other scales), and V = ((high − low)/2t)².

    Weights, strata and clusters come from the roles. `fpc` names a column for each stage of sampling, with
    fractions f or numbers of units, and `units` what was drawn within PSUs, by default the records:

    .. math:: V = \sum_h (1-f_h)\tfrac{m_h}{m_h-1}\sum_c (u_{hc}-\bar u_h)^2
              + \sum_{hc} f_h (1-f_{hc})\tfrac{m_{hc}}{m_{hc}-1}\sum_s (u_{hcs}-\bar u_{hc})^2

    over totals u of w·z; stages without a column count as complete. `single_psu`: what a stratum with one PSU
    adds; `single_psu_domains`: also where a domain meets one PSU of it. One PSU in all: no interval; in a
    domain: none but of totals. Missing values: the record is outside the domain; of `by`: in the total
    only. Several synthetic sets, as a list, are combined by the rules that `synthesis` names, or else the
    steps that made the files: samples from a model of the original (`synthesize`; of one file, too), else
    partial synthesis; with never more degrees of freedom than the design of a set gives. The rule for full
    synthesis, T = (1+1/m)b − v̄, can be negative; then (records in a set)/(records in the original)·v̄ stands
    for it (Reiter 2002), and a note says in how many rows. References: Karr et al. (2006), Deville (1999),
    Osier (2009), Rao & Wu (1988), Reiter (2002, 2003), Raab, Nowok & Dibben (2016), Särndal, Swensson &
    Wretman (1992), Wolter (2007), Woodruff (1952), Korn & Graubard (1998), Lumley (2010). Departures: laeken
    draws persons even where there are clusters; survey has single_psu="fail" and mse=False as its defaults.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}), numeric="x")
    >>> other = data.with_frame(pl.DataFrame({"x": [1.0, 2.0, 3.0, 5.0]}))
    >>> result = sdc.utility.indicators(data, other, indicators="mean")
    >>> result.parts["estimate_original", "estimate_protected", "contained"].row(0)
    (2.5, 2.75, True)
    """
    sets = as_list(protected, "indicators")
    sampling = SamplingOptions(tuple(fpc or ()), tuple(units), single_psu, single_psu_domains)
    replication = ReplicateOptions(
        tuple(replicate_weights), replicate_kind, replicate_scale, replicate_factors, replicate_rho, mse
    )
    _check_variance(variance, sampling, replication)
    variances = VarianceOptions(
        variance, replicates, seed, level, interval is Interval.PERCENTILE, tuple(by), tuple(margins),
        replication, sampling, quantile_interval, original.labels,
    )  # fmt: skip
    rows, notes = _rows([original, *sets], indicators, tuple(variables), tuple(by))
    notes += noise_note(sets)
    linearised = quantile_interval is QuantileInterval.LINEARISED
    rough = dict.fromkeys(
        row.indicator.name
        for row in rows
        if not row.indicator.smooth and (linearised or not isinstance(row.indicator, Quantile))
    )
    if variance is Method.JACKKNIFE and rough:
        raise OptionError(
            "The jackknife gives wrong variances for what rests on a quantile or a line of the sample.",
            given=join_names(rough),
            allowed="smooth numbers: mean, total, proportion, ratio, gini, and your own functions",
            hint="Use variance='taylor', 'bootstrap' or 'rescaled' for these.",
        )
    if variance is Method.REPLICATES and replicate_kind in JACKKNIVES and rough:
        notes += (
            "Replicate weights of a jackknife give wrong variances for what rests on a quantile or a line of "
            f"the sample: {join_names(rough)}.",
        )
    before, said = table(original, rows, variances)
    after: list[list[Estimate]] = []
    also: tuple[str, ...] = ()
    for data in sets:
        found, more = table(data, rows, variances)
        after.append(found)
        also += tuple(f"Protected file: {note}" for note in more if note not in said)
    size = relative_size(original, sets)
    kind = synthesis_of(original, sets, synthesis)
    both = list(zip(*after, strict=True))
    one, told = combined(both, synthesis=kind, size=size, level=level, what="rows")
    labels = [
        ALL if row.domain is None else domain_name(row.domain, variances.by, original.labels) for row in rows
    ]
    told += single_file_note(original, sets)
    return _result(rows, labels, before, one, (*notes, *told, *said, *dict.fromkeys(also)))


def _check_variance(variance: Method, sampling: SamplingOptions, replication: ReplicateOptions) -> None:
    """Refuse what a method cannot use, before any work."""
    if variance is Method.REPLICATES:
        replication.check()
    if len(sampling.fpc) > 1 and variance is not Method.TAYLOR:
        raise OptionError(
            "Finite populations of several stages are for linearised variances.",
            given=f"variance: {variance}, fpc: {join_names(sampling.fpc)}",
            allowed="variance: taylor",
        )


def _rows(
    files: Sequence[Microdata], wanted: Any, variables: tuple[str, ...], by: tuple[str, ...]
) -> tuple[list[Row], tuple[str, ...]]:
    """Every line of the result, and how the variables were chosen where the user did not say."""
    original = files[0]
    pairs, notes = _usual(original, variables) if wanted == USUAL else _asked(original, wanted, variables)
    if not pairs:
        raise RoleError(
            "indicators needs a variable, and no column has the role 'numeric'.",
            hint="Name it in variables=.",
        )
    pairs, absent = with_category(files, pairs)
    notes += absent
    domains = domains_of(original, by) if by else {}
    keys = sorted(domains, key=lambda d: domains[d])
    return [Row(one.indicator, v, d) for one, v in pairs for d in [None, *keys]], notes


def _usual(original: Microdata, variables: tuple[str, ...]) -> tuple[list[Pair], tuple[str, ...]]:
    """The means of the numbers, and the Gini of those without negative values."""
    numeric, notes = common_numeric(original, original, variables or original.roles.numeric)
    lowest = tables.moments(original.table, numeric, None).min
    pairs = [(IndicatorRequest(Mean()), c) for c in numeric]
    positive = [c for c, low in lowest.items() if low is not None and low >= 0]
    return pairs + [(IndicatorRequest(Gini()), c) for c in positive], notes


def _asked(
    original: Microdata, wanted: Any, variables: tuple[str, ...]
) -> tuple[list[Pair], tuple[str, ...]]:
    """Each indicator with its own variable, or with all of them; poverty is of one income."""
    asked, numeric = chosen(wanted), variables or original.roles.numeric
    notes: tuple[str, ...] = ()
    poverty = any(isinstance(one.indicator, PovertyLineIndicator | PovertyThreshold) for one in asked)
    if poverty and not variables and len(numeric) > 1:
        numeric = (next(filter(INCOME.search, numeric), numeric[0]),)
        notes = (f"The income is taken to be {numeric[0]}; name another in variables=.",)
    pairs = [(one, v) for v in numeric for one in asked if one.variable is None]
    return pairs + [(one, one.variable) for one in asked if one.variable is not None], notes


def _result(
    rows: Sequence[Row],
    labels: Sequence[str],
    before: Sequence[Estimate],
    after: Sequence[Estimate],
    notes: tuple[str, ...],
) -> Result:
    lines, kept = [], []
    skipped, bare = dict[str, None](), dict[str, None]()
    for row, label, a, b in zip(rows, labels, before, after, strict=True):
        name = f"{row.indicator.name} of {row.variable}, {label}"
        if not math.isfinite(a.value):
            skipped[name] = None
            continue
        lines.append((row, label, a, b, compared(a, b)))
        if math.isfinite(a.variance) and not math.isnan(lines[-1][-1].share):
            kept.append(lines[-1][-1])
        else:
            bare[name] = None
    if skipped:
        notes += (f"Not computable in the original, left out: {join_names(skipped, 6)}.",)
    if bare:
        notes += (f"Without an interval, so not in the value: {join_names(bare, 6)}.",)
    shares = [c.share for c in kept]
    if not shares:
        notes += ("No indicator has an interval in both files.",)
        return Result(math.nan, parts=_frame(lines) if lines else None, notes=notes)
    value = float(np.mean(shares))
    changes = [c.difference for c in kept if math.isfinite(c.difference)]
    figures = {
        "rows": len(shares),
        "lost": 1 - value,
        "contained": float(np.mean([c.contained for c in kept])),
        "smallest_overlap": min(shares),
    }
    if changes:
        figures["mean_difference_percent"] = float(np.mean(changes))
    return Result(value, figures, _frame(lines), notes)


def _frame(lines: Sequence[tuple[Row, str, Estimate, Estimate, Comparison]]) -> pl.DataFrame:
    names = {
        "indicator": [row.indicator.name for row, *_ in lines],
        "variable": [row.variable for row, *_ in lines],
        "domain": [label for _, label, *_ in lines],
        "unit": [row.indicator.unit for row, *_ in lines],
    }
    return pl.DataFrame(names).hstack(comparison_frame([(a, b, c) for _, _, a, b, c in lines]))
