"""Whether people held back are other people, as they must be, and not those of the original."""

import numpy as np

from sdckit._support.arrays import Floats
from sdckit._support.messages import join_names
from sdckit.data.common_columns import role_variables
from sdckit.data.microdata import Microdata
from sdckit.data.values import in_one_column
from sdckit.methods.recoding import apply_same_recoding
from sdckit.risk._points import Points, points
from sdckit.risk._synthetic import same_records
from sdckit.risk._uncertainty import wilson

MOST = 2_000  # records of a file that look for their nearest
NEARER = 0.1  # of the distance to the second nearest, within which the nearest original stands out
MORE = 0.05  # share of the people held back that may have such an original beyond what is expected
PEOPLE = 20  # held back at least: what a handful shows is an accident, or was chosen


def held_back_problem(original: Microdata, protected: Microdata, holdout: Microdata) -> str:
    """Why nothing can be judged by people held back; empty where it can.

    They must be other people: neither those of the original nor, as they are or with changes, those whose
    records are released, beside which every copy looks like chance. And they must be people of the same
    population: who picks those whose like is in the original makes copies look like chance, too.
    """
    names = role_variables(original, protected)
    lacking = [name for name in names if name not in holdout.columns]
    if lacking:
        return f"The hold-out lacks {join_names(lacking)}: it must have all columns that are compared."
    if holdout.height < PEOPLE:
        return f"The hold-out has {holdout.height} records: at least {PEOPLE} people are needed."
    if not_other_people(original, holdout):
        return "The hold-out has people of the original: it must be other people."
    if not_other_people(protected, apply_same_recoding(holdout, protected, names)[0], original):
        return "The hold-out has records of the released file: it must be people nobody has seen."
    if _picked(original, holdout):
        return "The hold-out is nearer to the original than its people are to each other: it was picked."
    return ""


def not_other_people(file: Microdata, holdout: Microdata, original: Microdata | None = None) -> bool:
    """Whether records held back are, as they are or with changes, those of a file: by default the original.

    For other people of the same population it is as likely that one record stands out as the nearest as it
    is for a record of the file among all others of it. More than that: they are no other people.
    """
    # the file is kept beside the answer, so that no other object can get its number
    found: tuple[Microdata, bool] = holdout.cached(
        ("not other people", id(file)), lambda: (file, _not_other_people(file, holdout, original))
    )
    return found[1]


def _not_other_people(file: Microdata, holdout: Microdata, original: Microdata | None) -> bool:
    if original is None and same_records(file, holdout):
        return True
    space = _space(file, holdout, original or file)
    if space is None:
        return False
    among_each_other = float(_stands_out(space, 0).mean())
    held_back = _stands_out(space, 1)
    return wilson(float(held_back.mean()), len(held_back))[0] > among_each_other + MORE


def _space(file: Microdata, holdout: Microdata, original: Microdata) -> Points | None:
    """Both files as points; None where there is nothing to compare."""
    files = [f.collect().frame for f in (file, holdout)]
    shared = role_variables(original, file, holdout)
    names = [c for c in shared if in_one_column([frame[c] for frame in files]) is not None]
    if not names or file.height < 3:
        return None
    space = points(files, names, original, None, ranges=1)
    return space if space.variables else None


def _picked(original: Microdata, holdout: Microdata) -> bool:
    """Whether far more of the people held back have their like in the original than its own people have."""
    space = _space(original, holdout, original)
    if space is None:
        return False
    mine, theirs = (_distances(space, file)[0] for file in (0, 1))
    alike = wilson(float((theirs == 0).mean()), len(theirs))[0] > float((mine == 0).mean()) + MORE
    nearer = wilson(float((theirs < np.median(mine)).mean()), len(theirs))[0] > 0.5 + 2 * MORE
    return alike or (nearer and float(np.median(mine)) > 0)


def _stands_out(space: Points, file: int) -> Floats:
    """For records of a file whether one original is far nearer than all others; never a record itself."""
    first, second = _distances(space, file)
    return np.asarray((first <= NEARER * second) & (second > 0), dtype=np.float64)


def _distances(space: Points, file: int) -> tuple[Floats, Floats]:
    """For records of a file the distances to the two nearest of the first file; never a record itself."""
    from sdckit.kernels.nearest import two_nearest

    x = space.files[file]
    chosen = np.linspace(0, len(x) - 1, min(MOST, len(x))).round().astype(np.int64)
    own = chosen if file == 0 else np.full(len(chosen), -1)
    found = two_nearest(space.tree(0, blank_counts=True), x[chosen], own)
    first, second = (space.size(s) for s in found)
    return first, second
