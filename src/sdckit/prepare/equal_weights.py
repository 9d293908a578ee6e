"""Equal weights for a sample that came without any."""

from typing import Annotated

import polars as pl
from pydantic import Field

from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.errors import ColumnError, OptionError
from sdckit.methods.options import OneOf, Option
from sdckit.methods.preparing import Prepared
from sdckit.methods.registry import preparation

NOTE = (
    "Give this column the role weight. It says what you say of the population, which no file can show to be "
    "true: whoever knows that a person took part is judged without it."
)


@preparation(
    "Equal weights for a sample",
    family="Columns",
    rules=(OneOf(("population", "fraction"), required=True),),
)
def equal_weights(
    data: Microdata,
    *,
    population: Annotated[
        float,
        Field(ge=1, le=8.2e9),
        Option(
            "People in the population",
            "How many there are of whom the records are a sample.",
            basic=True,
            unit="persons",
            absent="from the sampling fraction",
        ),
    ]
    | None = None,
    fraction: Annotated[
        float,
        Field(gt=0, le=1),
        Option(
            "Sampling fraction",
            "The part of the population that is in the file, for instance 0.02.",
            basic=True,
            absent="from the number of people",
        ),
    ]
    | None = None,
    name: Annotated[str, Field(min_length=1), Option("Name", "What the new column is called.")] = "weight",
) -> Prepared:
    r"""Give every record of a simple random sample the same weight, for a file that came without weights.

    .. math:: w_i = N / n, \qquad \text{or } 1 / f \text{ with the sampling fraction } f

    where N is the number of people in the population and n that of the records. Without weights a file is
    taken for the whole population. The new column has a meaning only under the role weight. Then
    intruders who do not know who took part face w times as many people, as do all measures that rest on
    weights; those who know that the person took part are not hindered by it, and stay in the verdict.

    A population that is said to be too large makes the first risks look smaller than they are: take the
    number of people who could have been drawn, and not more. Where some were more likely to be drawn than
    others, or answered more often, these weights are wrong; use those of the survey. A population smaller
    than the file is refused.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"age": [17, 40, 52, 65]}))
    >>> sdc.prepare.equal_weights(data, population=1000).frame["weight"].to_list()
    [250.0, 250.0, 250.0, 250.0]
    """
    if name in data.columns:
        raise ColumnError(f"There is a column {name!r} already.", hint="Choose another name.")
    size = data.height / fraction if fraction is not None else float(population or 0)
    if size < data.height:
        raise OptionError(
            "The population is smaller than the file.",
            given=f"{size:,.0f} people, {data.height:,} records",
            allowed=f"{data.height:,} or more",
        )
    weight = size / data.height
    label = f"equal weight, from a population said to have {size:,.0f} people"
    labels = Labels({**data.labels.variables, name: label}, data.labels.values)
    figures = {"people_per_record": weight, "equal_weights": {name: size}, "note": NOTE}
    return Prepared(data.frame.with_columns(pl.lit(weight).alias(name)), figures, labels=labels)
