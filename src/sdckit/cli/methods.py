"""`sdckit methods`."""

from enum import StrEnum
from typing import Annotated

import typer

from sdckit.cli._options import Json


class Which(StrEnum):
    """What to list."""

    RISK = "risk"
    UTILITY = "utility"
    PROTECTION = "protection"
    PREPARATION = "preparation"


def methods(
    name: Annotated[str | None, typer.Argument(help="Show all about this one.")] = None,
    kind: Annotated[Which | None, typer.Option(help="Only these.")] = None,
    as_json: Json = False,
) -> None:
    """List all preparations, protections and measures, or explain one with its options.

    Examples: `sdckit methods --kind risk` · `sdckit methods suppress`
    """
    from sdckit.choose import plain
    from sdckit.cli import _json, _methods
    from sdckit.errors import OptionError
    from sdckit.methods.registry import find, specs
    from sdckit.methods.spec import Kind

    before = specs(Kind.PREPARATION)
    if name is not None:
        spec = next((one for one in before if one.name == name), None) or find(name)
        if kind is not None and spec.kind != kind.value:
            raise OptionError(
                f"{name} is a {spec.kind.value}, not a {kind.value}.", hint="Leave --kind away."
            )
        if as_json:
            _json.emit(plain.spec(spec))
        else:
            _methods.explain(spec)
        return
    found = [*before, *specs()] if kind is None else specs(Kind(kind.value))
    if as_json:
        _json.emit([plain.spec(spec) for spec in found])
    else:
        _methods.catalogue(found)
