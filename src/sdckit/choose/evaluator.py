"""Evaluator: how scenarios are measured for the risk–utility map."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, inf, isnan, nan
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any
from warnings import warn

from sdckit._support.progress import Progress
from sdckit.choose.applicability import unjudged_anywhere, unlinked_by_a_step
from sdckit.choose.assess import assess, listed, options_by_measure
from sdckit.choose.assessment import Assessment
from sdckit.choose.criteria import Accepted
from sdckit.choose.map_charts import expected_quantity
from sdckit.choose.point import Point, comparable, says_nothing
from sdckit.choose.privacy_budget import losses_of
from sdckit.choose.quantity import Quantity
from sdckit.choose.risk_utility_map import RiskUtilityMap
from sdckit.choose.scenario import Scenario, StepCache
from sdckit.choose.store import Store, fingerprint
from sdckit.data.common_columns import categorical_variables
from sdckit.data.effects import merged
from sdckit.data.microdata import Microdata
from sdckit.data.privacy import PrivacyLoss, distinct
from sdckit.data.result import show
from sdckit.errors import OptionError, SdcError, Stopped, preview
from sdckit.estimate.estimated import MEASURES, averaged, estimates_of
from sdckit.methods.processes import sources
from sdckit.methods.registry import find, specs
from sdckit.methods.spec import Kind

Weights = Mapping[str, float]
OF_EVERY_FILE = "table_loss"  # the utility where the usual ones say nothing: of new records, dropped columns
NOT_JUDGED = (
    "a file of new records cannot be cleared without people who were not in the original (a hold-out, which "
    "every risk of new records asks for)"
)


@dataclass(frozen=True)
class Evaluator:
    """How scenarios are measured: the measures of both axes, their options, and where results are kept."""

    risks: Weights
    losses: Weights
    asked: tuple[str, ...]  # further measures the user named
    measure_options: Mapping[str, Any]
    store: Store | None
    accept: Accepted = field(default_factory=Accepted)
    files: StepCache = field(default_factory=StepCache, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs: files are made again there."""
        return {**self.__dict__, "files": StepCache()}

    @classmethod
    def of(
        cls,
        data: Microdata,
        risk: str | Sequence[str] | Weights | None,
        utility: str | Sequence[str] | Weights | None,
        measure_options: Mapping[str, Any],
        cache: str | Path | None,
        extra_measures: str | Sequence[str] = (),
        accept: Accepted | None = None,
    ) -> "Evaluator":
        """The evaluator, with every name and option checked against the data."""
        risk = default_risk(data) if risk is None else risk
        utility = default_utility(data) if utility is None else utility
        risks, losses = weights(risk, Kind.RISK), weights(utility, Kind.UTILITY)
        asked, options = further_measures(extra_measures, measure_options)
        for spec in (Quantity.named(name).spec for name in (*risks, *losses, *asked)):
            spec.check(data, spec.validate(options.get(spec.name, {})))
        about = {
            "risks": risks,
            "losses": losses,
            "extra": asked,
            "options": measure_options,
            "own": sources(),
        }
        store = None if cache is None else Store.of(Path(cache), fingerprint(data, about))
        return cls(risks, losses, asked, measure_options, store, accept or Accepted())

    def check_ceiling(self, max_risk: float | None) -> None:
        """Refuse an accepted risk that is not on the axis of risks."""
        quantities = [Quantity.named(name) for name in self.risks]
        alone = len(quantities) == 1 and quantities[0].low_is_good
        low, high = quantities[0].bounds if alone else (0.0, 1.0)
        if max_risk is None or low <= max_risk <= high:
            return
        first, hint = quantities[0], ""
        if len(quantities) == 1 and not alone:
            turned = show(ceil(1e6 * first.normalised(max_risk)) / 1e6)  # not below: this value is accepted
            hint = f"On this axis {first.spec.name} = {show(max_risk)} is {turned}: max_risk is {turned}."
        what = first.axis_title if len(quantities) == 1 else "the mean of several risks, each from 0 to 1"
        raise OptionError(
            f"max_risk is not on the axis of risks, which is: {what}.",
            given=max_risk,
            allowed=f"{show(low)} to {show(high)}" if high < inf else f"{show(low)} or more",
            hint=hint,
        )

    @property
    def extra_measures(self) -> tuple[str, ...]:
        """What is measured beside the axes: as asked, what the options name to estimate, and its risk."""
        axes = (*self.risks, *self.losses)
        names = [*self.asked, *(name for name in MEASURES if name in self.measure_options)]
        measured = {Quantity.named(name).spec.name for name in (*axes, *names)}
        counted = expected_quantity((*axes, *names))
        if measured & {*MEASURES} and counted:
            names.append(counted)
        return tuple(name for name in dict.fromkeys(names) if name not in axes)

    def original(self, data: Microdata) -> Point:
        """The untouched file on the map; an error where what was asked for cannot be measured."""
        point = self.point(data, Scenario("original"), (0,))
        if point.error or point.left_out:
            reasons = "; ".join(dict.fromkeys(reason.rstrip(".") for reason in point.left_out.values()))
            raise OptionError(
                point.error or f"The original cannot be measured: {reasons}.",
                hint="" if data.engine == "polars" or not point.left_out else self._what_can_be_compared(),
            )
        return point

    def _what_can_be_compared(self) -> str:
        """What to do where a risk on the axis has no number, as the records are not in memory."""
        takers = [q for q in map(Quantity.named, self.risks) if "intruders" in q.spec.options.model_fields]
        others = "write on_axis: false for intruders who need them there, or " if takers else ""
        return f"To compare scenarios, {others}take a part of the file into memory."

    def map(
        self,
        data: Microdata,
        points: Iterable[Point],
        original: Point,
        max_risk: float | None,
        seed: int | None,
    ) -> RiskUtilityMap:
        """The map of these points."""
        found = [*points]
        return RiskUtilityMap(
            data,
            tuple(comparable(found)),
            original,
            self.risks,
            self.losses,
            max_risk,
            seed,
            self.measure_options,
            self.extra_measures,
            self.accept,
            tuple(distinct(loss for point in found for loss in point.privacy)),
        )

    def point(
        self,
        data: Microdata,
        scenario: Scenario,
        seeds: Sequence[int],
        progress: Progress | None = None,
    ) -> Point:
        """The scenario's place on the map: the mean over the seeds, one where nothing is random."""
        used = seeds if is_random(scenario) else (0,)
        points = [self._once(data, scenario, s, progress) for s in used]
        broken = next((p for p in points if not p.ok), None)
        if broken is not None or len(points) == 1:
            return broken or points[0]
        return Point(
            scenario.name,
            scenario,
            fmean(p.risk for p in points),
            fmean(p.loss for p in points),
            {n: fmean(p.risk_values[n] for p in points) for n in self.risks},
            {n: fmean(p.loss_values[n] for p in points) for n in self.losses},
            sum(p.seconds for p in points),
            runs=tuple((p.risk, p.loss) for p in points),
            extra={n: fmean(p.extra[n] for p in points) for n in self.extra_measures},
            left_out={name: reason for p in points for name, reason in p.left_out.items()},
            estimates=averaged([p.estimates for p in points]),
            warnings=points[0].warnings,
            lost=points[0].lost,
            new_records=points[0].new_records,
            not_judged=points[0].not_judged,
            found_by=_most_found(points),
            privacy=tuple(distinct(loss for p in points for loss in p.privacy)),
        )

    def _once(self, data: Microdata, scenario: Scenario, seed: int, progress: Progress | None) -> Point:
        kept = self.store.get(scenario, seed) if self.store else None
        if kept is not None:
            return kept
        point = self._measure(data, scenario, seed, progress)
        if self.store:
            self.store.put(point, seed)
        return point

    def _measure(self, data: Microdata, scenario: Scenario, seed: int, progress: Progress | None) -> Point:
        start = perf_counter()
        axes = [Quantity.named(name).spec for name in (*self.risks, *self.losses)]
        if unlinked := unlinked_by_a_step(data, scenario, axes):
            return Point(scenario.name, scenario, nan, nan, {}, {}, 0.0, unlinked)
        privacy: tuple[PrivacyLoss, ...] = ()
        wanted = {name: Quantity.named(name) for name in (*self.risks, *self.losses, *self.extra_measures)}
        try:
            protected = scenario.protect(data, seed, progress, cache=self.files)
            privacy = losses_of(protected)
            drawn = merged(entry.effects for entry in protected.steps_since(data)).new_records
            done = assess(
                data,
                protected,
                measures=[q.spec.name for q in wanted.values()],
                progress=progress,
                **self.measure_options,
            )
            risks = {name: rounded(wanted[name].of(done.after)) for name in self.risks}
            losses = {name: rounded(wanted[name].of(done.utility)) for name in self.losses}
        except Stopped:
            raise
        except SdcError as error:
            seconds = perf_counter() - start
            return Point(scenario.name, scenario, nan, nan, {}, {}, seconds, str(error), privacy=privacy)
        omitted = {o.measure: f"{o.measure}: {o.reason}" for o in done.omitted}
        values = {**risks, **losses}
        missing = {n: omitted[wanted[n].spec.name] for n in values if wanted[n].spec.name in omitted}
        lost = {n: done.utility[q.spec.name].lost for n, q in wanted.items() if q.spec.name in done.utility}
        if not missing:  # of the original: only what no step could change
            missing = _no_number(values if scenario.steps else unjudged_anywhere(data, risks), done, lost)
        extra, left_out = _extra({name: wanted[name] for name in self.extra_measures}, done, omitted)
        return Point(
            scenario.name,
            scenario,
            combine(risks, self.risks),
            combine(losses, self.losses),
            risks,
            losses,
            perf_counter() - start,
            "; ".join(dict.fromkeys(missing.values())),
            extra=extra,
            left_out={**left_out, **missing},
            estimates=estimates_of(done.utility),
            warnings=protected.warnings,
            lost=lost,
            privacy=privacy,
            new_records=drawn,
            not_judged=NOT_JUDGED if drawn and not self._has_holdout else "",
            found_by=() if drawn else _found_by(done),
        )

    @property
    def _has_holdout(self) -> bool:
        """Whether people were held back for every measure that compares new records with them."""
        options = options_by_measure(self.measure_options, "A comparison")
        asked = [s.name for s in specs(Kind.RISK) if s.judges and "holdout" in s.options.model_fields]
        return all(options.get(name, {}).get("holdout") is not None for name in asked)


