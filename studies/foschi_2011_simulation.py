"""Foschi's simulation: how often a robust mixture misses contaminated records, or accuses clean ones.

python -m studies.foschi_2011_simulation [--replicates 500] prints the page and writes
docs/studies/foschi-2011-simulation.md.
"""

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from studies.foschi_2011_contamination import (
    KINDS,
    OTHERS,
    Contamination,
    Place,
    clean,
    draw_examples,
    larger,
    radial,
)

import sdckit as sdc
from sdckit.models.robust_distances import SmallSample, robust_distances, simultaneous
from sdckit.models.trimmed_mixture import trimmed_mixture

PAGE = Path(__file__).parents[1] / "docs" / "studies" / "foschi-2011-simulation.md"
VARIABLES = 6
SIZES = (90, 180)
TRIM, ALPHA = 0.25, 0.05
CLEAN = "clean"
# the paper's Table 1 and the sentence below it: type I, type II
PAPER = {
    ("separate", 90): (0.0099, 0.0359),
    ("separate", 180): (0.0142, 0.0096),
    ("radial", 90): (0.0058, 0.1538),
    ("radial", 180): (0.0098, 0.0172),
    ("diffuse", 90): (0.0062, 0.1425),
    ("diffuse", 180): (0.0095, 0.0234),
    (CLEAN, 90): (0.0002, math.nan),
    (CLEAN, 180): (0.0, math.nan),
}

Array = np.ndarray[Any, np.dtype[np.float64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]
Found = tuple[Bools, Array, str]  # atypical and the p-value behind it of each record; the model
Test = Callable[[Array], Found]


def measure(x: Array) -> Found:
    """The measure as a user calls it."""
    names = [f"x{i}" for i in range(x.shape[1])]
    data = sdc.read(pl.DataFrame(x, schema=names), numeric=names)
    found = sdc.risk.atypical_records(data, trim=TRIM, alpha=ALPHA)
    model = found.tables["strata"].select("components", "family").row(0)
    return found.parts["atypical"].to_numpy(), found.parts["p_value"].to_numpy(), "{} × {}".format(*model)


def pieces(
    x: Array,
    *,
    components: int = 3,
    floor: int | None = None,
    small_sample: SmallSample = SmallSample.FORMULA,
) -> Found:
    """The same from the functions below the measure, where more can be chosen.

    floor: the smallest component in records; a tenth of them, and at least p + 2, unless told.
    """
    n, p = x.shape
    away = x - np.median(x, axis=0)
    fit = trimmed_mixture(
        away / np.median(np.abs(away), axis=0),
        trim=TRIM,
        components=range(1, components + 1),
        smallest=max(p + 2, math.ceil(n / 10)) if floor is None else floor,
    )
    found = robust_distances(fit, alpha=ALPHA, small_sample=small_sample)
    model = f"{fit.mixture.components} × {fit.mixture.family.value}"
    return found.atypical, found.p_value, model


def known(x: Array) -> Found:
    """The two-stage test by who knows both components: χ² limits, nothing estimated."""
    from scipy.stats import chi2

    place = Place(x.shape[1])
    values = chi2.sf(place.squares(x), place.p)
    nearest = values.argmax(axis=1)
    limits = np.empty(2)
    for g in range(2):
        own = values[nearest == g, g]
        at_once = simultaneous(ALPHA, len(own))
        limits[g] = ALPHA if (own < at_once).any() else at_once
    largest = values.max(axis=1)
    return largest < limits[nearest], largest, "known"


SETTINGS: dict[str, Test] = {
    "up to 5 components of 8 records or more": partial(pieces, components=5, floor=VARIABLES + 2),
    "no small-sample factor": partial(pieces, small_sample=SmallSample.NONE),
}


def sample(kind: Contamination | None, n: int, replicate: int, seed: int) -> tuple[Array, int]:
    """Clean and then contaminated records, and how many are contaminated: a fifth of the smaller component.

    The clean records of a replicate are the same for every kind of contamination.
    """
    rng = np.random.default_rng([seed, n, replicate])
    place = Place(VARIABLES)
    x = clean(place, n, rng)
    if kind is None:
        return x, 0
    m = round(0.2 * (n - larger(n)))
    return np.vstack([x, kind(place, m, rng)]), m


@dataclass(frozen=True)
class Errors:
    """Per replicate: shares of clean records declared atypical and of contaminated ones missed.

    at_once: of both, had every record been tested at α without a first stage.
    """

    first: Array
    second: Array
    first_at_once: Array
    second_at_once: Array
    models: Array  # the number of components and the family chosen, as text

    def head(self, replicates: int) -> "Errors":
        """The first replicates."""
        return Errors(*(getattr(self, f.name)[:replicates] for f in fields(self)))

    def figure(self, which: str) -> str:
        """Mean (standard error)."""
        values = getattr(self, which)
        if np.isnan(values).any():
            return "–"
        return f"{values.mean():.4f} ({values.std(ddof=1) / math.sqrt(len(values)):.4f})"


def one(test: Test, kind: Contamination | None, n: int, replicate: int, seed: int) -> tuple[float | str, ...]:
    """The errors in one replicate, in the order of the fields of Errors."""
    x, m = sample(kind, n, replicate, seed)
    atypical, p_value, model = test(x)
    shares = []
    for rejected in (atypical, p_value < ALPHA):
        shares += [float(rejected[:n].mean()), float(1 - rejected[n:].mean()) if m else math.nan]
    return (*shares, model)


def simulate(
    test: Test, kind: Contamination | None, n: int, replicates: int, *, seed: int = 1, jobs: int = 1
) -> Errors:
    """The errors of a test in many replicates; the same whatever the number of processes."""
    from joblib import Parallel, delayed

    each = Parallel(n_jobs=jobs)(delayed(one)(test, kind, n, r, seed) for r in range(replicates))
    return Errors(*(np.array(column) for column in zip(*each, strict=True)))


def rows(lines: list[list[str]], left: int = 1) -> str:
    """A table whose first columns are words."""
    rule = ["---"] * left + ["---:"] * (len(lines[0]) - left)
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:]))


