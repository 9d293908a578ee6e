"""Options with which the verdict cannot rest on a measure, and ceilings that a reader must not miss."""

from typing import TYPE_CHECKING, Any

from sdckit._support.number_text import percent
from sdckit.methods.options import RoleColumns
from sdckit.methods.registry import specs
from sdckit.methods.serialise import to_builtin
from sdckit.methods.spec import Kind

if TYPE_CHECKING:
    from sdckit.choose.assessment import Assessment

FREE = ("intruders", "holdout", "linked")  # they say what is known, and have criteria of their own
SMALLER_IS_STRICTER = ("sure", "gain")
HIGH = 0.2  # an accepted risk above this is said beside the verdict
LARGER_IS_STRICTER = ("targets", "within")


def weakened_options(x: "Assessment") -> list[tuple[str, str]]:
    """Measures and options of the judging measures that differ from their defaults and may hide something."""
    found = []
    for spec in specs(Kind.RISK):
        if not spec.judges or spec.name not in x.after:
            continue
        given = x.after[spec.name].options
        for name, parameter in spec.parameters.items():
            default = parameter.default
            if name in FREE or name not in given or default is parameter.empty:
                continue
            usual = x.original.roles.columns(default.role) if isinstance(default, RoleColumns) else default
            if not _is_fine(name, given[name], to_builtin({name: usual})[name]):
                found.append((spec.name, name))
    if _other_intruders(x):
        found.append(("attribute_inference", "intruders"))
    return found


def _is_fine(name: str, given: Any, usual: Any) -> bool:
    if given == usual:
        return True
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in (given, usual))
    if numbers and name in SMALLER_IS_STRICTER:
        return bool(given <= usual)
    return bool(numbers and name in LARGER_IS_STRICTER and given >= usual)


def _other_intruders(x: "Assessment") -> bool:
    """Whether inference was asked of other intruders than re-identification."""
    names = ("reidentification_risk", "attribute_inference")
    if any(name not in x.after for name in names):
        return False
    first, second = (x.after[name].options.get("intruders") for name in names)
    return bool(first != second)


def high_ceilings(x: "Assessment") -> list[str]:
    """The largest accepted risk, where it is so large that a reader must not miss it."""
    result = x.after.get("reidentification_risk")
    table = None if result is None else result.tables.get("intruders")
    own = [] if table is None else [float(limit) for limit in table["max_risk"].drop_nulls()]
    highest = max([x.max_risk or 0.0, *own])
    return [f"that {percent(highest)} of the persons are found"] if highest > HIGH else []
