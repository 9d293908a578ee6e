"""The command line `sdckit`: parse, one call, show."""

from typing import Annotated

import typer

from sdckit._version import __version__
from sdckit.cli import assess, columns, compare, demo, methods, protect, report, search, web
from sdckit.cli._exit import Command, Commands
from sdckit.cli._import import importing
from sdckit.cli._low_memory import supervise

HELP = """Statistical disclosure control: protect microdata, measure risk and utility, choose.

Start with `sdckit demo`, which needs no file, or with `sdckit columns FILE`. Results go to stdout, progress
and errors to stderr.

Exit codes: 0 done · 1 bad input or a failed run · 2 wrong usage · 130 interrupted. Of assess, compare,
search and demo also: 3 a criterion for the release is not met, or no scenario is acceptable · 4 a criterion
could not be judged.
"""

app = typer.Typer(
    cls=Commands,
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.command(cls=Command)(demo.demo)
app.command(cls=Command)(columns.columns)
for command in (
    protect.protect,
    assess.assess,
    compare.compare,
    search.search,
    report.report,
    methods.methods,
    web.web,
):
    app.command(cls=Command)(importing(command))


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version", metavar="", callback=show_version, is_eager=True, help="Show the version and stop."
    ),
]


@app.callback()
def options(version: Version = False) -> None:
    """Options that come before the command."""


def main() -> None:
    """Entry point of the program."""
    ended = supervise()
    if ended is not None:
        raise SystemExit(ended)
    app(prog_name="sdckit")
