"""`sdckit compare`."""

from typing import Annotated

import typer

from sdckit.cli._options import Audience, For, Jobs, Json, MaxRisk, PlanFile, ReportFile, Seed, shares

Axis = Annotated[
    str | None, typer.Option(metavar="A,B=2,…", help="Measures of this axis, with shares where they differ.")
]


def compare(
    plan: PlanFile,
    risk: Axis = None,
    utility: Axis = None,
    max_risk: MaxRisk = None,
    seed: Seed = None,
    jobs: Jobs = 1,
    report_file: ReportFile = None,
    audience: For = Audience.INTERNAL,
    as_json: Json = False,
) -> None:
    """Run all scenarios of a plan and recommend the one that loses least under the accepted risk.

    Options given here come before those of the plan's `assess:` section.

    Example: `sdckit compare scenarios.yaml --utility il1s,missing_values --max-risk 0.01`
    """
    from sdckit.cli import _json, _show
    from sdckit.cli._exit import Code
    from sdckit.cli._files import check_folder
    from sdckit.cli._plan import compared
    from sdckit.cli._progress import say
    from sdckit.plan import Plan

    check_folder(report_file)
    found = compared(
        Plan.load(plan), seed=seed, jobs=jobs, risk=shares(risk), utility=shares(utility), max_risk=max_risk
    )
    if as_json:
        _json.emit(_json.risk_utility_map(found))
    else:
        _show.risk_utility_map(found)
    if report_file is not None:
        from sdckit.report import report

        say(f"Wrote {report(found, report_file, audience=audience.value)}")
    if found.best is None:
        raise typer.Exit(Code.NOT_ACCEPTABLE)
