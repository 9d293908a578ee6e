"""How often 95 % intervals from synthetic files hold the truth: full and partial synthesis, 1 to 10 files.

python -m studies.coverage_of_synthetic_estimates [--runs 1000] prints the page and writes it to
docs/studies/coverage-of-synthetic-estimates.md.
"""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from sdckit._support.arrays import Floats
from sdckit.data.microdata import Microdata
from sdckit.estimate.combine import Synthesis, combine
from sdckit.estimate.variance import Estimate, interval

PAGE = Path(__file__).parents[1] / "docs" / "studies" / "coverage-of-synthetic-estimates.md"
FILES = (1, 5, 10)
SYNTHESES: dict[str, dict[str, Any]] = {
    "full": {},
    "full, tails=0": {"tails": 0},
    "full, gain=0": {"gain": 0},
    "partial": {"variables": ["works", "expenditure"]},
}
MEANS = {"expenditure": "mean expenditure", "income": "mean income", "works": "share that works"}
MODELS = {"ols": ("expenditure", "age", "sex", "works"), "logit": ("works", "age", "sex")}
LEVEL = 0.95
SAMPLE = "the sample itself"
SCHEMA = ("synthesis", "files", "estimate", "value", "variance", "covered")
LOW, HIGH = 93.0, 97.0

INTRODUCTION = """\
# Coverage of estimates from synthetic files

From a population of {population:,} adults (`sdckit.demo.survey`) {runs:,} samples of {records:,} are drawn at
random, with region, sex, age, education, whether they work, income and expenditure. Each is synthesised ten
times by `sdckit.synthesize` with its defaults, and means, a share and the coefficients of two regressions
(expenditure on age, sex and work by least squares, work on age and sex by a logit; variances by
linearisation) are estimated from the first file, the first five and all ten. The rules by which they are
combined are those of `indicators` and `regression`: for full synthesis `sample` (T = v̄·(1 + 1/m), Raab,
Nowok & Dibben 2016), for partial synthesis `partial` (T = v̄ + b/m, Reiter 2003). How often does the 95 %
interval hold the number of the population?

* *full*: all columns are drawn anew; *tails=0*: extreme numbers are released as they are; *gain=0*: the trees
  grow until their leaves have fewer than ten records;
* *partial*: work and expenditure are drawn anew, the rest is kept.

With {runs:,} runs a coverage of 95 % has a standard error of {error:.1f} points. In brackets the bias, in
standard deviations of the estimate, and the SE ratio: the mean estimated standard error over the standard
deviation of the estimates, 1 being right.
"""


def population(n: int = 100_000) -> pl.DataFrame:
    """Adults without missing values."""
    people = sdc.demo.survey(n=n, seed=11).frame.filter(pl.col("age") >= 16)
    works = (pl.col("labour_status") == 1).fill_null(False).cast(pl.Int64).alias("works")
    columns = ["region", "sex", "age", "education", works, "income", "expenditure"]
    return people.select(columns).drop_nulls()


def microdata(frame: pl.DataFrame) -> Microdata:
    return sdc.read(
        frame,
        keys=["region", "sex", "age", "education"],
        sensitive="works",
        numeric=["income", "expenditure"],
    )


def estimates(frame: pl.DataFrame) -> dict[str, tuple[float, float]]:
    """Value and variance of every estimate in one file."""
    found = {}
    n = frame.height
    for name, title in MEANS.items():
        values = frame[name].cast(pl.Float64).to_numpy()
        found[title] = float(values.mean()), float(values.var(ddof=1) / n)
    for family, (target, *terms) in MODELS.items():
        y = frame[target].cast(pl.Float64).to_numpy()
        x = np.column_stack([np.ones(n), *(frame[t].cast(pl.Float64).to_numpy() for t in terms)])
        beta, covariance = (least_squares if family == "ols" else logit)(x, y)
        for k, term in enumerate(terms, 1):
            found[f"{family}: {term}"] = float(beta[k]), float(covariance[k, k])
    return found


