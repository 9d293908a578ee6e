"""Local suppression: blank as few key values as possible until every released combination occurs k times."""

from collections.abc import Mapping
from itertools import combinations
from math import inf
from typing import Annotated, Literal

import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Bools, Codes, Floats
from sdckit._support.messages import require_known, too_large
from sdckit._support.progress import Progress
from sdckit.data.effects import Effects
from sdckit.data.key_cells import Missing
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.engine.tables import RECORDS, count_cells
from sdckit.errors import DataError, OptionError, RoleError
from sdckit.methods.options import KEYS, SENSITIVE, By, Columns, KeyColumns, Option, SensitiveColumns, Shape
from sdckit.methods.registry import protection
from sdckit.protect._blanks_on_engine import blanked_on_engine
from sdckit.protect._draws import Draws
from sdckit.protect._households import Households, households
from sdckit.protect._inference import FIGURES, inferable
from sdckit.protect._linked import require_linked, values_followed, with_linked
from sdckit.protect._memory import require_memory
from sdckit.protect._suppression import (
    Request,
    cells_of,
    codes_of,
    exposure_of,
    masked,
    release_of,
    released,
)

Level = Literal["low", "normal", "high", "never"] | Annotated[float, Field(gt=0)]
LEVELS = {"low": 0.5, "normal": 1.0, "high": 100.0, "never": inf}


Importance = Annotated[
    Mapping[str, Level] | list[str],
    Option(
        "Importance of the keys",
        "Keys from the most to the least important, or a level or cost for each: these lose fewer values.",
        basic=True,
        absent="all keys alike",
        choices={
            "low": "rather this than another",
            "normal": "as the others",
            "high": "only where nothing else helps",
            "never": "not at all",
        },
        shape=Shape.LEVELS,
    ),
]
Subsets = Annotated[
    Annotated[int, Field(ge=1)] | list[Columns],
    Option(
        "Subsets of the keys",
        "The most keys an intruder knows, or the combinations: only these then occur k times.",
        absent="all keys together",
    ),
]
Rule = Annotated[
    Missing,
    Option(
        "A suppressed value is",
        "What a suppressed or missing key counts as; only the first rule bounds what an intruder finds.",
        choices={
            "category": "a value of its own: nobody is found with a chance above 1 in k",
            "wildcard": "any value, as sdcMicro counts: for comparison only, persons stay open to attack",
            "nothing": "not possible here",
        },
    ),
]
HouseholdKeys = Annotated[
    Columns,
    Option(
        "Keys of households",
        "Keys that all members share: what is suppressed in one member is suppressed in all.",
        absent="no key is shared",
    ),
]
Diversity = Annotated[
    Annotated[int, Field(ge=2)],
    Option(
        "Different sensitive values (l)",
        "How many different values of each sensitive column every combination has at least.",
        absent="not asked for",
    ),
]
Linked = Annotated[
    Mapping[str, Columns],
    Option(
        "Linked variables",
        "Columns that follow a key: where it is missing after the step, they are missing as well.",
        absent="none",
        shape=Shape.FOLLOWERS,
    ),
]
Effort = Annotated[
    float,
    Field(ge=0),
    Option("Effort", "How much work goes into needing fewer suppressions; 0 is quick, 1 usual."),
]
SecretSeed = Annotated[
    Annotated[int, Field(ge=0)],
    Option(
        "Secret seed",
        "Which common records are suppressed with rare ones is drawn from it; never publish it.",
        absent="drawn in secret",
        secret=True,
    ),
]


