"""Attribute disclosure from synthetic data: CAP, TCAP, DiSCO and replicated uniques."""

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Floats
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.engine.tables import OURS
from sdckit.errors import RoleError
from sdckit.methods.options import KEYS, SENSITIVE, Option, SensitiveColumns
from sdckit.methods.recoding import apply_same_recoding
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Compares, share
from sdckit.risk._synthetic import KnownColumns, as_sets, in_all, lost_note, require_named, same_type

TARGET, REAL, MADE = f"{OURS}target", f"{OURS}real", f"{OURS}made"
FIGURES = {
    "disco": share("Disclosed and right (DiSCO)"),
    "beyond_baseline": share("Disclosed and right beyond guessing the most frequent value"),
    "baseline": share("Right by guessing the most frequent value", better=Better.NEITHER),
    "disclosive_in_original": share("Disclosed by the original itself", better=Better.NEITHER),
    "disclosive_synthetic_records": share(
        "Synthetic records that are disclosed by the synthetic file (Dsyn)", better=Better.NEITHER
    ),
    "found_in_synthetic": share("Records whose keys occur in the synthetic file"),
    "disclosive_in_synthetic": share("Records for which the synthetic file leaves one value, right or wrong"),
    "disclosed_in_both": share("Disclosed and right in the synthetic file and in the original (DiSDiO)"),
    "tcap": share("Right where the synthetic file leaves one value (TCAP)"),
    "tcap_found": share("Disclosed and right where the keys occur in the synthetic file (TCAP of synthpop)"),
    "cap": share("Right guesses from the synthetic file (CAP, DCAP)"),
    "cap_found": share("Right guesses where the keys occur in it"),
    "original_cap": share("Right guesses from the original itself (CAPd)", better=Better.NEITHER),
    "synthetic_cap": share(
        "Right guesses about the synthetic records themselves (CAPs)", better=Better.NEITHER
    ),
    "baseline_cap": share("Right guesses without any file", better=Better.NEITHER),
    "replicated_uniques": share("Unique records that came back unique"),
    "unique_in_original": share("Records unique in the original", better=Better.NEITHER),
    "unique_found": share("Records unique in the original whose keys occur in the synthetic file (UiOiS)"),
    "unique_in_synthetic": share("Records unique in the synthetic file", better=Better.NEITHER),
}
SHARES = tuple(FIGURES)


