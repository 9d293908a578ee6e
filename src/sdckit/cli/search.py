"""`sdckit search`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdckit.cli._engine import Engine
from sdckit.cli._options import (
    Audience,
    Axis,
    ExtraMeasures,
    For,
    Force,
    Jobs,
    Json,
    MaxRisk,
    PlanFile,
    ReportFile,
    Seed,
    expanded,
    names,
    shares,
)

if TYPE_CHECKING:
    from sdckit.choose.plan import Plan
    from sdckit.choose.risk_utility_map import RiskUtilityMap


def search(
    plan: PlanFile,
    trials: Annotated[int, typer.Option(min=1, help="How many different scenarios to try.")] = 100,
    minutes: Annotated[float | None, typer.Option(min=0, help="Stop after this time.")] = None,
    risk: Axis = None,
    utility: Axis = None,
    extra: ExtraMeasures = None,
    max_risk: MaxRisk = None,
    seed: Seed = None,
    jobs: Jobs = 1,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="PLAN.yaml",
            callback=expanded,
            help="Write the best scenarios as a plan, for sdckit protect.",
        ),
    ] = None,
    report_file: ReportFile = None,
    audience: For = Audience.INTERNAL,
    engine: Engine = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Try scenarios within the `search:` section of a plan and show the best; an interrupted search goes on.

    Finished trials are kept in the folder `.sdckit` beside the plan. They hold results and no records, and
    are not for the public.

    A plan to search in, with everything that may be left open:

    ```yaml
    data: {file: survey.csv, keys: [region, sex, age], numeric: [income]}
    search:
    - recode: {variable: age, width: {choices: [5, 10, 20]}}
    - optional: {suppress: {k: {range: [2, 5]}}}
    - one of:
      - microaggregate: {k: {range: [3, 20]}}
      - add_noise: {sd: {range: [0.01, 0.5], log: true}}
    assess: {max_risk: 0.01}
    ```

    Example: `sdckit search plan.yaml --trials 200 --max-risk 0.01 --save chosen.yaml`
    """
    from sdckit.choose.plan import Plan
    from sdckit.cli import _show
    from sdckit.cli._engine import with_engine
    from sdckit.cli._files import check_outputs, check_plan_name, plan_inputs, report_outputs
    from sdckit.cli._plan import searched

    if save is not None:
        check_plan_name(save)
    loaded = with_engine(Plan.load(plan), engine)
    outputs = [*report_outputs(report_file), *([save] if save else [])]
    check_outputs(outputs, plan_inputs(plan, loaded), force=force)
    given = {
        "risk": shares(risk),
        "utility": shares(utility),
        "extra_measures": names(extra) or None,
        "max_risk": max_risk,
    }
    found = searched(loaded, trials=trials, minutes=minutes, seed=seed, jobs=jobs, **given)
    try:  # what a long search found is shown before anything is written, and saved whatever the exit code
        _show.found(found, report_file, audience.value, as_json=as_json, only_front=True)
    finally:
        if save is not None:
            _save(_chosen(loaded, found, given, save), found, plan, save)


def _chosen(plan: "Plan", found: "RiskUtilityMap", given: dict[str, Any], path: Path) -> "Plan":
    """A plan with the scenarios on the front, the recommended one first, judged as they were found."""
    from sdckit.choose.plan import Plan
    from sdckit.choose.preparation import preparations_of
    from sdckit.cli._files import relative

    best = found.best.name if found.best else ""
    points = sorted(found.only_front().results, key=lambda point: point.name != best)
    data = {**plan.data, "file": relative(plan.folder / str(plan.data["file"]), path)}
    if plan.data.get("prepare"):
        steps = preparations_of(plan.data["prepare"])
        data["prepare"] = [s.with_files(lambda f: relative(plan.folder / f, path)).as_dict() for s in steps]
    assess = {**plan.assess, **{name: value for name, value in given.items() if value is not None}}
    assess |= {} if found.max_risk is None else {"max_risk": found.max_risk}
    scenarios = tuple(point.scenario for point in points)
    return Plan(data, scenarios, assess, found.seed, intruders=plan.intruders)


def _save(chosen: "Plan", found: "RiskUtilityMap", source: Path, path: Path) -> None:
    """Write the plan, and say how to go on."""
    from sdckit._support.files import write_text
    from sdckit.cli._progress import say
    from sdckit.methods.processes import named_in

    if not chosen.scenarios:
        say(f"{path} is not written: no scenario could be measured.")
        return
    text = chosen.to_yaml()
    about = f"# Found by sdckit search in {source.name}. {found.reason}\n"
    write_text(about + named_in(text) + text, path)
    best = "" if found.best is None else f' --scenario "{found.best.name}"'
    file = shlex.quote(str(path))
    protect = f"sdckit protect {file}{best} --out FILE" if best else f"sdckit compare {file}"
    say(f"Wrote {path}. Next: {protect}")
