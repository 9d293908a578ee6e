"""Attacks on numbers that were left, moved too little, or can be reckoned from others."""

import numpy as np
import polars as pl

import sdckit as sdc
from attacks.case import Built, Cases
from attacks.people import KEYS, enterprises, persons, with_numbers
from attacks.tools import found, found_near, inferred, numbers, same_cells

CASES = Cases()
THREE = ["income", "rent", "savings"]


def linked(data: sdc.Microdata, safe: sdc.Microdata, columns: list[str] = THREE) -> int:
    """Persons found by the nearest record."""
    return found_near(numbers(data.frame, columns), numbers(safe.frame, columns))


@CASES.add("Keys in large cells, three numbers untouched: a known income finds its record.", least=1_150)
def untouched_numbers() -> Built:
    data = with_numbers()
    return data, data, lambda: found(data.frame, data.frame, ["income"])


@CASES.add("Keys were suppressed to cells of ten, the numbers beside them were not touched.", least=1_000)
def safe_keys_and_true_numbers() -> Built:
    frame = persons().select(*KEYS[:3], *THREE)
    data = sdc.read(frame, keys=["region", "sex", "age"], numeric=THREE)
    safe = sdc.protect.recode(data, variable="age", width=25)
    safe = sdc.protect.suppress(safe, k=10, missing="category")
    return data, safe, lambda: found(data.frame, safe.frame, THREE)


@CASES.add("Numbers without a role: no measure looks at them.", least=1_150)
def numbers_without_a_role() -> Built:
    data = sdc.read(persons().select("sex", "income", "rent"), keys=["sex"])
    return data, data, lambda: found(data.frame, data.frame, ["income"])


@CASES.add("Noise of half a hundredth of a standard deviation.", least=900)
def noise_too_small() -> Built:
    data = with_numbers()
    safe = sdc.protect.add_noise(data, amount=0.005, rng=1)
    return data, safe, lambda: linked(data, safe)


@CASES.add("Noise of a fifth of a standard deviation, beside six keys as they were.", least=1_000)
def noise_beside_true_keys() -> Built:
    data = sdc.read(persons().drop("health"), keys=KEYS, numeric=THREE)
    safe = sdc.protect.add_noise(data, amount=0.2, rng=1)

    def attack() -> int:
        same = same_cells(data.frame, safe.frame, KEYS)
        return found_near(numbers(data.frame, THREE), numbers(safe.frame, THREE), same)

    return data, safe, attack


@CASES.add("Groups of three share their means, and the keys beside them tell the three apart.", least=800)
def microaggregation_beside_keys() -> Built:
    data = sdc.read(persons().drop("health"), keys=["sex", "age", "region"], numeric=THREE)
    safe = sdc.protect.microaggregate(data, k=3)

    def attack() -> int:
        same = same_cells(data.frame, safe.frame, ["sex", "age", "region"])
        return found_near(numbers(data.frame, THREE), numbers(safe.frame, THREE), same)

    return data, safe, attack


@CASES.add(
    "Groups of three, one variable at a time: the three means together are nearly the person's own.",
    least=900,
)
def individual_ranking() -> Built:
    data = with_numbers()
    safe = sdc.protect.microaggregate(data, k=3, method="individual_ranking")
    return data, safe, lambda: linked(data, safe)


@CASES.add("Values were exchanged among ranks half a percent apart: nearly what they were.", least=900)
def rank_swapping_in_a_tiny_window() -> Built:
    data = with_numbers()
    safe = sdc.protect.rank_swap(data, share=0.005, rng=1)
    return data, safe, lambda: linked(data, safe)


@CASES.add("Rounded to whole units: nobody shares a rounded income.", least=900)
def rounding_to_units() -> Built:
    data = with_numbers()
    safe = sdc.protect.round_values(data, base=1)
    return data, safe, lambda: linked(data, safe)


@CASES.add("The largest percent was top coded, all others are as they were.", least=1_000)
def top_coding_of_one_percent() -> Built:
    data = with_numbers()
    safe = sdc.protect.top_code(data, share=0.01)
    return data, safe, lambda: linked(data, safe)


@CASES.add("Two of three numbers were averaged over fifty, the third is true.", least=1_100)
def one_number_forgotten() -> Built:
    data = with_numbers()
    safe = sdc.protect.microaggregate(data, variables=["income", "rent"], k=50)
    return data, safe, lambda: found(data.frame, safe.frame, ["savings"])


@CASES.add("Income was averaged, its logarithm was not.", least=1_150)
def logarithm_of_a_hidden_number() -> Built:
    frame = persons().select("sex", "income").with_columns(log_income=pl.col("income").log())
    data = sdc.read(frame, keys=["sex"], numeric=["income"])
    safe = sdc.protect.microaggregate(data, k=50)
    return data, safe, lambda: inferred(data.frame["income"], safe.frame["log_income"].exp(), within=1e-6)


