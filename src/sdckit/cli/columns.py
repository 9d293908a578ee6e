"""`sdckit columns`."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from sdckit.cli._engine import Engine
from sdckit.cli._options import Json, expanded


def columns(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", callback=expanded, help="A data file: .csv .parquet .sav .dta .xlsx …"
        ),
    ],
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="PLAN.yaml", callback=expanded, help="Also write the plan here; nothing is replaced."
        ),
    ] = None,
    codebook: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", callback=expanded, help="A codebook with labels: DDI-Codebook .xml, or .csv."
        ),
    ] = None,
    engine: Engine = None,
    as_json: Json = False,
) -> None:
    """Show the columns of a file with a role suggested for each, and a plan to begin with.

    Roles are guessed from names, labels and values: you decide. Of columns that may identify no value is
    shown, of others only what several records have. With --engine duckdb or spark the file stays where it
    is: some 200,000 records are looked at, and what they cannot tell is said.

    Example: `sdckit columns survey.sav --plan plan.yaml`
    """
    from sdckit._support.files import write_text
    from sdckit.choose import plain
    from sdckit.choose.describe import describe
    from sdckit.cli import _json, _show
    from sdckit.cli._engine import EngineName, get_ready
    from sdckit.cli._files import check_outputs, check_plan_name, relative
    from sdckit.cli._progress import say
    from sdckit.cli._starter import may_be_missing, starter
    from sdckit.errors import FileError
    from sdckit.io import read

    if plan is not None:
        check_plan_name(plan)
        if plan.exists():
            raise FileError(f"{plan} exists already, and is not replaced.", hint="Choose another name.")
        check_outputs([plan], [file, *([codebook] if codebook else [])], force=False)
    where = (engine or EngineName.POLARS).value
    get_ready(where, [file])
    description = describe(read(file, codebook=codebook, engine=where))  # type: ignore[arg-type]
    found = description.columns
    called = "plan.yaml" if plan is None else shlex.quote(str(plan))
    read_from = {"file": file, **({"codebook": codebook} if codebook else {})}
    named = {n: path.name if plan is None else relative(path, plan) for n, path in read_from.items()}
    text = starter(found, named if engine is None else {**named, "engine": where}, called)
    if as_json:
        counted = {"records": description.records, "looked_at": description.looked_at}
        _json.emit({**counted, "columns": [plain.column(c) for c in found], "plan": text})
    else:
        _show.columns(found, description.records)
        if description.caution:
            typer.echo(description.caution)
        for line in may_be_missing(found) if plan is not None else ():
            typer.echo(line)
        if plan is None:
            typer.echo(f"A plan to begin with (--plan plan.yaml writes it):\n\n{text}", nl=False)
    if plan is not None:
        say(f"Wrote {write_text(text, plan)}. Look at every role in it, then: sdckit compare {called}")
