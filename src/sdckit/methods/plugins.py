"""Where methods come from: our own packages, and those of others that name modules in `sdckit.methods`."""

from collections.abc import Callable
from importlib import import_module
from typing import Any
from warnings import warn

from sdckit.errors import SdcWarning

GROUP = "sdckit.methods"
_asked: set[str] = set()


def load_ours() -> None:
    """Import the packages whose modules register themselves."""
    for package in ("protect", "risk", "utility"):
        import_module(f"sdckit.{package}")


def load_plugins() -> None:
    """Import, once, the modules that other packages name in the entry-point group.

    One that fails is said and left out, for the others can still be used.
    """
    from importlib.metadata import entry_points

    if GROUP in _asked:
        return
    _asked.add(GROUP)  # before the work: a module may ask for the registry while it is imported
    for point in entry_points(group=GROUP):
        try:
            point.load()
        except Exception as error:  # whatever another package does wrong
            reason = f"{type(error).__name__}: {error}"
            warn(f"The methods in {point.value} cannot be loaded ({reason}).", SdcWarning, stacklevel=2)


def is_own(function: Callable[..., Any]) -> bool:
    """Whether a method comes from outside sdckit."""
    return not function.__module__.startswith("sdckit.")
