"""Small files with everything that has ever broken a report."""

import polars as pl

from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata

SCRIPT = "<script>alert(1)</script>"
QUOTES = 'it\'s "so" </style> 🎉 & {{ 7*7 }}'
N = 60


def columns(n: int = N) -> dict[str, list[object]]:
    return {
        "sex": [("f", "m")[i % 2] for i in range(n)],
        "region": [("north", "south", "west")[i * i % 3] for i in range(n)],
        "income": [100.0 + 37.5 * (i * 7 % 23) for i in range(n)],
        "w": [1.0 + i % 5 for i in range(n)],
    }


def nasty_names() -> Microdata:
    c = columns()
    frame = pl.DataFrame({SCRIPT: c["sex"], QUOTES: c["region"], "a\x00b `c` \\ d": c["income"]})
    labels = Labels({SCRIPT: f"{SCRIPT} label"}, {SCRIPT: {"f": f"{SCRIPT} female"}})
    return Microdata.of(frame, labels=labels, keys=[SCRIPT, QUOTES], numeric=["a\x00b `c` \\ d"])


def no_numbers() -> Microdata:
    return Microdata.of(pl.DataFrame(columns()), keys=["sex", "region"])


def no_keys() -> Microdata:
    return Microdata.of(pl.DataFrame(columns()), numeric=["income"], weight="w")


def no_roles() -> Microdata:
    return Microdata.of(pl.DataFrame(columns()))


def all_missing() -> Microdata:
    frame = pl.DataFrame(columns()).with_columns(
        empty=pl.lit(None, pl.Float64), void=pl.lit(None, pl.String), constant=pl.lit(3.0)
    )
    return Microdata.of(frame, keys=["sex", "void"], numeric=["income", "empty", "constant"], weight="w")


def one_record() -> Microdata:
    return Microdata.of(pl.DataFrame(columns(1)), keys=["sex", "region"], numeric=["income"], weight="w")


def singletons() -> Microdata:
    frame = pl.DataFrame({**columns(), "town": [f"town {i}" for i in range(N)]})
    return Microdata.of(frame, keys=["sex", "town"], numeric=["income"])


def two_hundred_columns() -> Microdata:
    c = columns()
    many = {f"number {i}": [float(v) + i for v in c["income"]] for i in range(150)}  # type: ignore[arg-type]
    keys = {f"key {i}": c["sex" if i % 2 else "region"] for i in range(50)}
    return Microdata.of(pl.DataFrame({**many, **keys}), keys=list(keys)[:5], numeric=list(many))


def damaged(data: Microdata) -> Microdata:
    """The data with numbers moved and every third category gone."""
    place = pl.int_range(pl.len())
    numbers = [pl.col(c) * 1.05 + place % 4 for c in data.roles.numeric]
    gone = [pl.when(place % 3 != 1).then(pl.col(c)).alias(c) for c in data.roles.keys]
    return data.with_frame(data.frame.with_columns(numbers + gone))


ODD = (nasty_names, no_numbers, no_keys, no_roles, all_missing, one_record, singletons, two_hundred_columns)
