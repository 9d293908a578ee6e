"""The option --import: methods of the user's own, from a file or a module."""

import inspect
import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from sdckit.errors import FileError, OptionError

Import = Annotated[
    list[str] | None,
    typer.Option(
        "--import",
        metavar="FILE.py",
        help="Methods of your own: a Python file or module, which is run. May be repeated.",
    ),
]


def importing(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option --import, which is seen to before anything else."""

    @wraps(command)
    def run(*, own: Import = None, **given: Any) -> None:
        for name in own or ():
            import_methods(name)
        command(**given)

    signature = inspect.signature(command)
    added = inspect.Parameter("own", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Import)
    run.__dict__["__signature__"] = signature.replace(parameters=[*signature.parameters.values(), added])
    run.__annotations__ = {**command.__annotations__, "own": Import}
    return run


def import_methods(name: str) -> None:
    """Import a file or module that registers methods; ours is the error where that fails."""
    from sdckit.methods.registry import specs

    file = Path(name).expanduser().resolve() if name.endswith(".py") or Path(name).is_file() else None
    if file is not None and not file.is_file():
        raise FileError("The file to import does not exist.", given=name)
    if file is not None and (file.suffix != ".py" or "." in file.stem):
        raise FileError("The file to import must be a Python file.", given=name, allowed="NAME.py")
    folder = str(Path.cwd() if file is None else file.parent)
    if folder not in sys.path:
        sys.path.append(folder)  # last: files beside it must not stand in for installed packages
    before = specs()
    try:
        module = import_module(name if file is None else file.stem)
    except Exception as error:  # an import runs code
        raise OptionError(
            "The methods cannot be imported.", given=name, hint=f"{type(error).__name__}: {error}"
        ) from error
    if file is not None and Path(module.__file__ or "").resolve() != file:
        raise FileError("Another module has the name of this file.", given=name, hint="Rename the file.")
    if specs() == before and not any(spec.function.__module__ == module.__name__ for spec in before):
        raise OptionError(
            "Nothing in it is registered as a method.",
            given=name,
            hint="Functions need the decorator risk, utility or protection of sdckit.methods.registry.",
        )