@risk(
    "Attribute disclosure from synthetic data",
    family="Synthetic files",
    bounds=(0, 1),
    unit="share of original records",
    compares=Compares.DISTRIBUTIONS,
    share=True,
    main="sensitive",
    renamed={"target": "sensitive"},
    figures=FIGURES,
    chart=charts.TableBars("", "target", "disco", "records disclosed by the synthetic file (DiSCO)", True),
    reference="Taub, Elliot, Pampaka & Smith (2018); Raab, Nowok & Dibben (2024)",
    interpretation=(
        "The share of the people in the original whose sensitive value can be read off the synthetic file: "
        "all synthetic records with their keys have one value, and it is theirs. Compare it with "
        "what the original itself would give away. Where one value is very frequent "
        "the guess may be right without any file: look at those disclosed beyond such guessing."
    ),
)
def attribute_disclosure(
    original: Microdata,
    synthetic: Microdata | Sequence[Microdata],
    *,
    known: KnownColumns = KEYS,
    sensitive: SensitiveColumns = SENSITIVE,
    threshold: Annotated[
        float,
        Field(gt=0.5, le=1),
        Option(
            "Threshold",
            "A guess counts as disclosive from this share of the synthetic records on.",
            unit="share",
        ),
    ] = 1.0,
    bins: Annotated[
        int, Field(ge=2), Option("Groups of numbers", "Numeric columns are cut into so many groups at most.")
    ] = 10,
) -> Result:
    r"""What someone who knows a person's keys learns about the target from synthetic records with these keys.

    With d and s the counts in the original (n records) and in the synthetic file, q a combination of the
    `known` variables, t a value of the target and p = s_tq/s_q the guess the synthetic file suggests:

    - **disco** (disclosive in synthetic, correct in original) = Σ d_tq [p_tq ≥ τ] / n, with τ = `threshold`;
      at τ = 1 all synthetic records with the keys agree on the right value. This is the value.
    - **beyond_baseline** = Σ d_tq [p_tq ≥ τ][t ≠ t*] / n: disclosed and right, and not the most frequent
      value t* of the original, with which whoever guesses t* without any file is right as well. The share of
      such persons is **baseline** = d_t*/n. Of values that are equally frequent, t* is the one with the
      fewest records disclosed, so that the figure is not understated.
    - **found_in_synthetic** (iS) = Σ d_q [s_q > 0] / n and **disclosive_in_synthetic** (DiS) =
      Σ d_q [some p_tq ≥ τ] / n, right or wrong, are the steps on the way.
    - **tcap** (targeted correct attribution probability) = disco / disclosive_in_synthetic: how often a
      guess that looks certain is right. Left out where no guess looks certain. **tcap_found** =
      disco / found_in_synthetic is what synthpop calls TCAP, and lower: its denominator also has records for
      which the synthetic file leaves several values.
    - **disclosed_in_both** (DiSDiO) = Σ d_tq [p_tq ≥ τ][d_tq/d_q ≥ τ] / n: disclosed by the original as well.
    - **cap** (correct attribution probability) = Σ d_tq p_tq / n, with p = 0 for keys that are not in the
      synthetic file; **cap_found** has the records found as denominator.
    - **baseline_cap** = Σ (d_t/n)²: a guess from the distribution of the target alone. **original_cap** and
      **disclosive_in_original** (Dorig) are cap and disco with the original in place of the synthetic file;
      **synthetic_cap** (CAPs) and **disclosive_synthetic_records** (Dsyn) are of the synthetic file's records
      in itself, Σ s_tq p_tq / m and Σ s_tq [p_tq ≥ τ] / m: what it would disclose were its records real.
    - **replicated_uniques** (repU) = share of original records alone on their keys in the original and in
      the synthetic file; **unique_found** (UiOiS) those alone in the original whose keys occur in it, and
      **unique_in_original** (UiO), **unique_in_synthetic** (UiS) for comparison.

    All run from 0 (nothing is disclosed) to 1. With several targets value and figures are of the one with the
    highest disco; parts has all. For several synthetic sets they are means over the sets, and the table
    `sets` has each. The files need not have the same length or order.

    Columns in the numeric role are cut into at most `bins` groups of about the same size at quantiles of the
    original. Where `recode` or `group` changed a column on the way to the other file, the original is recoded
    in the same way, for all figures: who knows an age looks in the age group released. Columns that were
    dropped help nobody: a note names them, and without any key or sensitive column left there is no value.
    Weights: not used. Missing values: a category of their own, in keys and target alike.
    Reference: Taub et al. (2018), Raab, Nowok & Dibben (2024). Departures: CAP is averaged over original
    records, whose risk it is, not over synthetic ones; shares, not percent.

    >>> import polars as pl, sdckit as sdc
    >>> frame = pl.DataFrame({"age": [30, 30, 40, 50], "illness": ["flu", "none", "flu", "none"]})
    >>> data = sdc.read(frame, keys="age", sensitive="illness")
    >>> made = data.with_frame(frame.with_columns(illness=pl.Series(["flu", "flu", "flu", "flu"])))
    >>> result = sdc.risk.attribute_disclosure(data, made)
    >>> result.value, result.figures["tcap"], result.figures["replicated_uniques"]
    (0.5, 0.5, 0.5)
    """
    if not set(known) - set(sensitive) or not sensitive:
        raise RoleError(
            "Attribute disclosure needs keys an intruder knows and a target to learn.",
            hint="Give the roles keys and sensitive, or the options known and sensitive.",
        )
    files = as_sets(synthetic, ())
    require_named(files, sensitive)
    there, lost = in_all(files, (*known, *sensitive))
    notes = lost_note(lost)
    keys, targets = [c for c in there if c not in sensitive], [c for c in there if c in sensitive]
    if not keys or not targets:
        why = f"No {'key' if targets else 'sensitive column'} is left in the protected file."
        return Result(math.nan, notes=(*notes, why), lost=lost)
    rows = []
    for number, data in enumerate(files, 1):
        alike, recoded = apply_same_recoding(original, data, (*keys, *targets))
        notes = tuple(dict.fromkeys((*notes, *recoded)))
        x, y = _coded(alike, data, (*keys, *targets), bins)
        for name, column in zip(targets, x.columns[len(keys) :], strict=True):
            cells = _cells(x, y, x.columns[: len(keys)], column)
            rows.append({"set": number, "target": name, **_shares(cells, x.columns[: len(keys)], threshold)})
    sets = pl.DataFrame(rows, schema_overrides=dict.fromkeys(SHARES, pl.Float64))
    parts = sets.group_by("target", maintain_order=True).agg(pl.col(SHARES).mean())
    worst = parts.row(int(parts["disco"].arg_max() or 0), named=True)
    notes += _notes(worst, len(targets), number, threshold)
    figures = {name: worst[name] for name in SHARES if worst[name] is not None}
    return Result(worst["disco"], figures, parts, notes, {"sets": sets}, lost=lost)


