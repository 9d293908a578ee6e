"""Remove columns."""

from typing import Annotated

from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.errors import OptionError
from sdckit.methods.options import Columns, Option, RoleColumns
from sdckit.methods.registry import protection

DIRECT = RoleColumns(Role.DIRECT)


@protection(
    "Remove columns", family="The whole file", engines="all", reference="Hundepool et al. (2012), ch. 1"
)
def drop(
    data: Microdata,
    *,
    variables: Annotated[Columns, Option("Columns", "The columns to remove.", basic=True)] = DIRECT,
) -> Microdata:
    """Remove columns with their roles and labels: by default the direct identifiers, such as names.

    What is known of a removed column is gone, but what other columns say of it is not: a postcode still
    reveals the region. Reference: Hundepool et al. (2012).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"name": ["Ada"], "age": [36]}), keys="age")
    >>> sdc.protect.drop(data, variables="name").columns
    ('age',)
    """
    names = tuple(dict.fromkeys(variables))
    if not names:
        raise OptionError("drop has no column to remove.", hint="Name them in the option variables.")
    if len(names) == len(data.columns):
        raise OptionError(
            "drop would leave no column.", given=len(names), allowed=f"{len(names) - 1} at most"
        )
    left = data.without(names)
    effects = Effects(drops=names, record_by_record=True)
    return left.with_frame(left.frame, effects=effects, columns_removed=list(names))
