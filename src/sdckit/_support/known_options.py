"""Our error, with a suggestion, where a function is called with an option that it does not have."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from sdckit.errors import OptionError, listing, nearest

F = TypeVar("F", bound=Callable[..., Any])


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
                    allowed=listing(options),
                    hint=nearest(name, options),
                )
        return function(*given, **named)

    return cast("F", checked)
