"""Regression: what a model says before and after, coefficient by coefficient."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
import polars as pl

from sdckit import charts
from sdckit._support.messages import join_names
from sdckit.data.common_columns import as_list
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.errors import DataError, OptionError
from sdckit.estimate.combine import combined
from sdckit.estimate.comparison import Comparison, compared, comparison_frame
from sdckit.estimate.engine_regression import fit_on_engine
from sdckit.estimate.formula import Encodings, Matrix, Model, encodings, model_matrix, parse
from sdckit.estimate.regression import Family, Fit, Spread, fit, with_replicates
from sdckit.estimate.replicates import given_replicates
from sdckit.estimate.replication import ReplicateOptions, replicate_columns
from sdckit.estimate.sampling import SamplingOptions, design_of
from sdckit.estimate.stage import SinglePsu
from sdckit.estimate.variance import LOST, Estimate
from sdckit.methods.options import Option, Requires
from sdckit.methods.registry import utility
from sdckit.methods.spec import Better, Figure, records, share
from sdckit.utility._estimates import (
    OVERLAPS,
    R_SQUARED,
    REPLICATE_RULES,
    FamilyOption,
    Formula,
    FpcOption,
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

DESIGNED = (Spread.AUTO, Spread.DESIGN)


@utility(
    "Regression coefficients and their confidence intervals",
    family="What analysts compute",
    bounds=(0, 1),
    better=Better.HIGH,
    unit="mean overlap of the confidence intervals",
    several=True,
    share=True,
    engines="all",
    main="formula",
    rules=(
        Requires("replicate_weights", "variance", (Spread.REPLICATES,)),
        Requires("mse", "variance", (Spread.REPLICATES,)),
        Requires("fpc", "variance", DESIGNED),
        Requires("single_psu", "variance", DESIGNED),
        Requires("single_psu_domains", "variance", DESIGNED),
        *REPLICATE_RULES,
    ),
    figures={
        **OVERLAPS,
        "same_sign": share("Same sign", better=Better.HIGH),
        "same_significance": share("Same significance", better=Better.HIGH),
        "overlap_of_common": share("Overlap over the coefficients of both files", better=Better.HIGH),
        "coefficients": Figure("Coefficients of the model", "coefficients", Better.NEITHER),
        "terms_lost": Figure("Terms lost", "coefficients"),
        "records_original": records("Records used, original", better=Better.NEITHER),
        "records_protected": records("Records used, protected", better=Better.NEITHER),
        **R_SQUARED,
    },
    chart=charts.estimates,
    reference="Karr, Kohnen, Oganian, Reiter & Sanil (2006); Binder (1983); Reiter (2003)",
    interpretation=(
        "1: the same coefficients with the same intervals. 0.9 and more: the analysis says the same; below "
        "0.5 an analyst would draw other conclusions on some coefficients. Terms lost count as 0."
    ),
)
def regression(
    original: Microdata,
    protected: Microdata | Sequence[Microdata],
    *,
    formula: Formula,
    family: FamilyOption = Family.OLS,
    variance: Annotated[
        Spread,
        Option(
            "Variance",
            "How the variances of the coefficients are estimated.",
            choices={
                "auto": "of the survey design where the data have one, else of the model",
                "model": "of the model",
                "design": "of the survey design: weights, strata and clusters",
                "replicates": "by replicate weights of the data",
            },
        ),
    ] = Spread.AUTO,
    level: LevelOption = 0.95,
    synthesis: SynthesisOption = None,
    reference: Annotated[
        Mapping[str, Any] | None,
        Option(
            "Reference categories",
            "For each categorical predictor the category that the others are compared with.",
            absent="the first category",
        ),
    ] = None,
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
) -> Result:
    r"""Fit the same model to both files and compare every coefficient.

    The value is the mean, over the coefficients of the original, of the overlap of the confidence intervals
    (Karr et al. 2006) cut to 0…1. `parts`: a row per coefficient with both estimates, variances, intervals,
    the raw overlap (negative where intervals are apart), whether the original interval contains the new
    estimate, whether sign and significance stay, and a verdict. figures: R² of both files,
    1 − Σw(y−ŷ)²/Σw(y−ȳ)², for logit and poisson, too (there it is Efron's), among others.

    `formula` as in R: "log(wage) ~ sex + age + I(age^2)". `family`: ols, logit or poisson. `variance`: of the
    survey design (sandwich; weights, strata and clusters by their roles; t with PSUs − strata degrees of
    freedom) where the data have one of these roles, else of the model; or as told. With weights,
    variance="model" is weighted least squares as in R's lm. `fpc`, `units`, `single_psu` and
    `single_psu_domains` say more of the design, as in `indicators`; records left out count as outside the
    domain. variance="replicates" fits the model under each of the `replicate_weights`,

    .. math:: V = s\sum_j r_j (b_j-c)(b_j-c)^\top

    with the other options of replicates, and degrees of freedom, as in `indicators`.

    Categories have treatment contrasts; the reference is the first, in sorted order, that both files have.
    `reference` chooses another, {"region": "North"}, as does C(region, Treatment("North")) in the formula;
    where the protected file has lost it, the next that both files have stands in and a note says so.
    A predictor recoded into intervals enters with their midpoints. Terms in one of the files only are
    listed; a term that the protected file lost counts as 0, and `overlap_of_common` leaves it out. Where
    outcomes are predicted with certainty (nobody in a category has a 1), coefficients have no limit: those
    have no interval and do not count, but as 0 if it is the protected file alone that gives none.
    Missing values: records with any are left out, and how many is said for each file. Several synthetic
    sets are combined by the rules for samples, partial or full synthesis as in `indicators`; a note says for
    how many coefficients the rule for full synthesis gave a negative variance and what stands for it.
    References: Karr et al. (2006); Binder (1983); Wolter (2007); Reiter (2002, 2003); Raab, Nowok & Dibben
    (2016). Departures: svyglm in R's survey package has fewer degrees of freedom, by the number of
    coefficients but one.

    The Mincer equation, with income rounded to 5,000:

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.demo.survey(n=2000, seed=1)
    >>> rounded = data.with_frame(data.frame.with_columns((pl.col("income") / 5000).round() * 5000 + 1))
    >>> mincer = "log1p(income) ~ sex + education + age + I(age^2)"
    >>> result = sdc.utility.regression(data, rounded, formula=mincer)
    >>> result.parts["term"].to_list()[:3]
    ['Intercept', 'sex[T.Female]', 'education[T.Primary]']
    """
    sets = as_list(protected, "regression")
    how = CoefficientVariance(
        variance,
        SamplingOptions(tuple(fpc or ()), tuple(units), single_psu, single_psu_domains),
        ReplicateOptions(
            tuple(replicate_weights), replicate_kind, replicate_scale, replicate_factors, replicate_rho, mse
        ),
    )
    how.check(original)
    fits, notes = fitted([original, *sets], formula, family, how, reference)
    notes += noise_note(sets)
    first = fits[0]
    if first is None:
        raise DataError("The original has fewer than two complete records for this formula.")
    before = first.estimates(level)
    size = relative_size(original, sets)
    kind = synthesis_of(original, sets, synthesis)
    found = [{} if f is None else f.estimates(level) for f in fits[1:]]
    there = [[one.get(name, LOST) for one in found] for name in before]
    after, told = combined(there, synthesis=kind, size=size, level=level, what="coefficients")
    lines = [(name, a, b, compared(a, b)) for (name, a), b in zip(before.items(), after, strict=True)]
    notes += (*told, *single_file_note(original, sets))
    new = [name for one in found for name in one if name not in before]
    if new:
        notes.append(f"Terms in the protected file only: {join_names(dict.fromkeys(new), 8)}.")
    return _result(lines, first, fits[1], notes)


@dataclass(frozen=True, slots=True)
class CoefficientVariance:
    """How the variances of coefficients are made."""

    spread: Spread
    sampling: SamplingOptions = field(default_factory=SamplingOptions)
    replication: ReplicateOptions = field(default_factory=ReplicateOptions)

    def check(self, data: Microdata) -> None:
        """Refuse what does not go together, before any work."""
        if self.spread is Spread.REPLICATES:
            self.replication.check()
            if data.engine != "polars":
                raise OptionError(
                    "Replicate weights need the records in memory.",
                    given=f"the {data.engine} engine",
                    allowed="variance: auto, model, design",
                    hint="data.collect() brings them into memory.",
                )
        self.sampling.check(data)

    def by_design(self, data: Microdata) -> bool:
        """Whether variances are those of the design of a file."""
        roles = data.roles
        designed = bool(roles.strata or self.sampling.fpc) or bool(roles.weight or roles.cluster)
        return designed if self.spread is Spread.AUTO else self.spread is not Spread.MODEL

    def of(self, data: Microdata, matrix: Matrix, family: Family) -> tuple[Fit, tuple[str, ...]]:
        """The model fitted to one file, and what must be said of the design."""
        replicated, by_design = self.spread is Spread.REPLICATES, self.by_design(data)
        rule = self.sampling.single_psu if by_design and not replicated else SinglePsu.CERTAINTY
        design, notes = design_of(data, replace(self.sampling, single_psu=rule))
        found = fit(matrix, design, family=family, by_design=by_design)
        if replicated:
            given = self.replication
            weights = replicate_columns(data, given.weights, negative=False)
            sets = given_replicates(design, weights, given.squares(), mse=given.mse is not False)
            found = with_replicates(found, matrix, sets, family=family)
        return found, notes


def fitted(
    files: Sequence[Microdata],
    formula: str,
    family: Family,
    variance: CoefficientVariance,
    reference: Mapping[str, Any] | None = None,
) -> tuple[list[Fit | None], list[str]]:
    """The model on every file, None where it cannot be fitted, and what must be said."""
    model = parse(formula, files[0], reference)
    encoded, notes = encodings(model, files, binary=family is Family.LOGIT)
    fits: list[Fit | None] = []
    for i, (data, how) in enumerate(zip(files, encoded, strict=True)):
        file = "original" if i == 0 else "protected"
        found, used, said = _fit(data, model, how, family, variance)
        fits.append(found)
        if found is None:
            notes.append(f"The {file} file has fewer than two complete records for this formula.")
            continue
        dropped = data.height - used
        if dropped:
            notes.append(
                f"{dropped:,} of {data.height:,} {file} records are left out for missing or infinite values."
            )
        notes += [f"{file.capitalize()} file: {note}" for note in (*said, *found.notes)]
    return fits, list(dict.fromkeys(notes))


def _fit(
    data: Microdata, model: Model, how: Encodings | None, family: Family, variance: CoefficientVariance
) -> tuple[Fit | None, int, tuple[str, ...]]:
    """The model on one file, None where it cannot be fitted; the records used; notes on the design."""
    if how is None:
        return None, 0, ()
    if data.engine != "polars":
        designed = variance.by_design(data)
        return fit_on_engine(data, model, how, family=family, by_design=designed, sampling=variance.sampling)
    matrix = model_matrix(model, how, data.frame)
    if len(matrix.y) < 2:
        return None, len(matrix.y), ()
    found, said = variance.of(data, matrix, family)
    return found, len(matrix.y), said


def _result(
    lines: Sequence[tuple[str, Estimate, Estimate, Comparison]],
    first: Fit,
    second: Fit | None,
    notes: list[str],
) -> Result:
    lost = [name for name, _, b, _ in lines if not math.isfinite(b.value)]
    if lost:
        notes.append(f"Terms in the original only, counted as 0: {join_names(lost, 8)}.")
    shares = [c.share for _, _, _, c in lines if not math.isnan(c.share)]
    signs = [_same(a.value > 0, b.value > 0, b) for _, a, b, _ in lines]
    significant = [
        _same(_excludes_zero(a), _excludes_zero(b), b) and (math.isnan(a.low) or not math.isnan(b.low))
        for _, a, b, _ in lines
    ]
    frame = pl.DataFrame({"term": [name for name, *_ in lines]}).hstack(
        comparison_frame([(a, b, c) for _, a, b, c in lines]),
    )
    frame = frame.with_columns(
        pl.Series("same_sign", signs, dtype=pl.Boolean),
        pl.Series("same_significance", significant, dtype=pl.Boolean),
    )
    if not shares:
        return Result(math.nan, parts=frame, notes=(*notes, "No coefficient has an interval."))
    common = [c.share for name, _, _, c in lines if name not in lost and not math.isnan(c.share)]
    value = float(np.mean(shares))
    figures = {
        "lost": 1 - value,
        "coefficients": len(lines),
        "terms_lost": len(lost),
        "contained": float(np.mean([c.contained for _, _, _, c in lines])),
        "same_sign": float(np.mean(signs)),
        "same_significance": float(np.mean(significant)),
        "records_original": first.records,
        "records_protected": second.records if second else 0,
    }
    if common:
        figures["overlap_of_common"] = float(np.mean(common))
    for name, one in (("original", first), ("protected", second)):
        if one is not None and math.isfinite(one.r_squared):
            figures[f"r_squared_{name}"] = one.r_squared
    return Result(value, figures, frame, tuple(notes))


def _same(a: bool, b: bool, protected: Estimate) -> bool:
    return math.isfinite(protected.value) and a == b


def _excludes_zero(one: Estimate) -> bool:
    return one.low > 0 or one.high < 0
