"""Files of any size for the benchmarks: the shared ones where they are here, resampled beyond their size."""

from functools import cache

import numpy as np
import polars as pl

import sdckit as sdc
from benchmarks._task import SHARED

FIVE = ["urbrur", "roof", "relat", "sex", "age"]
EIGHT = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age"]
MONEY = ["income", "expend", "savings"]
NUMBERS = ["x0", "x1", "x2", "x3"]
_LEVELS = {"urbrur": 2, "roof": 5, "walls": 4, "water": 9, "electcon": 2, "relat": 9, "sex": 2, "age": 96}


@cache
def _people(missing: bool) -> pl.DataFrame:
    """100,000 persons; without the shared file, independent keys."""
    path = SHARED / "bench" / "inputs" / f"{'catna' if missing else 'cat'}_100000.csv.gz"
    if path.exists():
        return pl.read_csv(path, null_values="NA", infer_schema_length=None)
    rng, n = np.random.default_rng(1), 100_000
    keys = {name: rng.integers(0, levels, n) for name, levels in _LEVELS.items()}
    money = {name: rng.lognormal(15, 1, n) for name in MONEY}
    frame = pl.DataFrame(
        {**keys, **money, "sampling_weight": rng.uniform(50, 150, n), "hid": np.arange(n) // 5}
    )
    if not missing:
        return frame
    holes = [pl.when(pl.Series(rng.random(n) >= 0.03)).then(pl.col(c)).alias(c) for c in _LEVELS]
    return frame.with_columns(holes)


def people(n: int, *, missing: bool = False) -> pl.DataFrame:
    """n persons: of the file, or drawn from it with a twentieth of the key values redrawn, five a household.

    Households live in 20 regions, drawn at random.
    """
    base, rng = _people(missing), np.random.default_rng(n)
    frame = base.head(n)
    if n > base.height:
        frame = base[rng.integers(0, base.height, n)]
        redrawn = [
            pl.when(pl.Series(rng.random(n) < 0.05))
            .then(base[key].gather(rng.integers(0, base.height, n)))
            .otherwise(pl.col(key))
            .alias(key)
            for key in EIGHT
        ]
        frame = frame.with_columns(redrawn).with_columns(hid=pl.Series(np.arange(n) // 5))
    frame = frame.with_columns(hs=pl.len().over("hid"))
    homes = pl.DataFrame({"hid": frame["hid"].unique(maintain_order=True)})
    homes = homes.with_columns(reg=pl.Series(rng.integers(0, 20, homes.height)))
    return frame.join(homes, on="hid", how="left", maintain_order="left")


def survey(n: int, keys: list[str] = FIVE, *, missing: bool = False) -> sdc.Microdata:
    """The persons with their roles."""
    return sdc.read(
        people(n, missing=missing),
        keys=keys,
        numeric=["expend", "savings"],
        sensitive="water" if "water" not in keys else (),
        weight="sampling_weight",
        household="hid",
    )


@cache
def _amounts() -> np.ndarray:
    path = SHARED / "bench" / "inputs" / "num_100000.csv.gz"
    if path.exists():
        return pl.read_csv(path).to_numpy().astype(float)
    return np.random.default_rng(1).lognormal(size=(100_000, 4))


def amounts(n: int) -> np.ndarray:
    """[n, 4] numbers of the file, or drawn from it and moved a little."""
    base, rng = _amounts(), np.random.default_rng(n)
    if n <= len(base):
        return base[:n]
    return base[rng.integers(0, len(base), n)] * rng.lognormal(0, 0.05, (n, 4))


def numbers(n: int) -> sdc.Microdata:
    """Four numbers with their role."""
    return sdc.read(pl.DataFrame(amounts(n), schema=NUMBERS), numeric=NUMBERS)


def with_noise(n: int) -> tuple[sdc.Microdata, sdc.Microdata]:
    """Four weighted numbers, and the same with noise of a tenth of a standard deviation."""
    x, rng = amounts(n), np.random.default_rng(n)
    y = x + rng.normal(0, 0.1, x.shape) * x.std(axis=0)
    w = pl.Series("w", rng.integers(1, 1000, n).astype(float))
    data = sdc.read(pl.DataFrame(x, schema=NUMBERS).with_columns(w), numeric=NUMBERS, weight="w")
    return data, data.with_frame(pl.DataFrame(y, schema=NUMBERS).with_columns(w))


def mixed(n: int, p: int) -> tuple[sdc.Microdata, sdc.Microdata]:
    """p columns, half numbers and half categories; in the second file a fifth of the values are moved."""
    rng = np.random.default_rng(n)
    values = {f"x{j}": rng.lognormal(size=n) for j in range(p // 2)}
    keys = {f"k{j}": rng.integers(0, 2 + j * 9, n) for j in range(p - p // 2)}
    frame = pl.DataFrame({**values, **keys, "w": rng.uniform(1, 9, n)})
    data = sdc.read(frame, keys=list(keys), numeric=list(values), weight="w")
    moved = [
        pl.when(pl.Series(rng.random(n) < 0.2)).then(frame[c].shuffle(7)).otherwise(pl.col(c)).alias(c)
        for c in (*values, *keys)
    ]
    return data, data.with_frame(frame.with_columns(moved))


def synthetic(n: int) -> tuple[sdc.Microdata, sdc.Microdata]:
    """Three known keys, three synthesised categories and three synthesised numbers."""
    rng = np.random.default_rng(n)
    keys = {name: rng.integers(0, size, n) for name, size in {"region": 20, "sex": 2, "age": 15}.items()}
    made = [
        {name: rng.integers(0, size, n) for name, size in {"born": 7, "language": 2, "school": 6}.items()}
        | {name: np.exp(rng.normal(9, 1, n)) for name in "xyz"}
        for _ in range(2)
    ]
    data = sdc.read(pl.DataFrame({**keys, **made[0]}), keys=list(keys), numeric=list("xyz"))
    return data, data.with_frame(pl.DataFrame({**keys, **made[1]}))


def columns(n: int, p: int) -> sdc.Microdata:
    """The first p columns of the demo survey without its numbers of records, households and clusters."""
    data = sdc.demo.survey(n=n, seed=1)
    left_out = ("person_id", "household_id", "psu", "stratum", "weight")
    chosen = [c for c in data.columns if c not in left_out][:p]
    roles = {name: [c for c in getattr(data.roles, name) if c in chosen] for name in ("keys", "numeric")}
    return sdc.read(data.frame.select(chosen), **roles)
