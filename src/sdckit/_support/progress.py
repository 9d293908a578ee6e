"""Progress: what is being done, how far it is, and whether to go on."""

from collections.abc import Callable
from typing import Any

from sdckit.errors import OptionError, Stopped, preview

ShowProgress = Callable[[str, int, int], Any]  # what is done, pieces done, pieces in all


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
        """From what a user gave: nothing, a function of (what, done, in all), or a Progress."""
        if given is None or callable(given):
            return given if isinstance(given, cls) else cls(given)
        raise OptionError(
            "progress is a function.", given=preview(given), allowed="a function of what, done, in all"
        )

    def __call__(self, what: str, done: int, of: int) -> None:
        """Say how far the work is; ends it where somebody asked for that."""
        if self._stop is not None and self._stop():
            raise Stopped(f"Stopped on request during {what}.")
        if self._show is not None:
            self._show(what, done, of)

    def part(self, what: str, done: int, of: int) -> "Progress":
        """The progress of one piece of the work, told as part of the whole."""

        def show(inner: str, inner_done: int, inner_of: int) -> None:
            if self._show is not None:
                text = f"{what}: {inner}, {inner_done:,} of {inner_of:,}" if inner_of > 1 else what
                self._show(text, done, of)

        return Progress(show, stop=self._stop)
