"""A progress bar for whoever says progress=True: in a notebook, on a terminal, plain lines elsewhere."""

import sys
from html import escape
from typing import Any, Protocol


class ProgressBar(Protocol):
    """Shows what is done, how many pieces are done and how many there are, until it is closed."""

    def __call__(self, what: str, done: int, of: int) -> None:
        """Show how far the work is."""

    def close(self) -> None:
        """Take the bar away."""


def progress_bar() -> ProgressBar:
    """The bar that fits where this process runs; on a terminal without rich lines are shown."""
    if _in_notebook():
        return _NotebookBar()
    if sys.stderr.isatty():
        try:
            return _TerminalBar()
        except ImportError:
            pass
    return _Lines()


def _in_notebook() -> bool:
    """Whether a Jupyter kernel runs this; IPython on a terminal is a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


class _NotebookBar:
    """An output that is replaced at each call. (rich would need ipywidgets for that.)"""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html = HTML
        self._output = display(HTML("<progress></progress>"), display_id=True)

    def __call__(self, what: str, done: int, of: int) -> None:
        bar = f'<progress value="{done}" max="{max(of, 1)}"></progress>'
        self._output.update(self._html(f"{bar} {done:,} of {of:,} · {escape(what)}"))

    def close(self) -> None:
        self._output.update(self._html(""))


class _TerminalBar:
    """A bar of rich on stderr, gone when the work is done."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        text = TextColumn("{task.description}", markup=False)  # names of scenarios may have brackets
        columns = (text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task: Any = self._bar.add_task("", total=None)
        self._bar.start()

    def __call__(self, what: str, done: int, of: int) -> None:
        self._bar.update(self._task, description=what, completed=done, total=of)

    def close(self) -> None:
        self._bar.stop()


class _Lines:
    """One line for each piece: long steps tell often how far they are, which is for a bar."""

    def __init__(self) -> None:
        self._shown: set[int] = set()

    def __call__(self, what: str, done: int, of: int) -> None:
        if done not in self._shown:
            self._shown.add(done)
            sys.stderr.write(f"{done:,} of {of:,}: {what}\n")

    def close(self) -> None:
        sys.stderr.flush()