def _found_by(done: Assessment) -> tuple[tuple[str, float, float | None], ...]:
    """Who finds how many at most, and what is accepted of him, where intruders were measured."""
    result = done.after.get("reidentification_risk")
    table = None if result is None else result.tables.get("intruders")
    rows = () if table is None else table.iter_rows(named=True)
    return tuple((row["intruder"], rounded(row["upper"]), row["max_risk"]) for row in rows)


def _most_found(points: Sequence[Point]) -> tuple[tuple[str, float, float | None], ...]:
    """The most that each intruder finds in the files of several seeds: any of them may be released."""
    of_each = zip(*(p.found_by for p in points), strict=True)
    return tuple((ways[0][0], max(share for _, share, _ in ways), ways[0][2]) for ways in of_each)


def _extra(
    wanted: Mapping[str, Quantity], done: Assessment, omitted: Mapping[str, str]
) -> tuple[dict[str, float], dict[str, str]]:
    """The numbers beside the axes, and why some are missing: that does not spoil the scenario."""
    results = {**done.after, **done.utility}
    extra: dict[str, float] = {}
    left_out: dict[str, str] = {}
    for name, quantity in wanted.items():
        try:
            extra[name] = rounded(quantity.of(results))
        except OptionError as error:  # no such figure
            extra[name], left_out[name] = nan, str(error)
        if quantity.spec.name in omitted:
            left_out[name] = omitted[quantity.spec.name]
    return extra, left_out


