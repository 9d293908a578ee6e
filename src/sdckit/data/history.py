"""The history of a file: what was done to it, step by step, and the warnings that follow."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sdckit._support.messages import join_names
from sdckit._support.number_text import count_of
from sdckit.data.effects import Effects
from sdckit.data.privacy import ended, large_delta
from sdckit.errors import preview

SHOWN = 3  # columns that a warning names for a key


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One protection step that was carried out: what, with which options, and what it did."""

    method: str
    options: Mapping[str, Any]
    figures: Mapping[str, Any]
    effects: Effects = field(default_factory=Effects)
    note: str = ""  # why, for the office
    seconds: float = field(default=0.0, compare=False, repr=False)  # by the clock, where it was carried out

    def summary(self) -> str:
        """The step in one line: its options, and the counts of what it did.

        >>> LogEntry("suppress", {"k": 3, "strata": None}, {"cells_suppressed": 12}, Effects()).summary()
        'suppress(k=3): cells suppressed 12'
        """
        options = ", ".join(f"{n}={preview(v)}" for n, v in self.options.items() if v not in (None, []))
        counts = [f"{n.replace('_', ' ')} {v:,}" for n, v in self.figures.items() if type(v) is int]
        return f"{self.method or 'changed'}({options})" + (f": {', '.join(counts)}" if counts else "")

    def without_rows(self) -> "LogEntry":
        """The entry without the rows that records and values had before, for the data holder alone."""
        if self.effects.source_rows is None and not self.effects.column_rows:
            return self
        return replace(self, effects=replace(self.effects, source_rows=None, column_rows={}))

    def warnings(self, columns: Collection[str]) -> list[str]:
        """What the figures give reason to warn of in a file with these columns, and the way out."""
        found = (
            self._emptied(columns),
            self._told(columns),
            self._not_examined(),
            self._open_to_linking(),
            self._not_judged(),
            *self._private(),
        )
        return [text for text in found if text]

    def _private(self) -> tuple[str, ...]:
        """What is wrong with a promise of differential privacy, or with what it was made for."""
        losses, names = self.effects.privacy, self.figures.get("mostly_missing", ())
        codes = (
            f"By the noisy counts most values of {join_names(names)} are missing or not among the categories "
            "given: are they coded in the same way?"
        )
        large = large_delta(losses, self.figures.get("records_made", 0))
        return ended(losses), large, codes if names else ""

    def _emptied(self, columns: Collection[str]) -> str:
        """Keys of which a suppression left no value: they had too many different ones."""
        names = [c for c in self.figures.get("emptied", ()) if c in columns]
        if not names:
            return ""
        return (
            f"The suppression left no value of {join_names(names)}. Make coarser what has many different "
            "values in a step before the suppression, or drop it."
        )

    def _told(self, columns: Collection[str]) -> str:
        """Blanked values that other columns tell: gone with the column that tells, or with the key."""
        words = []
        for key, tellers in self.figures.get("inferred_from", {}).items():
            left = {c: n for c, n in tellers.items() if c in columns} if key in columns else {}
            if left:
                named = [f"{n:,} by {c}" for c, n in list(left.items())[:SHOWN]]
                more = f" and some by {len(left) - SHOWN} more" if len(left) > SHOWN else ""
                words.append(f"{key} ({self.figures['by_key'][key]:,} blanked): {', '.join(named)}{more}")
        if not words:
            return ""
        return (
            f"Blanked values can be told from other columns, as they were then: {'; '.join(words)}. "
            "Drop these columns, or make them or the key coarser in a step before the suppression."
        )

    def _not_examined(self) -> str:
        """A suppression outside memory does not look at what other columns tell."""
        if self.figures.get("inference_examined", True) or not self.figures.get("cells_suppressed", 0):
            return ""
        return (
            "Whether other columns tell the blanked values was not examined, because the records are not in "
            "memory: a stratum may tell the region, or a member that of the household."
        )

    def _open_to_linking(self) -> str:
        """Persons whom a suppression leaves with a chance above 1 in k, because less was asked for."""
        alone, above = (self.figures.get(name, 0) for name in ("alone_on_shown_keys", "above_one_in_k"))
        if not alone and not above:
            return ""
        rule = (
            "This rule counts a blank as any value, as sdcMicro does; it is no bound on re-identification."
            if self.options.get("missing") == "wildcard"
            else "Only the keys or subsets asked for are protected."
        )
        return (
            f"After the suppression, {count_of(alone, 'person is', 'persons are')} still alone on "
            "fully shown keys; whoever knows the "
            "keys and takes the exact match is right for each. "
            f"{count_of(above, 'person has', 'persons have')} a chance above 1 in "
            f"{self.options.get('k', 'k')}. {rule}"
        )

    def _not_judged(self) -> str:
        count = self.figures.get("records_not_judged", 0)
        if not count:
            return ""
        measure = next(iter(self.options.get("where") or {}), "the measure")
        return (
            f"{count:,} record{'s were' if count > 1 else ' was'} not protected, because the measure that "
            f"chooses records ({measure}) could not judge {'them' if count > 1 else 'it'}. Give the measure "
            "other options, or protect all records."
        )
