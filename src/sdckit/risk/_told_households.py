"""Who lives together, by what members of a household have in common: its income, its rooms, its answers."""

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Ints
from sdckit.data.record_links import is_sortable
from sdckit.data.text_codes import text_codes
from sdckit.kernels.hashing import distinct_rows
from sdckit.risk._known_values import LinkedFiles
from sdckit.risk._released_columns import members_share


def told_households(files: LinkedFiles, homes: Ints) -> Bools:
    """For each person whether released columns show exactly who lives in the household.

    Columns that members mostly have in common, though others have not, are taken together: those who agree in
    all of them are a household if no other one has the same values.
    """
    roles = files.original.roles
    left_out = {roles.household, roles.id, *roles.direct}
    rows = np.flatnonzero(files.own >= 0)
    own, home = files.own[rows], homes[rows]
    shared = []
    for name, kind in files.protected.frame.schema.items():
        if name in left_out or not is_sortable(kind) or kind == pl.Null:
            continue
        codes = files.protected.column_fact("codes", name, text_codes).codes[own].astype(np.int64)
        if members_share(codes - codes.min(initial=0), home):
            shared.append(codes)
    told = np.zeros(len(homes), dtype=np.bool_)
    if not shared:
        return told
    group = distinct_rows(shared)[1]
    both = distinct_rows([group, home])[1]
    sizes = [np.bincount(codes)[codes] for codes in (group, home, both)]
    told[rows] = (sizes[0] == sizes[2]) & (sizes[1] == sizes[2])
    return told
