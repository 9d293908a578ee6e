"""What analysts compute: indicators with survey variances, and regressions."""

import numpy as np
import polars as pl

import naive_estimates as naive
import sdckit as sdc
from benchmarks._task import Task

WAGE = "log(income) ~ sex + age + I(age^2) + C(region)"


def survey(n: int) -> sdc.Microdata:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "income": rng.lognormal(9, 0.6, n),
            "region": rng.integers(0, 9, n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(16, 90, n),
            "w": rng.uniform(100, 700, n),
        }
    )
    return sdc.read(frame, numeric="income", weight="w", strata="region")


def gini(replicates: int, by: tuple[str, ...] = ("region",)) -> object:
    """Both files at once, so two estimations."""
    return lambda data: sdc.utility.indicators(
        data, data, indicators="gini", by=by, variance="bootstrap", replicates=replicates
    )


def naive_ginis(data: sdc.Microdata) -> object:
    """The same number of Gini coefficients, one after the other."""
    x, w = data.frame["income"].to_list(), data.frame["w"].to_list()
    return [naive.gini(x, w) for _ in range(2 * 101)]


TASKS = [
    Task(
        "Gini by 9 regions, 100 replicates, both files",
        survey,
        gini(100),
        sizes=(14_827, 100_000),
        theirs="giniVar",
    ),
    Task(
        "Gini, 100 replicates, both files",
        survey,
        gini(100, ()),
        sizes=(14_827,),
        naive=naive_ginis,
        naive_size=200,
    ),
    Task("Gini, 1,000 replicates, both files", survey, gini(1000, ()), sizes=(10_000, 100_000)),
    Task(
        "poverty panel by 9 regions, Taylor",
        survey,
        lambda data: sdc.utility.indicators(data, data, indicators="poverty", by="region"),
    ),
    Task("regression, both files", survey, lambda data: sdc.utility.regression(data, data, formula=WAGE)),
]
