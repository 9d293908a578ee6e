"""Values that moved together: a record whose columns all go to another place is still the person's."""

from collections.abc import Iterator
from dataclasses import replace

from sdckit.data.effects import merged
from sdckit.data.history import LogEntry
from sdckit.data.microdata import Microdata


def by_moved_values(original: Microdata, data: Microdata) -> Iterator[tuple[tuple[str, ...], Microdata]]:
    """Columns whose values moved together, and the file in which each record is of whom it has these from.

    Who finds a person's income with her answers finds her, in whatever row of the file both stand. Keys alone
    are no record: with those of an area, the record in which they stand tells of somebody else.
    """
    effects = merged(entry.effects for entry in data.steps_since(original))
    roles, blocks = original.roles, dict[bytes, list[str]]()
    asked = {*roles.keys, *roles.numeric, *roles.sensitive} & {*data.columns}
    for column, rows in effects.column_rows.items():
        if column in asked:
            blocks.setdefault(rows.tobytes(), []).append(column)
    for names in blocks.values():
        of_a_person = len(names) > 1 and not {*names} <= {*roles.keys} - {*roles.numeric, *roles.sensitive}
        if of_a_person and len(effects.column_rows[names[0]]) == data.height:
            rows = effects.column_rows[names[0]]
            other = replace(effects, reorders_rows=True, source_rows=rows, renames_ids=True, column_rows={})
            yield tuple(names), data.but(log=(*original.log, LogEntry("", {}, {}, other)))
