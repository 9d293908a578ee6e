"""Columns without any value."""

from sdckit.data.microdata import Microdata
from sdckit.errors import DataError
from sdckit.methods.preparing import Prepared
from sdckit.methods.registry import preparation


@preparation("Drop columns with only missing values", family="Columns")
def drop_empty(data: Microdata) -> Prepared:
    """Leave out the columns in which every value is missing; where there is none, nothing is done.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"age": [7, 40], "note": [None, None]}))
    >>> sdc.prepare.drop_empty(data).columns
    ('age',)
    """
    frame = data.frame
    empty = [c.name for c in frame.iter_columns() if c.null_count() == frame.height]
    if len(empty) == frame.width:
        raise DataError("No column would be left.", given="a file of missing values only")
    return Prepared(frame.drop(empty), {"columns_removed": empty})
