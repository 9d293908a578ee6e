"""The project's own artificial business survey."""

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats, Ints
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.demo._draw import check, normals, pick, uniforms
from sdckit.demo.nace import activities

LARGEST = 60_000
LARGE = 500
REGION_SHARES = (0.36, 0.26, 0.22, 0.12, 0.04)
REGION_WAGES = np.array([0.06, 0.02, 0.0, -0.10, -0.12])
# the share of enterprises that stand outside the pattern of their class
ATYPICAL = 0.03

VARIABLE_LABELS: dict[str, str] = {
    "enterprise_id": "Enterprise number",
    "nace": "Economic activity (four digits)",
    "size_class": "Size class by number of workers",
    "region": "Region of the head office",
    "workers": "Number of workers",
    "turnover": "Turnover (thousands)",
    "material_costs": "Cost of materials, energy and goods for resale (thousands)",
    "services": "Cost of services (thousands)",
    "staff_costs": "Staff costs (thousands)",
    "earnings": "Earnings after all costs (thousands)",
}

VALUE_LABELS: dict[str, dict[int | str, str]] = {
    "size_class": {1: "100 to 499 workers", 2: "500 or more workers"},
    "region": {1: "North-west", 2: "North-east", 3: "Centre", 4: "South", 5: "Islands"},
}

ROLES: dict[str, str | tuple[str, ...]] = {
    "keys": ("nace", "size_class", "region"),
    "numeric": ("turnover", "material_costs", "services", "staff_costs", "workers", "earnings"),
    "id": "enterprise_id",
}


def business(n: int = 10_000, seed: int = 1) -> Microdata:
    """Artificial accounts of n enterprises with 100 workers or more. No record describes any enterprise.

    A census, so there are no weights, and nothing is missing. Economic activity is a made-up four-digit
    classification in the manner of NACE (text), whose classes differ much in size: at n = 10,000, activity
    by size class gives over 600 strata, half of them with five enterprises or fewer.

    Amounts are in thousands. They are skewed, correlated on the log scale, and their level depends on the
    activity. Within every activity there are two kinds of enterprise: those that make what they sell, and
    those that buy it in, with a higher turnover per worker and more services. Earnings are what costs leave
    of turnover, apart from other costs and income, and may be negative. About 3 % of the enterprises stand
    outside the pattern of their class; no column says which.

    The same n and seed give the same data. Another n gives another file, not a longer one.

    >>> business(1_000, seed=7)
    Microdata: 1,000 records × 10 columns (polars)
      id: enterprise_id
      keys: nace, size_class, region
      numeric: turnover, material_costs, services, staff_costs, workers, earnings
    """
    return Microdata.of(business_frame(n, seed), labels=Labels(VARIABLE_LABELS, VALUE_LABELS), **ROLES)


def business_frame(n: int = 10_000, seed: int = 1) -> pl.DataFrame:
    """The data frame of `business`: exactly n enterprises, the same for the same n and seed."""
    check(n, seed)
    activity = activities()
    kind = np.sort(pick(uniforms(seed, "activity", n), activity.weight))
    workers = _workers(uniforms(seed, "workers", n), activity.size_exponent[kind])
    region = pick(uniforms(seed, "region", n), REGION_SHARES)
    buys_in = uniforms(seed, "buys in", n) < 0.3

    wage = activity.wage[kind] * np.exp(REGION_WAGES[region] + 0.18 * normals(seed, "wage", n))
    staff = workers * wage * (workers / 100.0) ** 0.04
    per_worker = np.log(activity.turnover[kind]) + np.where(buys_in, 0.65, 0.0)
    # better paid staff sell more, so staff costs and turnover keep together
    per_worker += 0.6 * np.log(wage / activity.wage[kind]) + 0.25 * normals(seed, "turnover", n)
    turnover = workers * np.exp(per_worker)
    materials = turnover * activity.materials[kind] * np.exp(0.09 * normals(seed, "materials", n))
    # what is bought in takes the place of own staff
    bought = np.where(buys_in, 0.48 * activity.wage[kind] / activity.turnover[kind], 0.0)
    services = activity.services[kind] + bought
    services = turnover * services * np.exp(0.14 * normals(seed, "services", n))
    other = turnover * 0.03 * (1 + normals(seed, "other", n))
    accounts = np.stack(
        [turnover, materials, services, staff, turnover - materials - services - staff - other]
    )
    turnover, materials, services, staff, earnings = np.round(_disturb(accounts, seed))
    return pl.DataFrame(
        {
            "enterprise_id": np.arange(1, n + 1),
            "nace": activity.code[kind],
            "size_class": np.where(workers < LARGE, 1, 2),
            "region": region + 1,
            "workers": workers,
            "turnover": turnover,
            "material_costs": materials,
            "services": services,
            "staff_costs": staff,
            "earnings": earnings,
        }
    )


def _workers(u: Floats, exponent: Floats) -> Ints:
    """Workers by a Pareto law from 100 up, cut off at the largest enterprise there is."""
    beyond = (LARGEST / 100) ** -exponent
    return np.floor(100 * (1 - u * (1 - beyond)) ** (-1 / exponent)).astype(np.int64)


def _disturb(accounts: Floats, seed: int) -> Floats:
    """The accounts with a few enterprises moved away from the others, each in one of four ways."""
    n = accounts.shape[1]
    u = uniforms(seed, "atypical", n) / ATYPICAL
    way = np.floor(4 * u)
    factor = np.exp(1.2 + 0.5 * normals(seed, "atypical by", n))
    turnover, materials, services, staff, earnings = accounts
    return np.stack(
        [
            # a trading arm: sells goods on
            np.where(way == 0, turnover * factor, turnover),
            np.where(way == 0, materials * factor, materials),
            # work put out to other firms
            np.where(way == 1, services * factor, services),
            np.where(way == 1, staff / factor, np.where(way == 2, staff * factor, staff)),
            # a sale of assets, or a loss written off
            np.where(way == 3, earnings + turnover * (u - 0.875) * 4 * factor, earnings),
        ]
    )
