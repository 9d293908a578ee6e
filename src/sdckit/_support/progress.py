"""Progress: what is being done, how far it is, and whether to go on."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from sdckit._support.progress_bar import progress_bar
from sdckit.errors import OptionError, Stopped, preview

ShowProgress = Callable[[str, int, int], Any]  # what is done, pieces done, pieces in all
F = TypeVar("F", bound=Callable[..., Any])


class Progress:
    """Passed through everything that may take long; called with what is done, pieces done, pieces in all.

    `show` is told of each call. `stop` is asked at each call whether somebody wants the work to end: then
    `Stopped` is raised, before anything is written.

    >>> seen = []
    >>> progress = Progress(lambda *told: seen.append(told))
    >>> progress.part("compare", 1, 4)("suppress", 2, 3)
    >>> seen
    [('compare: suppress, 2 of 3', 1, 4)]
    """

    def __init__(self, show: ShowProgress | None = None, *, stop: Callable[[], bool] | None = None) -> None:
        self._show, self._stop = show, stop

    @classmethod
    def of(cls, given: Any) -> "Progress":
        """From what a user gave: True for a bar, nothing, a function of (what, done, in all), or a Progress.

        Whoever asks with True closes the bar: see `closes_progress`.
        """
        if given is True:
            return cls(progress_bar())
        if given is None or given is False or callable(given):
            return given if isinstance(given, cls) else cls(given or None)
        raise OptionError(
            "progress is True or a function.",
            given=preview(given),
            allowed="True for a bar, or a function of what, done, in all",
        )

    def __call__(self, what: str, done: int, of: int) -> None:
        """Say how far the work is; ends it where somebody asked for that."""
        if self._stop is not None and self._stop():
            raise Stopped(f"Stopped on request during {what}.")
        if self._show is not None:
            self._show(what, done, of)

    def close(self) -> None:
        """Take a bar away; functions are left alone."""
        close = getattr(self._show, "close", None)
        if close is not None:
            close()

    def part(self, what: str, done: int, of: int) -> "Progress":
        """The progress of one piece of the work, told as part of the whole."""

        def show(inner: str, inner_done: int, inner_of: int) -> None:
            if self._show is not None:
                text = f"{what}: {inner}, {inner_done:,} of {inner_of:,}" if inner_of > 1 else what
                self._show(text, done, of)

        return Progress(show, stop=self._stop)


def closes_progress(function: F) -> F:
    """The function, whose `progress=True` shows a bar while it runs and takes it away at its end.

    >>> @closes_progress
    ... def work(progress=None):
    ...     Progress.of(progress)("work", 0, 1)
    >>> work(progress=lambda *told: print(*told))
    work 0 1
    """
    code = function.__code__  # a signature may be one for readers, without progress
    places = code.co_varnames[: code.co_argcount]
    place = places.index("progress") if "progress" in places else None

    @wraps(function)
    def shown(*given: Any, **named: Any) -> Any:
        if place is not None and len(given) > place:  # given by its place, not by its name
            named, given = {**named, "progress": given[place]}, given[:place]
        if named.get("progress") is not True:
            return function(*given, **named)
        bar = Progress.of(True)
        try:
            return function(*given, **{**named, "progress": bar})
        finally:
            bar.close()

    return cast("F", shown)
