"""`sdckit protect`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdckit._support.number_text import count_records
from sdckit.cli._engine import Engine
from sdckit.cli._options import Force, Json, PlanFile, Seed, expanded

if TYPE_CHECKING:
    from sdckit.data.microdata import Microdata


def protect(
    plan: PlanFile,
    out: Annotated[
        Path, typer.Option(callback=expanded, help="The protected file: .csv .parquet .sav .dta .xlsx …")
    ],
    scenario: Annotated[str | None, typer.Option(help="Which scenario, where there are several.")] = None,
    seed: Seed = None,
    sets: Annotated[
        int,
        typer.Option(
            min=1, help="The number of synthetic files, out_1, out_2, …, with the seeds seed, seed + 1, …."
        ),
    ] = 1,
    decimal_comma: Annotated[
        bool, typer.Option("--decimal-comma", metavar="", help="A .csv with decimal commas and semicolons.")
    ] = False,
    separator: Annotated[
        str | None,
        typer.Option(
            help="What stands between the values of a .csv: ',', ';', '|' or tab.", show_default=False
        ),
    ] = None,
    labels: Annotated[
        bool, typer.Option("--labels", metavar="", help="The texts of labels instead of codes.")
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
    header: Annotated[
        bool,
        typer.Option(
            " /--no-header",
            metavar="",
            show_default=False,
            help="A .csv without the names of the columns in its first line.",
        ),
    ] = True,
    partition_by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="A folder of .parquet files, one for each value of this column."),
    ] = None,
    engine: Engine = None,
    force: Force = False,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", metavar="", help="Replace even the data file of the plan, which is then lost."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Protect a file as a plan says, and write the result. Labels are kept.

    Example: `sdckit protect scenarios.yaml --scenario k3 --out protected.sav`

    Several synthetic files: `sdckit protect plan.yaml --scenario synthetic --sets 5 --out made.csv`
    """
    from sdckit.choose import plain
    from sdckit.choose.plan import Plan
    from sdckit.choose.release_facts import unmeasured
    from sdckit.choose.scenario import StepCache, seed_or_secret
    from sdckit.cli import _json, _show
    from sdckit.cli._engine import read_data, with_engine
    from sdckit.cli._files import check_outputs, plan_inputs
    from sdckit.cli._plan import one_scenario
    from sdckit.cli._progress import before_writing, following, say, writing
    from sdckit.data.before_release import before_release
    from sdckit.data.roles import roles_of
    from sdckit.io import write
    from sdckit.io.codebook import beside
    from sdckit.io.formats import writable
    from sdckit.io.write import keep_original

    if partition_by is None:
        writable(out)
    loaded = with_engine(Plan.load(plan), engine)
    outputs = [out] if sets == 1 else [out.with_stem(f"{out.stem}_{i}") for i in range(1, sets + 1)]
    books = beside(out) if codebook else {}
    inputs = plan_inputs(plan, loaded, data=not overwrite)
    check_outputs(
        [*outputs, *books.values()], inputs, force=force or overwrite, folders=partition_by is not None
    )
    chosen = one_scenario(loaded, scenario)
    used = loaded.seed if seed is None else seed
    data = read_data(loaded, [chosen], None if partition_by is None else (out, partition_by))
    for path in outputs:  # a file of the folder that is read: said before the work, not after it
        keep_original(data, path, overwrite=overwrite)
    with following("Step") as tell:
        # steps that draw nothing, and what was fitted to their file, serve all sets
        kept = {"cache": StepCache()} if sets > 1 else {}
        protected = chosen.protect(data, seed=used, progress=before_writing(tell), **kept)
        _require_synthesis(data, protected, sets)
        how: Any = {"overwrite": overwrite, "escape_formulas": escape_formulas, "header": header}
        how |= {"separator": "\t" if separator == "tab" else separator, "partition_by": partition_by}
        how |= {"decimal": "," if decimal_comma else ".", "values": "labels" if labels else "codes"}
        how |= {"progress": writing(tell, len(chosen.steps))}
        written = {"the protected file": write(protected, outputs[0], codebook=codebook, **how)}
        written |= {f"its codebook, {kind}": path for kind, path in books.items()}
        for number, file in enumerate(outputs[1:], 2):
            following_seed = seed_or_secret(used, data) + number - 1
            another = chosen.protect(data, seed=following_seed, progress=before_writing(tell), **kept)
            written[f"synthetic file {number}"] = write(another, file, **how)
    had = [*roles_of(direct=loaded.data.get("direct")).direct, *data.columns]
    dropped = [c for c in dict.fromkeys(had) if c not in protected.columns]
    without_role = [c for c in protected.columns if not protected.roles.of(c)]
    warnings = (*protected.warnings, *unmeasured(data, protected, same_people=False))
    if as_json:
        told = {"scenario": chosen.name, "seed": used, "steps": plain.log(protected), "dropped": dropped}
        listed = [text for text in (*warnings, before_release(protected)) if text]  # as write warned
        _json.emit({**told, "without_role": without_role, "warnings": listed, "files": written})
    else:
        drawn = "drawn in secret" if used is None else f"seed {used}"
        _show.log(protected, f"Scenario {chosen.name}, {drawn}, {count_records(protected.height)}")
        _show.released(dropped, without_role)
        _show.written(written)
    for text in (*(f"Warning: {text}" for text in warnings), _not_judged(plan, used, sets)):
        say(text)


def _not_judged(plan: Path, seed: int | None, sets: int) -> str:
    """What judges the file: the same steps with the same draws; of several files all together."""
    if sets > 1:
        return (
            "Not judged: whether these files can be released. sdckit assess judges them together, given the "
            "original and all of them."
        )
    same = f"--seed {seed}" if seed is not None else "a seed in the plan, so that it judges the same draw"
    return f"Not judged: whether this can be released. sdckit compare {plan.name} judges it, with {same}."


def _require_synthesis(data: "Microdata", protected: "Microdata", sets: int) -> None:
    """Refuse several files of a scenario that would make the same file each time."""
    from sdckit.errors import OptionError

    if sets > 1 and not any(entry.effects.synthesises for entry in protected.steps_since(data)):
        raise OptionError(
            "--sets makes several synthetic files, and the scenario draws no values anew.",
            given=f"--sets {sets}",
            hint="Add a step synthesize.",
        )
