"""The categories of a variable, and how people name them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sdckit._support.messages import did_you_mean, join_names
from sdckit.data.effects import Effects, Recoding
from sdckit.data.microdata import Microdata
from sdckit.data.values import as_text
from sdckit.engine import frames, tables
from sdckit.errors import OptionError


@dataclass(frozen=True)
class Categories:
    """The known categories of a variable in order: those that occur and those with a value label.

    records says how often each occurs. texts has the labels, or the values as text where there are none.
    """

    variable: str
    values: tuple[Any, ...]
    records: tuple[int, ...]
    texts: tuple[str, ...]

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each name leads: labels, and codes, which win where a label reads like a code."""
        labels = {text: place for place, text in enumerate(self.texts)}
        return labels | {as_text(value): place for place, value in enumerate(self.values)}

    def occurring(self) -> "Categories":
        """Only the categories that some record has."""
        rows = [row for row in zip(self.values, self.records, self.texts, strict=True) if row[1]]
        values, records, texts = zip(*rows, strict=True) if rows else ((), (), ())
        return Categories(self.variable, values, records, texts)

    def by_value(self) -> "Categories":
        """In the order of the values: DuckDB and Spark know no other order of categories."""
        order = {value: place for place, value in enumerate(_sorted(self.values))}
        rows = sorted(zip(self.values, self.records, self.texts, strict=True), key=lambda row: order[row[0]])
        values, records, texts = zip(*rows, strict=True) if rows else ((), (), ())
        return Categories(self.variable, values, records, texts)

    def place(self, name: object) -> int:
        """The place of a category named by its code or by its label."""
        found = self.places.get(as_text(name))
        if found is None:
            raise OptionError(
                f"{self.variable!r} has no category {as_text(name)!r}.",
                allowed=join_names(self.texts),
                hint=did_you_mean(as_text(name), self.places),
            )
        return found


def categories(data: Microdata, variable: str) -> Categories:
    """The categories of a column, on any engine."""
    data.require_categories([variable])
    kind = frames.schema(data.frame)[variable]
    counts = tables.count_cells(data.table, [variable], None).drop_nulls(variable)
    records = dict(zip(counts[variable].to_list(), counts[tables.RECORDS].to_list(), strict=True))
    levels: Sequence[Any] = getattr(kind, "categories", ())
    labels = data.labels.values.get(variable, {})
    known = dict.fromkeys([*levels, *([] if levels else _sorted([*labels, *records]))])
    values = tuple(known)
    texts = [data.labels.text(variable, value) if value in labels else as_text(value) for value in values]
    times = Counter(texts)
    unique = [f"{t} ({as_text(v)})" if times[t] > 1 else t for t, v in zip(texts, values, strict=True)]
    return Categories(variable, values, tuple(records.get(v, 0) for v in values), tuple(unique))


def recoded(
    data: Microdata,
    frame: Any,
    recodings: Mapping[str, Recoding],
    *,
    record_by_record: bool = False,
    **did: Any,
) -> Microdata:
    """The file with other categories in some columns: their value labels go, and the role of numbers.

    recodings: for each of these columns, how to do the same to another file. Keys and sensitive columns stay
    what they are. A number does not become a key by being made coarser: the
    risk before and after would be that of different keys.
    """
    lost = [c for c in data.roles.numeric if c in recodings]
    roles = replace(data.roles, numeric=tuple(c for c in data.roles.numeric if c not in recodings))
    if lost:
        did["no_longer_numeric"] = lost
    ready = data.but(roles=roles, labels=data.labels.without_values(tuple(recodings)))
    recodes = {column: (recoding,) for column, recoding in recodings.items()}
    effects = Effects(recodes=recodes, record_by_record=record_by_record)
    return ready.with_frame(frame, effects=effects, changed=tuple(recodings), **did)


def _sorted(values: Sequence[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:  # codes of several types
        return sorted(values, key=str)
