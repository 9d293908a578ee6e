"""The signature of a method as `help()` shows it: types that people can read."""

import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from sdckit.methods.options import is_columns
from sdckit.methods.where import Where


class _Words(str):
    """A type in words; `help()` would put other texts in quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def readable(function: Callable[..., Any]) -> inspect.Signature:
    """The signature with types in words; a protection's generator may be left out, or be a seed.

    >>> def shift(data: "Any", *, k: Annotated[int, "at least 2"] = 2, how: Literal["a", "b"] = "a"): ...
    >>> print(readable(shift))
    (data: any, *, k: int = 2, how: 'a' | 'b' = 'a')
    """
    signature = inspect.signature(function)
    hints = get_type_hints(function, include_extras=True)
    parameters = []
    for name, parameter in signature.parameters.items():
        if name == "rng":
            parameters.append(parameter.replace(annotation=_Words("seed or generator"), default=None))
        elif name != "progress":
            annotation = _Words(in_words(hints[name])) if name in hints else parameter.annotation
            parameters.append(parameter.replace(annotation=annotation, default=_plain(parameter.default)))
    result = _Words(in_words(hints["return"])) if "return" in hints else signature.return_annotation
    return signature.replace(parameters=parameters, return_annotation=result)


def _plain(default: Any) -> Any:
    """A default as users write it: the text of a choice."""
    if type(default) is tuple:
        return tuple(map(_plain, default))
    return default.value if isinstance(default, Enum) else default


def in_words(hint: Any) -> str:
    """A type in words.

    >>> in_words(Mapping[str, list[float]] | None), in_words(tuple[str, ...])
    ('{str: [float, …]} | None', '[str, …]')
    """
    origin, parts = get_origin(hint), get_args(hint)
    if hint == Where:
        return "measure"
    if origin is Annotated:
        return ("column" if parts[0] is str else "columns") if is_columns(hint) else in_words(parts[0])
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(in_words(part) for part in parts))
    if origin is Literal:
        return " | ".join(map(repr, parts))
    if inspect.isclass(hint) and issubclass(hint, Enum):
        return " | ".join(repr(member.value) for member in hint)
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return f"{{{': '.join(map(in_words, parts))}}}"
    if origin is not None:
        return f"[{in_words(parts[0])}, …]" if parts else origin.__name__
    if hint is NoneType:
        return "None"
    return "any" if hint is Any else getattr(hint, "__name__", str(hint))
