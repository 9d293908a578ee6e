"""Two files side by side, the original and what was made of it: which variables, which records."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.engine.tables import OURS, refuse_clash
from sdckit.errors import ColumnError, DataError, EngineError, OptionError, listing

PROTECTED = f"{OURS}protected"  # suffix of the protected file's columns
ID = "give the role id to a column that names the records"
SOME = 6  # columns that are looked at in pairs for proof of another order
ENOUGH = 10  # pairs of values that two columns have together, so that it is no accident
MANY = 20  # values; codes with more of them are mostly labelled or text


def role_variables(original: Microdata, *others: Microdata) -> tuple[str, ...]:
    """The keys, numeric and sensitive columns in all files; without such roles, all columns."""
    roles = original.roles
    named = dict.fromkeys((*roles.keys, *roles.numeric, *roles.sensitive)) or original.columns
    left_out = (roles.id, roles.weight, roles.household, *roles.direct)
    return tuple(c for c in named if c not in left_out and all(c in other.columns for other in others))


def categorical_variables(original: Microdata, protected: Microdata) -> tuple[str, ...]:
    """The keys and the sensitive columns that are not in the numeric role, in both files."""
    roles = original.roles
    named = dict.fromkeys((*roles.keys, *(c for c in roles.sensitive if c not in roles.numeric)))
    return tuple(c for c in named if c in protected.columns)


def still_numeric(
    original: Microdata, protected: Microdata, variables: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables that are numbers in both files, and a note on the others."""
    first, second = frames.schema(original.frame), frames.schema(protected.frame)
    good = tuple(
        c for c in variables if first[c].is_numeric() and c in protected.columns and second[c].is_numeric()
    )
    lost = [c for c in variables if c not in good]
    return good, (f"Not numeric in both files, left out: {', '.join(lost)}.",) if lost else ()


def like_a_number(column: pl.Series, data: Microdata) -> bool:
    """Whether a key or sensitive column of the original is a number, as age is, and no code, as sex is.

    A code has value labels or few values; more than MANY without labels are taken for a number.
    """
    labelled = bool(data.labels.values.get(column.name))
    return column.dtype.is_numeric() and not labelled and column.drop_nulls().n_unique() > MANY


def no_longer(
    original: Microdata, protected: Microdata, variables: Sequence[str], *, numeric: bool = False
) -> tuple[str, ...]:
    """The variables that the protected file no longer has or, where they must be, no longer as numbers.

    A measure that leaves them out says nothing of what was lost with them: see `lost` of a Result.
    """
    first, second = frames.schema(original.frame), frames.schema(protected.frame)
    usable = [c for c in dict.fromkeys(variables) if not numeric or first[c].is_numeric()]
    return tuple(c for c in usable if c not in second or (numeric and not second[c].is_numeric()))


def as_list(protected: Microdata | Sequence[Microdata], measure: str) -> list[Microdata]:
    """One protected file or several synthetic ones, always as a list."""
    sets = [protected] if isinstance(protected, Microdata) else list(protected)
    if not sets:
        raise OptionError(f"{measure} needs at least one protected file.", given="an empty list")
    return sets


def why_not_linked(original: Microdata, protected: Microdata) -> str:
    """Why the records of two files cannot be compared one by one; empty where they can."""
    if original.height != protected.height:
        return f"the files have different lengths ({original.height:,} and {protected.height:,} records)"
    name = original.roles.id
    if original.engine == "polars" and _in_place(original, protected):
        return _other_order(original, protected)
    if name is None:
        return _other_order(original, protected) if original.engine == "polars" else ""
    if name not in protected.columns:
        return f"the protected file has no id column {name!r}"
    if original.engine != "polars":  # there are no rows to go by, so both files must name their records
        named = original.is_unique(name) and protected.is_unique(name)
        return "" if named else f"ids in {name!r} are repeated or missing"
    first, second = original.frame[name], protected.frame[name]
    if first.equals(second):
        return ""
    if not original.is_unique(name):
        return f"ids in {name!r} are repeated or missing"
    if first.dtype != second.dtype or not first.sort().equals(second.sort()):
        return f"ids in {name!r} differ between the files"
    return ""


def _in_place(original: Microdata, protected: Microdata) -> bool:
    """Whether the log says that every row is the one it was, though its id may have changed or be gone."""
    if original.roles.id is None or protected.origin != original.origin:
        return False
    steps = protected.steps_since(original)
    renamed = original.roles.id not in protected.columns or any(e.method == "new_ids" for e in steps)
    return renamed and not any(e.moves_rows for e in steps)


