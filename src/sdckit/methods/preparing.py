"""What happens when a preparation is called: the file that it makes is the original of all that follows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from secrets import randbits
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.data.checks import check
from sdckit.data.effects import Effects
from sdckit.data.labels import Labels
from sdckit.data.microdata import LogEntry, Microdata, require_microdata
from sdckit.data.reading import MissingCodes, Reading
from sdckit.errors import OptionError
from sdckit.methods.calls import prepare
from sdckit.methods.serialise import numbers, to_builtin
from sdckit.methods.signatures import readable
from sdckit.methods.spec import Spec


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a preparation gives back.

    rows: for each row its row in the file before, where some were left out. figures: what it did, for people
    and for the verdict: `values_changed` counts, by column, values that are missing or others now;
    `made_from` names the columns of which a new one was made; `note` is what to know of it. record_by_record:
    what became of a record depends on itself and on options alone, which differential privacy needs.
    """

    frame: pl.DataFrame
    figures: Mapping[str, Any] = field(default_factory=dict)
    rows: Ints | None = None
    labels: Labels | None = None
    record_by_record: bool = False


def preparing(spec: Spec) -> Callable[..., Microdata]:
    """The function that users call to prepare."""

    @wraps(spec.function)
    def prepared(data: Any, **given: Any) -> Microdata:
        require_microdata(data, spec.name)
        if data.log:
            raise OptionError(
                f"{spec.name} prepares a file before it is protected.",
                given=f"a file after the step {data.log[-1].method or 'changed'}",
                hint="Prepare the original and protect it again.",
            )
        options = prepare(spec, [data], given)
        done: Prepared = spec.function(data, **options)
        return _original(data, done, LogEntry(spec.name, to_builtin(options), numbers(done.figures)))

    words = readable(spec.function).replace(return_annotation=Microdata)
    prepared.__signature__ = words  # type: ignore[attr-defined]
    return prepared


def _original(before: Microdata, done: Prepared, entry: LogEntry) -> Microdata:
    """The prepared file as the beginning of what is made from it: it has a past, but no steps yet."""
    frame = done.frame
    gone = tuple(c for c in before.columns if c not in frame.columns)
    rows = np.arange(before.height) if done.rows is None else done.rows
    labels = before.labels if done.labels is None else done.labels
    effects = Effects(drops_rows=done.rows is not None, record_by_record=done.record_by_record)
    same = {c for c in frame.columns if before.frame.schema.get(c) == frame.schema[c]}
    data = replace(
        before,
        frame=frame,
        roles=before.roles.without(gone),
        labels=labels.without(gone),
        special={c: kind for c, kind in before.special.items() if c in same},
        prepared=(*before.prepared, replace(entry, effects=effects)),
        origin=randbits(63),
        reading=Reading(
            before.reading.path,
            frame,
            _codes(before, frame, rows),
            declared_missing=before.reading.without(gone).declared_missing,
        ),
    )
    check(data)
    return data


def _codes(before: Microdata, frame: pl.DataFrame, rows: Ints) -> dict[str, MissingCodes]:
    """Codes of missing values of the columns that stand as they were read."""
    kept = {}
    for name, one in before.reading.missing_codes.items():
        if name in frame.columns and before.frame[name].gather(rows).equals(frame[name], check_dtypes=True):
            kept[name] = replace(one, codes=one.codes.gather(rows))
    return kept
