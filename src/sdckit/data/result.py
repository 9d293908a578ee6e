"""Result: what every measure returns."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl

from sdckit._support.html_text import bullets, paragraph, picture, table
from sdckit._support.messages import join_names
from sdckit._support.save_chart import save_chart
from sdckit.errors import SdcError, preview

ROWS_SHOWN = 25  # a longer table is named, not shown: most of those have one row per record


@dataclass(frozen=True, slots=True)
class Result:
    """One measured number with what it is made of and how to read it.

    value: the headline number; nan only with a note that says why.
    figures: further named numbers.
    parts: the number taken apart, per variable, cell, record or domain.
    tables: further tables by name, for example contributions of each key.
    notes: conventions and caveats in words a statistician uses.
    lost: variables of the original that could not be used because the protected file no longer has them, or
    no longer as numbers: the value says nothing of them.
    sets: of several files that are released together the result of each, where a release is decided on it.
    measure, options, draw: filled in by the registry.

    >>> Result(0.125, {"records": 8}, notes=("Weights were used.",), measure="share", options={"k": 3})
    share = 0.125  (k=3)
      records             8
      note: Weights were used.
    """

    value: float
    figures: Mapping[str, float] = field(default_factory=dict)
    parts: pl.DataFrame | None = None
    notes: tuple[str, ...] = ()
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    measure: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    draw: Callable[["Result"], Any] | None = field(default=None, repr=False, compare=False)
    sets: tuple["Result", ...] = field(default=(), repr=False, compare=False)

    def chart(self) -> Any:
        """The picture of this result (an Altair chart), drawn from aggregates only."""
        if self.draw is None:
            raise SdcError(f"{self.measure or 'This result'} has no picture.", hint="See parts and figures.")
        return self.draw(self)

    def save_chart(self, path: str | Path) -> Path:
        """Write the picture to an .html file that works without a network, or to an .svg or .png file."""
        return save_chart(self.chart(), path)

    def copy(self) -> "Result":
        """The same with mappings and tables of its own, so that who changes them changes nothing else."""
        return replace(
            self,
            figures=dict(self.figures),
            parts=None if self.parts is None else self.parts.clone(),
            tables={name: table.clone() for name, table in self.tables.items()},
            options=dict(self.options),
        )

    def __repr__(self) -> str:
        options = ", ".join(f"{k}={v}" for k, v in self._given())
        lines = [f"{self.measure or 'result'} = {show(self.value)}" + (f"  ({options})" if options else "")]
        width = max([18, *map(len, self.figures)])
        lines += [f"  {name:<{width}}  {show(number)}" for name, number in self.figures.items()]
        if self.parts is not None:
            lines.append(f"  parts: {self.parts.height} rows × {', '.join(self.parts.columns)}")
        lines += [
            f"  table {name}: {t.height} rows × {', '.join(t.columns)}" for name, t in self.tables.items()
        ]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)

    def _given(self) -> list[tuple[str, Any]]:
        """The options that say something: not those left empty."""
        return [(k, v) for k, v in self.options.items() if v is not None and v not in ((), [], {})]

    def _repr_html_(self) -> str:
        name = self.measure or "result"
        options = ", ".join(f"{k}={preview(v)}" for k, v in self._given())
        parts = [
            paragraph(f"{name} = {show(self.value)}", strong=True),
            paragraph(options),
            picture(self.chart, f"{name}; the tables have the same numbers") if self.draw else "",
            table(["figure", "value"], ((figure, show(value)) for figure, value in self.figures.items())),
            _rows("parts", self.parts),
            *(_rows(title, rows) for title, rows in self.tables.items()),
            bullets(self.notes),
        ]
        return f"<div>{''.join(parts)}</div>"


def _rows(title: str, rows: pl.DataFrame | None) -> str:
    """A short table; of a long one its size and columns."""
    if rows is None:
        return ""
    if rows.height > ROWS_SHOWN:
        return paragraph(f"{title}: {rows.height:,} rows × {', '.join(rows.columns)}")
    texts = ([_cell(value) for value in row] for row in rows.iter_rows())
    return paragraph(title) + table(rows.columns, texts)


def _cell(value: Any) -> str:
    return "" if value is None else show(value) if isinstance(value, float) else str(value)


def show(number: float) -> str:
    """A number as people write it: whole numbers whole, others to six figures."""
    return f"{number:.0f}" if float(number).is_integer() and abs(number) < 1e15 else f"{number:.6g}"


def pool_results(results: Sequence[Result]) -> Result:
    """Means of the numbers, the first set's parts; of one set its result."""
    first = results[0]
    if len(results) == 1:
        return first
    names = [n for n in first.figures if all(n in r.figures for r in results)]
    note = f"Mean over {len(results)} files; parts are of the first."
    lost = tuple(dict.fromkeys(c for r in results for c in r.lost))
    return replace(
        first,
        value=fmean(r.value for r in results),
        figures={n: fmean(r.figures[n] for r in results) for n in names},
        notes=(*dict.fromkeys(text for r in results for text in r.notes), note),
        lost=lost,
    )


def worst_result(results: Sequence[Result], *, low_is_good: bool, low_figures: Container[str] = ()) -> Result:
    """That of the most dangerous of several files, all of them released; what is not known comes first.

    low_figures: those that are good where they are low. The largest over the files counts, whichever it is
    in: a file that looks harmless by its value may repeat persons in another way.
    """
    if len(results) == 1:
        return results[0]
    sign = 1 if low_is_good else -1
    place = max(
        range(len(results)),
        key=lambda i: (isnan(results[i].value), 0.0 if isnan(results[i].value) else sign * results[i].value),
    )
    worst = results[place]
    highest = {
        name: max(
            (r.figures[name] for r in results if not isnan(r.figures.get(name, nan))),
            default=worst.figures[name],
        )
        for name in worst.figures
        if name in low_figures
    }
    note = f"Of {len(results)} files, all released: the one with the largest risk, number {place + 1}."
    more = [name for name, value in highest.items() if value > worst.figures[name]]
    others = (f"Larger in another file, and of that: {join_names(more)}.",) if more else ()
    return replace(
        worst, figures={**worst.figures, **highest}, notes=(*worst.notes, *others, note), sets=tuple(results)
    )
