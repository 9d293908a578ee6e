"""The error family: every message says what was wrong, what was given and what is allowed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

LONGEST = 120  # characters of a given value in a message


class SdcError(Exception):
    """Base of every error sdckit raises on purpose.

    hint: the way out. plan_hint: the same for those who write plans and commands, where Python does not fit.
    step: the place, from 0, of the step of a scenario in which it happened.

    >>> print(SdcError("k is too small.", given=1, allowed="2 or more"))
    k is too small. Given: 1. Allowed: 2 or more.
    """

    step: int | None = None

    def __init__(
        self,
        what: str,
        *,
        given: object = None,
        allowed: object = None,
        hint: str = "",
        plan_hint: str = "",
    ) -> None:
        self.what, self.given, self.allowed, self.hint, self.plan_hint = what, given, allowed, hint, plan_hint
        super().__init__(self._text(hint))

    def after(self, words: str) -> Self:
        """The same error with words before it that say where it happened."""
        return type(self)(
            f"{words}: {self.what}",
            given=self.given,
            allowed=self.allowed,
            hint=self.hint,
            plan_hint=self.plan_hint,
        )

    @property
    def in_plan(self) -> str:
        """The message for those who write plans and commands, not Python."""
        return self._text(self.plan_hint or self.hint)

    def _text(self, hint: str) -> str:
        parts = [self.what]
        if self.given is not None:
            given = self.given
            text = str(given) if isinstance(given, str | Path) else preview(given, str)
            parts.append(f"Given: {text.removesuffix('.')}.")
        if self.allowed is not None:
            parts.append(f"Allowed: {self.allowed}.")
        return " ".join([*parts, *([hint] if hint else [])])


class SdcWarning(UserWarning):
    """Something about the data that the user should know, and that is no error."""


class ReleaseWarning(SdcWarning):
    """What to look at before a file that was written is released; to be ignored for working copies."""


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


class Stopped(SdcError):  # noqa: N818 (somebody asked for it: nothing went wrong)
    """The work was stopped on request; nothing was written."""


class EngineError(SdcError):
    """This work cannot run on this engine."""


def preview(value: Any, write: Callable[[Any], str] = repr) -> str:
    """What a user gave, for a message: tables and arrays by their size, anything else cut when it is long.

    >>> preview("hi"), len(preview("long " * 99))
    ("'hi'", 121)
    """
    size = getattr(value, "shape", ())
    if isinstance(size, tuple) and size:
        return f"{type(value).__name__} of {' × '.join(f'{n:,}' for n in size)}"
    text = " ".join(write(value).split())
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"
