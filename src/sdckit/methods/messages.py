"""What is wrong with an option, in plain words: pydantic's own are for programmers."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from sdckit.errors import OptionError, SdcError, preview

# By pydantic's name of the fault: what would have been right.
WORDS = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "a mapping, {{name: value, …}}",
    "finite_number": "a finite number",
    "float_parsing": "a number",
    "float_type": "a number",
    "greater_than_equal": "{ge:.15g} or more",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "int_type": "a whole number",
    "less_than_equal": "{le:.15g} or less",
    "list_type": "a list",
    "mapping_type": "a mapping, {{name: value, …}}",
    "model_type": "a mapping, {{option: value, …}}",
    "string_too_short": "a text that is not empty",
    "string_type": "a text",
    "too_long": "{max_length} or fewer entries",
    "too_short": "{min_length} or more entries",
    "tuple_type": "a list",
}
CLASSES = {"Sequence": "a list", "Iterable": "a list", "Mapping": "a mapping, {name: value, …}"}


def refusal(
    method: str, error: ValidationError, given: Mapping[str, Any], columns: Collection[str], *, step: bool
) -> SdcError:
    """Our error for the first option that is not valid.

    columns: the options that take names of columns. step: the method is a step of a scenario, not a measure.
    """
    option = str(error.errors()[0]["loc"][0])
    faults = [fault for fault in error.errors() if fault["loc"][0] == option]
    if faults[0]["type"] == "missing" and len(faults[0]["loc"]) == 1:
        written = f"- {method}: {{{option}: …}}" if step else f"assess: {{{method}: {{{option}: …}}}}"
        return OptionError(f"{method} needs the option {option!r}.", plan_hint=f"In the plan: {written}")
    ours = faults[0].get("ctx", {}).get("error")
    if isinstance(ours, SdcError):  # it says what is allowed already
        return ours
    # Of several types that an option may have, the one is meant into which the value fits farthest.
    places = [_place(fault["loc"][1:], given[option]) for fault in faults]
    place = max(places, key=len)
    here = [fault for fault, its in zip(faults, places, strict=True) if its == place]
    if option in columns:
        allowed = ["column names"]
    else:
        allowed = list(dict.fromkeys(text for fault in here if (text := _allowed(fault))))
    return OptionError(
        f"Option {option!r} of {method} is not valid{''.join(f', at {part}' for part in place)}.",
        given=preview(here[0]["input"]),
        allowed=", or ".join(allowed),
    )


def _place(path: Sequence[Any], value: Any) -> list[str]:
    """The names and positions on the way to the fault as the user wrote them, without names of types."""
    found = []
    for part in path:
        if isinstance(value, Mapping):
            name = next((key for key in value if key == part or str(key) == part), None)
            if name is not None:
                found.append(repr(name))
                value = value[name]
        elif isinstance(part, int) and isinstance(value, list | tuple) and part < len(value):
            found.append(f"entry {part + 1}")
            value = value[part]
    return found


def _allowed(fault: Mapping[str, Any]) -> str:
    """What would have been right, in words; nothing for "none", which nobody means to write."""
    kind, facts = fault["type"], fault.get("ctx", {})
    if kind == "none_required":
        return ""
    if kind == "is_instance_of":
        return CLASSES.get(facts["class"], str(facts["class"]))
    if kind in WORDS:
        return WORDS[kind].format(**facts)
    if "error" in facts:
        return str(facts["error"])
    return str(fault["msg"]).removeprefix("Input should be ")
