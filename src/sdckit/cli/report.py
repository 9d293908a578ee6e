"""`sdckit report`."""

from pathlib import Path
from typing import Annotated

import typer

from sdckit.cli._options import Audience, For, Force, Jobs, Json, PlanFile, Seed, Timings, expanded


def report(
    plan: PlanFile,
    out: Annotated[Path, typer.Option(callback=expanded, help="The HTML file to write.")],
    scenario: Annotated[str | None, typer.Option(help="Report on this scenario alone.")] = None,
    audience: For = Audience.INTERNAL,
    force: Force = False,
    seed: Seed = None,
    jobs: Jobs = 1,
    timings: Timings = False,
    as_json: Json = False,
) -> None:
    """Write the report on all scenarios of a plan, or on one: a single HTML file that needs no network.

    Its numbers are written as JSON beside it, for the same readers.

    Example: `sdckit report scenarios.yaml --out report.html --audience public`
    """
    from sdckit.choose.plan import Plan
    from sdckit.choose.risk_utility_map import RiskUtilityMap
    from sdckit.cli import _json, _show
    from sdckit.cli._files import check_outputs, plan_inputs, report_outputs
    from sdckit.cli._plan import assessed, compared
    from sdckit.cli._progress import following
    from sdckit.report import json_beside
    from sdckit.report import report as write_report

    loaded = Plan.load(plan)
    check_outputs(report_outputs(out), plan_inputs(plan, loaded), force=force)
    found = assessed(loaded, scenario, seed=seed) if scenario else compared(loaded, seed=seed, jobs=jobs)
    with following("Report") as tell:
        path = write_report(found, out, audience=audience.value, progress=tell)
    written = {"the report": path, "its numbers for programs": json_beside(path)}
    if isinstance(found, RiskUtilityMap):
        what, seconds = "scenario", {point.name: point.seconds for point in found.results}
    else:
        what, seconds = "measure", dict(found.seconds)
    if as_json:
        told = {"files": written, "audience": audience.value, "scenario": scenario}
        _json.emit({**told, "seconds": seconds} if timings else told)
    else:
        _show.written(written)
        if timings:
            _show.slowest(seconds, what)