def _coded(
    original: Microdata, data: Microdata, columns: Sequence[str], bins: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The columns of both files in the same types under our names, numbers cut into groups."""
    pairs = []
    for i, column in enumerate(columns):
        x, y = same_type(original.frame[column], data.frame[column])
        if column in original.roles.numeric and x.drop_nulls().len():
            x, y = x.cast(pl.Float64), y.cast(pl.Float64)
            cuts = np.unique(np.quantile(x.drop_nulls().to_numpy(), np.arange(1, bins) / bins))
            x, y = (_cut(s, cuts) for s in (x, y))
        pairs.append((x.alias(f"{OURS}{i}"), y.alias(f"{OURS}{i}")))
    return pl.DataFrame([x for x, _ in pairs]), pl.DataFrame([y for _, y in pairs])


def _cut(column: pl.Series, cuts: Floats) -> pl.Series:
    """The group of each number; missing stays missing."""
    codes = pl.Series(np.searchsorted(cuts, column.fill_null(0).to_numpy(), side="right"))
    return codes.zip_with(column.is_not_null(), pl.Series([None], dtype=codes.dtype))


def _cells(x: pl.DataFrame, y: pl.DataFrame, keys: Sequence[str], target: str) -> pl.DataFrame:
    """One row per combination of keys and target in either file, with its records in each."""
    counted = [
        frame.group_by(*keys, pl.col(target).alias(TARGET)).agg(pl.len().cast(pl.Int64).alias(name))
        for frame, name in ((x, REAL), (y, MADE))
    ]
    both = counted[0].join(counted[1], on=[*keys, TARGET], how="full", nulls_equal=True, coalesce=True)
    return both.with_columns(pl.col(REAL, MADE).fill_null(0))


def _shares(cells: pl.DataFrame, keys: Sequence[str], threshold: float) -> dict[str, float | None]:
    """The figures of one target and one synthetic file."""
    real, made = pl.col(REAL), pl.col(MADE)
    with_keys = (pl.col(c).sum().over(keys).alias(f"{c}_keys") for c in (REAL, MADE))
    cells = cells.with_columns(with_keys).with_columns(
        # 0/0 for keys that are not in the file: no guess
        (real / pl.col(f"{REAL}_keys")).fill_nan(0.0).alias(f"{REAL}_share"),
        (made / pl.col(f"{MADE}_keys")).fill_nan(0.0).alias(f"{MADE}_share"),
    )
    right, own = pl.col(f"{MADE}_share"), pl.col(f"{REAL}_share")
    single, single_made = pl.col(f"{REAL}_keys") == 1, pl.col(f"{MADE}_keys") == 1
    sums = cells.select(
        n=real.sum(),
        m=made.sum(),
        found=real.filter(pl.col(f"{MADE}_keys") > 0).sum(),
        disclosive=real.filter((right.max().over(keys)) >= threshold).sum(),
        disco=real.filter(right >= threshold).sum(),
        original=real.filter(own >= threshold).sum(),
        disclosive_made=made.filter(right >= threshold).sum(),
        both=real.filter((right >= threshold) & (own >= threshold)).sum(),
        made_cap=(made * right).sum(),
        cap=(real * right).sum(),
        own=(real * own).sum(),
        unique=real.filter(single).sum(),
        unique_made=made.filter(single_made).sum(),
        unique_found=real.filter(single & (pl.col(f"{MADE}_keys") > 0)).sum(),
        replicated=real.filter(single & single_made).sum(),
    ).row(0, named=True)
    n = sums["n"]
    by_value = cells.group_by(TARGET).agg(real.sum(), real.filter(right >= threshold).sum().alias(MADE))
    values, right_of_value = by_value[REAL].to_numpy(), by_value[MADE].to_numpy()
    most = values.max()
    return {
        "disco": sums["disco"] / n,
        "beyond_baseline": (sums["disco"] - int(right_of_value[values == most].min())) / n,
        "baseline": float(most / n),
        "disclosive_in_original": sums["original"] / n,
        "disclosive_synthetic_records": sums["disclosive_made"] / sums["m"],
        "found_in_synthetic": sums["found"] / n,
        "disclosive_in_synthetic": sums["disclosive"] / n,
        "tcap": sums["disco"] / sums["disclosive"] if sums["disclosive"] else None,
        "disclosed_in_both": sums["both"] / n,
        "tcap_found": sums["disco"] / sums["found"] if sums["found"] else None,
        "cap": sums["cap"] / n,
        "cap_found": sums["cap"] / sums["found"] if sums["found"] else None,
        "original_cap": sums["own"] / n,
        "synthetic_cap": sums["made_cap"] / sums["m"],
        "baseline_cap": float(np.sum((values / n) ** 2)),
        "replicated_uniques": sums["replicated"] / n,
        "unique_in_original": sums["unique"] / n,
        "unique_found": sums["unique_found"] / n,
        "unique_in_synthetic": sums["unique_made"] / sums["m"],
    }


def _notes(worst: dict[str, float], targets: int, sets: int, threshold: float) -> tuple[str, ...]:
    notes: tuple[str, ...] = ()
    if targets > 1:
        notes += (f"The figures are of {worst['target']}, the target most disclosed.",)
    if sets > 1:
        notes += (f"Means over {sets} synthetic sets.",)
    if threshold < 1:
        notes += (f"A guess counts as disclosive from a share of {threshold:g} on.",)
    if worst["tcap"] is None:
        notes += ("No guess looks certain, so there is no TCAP.",)
    if worst["cap_found"] is None:
        notes += ("No record's keys are in the synthetic file, so there is no CAP of those found.",)
    return notes
