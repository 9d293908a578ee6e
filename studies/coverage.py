"""How often 95 % intervals hold the truth, for every way to estimate a variance.

python -m studies.coverage [--runs 1000] prints the page and writes docs/studies/coverage.md.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from joblib import Parallel, delayed

import sdckit as sdc
from sdckit.estimate.catalogue import chosen
from sdckit.estimate.replicates import Method
from sdckit.estimate.table import Row, VarianceOptions, table

PAGE = Path(__file__).parents[1] / "docs" / "studies" / "coverage.md"
VARIABLE = "expenditure"
WANTED = [
    "mean", "median", {"quantile": {"p": 0.9}}, "gini", "s80s20", {"s80s20": {"ties": "split"}},
    "poverty_rate", "poverty_gap", "fgt1",
]  # fmt: skip
METHODS = [Method.TAYLOR, Method.BOOTSTRAP, Method.RESCALED, Method.CALIBRATED, Method.JACKKNIFE]
ROWS = [Row(one.indicator, VARIABLE, None) for one in chosen(WANTED)]
NAMES = [row.indicator.name for row in ROWS]

INTRODUCTION = """\
# Coverage of the confidence intervals

From a population of {population:,} persons (`sdckit.demo.survey`, variable `expenditure`) samples are drawn
again and again, {runs:,} times for each design; how often does the 95 % interval hold the number of the
population?

* *simple*: {persons:,} persons at random, equal weights;
* *small*: the same with {few:,} persons;
* *clusters*: {clusters} primary sampling units of about 40 persons, at random within eight regions, two or
  more in each, weighted by the inverse of the sampling fraction; about {cluster_records:,} persons and
  {degrees} degrees of freedom.

