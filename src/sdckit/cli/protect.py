"""`sdckit protect`."""

from pathlib import Path
from typing import Annotated

import typer

from sdckit.cli._options import Force, Json, PlanFile, Seed


def protect(
    plan: PlanFile,
    out: Annotated[Path, typer.Option(help="The protected file: .csv .parquet .sav .dta .xlsx …")],
    scenario: Annotated[str | None, typer.Option(help="Which scenario, where there are several.")] = None,
    seed: Seed = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Protect a file as a plan says, and write the result. Labels are kept.

    Example: `sdckit protect scenarios.yaml --scenario k3 --out protected.sav`
    """
    from sdckit.cli import _json, _show
    from sdckit.cli._files import check_outputs, plan_inputs
    from sdckit.cli._plan import one_scenario
    from sdckit.cli._progress import following, say
    from sdckit.io import write
    from sdckit.io.formats import writable
    from sdckit.plan import Plan

    writable(out.expanduser())
    loaded = Plan.load(plan)
    check_outputs([out], plan_inputs(plan, loaded), force=force)
    chosen = one_scenario(loaded, scenario)
    used = loaded.seed if seed is None else seed
    with following("Step") as tell:
        protected = chosen.protect(loaded.read(), seed=used, progress=tell)
    written = {"the protected file": write(protected, out)}
    if as_json:
        steps = _json.log(protected)
        warnings = protected.warnings
        _json.emit(
            {"scenario": chosen.name, "seed": used, "steps": steps, "warnings": warnings, "files": written}
        )
    else:
        _show.log(protected, f"Scenario {chosen.name}, seed {used}, {protected.height:,} records")
        _show.written(written)
    for text in protected.warnings:
        say(f"Warning: {text}")
