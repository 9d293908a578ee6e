"""Distance to the closest record: do synthetic records copy original ones?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated, Any

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Bools, Floats, Ints
from sdckit._support.messages import join_names
from sdckit.data.common_columns import role_variables
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.methods.file_option import TableOption
from sdckit.methods.options import Columns, Option
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Compares, Figure, share
from sdckit.risk._held_back import held_back_problem
from sdckit.risk._points import SAME, DistanceOption, Points, distinct_order, points
from sdckit.risk._synthetic import as_sets, in_all, lost_note
from sdckit.risk._uncertainty import beyond, independent, wilson

_CLOSEST = 0.2  # of the quantile: a few copies with noise stand out more among the closest
_FAR_BELOW = 0.5  # of the reference: chance does not take a median there
_POINTS, _LARGEST = 41, 0.98  # quantiles of a file among the points of its curve, and the last of them


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Of some records of a file: row, distance to the nearest original, its ratio to the second."""

    rows: Ints
    distance: Floats
    ratio: Floats

    @property
    def copies(self) -> float:
        """Share of the records at distance 0."""
        return float((self.distance == 0).mean())

    def close(self, threshold: float) -> Bools:
        """Which records are not farther than this."""
        return np.asarray(self.distance <= threshold * (1 + SAME))

    def within(self, threshold: float) -> float:
        """Share of the records not farther than this."""
        return float(self.close(threshold).mean())

    def quantile(self, share: float) -> float:
        """The distance within which this share of the records lies, at least one of them."""
        ordered = np.sort(self.distance)
        return float(ordered[max(math.ceil(share * len(ordered) - 1e-9), 1) - 1])

    def independent(self, threshold: float, file: Microdata, original: Microdata) -> float:
        """As how many independent records those count that are looked for within this distance."""
        name = original.roles.household
        if name is None:
            return float(len(self.rows))
        if name in file.columns:
            homes = file.collect().frame[name].rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
            return independent(self.close(threshold), homes[self.rows])
        there: pl.Series = original.collect().frame[name]
        return float(len(self.rows) * there.n_unique() / len(there))  # as if members were all alike


