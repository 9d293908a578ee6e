"""Options and numbers as plain data."""

from collections.abc import Mapping, Set
from enum import StrEnum
from typing import Any

import numpy as np
from pydantic import BaseModel

from sdckit.data.intruder import Intruder
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result


def to_builtin(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as plain data that YAML, JSON and people can read."""

    def simple(value: Any) -> Any:
        if isinstance(value, BaseModel):
            return simple(value.model_dump())
        if isinstance(value, Intruder):
            return {value.name: simple(value.as_dict())}
        if isinstance(value, StrEnum):
            return value.value
        if isinstance(value, Mapping):
            return {str(k): simple(v) for k, v in value.items()}
        if isinstance(value, Set):
            return sorted(map(simple, value), key=str)
        if isinstance(value, list | tuple):
            return [simple(v) for v in value]
        if isinstance(value, Microdata):
            return f"{value.height:,} records"
        if isinstance(value, Result):
            return {value.measure: simple(value.options)}
        return value.tolist() if isinstance(value, np.ndarray | np.generic) else value

    return {name: simple(value) for name, value in options.items()}


def number(value: Any) -> Any:
    """A number of Python's own: those of NumPy show their type."""
    return value.item() if isinstance(value, np.generic) else value


def numbers(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Figures with numbers of Python's own."""
    return {name: number(value) for name, value in figures.items()}
