"""Random numbers in place of identifiers."""

from dataclasses import replace

import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.errors import RoleError
from sdckit.methods.registry import protection


@protection("New random ids", family="The whole file", reference="Hundepool et al. (2012), ch. 1")
def new_ids(data: Microdata, *, rng: np.random.Generator) -> Microdata:
    """Replace record, household and cluster numbers by random ones.

    The columns with the roles id, household and cluster get new whole numbers, drawn without replacement
    among those with one digit more than needed: equal numbers stay equal (members of a household still share
    one), different ones stay different, and the new say nothing of the old or their order. Nobody can find
    records again by their old number. The rows stay in their order (see `shuffle_order`), so that measures
    can still compare record by record here; once the file is written they cannot.
    Missing stays missing. Reference: Hundepool et al. (2012).

    >>> import polars as pl, sdckit as sdc
    >>> frame = pl.DataFrame({"home": ["a", "a", "b"], "person": [11, 12, 21]})
    >>> sdc.protect.new_ids(sdc.read(frame, id="person", household="home"), rng=1).frame["home"].to_list()
    [22, 22, 84]
    """
    roles = data.roles
    names = list(dict.fromkeys(c for c in (roles.id, roles.household, roles.cluster) if c is not None))
    if not names:
        raise RoleError(
            "new_ids needs the role 'id', 'household' or 'cluster', and the data have none of them.",
            hint="Give the role id to the column that numbers the records.",
        )
    columns = [renumbered(data.frame[name], rng) for name in names]
    numbers = {name: data.frame[name].drop_nulls().n_unique() for name in names}
    ready = replace(data, labels=data.labels.without_values(tuple(names)))
    effects = Effects(renames_ids=roles.id is not None, record_by_record=True)
    return ready.with_frame(data.frame.with_columns(columns), effects=effects, ids_replaced=numbers)


def renumbered(column: pl.Series, rng: np.random.Generator) -> pl.Series:
    """Each different value with a number of its own."""
    old = column.drop_nulls().unique(maintain_order=True)  # in order of appearance: the same every time
    if not len(old):
        return column.cast(pl.Int64, strict=False)
    new = pl.Series(new_numbers(len(old), rng), dtype=pl.Int64)
    return column.replace_strict(old, new, default=None, return_dtype=pl.Int64)


def new_numbers(count: int, rng: np.random.Generator) -> Ints:
    """So many different random numbers, all with the same number of digits."""
    lowest = 10 ** len(str(count))
    return np.asarray(lowest + rng.choice(9 * lowest, size=count, replace=False))
