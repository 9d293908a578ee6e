"""`sdckit search`."""

from typing import Annotated

import typer

from sdckit.cli._options import (
    Also,
    Audience,
    Axis,
    For,
    Force,
    Jobs,
    Json,
    MaxRisk,
    PlanFile,
    ReportFile,
    Seed,
    names,
    shares,
)


def search(
    plan: PlanFile,
    trials: Annotated[int, typer.Option(min=1, help="How many different scenarios to try.")] = 100,
    minutes: Annotated[float | None, typer.Option(min=0, help="Stop after this time.")] = None,
    risk: Axis = None,
    utility: Axis = None,
    also: Also = None,
    max_risk: MaxRisk = None,
    seed: Seed = None,
    jobs: Jobs = 1,
    report_file: ReportFile = None,
    audience: For = Audience.INTERNAL,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Look for the best scenarios in the plan's `search:` space; an interrupted search goes on.

    Finished trials are kept in the folder `.sdckit` beside the plan: results, not the data, but not for the
    public.

    Example: `sdckit search plan.yaml --trials 200 --max-risk 0.01 --report report.html`
    """
    from sdckit.cli import _show
    from sdckit.cli._files import check_outputs, plan_inputs, report_outputs
    from sdckit.cli._plan import searched
    from sdckit.plan import Plan

    loaded = Plan.load(plan)
    check_outputs(report_outputs(report_file), plan_inputs(plan, loaded), force=force)
    found = searched(
        loaded,
        trials=trials,
        minutes=minutes,
        seed=seed,
        jobs=jobs,
        risk=shares(risk),
        utility=shares(utility),
        also=names(also) or None,
        max_risk=max_risk,
    )
    _show.found(found, report_file, audience.value, as_json=as_json, only_front=True)
