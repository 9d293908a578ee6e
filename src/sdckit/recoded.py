"""A file in the categories of another that was recoded: ages in the bands that were released."""

from collections.abc import Sequence
from typing import Any

from sdckit.engine import frames, tables
from sdckit.errors import SdcError, listing
from sdckit.microdata import LogEntry, Microdata
from sdckit.registry import find
from sdckit.values import texts

RECODINGS = {"recode": "variable", "group": "variables"}  # and the option that names their columns


def recoded_alike(
    data: Microdata, released: Microdata, columns: Sequence[str]
) -> tuple[Microdata, tuple[str, ...]]:
    """The data with `columns` recoded by the steps of the released file's log, and a note on which were.

    Who knows that somebody is 37 looks for them among those of 35–39 once ages are released in bands. A
    column stays as it is where its steps cannot be carried out on the data (these are in the categories
    already, say) or give other categories than those released.
    """
    done = data
    names = []
    for column in columns:
        steps = [entry for entry in _new_steps(data, released) if column in _columns_of(entry)]
        again = _again(done, steps, column) if steps and column in released.columns else None
        if again is not None and _values(released, column) <= _categories(again, column):
            done = again
            names.append(column)
    return done, (f"Compared in the categories of the protected file: {listing(names)}.",) if names else ()


def _new_steps(data: Microdata, released: Microdata) -> Sequence[LogEntry]:
    """The recodings of the released file that the data have not gone through."""
    shared = len(data.log) if released.log[: len(data.log)] == data.log else 0
    return [entry for entry in released.log[shared:] if entry.method in RECODINGS]


def _columns_of(entry: LogEntry) -> Sequence[str]:
    named = entry.options[RECODINGS[entry.method]]
    return (named,) if isinstance(named, str) else named


def _again(data: Microdata, steps: Sequence[LogEntry], column: str) -> Microdata | None:
    """One column recoded once more by the same steps."""
    for entry in steps:
        options: dict[str, Any] = {**entry.options, RECODINGS[entry.method]: column}
        if options.get("groups") and "breaks" in entry.figures:  # quantiles of that file, not of this one
            options |= {"groups": None, "breaks": entry.figures["breaks"]}
        elif options.get("groups") and options.get("labels"):
            return None  # nothing tells where it was cut
        try:
            data = find(entry.method).call(data, **options)
        except SdcError:
            return None
    return data


def _categories(data: Microdata, column: str) -> set[str]:
    """Those that occur, and intervals that no record is in."""
    return _values(data, column).union(getattr(frames.schema(data.frame)[column], "categories", ()))


def _values(data: Microdata, column: str) -> set[str]:
    found = tables.count_cells(data.table, [column], None)[column]
    return set(texts(found.drop_nulls()).to_list())
