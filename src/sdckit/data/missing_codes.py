"""Which codes of missing values may be written into a file, and why others may not."""

from dataclasses import replace

import numpy as np

from sdckit._support.arrays import Ints
from sdckit.data.effects import merged
from sdckit.data.microdata import Microdata
from sdckit.data.reading import MissingCodes
from sdckit.data.roles import Role

ROWS = "which row is which is not certain"
CHANGED = "the column was changed"
MEASURED = "risks were measured with one kind of missing value"
LOOKED_AT = {Role.KEYS, Role.NUMERIC, Role.SENSITIVE}


def codes_in_place(data: Microdata) -> tuple[dict[str, MissingCodes], dict[str, str]]:
    """Codes of missing values by column, row by row of the file as it is now, and why others are left out.

    Codes stay only in columns that stand, record by record, as they were read: in a column with suppressed
    values a plain missing one beside "refused" would show which values were suppressed. In a file that
    went through any step they stay out of columns whose missing values measures of risk took for one kind.
    """
    found = {name: one for name, one in data.reading.missing_codes.items() if name in data.columns}
    if not found:
        return {}, {}
    rows = _rows(data)
    if rows is None:
        return {}, dict.fromkeys(found, ROWS)
    kept, lost = {}, {}
    for name, one in found.items():
        if data.log and LOOKED_AT & set(data.roles.of(name)):
            lost[name] = MEASURED
        elif not _as_read(data, name, rows):
            lost[name] = CHANGED
        else:
            kept[name] = replace(one, codes=one.codes.gather(rows))
    return kept, lost


def _rows(data: Microdata) -> Ints | None:
    """For each row the row it was read from; None where that is not certain."""
    frame = data.reading.frame
    effects = merged(entry.effects for entry in data.log)
    certain = data.reading.steps_before_table is None
    if frame is None or data.engine != "polars" or not certain or not effects.rows_known:
        return None
    rows = effects.source_rows if effects.rows_differ else np.arange(frame.height)
    return rows if rows is not None and len(rows) == data.height else None


def _as_read(data: Microdata, name: str, rows: Ints) -> bool:
    frame = data.reading.frame
    if frame is None or name not in frame.columns:
        return False
    before, now = frame[name].gather(rows), data.frame[name]
    return bool(before.dtype == now.dtype and before.equals(now))
