"""How commands end: exit codes, and errors as one line instead of a traceback."""

from enum import IntEnum
from typing import Any

import typer
from typer.core import TyperGroup

from sdckit.errors import SdcError


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
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # `sdckit methods | head`: typer ends quietly
        except (SdcError, OSError) as error:
            typer.echo("Error: " + " ".join(str(error).split()), err=True)
            raise typer.Exit(Code.ERROR) from None
        except KeyboardInterrupt:
            typer.echo("Interrupted; nothing is half-written.", err=True)
            raise typer.Exit(Code.INTERRUPTED) from None
