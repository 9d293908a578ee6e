"""Categories put together where there are too many of them, or too few records."""

from collections.abc import Collection, Iterable, Mapping
from operator import add

Place = tuple[str, ...]  # the categories of a cell, one for each variable
Sizes = tuple[float, ...]  # of a cell: records, weights, one for each file, …
MISSING = "missing"


def rest_name(categories: Iterable[str]) -> str:
    """What merged categories are called: "other", or a longer name where the data have such a category.

    >>> rest_name(["a", "b"]), rest_name(["a", "other"])
    ('other', 'all other')
    """
    taken, name = {*categories}, "other"
    while name in taken:
        name = f"all {name}"
    return name


def rare_levels(sizes: Mapping[str, float], most: int) -> set[str]:
    """The categories beyond the `most` largest, but for missing; none where it would only be one.

    >>> sorted(rare_levels({"a": 5, "b": 3, "c": 2, "d": 1}, 2))
    ['c', 'd']
    """
    plain = sorted((name for name in sizes if name != MISSING), key=lambda name: (-sizes[name], name))
    return set(plain[most:]) if len(plain) > most + 1 else set()


def merge_levels(
    cells: Mapping[Place, Sizes], axis: int, names: Collection[str], rest: str
) -> dict[Place, Sizes]:
    """The cells with these categories of one variable put together.

    >>> merge_levels({("a",): (5.0,), ("b",): (2.0,), ("c",): (1.0,)}, 0, ["b", "c"], "other")
    {('a',): (5.0,), ('other',): (3.0,)}
    """
    done: dict[Place, Sizes] = {}
    for place, sizes in cells.items():
        if place[axis] in names:
            place = (*place[:axis], rest, *place[axis + 1 :])
        done[place] = tuple(map(add, done[place], sizes)) if place in done else sizes
    return done


def level_sizes(cells: Mapping[Place, Sizes], axis: int) -> dict[str, float]:
    """The first size of all cells, by category of one variable."""
    sums: dict[str, float] = {}
    for place, sizes in cells.items():
        sums[place[axis]] = sums.get(place[axis], 0.0) + sizes[0]
    return sums
