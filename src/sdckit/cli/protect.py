"""`sdckit protect`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from sdckit.cli._options import Force, Json, PlanFile, Seed, expanded


def protect(
    plan: PlanFile,
    out: Annotated[
        Path, typer.Option(callback=expanded, help="The protected file: .csv .parquet .sav .dta .xlsx …")
    ],
    scenario: Annotated[str | None, typer.Option(help="Which scenario, where there are several.")] = None,
    seed: Seed = None,
    sets: Annotated[
        int, typer.Option(min=1, help="So many synthetic files, out_1, out_2, …: seed, seed + 1, ….")
    ] = 1,
    decimal_comma: Annotated[
        bool, typer.Option("--decimal-comma", metavar="", help="A .csv with decimal commas and semicolons.")
    ] = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Protect a file as a plan says, and write the result. Labels are kept.

    Example: `sdckit protect scenarios.yaml --scenario k3 --out protected.sav`
    Several synthetic files: `sdckit protect plan.yaml --scenario synthetic --sets 5 --out made.csv`
    """
    from sdckit.choose.plan import Plan
    from sdckit.choose.release_facts import unmeasured
    from sdckit.choose.scenario import StepCache
    from sdckit.cli import _json, _show
    from sdckit.cli._files import check_outputs, plan_inputs
    from sdckit.cli._plan import one_scenario
    from sdckit.cli._progress import following, say
    from sdckit.data.roles import roles_of
    from sdckit.errors import OptionError
    from sdckit.io import write
    from sdckit.io.formats import writable

    writable(out)
    loaded = Plan.load(plan)
    outputs = [out] if sets == 1 else [out.with_stem(f"{out.stem}_{i}") for i in range(1, sets + 1)]
    check_outputs(outputs, plan_inputs(plan, loaded), force=force)
    chosen = one_scenario(loaded, scenario)
    used = loaded.seed if seed is None else seed
    data = loaded.read()
    with following("Step") as tell:
        # steps that draw nothing, and what was fitted to their file, serve all sets
        kept = {"cache": StepCache()} if sets > 1 else {}
        protected = chosen.protect(data, seed=used, progress=tell, **kept)
        if sets > 1 and not any(entry.effects.synthesises for entry in protected.steps_since(data)):
            raise OptionError(
                "--sets makes several synthetic files, and the scenario draws no values anew.",
                given=f"--sets {sets}",
                hint="Add a step synthesize.",
            )
        decimal: Literal[",", "."] = "," if decimal_comma else "."
        written = {"the protected file": write(protected, outputs[0], decimal=decimal)}
        for number, file in enumerate(outputs[1:], 2):
            another = chosen.protect(data, seed=used + number - 1, progress=tell, **kept)
            written[f"synthetic file {number}"] = write(another, file, decimal=decimal)
    had = [*roles_of(direct=loaded.data.get("direct")).direct, *data.columns]
    dropped = [c for c in dict.fromkeys(had) if c not in protected.columns]
    without_role = [c for c in protected.columns if not protected.roles.of(c)]
    warnings = (*protected.warnings, *unmeasured(data, protected))
    if as_json:
        told = {"scenario": chosen.name, "seed": used, "steps": _json.log(protected), "dropped": dropped}
        _json.emit({**told, "without_role": without_role, "warnings": warnings, "files": written})
    else:
        _show.log(protected, f"Scenario {chosen.name}, seed {used}, {protected.height:,} records")
        _show.released(dropped, without_role)
        _show.written(written)
    for text in warnings:
        say(f"Warning: {text}")