Bootstraps have {replicates} replicates. With {runs:,} runs a coverage has a standard error of {error:.1f}
points. `SE ratio` is the mean estimated standard error over the standard deviation of the estimates: 1 is
right.
"""


def allowed(method: Method) -> list[Row]:
    """The jackknife is refused for numbers that rest on a quantile."""
    return [row for row in ROWS if method is not Method.JACKKNIFE or row.indicator.smooth]


def population(n: int = 100_000) -> pl.DataFrame:
    """Persons with an expenditure, and the number of their cluster in its region."""
    people = sdc.demo.survey(n=n, seed=11).frame.drop_nulls(VARIABLE)
    return people.select(VARIABLE, "region", "psu").sort("region", "psu")


def simple_sample(people: pl.DataFrame, n: int, rng: np.random.Generator) -> sdc.Microdata:
    places = np.sort(rng.choice(people.height, n, replace=False))
    return sdc.read(people[places], numeric=VARIABLE)


def cluster_sample(people: pl.DataFrame, clusters: int, rng: np.random.Generator) -> sdc.Microdata:
    units = people.group_by("region", "psu", maintain_order=True).len()
    drawn = []
    for (_,), own in units.group_by("region", maintain_order=True):
        m = min(max(2, round(clusters * own.height / units.height)), own.height)
        places = np.sort(rng.choice(own.height, m, replace=False))
        drawn.append(own[places].select("region", "psu", w=pl.lit(own.height / m)))
    sample = people.join(pl.concat(drawn), on=["region", "psu"], how="inner", maintain_order="left")
    return sdc.read(sample, numeric=VARIABLE, strata="region", cluster="psu", weight="w")


def simulate(
    design: str, runs: int, *, people: pl.DataFrame, size: int, replicates: int = 100, seed: int = 1
) -> pl.DataFrame:
    """Coverage and SE ratio of every indicator and method."""
    whole = table(sdc.read(people, numeric=VARIABLE), ROWS, VarianceOptions())[0]
    truth = {row: e.value for row, e in zip(ROWS, whole, strict=True)}
    draw = cluster_sample if design == "clusters" else simple_sample
    found: dict[Method, list[list[tuple[float, float, bool]]]] = {m: [] for m in METHODS}
    for run in range(runs):
        data = draw(people, size, np.random.default_rng([seed, run]))
        for method in METHODS:
            how = VarianceOptions(method, replicates, seed=run)
            rows = allowed(method)
            each = table(data, rows, how)[0]
            found[method].append(
                [(e.value, e.variance, e.low <= truth[r] <= e.high) for e, r in zip(each, rows, strict=True)]
            )
    lines = []
    for method, results in found.items():
        values = np.array(results, dtype=float)
        for i, row in enumerate(allowed(method)):
            theta, variance, inside = values[:, i].T
            ratio = np.sqrt(variance).mean() / theta.std(ddof=1)
            lines.append((design, row.indicator.name, method.value, 100 * inside.mean(), ratio))
    return pl.DataFrame(lines, schema=["design", "indicator", "method", "coverage", "se_ratio"], orient="row")


def markdown(results: pl.DataFrame, design: str) -> str:
    lines = [["indicator", *(f"{m.value}" for m in METHODS)], ["---", *["---:"] * len(METHODS)]]
    for name in NAMES:
        part = results.filter(design=design, indicator=name)
        cells = {
            m: f"{c:.1f} ({r:.2f})" for m, c, r in part.select("method", "coverage", "se_ratio").iter_rows()
        }
        lines.append([name, *(cells.get(m.value, "refused") for m in METHODS)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def outside(results: pl.DataFrame) -> list[str]:
    """What is not within 93 to 97 %."""
    far = results.filter((pl.col("coverage") < 93) | (pl.col("coverage") > 97)).sort(
        "design", "indicator", "method"
    )
    return [f"{i}, {m}, {d}: {c:.1f} %" for d, i, m, c, _ in far.iter_rows()]


def page(
    runs: int, persons: int = 3000, few: int = 1000, clusters: int = 120, replicates: int = 100, jobs: int = 2
) -> str:
    people = population()
    sizes = {"simple": persons, "small": few, "clusters": clusters}
    parts = Parallel(jobs)(
        delayed(simulate)(design, runs, people=people, size=size, replicates=replicates)
        for design, size in sizes.items()
    )
    results = pl.concat(parts)
    sample = cluster_sample(people, clusters, np.random.default_rng(0))
    units = sample.frame.select("region", "psu").unique().height
    head = INTRODUCTION.format(
        population=people.height,
        runs=runs,
        persons=persons,
        few=few,
        clusters=units,
        cluster_records=sample.height,
        degrees=units - 8,
        replicates=replicates,
        error=100 * np.sqrt(0.05 * 0.95 / runs),
    )
    tables = [
        f"## {d.capitalize()}\n\nCoverage in percent (SE ratio).\n\n{markdown(results, d)}" for d in sizes
    ]
    far = outside(results)
    total = results.height
    words = f"## Outside 93–97 %\n\n{len(far)} of {total} combinations"
    words += ":\n\n" + "\n".join(f"* {line}" for line in far) if far else "."
    return "\n".join([head, *[t + "\n" for t in tables], words, "", READING])


READING = """\
## Reading

Every interval is symmetric about its estimate but that of S80/S20. Its estimates are skewed, and too small by
a term of order 1/n: the poorest fifth of a sample holds its fifth and the rest of the record that completes
it, which the richest fifth lacks. An earlier run of this study, with symmetric intervals, had 92.3 to 92.7 %
from 1,000 persons, with nearly all misses on one side; the bias was a quarter of a standard error. Its
interval now stands on the log scale about the ratio without that record. In a trial with 4,000 runs it
covered 94.1 % at 1,000 persons (symmetric 92.0), 94.0 % at 300 (87.7) and 92.3 % at 100 (76.8).

S80/S20 as laeken defines it jumps where incomes are rounded: all who have just the value of a quantile count
on the poorer side. With expenditure rounded to hundreds the population's own number is a matter of where the
quantile falls among its ties, and no interval holds it (54 % at 3,000 persons). `ties: split` counts them in
part, so that each group is a fifth of all weight.

The jackknife is made for smooth numbers. It is wrong for quantiles, and so for every number that rests on
one: leaving out one unit moves a quantile by a single step or not at all. An earlier run of this study, when
it was still offered there, had 52 % for the median and 71 % for the 90 % quantile of 1,000 persons, and
standard errors five times too large for S80/S20. `indicators` refuses it there and names the others.

Intervals for clusters are a little wide, because 5 % of the clusters are drawn and the intervals do not use
it (`fpc`). The size of the simple sample was raised from 1,000 to 3,000 after the smaller one had shown the
short intervals of S80/S20; both are shown.
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1000)
    text = page(parser.parse_args().runs)
    print(text)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
