"""The project's own artificial household survey."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sdckit._support.arrays import Floats, Ints
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.demo._draw import check, level, normals, pick, uniforms
from sdckit.demo._survey_labels import VALUE_LABELS, VARIABLE_LABELS

POPULATION = 5_200_000
HOUSEHOLDS_PER_CLUSTER = 12

# region, urban (1) or rural (2), share of the sample, share of the population: small strata are oversampled
STRATA = np.array(
    [
        (1, 1, 0.300, 0.330),
        (2, 1, 0.130, 0.130),
        (2, 2, 0.060, 0.060),
        (3, 1, 0.055, 0.040),
        (3, 2, 0.165, 0.170),
        (4, 1, 0.040, 0.035),
        (4, 2, 0.090, 0.105),
        (5, 1, 0.030, 0.020),
        (5, 2, 0.050, 0.055),
        (6, 2, 0.035, 0.030),
        (7, 2, 0.025, 0.015),
        (8, 1, 0.020, 0.010),
    ]
)
REGION_INCOME = np.array([0.25, 0.12, 0.0, -0.05, -0.10, -0.18, -0.25, 0.05])
REGION_FOREIGN = np.array([0.09, 0.05, 0.02, 0.03, 0.02, 0.02, 0.04, 0.08])
HOUSEHOLD_SIZES = {
    1: (0.14, 0.20, 0.20, 0.20, 0.13, 0.07, 0.03, 0.02, 0.007, 0.003),
    2: (0.08, 0.14, 0.16, 0.18, 0.16, 0.12, 0.07, 0.05, 0.025, 0.015),
}
SCHOOL_YEARS = np.array([0, 6, 9, 12, 14, 16])
# the lowest age at which each further level of education can be complete
COMPLETED_AT = (12, 15, 18, 20, 22)

ROLES: dict[str, str | tuple[str, ...]] = {
    "keys": ("region", "urban", "sex", "age", "education", "citizenship", "labour_status", "household_size"),
    "numeric": ("income", "expenditure", "savings", "wealth_index"),
    "sensitive": ("literacy", "health"),
    "weight": "weight",
    "strata": ("stratum",),
    "cluster": "psu",
    "household": "household_id",
    "id": "person_id",
}

# item non-response; income has its own rule, because the better-off answer less often
NO_ANSWER = {
    "relationship_status": 0.01,
    "citizenship": 0.005,
    "education": 0.008,
    "literacy": 0.01,
    "health": 0.02,
    "occupation": 0.02,
    "expenditure": 0.03,
    "savings": 0.07,
}

Columns = dict[str, NDArray[Any]]


def survey(n: int = 10_000, seed: int = 1) -> Microdata:
    """An artificial household survey of n persons. No record describes anybody.

    Households are drawn in clusters within strata (region by urban or rural) of a made-up country of
    5.2 million; households are complete, but for the last one drawn, which is cut to give exactly n persons.
    Categories are whole numbers with value labels. Wages follow a Mincer equation,

        log wage = b₀ + 0.085·years of school + 0.042·experience − 0.0007·experience² − 0.22·woman + …

    with log-normal scatter and a Pareto upper tail (exponent 2.5). Expenditure, savings, wealth and housing
    follow the income of the household. Round ages are too frequent, as in most surveys.

    Weights are positive, the same for all members of a household, and add up to the population.
    Missing values: under-15s have no income or savings, under-7s no literacy, persons not at work no
    occupation; elsewhere up to 9 % of the answers are missing, high incomes more often than low ones.
    Files of fewer than 1,200 records may have strata with one cluster or none.

    The same n and seed give the same data. Another n gives another file, not a longer one.

    >>> survey(1_000, seed=7)
    Microdata: 1,000 records × 25 columns (polars)
      ...
    """
    return Microdata.of(survey_frame(n, seed), labels=Labels(VARIABLE_LABELS, VALUE_LABELS), **ROLES)


def survey_frame(n: int = 10_000, seed: int = 1) -> pl.DataFrame:
    """The data frame of `survey`: exactly n persons, the same for the same n and seed."""
    check(n, seed)
    household = _households(n, seed)
    members = household["household_size"]
    of_household = np.repeat(np.arange(len(members)), members)
    status = normals(seed, "household status", len(members))[of_household]
    person: Columns = {"person_id": np.arange(1, n + 1), "household_id": of_household + 1}
    person |= {name: values[of_household] for name, values in household.items()}
    person |= _relations_and_ages(person, seed)
    person |= _background(person, status, seed)
    person |= _work(person, seed)
    person["income"] = _income(person, seed)
    person |= _living(person, status, seed)
    person["weight"] = _weights(person, seed)
    frame = pl.DataFrame({name: person[name] for name in VARIABLE_LABELS})
    return frame.with_columns(
        pl.when(pl.Series(asked)).then(pl.col(name)) for name, asked in _answered(person, seed).items()
    )


def _households(n: int, seed: int) -> Columns:
    """Households sorted by stratum and cluster; the last one drawn is cut so that n persons result."""
    # small files visit fewer households a cluster, so that their strata still have several clusters
    visited = min(max(n // 600, 2), HOUSEHOLDS_PER_CLUSTER)
    clusters = -(-n // visited)
    # steps of the golden ratio: every stratum gets its share of the clusters, however few are drawn
    steps = (uniforms(seed, "strata", 1) + np.arange(clusters) * 0.6180339887498949) % 1.0
    cluster = np.repeat(np.arange(clusters), visited)[:n]
    stratum = pick(steps, STRATA[:, 2])[cluster]
    u = uniforms(seed, "household size", n)
    size = 1 + np.where(
        STRATA[stratum, 1] == 1, pick(u, HOUSEHOLD_SIZES[1]), pick(u, HOUSEHOLD_SIZES[2])
    ).astype(np.int64)
    total = np.cumsum(size)
    last = int(np.searchsorted(total, n))
    size[last] -= total[last] - n
    order = np.argsort(stratum[: last + 1], kind="stable")
    cluster, stratum = cluster[order], stratum[order]
    return {
        "stratum": stratum + 1,
        "psu": 1 + np.cumsum(np.diff(cluster, prepend=cluster[0]) != 0),
        "region": STRATA[stratum, 0].astype(np.int64),
        "urban": STRATA[stratum, 1].astype(np.int64),
        "household_size": size[order],
    }


def _relations_and_ages(person: Columns, seed: int) -> Columns:
    """Relation to the head, sex, age and relationship status, consistent within the household."""
    h, size = person["household_id"] - 1, person["household_size"]
    n, households = len(h), int(h[-1]) + 1
    position = np.arange(n) - np.searchsorted(h, h)

    z, u = normals(seed, "head age", households)[h], uniforms(seed, "head kind", households)[h]
    alone = np.where(u < 0.4, 27 + 5 * z, 67 + 10 * z)
    head_age = np.clip(np.floor(np.where(size == 1, alone, 45 + 14 * z)), 18, 95)
    woman_heads = uniforms(seed, "head sex", households)[h] < np.where(size == 1, 0.55, 0.22)
    couple = (size > 1) & (uniforms(seed, "couple", households)[h] < np.where(woman_heads, 0.25, 0.82))
    gap = np.where(woman_heads, 3, -3) + 4 * normals(seed, "partner age", households)[h]
    partner_age = np.clip(np.floor(head_age + gap), 18, 95)

    u = uniforms(seed, "relation", n)
    child = np.where(head_age < 60, 0.76, 0.45)
    relation = np.select(
        [position == 0, couple & (position == 1), u < child, u < child + 0.06, u < 0.93, u < 0.98],
        [1, 2, 3, np.where(head_age < 60, 5, 4), np.where(head_age < 48, 6, 4), 6],
        7,
    )
    u = uniforms(seed, "age", n)
    younger = np.where(couple, np.minimum(head_age, partner_age), head_age)
    parents_age = 18 + u * (np.minimum(younger, 42) - 18)
    age = np.choose(
        relation - 1,
        [
            head_age,
            partner_age,
            younger - parents_age,
            u * np.clip(head_age - 40, 1, 25),
            np.minimum(head_age + 18 + 18 * u, 98),
            75 * u**1.4,
            18 + 40 * u**2,
        ],
    )
    # ages ending in 0 and 5 are reported too often, as in most surveys
    heaped = (age >= 23) & (uniforms(seed, "heaping", n) < np.where(person["urban"] == 1, 0.25, 0.45))
    age = np.where(heaped, 5 * np.floor(age / 5 + 0.5), np.floor(age)).astype(np.int64)
    other_sex = uniforms(seed, "sex", n) < 0.5
    woman = np.select([relation == 1, relation == 2], [woman_heads, ~woman_heads], other_sex)
    married = uniforms(seed, "married", households)[h] < 0.85
    single = _status_of_singles(age, woman, uniforms(seed, "relationship status", n))
    return {
        "relation_to_head": relation.astype(np.int64),
        "sex": np.where(woman, 2, 1).astype(np.int64),
        "age": age,
        "relationship_status": np.where(couple & (relation <= 2), np.where(married, 2, 3), single),
    }


def _status_of_singles(age: Ints, woman: Ints, u: Floats) -> Ints:
    """Relationship status of those without a partner in the household."""
    widowed = np.clip((age - 40) / 55, 0, 0.85) * np.where(woman, 1.0, 0.5)
    divorced = np.where(age >= 24, 0.2, 0.0)
    away = np.where(age >= 28, 0.12, 0.0)
    never = np.clip(1 - (age - 16) / 50, 0.05, 1)
    weights = np.stack([never, away, 0 * away, divorced, widowed], axis=1)
    return np.where(age < 16, 1, 1 + pick(u, weights))


def _background(person: Columns, status: Floats, seed: int) -> Columns:
    """Citizenship, education, literacy and health."""
    h, region, age, n = person["household_id"] - 1, person["region"], person["age"], len(status)
    urban, woman = person["urban"] == 1, person["sex"] == 2

    foreign = uniforms(seed, "foreign household", int(h[-1]) + 1)[h] / REGION_FOREIGN[region - 1]
    from_abroad = (foreign < 1) & (uniforms(seed, "foreign person", n) < 0.88)
    citizenship = np.where(from_abroad, np.where(foreign < 0.65, 2, 3), 1)

    score = 0.35 * status + 0.4 * normals(seed, "education", n) + 0.5 * urban - 0.022 * (age - 30)
    score += 0.8 * REGION_INCOME[region - 1] - 0.2 * (woman & (age > 35))
    education = np.minimum(level(score, (-1.1, -0.5, 0.5, 1.05, 1.2)), level(age, COMPLETED_AT))
    schooling = np.where(age < 15, age - 6, SCHOOL_YEARS[education - 1])
    literacy = level(0.4 * schooling + normals(seed, "literacy", n), (0.6, 2.0))
    health = level(0.03 * (age - 45) - 0.2 * status + 0.8 * normals(seed, "health", n), (-0.9, 0.4, 1.2, 2.1))
    return {"citizenship": citizenship, "education": education, "literacy": literacy, "health": health}


def _work(person: Columns, seed: int) -> Columns:
    """Labour status and, for everyone, the occupation held if at work."""
    age, education, n = person["age"], person["education"], len(person["age"])
    rural, woman = person["urban"] == 2, person["sex"] == 2
    employee = 0.42 + 0.06 * education - 0.12 * woman
    own_account = 0.16 + 0.14 * rural
    unemployed = 0.10 - 0.006 * education + 0.05 * (age < 30)
    student = np.interp(age, (15, 17, 19, 24, 30), (6.0, 3.0, 1.0, 0.2, 0.0))
    retired = np.interp(age, (54, 62, 66, 75), (0.0, 0.5, 3.0, 12.0))
    home = 0.06 + 0.28 * woman
    weights = np.stack([employee, own_account, unemployed, student, retired, home], axis=1)
    labour = np.where(age < 15, 7, 1 + pick(uniforms(seed, "labour status", n), weights))

    skill = education + 0.9 * normals(seed, "occupation", n)
    by_skill = np.array([9, 8, 7, 5, 4, 3, 2, 1])
    occupation = by_skill[level(skill, (1.6, 2.2, 2.9, 3.9, 4.4, 5.1, 6.7)) - 1]
    farms = (skill < 3.6) & (uniforms(seed, "farming", n) < np.where(rural, 0.6, 0.04))
    return {"labour_status": labour, "occupation": np.where(farms, 6, occupation)}


def _income(person: Columns, seed: int) -> Floats:
    """Mincer earnings times a share for each labour status, with a Pareto upper tail (exponent 2.5)."""
    age, labour, n = person["age"], person["labour_status"], len(person["age"])
    years = SCHOOL_YEARS[person["education"] - 1]
    experience = np.clip(age - np.maximum(years, 9) - 6, 0, 45)
    log_wage = 7.35 + 0.085 * years + 0.042 * experience - 0.0007 * experience**2
    log_wage += -0.22 * (person["sex"] == 2) + 0.12 * (person["urban"] == 1) - 0.15 * (labour == 2)
    log_wage += REGION_INCOME[person["region"] - 1] + 0.42 * normals(seed, "wage", n)
    # normal plus exponential on the log scale: log-normal body, Pareto tail
    log_wage += -0.4 * np.log(uniforms(seed, "wage tail", n))
    share = np.array([1.0, 1.0, 0.25, 0.15, 0.5, 0.2, 0.0])[labour - 1]
    paid = np.array([1.0, 0.98, 0.4, 0.25, 0.88, 0.2, 0.0])[labour - 1]
    receives = uniforms(seed, "receives income", n) < paid
    return np.where(receives, np.round(share * np.exp(log_wage), -1), 0.0)


def _living(person: Columns, status: Floats, seed: int) -> Columns:
    """Expenditure and savings of the person; wealth and housing of the household."""
    h, age, n = person["household_id"] - 1, person["age"], len(status)
    households = int(h[-1]) + 1
    needs = np.bincount(h, np.where(age < 15, 0.3, 0.5)) + 0.5
    means = np.log(np.bincount(h, person["income"]) / needs + 800)[h] - 8.3
    urban = person["urban"] == 1

    spent = 8.0 + 0.65 * means + 0.1 * status + 0.3 * normals(seed, "consumption", households)[h]
    spent += 0.15 * normals(seed, "own consumption", n) - 0.5 * (age < 15)
    saved = 7.2 + 1.1 * means + 0.015 * (age - 40) + 0.9 * normals(seed, "savings", n)
    saves = normals(seed, "saves", n) + 0.5 * means > -0.7
    wealth = 0.55 * means + 0.45 * status + 0.5 * (urban - 0.5)
    wealth += 0.45 * normals(seed, "wealth", households)[h]
    comfort = -wealth - 0.6 * urban

    def housing(name: str, cuts: tuple[float, ...]) -> Ints:
        return level(comfort + 0.6 * normals(seed, name, households)[h], cuts)

    return {
        "expenditure": np.round(np.exp(spent), -1),
        "savings": np.where(saves, np.round(np.exp(saved), -1), 0.0),
        "wealth_index": np.round(wealth, 3),
        "water": housing("water", (-0.5, 0.2, 0.9, 1.6)),
        "toilet": housing("toilet", (-0.4, 0.5, 1.4)),
        "roof": housing("roof", (-0.5, 0.8, 1.3)),
    }


def _weights(person: Columns, seed: int) -> Floats:
    """Inverse sampling and response rates, scattered, then calibrated to the population of the strata."""
    h, stratum, size = person["household_id"] - 1, person["stratum"] - 1, person["household_size"]
    response = 0.93 - 0.12 * (person["urban"] == 1) - 0.10 * (size == 1)
    scatter = np.clip(normals(seed, "weight", int(h[-1]) + 1)[h], -2.5, 2.5)
    weight = np.exp(0.25 * scatter) / response
    reached = np.bincount(stratum, weight, minlength=len(STRATA))
    weight *= (STRATA[:, 3] / np.where(reached > 0, reached, 1.0))[stratum]
    # a population of at least five times the sample keeps the weights of huge files above one
    population = max(POPULATION, 5 * len(weight))
    return np.asarray(np.round(population * weight / weight.sum(), 2))


def _answered(person: Columns, seed: int) -> dict[str, NDArray[np.bool_]]:
    """Where each variable was asked and answered."""
    n = len(person["age"])
    answered = {name: uniforms(seed, f"{name} answered", n) >= share for name, share in NO_ANSWER.items()}
    refusal = np.where(person["income"] > 15_000, 0.09, 0.04)
    answered["income"] = (uniforms(seed, "income answered", n) >= refusal) & (person["age"] >= 15)
    answered["savings"] &= person["age"] >= 15
    answered["literacy"] &= person["age"] >= 7
    answered["occupation"] &= person["labour_status"] <= 2
    return answered