def _no_number(
    values: Mapping[str, float], done: Assessment, lost: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Why a number of an axis is nan; empty where all are there."""
    results = {**done.after, **done.utility}
    for name in (name for name, value in values.items() if isnan(value)):
        measure = Quantity.named(name).spec.name
        if lost.get(name):
            return {name: says_nothing(name, lost[name])}
        notes = results[measure].notes
        return {name: f"{measure}: {notes[-1] if notes else 'no number came out'}"}
    return {}


def rounded(value: float) -> float:
    """The number to 12 figures: the last ones depend on the order of sums, which threads decide.

    >>> rounded(0.1 + 0.2)
    0.3
    """
    return float(f"{value:.12g}")


def is_random(scenario: Scenario) -> bool:
    """Whether some step draws random numbers."""
    return any(step.random for step in scenario.steps)


def combine(values: Mapping[str, float], shares: Weights) -> float:
    """One number for the axis, low being good: the measure itself, or the mean of normalised measures."""
    if len(shares) == 1:
        name, value = next(iter(values.items()))
        return Quantity.named(name).on_axis(value)
    total = sum(shares.values())
    return sum(
        share / total * Quantity.named(name).normalised(values[name]) for name, share in shares.items()
    )


def weights(asked: str | Sequence[str] | Weights, kind: Kind) -> dict[str, float]:
    """The measures of an axis with their shares."""
    if isinstance(asked, str):
        shares = {asked: 1.0}
    elif isinstance(asked, Mapping):
        shares = dict(asked)
    else:
        shares = dict.fromkeys(listed(asked, kind.value), 1.0)
    numbers = all(isinstance(share, int | float) and 0 < share < inf for share in shares.values())
    if not shares or not numbers:
        raise OptionError(f"{kind.value} needs measures with positive shares.", given=asked)
    for name in shares:
        Quantity.named(name, kind)
    return shares


def further_measures(
    extra_measures: str | Sequence[str], measure_options: Mapping[str, Any]
) -> tuple[tuple[str, ...], dict[str, dict[str, Any]]]:
    """The measures beside the axes, and the options of all by measure: names and options are checked."""
    options = options_by_measure(measure_options, "A comparison", "risk, utility, extra_measures, max_risk")
    if not isinstance(extra_measures, Sequence):
        raise OptionError(
            "extra_measures names measures.",
            given=preview(extra_measures),
            allowed="a name or a list of names",
        )
    asked = (extra_measures,) if isinstance(extra_measures, str) else tuple(extra_measures)
    for name in asked:
        Quantity.named(name, Kind.RISK, Kind.UTILITY)
    return asked, options


def default_risk(data: Microdata) -> str:
    """The risk that means the same after every protection, where it can be measured."""
    spec = find("reidentification_risk")
    known = data.roles.keys or data.roles.numeric
    return spec.name if known and data.engine in spec.engines else "individual_risk"


def default_utility(data: Microdata) -> str | list[str]:
    """What is lost in the categories and in the numbers, as far as the data have any."""
    categories = categorical_variables(data, data)
    lost = {"entropy_loss.share": categories, "il1s": data.roles.numeric}
    return [name for name, columns in lost.items() if columns] or "il1s"


def lack_a_loss(points: Iterable[Point]) -> bool:
    """Whether scenarios were measured, and the losses say nothing of any of them."""
    measured = [p for p in points if not isnan(p.risk)]
    return bool(measured) and all(isnan(p.loss) for p in measured)


def old_names(
    extra_measures: str | Sequence[str], measure_options: Mapping[str, Any]
) -> tuple[str | Sequence[str], dict[str, Any]]:
    """What was called `also` until version 0.2, under its new name."""
    options = dict(measure_options)
    if "also" in options:
        text = "Option 'also' is now 'extra_measures'; the old name goes with version 0.3."
        warn(text, DeprecationWarning, stacklevel=3)
        extra_measures = options.pop("also")
    return extra_measures, options
