"""Linkability: does a synthetic file join what two sources know of the same person?"""

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np

from sdckit._support.arrays import Floats, Ints
from sdckit._support.messages import join_names
from sdckit.data.common_columns import role_variables
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.errors import OptionError
from sdckit.methods.options import Columns, Option
from sdckit.risk._attacks import (
    Attacked,
    Ground,
    HoldoutFile,
    MostAttacks,
    attack,
    attack_figures,
    attack_table,
    ground,
    nearest,
    pooled,
    spread_rows,
)


@attack(
    "Linkability of two sources by a synthetic file",
    figures=attack_figures(""),
    interpretation=(
        "An intruder has two sources with different variables of the same people, and takes two records for "
        "one person where both are nearest to the same synthetic record. 0: this works no better for the "
        "people in the file than for others, who gave nothing to it. 0.1: of the links that fail for others, "
        "one in ten works for them, because the synthesis repeats whole records. The interval (low, high) "
        "says how sure this is."
    ),
)
def linkability(
    original: Microdata,
    synthetic: Microdata | Sequence[Microdata],
    *,
    holdout: HoldoutFile,
    first: Annotated[
        Columns,
        Option("Known to one source", "The variables of the first source.", absent="every other variable"),
    ] = (),
    second: Annotated[
        Columns,
        Option("Known to the other", "The variables of the second source.", absent="the variables between"),
    ] = (),
    attacks: MostAttacks = 1_000,
) -> Result:
    r"""How much better two sources are linked by the synthetic file for people in it than for others.

    .. math:: R = \frac{s - c}{1 - c}, \qquad
       s = \frac1N \sum_i \frac{|A_i \cap B_i|}{|A_i|\,|B_i|}

    A and B are the synthetic records nearest to person i by the variables of the `first` and of the `second`
    source (Gower's distance; several where distances tie). The intruder takes one of each at random and links
    them where they are the same; s is the share of links to expect for people of the original, c for those in
    `holdout`, who are of the same population but were not given to the synthesis. Value: R, not below 0; 1
    where every link works for the people in the file and not for all others. A link for others works by
    chance or because variables tell each other, which is no fault of the file.

    Without `first` and `second`: keys, numeric and sensitive columns in turn. At most `attacks` people of
    each file are attacked, spread evenly over the sorted file. For several synthetic sets, s and c are means.
    figures: low and high (Wilson's 95 % intervals of s and c, combined as independent errors; below 0 by
    chance), attack (s), control (c), attacks. parts: the same in a row.

    Weights: not used. Missing: missing in one of two records is as far as can be, in both it is equal.
    Reference: Giomi et al. (2023), "A unified framework for quantifying privacy risk in synthetic data".
    Departures: ties are taken at their expectation instead of at random; shares are not shrunk to ½.

    >>> import polars as pl, sdckit as sdc
    >>> data, others = (sdc.read(pl.DataFrame({"a": x, "b": x})) for x in ([1, 2, 3, 4], [5, 6, 7, 8]))
    >>> mixed = data.with_frame(pl.DataFrame({"a": [1, 2, 3, 4], "b": [2, 1, 4, 3]}))
    >>> sdc.risk.linkability(data, mixed, holdout=others, first="a", second="b").figures["attack"]
    0.0
    """
    if bool(first) != bool(second):
        raise OptionError("linkability needs the variables of both sources, or of none.", given="one")
    shared = [c for c in first if c in set(second)]
    if shared:
        raise OptionError("A variable cannot be in both sources.", given=join_names(shared))
    columns = [*first, *second] or role_variables(original)
    field = ground(original, synthetic, holdout, columns)
    a, b = (field.places(c) for c in (first or columns[::2], second or columns[1::2]))
    notes = field.notes
    if not len(a) or not len(b):
        return Result(
            math.nan, notes=(*notes, "Two sources need a variable each in all files."), lost=field.lost
        )
    names = [join_names([field.space.variables[j] for j in side]) for side in (a, b)]
    notes += (f"One source knows {names[0]}, the other {names[1]}.",)
    found = pooled([_attacked(field, records, a, b, attacks) for records in field.sets])
    if math.isnan(found.risk):
        notes += ("Every link works for other people, too: nothing is left to tell.",)
    value = found.risk if math.isnan(found.risk) else max(found.risk, 0.0)
    parts = attack_table("kind", {"links of two sources": found})
    return Result(value, found.figures(), parts, notes, lost=field.lost)


def _attacked(field: Ground, records: Floats, a: Ints, b: Ints, attacks: int) -> Attacked:
    rates = []
    for file in (field.original, field.holdout):
        people = file[spread_rows(file, attacks)]
        sides = [nearest(people[:, j], records[:, j], field.space.nominal[j]) for j in (a, b)]
        links = [(one & two).sum() / (one.sum() * two.sum()) for one, two in zip(*sides, strict=True)]
        rates.append((float(np.mean(links)), len(people)))
    (success, number), (control, others) = rates
    return Attacked(success, number, control, others)
