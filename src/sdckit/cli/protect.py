"""`sdckit protect`."""

from pathlib import Path
from typing import Annotated

import typer

from sdckit.cli._options import Force, Json, PlanFile, Seed, expanded


def protect(
    plan: PlanFile,
    out: Annotated[
        Path, typer.Option(callback=expanded, help="The protected file: .csv .parquet .sav .dta .xlsx …")
    ],
    scenario: Annotated[str | None, typer.Option(help="Which scenario, where there are several.")] = None,
    seed: Seed = None,
    decimal_comma: Annotated[
        bool, typer.Option("--decimal-comma", metavar="", help="A .csv with decimal commas and semicolons.")
    ] = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Protect a file as a plan says, and write the result. Labels are kept.

    Example: `sdckit protect scenarios.yaml --scenario k3 --out protected.sav`
    """
    from sdckit.choose import plain
    from sdckit.choose.plan import Plan
    from sdckit.choose.release_facts import unmeasured
    from sdckit.cli import _json, _show
    from sdckit.cli._files import check_outputs, plan_inputs
    from sdckit.cli._plan import one_scenario
    from sdckit.cli._progress import following, say
    from sdckit.data.roles import roles_of
    from sdckit.io import write
    from sdckit.io.formats import writable

    writable(out)
    loaded = Plan.load(plan)
    check_outputs([out], plan_inputs(plan, loaded), force=force)
    chosen = one_scenario(loaded, scenario)
    used = loaded.seed if seed is None else seed
    data = loaded.read()
    with following("Step") as tell:
        protected = chosen.protect(data, seed=used, progress=tell)
    written = {"the protected file": write(protected, out, decimal="," if decimal_comma else ".")}
    had = [*roles_of(direct=loaded.data.get("direct")).direct, *data.columns]
    dropped = [c for c in dict.fromkeys(had) if c not in protected.columns]
    without_role = [c for c in protected.columns if not protected.roles.of(c)]
    warnings = (*protected.warnings, *unmeasured(data, protected))
    if as_json:
        told = {"scenario": chosen.name, "seed": used, "steps": plain.log(protected), "dropped": dropped}
        _json.emit({**told, "without_role": without_role, "warnings": warnings, "files": written})
    else:
        _show.log(protected, f"Scenario {chosen.name}, seed {used}, {protected.height:,} records")
        _show.released(dropped, without_role)
        _show.written(written)
    for text in warnings:
        say(f"Warning: {text}")
