"""Categories that indicators are asked for: a misspelt one is refused before anything is computed."""

from collections.abc import Iterable, Sequence

import polars as pl

from sdckit._support.messages import did_you_mean, join_names
from sdckit.data.microdata import Microdata
from sdckit.data.values import are_categories, as_text, texts
from sdckit.engine.tables import count_cells
from sdckit.errors import OptionError
from sdckit.estimate.catalogue import IndicatorRequest
from sdckit.estimate.indicator import Source

Pair = tuple[IndicatorRequest, str]  # an indicator and its variable


def with_category(files: Sequence[Microdata], pairs: Sequence[Pair]) -> tuple[list[Pair], tuple[str, ...]]:
    """The pairs, but those whose column has the category in no file, and which these are.

    An indicator whose category none of its columns has is refused. The original is the first file.
    """
    sources = [one.indicator.source(variable) for one, variable in pairs]
    found = [_found(files, source) for source in sources]
    there = {one for (one, _), has in zip(pairs, found, strict=True) if has}
    for one in dict.fromkeys(one for one, _ in pairs if one not in there):
        _refuse(files, [s for (other, _), s in zip(pairs, sources, strict=True) if other == one])
    kept = [pair for pair, has in zip(pairs, found, strict=True) if has]
    absent = [
        f"{one.indicator.name} of {variable}"
        for (one, variable), has in zip(pairs, found, strict=True)
        if not has
    ]
    return kept, (
        (f"Left out, for the column has no such category: {join_names(absent, 6)}.",) if absent else ()
    )


def _found(files: Sequence[Microdata], source: Source) -> bool:
    """Whether a file has the category, under its code or its label; True where none is asked for."""
    for column in (source.variable, source.other):
        if column is not None:
            files[0].require(column)
    if source.categories is None:
        return True
    return not set(source.spellings(files[0].labels)).isdisjoint(_categories(files, source.categories))


def _refuse(files: Sequence[Microdata], sources: Sequence[Source]) -> None:
    """Name what the column has; of several columns the one with the fewest categories."""
    known = {s.categories: _categories(files, s.categories) for s in sources if s.categories}
    column = min(known, key=lambda c: len(known[c]))
    words = {as_text(k): t for k, t in files[0].labels.values.get(column, {}).items()}
    names = [words.get(code, code) for code in known[column]]
    category = sources[0].category or ""
    labelled = all(code in words for code in known[column])  # then also floating-point numbers are codes
    kinds = [
        pl.String() if labelled else occurring(data, [column]).schema[column]
        for data in files
        if column in data.columns
    ]
    allowed, hint = to_choose(category, names, kinds)
    raise OptionError(
        f"{column} has no category {category!r}, neither in the original nor in the protected file.",
        allowed=allowed,
        hint=hint or "The option 'variable' of an indicator names its column.",
    )


def to_choose(category: str, names: Sequence[str], kinds: Iterable[pl.DataType]) -> tuple[str, str]:
    """For a message: the categories of columns of these types, and the nearest to what was asked for.

    Only how many there are where these are hardly categories: values of persons do not belong in messages.
    """
    if not names:
        return "none, every value is missing", ""
    if not all(are_categories(len(names), kind) for kind in kinds):
        return f"one of its {len(names):,} values", ""
    return join_names(names, 8), did_you_mean(category, names)


def _categories(files: Sequence[Microdata], column: str) -> list[str]:
    """The values of a column that occur in any of the files, as text."""
    found: dict[str, None] = {}
    for data in files:
        if column in data.columns:
            data.require_categories([column])
            values = occurring(data, [column])[column]
            found |= dict.fromkeys(texts(values.drop_nulls().unique().sort()))
    return list(found)


def occurring(data: Microdata, columns: Sequence[str]) -> pl.DataFrame:
    """Some columns of a file in memory; of one outside memory each combination of values once."""
    if data.engine == "polars":
        return pl.DataFrame(data.frame.select(columns))
    return count_cells(data.table, columns, None).select(columns)
