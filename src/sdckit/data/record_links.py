"""Which record of the protected file is which of the original, and both side by side."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Floats, Ints
from sdckit._support.messages import join_names
from sdckit.data.common_columns import common_numeric, role_variables
from sdckit.data.effects import Effects, merged
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.engine.tables import OURS, native_module, refuse_clash
from sdckit.errors import ColumnError, DataError, EngineError

PROTECTED = f"{OURS}protected"  # suffix of the protected file's columns
ID = "give the role id to a column that names the records"
SOME = 6  # columns that are looked at in pairs for proof of another order
ENOUGH = 10  # pairs of values that two columns have together, so that it is no accident


def linkage_problem(original: Microdata, protected: Microdata) -> str:
    """Why the records of two files cannot be compared one by one; empty where they can."""
    # the original is kept beside the answer, so that no other object can get its number
    found: tuple[Microdata, str] = protected.cached(
        ("linkage problem", id(original)), lambda: (original, _linkage_problem(original, protected))
    )
    return found[1]


def _linkage_problem(original: Microdata, protected: Microdata) -> str:
    if _steps_effects(original, protected).new_records:
        return "the records are synthetic: none is that of a person"
    if original.height != protected.height:
        return f"the files have different lengths ({original.height:,} and {protected.height:,} records)"
    name = original.roles.id
    if original.engine != "polars":  # there are no rows to go by, so both files must name their records
        if name is None:
            return ""
        if _made_from(original, protected) and _steps_effects(original, protected).renames_ids:
            return f"the ids are new, and on {original.engine} nothing else tells which record is which"
        if name not in protected.columns:
            return f"the protected file has no id column {name!r}"
        kinds = [frames.schema(data.frame)[name].is_numeric() for data in (original, protected)]
        if kinds[0] != kinds[1]:
            return f"ids in {name!r} are numbers in one file and texts in the other"
        named = original.is_unique(name) and protected.is_unique(name)
        return "" if named else f"ids in {name!r} are repeated or missing"
    if _made_from(original, protected) and not _steps_effects(original, protected).rows_known:
        return "a step put the records into another order, and nothing tells which is which"
    if name is None or _by_place(original, protected):
        return _other_order(original, protected)
    if name not in protected.columns:
        return f"the protected file has no id column {name!r}"
    first, second = original.frame[name], _in_original_order(original, protected)[name]
    if first.equals(second):
        return ""
    if not original.is_unique(name):
        return f"ids in {name!r} are repeated or missing"
    if first.dtype != second.dtype or not first.sort().equals(second.sort()):
        return f"ids in {name!r} differ between the files"
    return ""


def source_rows(original: Microdata, protected: Microdata) -> Ints | None:
    """For each record of the protected file the row of the original it was made from; None if not known.

    Also where records were left out, and where only the data holder knows the order (`shuffle_order`).
    """
    if original.engine != "polars" or protected.engine != "polars":
        return None
    effects = _steps_effects(original, protected)
    if effects.new_records:
        return None
    if _made_from(original, protected) and effects.rows_differ and effects.source_rows is not None:
        known = effects.source_rows
        return known if len(known) == protected.height else None
    name = original.roles.id
    if name is None or _by_place(original, protected):
        return None if linkage_problem(original, protected) else np.arange(original.height)
    if name not in protected.columns or not (original.is_unique(name) and protected.is_unique(name)):
        return None if linkage_problem(original, protected) else np.arange(original.height)
    numbered = original.frame.select(name, pl.int_range(pl.len()).alias(OURS))
    try:
        found = protected.frame.select(name).join(numbered, on=name, how="left", maintain_order="left")[OURS]
    except pl.exceptions.PolarsError:  # ids of another type
        return None
    return None if found.null_count() else found.to_numpy()


def kept_persons(original: Microdata, protected: Microdata) -> Microdata:
    """The original with only the persons whose record is in the protected file, where that is known."""
    if original.height == protected.height or original.engine != "polars":
        return original
    rows = source_rows(original, protected)
    return original if rows is None else replace(original, frame=original.frame[np.sort(rows)])


def _made_from(original: Microdata, protected: Microdata) -> bool:
    """Whether the protected file was made here, from this original: its steps go on where those ended."""
    shared = len(original.log)
    return protected.origin == original.origin and protected.log[:shared] == original.log


def _steps_effects(original: Microdata, protected: Microdata) -> Effects:
    return merged(entry.effects for entry in protected.steps_since(original))


def _in_original_order(original: Microdata, protected: Microdata) -> pl.DataFrame:
    """The protected records in the order of the original, as far as the log knows another order."""
    effects = _steps_effects(original, protected)
    frame: pl.DataFrame = protected.frame
    rows = effects.source_rows if _made_from(original, protected) and effects.rows_differ else None
    return frame if rows is None or len(rows) != original.height else frame[np.argsort(rows)]


def _by_place(original: Microdata, protected: Microdata) -> bool:
    """Whether records meet by their place although there is an id: it was renamed or dropped by a step."""
    if not _made_from(original, protected):
        return False
    effects = _steps_effects(original, protected)
    return original.roles.id not in protected.columns or effects.renames_ids


def _other_order(original: Microdata, protected: Microdata) -> str:
    """The proof that files without ids have their rows in different orders; empty where there is none.

    Swapping moves values of some columns from row to row, too, so a column alone proves nothing but for the
    weight. Two columns that moved and have the same pairs of values as before moved as rows. A column that
    stands as it stood proves the opposite, unless it is sorted, as a file may be by region.
    """
    first, second = original.frame, _in_original_order(original, protected)
    kinds = second.schema
    shared = [c for c, kind in first.schema.items() if kinds.get(c) == kind and is_sortable(kind)]
    every = first.select(shared), second.select(shared)
    many = len(shared) > 1 and not every[0].equals(every[1]) and every[0].n_unique() >= ENOUGH
    if many and _same_rows(first, second, shared):
        return f"the rows are in another order: the same records stand in other rows ({ID})"
    moved = []
    for column in shared:
        if not first[column].equals(second[column]):
            moved.append(column)
        elif not _is_sorted(first[column]):
            return ""
    moved = [c for c in moved if _same_rows(first, second, [c])]
    weight = original.roles.weight
    if weight in moved:
        return f"the rows are in another order: {weight!r} has the same values in other rows ({ID})"
    for pair in combinations(moved[:SOME], 2):
        if _same_rows(first, second, pair) and first[list(pair)].n_unique() >= ENOUGH:
            names = " and ".join(map(repr, pair))
            return f"the rows are in another order: {names} have the same values in other rows ({ID})"
    return ""


def is_sortable(kind: pl.DataType) -> bool:
    """Whether values of a type can be sorted and hashed."""
    return not kind.is_nested() and kind not in (pl.Object, pl.Null, pl.Binary)


def _is_sorted(column: pl.Series) -> bool:
    present = column.drop_nulls().to_physical()
    return present.is_sorted() or present.is_sorted(descending=True)


def _same_rows(first: pl.DataFrame, second: pl.DataFrame, columns: Sequence[str]) -> bool:
    """Whether both files have the same values of some columns, in whatever order: by sums of hashes."""
    chosen = (frame.select(pl.col(list(columns)).to_physical()) for frame in (first, second))
    one, two = (frame.hash_rows(seed=1).sum() for frame in chosen)
    return one == two


def position_note(original: Microdata, protected: Microdata) -> tuple[str, ...]:
    """A note where records met by their place in the file: no id, no log of the steps between the files."""
    if original.roles.id is not None or len(protected.log) > len(original.log):
        return ()
    return ("No column is the id: records were compared by their place in the file, row by row.",)


def require_linked(original: Microdata, protected: Microdata) -> None:
    """Refuse files whose records cannot be compared one by one."""
    reason = linkage_problem(original, protected)
    if reason:
        raise DataError(
            "Records cannot be compared one by one: " + reason + ".",
            allowed="files of the same length with the same ids",
            hint="Measures of distributions work on such files.",
        )


def match_records(original: Microdata, protected: Microdata, columns: Sequence[str]) -> nw.LazyFrame[Any]:
    """One table with `columns`, the same from the protected file with a suffix, and the original's weight.

    Records meet by id where an id role is set (in any row order), else by position, unless columns that moved
    together prove that the rows are in another order: that is refused. Where the protected file was made here
    and its ids are new or gone, rows meet by position, too, and a new order is undone by what the log knows.
    """
    for column in columns:
        original.require(column)
        if column not in protected.columns:
            raise ColumnError(
                f"The protected file has no column {column!r}.", allowed=join_names(protected.columns)
            )
    refuse_clash(original.columns, [c + PROTECTED for c in columns])
    require_linked(original, protected)
    name, weight = original.roles.id, original.roles.weight
    kept = list(dict.fromkeys([*columns, *([] if weight is None else [weight])]))
    renamed = {c: c + PROTECTED for c in columns}
    if original.engine == "polars":
        second = _in_original_order(original, protected)
        by_id = None if _by_place(original, protected) else name
        if by_id is not None and not original.frame[by_id].equals(second[by_id]):
            second = original.frame.select(by_id).join(second, on=by_id, how="left", maintain_order="left")
        both = original.frame.select(kept).hstack(second.select(list(columns)).rename(renamed))
        return frames.lazy(both)
    if name is None:
        raise EngineError(
            f"Comparing records on {original.engine} needs an id column.",
            hint="Give the role id to the column that numbers the records.",
        )
    wanted = list(dict.fromkeys([name, *kept, *(renamed[c] for c in columns if c != name)]))
    usual = role_variables(original, protected)
    apart = _apart(original, protected, columns)
    if not apart or not {*columns} <= {name, *usual}:
        joined = _complete(original, _joined(original, protected, columns, apart))
    else:
        # the original is kept beside the table, so that no other object can get its number
        found: tuple[Microdata, nw.LazyFrame[Any]] = protected.cached(
            ("matched records", id(original)), lambda: (original, _joined_once(original, protected, usual))
        )
        apart, joined = _apart(original, protected, usual), found[1]
    alike = {renamed[c]: c for c in columns if c not in apart}
    return joined.select(nw.col(alike.get(c, c)).alias(c) for c in wanted)


def _apart(original: Microdata, protected: Microdata, columns: Sequence[str]) -> list[str]:
    """The columns, and the weight, that may have other values in the protected file: those to join."""
    name, weight = original.roles.id or "", original.roles.weight
    named = dict.fromkeys(c for c in (*columns, weight) if c is not None and c != name)
    if not original.has_values_of(protected, [name]):
        return list(named)
    return [c for c in named if not original.has_values_of(protected, [c])]


def _joined(
    original: Microdata, protected: Microdata, columns: Sequence[str], apart: Sequence[str]
) -> nw.LazyFrame[Any]:
    """Columns of both files and the original's weight, side by side; by id on the engine those `apart`.

    Columns that are the same in both files stand there once, under their name.
    """
    name, weight = original.roles.id or "", original.roles.weight
    named = dict.fromkeys(c for c in (name, *columns, weight) if c is not None)
    theirs = {c: c + PROTECTED for c in columns if c in apart}
    alike = [c for c in named if c not in apart]
    right = protected.table.select(*alike, *theirs).rename(theirs)
    if not apart:
        return right
    return original.table.select(name, *apart).join(right, on=name, how="inner")


def _joined_once(original: Microdata, protected: Microdata, columns: Sequence[str]) -> nw.LazyFrame[Any]:
    """The same, kept by the engine: a dozen measures read it, and each would join all records again."""
    joined = _joined(original, protected, columns, _apart(original, protected, columns))
    return _complete(original, frames.lazy(native_module(joined).worked_out(joined.to_native())))


def _complete(original: Microdata, joined: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """The joined records, or an error where some of the original met none."""
    if int(frames.gather(joined.select(nw.len().alias("n")))["n"][0]) == original.height:
        return joined
    name = original.roles.id
    raise DataError(f"Records cannot be compared one by one: ids in {name!r} differ between the files.")


def match_numbers(
    original: Microdata, protected: Microdata, variables: Sequence[str]
) -> tuple[tuple[str, ...], Floats, Floats, tuple[str, ...]]:
    """What is numeric in both files: names, both matrices (n × p, nan where missing), a note on the rest."""
    names, notes = common_numeric(original, protected, tuple(dict.fromkeys(variables)))
    both = frames.gather(match_records(original, protected, names))

    def matrix(suffix: str) -> Floats:
        columns = [both[c + suffix].cast(pl.Float64).to_numpy() for c in names]
        return np.column_stack(columns) if columns else np.empty((both.height, 0))

    return names, matrix(""), matrix(PROTECTED), notes + position_note(original, protected)
