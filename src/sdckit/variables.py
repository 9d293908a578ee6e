"""Which variables a comparison of files looks at when it is not told."""

from sdckit.microdata import Microdata


def role_variables(original: Microdata, *others: Microdata) -> tuple[str, ...]:
    """The keys, numeric and sensitive columns in all files; without such roles, all columns."""
    roles = original.roles
    named = dict.fromkeys((*roles.keys, *roles.numeric, *roles.sensitive)) or original.columns
    left_out = (roles.id, roles.weight, roles.household, *roles.direct)
    return tuple(c for c in named if c not in left_out and all(c in other.columns for other in others))