@risk(
    "Synthetic records close to an original",
    family="Synthetic files",
    bounds=(0, 1),
    unit="share of synthetic records",
    judges=True,
    compares=Compares.DISTRIBUTIONS,
    share=True,
    main="variables",
    figures={
        "median_distance": Figure("Median distance to the nearest original", "distance", Better.HIGH),
        "median_ratio": Figure("Median ratio of nearest to second nearest", "ratio", Better.HIGH, (0, 1)),
        "reference_median_distance": Figure("Median distance of real people", "distance", Better.NEITHER),
        "reference_median_ratio": Figure("Median ratio of real people", "ratio", Better.NEITHER, (0, 1)),
        "threshold": Figure("Distance from which on records are not close", "distance", Better.NEITHER),
        "copies": share("Copies of an original record"),
        "excess": share("Too close, beyond what real people are"),
        "reference_copies": share("Copies among the originals themselves", better=Better.NEITHER),
        "reference_share": share("The same of real people among each other", better=Better.NEITHER),
        "excess_low": share("Too close, beyond real people, at least"),
        "excess_high": share("Too close, beyond real people, at most"),
        "closest": share("As close as the closest fifth of these real people"),
        "reference_closest": share("The same of real people", better=Better.NEITHER),
        "independent": Figure("As so many independent records it counts", "records", Better.NEITHER),
        "reference_independent": Figure("As so many the real people count", "records", Better.NEITHER),
        "low": share("At least (95 % interval)"),
        "high": share("At most (95 % interval)"),
        "closer_to_original": share("Closer to the original than to the records kept back"),
        "closer_low": share("Closer to the original, at least"),
        "closer_high": share("Closer to the original, at most"),
        "closer_expected": share("Closer to the original, expected", better=Better.NEITHER),
    },
    chart=charts.closest_distances,
    reference="Platzer & Reutterer (2021); Zhao et al. (2021)",
    interpretation=(
        "An intruder looks for synthetic records that give away the original they were made from. Good: a "
        "value at or below the share of real people as close to someone else (about 0.05). "
        "Clearly above: the synthesis repeats records it has seen. 1: all are as close as the closest "
        "originals are to each other, as in a copied or lightly perturbed file. A low value alone is no "
        "proof of safety."
    ),
)
def closest_record(
    original: Microdata,
    synthetic: Microdata | Sequence[Microdata],
    *,
    variables: Annotated[
        Columns,
        Option(
            "Variables", "What records are compared on.", True, absent="keys, numeric and sensitive columns"
        ),
    ] = (),
    holdout: Annotated[
        TableOption | None,
        Option(
            "Records held back",
            "Records of the same population that the synthesis has not seen.",
            True,
            absent="the originals among each other",
        ),
    ] = None,
    distance: DistanceOption = None,
    quantile: Annotated[
        float,
        Field(gt=0, lt=1),
        Option("Close", "The share of real people that counts as close to somebody else.", unit="share"),
    ] = 0.05,
    records: Annotated[
        int,
        Field(ge=1),
        Option(
            "Most records", "At most so many records of each file look for their nearest.", unit="records"
        ),
    ] = 5_000,
) -> Result:
    r"""Share of synthetic records nearer to an original than real people are to each other.

    .. math:: \frac1m\,\#\{i : d_i \le q\}, \qquad d_i = \min_l d(s_i, x_l)

    d is the distance of synthetic record s to the closest original (DCR), q the `quantile` of the same
    distance for real people: those in `holdout` (a file or table), records of the same population that the
    synthesis has not seen; without one, the originals to the closest other original. Both are compared at
    the same q, so the value to expect is `reference_share`: `quantile`, or more where distances tie, as with
    few categories.

    `variables`: keys, numeric and sensitive columns in all files by default, else all columns.
    `distance`: as in `record_linkage`, with Gower's range that of the original; a key of numbers with
    more than 20 values, most of them without a label, as an age in years, is a number and no category
    (make it text for one). At most `records` records of each file look for their nearest among all
    originals, spread evenly over the sorted file; copies are counted over all. For several synthetic
    sets, numbers are means over the sets; a release is decided on each set, in `sets`.

    figures: copies (share of synthetic records equal to an original on all variables), reference_copies (the
    same for the reference), reference_share, excess ((value − reference_share)/(1 − reference_share), not
    below 0), excess_low and excess_high (95 % interval of Newcombe for value − reference_share, not below 0,
    as the reference is a sample, too; the lower end is the larger of this and of the same at a fifth of
    `quantile`, where a few copies with noise stand out: closest and reference_closest), independent and
    reference_independent (as how many records the files count there: members of a household are close
    together), threshold q, median_distance and median_ratio (NNDR: nearest over second-nearest distance; near
    0 one original stands out, near 1 none does; 1 where both are 0) with their reference (a note says when
    one is less than half of it, as in a file whose values were only moved a little), low and high (95 %
    interval of Wilson for the value). With a hold-out also closer_to_original: the share of synthetic records
    nearer to an original than to a held-out record, ties half, with closer_low and closer_high; without
    copying it is about closer_expected = n/(n + hold-out records). parts: set, the id of the synthetic record
    (else its row, as `record`), distance, ratio. tables: `distances`, the shares of synthetic and of
    reference records within some round distances.

    Weights: not used. Missing: a value missing in one of two records counts as far as the range of the
    variable (1 in Gower's distance), missing in both counts 0. Cost: memory O(n); time m·log n in few
    variables, towards m·n in many.
    Reference: Platzer & Reutterer (2021); Newcombe (1998). Departures: usual tools report distances only, or
    compare with a fixed 0.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [0.0, 1.0, 3.0, 6.0, 10.0]}), numeric="x")
    >>> other = data.with_frame(pl.DataFrame({"x": [0.0, 4.5, 12.0, 8.0]}))
    >>> result = sdc.risk.closest_record(data, other)
    >>> result.value, result.figures["copies"], result.figures["reference_share"]
    (0.25, 0.25, 0.4)
    """
    chosen, lost = in_all(as_sets(synthetic, variables), variables or role_variables(original))
    sets = as_sets(synthetic, chosen)
    others = as_sets(holdout, chosen, "hold-out") if holdout is not None else []
    problems = [held_back_problem(original, data, holdout) for data in sets if holdout is not None]
    if any(problems):
        return Result(math.nan, notes=tuple(dict.fromkeys(p for p in problems if p)))
    files = [original, *others, *sets]
    space = points([f.collect().frame for f in files], chosen, original, distance, ranges=1)
    notes = (*lost_note(lost), *space.notes)
    if not space.variables:
        return Result(math.nan, notes=(*notes, "No variable to compare."), lost=lost)
    notes += (f"{space.distance.value} distance over {join_names(space.variables)}.",)
    tree = space.tree(0, blank_counts=True)
    first = 1 + len(others)
    found = [neighbours(space, tree, i, records) for i in range(first, len(files))]
    figures = {"copies": fmean(_copies(space, i) for i in range(first, len(files)))}
    figures["median_distance"] = fmean(float(np.median(s.distance)) for s in found)
    if original.height > 1:
        figures["median_ratio"] = fmean(float(np.median(s.ratio)) for s in found)
    largest = max(f.height for f in files)
    if largest > records:
        notes += (f"Distances are those of {records:,} records of a file, spread evenly over it.",)
    if others:
        figures |= _against_holdout(space, found, records)
    parts = _parts(sets, found)
    if not others and original.height < 2:
        why = "There is only one original and no hold-out: nothing to compare the distances with."
        return Result(math.nan, figures, parts, (*notes, why), lost=lost)
    reference = neighbours(space, tree, 1 if others else 0, records)
    compared = [others[0] if others else original, *sets]
    value, more = _compared(found, reference, quantile, compared, original)
    notes += _near(figures, more)
    tables = {"distances": _curves(found, reference, more["threshold"])}
    return Result(value, {**more, **figures}, parts, notes, tables, lost=lost)


