"""What the commands take from a plan."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from sdckit._support.accepted_risk import accepted_risk
from sdckit._support.messages import join_names
from sdckit.choose.assess import assess, check_names, options_by_measure, with_intruders
from sdckit.choose.assessment import Assessment
from sdckit.choose.compare import check_numbers, compare
from sdckit.choose.criteria import Accepted
from sdckit.choose.evaluator import further_measures, weights
from sdckit.choose.plan import Plan
from sdckit.choose.preparation import header_under_roles, read_entries
from sdckit.choose.risk_utility_map import RiskUtilityMap
from sdckit.choose.scenario import Scenario
from sdckit.choose.search import search
from sdckit.choose.space import Space
from sdckit.cli._engine import MeasureOptions, check_columns, get_ready, read_data
from sdckit.cli._files import may_write, read_protected
from sdckit.cli._progress import following, say
from sdckit.data.intruder import Intruder
from sdckit.data.microdata import Microdata
from sdckit.data.roles import roles_of
from sdckit.errors import OptionError
from sdckit.methods.registry import find, specs
from sdckit.methods.spec import Compares, Kind

Axis = str | list[str] | dict[str, float]
CACHE = ".sdckit"  # beside the plan
ELSEWHERE = ("seed", "jobs", "trials", "minutes", "cache", "progress")  # not for the assess section


class Settings(BaseModel):
    """The `assess:` section of a plan; entries beyond these are options of measures."""

    model_config = ConfigDict(extra="allow")

    max_risk: float | None = None
    measures: list[str] | None = None
    linked: bool | None = None
    risk: Axis | None = None
    utility: Axis | None = None
    extra_measures: str | list[str] = []
    accept: dict[str, Any] = {}

    @property
    def measure_options(self) -> dict[str, Any]:
        """Options of measures, by the measure's name."""
        return dict(self.model_extra or {})

    @property
    def risk_axis(self) -> list[str]:
        """The measures of the risk axis, or their figures."""
        return [self.risk] if isinstance(self.risk, str) else list(self.risk or ())


def settings(section: Mapping[str, Any], **given: Any) -> Settings:
    """The settings of a plan's assess section; what was given on the command line comes first."""
    chosen = {"extra_measures" if name == "also" else name: value for name, value in section.items()}
    chosen |= {name: value for name, value in given.items() if value is not None}
    told = given.get("max_risk") is not None
    name = "--max-risk" if told else "Entry 'max_risk' of section 'assess'"
    chosen["max_risk"] = accepted_risk(chosen.get("max_risk"), name)
    misplaced = next((name for name in section if name in ELSEWHERE), None)
    if misplaced is not None:
        hint = (
            "In a plan it stands beside the sections."
            if misplaced == "seed"
            else "See sdckit compare --help."
        )
        raise OptionError(f"Section 'assess' has no entry {misplaced!r}.", hint=hint)
    try:
        return Settings(**chosen)
    except ValidationError as error:
        first = error.errors()[0]
        raise OptionError(
            f"Entry {first['loc'][0]!r} of section 'assess' is not valid.", given=repr(first["input"])
        ) from None


def for_one_release(chosen: Settings) -> Settings:
    """A plan's settings for one release: its max_risk holds there only if it is a share of persons found."""
    axis = [find(name.partition(".")[0], Kind.RISK) for name in chosen.risk_axis]
    figures = any("." in name for name in chosen.risk_axis)
    if chosen.max_risk is None or (not figures and all(s.compares is Compares.PERSONS for s in axis)):
        return chosen
    say(
        f"The plan's max_risk is not checked here: it is for its risk axis ({', '.join(chosen.risk_axis)}), "
        "and here the share of persons that an intruder finds is checked. sdckit compare checks it."
    )
    return chosen.model_copy(update={"max_risk": None})


