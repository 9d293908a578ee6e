"""How commands end: exit codes, and errors as one line instead of a traceback."""

import warnings
from enum import IntEnum
from typing import Any

import typer
from typer.core import TyperGroup

from sdckit.errors import SdcError, SdcWarning, UnknownMethodError


class Code(IntEnum):
    """Exit codes; 2, wrong usage, is typer's own."""

    OK = 0
    ERROR = 1
    NOT_ACCEPTABLE = 3
    INTERRUPTED = 130


class Commands(TyperGroup):
    """The commands of sdckit, with errors shown as one line on stderr."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        warnings.showwarning = _told
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # `sdckit methods | head`: typer ends quietly
        except (SdcError, OSError) as error:
            own = " Is it your own? Then give --import FILE.py." * isinstance(error, UnknownMethodError)
            typer.echo("Error: " + " ".join(str(error).split()) + own, err=True)
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