def least_squares(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Coefficients and their variance by linearisation."""
    bread = np.linalg.inv(x.T @ x)
    beta = bread @ (x.T @ y)
    return beta, sandwich(x, y - x @ beta, bread)


def logit(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The same of a logistic regression, by Newton's method on standardised columns."""
    scale = np.concatenate([[1.0], x[:, 1:].std(axis=0)])
    z = x / scale
    beta = np.zeros(z.shape[1])
    for _ in range(12):
        p = 1 / (1 + np.exp(-z @ beta))
        bread = np.linalg.inv((z * (p * (1 - p))[:, None]).T @ z)
        beta = beta + bread @ (z.T @ (y - p))
    return beta / scale, sandwich(z, y - p, bread) / np.outer(scale, scale)


def sandwich(x: Floats, residuals: Floats, bread: Floats) -> Floats:
    """The covariance of the sums of scores between bread."""
    scores = (x * residuals[:, None]) @ bread
    return np.asarray(scores.T @ scores * len(x) / (len(x) - 1))


def simulate(runs: Iterable[int], *, people: pl.DataFrame, records: int, seed: int = 1) -> pl.DataFrame:
    """A row per run, synthesis, number of files and estimate: value, variance, and whether it covers."""
    truth = {name: value for name, (value, _) in estimates(people).items()}
    rows: list[tuple[Any, ...]] = []

    def note(synthesis: str, files: int, name: str, found: Estimate) -> None:
        covered = found.low <= truth[name] <= found.high
        rows.append((synthesis, files, name, found.value, found.variance, covered))

    for run in runs:
        rng = np.random.default_rng([seed, run])
        sample = microdata(people[np.sort(rng.choice(people.height, records, replace=False))])
        for name, (value, variance) in estimates(sample.frame).items():
            note(SAMPLE, 1, name, interval(value, variance, records - 1, LEVEL))
        for synthesis, options in SYNTHESES.items():
            sets = sdc.synthesize(sample, m=max(FILES), seed=run, **options)
            each = [estimates(made.frame) for made in sets]
            rule = Synthesis.PARTIAL if "variables" in options else Synthesis.SAMPLE
            for name in truth:
                every = [interval(*one[name], records - 1, LEVEL) for one in each]
                for files in FILES:
                    note(synthesis, files, name, combine(every[:files], synthesis=rule, level=LEVEL))
    done = pl.DataFrame(rows, schema=list(SCHEMA), orient="row")
    return done.with_columns(truth=pl.col("estimate").replace_strict(truth))


def summary(results: pl.DataFrame) -> pl.DataFrame:
    """Coverage in percent, bias in standard deviations, and SE ratio."""
    spread = pl.col("value").std()
    return results.group_by("synthesis", "files", "estimate", maintain_order=True).agg(
        (100 * pl.col("covered").mean()).alias("coverage"),
        ((pl.col("value") - pl.col("truth")).mean() / spread).alias("bias"),
        (pl.col("variance").sqrt().mean() / spread).alias("se_ratio"),
    )


def markdown(table: pl.DataFrame, synthesis: str) -> str:
    """Estimates by the number of files."""
    heads = ["estimate", SAMPLE, *(f"m = {files}" for files in FILES)]
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    for name in table["estimate"].unique(maintain_order=True):
        cells = [name]
        for kind, files in ((SAMPLE, 1), *((synthesis, files) for files in FILES)):
            row = table.filter(synthesis=kind, files=files, estimate=name).row(0, named=True)
            cells.append(f"{row['coverage']:.1f} ({row['bias']:+.2f}, {row['se_ratio']:.2f})")
        lines.append(cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def outside(table: pl.DataFrame) -> list[str]:
    """What is not within 93 to 97 %."""
    far = table.filter((pl.col("coverage") < LOW) | (pl.col("coverage") > HIGH))
    return [f"{s}, m = {m}, {e}: {c:.1f} %" for s, m, e, c, *_ in far.iter_rows()]


def page(results: pl.DataFrame, *, runs: int, records: int, people: int) -> str:
    """The page of these results."""
    table = summary(results)
    error = 100 * np.sqrt(0.05 * 0.95 / runs)
    head = INTRODUCTION.format(population=people, runs=runs, records=records, error=error)
    tables = [f"## {name.capitalize()}\n\n{markdown(table, name)}\n" for name in SYNTHESES]
    far = outside(table)
    words = f"## Outside 93–97 %\n\n{len(far)} of {table.height} combinations"
    words += ":\n\n" + "\n".join(f"* {line}" for line in far) + "\n" if far else ".\n"
    return "\n".join([head, *tables, words, READING])


READING = """\
## Reading

**Full synthesis, one file: 95.0 to 99.2 %.** Donors are spread over the values of a leaf (decision 12), so
that a file varies less than the rule T = 2·v̄ expects: intervals are up to 36 % wider than they need be.
**Five and ten files: 93 to 97 % for most estimates.** Two are lower. The mean income has 90.7 % with ten
files (the sample itself 93.0 %, since incomes are skewed), with a bias of −0.18 standard deviations;
releasing extreme values as they are does not help (90.7 %). Work on sex has 92.0 %: a tree asks for a sure
gain before it splits, so that weak relations are lost in part, and the coefficient is pulled towards 0 by a
third of a standard deviation. With gain=0 it covers 94.6 %, but such trees tell more of the people of the
sample than of others.

More files do not help coverage: they narrow the interval and leave the error of the trees, which no file
shows. Coefficients that the trees weaken are biased by up to 0.4 standard deviations.

**Partial synthesis needs several files.** One file has 81.8 to 94.6 % where a synthetic column is used: the
rule has no term for the synthesis as long as there is nothing to see it vary, and `indicators` and
`regression` say so. With five files intervals cover 91.9 to 97.7 %. The coefficient of sex, by which a tree
of expenditure splits only where the gain is sure, is biased by 0.9 standard deviations, which wider
intervals (SE ratio 1.1) do not quite make up for.

Not studied here: weights, clusters and households, whose design effects a synthesis may lose.
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--records", type=int, default=1000)
    asked = parser.parse_args()
    people = population()
    results = simulate(range(asked.runs), people=people, records=asked.records)
    text = page(results, runs=asked.runs, records=asked.records, people=people.height)
    print(text)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