def neighbours(space: Points, tree: Any, file: int, most: int) -> Neighbours:
    """The nearest originals of at most so many records of a file; a record of the original is not its own."""
    from sdckit.kernels.nearest import two_nearest

    x = space.files[file]
    order = distinct_order(x)
    chosen = order[np.linspace(0, len(x) - 1, most).round().astype(np.int64)] if len(x) > most else order
    own = chosen if file == 0 else np.full(len(chosen), -1)
    first, second = (space.size(s) for s in two_nearest(tree, x[chosen], own))
    ratio = np.full(len(first), math.nan)
    np.divide(first, second, out=ratio, where=np.isfinite(second) & (second > 0))
    ratio[second == 0] = 1.0
    back = np.argsort(chosen)
    return Neighbours(chosen[back], first[back], ratio[back])


def _parts(sets: Sequence[Microdata], found: Sequence[Neighbours]) -> pl.DataFrame:
    ids = [data.ids(beside=("set", "distance", "ratio")) for data in sets]
    if len({(i.name, i.dtype) for i in ids}) > 1:  # sets under different roles
        ids = [pl.Series("record", np.arange(data.height)) for data in sets]
    return pl.concat(
        pl.DataFrame({"set": k, i.name: i.gather(s.rows), "distance": s.distance, "ratio": s.ratio})
        for k, (i, s) in enumerate(zip(ids, found, strict=True), 1)
    ).with_columns(pl.col("ratio").fill_nan(None))


def _copies(space: Points, file: int) -> float:
    """The share of all records of a file that equal an original on every variable."""
    names = [f"c{j}" for j in range(len(space.variables))]
    originals, records = (pl.DataFrame(space.files[i], schema=names).fill_nan(None) for i in (0, file))
    return records.join(originals.unique(), on=names, how="semi", nulls_equal=True).height / records.height