def beside_the_paper(found: dict[tuple[str, int], Errors]) -> str:
    """Table 1, ours and the paper's."""
    lines = [["contamination", "n", "type I ours", "type I paper", "type II ours", "type II paper"]]
    for (kind, n), errors in found.items():
        first, second = PAPER[kind, n]
        printed = "–" if math.isnan(second) else f"{second:.4f}"
        ours = errors.figure("first"), errors.figure("second")
        lines.append([kind, str(n), ours[0], f"{first:.4f}", ours[1], printed])
    return rows(lines, left=1)


def stages(found: dict[tuple[str, int], Errors], knowing: dict[tuple[str, int], Errors]) -> str:
    """Errors without the first stage, the misses that go back to it, and errors with known components."""
    head = ["contamination", "n", "no first stage: I", "II", "misses due to the first stage"]
    lines = [[*head, "components known: I", "II"]]
    for (kind, n), errors in found.items():
        share = "–"
        if errors.second.sum() > 0:
            share = f"{100 * (1 - errors.second_at_once.sum() / errors.second.sum()):.0f} %"
        own = errors.figure("first_at_once"), errors.figure("second_at_once"), share
        lines.append([kind, str(n), *own, *(knowing[kind, n].figure(which) for which in ("first", "second"))])
    return rows(lines)


def by_name(found: dict[tuple[str, int], Errors], title: str) -> str:
    """Errors under other settings or definitions."""
    lines = [[title, "n", "type I", "type II"]]
    lines += [[name, str(n), e.figure("first"), e.figure("second")] for (name, n), e in found.items()]
    return rows(lines)


INTRODUCTION = """\
F. Foschi (*Disclosure risk for high dimensional business microdata*, 2011) tests by simulation how well a
robust mixture of normal distributions tells contaminated records from clean ones. The same is done here with
`sdckit.risk.atypical_records` as it is: `trim=0.25`, `alpha=0.05`, all else as given.

* **Type I error** (swamping): the share of the n clean records that are declared atypical.
* **Type II error** (masking): the share of the contaminated records that are not."""

DEFINITIONS = """\
## The data

As in the paper: six variables; n = 90 or 180 clean records from two spherical normal components of variance
1, five ninths around 0 and four ninths around 2c·(1, …, 1) with c = (χ²₀.₉₉/6)^½. So the centres are 2r apart
with r = (χ²₀.₉₉)^½ = 4.1, and the spheres that hold 0.99 of each component touch. Contaminated records are
*added*, a fifth of the smaller component: 8 to the 90, 16 to the 180.

The paper shows the contaminations only in a picture. **Ours**, written down before anything was run:

* *separate*: a third spherical component of variance 1, as far (2r) from both centres as they are apart;
* *radial*: around the two centres (five and four ninths), spherical normal with variance 9;
* *diffuse*: evenly spread over the smallest cube that holds both spheres.

Radial and diffuse records that fall into one of the two spheres are drawn again: such a record would be
contaminated in name only. In two variables this looks so:"""