def _other_order(original: Microdata, protected: Microdata) -> str:
    """The proof that files without ids have their rows in different orders; empty where there is none.

    Swapping moves values of some columns from row to row, too, so a column alone proves nothing but for the
    weight. Two columns that moved and have the same pairs of values as before moved as rows. A column that
    stands as it stood proves the opposite, unless it is sorted, as a file may be by region.
    """
    first, second = original.frame, protected.frame
    kinds = second.schema
    shared = [c for c, kind in first.schema.items() if kinds.get(c) == kind and comparable(kind)]
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


def comparable(kind: pl.DataType) -> bool:
    """Whether values of a type can be sorted and hashed."""
    return not kind.is_nested() and kind not in (pl.Object, pl.Null, pl.Binary)


def _is_sorted(column: pl.Series) -> bool:
    present = column.drop_nulls().to_physical()
    return present.is_sorted() or present.is_sorted(descending=True)


def _same_rows(first: pl.DataFrame, second: pl.DataFrame, columns: Sequence[str]) -> bool:
    """Whether both files have the same values of some columns, in whatever order: by sums of hashes."""
    chosen = (pl.DataFrame([frame[c].to_physical() for c in columns]) for frame in (first, second))
    one, two = (frame.hash_rows(seed=1).sum() for frame in chosen)
    return one == two


def by_position(original: Microdata, protected: Microdata) -> tuple[str, ...]:
    """A note where records met by their place in the file: no id, no log of the steps between the files."""
    if original.roles.id is not None or len(protected.log) > len(original.log):
        return ()
    return ("No column is the id: records were compared by their place in the file, row by row.",)


def check_linked(original: Microdata, protected: Microdata) -> None:
    """Refuse files whose records cannot be compared one by one."""
    reason = why_not_linked(original, protected)
    if reason:
        raise DataError(
            "Records cannot be compared one by one: " + reason + ".",
            allowed="files of the same length with the same ids",
            hint="Measures of distributions work on such files.",
        )


def side_by_side(original: Microdata, protected: Microdata, columns: Sequence[str]) -> nw.LazyFrame[Any]:
    """One table with `columns`, the same from the protected file with a suffix, and the original's weight.

    Records meet by id where an id role is set (in any row order), else by position, unless columns that moved
    together prove that the rows are in another order: that is refused. Where the protected file was made here
    and its ids are new or gone, rows meet by position, too.
    """
    for column in columns:
        original.require(column)
        if column not in protected.columns:
            raise ColumnError(
                f"The protected file has no column {column!r}.", allowed=listing(protected.columns)
            )
    refuse_clash(original.columns, [c + PROTECTED for c in columns])
    check_linked(original, protected)
    name, weight = original.roles.id, original.roles.weight
    kept = list(dict.fromkeys([*columns, *([] if weight is None else [weight])]))
    renamed = {c: c + PROTECTED for c in columns}
    if original.engine == "polars":
        second = protected.frame
        by_id = None if _in_place(original, protected) else name
        if by_id is not None and not original.frame[by_id].equals(second[by_id]):
            second = original.frame.select(by_id).join(second, on=by_id, how="left", maintain_order="left")
        both = pl.concat(
            [original.frame.select(kept), second.select(list(columns)).rename(renamed)], how="horizontal"
        )
        return frames.lazy(both)
    if name is None:
        raise EngineError(
            f"Comparing records on {original.engine} needs an id column.",
            hint="Give the role id= when you read the data.",
        )
    left = original.table.select(name, *[c for c in kept if c != name])
    right = protected.table.select(name, *[c for c in columns if c != name]).rename(
        {c: c + PROTECTED for c in columns if c != name}
    )
    joined = left.join(right, on=name, how="inner")
    if int(frames.gather(joined.select(nw.len().alias("n")))["n"][0]) != original.height:
        raise DataError(f"Records cannot be compared one by one: ids in {name!r} differ between the files.")
    return joined


def numbers_side_by_side(
    original: Microdata, protected: Microdata, variables: Sequence[str]
) -> tuple[tuple[str, ...], Floats, Floats, tuple[str, ...]]:
    """What is numeric in both files: names, both matrices (n × p, nan where missing), a note on the rest."""
    names, notes = still_numeric(original, protected, tuple(dict.fromkeys(variables)))
    both = frames.gather(side_by_side(original, protected, names))

    def matrix(suffix: str) -> Floats:
        columns = [both[c + suffix].cast(pl.Float64).to_numpy() for c in names]
        return np.column_stack(columns) if columns else np.empty((both.height, 0))

    return names, matrix(""), matrix(PROTECTED), notes + by_position(original, protected)
