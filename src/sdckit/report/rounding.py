"""An assessment without the last digits of its numbers, which differ from run to run."""

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import Any

import polars as pl

from sdckit.choose.assessment import Assessment
from sdckit.data.result import Result

FIGURES = 9
NOISE = 1e-12  # what is left of sums that should cancel


def settled(x: Assessment) -> Assessment:
    """The assessment with all numbers to nine figures, and 0 for what is next to nothing.

    The last digits of a sum depend on its order, which threads decide: the same data give the same report.
    """
    return replace(x, before=_each(x.before), after=_each(x.after), utility=_each(x.utility))


def _each(results: Mapping[str, Result]) -> dict[str, Result]:
    return {
        name: replace(
            r,
            value=_number(r.value),
            figures={figure: _number(value) for figure, value in r.figures.items()},
            parts=None if r.parts is None else _table(r.parts),
            tables={title: _table(table) for title, table in r.tables.items()},
        )
        for name, r in results.items()
    }


def _number(value: Any) -> Any:
    if not isinstance(value, float) or not isfinite(value):
        return value
    return 0.0 if abs(value) < NOISE else float(f"{value:.{FIGURES}g}")


def _table(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(_column(name) for name, kind in table.schema.items() if kind.is_float())


def _column(name: str) -> pl.Expr:
    value = pl.col(name)
    rounded = pl.when(value.is_finite()).then(value.round_sig_figs(FIGURES)).otherwise(value)
    return pl.when(value.abs() < NOISE).then(0.0).otherwise(rounded).alias(name)