READING = """\
* **Type I errors** are of the same order, between half and 1.7 times the paper's; on clean data next to
  nothing is rejected, as in the paper.
* **Type II errors** show the paper's pattern, most at n = 90 for radial and then diffuse contamination and
  few at n = 180, but ours are smaller: radial ones by a factor of about 2.5, diffuse ones of about 6, and of
  the separate cluster we miss next to nothing where the paper misses 1 to 4 %.
* How many are missed depends on where the contaminated records lie, which the paper does not say. With nearer
  ones (separate 1.5 r away, radial of variance 5, diffuse in a shell, [below](#other-definitions)) we miss
  more than the paper: in every row its type II error lies between ours here and ours there (at n = 180,
  separate, within the error of the simulation). So the definitions are enough to explain the difference, but
  they need not be the only reason: a search from many starts, as ours, may find better fits than the paper's,
  and which small-sample factor it used is not known."""

STAGES = """\
* The first stage costs power in small samples: eight contaminated records belong to two components, and in
  one of them there may be none outside the simultaneous limit; then the milder ones pass. In return it keeps
  clean data clean: without it a hundredth or two of the clean records would be rejected.
* Who knows the components misses next to nothing and, once a component is rejected, accuses one clean record
  in twenty, as α says. Our test, like the paper's, accuses fewer and misses more: its limits are wide.
  Trimmed records are referred to an F distribution, which for components of 40 to 60 records reaches far out;
  contaminated records count in the size of a component and so enlarge its consistency factor; and the
  small-sample factor is made for full covariance matrices, while spherical ones, which BIC chooses here, have
  hardly any small-sample bias."""

SETTINGS_READ = """\
The paper names neither the largest number of components nor a smallest size of a component; here both make no
difference. Without the small-sample factor type I errors are closer to α and fewer records are missed: in
this design, with spherical components, the factor is too cautious. That is no reason to leave it out
elsewhere."""

CHOSEN = """\
**What was chosen when.** The three definitions at the top were written down before anything was run, but with
the paper's Table 1 at hand: without drawing again even who knows both components would miss 3 % of the radial
records of variance 9, and 13 % of those of variance 5, more than the 0.0172 of the paper at n = 180. A pilot
run of 40 replicates with other random numbers followed. The definitions of the last table were added after
it, to see how much depends on them; none was put in the place of the first. No option of the software was set
by these results."""


def models(table: dict[tuple[str, int], Errors]) -> str:
    """The share of replicates in which two components, and two of one spherical family, were chosen."""
    chosen = np.concatenate([errors.models for errors in table.values()])
    two = np.char.startswith(chosen, "2 ")
    spherical = two & np.char.endswith(chosen, "II")
    return f"{100 * two.mean():.1f} %, and with spherical ones in {100 * spherical.mean():.1f} %"


def page(
    table: dict[tuple[str, int], Errors],
    knowing: dict[tuple[str, int], Errors],
    settings: dict[tuple[str, int], Errors],
    others: dict[tuple[str, int], Errors],
) -> str:
    """The page of the documentation."""
    replicates, fewer = (len(next(iter(found.values())).first) for found in (table, settings))
    usual = {("the measure", n): table["radial", n].head(fewer) for n in SIZES}
    return f"""# Atypical records: Foschi's simulation

*Written by `python -m studies.foschi_2011_simulation --replicates {replicates} --fewer {fewer}`.*

{INTRODUCTION}

{DEFINITIONS}

![The three contaminations in two variables](foschi-2011-simulation.png)

## Table 1: ours beside the paper's

{replicates} replicates; standard errors of the simulation in brackets. BIC chose two components in
{models(table)} of the replicates.

{beside_the_paper(table)}

{READING}

## Why are records missed?

*No first stage*: the errors had every record been tested at α = 0.05 at once. *Components known*: the
two-stage test of who need not estimate anything, with χ² limits.

{stages(table, knowing)}

{STAGES}

## Other settings

Radial contamination only, {fewer} replicates each, the first ones of those above.

{by_name(usual | settings, "setting")}

{SETTINGS_READ}

(other-definitions)=
## Other definitions of the contaminations

The paper only draws them. The same with other definitions, {fewer} replicates each:

{by_name(others, "definition")}

{CHOSEN}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=500)
    parser.add_argument("--fewer", type=int, default=60, help="replicates of the other settings")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=PAGE)
    given = parser.parse_args()
    run = partial(simulate, replicates=given.replicates, seed=given.seed, jobs=given.jobs)
    kinds = {**KINDS, CLEAN: None}
    table = {(k, n): run(measure, kinds[k], n) for k in kinds for n in SIZES}
    knowing = {(k, n): run(known, kinds[k], n) for k in kinds for n in SIZES}
    run = partial(run, replicates=given.fewer)
    settings = {(name, n): run(test, radial, n) for name, test in SETTINGS.items() for n in SIZES}
    others = {(name, n): run(measure, kind, n) for name, kind in OTHERS.items() for n in SIZES}
    draw_examples(given.out.with_suffix(".png"))
    text = page(table, knowing, settings, others)
    print(text)
    given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
