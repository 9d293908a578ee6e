"""Names in messages, and refusals that say what is allowed."""

import inspect
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from functools import wraps
from typing import Any, TypeVar, cast

from sdckit.errors import ColumnError, OptionError, preview

F = TypeVar("F", bound=Callable[..., Any])


def join_names(names: Iterable[object], limit: int = 12) -> str:
    """Names for a message, cut when there are many."""
    texts = [str(name) for name in names]
    return ", ".join(texts[:limit]) + (f", … ({len(texts)} in all)" if len(texts) > limit else "")


def require_known(names: Iterable[str], known: Collection[str], what: str) -> None:
    """Refuse a name that is not among those known."""
    for name in names:
        if name not in known:
            raise OptionError(what, given=name, allowed=join_names(known))


def require_unique(names: Iterable[str]) -> None:
    """Refuse columns of which two have the same name."""
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise ColumnError("Column names must differ.", given=join_names(map(repr, repeated)))


def require_flag(option: str, given: Any) -> None:
    """Refuse what is neither true nor false: the text "no" would count as true."""
    if not isinstance(given, bool):
        raise OptionError(
            f"Option {option!r} is true or false.", given=preview(given), allowed="true or false"
        )


def too_large(k: int, records: int, where: str = "") -> OptionError:
    """Groups of k records cannot be made of fewer."""
    allowed = f"2 to {records:,}" if records > 1 else "none: k is at least 2"
    return OptionError(f"k is larger than the number of records{where}.", given=k, allowed=allowed)


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """A sentence that suggests the closest known name, or nothing; capitals and underscores do not count.

    >>> did_you_mean("maxrisk", ["measures", "max_risk"]), did_you_mean("risk", ["measures", "max_risk"])
    ("Did you mean 'max_risk'?", "Did you mean 'max_risk'?")
    """
    letters = {_letters(k): str(k) for k in known}
    asked = _letters(name)
    close = get_close_matches(asked, letters, n=1)
    if not close:  # a part of a name, or a name with something added
        close = sorted(
            (k for k in letters if min(len(asked), len(k)) > 2 and (asked in k or k in asked)), key=len
        )
    return f"Did you mean {letters[close[0]]!r}?" if close else ""


def _letters(name: object) -> str:
    return str(name).lower().replace("_", "").replace("-", "").replace(" ", "")


def known_options(function: F) -> F:
    """The function, which now refuses options that it does not have in our words.

    >>> @known_options
    ... def greet(name, *, keys=()): ...
    >>> greet("Ann", key="a")
    Traceback (most recent call last):
    sdckit.errors.OptionError: greet has no option 'key'. Allowed: keys. Did you mean 'keys'?
    """
    parameters = inspect.signature(function).parameters
    options = [name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY]

    @wraps(function)
    def checked(*given: Any, **named: Any) -> Any:
        for name in named:
            if name not in parameters:
                raise OptionError(
                    f"{function.__name__} has no option {name!r}.",
                    allowed=join_names(options),
                    hint=did_you_mean(name, options),
                )
        return function(*given, **named)

    return cast("F", checked)
