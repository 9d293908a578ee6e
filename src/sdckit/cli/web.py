"""`sdckit web`."""

from pathlib import Path
from typing import Annotated

import typer


def web(
    file: Annotated[Path | None, typer.Argument(help="A data file or a plan to open.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option(metavar="", help="Open the page in the browser.")] = True,
    root: Annotated[
        list[Path] | None,
        typer.Option(metavar="FOLDER", help="A folder from which files may be opened. May be repeated."),
    ] = None,
    uploads: Annotated[bool, typer.Option(metavar="", help="Whether files may be uploaded.")] = True,
    idle_hours: Annotated[
        float, typer.Option(min=0, help="The page ends after so many hours without use; 0: never.")
    ] = 8,
) -> None:
    """Protect, judge, compare and release a file on a page, without programming. For this machine only.

    Examples: `sdckit web` · `sdckit web people.sav`
    """
    from sdckit.errors import SdcError
    from sdckit.web.serve import serve

    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise SdcError(
            "The page needs two more packages.", hint="Install them: pip install 'sdckit[web]'."
        ) from None
    roots = tuple(root or ())
    idle = 3600 * idle_hours
    serve(file, port=port, browser=browser, roots=roots, uploads=uploads, idle=idle, say=typer.echo)
