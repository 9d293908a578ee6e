"""How commands end: exit codes, and errors as one line instead of a traceback."""

import warnings
from enum import IntEnum
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from sdckit.errors import SdcError, SdcWarning, UnknownMethodError


class Code(IntEnum):
    """Exit codes; 2, wrong usage, is typer's own."""

    OK = 0
    ERROR = 1
    NOT_RELEASABLE = 3  # a criterion of the verdict is not met
    NOT_JUDGED = 4  # none is not met, but not all were judged
    INTERRUPTED = 130


NO_MEMORY = (
    "There is not enough memory; nothing is half-written. Close other programs, leave out columns, or keep "
    "the data on disk with engine: duckdb under data: in the plan."
)


class PlainHelp:
    """The option --help as a plain flag: typer would show a value, which it does not take."""

    def get_help_option(self, ctx: Any) -> Any:
        """The option, without the name of a type behind it."""
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.metavar = ""
        return option


class Command(PlainHelp, TyperCommand):
    """One command of sdckit."""


class Commands(PlainHelp, TyperGroup):
    """The commands of sdckit, with errors shown as one line on stderr."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Take `sdckit help compare` for `sdckit compare --help`."""
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", SdcWarning)
                warnings.showwarning = _told
                return super().invoke(ctx)
        except BrokenPipeError:
            raise  # `sdckit methods | head`: typer ends quietly
        except (SdcError, OSError) as error:
            own = " Is it your own? Then give --import FILE.py." * isinstance(error, UnknownMethodError)
            typer.echo("Error: " + " ".join(in_words(error).split()) + own, err=True)
            raise typer.Exit(Code.ERROR) from None
        except (MemoryError, SystemError):  # the second where a library could not make its error
            typer.echo(f"Error: {NO_MEMORY}", err=True)
            raise typer.Exit(Code.ERROR) from None
        except KeyboardInterrupt:
            typer.echo("Interrupted; nothing is half-written.", err=True)
            raise typer.Exit(Code.INTERRUPTED) from None


_as_python_shows = warnings.showwarning


def _told(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """Our warnings as one line on stderr; others as Python shows them."""
    if issubclass(category, SdcWarning):
        typer.echo(f"Warning: {message}", err=True)
    else:
        _as_python_shows(message, category, *where, **more)


def in_words(error: SdcError | OSError) -> str:
    """An error for people; the system's own words for a file it may not touch say little."""
    if isinstance(error, PermissionError):
        file = error.filename or "a file"
        return f"{file} cannot be read or written: no permission, or it is open in another program."
    return error.in_plan if isinstance(error, SdcError) else str(error)
