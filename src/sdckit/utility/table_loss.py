"""Loss in two-way tables: what is left of their detail, and how much of that is still right."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from sdckit import charts
from sdckit._support.arrays import Floats, Ints
from sdckit._support.messages import join_names
from sdckit.data.common_columns import as_list, is_continuous, role_variables
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.values import texts
from sdckit.errors import OptionError
from sdckit.methods.options import ComparedColumns, NumberClasses
from sdckit.methods.registry import utility
from sdckit.methods.spec import Better, Figure, share
from sdckit.utility._classes import quantile_classes, shared_classes
from sdckit.utility._variables import recoded_alike

MOST_TABLES = 5_000
FINE = 20  # classes of a number, in which its detail is counted


@utility(
    "Loss in two-way tables",
    family="Whole distributions",
    section="distribution",
    bounds=(0, 1),
    unit="share of what two-way tables tell",
    several=True,
    share=True,
    main="variables",
    figures={
        "detail": share("Detail that recoding and dropping took away, mean over variables"),
        "distortion": share("Records in other cells than before, mean over tables"),
        "tables": Figure("Tables compared", "tables", Better.NEITHER),
    },
    chart=charts.PartsBars("loss", "share of what the table told that is lost", share=True),
    reference="Gomatam & Karr (2003); Kooiman, Willenborg & Gouweleeuw (1998) for entropy",
    interpretation=(
        "0: every two-way table is as before, in full detail. 0.3: of what the tables of two variables told, "
        "three tenths are gone: categories that were merged or dropped, or records that are in other cells. "
        "1: nothing is left. It means the same for recoded, suppressed, perturbed and synthetic files."
    ),
)
def table_loss(
    original: Microdata,
    protected: Microdata | Sequence[Microdata],
    *,
    variables: ComparedColumns = (),
    groups: NumberClasses = 5,
) -> Result:
    r"""What is lost in the tables of all pairs of variables, as detail or as error; for every kind of file.

    .. math:: 1 - \operatorname*{mean}_{a<b}\ (1-h_a)(1-h_b)(1-t_{ab}), \qquad
       h_a = \frac{H(A \mid A')}{H(A)}, \quad t_{ab} = \tfrac12\sum_c |p_c - p'_c|

    h is the share of the entropy of a variable that its recoding takes away: A are the original's values, A′
    the same values in the categories of the protected file; 1 for a variable that was dropped, or that is
    coded otherwise without a step that says how. t is the total variation of the table of two variables,
    both files in the categories of the protected one: the share of records that would have to move. Missing
    is a category, so that suppressed values are records that moved. Numbers are cut at quantiles of the
    original into about `groups` classes for t, and into 20 for h. With one variable its own table counts.

    Nothing that a scenario does is free: merged and dropped detail is in h, suppression, PRAM, swapping,
    noise and the error of a synthesis are in t, also the sampling error of a file of new records, which its
    users have to bear. What happens within a class of a number, and in tables of three variables, is not
    seen. figures: detail (mean h), distortion (mean t over the tables that are left), tables. parts: a row
    for each table. Of several synthetic sets value, figures and parts are means.

    Weights: shares are weighted, each file with its own weights. Files may differ in length and order.
    References: Gomatam & Karr (2003), Kooiman, Willenborg & Gouweleeuw (1998). Departures: the two are
    usually reported apart.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]}), keys=["a", "b"])
    >>> other = data.with_frame(pl.DataFrame({"a": [1, 1, 1, 2], "b": [1, 2, 1, 2]}))
    >>> without = sdc.protect.drop(data, variables="b")
    >>> sdc.utility.table_loss(data, other).value, sdc.utility.table_loss(data, without).value
    (0.25, 1.0)
    """
    sets = as_list(protected, "table_loss")
    names = tuple(dict.fromkeys(variables)) or role_variables(original)
    if not names:
        return Result(math.nan, notes=("No variable to compare.",))
    if math.comb(len(names), 2) > MOST_TABLES:
        raise OptionError(
            "There are too many pairs of variables.",
            given=f"{len(names):,} variables",
            allowed=f"at most {MOST_TABLES:,} pairs",
            hint="Name fewer variables=.",
        )
    found = [_of_one(original, data, names, groups) for data in sets]
    parts = (
        pl.concat(table for table, _, _ in found)
        .group_by("table", "variable", "with", maintain_order=True)
        .mean()
    )
    gone = tuple(dict.fromkeys(c for _, _, lost in found for c in lost))
    notes: tuple[str, ...] = (f"Lost altogether: {join_names(gone)}.",) if gone else ()
    if len(sets) > 1:
        notes += (f"Means over {len(sets)} synthetic sets.",)
    distortion = parts["distortion"].drop_nulls()
    figures = {
        "detail": float(np.mean([detail for _, detail, _ in found])),
        "distortion": float(distortion.mean()) if len(distortion) else 0.0,  # type: ignore[arg-type]
        "tables": parts.height,
    }
    return Result(float(parts["loss"].mean()), figures, parts, notes)  # type: ignore[arg-type]


def _of_one(
    original: Microdata, protected: Microdata, names: Sequence[str], groups: int
) -> tuple[pl.DataFrame, float, list[str]]:
    """The table of losses, the mean loss of detail, and the variables that are lost."""
    there = [c for c in names if c in protected.columns]
    alike, _ = recoded_alike(original, protected, there)
    classes, _, _ = shared_classes(alike, protected, there, groups)
    weights = [data.weights() / data.weights().sum() for data in (original, protected)]
    detail = {c: _detail(original, alike, c, weights[0]) if c in classes else 1.0 for c in names}
    pairs = list(combinations(names, 2)) or [(names[0], names[0])]
    rows = []
    for first, second in pairs:
        if first in classes and second in classes:
            moved = _distance(classes[first], classes[second], weights)
            kept = (1 - detail[first]) * (1 - moved)
            kept *= 1.0 if first == second else 1 - detail[second]
        else:
            moved, kept = None, 0.0
        name = first if first == second else f"{first} × {second}"
        rows.append((name, first, second, moved, 1 - kept))
    schema = {"table": pl.String, "variable": pl.String, "with": pl.String}
    table = pl.DataFrame(rows, schema={**schema, "distortion": pl.Float64, "loss": pl.Float64}, orient="row")
    lost = [c for c in names if c not in classes]
    return table, float(np.mean(list(detail.values()))), lost


def _detail(original: Microdata, alike: Microdata, column: str, weights: Floats) -> float:
    """The share of the entropy of a variable that is gone once only its released category is known."""
    true = _codes(original.frame[column], original)
    if alike.frame[column].equals(original.frame[column]):
        return 0.0
    shown = texts(alike.frame[column]).fill_null("").rank("dense").to_numpy().astype(np.int64)
    both = np.unique(true * (int(shown.max(initial=0)) + 1) + shown, return_inverse=True)[1]
    whole, left = _entropy(true, weights), _entropy(both, weights) - _entropy(shown, weights)
    return float(np.clip(left / whole, 0.0, 1.0)) if whole > 0 else 0.0


def _codes(column: pl.Series, data: Microdata) -> Ints:
    """The categories of a variable, or the classes of a number; missing is one of them."""
    if column.name not in data.roles.keys and is_continuous(column, data):
        values = column.cast(pl.Float64)
        known = values.is_not_null().to_numpy()
        filled = values.fill_null(0.0).to_numpy()
        return np.where(known, quantile_classes(filled[known], filled, FINE) + 1, 0)
    return texts(column).fill_null("").rank("dense").to_numpy().astype(np.int64)


def _entropy(codes: Ints, weights: Floats) -> float:
    shares = np.bincount(codes, weights)
    shares = shares[shares > 0]
    return -float(shares @ np.log(shares))


def _distance(first: tuple[Ints, int], second: tuple[Ints, int], weights: Sequence[Floats]) -> float:
    """The total variation of the tables of both files."""
    code = first[0] * second[1] + second[0]
    cut, size = len(weights[0]), first[1] * second[1]
    if size > 4 * len(code) + 1000:  # a large table, mostly empty
        _, code = np.unique(code, return_inverse=True)
        size = int(code.max(initial=-1)) + 1
    tables = [np.bincount(part, w, size) for part, w in zip((code[:cut], code[cut:]), weights, strict=True)]
    apart = 0.5 * float(np.abs(tables[0] - tables[1]).sum())
    return apart if apart > 1e-12 else 0.0
