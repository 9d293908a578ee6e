"""`sdckit report`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdckit.cli._engine import Engine, EngineName
from sdckit.cli._options import Audience, For, Force, Jobs, Json, Seed, Timings, expanded

if TYPE_CHECKING:
    from sdckit.choose.assessment import Assessment
    from sdckit.choose.risk_utility_map import RiskUtilityMap
    from sdckit.report import SavedResults


def report(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="PLAN.yaml|RESULTS.json",
            callback=expanded,
            help="The plan, or results that assess or compare saved.",
        ),
    ],
    out: Annotated[Path, typer.Option(callback=expanded, help="The HTML file to write.")],
    scenario: Annotated[str | None, typer.Option(help="Report on this scenario alone.")] = None,
    audience: For = Audience.INTERNAL,
    force: Force = False,
    seed: Seed = None,
    jobs: Jobs = 1,
    engine: Engine = None,
    timings: Timings = False,
    as_json: Json = False,
) -> None:
    """Write the report on all scenarios of a plan, or on one, or on saved results: one HTML file.

    It needs no network. Its numbers are written as JSON beside it, for the same readers. Of saved results
    nothing is measured again, and no data are needed.

    Examples: `sdckit report scenarios.yaml --out report.html` ·
    `sdckit report results.json --out report.html --audience public`
    """
    from sdckit.cli import _json, _show
    from sdckit.cli._progress import following
    from sdckit.report import json_beside
    from sdckit.report import report as write_report

    found, what, seconds = _results(source, out, scenario, force=force, seed=seed, jobs=jobs, engine=engine)
    with following("Report") as tell:
        path = write_report(found, out, audience=audience.value, progress=tell)
    written = {"the report": path, "its numbers for programs": json_beside(path)}
    if as_json:
        told = {"files": written, "audience": audience.value, "scenario": scenario}
        _json.emit({**told, "seconds": seconds} if timings else told)
    else:
        _show.written(written)
        if timings and seconds:
            _show.slowest(seconds, what)


def _results(
    source: Path,
    out: Path,
    scenario: str | None,
    *,
    force: bool,
    seed: int | None,
    jobs: int,
    engine: EngineName | None,
) -> tuple["Assessment | RiskUtilityMap | SavedResults", str, dict[str, float]]:
    """What to report on, measured or loaded, and how long what took."""
    from sdckit.choose.plan import Plan
    from sdckit.cli._engine import with_engine
    from sdckit.cli._files import check_outputs, plan_inputs, report_outputs
    from sdckit.cli._plan import assessed, compared
    from sdckit.errors import OptionError
    from sdckit.report import load_results

    if source.suffix.lower() == ".json":
        if scenario is not None or seed is not None:
            raise OptionError("Saved results are reported as they are.", given="--scenario or --seed")
        check_outputs(report_outputs(out), [source], force=force)
        return load_results(source), "scenario", {}
    loaded = with_engine(Plan.load(source), engine)
    check_outputs(report_outputs(out), plan_inputs(source, loaded), force=force)
    if scenario is not None:
        done = assessed(loaded, scenario, seed=seed)
        return done, "measure", dict(done.seconds)
    found = compared(loaded, seed=seed, jobs=jobs)
    return found, "scenario", {point.name: point.seconds for point in found.results}