@protection(
    "Local suppression",
    family="Blanked values",
    figures=FIGURES,
    engines="all",
    needs=Role.KEYS,
    reference="Samarati (2001); Templ, Kowarik & Meindl (2015)",
)
def suppress(
    data: Microdata,
    *,
    k: Annotated[
        int, Field(ge=2), Option("k", "How many records every released combination has at least.", basic=True)
    ] = 3,
    keys: KeyColumns = KEYS,
    importance: Importance | None = None,
    subsets: Subsets | None = None,
    by: By = (),
    missing: Rule = Missing.CATEGORY,
    household_keys: HouseholdKeys = (),
    linked: Linked | None = None,
    diversity: Diversity | None = None,
    sensitive: SensitiveColumns = SENSITIVE,
    effort: Effort = 1.0,
    seed: SecretSeed | None = None,
    progress: Progress,
) -> Microdata:
    """Set key values to missing until every combination of keys that is released occurs at least k times.

    A blank is a value of its own (`missing="category"`): k records show the same values and the same blanks.
    Whoever knows all keys of a person, of everybody else and this method picks the right record with a chance
    of at most 1 in k. A key that was missing from the start looks like a suppressed one and counts as the
    same value. Not covered: columns that tell a blanked value (below), records that share a sensitive value
    (`diversity`), an intruder who already knows other records of the combination, members of a household
    taken together, two releases of one file.

    The fewest cells are sought, each counted with the importance of its key: a list from the most to the
    least important key, or a mapping to "low", "normal", "high", "never" (not to be touched) or a number
    (what one suppression costs; "high" is 100, "low" ½). `effort` scales the work of the search, which is not
    a matter of time: 0 is quick, 1 usual. `by`: within strata, each on its own. With `subsets`, every subset
    of the keys up to that size, or every listed combination, occurs k times: an intruder who knows no more
    keys than that. `household_keys` are shared by all members of a household, so that a blank in one member
    is told by the others: they cost as many times more as households have members, and are blanked for all
    members where nothing else helps. `linked`, {region: [district, postcode]}, names columns that are no keys
    and would tell a suppressed one: they are set to missing wherever it is missing. `diversity`: every
    combination has this many different values of each of the `sensitive` columns; the log says what it costs
    (`cells_for_diversity`). The choice then depends on the sensitive values, and whoever knows that may learn
    something about them (Wong et al. 2007).

    Combinations that lack records borrow some from common ones, drawn at random; the order of the file must
    not tell which. The draw is secret and changes each time data are read, unless a `seed` is given, which
    must then not be published. Weights are not used.

    In the log: smallest_pattern, the records of the rarest combination; alone_on_shown_keys, records
    without a blank that nobody shares; above_one_in_k, records with a chance above 1 in k to be picked;
    records_lent; hidden_value_shared, blanks whose value all records of the combination have in common.
    `missing="wildcard"` counts a blank as any value, as sdcMicro does, and is there to compare with it: fewer
    cells, and no bound on re-identification. The `warnings` of the data say how many persons it leaves open.

    A blanked value is no secret where another column tells it: the stratum the region, another member that of
    the household, a weight the stratum, an income its class. The log says how many values are told
    (`values_inferable`) and by which columns (`inferred_from`), the `warnings` of the data say it in words.
    A column counts if guesses from it are right nine times in ten beyond chance; what two columns tell
    together, or the id and the order of the file (see `new_ids`, `shuffle_order`), is not looked at.
    Reference: Samarati (2001); Templ, Kowarik & Meindl (2015).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": list("ffffm"), "region": list("aaaaa")}), keys=["sex", "region"])
    >>> done = sdc.protect.suppress(data, k=2)
    >>> done.frame["sex"][4] is None, done.frame["sex"].null_count(), done.log[-1].figures["records_lent"]
    (True, 2, 1)
    """
    names = tuple(dict.fromkeys(keys))
    strata = tuple(c for c in by if c not in names)
    costs = np.append(key_costs(names, importance), np.full(len(strata), inf))
    costs[[i for i, key in enumerate(names) if key in by]] = inf
    _refuse(data, k, by, missing, subsets, household_keys, diversity)
    follows = require_linked(data, names, linked or {})
    homes = _homes(data, names, household_keys)
    if homes is not None:
        costs[[names.index(c) for c in household_keys]] *= _mean_size(homes)
    ask = Request(
        k=k,
        costs=costs,
        subsets=_positions(names, subsets, np.flatnonzero([c in by for c in (*names, *strata)]).tolist()),
        homes=homes,
        household=tuple(names.index(c) for c in household_keys),
        sensitive=_sensitive(data, names, sensitive) if diversity is not None else None,
        diversity=diversity or 1,
        effort=effort,
        progress=lambda done, total: progress("cells", done, total),
    )
    cells = cells_of(data, [*names, *strata])
    # `origin` is drawn when data are read and leaves the process with no file: a draw nobody can repeat
    rng = np.random.default_rng([data.origin, len(data.log)] if seed is None else seed)
    draws = Draws(data, rng)
    extra = 0
    if data.engine == "polars":
        found = masked(cells, ask, missing, rng, draws)
        release, extra = release_of(cells, found.mask), found.for_diversity
        frame = _blanked(data, names, found.mask)
    else:
        release = released(cells, ask, missing)
        frame = blanked_on_engine(data, names, cells.found.combinations, release, draws)
    frame = with_linked(frame, follows)
    blanks = dict(zip(names, release.suppressed(len(names)).tolist(), strict=True))
    shown = dict(zip(names, release.shown(cells.codes).tolist(), strict=False))
    if any(blanks.values()) and not any(shown.values()):
        raise DataError(
            "The file cannot become k-anonymous unless every value of every key is suppressed.",
            given=f"k={k}, {data.height:,} records",
            hint="Lower k, or recode the keys first.",
        )
    followed = values_followed(data, frame, follows)
    effects = Effects(suppresses=tuple(c for c, count in (blanks | followed).items() if count))
    return data.with_frame(
        frame,
        effects=effects,
        changed=[*names, *followed],
        cells_suppressed=sum(blanks.values()),
        records_touched=int(release.records[release.blank != 0].sum()),
        by_key=blanks,
        **({"emptied": emptied} if (emptied := [c for c in names if blanks[c] and not shown[c]]) else {}),
        **({"linked_suppressed": followed} if linked else {}),
        **exposure_of(cells, release, k),
        **({} if diversity is None else {"cells_for_diversity": extra}),
        **inferable(data, frame, blanks),
    )