@CASES.add("Income was averaged, the total beside rent was not: total less rent is income.", least=1_150)
def total_less_its_parts() -> Built:
    frame = persons().select("sex", "income", "rent").with_columns(total=pl.col("income") + pl.col("rent"))
    data = sdc.read(frame, keys=["sex"], numeric=["income"])
    safe = sdc.protect.microaggregate(data, k=50)
    return (
        data,
        safe,
        lambda: inferred(data.frame["income"], safe.frame["total"] - safe.frame["rent"], within=1e-6),
    )


@CASES.add("Income was averaged, the wage an hour and the hours were not.", least=1_150)
def wage_an_hour_and_hours() -> Built:
    hours = pl.Series(np.random.default_rng(2).integers(10, 60, 1_200))
    frame = persons().select("sex", "income").with_columns(hours=hours, hourly=pl.col("income") / hours)
    data = sdc.read(frame, keys=["sex"], numeric=["income"])
    safe = sdc.protect.microaggregate(data, k=50)
    return (
        data,
        safe,
        lambda: inferred(data.frame["income"], safe.frame["hourly"] * safe.frame["hours"], within=1e-6),
    )


@CASES.add("One random factor a record: ratios of its numbers are exactly what they were.", least=1_100)
def one_factor_for_all_numbers() -> Built:
    data = with_numbers()
    factor = pl.Series(np.random.default_rng(3).lognormal(0, 1, data.height))
    safe = data.with_frame(data.frame.with_columns(pl.col(THREE) * factor))

    def ratios(file: sdc.Microdata) -> np.ndarray:
        x = numbers(file.frame, THREE)
        return x[:, 1:] - x[:, :1]

    return data, safe, lambda: found_near(ratios(data), ratios(safe))


@CASES.add(
    "Strong noise on twelve sources of income, and none on zeros: which are zero finds the person.", least=500
)
def pattern_of_zeros() -> Built:
    rng = np.random.default_rng(4)
    sources = [f"source{i}" for i in range(12)]
    amounts = {s: np.where(rng.random(800) < 0.5, 0.0, rng.lognormal(6, 1, 800)) for s in sources}
    data = sdc.read(
        pl.DataFrame({"sex": rng.choice(["f", "m"], 800), **amounts}), keys=["sex"], numeric=sources
    )
    factors = [pl.col(s) * pl.Series(rng.lognormal(0, 1.5, 800)) for s in sources]
    safe = data.with_frame(data.frame.with_columns(factors))
    zero = [(pl.col(s) == 0).alias(s) for s in sources]
    return data, safe, lambda: found(data.frame.select(zero), safe.frame.select(zero), sources)


@CASES.add(
    "The largest enterprise of each branch stays the largest, with its turnover to within a tenth.", least=6
)
def largest_enterprises() -> Built:
    data = sdc.read(enterprises(), keys=["branch"], numeric=["turnover", "wages", "exports"])
    factor = pl.Series(np.random.default_rng(1).uniform(0.93, 1.07, data.height))
    safe = data.with_frame(data.frame.with_columns(pl.col("turnover", "wages", "exports") * factor))

    def attack() -> int:
        def largest(file: sdc.Microdata) -> list[int]:
            rows = file.frame.with_row_index("row")
            return (
                rows.filter(pl.col("turnover") == pl.col("turnover").max().over("branch"))
                .sort("branch")["row"]
                .to_list()
            )

        return sum(a == b for a, b in zip(largest(data), largest(safe), strict=True))

    return data, safe, attack


@CASES.add("Shuffled within cells of the keys: where a cell holds one person, the value stays.", least=250)
def shuffling_within_tiny_cells() -> Built:
    data = sdc.read(persons().drop("health"), keys=["sex", "age", "region"], numeric=THREE)
    mixed = [pl.col(c).shuffle(seed=1).over("sex", "age", "region") for c in THREE]
    safe = data.with_frame(data.frame.with_columns(mixed))
    return data, safe, lambda: found(data.frame, safe.frame, ["sex", "age", "region", *THREE])


@CASES.add(
    "The first number of each record was randomised, the second is a plain multiple of it.", least=1_150
)
def the_same_in_other_units() -> Built:
    frame = (
        persons().select("sex", "income").with_columns(cents=(pl.col("income") * 100).round().cast(pl.Int64))
    )
    data = sdc.read(frame, keys=["sex"], numeric=["income"])
    safe = sdc.protect.add_noise(data, amount=1.0, rng=1)
    return data, safe, lambda: inferred(data.frame["income"], safe.frame["cents"] / 100, within=1e-6)


@CASES.add(
    "Shuffled by predictors, dropped since, that all but tell the values: they hardly moved.", least=100
)
def shuffling_with_telling_predictors() -> Built:
    rng = np.random.default_rng(5)
    frame = persons().select("sex", *THREE)
    told = [(pl.col(c) * np.exp(0.002 * rng.normal(size=frame.height))).alias(f"old_{c}") for c in THREE]
    before = sdc.read(frame.with_columns(told), keys=["sex"], numeric=THREE)
    safe = sdc.protect.shuffle(before, predictors=[f"old_{c}" for c in THREE], rng=1)
    data = sdc.read(frame, keys=["sex"], numeric=THREE)
    return data, data.with_frame(safe.frame.select(frame.columns)), lambda: linked(data, safe)
