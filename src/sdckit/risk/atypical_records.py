"""Atypical records: numbers that do not fit a robust mixture of their stratum."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Bools, Ints
from sdckit._support.messages import join_names
from sdckit._support.number_text import count_of, percent
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.errors import DataError
from sdckit.methods.options import NUMERIC, By, Column, Columns, NumericColumns, OneOf, Option, Requires
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Figure, records, share
from sdckit.models.mixture_families import FAMILIES, Family
from sdckit.models.small_sample import SmallSample
from sdckit.risk._atypical_strata import DOMINATED, StrataTest, Stratum
from sdckit.risk._points import by_record

_PARTS = {
    "p_value": pl.Float64,
    "distance": pl.Float64,
    "component": pl.Int64,
    "kept": pl.Boolean,
    "atypical": pl.Boolean,
    "driver": pl.String,
}
_STRATA = {
    "records": pl.Int64,
    "effective": pl.Float64,
    "components": pl.Int64,
    "family": pl.String,
    "atypical": pl.Int64,
    "share": pl.Float64,
    "breakdown": pl.Float64,
    "least_kept": pl.Float64,
    "collinear": pl.Boolean,
    "why": pl.String,
}
_FAR = 0.4  # a component of which less is kept: its covariance is extrapolated too far


@risk(
    "Records unlike the others of their stratum",
    family="Numbers",
    bounds=(0, 1),
    unit="share of records",
    needs=Role.NUMERIC,
    share=True,
    main="variables",
    rules=(Requires("smallest", "code"), OneOf(("complete", "observed"))),
    figures={
        "atypical": records("Atypical records"),
        "tested": records("Records tested", better=Better.NEITHER),
        "untested": records("Records not tested", better=Better.NEITHER),
        "strata": Figure("Strata", "strata", Better.NEITHER),
        "untested_strata": Figure("Strata not tested", "strata", Better.NEITHER),
        "largest_share": share("Largest share of atypical records in a stratum", extreme=True),
        "incomplete": records("Records tested by the numbers they have", better=Better.NEITHER),
        "not_robust": Figure("Strata tested without outlier-resistant estimates", "strata"),
    },
    flags="atypical",
    chart=charts.robust_distances,
    reference="Foschi (2011)",
    interpretation=(
        "Records whose numbers fit none of the groups that most records of their stratum form, such as an "
        "enterprise unlike its competitors, can be recognised by whoever knows the branch. 0: all records "
        "fit. 0.2: one record in five stands out, which is common in skewed business data."
    ),
)
def atypical_records(
    data: Microdata,
    *,
    variables: NumericColumns = NUMERIC,
    by: By = (),
    code: Annotated[
        Column | None,
        Option(
            "Hierarchical code",
            "A code such as NACE along whose digits small strata are collapsed.",
            absent="strata are not collapsed",
        ),
    ] = None,
    smallest: Annotated[
        int,
        Field(ge=1),
        Option("Smallest stratum", "Strata with fewer records are collapsed.", unit="records"),
    ] = 80,
    trim: Annotated[
        float,
        Field(ge=0, lt=0.5),
        Option(
            "Trimmed share", "Share of the records that fit worst and do not shape the fit.", unit="share"
        ),
    ] = 0.25,
    alpha: Annotated[
        float,
        Field(gt=0, lt=1),
        Option("Test level", "Level at which a record is tested.", unit="probability"),
    ] = 0.05,
    components: Annotated[
        int,
        Field(ge=1, le=9),
        Option("Most components", "Mixtures of up to so many normal distributions are fitted."),
    ] = 3,
    families: Annotated[
        tuple[Family, ...],
        Field(min_length=1),
        Option("Covariance families", "The families of which BIC chooses one, such as EEE or VVV."),
    ] = FAMILIES,
    small_sample: Annotated[
        SmallSample,
        Option(
            "Small-sample correction",
            "How distances are corrected for small strata.",
            choices={
                "formula": "by a formula",
                "simulation": "by simulated normal samples of the same size",
                "none": "not at all",
            },
        ),
    ] = SmallSample.FORMULA,
    weighted: Annotated[
        bool, Option("Use the weights", "Fit the mixture of the population instead of that of the file.")
    ] = False,
    complete: Annotated[
        bool,
        Option("Complete records only", "Leave out records with a missing number instead of refusing them."),
    ] = False,
    observed: Annotated[
        bool,
        Option("Incomplete records too", "Test records with a missing number by the numbers they have."),
    ] = False,
) -> Result:
    """Share of records that fit no component of a robust Gaussian mixture of their stratum.

    In every stratum a mixture of up to `components` normal distributions, its covariance family among
    `families` chosen by BIC, is fitted by trimmed likelihood: the share `trim` of the records that fits worst
    does not count, and so cannot hide itself. Distances from every component, corrected for the trimming and
    for small samples (`small_sample`: by formula, by simulation of normal samples of the same size, half a
    second per component, or none), are referred to Beta (kept) and F (trimmed) distributions. If a component
    has a record outside its simultaneous limit at level `alpha`, all records are tested at `alpha`; a record
    is atypical if its largest p-value over the components is below the limit. A component holds a tenth of
    the stratum or more; smaller clusters are atypical. Each variable is divided by its spread in the stratum.

    Strata are the combinations of `by`. With `code`, a hierarchical code such as NACE, strata of fewer than
    `smallest` records are collapsed along its digits, and finally without `by`.

    figures: atypical, tested and untested (records), strata and untested_strata, largest_share (of a
    stratum), not_robust (strata too small for the guaranteed breakdown point: fewer bad records than trimmed
    ones may already move the fit). parts, per record: p_value (the largest), distance (robust, from that
    component), component, kept (in the trimmed fit), atypical, driver (the variable that adds most to the
    distance); empty for records not tested. tables: strata (least_kept: the smallest share of a component's
    records in the fit; effective: how many equally weighted records its records are worth, (Σw)²/Σw²);
    components, with the limits of the distance; distances, records by their distance
    over the individual limit; pairs and ellipses, for the stratum with the largest share: how many records
    lie where, in bins of three or more, and the components; levels where strata were collapsed. Charts are
    drawn from these tables: `result.chart()` and `sdckit.charts.ellipses(result)`. For internal use: it says
    which records are easiest to recognise.

    Weights: not used unless `weighted`. Then the likelihood is a pseudo-likelihood, in which a record counts
    as w_i n/Σw of the n records of its stratum, also towards the trimmed share: the mixture is that of the
    population. BIC and the reference distributions stay those of n records; value and counts are of records.
    A stratum whose effective size is too small, because a few weights dominate, is not tested.
    Missing: refused, or with `complete` records with a missing number are not tested. With `observed` the
    complete records shape the fit, and a record with q of the p numbers is tested by these: its distance is
    that in the q variables, D² = (x−μ)ᵀΣ⁻¹(x−μ) with that part of a component's mean and covariance, referred
    to ((n_g²−1)q/((n_g−q)n_g))·F(q, n_g−q) as any record outside the fit. It is also the distance in all
    variables once the missing numbers are replaced by their conditional expectations, so a missing number
    makes nobody atypical, and may hide one. The fit assumes that the complete records of a stratum are like
    the others. Where too few are complete, the variables missing most often are left out in that stratum.
    The figure `incomplete` counts these records; tables and pictures but for `strata` are of complete ones.
    After suppression, PRAM, swapping or synthesis it describes the file and is not the risk of its persons;
    that is `reidentification_risk`.
    Variables that do not vary in a stratum are left out there. A stratum of too few records, or whose kept
    records are constant or collinear so that no family fits, is not tested. Cost: a fifth of a second per
    stratum of 100 records; in strata of more than 1,000 the search runs on a sample.
    Reference: Foschi (2011).

    >>> import sdckit as sdc
    >>> data = sdc.demo.business(n=300, seed=1)
    >>> before = sdc.risk.atypical_records(data, by="size_class")
    >>> 0 < before.value < 0.4
    True

    Protect only these, and see how many of them still stand out:

    >>> safe = sdc.protect.microaggregate(data, k=5, where=before)
    >>> after = sdc.risk.atypical_records(safe, by="size_class")
    >>> still = before.parts["atypical"] & after.parts["atypical"]
    >>> still.sum() < before.figures["atypical"]
    True
    """
    from sdckit.kernels._threads import in_order

    names = _numeric(data, variables)
    x = np.column_stack([data.frame[c].cast(pl.Float64).to_numpy() for c in names])
    usable = np.isfinite(x).all(axis=1)
    if observed and np.isinf(x).any():
        raise DataError("The mixture needs finite numbers.", given="infinite ones")
    if observed:
        usable = np.isfinite(x).any(axis=1)
    elif not usable.all() and not complete:
        raise DataError(
            "The mixture needs complete numbers.",
            given=f"{int((~usable).sum()):,} records with a missing or infinite number",
            hint="The option complete leaves them out, observed tests them by the numbers they have.",
        )
    data.require_categories([*by, *([] if code is None else [code])])
    stratum, names_of_strata, levels = _strata(data.frame, by, code, smallest)
    weights = data.weights() if weighted else None
    work = StrataTest(x, names, weights, trim, alpha, range(1, components + 1), families, small_sample)
    rows = [np.flatnonzero((stratum == s) & usable) for s in range(len(names_of_strata))]
    done = in_order(work.stratum, names_of_strata, rows)
    result = _result(data, usable, names_of_strata, done, levels)
    return replace(result, notes=(*result.notes, *_doubts(result.tables["strata"], data, trim, weighted)))


def _numeric(data: Microdata, variables: Columns) -> list[str]:
    names = list(dict.fromkeys(variables))
    wrong = [c for c in names if not data.frame.schema[c].is_numeric()]
    if wrong or not names:
        raise DataError("Atypical records are found by numbers.", given=join_names(wrong) or "no variables")
    return names


def _strata(
    frame: pl.DataFrame, by: Columns, code: str | None, smallest: int
) -> tuple[Ints, list[str], dict[str, pl.DataFrame]]:
    """The stratum of each record, their names, and how many there are at each level."""
    from sdckit.models.collapse_strata import collapse_strata

    if code is not None:
        found = collapse_strata(frame, code, [b for b in by if b != code], smallest=smallest)
        names = found.strata.select(pl.col("level") + ": " + pl.col("codes")).to_series().to_list()
        return found.stratum, names, {"levels": found.levels}
    if not by:
        return np.zeros(frame.height, dtype=np.int64), ["all"], {}
    keys = [str(i) for i in range(len(by))]
    text = [frame[b].cast(pl.String).alias(k) for b, k in zip(by, keys, strict=True)]
    rows = pl.DataFrame([*text, pl.Series("row", np.arange(frame.height))])
    grouped = rows.group_by(keys).agg("row").sort(keys, nulls_last=True)
    stratum = np.zeros(frame.height, dtype=np.int64)
    for place, members in enumerate(grouped["row"].to_list()):
        stratum[members] = place
    label = pl.concat_str(pl.col(keys).fill_null("missing"), separator=", ")
    return stratum, grouped.select(label).to_series().to_list(), {}


def _result(
    data: Microdata,
    usable: Bools,
    names: Sequence[str],
    strata: Sequence[Stratum],
    levels: dict[str, pl.DataFrame],
) -> Result:
    from sdckit.risk._atypical_tables import tables

    table = pl.DataFrame([s.row() for s in strata], _STRATA, orient="row")
    table = table.insert_column(0, pl.Series("stratum", names, dtype=pl.String))
    done = table.filter(pl.col("why") == "")
    notes = _notes(table, int((~usable).sum()))
    if not done.height:
        notes.append("No stratum can be tested.")
        return Result(math.nan, notes=tuple(notes), tables={"strata": table, **levels})
    columns = {name: np.full(data.height, None, dtype=object) for name in _PARTS}
    for stratum in strata:
        stratum.fill(columns)
    parts = pl.DataFrame({c: pl.Series(v.tolist(), dtype=_PARTS[c]) for c, v in columns.items()})
    hits, tested = int(parts["atypical"].sum()), parts["atypical"].count()
    figures = {
        "atypical": hits,
        "tested": tested,
        "untested": data.height - tested,
        "strata": table.height,
        "untested_strata": table.height - done.height,
        "largest_share": float(np.max(done["share"].to_numpy())),
        "not_robust": done.filter(pl.col("breakdown") == 0).height,
    }
    partly = [s.partial for s in strata if s.partial is not None]
    if partly:
        figures["incomplete"] = sum(int(p.tested.sum()) for p in partly)
        notes.append(
            "Records with a missing number are tested by the numbers they have; complete ones shape the fit."
        )
    short = sum(s.unused > 0 for s in strata)
    if short:
        notes.append(
            f"In {count_of(short, 'stratum', 'strata')} variables were left out: with them too few "
            "records are complete."
        )
    drawn = tables([s.tested for s in strata if s.tested is not None])
    return Result(
        hits / tested,
        figures,
        by_record(data, parts),
        tuple(notes),
        tables={"strata": table, **drawn, **levels},
    )


def _notes(table: pl.DataFrame, incomplete: int) -> list[str]:
    notes = (
        [f"{count_of(incomplete, 'record', 'records')} with a missing number not tested."]
        if incomplete
        else []
    )
    for why, part in sorted(table.filter((pl.col("why") != "") & (pl.col("records") > 0)).group_by("why")):
        least = float(np.min(part["effective"].to_numpy()))
        worth = f" (effective sample size down to {least:.1f})" if why[0] == DOMINATED else ""
        notes.append(
            f"Not tested, {why[0]}: {count_of(part.height, 'stratum', 'strata')}, "
            f"{count_of(int(part['records'].sum()), 'record', 'records')}{worth}."
        )
    done = table.filter(pl.col("why") == "")
    weak = done.filter(pl.col("breakdown") == 0).height
    if weak:
        are = "is" if weak == 1 else "are"
        notes.append(
            f"{weak:,} of {done.height:,} tested strata {are} too small for the guaranteed breakdown."
        )
    flat = int(done["collinear"].sum())
    if flat:
        notes.append(
            f"In {count_of(flat, 'stratum', 'strata')} a variable is a sum of others: correlations "
            "could not be modelled. "
            "Leave one of these variables out."
        )
    return notes


def _doubts(table: pl.DataFrame, data: Microdata, trim: float, weighted: bool) -> list[str]:
    """Why the result may be rough: too many records apart from the others for what is trimmed."""
    notes = []
    done = table.filter(pl.col("why") == "")
    far = done.filter(pl.col("least_kept") < _FAR).sort("least_kept")
    if far.height:
        name, least = far.select("stratum", "least_kept").row(0)
        notes.append(
            f"In {count_of(far.height, 'stratum', 'strata')} a component keeps fewer than "
            f"{percent(_FAR)} of its records ({name}: "
            f"{percent(least)}): its distances rest on a wide extrapolation."
        )
    more = done.filter(pl.col("share") > trim).height
    if more and trim:
        notes.append(
            f"In {count_of(more, 'stratum', 'strata')} more records are atypical than were trimmed, "
            "and so helped to shape the "
            "fit: compare with a larger trim."
        )
    if weighted and data.roles.weight is None:
        notes.append("The data have no weights: all records count the same.")
    return notes
