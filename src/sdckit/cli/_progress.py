"""Progress on stderr: a bar on a terminal, plain lines elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

Tell = Callable[[str, int, int], None]  # what, how many are finished, in all


def say(text: str) -> None:
    """A line for people, on stderr."""
    typer.echo(text, err=True)


def before_writing(tell: Tell) -> Tell:
    """Progress of steps behind which writing is one more."""
    return lambda what, done, of: tell(what, done, of + 1)


def writing(tell: Tell, steps: int) -> Tell:
    """Progress of writing, told as a further step behind these."""
    return lambda what, done, of: tell(what, steps, steps + 1)


@contextmanager
def following(title: str, *, finished: bool = False) -> Iterator[Tell]:
    """A function that shows progress; `finished` says that it is called after each piece, not before."""
    import numpy as np
    import polars as pl
    from rich.console import Console

    pl.Series(np.zeros(1)).to_numpy()  # Polars finds numpy at its first use: Ctrl-C just then is a panic
    console = Console(stderr=True)
    if not console.is_terminal:
        told: set[int] = set()

        def line(what: str, done: int, total: int) -> None:
            if done not in told:  # a long step tells often how far it is: that is for the bar
                told.add(done)
                say(f"{title} {done if finished else done + 1}/{total}: {what}")

        yield line
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda what, done, total: bar.update(
            task, description=f"{title}: {what}", completed=done, total=total
        )
