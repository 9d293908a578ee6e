"""Attacks on dates that were moved too little, or together, or beside something that tells them."""

import warnings

import numpy as np
import polars as pl

import sdckit as sdc
from attacks.case import Built, Cases
from attacks.tools import found, found_near, inferred, same_cells

CASES = Cases()
EVENTS = ["birth", "admission", "discharge"]


def patients(n: int = 800, seed: int = 5) -> pl.DataFrame:
    """People with a date of birth, a stay in hospital and a household, in random order."""
    rng = np.random.default_rng(seed)
    days = {
        "birth": np.datetime64("1935-01-01") + rng.integers(0, 80 * 365, n),
        "admission": np.datetime64("2019-01-01") + rng.integers(0, 5 * 365, n),
    }
    days["discharge"] = days["admission"] + rng.integers(1, 60, n)
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(["north", "south", "west"], n),
            "ward": rng.choice(["a", "b", "c", "d"], n),
            "home": rng.permutation(n) // 3,
            **{name: pl.Series(values).cast(pl.Date) for name, values in days.items()},
        }
    )


def in_days(file: sdc.Microdata, columns: list[str]) -> np.ndarray:
    """Dates as numbers of days."""
    return file.frame.select(pl.col(columns).to_physical().cast(pl.Float64)).to_numpy()


def known(*keys: str, **roles: object) -> sdc.Microdata:
    """The patients with what an intruder knows of them, and nothing else."""
    named = [c for names in roles.values() for c in ([names] if isinstance(names, str) else names)]
    return sdc.read(patients().select(*keys, *named), keys=list(keys), **roles)


@CASES.add("Dates of birth stand in the file.", least=750)
def birth_dates_as_they_are() -> Built:
    data = known("birth", "sex")
    return data, data, lambda: found(data.frame, data.frame, ["birth", "sex"])


@CASES.add(
    "Each date of birth was moved by up to five days; hardly anybody else was born so near.", least=700
)
def birth_dates_moved_by_days() -> Built:
    data = known("birth", "sex", "region")
    safe = sdc.protect.shift_dates(data, days=5, rng=1)

    def attack() -> float:
        same = same_cells(data.frame, safe.frame, ["sex", "region"])
        return found_near(in_days(data, ["birth"]), in_days(safe, ["birth"]), same)

    return data, safe, attack


@CASES.add(
    "Moved by up to a year beside sex, region and ward: few were born within two years of it.", least=250
)
def birth_dates_moved_by_a_year_beside_keys() -> Built:
    data = known("birth", "sex", "region", "ward")
    safe = sdc.protect.shift_dates(data, days=365, rng=1)

    def attack() -> float:
        same = same_cells(data.frame, safe.frame, ["sex", "region", "ward"])
        return found_near(in_days(data, ["birth"]), in_days(safe, ["birth"]), same, ties=True)

    return data, safe, attack


@CASES.add(
    "All dates of a person moved by up to ten years, together: their intervals are the person's.", least=700
)
def intervals_between_dates_moved_together() -> Built:
    data = known(*EVENTS)
    safe = sdc.protect.shift_dates(data, days=3_650, rng=1)

    def attack() -> float:
        both = [in_days(file, EVENTS) for file in (data, safe)]
        return found_near(*(x[:, 1:] - x[:, :1] for x in both))

    return data, safe, attack


@CASES.add("A household moved together, its number in the file: the days between births find it.", least=250)
def births_of_a_household_moved_together() -> Built:
    data = known("birth", household="home")
    moved = sdc.protect.shift_dates(data, days=3_650, unit="household", rng=1)
    safe = sdc.protect.new_ids(moved, rng=2)

    def attack() -> float:
        def days_between(file: sdc.Microdata) -> pl.DataFrame:
            births = file.frame.group_by("home", maintain_order=True).agg(pl.col("birth").sort())
            between = pl.col("birth").list.eval(pl.element().diff().dt.total_days().drop_nulls())
            return births.select(between.cast(pl.List(pl.String)).list.join(" ").alias("between"))

        return found(days_between(data), days_between(safe), ["between"])

    return data, safe, attack


@CASES.add(
    "The date of birth became a year, and stands as it was in a second column without a role.", least=750
)
def a_date_forgotten_beside_its_year() -> Built:
    frame = patients().select("sex", "birth").with_columns(born=pl.col("birth"))
    data = sdc.read(frame, keys=["birth", "sex"])
    safe = sdc.protect.recode(data, variable="birth", to="year")
    return data, safe, lambda: found(data.frame, safe.frame, ["born", "sex"])


