"""The persons and enterprises of the attacks: made up, in random order, with rare combinations."""

import numpy as np
import polars as pl

import sdckit as sdc

KEYS = ("region", "sex", "age", "education", "citizenship", "occupation")
REGIONS = dict(
    enumerate(["Amstetten", "Bludenz", "Cilli", "Dornach", "Eferding", "Feldbach", "Gmunden", "Hallein"], 1)
)


def persons(n: int = 1_200, seed: int = 7) -> pl.DataFrame:
    """One record a person, with keys, three numbers and a state of health."""
    rng = np.random.default_rng(seed)
    age = rng.integers(16, 90, n)
    education = np.clip(rng.normal(3, 1.2, n).round(), 1, 5).astype(int)
    income = np.round(np.exp(rng.normal(7.3 + 0.15 * education, 0.6)), 2)
    return pl.DataFrame(
        {
            "region": rng.choice(8, n, p=[0.3, 0.2, 0.15, 0.1, 0.1, 0.07, 0.05, 0.03]) + 1,
            "sex": rng.choice(["f", "m"], n),
            "age": age,
            "education": education,
            "citizenship": rng.choice(4, n, p=[0.88, 0.07, 0.04, 0.01]) + 1,
            "occupation": rng.choice(12, n, p=np.arange(12, 0, -1) / 78) + 1,
            "income": income,
            "rent": np.round(income * rng.uniform(0.15, 0.5, n), 2),
            "savings": np.round(np.exp(rng.normal(6, 1.5, n)), 2),
            "health": rng.choice(["good", "fair", "poor"], n, p=[0.6, 0.3, 0.1]),
        }
    )


def with_keys(n: int = 1_200, seed: int = 7, **roles: object) -> sdc.Microdata:
    """The persons with six keys and a sensitive variable, without the numbers."""
    return sdc.read(
        persons(n, seed).drop("income", "rent", "savings"), keys=KEYS, sensitive="health", **roles
    )


def with_numbers(
    n: int = 1_200, seed: int = 7, keys: tuple[str, ...] = ("sex",), **roles: object
) -> sdc.Microdata:
    """The persons with three numbers and few keys."""
    frame = persons(n, seed).select(*keys, "income", "rent", "savings")
    return sdc.read(frame, keys=list(keys), numeric=["income", "rent", "savings"], **roles)


def coarse(n: int = 2_000, seed: int = 3, **roles: object) -> sdc.Microdata:
    """Persons with three keys in large cells: an area, the sex and a class of age."""
    frame = persons(n, seed).select(
        (pl.col("region") > 2).cast(pl.Int64).alias("area"), "sex", "age", "health", "income"
    )
    return sdc.read(frame.drop("income"), keys=["area", "sex", "age"], sensitive="health", **roles)


def households(homes: int = 500, seed: int = 4) -> pl.DataFrame:
    """Households of one to five in random order, their members together; their numbers mean nothing."""
    rng = np.random.default_rng(seed)
    size = rng.choice(5, homes, p=[0.3, 0.3, 0.2, 0.15, 0.05]) + 1
    home = np.repeat(np.arange(homes), size)
    n = len(home)
    number = rng.permutation(homes) + 1_000
    region = rng.choice(8, homes, p=[0.3, 0.2, 0.15, 0.1, 0.1, 0.07, 0.05, 0.03]) + 1
    return pl.DataFrame(
        {
            "home": number[home],
            "region": region[home],
            "size": size[home],
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(0, 95, n),
            "health": rng.choice(["good", "fair", "poor"], n, p=[0.6, 0.3, 0.1]),
        }
    )


def enterprises(n: int = 600, seed: int = 5) -> pl.DataFrame:
    """Enterprises with a branch, a class of size and skewed numbers."""
    rng = np.random.default_rng(seed)
    turnover = np.round(np.exp(rng.normal(13, 1.8, n)), 0)
    return pl.DataFrame(
        {
            "branch": rng.choice(list("ABCDEF"), n),
            "turnover": turnover,
            "wages": np.round(turnover * rng.uniform(0.1, 0.4, n), 0),
            "exports": np.round(turnover * np.where(rng.random(n) < 0.4, rng.uniform(0, 0.9, n), 0), 0),
        }
    )
