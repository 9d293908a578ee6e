"""One column of several, such as a stratum."""

from typing import Annotated

import polars as pl
from pydantic import Field

from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.data.values import texts
from sdckit.errors import ColumnError, DataError
from sdckit.methods.options import Columns, Option
from sdckit.methods.preparing import Prepared
from sdckit.methods.registry import preparation

BETWEEN = " / "


@preparation("Combine columns", family="Columns")
def combine(
    data: Microdata,
    *,
    variables: Annotated[
        Columns, Field(min_length=2), Option("Variables", "Two or more, in this order.", basic=True)
    ],
    name: Annotated[
        str, Field(min_length=1), Option("Name", "What the new column is called, for instance stratum.")
    ],
) -> Prepared:
    """Make a new column of the values of several, "north / rural", for instance a stratum.

    Records have the same value there if they have the same value in every one of the columns; it is missing
    where one of them is. The columns themselves stay. A column made from a direct identifier is refused as
    soon as the roles are known.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"region": ["N", "S"], "size": [1, 2]}))
    >>> sdc.prepare.combine(data, variables=["region", "size"], name="stratum").frame["stratum"].to_list()
    ['N / 1', 'S / 2']
    """
    if name in data.columns:
        raise ColumnError(f"There is a column {name!r} already.", hint="Choose another name.")
    parts = [texts(data.frame[c]) for c in dict.fromkeys(variables)]
    for part in parts:
        if part.str.contains(BETWEEN, literal=True).any():
            raise DataError(
                f"Values of {part.name!r} contain {BETWEEN!r}, which stands between values.",
                hint="Replace them first: replace_values.",
            )
    made = data.frame.select(pl.concat_str(parts, separator=BETWEEN, ignore_nulls=False).alias(name))
    told = f"{', '.join(variables)} combined"
    before = {n: old for e in data.prepared for n, old in e.figures.get("made_from", {}).items()}
    sources = dict.fromkeys(s for c in variables for s in (c, *before.get(c, ())))
    labels = Labels({**data.labels.variables, name: told}, data.labels.values)
    figures = {"different_values": made[name].drop_nulls().n_unique(), "made_from": {name: list(sources)}}
    frame = data.frame.with_columns(made[name])
    return Prepared(frame, figures, labels=labels, record_by_record=True)