def one_scenario(plan: Plan, name: str | None) -> Scenario:
    """The scenario of this name, or the only one."""
    need_scenarios(plan)
    if name is not None:
        return plan.find(name)
    if len(plan.scenarios) == 1:
        return plan.scenarios[0]
    raise OptionError(
        "The plan has several scenarios; choose one with --scenario.",
        allowed=join_names((s.name for s in plan.scenarios), 60),
    )


def need_scenarios(plan: Plan) -> None:
    """Refuse a plan without scenarios; one with a search space alone has yet to be searched."""
    if plan.scenarios:
        return
    hint = "Add a section scenarios: to the file."
    if plan.search:
        hint = (
            "It has a search space: sdckit search PLAN.yaml --save CHOSEN.yaml finds scenarios in it and "
            "writes them to a new plan, which has them."
        )
    raise OptionError("The plan has no scenarios.", hint=hint)


def compared(plan: Plan, *, seed: int | None, jobs: int, **given: Any) -> RiskUtilityMap:
    """All scenarios of the plan on one map."""
    need_scenarios(plan)
    chosen = settings(plan.assess, **given)
    options = _check_axes(plan, chosen)
    check_numbers(chosen.max_risk, seed=seed, jobs=jobs)
    judged = _judged(plan, seed, chosen)
    data = read_data(plan, plan.scenarios, measures=options)
    _say_unweighted(data)
    with following("Scenario", finished=True) as tell:
        return compare(data, plan.scenarios, jobs=jobs, progress=tell, **judged, **chosen.measure_options)


def searched(
    plan: Plan, *, trials: int, minutes: float | None, seed: int | None, jobs: int, **given: Any
) -> RiskUtilityMap:
    """The plan's search space, explored."""
    if not plan.search:
        raise OptionError(
            "The plan has no search space.", hint="Add a section search: with steps to the file."
        )
    chosen = settings(plan.assess, **given)
    options = _check_axes(plan, chosen)
    check_numbers(chosen.max_risk, seed=seed, jobs=jobs)
    space = Space.of(plan.search)
    judged = _judged(plan, seed, chosen)
    data = read_data(plan, space.at_the_ends(), measures=options)
    _say_unweighted(data)
    with following("Trial", finished=True) as tell:
        judged |= {"trials": trials, "minutes": minutes, "jobs": jobs}
        return search(data, plan.search, progress=tell, **judged, **chosen.measure_options)


def _check_axes(plan: Plan, chosen: Settings) -> MeasureOptions:
    """Refuse measures and options that there are not, before an engine starts; the options by measure."""
    for axis, kind in ((chosen.risk, Kind.RISK), (chosen.utility, Kind.UTILITY)):
        if axis is not None:
            weights(axis, kind)
    Accepted.of(chosen.accept)
    asked = with_intruders(plan.intruders or None, chosen.measure_options)
    return further_measures(chosen.extra_measures, asked)[1]


def _check_measures(chosen: Settings, intruders: Sequence[Intruder]) -> MeasureOptions:
    """The same for an assessment."""
    check_names(chosen.measures)
    Accepted.of(chosen.accept)
    return options_by_measure(with_intruders(intruders or None, chosen.measure_options))


def _say_unweighted(data: Microdata, measures: Sequence[str] | None = None) -> None:
    """Say that risks are those of the records themselves, which somebody who forgot the weight must know."""
    risks = measures is None or any(spec.name in measures for spec in specs(Kind.RISK))
    if risks and data.roles.keys and data.roles.weight is None:
        say(
            "No weight: the file is taken for the whole population. If it is a sample, give weight: under "
            "data: in the plan, or --weight; if it came without weights, the preparation equal_weights makes "
            "them from the number of people."
        )


def _judged(plan: Plan, seed: int | None, chosen: Settings) -> dict[str, Any]:
    """What comparing and searching take alike."""
    return {
        "risk": chosen.risk,
        "utility": chosen.utility,
        "extra_measures": chosen.extra_measures,
        "max_risk": chosen.max_risk,
        "accept": chosen.accept,
        "intruders": plan.intruders or None,
        "seed": plan.seed if seed is None else seed,
        "cache": _cache(plan),
    }


