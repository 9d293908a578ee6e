"""Global recoding of categories: merge them by a map, or cut codes to their leading digits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Annotated, Any

import polars as pl
from pydantic import BeforeValidator, Field

from sdckit._support.messages import join_names
from sdckit.data.effects import Recoding
from sdckit.data.microdata import Microdata
from sdckit.data.values import as_text
from sdckit.engine import frames, recode
from sdckit.errors import DataError, OptionError, preview
from sdckit.methods.options import Columns, OneOf, Option, Requires, Shape
from sdckit.methods.recoding import SameCall
from sdckit.methods.registry import protection
from sdckit.protect._categories import Categories, categories, recoded


def _new_from_old(given: Any) -> Any:
    """Refuse a map from old to new, as pandas and R have it, and say how it is written here."""
    if isinstance(given, Mapping) and given and all(isinstance(v, str | int | float) for v in given.values()):
        turned: dict[str, list[Any]] = {}
        for old, new in given.items():
            turned.setdefault(str(new), []).append(old)
        raise OptionError(
            "map of group says of which old categories each new one is made.",
            given=preview(given),
            allowed="{new: [old, …]}",
            hint=f"For example map: {preview(turned)}.",
        )
    return given


NewFromOld = Annotated[
    Mapping[str, Annotated[list[Any], Field(min_length=1)]],
    BeforeValidator(_new_from_old),
    Option(
        "New categories",
        "Of which old categories each new one is made, {new: [old, …]}.",
        basic=True,
        absent="by digits",
        shape=Shape.MERGED,
    ),
]


@dataclass(frozen=True)
class NamesByCategory:
    """The released name of each old category, which is known by its code, its label or the new name.

    rest: the name of all others; without it they keep theirs.
    """

    names: Mapping[str, str]
    rest: str | None = None

    def apply(self, data: Microdata, column: str) -> Microdata:
        """The data with this column under the released names."""
        old = categories(data, column)
        new = {}
        for value, text in zip(old.values, old.texts, strict=True):
            other = text if self.rest is None else self.rest
            new[value] = self.names.get(as_text(value), self.names.get(text, other))
        return _merged(data, {column: (old, new)}, {column: self})


@protection(
    "Merge categories",
    family="Coarser values",
    engines="all",
    reference="Hundepool et al. (2012), ch. 3",
    rules=(OneOf(("map", "digits"), required=True), Requires("rest", "map")),
)
def group(
    data: Microdata,
    *,
    variables: Annotated[Columns, Option("Variables", "The categorical variables to recode.")],
    map: NewFromOld | None = None,
    digits: Annotated[
        int,
        Field(ge=1),
        Option(
            "Digits to keep", "The first letters and digits of each code stay.", basic=True, absent="by map"
        ),
    ]
    | None = None,
    rest: Annotated[
        str,
        Option(
            "All others", "The category of all values that map does not name.", absent="other values stay"
        ),
    ]
    | None = None,
) -> Microdata:
    """Merge categories, so that fewer records stand out.

    `map` says which categories make a new one: {"South": ["Tyrol", "Carinthia"]}. They are named by code or
    by value label. Categories that are not named stay, or with `rest="Other"` become that one. A new name
    that is an existing category takes the others in. The result has the new names and, for what stays, the
    labels.

    `digits` keeps the first letters and digits of a hierarchical code: with digits=2 the activities 1011 and
    10.12 become 10. Points and blanks are not counted; shorter codes stay. Numbers need codes of one length
    before the point, because leading zeros are lost, and become text if there is a point; negative ones, such
    as -1 for "does not apply", belong to no hierarchy and stay. Value labels stay where they name a code that
    is left.

    Missing stays missing, and there are no categories but the old and the new ones. A variable in the numeric
    role loses it and becomes no key by itself. Weights are not used. Reference: Hundepool et al. (2012).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"region": ["Tyrol", "Vienna", "Carinthia", None]}), keys="region")
    >>> south = {"South": ["Tyrol", "Carinthia"]}
    >>> sdc.protect.group(data, variables="region", map=south).frame["region"].to_list()
    ['South', 'Vienna', 'South', None]
    """
    found: dict[str, tuple[Categories, Mapping[Any, Any]]] = {}
    recodings: dict[str, Recoding] = {}
    for variable in dict.fromkeys(variables):
        old = categories(data, variable)
        if map is not None:
            new: Mapping[Any, Any] = _by_map(old, map, rest)
            recodings[variable] = _names(old, new, map, rest)
        else:
            new = _by_digits(old, digits or 1)
            recodings[variable] = SameCall("group", "variables", {"digits": digits})
        found[variable] = old, new
    done = _merged(data, found, recodings)
    if digits is None:
        return done
    labels = {c: _labels_left(data, *its) for c, its in found.items()}
    kept = {c: texts for c, texts in labels.items() if texts}
    return replace(done, labels=replace(done.labels, values={**done.labels.values, **kept}))


def _merged(
    data: Microdata,
    found: Mapping[str, tuple[Categories, Mapping[Any, Any]]],
    recodings: Mapping[str, Recoding],
) -> Microdata:
    """The file with new categories for old in some variables."""
    table, levels = data.table, {}
    figures: dict[str, Any] = {"values_changed": 0, "categories_before": {}, "categories_after": {}}
    for variable, (old, new) in found.items():
        occurring = {v: new[v] for v, n in zip(old.values, old.records, strict=True) if n}
        table = recode.values(table, variable, occurring)
        left = list(dict.fromkeys(occurring.values()))
        if any(isinstance(v, str) for v in left):
            levels[variable] = left
        figures["values_changed"] += _changed(old, new)
        figures["categories_before"][variable] = len(occurring)
        figures["categories_after"][variable] = len(left)
    frame = table.to_native()
    if data.engine == "polars":
        frame = frames.gather(table).with_columns(pl.col(c).cast(pl.Enum(v)) for c, v in levels.items())
    return recoded(data, frame, recodings, **figures)


def _labels_left(data: Microdata, old: Categories, new: Mapping[Any, Any]) -> dict[Any, str]:
    """The value labels of codes that are left."""
    labels = data.labels.values.get(old.variable, {})
    left = dict.fromkeys(new[v] for v, n in zip(old.values, old.records, strict=True) if n)
    return {code: labels[code] for code in left if code in labels}


def _names(
    old: Categories, new: Mapping[Any, str], map: Mapping[str, Any], rest: str | None
) -> NamesByCategory:
    """What another file needs in order to be recoded in the same way."""
    names = {name: name for name in map}
    names |= {text: new[value] for value, text in zip(old.values, old.texts, strict=True)}
    names |= {as_text(value): new[value] for value in old.values}
    return NamesByCategory(names, rest)


def _by_map(old: Categories, map: Mapping[str, Sequence[Any]], rest: str | None) -> dict[Any, str]:
    """The new name of each category."""
    names: dict[int, str] = {}
    for name, members in map.items():
        for member in members:
            place = old.place(member)
            if names.setdefault(place, name) != name:
                raise OptionError(
                    f"A category of {old.variable!r} is in two groups.",
                    given=f"{as_text(member)} in {names[place]!r} and {name!r}",
                )
    return {
        value: names.get(place, text if rest is None else rest)
        for place, (value, text) in enumerate(zip(old.values, old.texts, strict=True))
    }


def _by_digits(old: Categories, digits: int) -> dict[Any, Any]:
    """Each code cut to its first letters and digits; numbers stay numbers."""
    if all(isinstance(value, str) for value in old.values):
        return {code: _cut(code, digits) for code in old.values}
    held = {value: as_text(value) for value, n in zip(old.values, old.records, strict=True) if n}
    apart = {value: value for value, code in held.items() if code.startswith("-") and code[1:].isdigit()}
    codes = {value: code for value, code in held.items() if value not in apart}
    odd = [code for code in codes.values() if not code.replace(".", "", 1).isdigit()]
    if odd:
        raise DataError(f"Codes in {old.variable!r} must be text or numbers.", given=odd[0])
    if len({len(code.partition(".")[0]) for code in codes.values()}) > 1:
        raise DataError(
            f"Codes in {old.variable!r} are numbers of different length.",
            given=join_names(sorted(codes.values(), key=len)[:: max(len(codes) - 1, 1)]),
            allowed="numbers of one length before the point, or text",
            hint="Leading zeros are lost in numbers: read the codes as text.",
        )
    if any("." in code for code in codes.values()):  # 10.11 is an activity, not a number
        return {value: code if value in apart else _cut(code, digits) for value, code in held.items()}
    return apart | {value: type(value)(code[:digits]) for value, code in codes.items()}


def _cut(code: str, digits: int) -> str:
    """The code up to its n-th letter or digit; codes with fewer stay."""
    counted = list(accumulate(int(character.isalnum()) for character in code))
    return code[: counted.index(digits) + 1] if counted and counted[-1] >= digits else code


def _changed(old: Categories, new: Mapping[Any, Any]) -> int:
    """The number of values that belong to another category now, rather than to the same under its label."""
    rows = zip(old.values, old.texts, old.records, strict=True)
    return sum(n for value, text, n in rows if n and as_text(new[value]) not in (text, as_text(value)))
