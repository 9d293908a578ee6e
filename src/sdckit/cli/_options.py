"""Options that several commands share, and how their texts are taken apart."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sdckit.errors import OptionError


class Audience(StrEnum):
    """Who reads the report."""

    INTERNAL = "internal"
    PUBLIC = "public"


def expanded(path: Path | None) -> Path | None:
    """A path with the home folder for ~, which shells leave as it is in --out=~/file.csv."""
    try:
        return None if path is None else path.expanduser()
    except RuntimeError:  # the home of nobody
        return path


def all_expanded(paths: list[Path] | None) -> list[Path]:
    """Each path as `expanded` gives it; none where none is given."""
    return [found for path in paths or [] if (found := expanded(path)) is not None]


PlanFile = Annotated[Path, typer.Argument(metavar="PLAN.yaml", callback=expanded, help="The plan.")]
Json = Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON document instead of tables.")]
Force = Annotated[bool, typer.Option("--force", metavar="", help="Replace files that are there already.")]
MaxRisk = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="The highest accepted risk, 0.05 or 5%; exit code 3 where nothing is acceptable.",
    ),
]
Names = list[str] | None  # options that may be repeated, each with commas
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report",
        callback=expanded,
        help="Also write an HTML report here, and its numbers as JSON beside it.",
    ),
]
SaveResults = Annotated[
    Path | None,
    typer.Option(
        "--save",
        metavar="RESULTS.json",
        callback=expanded,
        help="Also save the results, for reports made later: sdckit report RESULTS.json",
    ),
]
Timings = Annotated[bool, typer.Option("--timings", metavar="", help="Show what took longest, in seconds.")]
For = Annotated[
    Audience, typer.Option(help="Readers of the report: public leaves out what would help an intruder.")
]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0, help="Random seed, to be kept secret; the plan's by default, without one drawn in secret."
    ),
]
Jobs = Annotated[int, typer.Option(min=1, help="Scenarios run at the same time.")]


def names(texts: Names) -> list[str]:
    """Names from lists with commas; an option that is given twice adds to the first.

    >>> names(["region, sex", "age"])
    ['region', 'sex', 'age']
    """
    return [part.strip() for text in texts or () for part in text.split(",") if part.strip()]


def shares(texts: Names) -> list[str] | dict[str, float] | None:
    """Measures of one axis: names, or names with shares.

    >>> shares(["il1s"]), shares(["il1s=2,missing_values=1"])
    (['il1s'], {'il1s': 2.0, 'missing_values': 1.0})
    """
    parts = names(texts)
    if not any("=" in part for part in parts):
        return parts or None
    pairs = [part.partition("=") for part in parts]
    try:
        return {name.strip(): float(share or 1) for name, _, share in pairs}
    except ValueError:
        raise OptionError(
            "Shares must be numbers.", given=",".join(parts), allowed="name=number,name=number"
        ) from None


Axis = Annotated[
    Names,
    typer.Option(
        metavar="A,B=2,…", help="The measure on this axis of the map, or several with their shares."
    ),
]
ExtraMeasures = Annotated[
    Names,
    typer.Option("--extra", "--also", metavar="A,B,…", help="Further measures to show beside the two axes."),
]
