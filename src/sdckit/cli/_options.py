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


PlanFile = Annotated[Path, typer.Argument(metavar="PLAN.yaml", help="The scenario file.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
MaxRisk = Annotated[
    float | None, typer.Option(help="The highest accepted risk; exit code 3 where nothing is acceptable.")
]
ReportFile = Annotated[
    Path | None,
    typer.Option("--report", help="Also write an HTML report here, and its numbers as JSON beside it."),
]
Timings = Annotated[bool, typer.Option("--timings", help="Show what took longest, in seconds.")]
For = Annotated[
    Audience, typer.Option(help="Readers of the report: public leaves out what would help an intruder.")
]
Seed = Annotated[int | None, typer.Option(min=0, help="Random seed; the plan's by default.")]
Jobs = Annotated[int, typer.Option(min=1, help="Scenarios run at the same time.")]


def names(text: str | None) -> list[str]:
    """Names from a list with commas.

    >>> names("region, sex")
    ['region', 'sex']
    """
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def shares(text: str | None) -> list[str] | dict[str, float] | None:
    """Measures of one axis: names, or names with shares.

    >>> shares("il1s"), shares("il1s=2,missing_values=1")
    (['il1s'], {'il1s': 2.0, 'missing_values': 1.0})
    """
    parts = names(text)
    if not any("=" in part for part in parts):
        return parts or None
    pairs = [part.partition("=") for part in parts]
    try:
        return {name.strip(): float(share or 1) for name, _, share in pairs}
    except ValueError:
        raise OptionError("Shares must be numbers.", given=text, allowed="name=number,name=number") from None


Axis = Annotated[
    str | None, typer.Option(metavar="A,B=2,…", help="Measures of this axis, with shares where they differ.")
]
Also = Annotated[
    str | None, typer.Option(metavar="A,B,…", help="Further measures to show beside the two axes.")
]
