"""Labels: the words that go with variables and codes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sdckit.data.values import as_text


@dataclass(frozen=True, slots=True)
class Labels:
    """Variable labels, value labels (code → text) and a file label, as in SPSS and Stata files."""

    variables: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)

    def name(self, column: str) -> str:
        """The label of a variable, or its name."""
        return self.variables.get(column) or column

    def name_most(self, column: str, different: int) -> bool:
        """Whether at least half of so many different values have labels, as those of codes.

        Of incomes often −9 alone has one, of ages the top of the scale: such columns are numbers.
        """
        texts = self.values.get(column, {})
        return bool(texts) and 2 * len(texts) >= different

    def text(self, column: str, value: Any) -> str:
        """The label of a value, or the value itself as text, the same for 1 and 1.0."""
        if value is None:
            return "missing"
        return as_text(self.values.get(column, {}).get(value, value))

    def without(self, columns: tuple[str, ...]) -> "Labels":
        """The labels with these columns' gone."""
        return Labels(
            {c: t for c, t in self.variables.items() if c not in columns},
            {c: t for c, t in self.values.items() if c not in columns},
        )

    def without_values(self, columns: tuple[str, ...]) -> "Labels":
        """The labels with these columns' value labels gone: their values are new."""
        return Labels(self.variables, {c: t for c, t in self.values.items() if c not in columns})
