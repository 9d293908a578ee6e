"""The table of benchmarks, for the terminal and for the documentation."""

import platform
from collections.abc import Mapping, Sequence

import sdckit
from benchmarks._task import Run

WIDTHS = {"CPU s": 9, "wall s": 9, "growth": 8, "MB": 7, "naive ×": 9, "R s": 9}
HEAD = f"{'task':<46}{'records':>10}{''.join(f'{name:>{w}}' for name, w in WIDTHS.items())}  result"

INTRODUCTION = """\
# Benchmarks

`make bench` prints this table for your machine; `python -m benchmarks --write` writes this page, here with
sdckit {version} on Python {python}.

Every line is a fresh process. *seconds* are CPU seconds of the call alone (the best of three where it is
short): reading, imports and compilation are left out. *elapsed* is less where two threads share the work.
*growth* is the exponent of the number of records from the line before: 1 is linear, 2 quadratic. *memory* is
the peak above the input. *naive* is how many times longer plain Python takes for the same result on a small
file (the twin the tests compare with); it grows with the file. *R* are CPU seconds of sdcMicro 5.8.1 (or
laeken, or the R and C++ code that came with the papers) stored from another run on a machine of the same
kind: it was not run again beside ours, so read ratios below two as a draw. Files of 100,000 are the same for
both; larger ones were built in the same way, so there the ratios are rough. Four rows compare less than they
seem to: identification risk (theirs is of three synthetic files with seven variables, ours of one artificial
file), record linkage (theirs is a one-to-one assignment), record swapping (other regions) and the Gini
coefficient (theirs is of one file, ours of two). Local suppression follows another rule than sdcMicro's, and
blanks more cells ([decision 6](decisions/0006-sound-suppression.md)). The lines of `compare` count two
processes, so that only their elapsed seconds mean something. Other work shared the machine: elapsed seconds
are too long, and CPU seconds by a tenth or more.

Further programs look at quality, at engines and at other tools: `python -m benchmarks.suppression_quality`,
`python -m benchmarks.search`, `python -m benchmarks.engines`, `python -m benchmarks.other_tools`.
"""

START = """\
## The first minute

Seconds from starting the command to its end, Python and imports included. The first time kernels are
compiled, and kept on disk (`python -m benchmarks.start`). CPU seconds of `sdckit demo` are of two
processes.

"""
PAGE = """\
## The page

Seconds by the clock from a click to its answer (`python -m benchmarks.web`). The goals at 100,000 and
1,000,000 records: 0.3 and 1.5 s for a verdict by keys, 0.8 and 4 s with numbers, 0.5 and 3 s to open a
file, 0.2 s for any click while a job runs, 1 s for Stop.

"""
LARGE = """\
## Larger than memory

DuckDB, ten columns in Parquet, CPU seconds of the whole process with starting, reading and, for
protections, writing; the memory is that of all processes (`python -m benchmarks.scale`). The plan recodes
twice, suppresses, applies PRAM, codes a tail and gives new ids. What each row is measured against is in the
guide to [large files](guides/large-files-and-clusters.md).

"""

OTHERS = "## Beside SDMetrics and Anonymeter"


def line(run: Run) -> str:
    """One line for the terminal."""
    cells = (
        f"{run.seconds:.3f}",
        f"{run.elapsed:.3f}",
        "" if run.growth is None else f"{run.growth:.2f}",
        f"{run.memory:.0f}",
        "" if run.naive is None else f"{run.naive:,.0f}",
        run.theirs,
    )
    rest = "".join(f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS.values(), strict=True))
    return f"{run.task:<46}{run.records:>10,}{rest}  {run.said}".rstrip()


def page(found: Mapping[str, Sequence[Run]], more: Mapping[str, str]) -> str:
    """The tables as a page of the documentation; `more` has further sections with what introduces them."""
    parts = [INTRODUCTION.format(version=sdckit.__version__, python=platform.python_version())]
    for title, lines in found.items():
        rows = [_row(run) for run in lines]
        head = (
            "| task | records | seconds | elapsed | growth | memory | naive | R | result |\n"
            "|---|---:|---:|---:|---:|---:|---:|---:|---|"
        )
        parts.append("\n".join([f"## {title}\n", head, *rows, ""]))
    return "\n".join([*parts, *(introduction + table for introduction, table in more.items())])


def kept(text: str) -> str:
    """The section of a page that other_tools wrote: it stays when the page is written again."""
    _, title, rest = text.partition(OTHERS)
    return f"\n{title}{rest}" if title else ""


def _row(run: Run) -> str:
    cells = (
        run.task,
        f"{run.records:,}",
        f"{run.seconds:.3f}",
        f"{run.elapsed:.3f}",
        "" if run.growth is None else f"{run.growth:.2f}",
        f"{run.memory:.0f} MB",
        "" if run.naive is None else f"{run.naive:,.0f} ×",
        run.theirs.replace(">", "over"),
        run.said,
    )
    return f"| {' | '.join(cells)} |"