@CASES.add("A sensitive date moved by up to three days, beside keys that find the person.", least=600)
def a_sensitive_date_moved_by_days() -> Built:
    data = known("birth", "sex", "region", sensitive="admission")
    safe = sdc.protect.shift_dates(data, variables=["admission"], days=3, rng=1)
    days = [pl.Series(in_days(file, ["admission"])[:, 0]) for file in (data, safe)]
    return data, safe, lambda: inferred(days[0], days[1], within=0.001)


@CASES.add("Moments moved by up to ten years: the time of day, to the second, stayed.", least=700)
def times_of_day_of_moments_that_moved() -> Built:
    seconds = np.random.default_rng(6).permutation(86_400)[:800]
    frame = patients().select(
        "sex", birth=pl.col("birth").cast(pl.Datetime("us")) + pl.duration(seconds=pl.Series(seconds))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the moment differs in every record
        data = sdc.read(frame, keys=["birth", "sex"])
    safe = sdc.protect.shift_dates(data, days=3_650, rng=1)
    times = [file.frame.select("sex", pl.col("birth").dt.time()) for file in (data, safe)]
    return data, safe, lambda: found(*times, ["birth", "sex"])


@CASES.add("Two dates moved together, one of them then a year: their distance in years stayed.", least=80)
def a_year_of_a_date_that_moved_with_another() -> Built:
    rng = np.random.default_rng(8)
    birth = np.datetime64("1940-01-01") + rng.integers(0, 20_000, 400)
    later = birth + rng.integers(7_000, 20_000, 400)
    frame = pl.DataFrame({"birth": birth, "wedding": later, "sex": rng.choice(["f", "m"], 400)})
    data = sdc.read(frame.with_columns(pl.col(pl.Date, pl.Datetime).cast(pl.Date)), keys=frame.columns)
    safe = sdc.protect.shift_dates(data, days=9_000, rng=1)
    safe = sdc.protect.recode(safe, variable="wedding", to="year")

    def attack() -> float:
        known, seen = in_days(data, ["birth", "wedding"]), in_days(safe, ["birth"])[:, 0]
        day = pl.Series((seen + (known[:, 1] - known[:, 0])[:, None]).ravel().astype(np.int32)).cast(pl.Date)
        fits = day.dt.year().to_numpy().reshape(400, 400) == safe.frame["wedding"].to_numpy()
        fits &= np.abs(seen - known[:, :1]) <= 9_000
        fits &= same_cells(data.frame, safe.frame, ["sex"])
        return float((np.diag(fits) / fits.sum(axis=1)).sum())

    return data, safe, attack


@CASES.add("Visits of a person share a new number: the days between them are the person's.", least=90)
def visits_of_a_person_moved_together() -> Built:
    frame = patients().select(
        "admission", "sex", person=pl.Series(np.random.default_rng(7).permutation(800) % 100)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that ids are repeated
        data = sdc.read(frame, keys=["admission", "sex"], id="person")
    safe = sdc.protect.new_ids(sdc.protect.shift_dates(data, days=3_650, rng=1), rng=2)

    def attack() -> float:
        def days_between(file: sdc.Microdata) -> pl.DataFrame:
            visits = file.frame.group_by("person", maintain_order=True).agg(pl.col("admission").sort())
            between = pl.col("admission").list.eval(pl.element().diff().dt.total_days().drop_nulls())
            return visits.select(between.cast(pl.List(pl.String)).list.join(" ").alias("between"))

        return found(days_between(data), days_between(safe), ["between"])

    return data, safe, attack


HONEST = Cases()


@HONEST.add("Years of birth in classes of twenty, moved by nothing, beside sex.", max_risk=0.02, most=16)
def years_in_wide_classes() -> Built:
    data = known("birth", "sex")
    safe = sdc.protect.recode(data, variable="birth", to="year")
    safe = sdc.protect.recode(safe, variable="birth", breaks=[1955, 1975, 1995])
    return data, safe, lambda: found(safe.frame, safe.frame, ["birth", "sex"])


@HONEST.add("Moved by up to forty years, one date alone, beside sex.", max_risk=0.05, most=40)
def one_date_moved_by_decades() -> Built:
    data = known("birth", "sex")
    safe = sdc.protect.shift_dates(data, days=14_600, rng=1)

    def attack() -> float:
        same = same_cells(data.frame, safe.frame, ["sex"])
        return found_near(in_days(data, ["birth"]), in_days(safe, ["birth"]), same, ties=True)

    return data, safe, attack
