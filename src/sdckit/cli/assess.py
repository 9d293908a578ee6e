"""`sdckit assess`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sdckit.cli._options import Audience, For, Json, MaxRisk, ReportFile, Timings, names
from sdckit.errors import OptionError


def _columns(meaning: str) -> Any:
    return typer.Option(metavar="A,B,…", help=meaning)


def _column(meaning: str) -> Any:
    return typer.Option(metavar="COLUMN", help=meaning)


def assess(
    original: Annotated[Path, typer.Argument(help="The file before protection.")],
    protected: Annotated[Path, typer.Argument(help="The file after protection.")],
    keys: Annotated[str | None, _columns("What an intruder may know: region, sex, age.")] = None,
    numeric: Annotated[str | None, _columns("Numbers to protect: income.")] = None,
    sensitive: Annotated[str | None, _columns("What must not become known: health.")] = None,
    strata: Annotated[str | None, _columns("Design strata.")] = None,
    direct: Annotated[str | None, _columns("Direct identifiers; dropped at reading.")] = None,
    weight: Annotated[str | None, _column("Survey weight.")] = None,
    cluster: Annotated[str | None, _column("Primary sampling unit.")] = None,
    household: Annotated[str | None, _column("Household number.")] = None,
    id: Annotated[str | None, _column("Record number, the same in both files.")] = None,
    plan: Annotated[Path | None, typer.Option(help="Roles and settings from this scenario file.")] = None,
    measures: Annotated[str | None, typer.Option(help="Only these measures, with commas.")] = None,
    max_risk: MaxRisk = None,
    report_file: ReportFile = None,
    audience: For = Audience.INTERNAL,
    timings: Timings = False,
    as_json: Json = False,
) -> None:
    """Measure risk before and after protection, and what the protected file is still good for.

    Every measure that applies is run. The accepted risk is compared with the mean individual risk.

    Example: `sdckit assess survey.sav protected.sav --keys region,sex,age --numeric income --weight w`
    """
    from sdckit.cli import _json, _show
    from sdckit.cli._exit import Code
    from sdckit.cli._files import check_folder, read_protected
    from sdckit.cli._plan import measured, settings
    from sdckit.cli._progress import say
    from sdckit.io import read
    from sdckit.plan import Plan
    from sdckit.roles import roles_of

    check_folder(report_file)
    loaded = Plan() if plan is None else Plan.load(plan)
    chosen = settings(loaded.assess, max_risk=max_risk, measures=names(measures) or None)
    several = {"keys": keys, "numeric": numeric, "sensitive": sensitive, "strata": strata, "direct": direct}
    given: dict[str, Any] = {role: names(text) for role, text in several.items() if text}
    single = {"weight": weight, "cluster": cluster, "household": household, "id": id}
    given |= {role: column for role, column in single.items() if column}
    entries = {k: v for k, v in loaded.data.items() if k != "file"} | given
    first = read(original, **entries)
    if not (first.roles.keys or first.roles.numeric or first.roles.sensitive):
        say(
            "No column has a role, so few measures apply: give --keys, --numeric or --sensitive, or a --plan."
        )
    second, absent = read_protected(protected, first, entries.get("engine", "polars"))
    if absent:
        say(f"Not in the protected file: {', '.join(absent)}")
    leaked = [c for c in roles_of(direct=entries.get("direct")).direct if c in second.columns]
    if leaked:
        say(f"Warning: the protected file still has direct identifiers: {', '.join(leaked)}")
    done = measured(first, second, chosen)
    if as_json:
        _json.emit(_json.assessment(done))
    else:
        _show.assessment(done, timings=timings)
    if report_file is not None:
        _show.report_files(done, report_file, audience.value)
    if done.max_risk is not None and done.risk_acceptable is None:
        raise OptionError(
            "The accepted risk could not be checked: individual_risk was not measured.",
            hint="Give --keys, and leave individual_risk among the measures.",
        )
    if done.risk_acceptable is False:
        raise typer.Exit(Code.NOT_ACCEPTABLE)
