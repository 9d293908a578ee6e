"""Records in a random order."""

import numpy as np

from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.methods.registry import protection
from sdckit.protect._households import households


@protection(
    "Shuffle the order of records", family="The whole file", reference="Hundepool et al. (2012), ch. 1"
)
def shuffle_order(data: Microdata, *, rng: np.random.Generator) -> Microdata:
    """Put the records in a random order, so that their place in the file says nothing.

    The order in which a survey was taken, or a register is sorted, says who is near whom. Members of a
    household stay next to each other; households and the members within them change places at random.
    Every order is equally likely; no value changes. Who made the file here can still compare it record by
    record: the new order is kept in memory and never written.
    Reference: Hundepool et al. (2012).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [1, 2, 3, 4, 5]}), numeric="x")
    >>> sdc.protect.shuffle_order(data, rng=1).frame["x"].to_list()
    [5, 1, 2, 3, 4]
    """
    order = rng.permutation(data.height)
    homes = households(data)
    if homes is not None:
        block = rng.permutation(len(homes.first))[homes.number]
        order = order[np.argsort(block[order], kind="stable")]
    moved = int((order != np.arange(data.height)).sum())
    effects = Effects(reorders_rows=True, source_rows=order, record_by_record=True)
    return data.with_frame(data.frame[order], effects=effects, records_moved=moved)