def _cache(plan: Plan) -> Path | None:
    """Where finished scenarios are kept; nowhere, with a note, if that cannot be done."""
    engine = plan.data.get("engine", "polars")
    if engine != "polars":
        say(f"Finished scenarios are not kept: with engine: {engine} the data are not in memory.")
        return None
    folder = plan.folder / CACHE
    if may_write(folder if folder.exists() else plan.folder):
        return folder
    say(f"Finished scenarios are not kept: no permission to write to {folder}.")
    return None


def assessed(plan: Plan, name: str, *, seed: int | None) -> Assessment:
    """One scenario of the plan, carried out and measured."""
    chosen, scenario = for_one_release(settings(plan.assess)), plan.find(name)
    options = _check_measures(chosen, plan.intruders)
    used = plan.seed if seed is None else seed
    data = read_data(plan, [scenario], measures=options)
    with following("Step") as tell:
        protected = scenario.protect(data, seed=used, progress=tell)
    return replace(measured(data, protected, chosen, plan.intruders), scenario=name, seed=used)


def measured(
    original: Microdata,
    protected: Microdata | Sequence[Microdata],
    chosen: Settings,
    intruders: Sequence[Intruder] = (),
) -> Assessment:
    """The original compared with a file, or with several synthetic ones, as the settings say."""
    options: dict[str, Any] = {
        "measures": chosen.measures,
        "max_risk": chosen.max_risk,
        "linked": chosen.linked,
        "accept": chosen.accept,
        "intruders": intruders or None,
        **chosen.measure_options,
    }
    _say_unweighted(original, chosen.measures)
    with following("Measure") as tell:
        return assess(original, protected, progress=tell, **options)


def measured_alone(data: Microdata, chosen: Settings) -> Assessment:
    """The risks of one file, as far as they need no second one."""
    alone = [spec.name for spec in specs(Kind.RISK) if spec.compares is Compares.ONE_FILE]
    wanted = alone if chosen.measures is None else [m for m in chosen.measures if m in alone]
    if not wanted:
        raise OptionError(
            "None of the measures is a risk of one file.",
            given=join_names(chosen.measures or ()),
            allowed=join_names(alone, 60),
            hint="Give the protected file as well.",
        )
    return replace(measured(data, data, chosen.model_copy(update={"measures": wanted})), before={})


def measured_files(
    original: Path,
    protected: Sequence[Path],
    entries: Mapping[str, Any],
    chosen: Settings,
    intruders: Sequence[Intruder] = (),
    folder: Path = Path(),
) -> Assessment:
    """The original and what was made of it, or one file alone, read under a data section and measured.

    folder: where files that preparation names are looked for.
    """
    options = _check_measures(chosen, intruders)
    header = header_under_roles(original, entries)
    if header is not None:
        check_columns(header, options)
    get_ready(str(entries.get("engine", "polars")), [original, *protected])
    roles = {name: value for name, value in entries.items() if name != "file"}
    first = read_entries(original, roles if protected else {**roles, "keep_direct": True}, folder)
    if not (first.roles.keys or first.roles.numeric or first.roles.sensitive):
        say(
            "No column has a role, so few measures apply. Give --keys, what an intruder may know, and "
            "--numeric, the numbers to protect, or a --plan. "
            f"Which columns there are and what they could be: sdckit columns {shlex.quote(str(original))}"
        )
    if not protected:
        return measured_alone(first, chosen)
    direct = roles_of(direct=roles.get("direct")).direct
    made = []
    for path in protected:
        data, absent = read_protected(path, first, direct, roles.get("engine", "polars"))
        which = "the protected file" if len(protected) == 1 else path.name
        if absent:
            say(f"Not in {which}: {', '.join(absent)}")
        if data.roles.direct:
            say(f"Warning: {which} still has direct identifiers: {', '.join(data.roles.direct)}")
        made.append(data)
    return measured(first, made[0] if len(made) == 1 else made, chosen, intruders)
