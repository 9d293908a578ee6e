"""EBIL: entropy of the original value once the protected one is known."""

import math
from collections.abc import Mapping
from typing import Annotated

import polars as pl

from sdckit import charts
from sdckit._support.messages import require_known
from sdckit.data.common_columns import categorical_variables, lost_columns
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import PROTECTED, match_records
from sdckit.data.result import Result
from sdckit.data.values import texts
from sdckit.engine import tables
from sdckit.errors import OptionError
from sdckit.methods.options import Option
from sdckit.methods.registry import utility
from sdckit.methods.spec import Compares, Figure, share
from sdckit.utility.entropy import CategoricalColumns

Transition = Mapping[str, Mapping[str, float]]  # original category → protected category → probability


@utility(
    "Entropy-based information loss (EBIL)",
    family="Categories",
    unit="nats (0.69: one yes-or-no question), summed over records",
    section="categorical",
    compares=Compares.RECORDS,
    engines="all",
    main="variables",
    figures={
        "per_record": Figure("Uncertainty of one value (0.69: as uncertain as a coin)", "nats"),
        "share": share("Share of the entropy that is lost"),
    },
    reference="Kooiman, Willenborg & Gouweleeuw (1998); Domingo-Ferrer & Torra (2001)",
    chart=charts.PartsBars("share", "share of the entropy that is lost", share=True),
    interpretation=(
        "0: the protected category tells the original one for certain. The mean uncertainty of one value "
        "tells more than the sum; ln 2 ≈ 0.69 is as uncertain as a coin."
    ),
)
def entropy_loss(
    original: Microdata,
    protected: Microdata,
    *,
    variables: CategoricalColumns = (),
    transitions: Annotated[
        Mapping[str, Transition] | None,
        Option(
            "Transition probabilities",
            "For each variable the probabilities of PRAM: original category, protected category, number.",
            absent="from the table of original by protected values",
        ),
    ] = None,
) -> Result:
    r"""What is left to guess about the original categories when the protected ones are known.

    .. math:: EBIL = \sum_i H(V \mid V'=v'_i)

    summed over records and variables, with the conditional distribution from the table of original by
    protected values, or, for variables in `transitions`, from the probabilities P(V′=v′|V=v) used by PRAM
    (a mapping: original category → protected category → probability) and the original's margins.

    The figure `share` divides by the entropy of the original: 0 nothing lost, 1 nothing left, the mean over
    variables. It puts recoding, suppression and PRAM on one scale.

    `variables`: by default the keys and the sensitive columns that are not numeric, so that PRAM of a
    sensitive category counts as well; a column that nothing was done to adds 0 to the mean. `parts` has the
    share of each.

    Weights: the table and the sum over records are weighted. Missing values are a category: a suppressed
    value leaves the whole distribution of what was suppressed to guess. Reference: Kooiman et al. (1998).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"a": ["x", "y", "z", "z"]}), keys="a")
    >>> other = data.with_frame(pl.DataFrame({"a": ["u", "u", "z", "z"]}))
    >>> round(sdc.utility.entropy_loss(data, other).value, 6)  # 2 · ln 2
    1.386294
    """
    chosen = tuple(variables) or categorical_variables(original, protected)
    lost = lost_columns(original, protected, variables or categorical_variables(original, original))
    if not chosen:
        return Result(math.nan, notes=("No categorical variable to compare.",), lost=lost)
    require_known(transitions or (), chosen, "transitions names a variable that is not compared.")
    both = match_records(original, protected, chosen)
    total = original.weight_total()
    rows = []
    for column in chosen:
        if original is protected and column not in (transitions or ()):
            rows.append((column, 0.0, 0.0, 0.0))  # what stands there tells itself
            continue
        joint = tables.contingency(
            both, [column, column + PROTECTED], original.roles.weight, drop_missing=False
        )
        joint = joint.select(
            texts(joint[column]).alias("v"),
            texts(joint[column + PROTECTED]).alias("u"),
            pl.col(tables.COUNT).alias("n"),
        )
        given = (transitions or {}).get(column)
        loss = _loss(joint) if given is None else _known_loss(joint, given, column)
        margin = joint.group_by("v").agg(pl.col("n").sum()).with_columns(u=pl.lit(""))
        before = _loss(margin)
        rows.append((column, loss, loss / total, min(loss / before, 1.0) if before > 0 else 0.0))
    parts = pl.DataFrame(rows, schema=["variable", "ebil", "per_record", "share"], orient="row")
    value = float(parts["ebil"].sum())
    figures = {"per_record": value / total / len(chosen), "share": sum(parts["share"]) / len(chosen)}
    return Result(value, figures, parts, lost=lost)


def _loss(joint: pl.DataFrame) -> float:
    """Σ n(u)·H(V|u) = −Σ n(v,u) ln(n(v,u)/n(u))."""
    share = joint["n"] / joint.select(pl.col("n").sum().over("u"))["n"]
    return -float((joint["n"] * share.log()).sum()) + 0.0


def _known_loss(joint: pl.DataFrame, transition: Transition, column: str) -> float:
    margins = dict(joint.group_by("v").agg(pl.col("n").sum()).drop_nulls("v").iter_rows())
    absent = [v for v in margins if v not in transition]
    if absent:
        raise OptionError(f"transitions of {column!r} lack a category.", given=absent[0])
    rows = [(v, u, margins[v] * float(p)) for v in margins for u, p in transition[v].items() if float(p) > 0]
    expected = pl.DataFrame(rows, schema={"v": pl.String, "u": pl.String, "n": pl.Float64}, orient="row")
    uncertain = expected.with_columns(share=pl.col("n") / pl.col("n").sum().over("u"))
    entropies = uncertain.group_by("u").agg(h=-(pl.col("share") * pl.col("share").log()).sum())
    observed = joint.group_by("u").agg(pl.col("n").sum()).join(entropies, on="u", how="inner")
    return float((observed["n"] * observed["h"]).sum())
