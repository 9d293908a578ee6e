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
    decimal_comma: Annotated[
        bool, typer.Option("--decimal-comma", metavar="", help="A .csv with decimal commas and semicolons.")
    ] = False,
    codebook: Annotated[
        bool,
        typer.Option(
            "--codebook", metavar="", help="Also a codebook beside it: a page, and DDI-Codebook XML."
        ),
    ] = False,
    escape_formulas: Annotated[
        bool,
        typer.Option(
            "--escape-formulas",
            metavar="",
            help="An apostrophe before texts of a .csv that a spreadsheet would run.",
        ),
    ] = False,
    force: Force = False,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", metavar="", help="Replace even the data file of the plan: it is gone then."
        ),
    ] = False,
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
    from sdckit.data.before_release import before_release
    from sdckit.data.roles import roles_of
    from sdckit.io import write
    from sdckit.io.codebook import beside
    from sdckit.io.formats import writable

    writable(out)
    loaded = Plan.load(plan)
    books = beside(out) if codebook else {}
    check_outputs(
        [out, *books.values()], plan_inputs(plan, loaded, data=not overwrite), force=force or overwrite
    )
    chosen = one_scenario(loaded, scenario)
    used = loaded.seed if seed is None else seed
    data = loaded.read()
    with following("Step") as tell:
        protected = chosen.protect(data, seed=used, progress=tell)
    comma: Literal[".", ","] = "," if decimal_comma else "."
    file = write(
        protected,
        out,
        codebook=codebook,
        decimal=comma,
        overwrite=overwrite,
        escape_formulas=escape_formulas,
    )
    written = {"the protected file": file}
    written |= {f"its codebook, {kind}": path for kind, path in books.items()}
    had = [*roles_of(direct=loaded.data.get("direct")).direct, *data.columns]
    dropped = [c for c in dict.fromkeys(had) if c not in protected.columns]
    without_role = [c for c in protected.columns if not protected.roles.of(c)]
    warnings = (*protected.warnings, *unmeasured(data, protected, same_people=False))
    if as_json:
        told = {"scenario": chosen.name, "seed": used, "steps": plain.log(protected), "dropped": dropped}
        listed = [text for text in (*warnings, before_release(protected)) if text]  # as write warned
        _json.emit({**told, "without_role": without_role, "warnings": listed, "files": written})
    else:
        _show.log(protected, f"Scenario {chosen.name}, seed {used}, {protected.height:,} records")
        _show.released(dropped, without_role)
        _show.written(written)
    for text in warnings:
        say(f"Warning: {text}")