def _compared(
    found: Sequence[Neighbours],
    reference: Neighbours,
    quantile: float,
    files: Sequence[Microdata],
    original: Microdata,
) -> tuple[float, dict[str, float]]:
    """The value, and the figures that tell what it means. files: the reference, then those of `found`."""
    threshold, closest = reference.quantile(quantile), reference.quantile(_CLOSEST * quantile)
    value, expected = fmean(s.within(threshold) for s in found), reference.within(threshold)
    near, near_expected = fmean(s.within(closest) for s in found), reference.within(closest)
    counted = min(s.independent(threshold, f, original) for s, f in zip(found, files[1:], strict=True))
    others = reference.independent(threshold, files[0], original)
    low, high = wilson(value, counted)
    excess = excess_interval(value, expected, near, near_expected, counted, others)
    figures = {
        "reference_share": expected,
        "excess": max((value - expected) / (1 - expected), 0.0) if expected < 1 else 0.0,
        "excess_low": max(excess[0], 0.0),
        "excess_high": max(excess[1], 0.0),
        "closest": near,
        "reference_closest": near_expected,
        "independent": counted,
        "reference_independent": others,
        "low": low,
        "high": high,
        "threshold": threshold,
        "reference_copies": reference.copies,
        "reference_median_distance": float(np.median(reference.distance)),
    }
    ratios = reference.ratio[~np.isnan(reference.ratio)]
    if len(ratios):
        figures["reference_median_ratio"] = float(np.median(ratios))
    return value, figures


def excess_interval(
    value: float,
    expected: float,
    near: float,
    near_expected: float,
    counted: float,
    others: float,
    files: int = 1,
) -> tuple[float, float]:
    """How many more than of real people are too close: at least, the larger of both distances, and at most.

    files: of so many the same is asked, and one that is above by chance must not condemn all (see `wilson`).
    The upper end is that of one file: each must be shown to be without an excess.
    """
    low = beyond(value, counted, expected, others, files)[0]
    closest = beyond(near, counted, near_expected, others, files)[0]
    return max(low, closest), beyond(value, counted, expected, others)[1]


def _near(figures: dict[str, float], reference: dict[str, float]) -> tuple[str, ...]:
    """A note where the file as a whole lies nearer to the original than real people do."""
    words = {
        "median_distance": "distance to the nearest original",
        "median_ratio": "ratio to the second nearest",
    }
    near = [
        f"the median {text} is {figures[name]:.2g}, of real people {reference[f'reference_{name}']:.2g}"
        for name, text in words.items()
        if figures.get(name, math.inf) < _FAR_BELOW * reference.get(f"reference_{name}", 0.0)
    ]
    if not near:
        return ()
    return (
        f"The file is nearer to the original than other people are: {'; '.join(near)}. Its records look like "
        "originals that were moved a little, whatever the value.",
    )


def _curves(found: Sequence[Neighbours], reference: Neighbours, threshold: float) -> pl.DataFrame:
    """The shares of both files within some distances: quantiles of both, rounded up, and the threshold."""
    levels = np.linspace(0, _LARGEST, _POINTS)
    files = (*(s.distance for s in found), reference.distance)
    quantiles = np.concatenate([np.quantile(d, levels, method="inverted_cdf") for d in files])
    at = np.unique([0.0, threshold, *(_round_up(q) for q in quantiles.tolist())])
    return pl.DataFrame(
        {
            "distance": at,
            "synthetic": [fmean(s.within(d) for s in found) for d in at],
            "reference": [reference.within(d) for d in at],
        }
    )


def _round_up(distance: float) -> float:
    """To two figures, never below the distance: a step of the curve stays on its side."""
    if distance == 0 or not math.isfinite(distance):
        return distance
    unit = 10.0 ** (math.floor(math.log10(distance)) - 1)
    return float(f"{math.ceil(distance / unit * (1 - SAME)) * unit:.12g}")


def _against_holdout(space: Points, found: Sequence[Neighbours], records: int) -> dict[str, float]:
    """How often a synthetic record is nearer to an original than to the hold-out."""
    tree = space.tree(1, blank_counts=True)
    shares = []
    for i, near in enumerate(found):
        other = neighbours(space, tree, 2 + i, records).distance
        tie = np.abs(near.distance - other) <= SAME * other
        shares.append(float(np.where(tie, 0.5, near.distance < other).mean()))
    n, m = len(space.files[0]), len(space.files[1])
    low, high = wilson(fmean(shares), min(len(s.rows) for s in found))
    return {
        "closer_to_original": fmean(shares),
        "closer_low": low,
        "closer_high": high,
        "closer_expected": n / (n + m),
    }
