"""`sdckit compare`."""

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
    SaveResults,
    Seed,
    names,
    shares,
)


def compare(
    plan: PlanFile,
    risk: Axis = None,
    utility: Axis = None,
    extra: ExtraMeasures = None,
    max_risk: MaxRisk = None,
    seed: Seed = None,
    jobs: Jobs = 1,
    save: SaveResults = None,
    report_file: ReportFile = None,
    audience: For = Audience.INTERNAL,
    engine: Engine = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Run all scenarios of a plan and recommend the one that loses least under the accepted risk.

    Options given here come before those of the plan's `assess:` section. Finished scenarios are kept in the
    folder `.sdckit` beside the plan, so that an interrupted run goes on. They hold results and no records,
    and are not for the public.

    Example: `sdckit compare scenarios.yaml --utility il1s,missing_values --max-risk 0.01`
    """
    from sdckit.choose.plan import Plan
    from sdckit.cli import _show
    from sdckit.cli._engine import with_engine
    from sdckit.cli._files import check_outputs, plan_inputs, report_outputs, results_output
    from sdckit.cli._plan import compared

    loaded = with_engine(Plan.load(plan), engine)
    check_outputs(
        [*report_outputs(report_file), *results_output(save)], plan_inputs(plan, loaded), force=force
    )
    found = compared(
        loaded,
        seed=seed,
        jobs=jobs,
        risk=shares(risk),
        utility=shares(utility),
        extra_measures=names(extra) or None,
        max_risk=max_risk,
    )
    _show.found(found, report_file, audience.value, save=save, as_json=as_json)
