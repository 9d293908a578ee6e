"""The indicators by name, the usual panels of them, and what users may write to choose."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, NamedTuple, get_args, get_type_hints

from sdckit._support.messages import did_you_mean, join_names
from sdckit.data.values import as_text
from sdckit.errors import OptionError, UnknownMethodError, preview
from sdckit.estimate.indicator import Indicator, OwnFunction, written
from sdckit.estimate.inequality import Gini, ShareRatio
from sdckit.estimate.means import Mean, Proportion, Ratio, Total
from sdckit.estimate.pay_gap import PayGap
from sdckit.estimate.poverty import FosterGreerThorbecke, PovertyGap, PovertyRate, PovertyThreshold
from sdckit.estimate.quantiles import Quantile

CATALOGUE: dict[str, tuple[type[Indicator], dict[str, Any]]] = {
    "mean": (Mean, {}),
    "total": (Total, {}),
    "proportion": (Proportion, {}),
    "ratio": (Ratio, {}),
    "median": (Quantile, {"p": 0.5}),
    "quantile": (Quantile, {}),
    "gini": (Gini, {}),
    "s80s20": (ShareRatio, {}),
    "poverty_rate": (PovertyRate, {}),
    "poverty_threshold": (PovertyThreshold, {}),
    "poverty_gap": (PovertyGap, {}),
    "fgt0": (FosterGreerThorbecke, {"alpha": 0}),
    "fgt1": (FosterGreerThorbecke, {"alpha": 1}),
    "fgt2": (FosterGreerThorbecke, {"alpha": 2}),
    "pay_gap": (PayGap, {}),
}
# what laeken calls them
ALIASES = {
    "arpr": "poverty_rate",
    "arpt": "poverty_threshold",
    "rmpg": "poverty_gap",
    "qsr": "s80s20",
    "gpg": "pay_gap",
}
PANELS: dict[str, tuple[str, ...]] = {
    "poverty": (
        "mean",
        "median",
        "gini",
        "s80s20",
        "poverty_threshold",
        "poverty_rate",
        "poverty_gap",
        "fgt1",
    ),
    "location": ("mean", "median", "total"),
}


CATEGORIES = ("category", "reference")  # options that hold a value of a column
BELOW = {"p": 1, "lower": 1, "upper": 1, "share": 10}  # options above 0 and below this


class IndicatorRequest(NamedTuple):
    """An indicator and the variable it is of, where the user named one."""

    indicator: Indicator
    variable: str | None = None


def chosen(wanted: Any) -> list[IndicatorRequest]:
    """Indicators from what a user wrote.

    A name or a panel ("gini", "poverty"); a list of names, functions (values, weights) → number, and
    mappings; or a mapping from a name to options, {"quantile": {"p": 0.9}}, to several sets of options in a
    list, or from any other name to a function. The option `variable` of any indicator names its variable.

    >>> [one.indicator.name for one in chosen(["gini", {"quantile": [{"p": 0.1}, {"p": 0.9}]}])]
    ['gini', 'quantile 0.1', 'quantile 0.9']
    """
    if isinstance(wanted, str):
        return [i for name in PANELS.get(wanted, (wanted,)) for i in _named(name, {})]
    if isinstance(wanted, Mapping):
        return [i for name, options in wanted.items() for i in _named(str(name), options)]
    if callable(wanted):
        name = getattr(wanted, "__name__", "<")
        return [IndicatorRequest(OwnFunction("own function" if name.startswith("<") else name, wanted))]
    if isinstance(wanted, Sequence):
        return [i for one in wanted for i in chosen(one)]
    raise OptionError("An indicator is a name, a function, or a name with options.", given=preview(wanted))


def _named(name: str, options: Any) -> list[IndicatorRequest]:
    if callable(options):
        return [IndicatorRequest(OwnFunction(name, options))]
    if isinstance(options, Sequence) and not isinstance(options, str):
        return [i for one in options for i in _named(name, one)]
    name = ALIASES.get(name, name)
    if name not in CATALOGUE:
        known = [*CATALOGUE, *PANELS]
        raise UnknownMethodError(
            f"There is no indicator {name!r}.", allowed=join_names(known, 30), hint=did_you_mean(name, known)
        )
    if options is not None and not isinstance(options, Mapping):
        raise OptionError(f"Options of the indicator {name} come as name: value.", given=preview(options))
    given = dict(options or {})
    variable = given.pop("variable", None)
    if variable is not None and not isinstance(variable, str):
        raise OptionError(f"The variable of {name} is the name of a column.", given=preview(variable))
    return [IndicatorRequest(_built(name, given), variable)]


def _built(name: str, given: dict[str, Any]) -> Indicator:
    kind, fixed = CATALOGUE[name]
    own = {f.name: f for f in fields(kind) if f.name not in fixed}  # type: ignore[arg-type]
    hints = get_type_hints(kind)
    for option, value in given.items():
        if option not in own:
            raise OptionError(
                f"The indicator {name} has no option {option!r}.",
                allowed=join_names(own) or "no options",
                hint=did_you_mean(option, own),
            )
        given[option] = _checked(name, option, value, hints[option])
    for option, one in own.items():
        if one.default is MISSING and option not in given:
            needed = ", ".join(f'"{o}": …' for o, f in own.items() if f.default is MISSING)
            raise OptionError(
                f"The indicator {name} needs the option {option!r}.",
                hint=f'Write {{"{name}": {{{needed}}}}}.',
            )
    return kind(**fixed, **given)


def _checked(name: str, option: str, value: Any, hint: Any) -> Any:
    """The value in the type of the option; raises OptionError where it does not fit."""
    what = f"Option {option!r} of the indicator {name}"
    if option in CATEGORIES:
        if value is None:
            raise OptionError(f"{what} is a value of the column, not null.")
        return written(value)
    allowed = get_args(hint) or (hint,)  # types, or the values of a Literal
    if allowed == (str,) and not isinstance(value, bool | None):
        return as_text(value)
    if not _fits(value, allowed):
        names = join_names(a.__name__ if isinstance(a, type) else a for a in allowed)
        raise OptionError(f"{what} is not valid.", given=preview(value), allowed=names)
    if option in BELOW and not 0 < float(value) < BELOW[option]:
        raise OptionError(
            f"{what} is out of range.", given=value, allowed=f"above 0 and below {BELOW[option]}"
        )
    return value


def _fits(value: Any, allowed: tuple[Any, ...]) -> bool:
    """Whether a value is of one of the types, where a whole number is a float, too, or one of the values."""
    if isinstance(value, bool):
        return bool in allowed
    types = tuple(a for a in allowed if isinstance(a, type))
    return isinstance(value, types) or (float in types and isinstance(value, int)) or value in allowed
