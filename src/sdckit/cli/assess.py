"""`sdckit assess`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sdckit.cli._engine import Engine
from sdckit.cli._options import (
    Audience,
    For,
    Force,
    Json,
    MaxRisk,
    Names,
    ReportFile,
    SaveResults,
    Timings,
    all_expanded,
    expanded,
    names,
)
from sdckit.errors import OptionError


def _columns(meaning: str) -> Any:
    return typer.Option(metavar="A,B,…", help=meaning)


def _column(meaning: str) -> Any:
    return typer.Option(metavar="COLUMN", help=meaning)


def assess(
    original: Annotated[Path, typer.Argument(callback=expanded, help="The file before protection.")],
    protected: Annotated[
        list[Path] | None,
        typer.Argument(
            callback=all_expanded,
            help="The file after protection, or all synthetic ones that are released together; without it, "
            "the risks of the one file.",
        ),
    ] = None,
    keys: Annotated[Names, _columns("What an intruder may know: region, sex, age.")] = None,
    numeric: Annotated[Names, _columns("Numbers to protect: income.")] = None,
    sensitive: Annotated[Names, _columns("What must not become known: health.")] = None,
    strata: Annotated[Names, _columns("Design strata.")] = None,
    direct: Annotated[Names, _columns("Direct identifiers; dropped at reading.")] = None,
    weight: Annotated[str | None, _column("Survey weight.")] = None,
    cluster: Annotated[str | None, _column("Primary sampling unit.")] = None,
    household: Annotated[str | None, _column("Household number.")] = None,
    id: Annotated[str | None, _column("Record number, the same in both files.")] = None,
    plan: Annotated[
        Path | None, typer.Option(callback=expanded, help="Roles and settings from this plan.")
    ] = None,
    measures: Annotated[Names, typer.Option(metavar="A,B,…", help="Only these measures.")] = None,
    max_risk: MaxRisk = None,
    save: SaveResults = None,
    report_file: ReportFile = None,
    audience: For = Audience.INTERNAL,
    engine: Engine = None,
    force: Force = False,
    timings: Timings = False,
    as_json: Json = False,
) -> None:
    """Measure risk before and after protection, and what the protected file is still good for.

    Every measure that applies is run. The verdict lists every criterion: the accepted risk for every
    intruder, what can be inferred, columns that tell what was hidden, identifiers, and what no measure looks
    at. Exit code 0: all are met, 3: one is not, 4: one could not be judged. Of several synthetic files
    estimates are combined, and all are judged together. With one file alone its risks are measured, and there
    is no verdict.

    Example: `sdckit assess survey.sav protected.sav --keys region,sex,age --numeric income --weight w`
    """
    from sdckit.choose import plain
    from sdckit.choose.plan import Plan
    from sdckit.cli import _json, _show
    from sdckit.cli._files import check_outputs, plan_inputs, report_outputs, results_output
    from sdckit.cli._plan import for_one_release, measured_files, settings

    if (report_file or save) is not None and not protected:
        raise OptionError("A report compares two files.", hint="Give the protected file as well.")
    loaded = Plan() if plan is None else Plan.load(plan)
    inputs = [original, *(protected or []), *(plan_inputs(plan, loaded) if plan else [])]
    check_outputs([*report_outputs(report_file), *results_output(save)], inputs, force=force)
    chosen = settings(loaded.assess, max_risk=max_risk, measures=names(measures) or None)
    if max_risk is None:
        chosen = for_one_release(chosen)
    elif not protected:
        raise OptionError(
            "An accepted risk is for a protected file.", hint="Give the protected file as well."
        )
    several = {"keys": keys, "numeric": numeric, "sensitive": sensitive, "strata": strata, "direct": direct}
    given: dict[str, Any] = {role: names(texts) for role, texts in several.items() if texts}
    single = {"weight": weight, "cluster": cluster, "household": household, "id": id}
    given |= {role: column for role, column in single.items() if column}
    entries = {**loaded.data, **given, **({"engine": engine.value} if engine else {})}
    done = measured_files(original, protected or [], entries, chosen, loaded.intruders, loaded.folder)
    if as_json:
        _json.emit(plain.assessment(done))
    else:
        _show.assessment(done, timings=timings)
    if save is not None:
        _show.saved(done, save)
    if report_file is not None:
        _show.report_files(done, report_file, audience.value)
    if protected and done.verdict.exit_code:
        raise typer.Exit(done.verdict.exit_code)
