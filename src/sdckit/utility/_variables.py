"""Which variables a measure compares, and in which categories."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.errors import ColumnError
from sdckit.methods.options import RoleColumns
from sdckit.methods.recoding import apply_same_recoding
from sdckit.utility._new_categories import new_categories


def require_named(protected: Microdata, variables: Iterable[str]) -> None:
    """Refuse columns that the user named and the protected file lacks; those of a role are left out."""
    absent = (
        [] if isinstance(variables, RoleColumns) else [c for c in variables if c not in protected.columns]
    )
    if absent:
        raise ColumnError(
            f"The protected file has no column {absent[0]!r}.", allowed=join_names(protected.columns)
        )


def recoded_alike(
    original: Microdata, protected: Microdata, columns: Sequence[str]
) -> tuple[Microdata, tuple[str, ...]]:
    """The original with the recodings of the protected file, and the columns in which there are any.

    All else, its roles and its log, is that of the original, so that records meet as before.
    """
    done, names = original, []
    for column in columns:
        again, said = apply_same_recoding(done, protected, [column])
        if said:
            done = replace(original, frame=again.frame)
            names.append(column)
    return done, tuple(names)


def category_notes(
    original: Microdata, protected: Microdata, columns: Sequence[str], recoded: Sequence[str]
) -> tuple[str, ...]:
    """Says which columns were compared after the same recoding, and in which new names count as changes."""
    said = (
        f"Compared in the categories of the protected file: {join_names(recoded)}.",
        "What the recoding itself loses is the entropy-based information loss.",
    )
    rest = new_categories(original, protected, [c for c in columns if c not in recoded])
    return (said if recoded else ()) + rest
