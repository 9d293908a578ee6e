"""`sdckit report`."""

from pathlib import Path
from typing import Annotated

import typer

from sdckit.cli._options import Audience, For, Jobs, Json, PlanFile, Seed


def report(
    plan: PlanFile,
    out: Annotated[Path, typer.Option(help="The HTML file to write.")],
    scenario: Annotated[str | None, typer.Option(help="Report on this scenario alone.")] = None,
    audience: For = Audience.INTERNAL,
    seed: Seed = None,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Write the report on all scenarios of a plan, or on one: a single HTML file that needs no network.

    Example: `sdckit report scenarios.yaml --out report.html --audience public`
    """
    from sdckit.cli import _json, _show
    from sdckit.cli._files import check_folder
    from sdckit.cli._plan import assessed, compared
    from sdckit.plan import Plan
    from sdckit.report import report as write_report

    check_folder(out)
    loaded = Plan.load(plan)
    found = assessed(loaded, scenario, seed=seed) if scenario else compared(loaded, seed=seed, jobs=jobs)
    written = {"the report": Path(write_report(found, out, audience=audience.value))}
    if as_json:
        _json.emit({"files": written, "audience": audience.value, "scenario": scenario})
    else:
        _show.written(written)
