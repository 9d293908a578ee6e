"""Whether people held back are other people, as they must be, and not those of the original."""

import numpy as np

from sdckit._support.arrays import Floats
from sdckit.data.common_columns import role_variables
from sdckit.data.microdata import Microdata
from sdckit.risk._points import Points, points
from sdckit.risk._synthetic import same_records
from sdckit.risk._uncertainty import wilson

MOST = 2_000  # records of a file that look for their nearest
NEARER = 0.1  # of the distance to the second nearest, within which the nearest original stands out
MORE = 0.05  # share of the people held back that may have such an original beyond what is expected


def not_other_people(original: Microdata, holdout: Microdata) -> bool:
    """Whether records held back are, as they are or with changes, those of people of the original.

    For other people of the same population it is as likely that one original stands out as the nearest as it
    is for a person of the original among all others of it. More than that: they are no other people.
    """
    # the original is kept beside the answer, so that no other object can get its number
    found: tuple[Microdata, bool] = holdout.cached(
        ("not other people", id(original)), lambda: (original, _not_other_people(original, holdout))
    )
    return found[1]


def _not_other_people(original: Microdata, holdout: Microdata) -> bool:
    if same_records(original, holdout):
        return True
    files = (original.collect(), holdout.collect())
    names = [c for c in role_variables(original, holdout) if c in holdout.columns]
    if not names or original.height < 3:
        return False
    space = points([f.frame for f in files], names, original, None, ranges=1)
    if not space.variables:
        return False
    among_each_other = float(_stands_out(space, 0).mean())
    held_back = _stands_out(space, 1)
    return wilson(float(held_back.mean()), len(held_back))[0] > among_each_other + MORE


def _stands_out(space: Points, file: int) -> Floats:
    """For records of a file whether one original is far nearer than all others; never a record itself."""
    from sdckit.kernels.nearest import two_nearest

    x = space.files[file]
    chosen = np.linspace(0, len(x) - 1, min(MOST, len(x))).round().astype(np.int64)
    own = chosen if file == 0 else np.full(len(chosen), -1)
    found = two_nearest(space.tree(0, blank_counts=True), x[chosen], own)
    first, second = (space.size(s) for s in found)
    return np.asarray((first <= NEARER * second) & (second > 0), dtype=np.float64)
