"""The error family: every message says what was wrong, what was given and what is allowed."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

LONGEST = 120  # characters of a given value in a message


class SdcError(Exception):
    """Base of every error sdckit raises on purpose.

    >>> print(SdcError("k is too small.", given=1, allowed="2 or more"))
    k is too small. Given: 1. Allowed: 2 or more.
    """

    def __init__(self, what: str, *, given: object = None, allowed: object = None, hint: str = "") -> None:
        self.what, self.given, self.allowed, self.hint = what, given, allowed, hint
        parts = [what]
        if given is not None:
            text = str(given) if isinstance(given, str | Path) else shown(given, str)
            parts.append(f"Given: {text.removesuffix('.')}.")
        if allowed is not None:
            parts.append(f"Allowed: {allowed}.")
        if hint:
            parts.append(hint)
        super().__init__(" ".join(parts))

    def after(self, words: str) -> Self:
        """The same error with words before it that say where it happened."""
        return type(self)(f"{words}: {self.what}", given=self.given, allowed=self.allowed, hint=self.hint)


class SdcWarning(UserWarning):
    """Something about the data that the user should know, and that is no error."""


class FileError(SdcError, OSError):
    """A file is missing, broken, empty or of a kind we do not read."""

    def __str__(self) -> str:
        return str(self.args[0])


class DataError(SdcError, ValueError):
    """The values in the data do not allow the work: weights, lengths, infinities, empty keys."""


class ColumnError(SdcError, KeyError):
    """A column is absent, named twice or of the wrong type."""

    def __str__(self) -> str:  # KeyError would show the repr
        return str(self.args[0])


class RoleError(SdcError, ValueError):
    """A role is needed and not set, or two roles conflict."""


class OptionError(SdcError, ValueError):
    """An option is unknown, of the wrong type or out of bounds."""


class UnknownMethodError(OptionError):
    """No protection or measure has this name."""


class UnknownNameError(SdcError, AttributeError):
    """A package of ours has no such name."""


class EngineError(SdcError):
    """This work cannot run on this engine."""


def listing(names: Iterable[object], limit: int = 12) -> str:
    """Names for a message, cut when there are many."""
    shown = [str(name) for name in names]
    return ", ".join(shown[:limit]) + (f", … ({len(shown)} in all)" if len(shown) > limit else "")


def shown(value: Any, write: Callable[[Any], str] = repr) -> str:
    """What a user gave, for a message: tables and arrays by their size, anything else cut when it is long.

    >>> shown("hi"), len(shown("long " * 99))
    ("'hi'", 121)
    """
    size = getattr(value, "shape", ())
    if isinstance(size, tuple) and size:
        return f"{type(value).__name__} of {' × '.join(f'{n:,}' for n in size)}"
    text = " ".join(write(value).split())
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def refuse_strangers(names: Iterable[str], known: Collection[str], what: str) -> None:
    """Refuse a name that is not among those known."""
    for name in names:
        if name not in known:
            raise OptionError(what, given=name, allowed=listing(known))


def refuse_repeated(names: Iterable[str]) -> None:
    """Refuse columns of which two have the same name."""
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise ColumnError("Column names must differ.", given=listing(map(repr, repeated)))


def require_flag(option: str, given: Any) -> None:
    """Refuse what is neither true nor false: the text "no" would count as true."""
    if not isinstance(given, bool):
        raise OptionError(f"Option {option!r} is true or false.", given=shown(given), allowed="true or false")


def nearest(name: object, known: Iterable[object]) -> str:
    """A sentence that suggests the closest known name, or nothing; capitals and underscores do not count.

    >>> nearest("maxrisk", ["measures", "max_risk"]), nearest("risk", ["measures", "max_risk"])
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
