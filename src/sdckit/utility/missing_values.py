"""Missing values that protection has made."""

import narwhals as nw
import polars as pl

from sdckit import charts
from sdckit.data.common_columns import lost_columns, role_variables
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import PROTECTED, match_records
from sdckit.data.result import Result
from sdckit.engine import frames
from sdckit.methods.options import ComparedColumns
from sdckit.methods.registry import utility
from sdckit.methods.spec import Better, Compares, Figure, share


@utility(
    "New missing values",
    family="Categories",
    bounds=(0, 1),
    unit="mean share of cells",
    counts_values=True,
    compares=Compares.RECORDS,
    engines="all",
    reference="Templ, Statistical Disclosure Control for Microdata (2017), ch. 5",
    share=True,
    main="variables",
    figures={
        "new_missing": Figure("Values newly missing", "values", counts_records=True),
        "missing_before": Figure("Missing in the original", "values", Better.NEITHER, counts_records=True),
        "missing_after": Figure(
            "Missing in the protected file", "values", Better.NEITHER, counts_records=True
        ),
        "largest_share": share("Newly missing in the variable that lost most"),
    },
    chart=charts.PartsBars("percent", "share of records newly missing", percent=True, counts="share"),
    interpretation=(
        "0: nothing was suppressed. 0.02: two values in a hundred were suppressed, averaged over variables."
    ),
)
def missing_values(original: Microdata, protected: Microdata, *, variables: ComparedColumns = ()) -> Result:
    """Share of values present in the original and missing in the protected file.

    r̃ᵢⱼ = 1 iff value j of record i is missing after and not before; m_j = Σᵢ r̃ᵢⱼ, mp_j = 100·m_j/n. The
    value is the mean of mp_j/100 over the variables (keys, numeric and sensitive columns by default), and
    `largest_share` the largest of them: a column that is nearly blank hides in a mean.
    Values missing before and filled in after do not count as a gain.

    Weights: not used, values are counted. Files are compared record by record.
    Reference: Templ (2017).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": ["f", "m", None, "m"]}), keys="sex")
    >>> sdc.utility.missing_values(data, data.with_frame(pl.DataFrame({"sex": ["f", None, None, "m"]}))).value
    0.25
    """
    chosen = tuple(variables) or role_variables(original, protected)
    both = match_records(original, protected, chosen)
    wanted = []
    for column in chosen:
        before, after = nw.col(column).is_null(), nw.col(column + PROTECTED).is_null()
        wanted += [
            before.cast(nw.Int64).sum().alias(f"{column}|before"),
            after.cast(nw.Int64).sum().alias(f"{column}|after"),
            (after & ~before).cast(nw.Int64).sum().alias(f"{column}|new"),
        ]
    row = frames.gather(both.select(*wanted)).row(0, named=True) if chosen else {}
    parts = pl.DataFrame(
        {
            "variable": chosen,
            "missing_before": [int(row[f"{c}|before"]) for c in chosen],
            "missing_after": [int(row[f"{c}|after"]) for c in chosen],
            "new_missing": [int(row[f"{c}|new"]) for c in chosen],
        },
        schema_overrides={"variable": pl.String},
    ).with_columns(percent=100 * pl.col("new_missing") / original.height)
    lost = lost_columns(original, protected, variables or role_variables(original))
    if not chosen:
        return Result(float("nan"), {}, parts, ("No variable to compare.",), lost=lost)
    return Result(
        float(parts["percent"].mean()) / 100,  # type: ignore[arg-type]
        {
            **{name: int(parts[name].sum()) for name in ("new_missing", "missing_before", "missing_after")},
            "largest_share": float(parts["percent"].max()) / 100,  # type: ignore[arg-type]
        },
        parts,
        lost=lost,
    )