def _blanked(data: Microdata, names: tuple[str, ...], mask: Bools) -> pl.DataFrame:
    frame: pl.DataFrame = data.frame.with_columns(
        pl.when(pl.Series(mask[:, j])).then(None).otherwise(pl.col(c)).alias(c) for j, c in enumerate(names)
    )
    return frame


def refuse_nothing(missing: Missing) -> None:
    """Refuse the rule under which a blank key never hides a record."""
    if missing is Missing.NOTHING:
        raise OptionError(
            "Suppression cannot help when a missing value matches nothing.",
            given="nothing",
            allowed="category, wildcard",
        )


def _refuse(
    data: Microdata,
    k: int,
    by: Columns,
    missing: Missing,
    subsets: object,
    household_keys: Columns,
    diversity: int | None,
) -> None:
    """Refuse options that do not go together, and a k that no stratum reaches."""
    refuse_nothing(missing)
    if missing is Missing.WILDCARD and (household_keys or diversity is not None):
        raise OptionError(
            "household_keys and diversity need a blank to be a value of its own.",
            given="missing=wildcard",
            allowed="category",
        )
    if subsets is not None and diversity is not None:
        raise OptionError("diversity is about all keys together.", given="subsets and diversity")
    for option, value in {
        "subsets": subsets,
        "household_keys": household_keys,
        "diversity": diversity,
    }.items():
        if value:
            require_memory(data, f"{option} of suppress")
    fewest = count_cells(data.table, list(by), None)[RECORDS].min() if by else data.height
    if isinstance(fewest, int) and k > fewest:
        where = " in a stratum" if by else ""
        raise too_large(k, fewest, where)


def key_costs(keys: tuple[str, ...], importance: object) -> Floats:
    """What one suppressed cell of each key costs.

    Of an order the last costs 1 and each step up in importance twice as much.
    """
    if importance is None:
        return np.ones(len(keys))
    names = list(importance) if isinstance(importance, Mapping | list) else []
    require_known(names, keys, "importance names a column that is not a key.")
    if isinstance(importance, Mapping):
        levels = [importance.get(key, "normal") for key in keys]
        costs = np.array([LEVELS[v] if isinstance(v, str) else float(v) for v in levels])
    else:
        order = [*dict.fromkeys(names), *(key for key in keys if key not in names)]
        costs = np.array([2.0 ** (len(keys) - 1 - order.index(key)) for key in keys])
    if np.isinf(costs).all():
        raise OptionError("Every key is marked never.", hint="Leave at least one key that may be suppressed.")
    return costs


def _positions(keys: tuple[str, ...], subsets: object, strata: list[int]) -> list[tuple[int, ...]] | None:
    """The subsets as numbers of keys, strata being part of each."""
    if subsets is None:
        return None
    if isinstance(subsets, int):
        found = list(combinations(range(len(keys)), min(subsets, len(keys))))
    else:
        wanted = [tuple(s) for s in subsets] if isinstance(subsets, list) else []
        require_known((c for s in wanted for c in s), keys, "subsets may only name keys.")
        if not wanted or not all(wanted):
            raise OptionError("subsets must list key combinations.", given=subsets)
        found = [tuple(keys.index(c) for c in s) for s in wanted]
    return [tuple(sorted({*s, *strata})) for s in found]


def _homes(data: Microdata, keys: tuple[str, ...], household_keys: Columns) -> Households | None:
    """The households, where some keys are theirs."""
    if not household_keys:
        return None
    require_known(household_keys, keys, "household_keys may only name keys.")
    homes = households(data)
    if homes is None:
        raise RoleError(
            "household_keys need the role 'household', and the data have none.",
            hint="Give it when you read the data: household=….",
        )
    for key in household_keys:
        if not homes.share(data.frame[key]):
            raise DataError(
                f"Members of some households differ in {key!r}.",
                given="household_keys",
                hint="Name only keys that all members share.",
            )
    return homes


def _mean_size(homes: Households) -> float:
    """The number of members of a person's household, on average over persons."""
    sizes = np.bincount(homes.number)
    return float(sizes[homes.number].mean())


def _sensitive(data: Microdata, keys: tuple[str, ...], sensitive: Columns) -> Codes:
    columns = [c for c in sensitive if c not in keys]
    if not columns:
        raise OptionError(
            "diversity needs sensitive columns that are not keys.",
            given="none",
            hint="Name them in sensitive=…, or give the role when you read the data.",
        )
    return codes_of(data, columns)
