"""The registry: every protection and measure, ours and those of others."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, ParamSpec, TypeVar, cast
from warnings import warn

from sdckit._support.messages import did_you_mean, join_names
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.engine.frames import ENGINES
from sdckit.errors import OptionError, SdcWarning, UnknownMethodError
from sdckit.methods.spec import Better, Compares, Figure, Kind, Spec

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")

GROUP = "sdckit.methods"  # entry points in which other packages name the modules of their methods
FACTS = tuple(n for n in Spec.__dataclass_fields__ if n not in ("name", "kind", "title", "function"))


class _Registry:
    """The methods by name, and whether those of other packages were already asked for."""

    def __init__(self) -> None:
        self.specs: dict[str, Spec] = {}
        self.preparations: dict[str, Spec] = {}  # apart, for no list of protections or measures has them
        self.plugins_loaded = False


_registry = _Registry()


def specs(kind: Kind | None = None) -> list[Spec]:
    """All protections and measures, or all functions of one kind, in the order they were registered."""
    if kind is Kind.PREPARATION:
        import_module("sdckit.prepare")
        return list(_registry.preparations.values())
    load_ours()
    load_plugins()
    return [spec for spec in _registry.specs.values() if kind is None or spec.kind is kind]


def find(name: str, *kinds: Kind) -> Spec:
    """The registered function of this name; the error suggests the nearest."""
    found = [spec for kind in kinds for spec in specs(kind)] if kinds else specs()
    known = {spec.name: spec for spec in found}
    if name not in known:
        what = " or ".join(kinds) if kinds else "protection or measure"
        raise UnknownMethodError(
            f"There is no {what} {name!r}.", allowed=join_names(known, 60), hint=did_you_mean(name, known)
        )
    return known[name]


def is_registered(name: str) -> bool:
    """Whether a function of this name is registered."""
    return name in _registry.specs


def register(spec: Spec) -> None:
    """Make a function known; the name of one of ours is not given away."""
    if is_third_party(spec.function):
        spec.check_signature()
        load_ours()
        if is_registered(spec.name) and not is_third_party(_registry.specs[spec.name].function):
            raise OptionError(
                "sdckit has a method of this name.", given=spec.name, hint="Choose another name."
            )
    _registry.specs[spec.name] = spec


def unregister(name: str) -> None:
    """Take a function out of the registry (used by tests that register their own)."""
    _registry.specs.pop(name, None)


def risk(title: str, **facts: Any) -> Callable[[F], F]:
    """Register a disclosure-risk measure."""
    return _decorator(Kind.RISK, title, facts)


def utility(title: str, **facts: Any) -> Callable[[F], F]:
    """Register a utility (information-loss) measure."""
    return _decorator(Kind.UTILITY, title, {"compares": Compares.DISTRIBUTIONS, **facts})


def protection(title: str, **facts: Any) -> Callable[[F], F]:
    """Register a protection method."""
    return _decorator(Kind.PROTECTION, title, facts)


def preparation(title: str, **facts: Any) -> Callable[[Callable[P, Any]], Callable[P, Microdata]]:
    """Register a preparation: a function that gives `Prepared`, which users call to get Microdata."""
    facts = _checked(Kind.PREPARATION, facts)

    def decorate(function: Callable[P, Any]) -> Callable[P, Microdata]:
        spec = Spec(function.__name__, Kind.PREPARATION, title, function, **facts)
        _registry.preparations[spec.name] = spec
        return spec.call

    return decorate


def _decorator(kind: Kind, title: str, facts: dict[str, Any]) -> Callable[[F], F]:
    facts = _checked(kind, facts)

    def decorate(function: F) -> F:
        spec = Spec(function.__name__, kind, title, function, **facts)
        register(spec)
        return cast("F", spec.call)

    return decorate


def _checked(kind: Kind, facts: dict[str, Any]) -> dict[str, Any]:
    """What the decorator was told, with texts of choices accepted and unknown words refused."""
    for name in facts:
        if name not in FACTS:
            raise OptionError(
                f"The decorator of a {kind.value} has no argument {name!r}.",
                allowed=join_names(FACTS, 30),
                hint=did_you_mean(name, FACTS),
            )
    facts = dict(facts)
    for name, choices in (("better", Better), ("compares", Compares)):
        if name in facts:
            facts[name] = choices(_choice(kind, name, facts[name], choices))
    needs = facts.get("needs", ())
    asked = [needs] if isinstance(needs, str) else needs
    facts["needs"] = tuple(Role(_choice(kind, "needs", role, Role)) for role in asked)
    engines = facts.get("engines", ("polars",))
    facts["engines"] = (
        ENGINES if engines == "all" else tuple(_choice(kind, "engines", one, ENGINES) for one in engines)
    )
    figures = facts.get("figures", {})
    facts["figures"] = {n: f if isinstance(f, Figure) else Figure(str(f)) for n, f in figures.items()}
    return facts


def _choice(kind: Kind, name: str, given: Any, choices: Iterable[str]) -> str:
    """One of the texts that an argument of a decorator allows, or an OptionError."""
    allowed = list(choices)
    if given not in allowed:
        raise OptionError(
            f"{name!r} of a {kind.value} is not valid.",
            given=given,
            allowed=join_names(allowed),
            hint=did_you_mean(str(given), allowed),
        )
    return str(given)


def load_ours() -> None:
    """Import the packages whose modules register themselves."""
    for package in ("protect", "risk", "utility"):
        import_module(f"sdckit.{package}")


def load_plugins() -> None:
    """Import, once, the modules that other packages name in the entry-point group.

    One that fails is said and left out, for the others can still be used.
    """
    from importlib.metadata import entry_points

    if _registry.plugins_loaded:
        return
    _registry.plugins_loaded = True  # before the work: a module may ask for the registry while it is imported
    for point in entry_points(group=GROUP):
        try:
            point.load()
        except Exception as error:  # whatever another package does wrong
            reason = f"{type(error).__name__}: {error}"
            warn(f"The methods in {point.value} cannot be loaded ({reason}).", SdcWarning, stacklevel=2)


def is_third_party(function: Callable[..., Any]) -> bool:
    """Whether a method comes from outside sdckit."""
    return not function.__module__.startswith("sdckit.")
