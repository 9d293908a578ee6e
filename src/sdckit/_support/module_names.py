"""What a package offers: a tidy `dir()`, and for a misspelt name an error that says what was meant."""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from sdckit._support.messages import did_you_mean, join_names
from sdckit.errors import UnknownNameError


def module_names(
    module: MutableMapping[str, Any], *, packages: Sequence[str] = (), names: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package whose `globals()` these are.

    `packages` in it, and modules that it has `names` of, load when they are first used.

    Write it under `if not TYPE_CHECKING:`, so that type checkers still see misspelt names.

    >>> find, everything = module_names({"__name__": "shop", "sell": join_names})
    >>> everything()
    ['sell']
    >>> find("sel")
    Traceback (most recent call last):
    sdckit.errors.UnknownNameError: shop has no 'sel'. Did you mean 'sell'? It has sell.
    """
    package = module["__name__"]
    later = names or {}

    def everything() -> list[str]:
        ours = (n for n, v in module.items() if not n.startswith("_") and _is_ours(v))
        return sorted({*ours, *packages, *later})

    def find(name: str) -> Any:
        if name in packages:
            return import_module(f"{package}.{name}")
        if name in later:
            module[name] = getattr(import_module(f"{package}.{later[name]}"), name)
            return module[name]
        hint = ""
        if not name.startswith("_"):  # those are asked by Python and its tools, not by people
            hint = f"{did_you_mean(name, everything())} It has {join_names(everything(), 40)}.".strip()
        error = UnknownNameError(f"{package} has no {name!r}.", hint=hint)
        error.name = name  # where it is not set, Python adds a suggestion of its own
        raise error

    return find, everything


def _is_ours(value: Any) -> bool:
    """Functions and classes of this project; not what a package imports for its own use."""
    own = getattr(value, "__module__", "") or ""
    return not isinstance(value, ModuleType) and own.startswith("sdckit") and own != __name__
