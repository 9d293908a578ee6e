"""Files that are protected as an office would do it: large cells, moved numbers, nothing that tells.

Every attack of `tools` fails on them. Persons are in random order from the start, so rows may stay in place;
where ids are new and rows were shuffled, too, these are the last steps.
"""

import numpy as np
import polars as pl

import sdckit as sdc
from attacks.case import Built, Cases
from attacks.people import coarse, households, persons
from attacks.tools import found_likely, found_near, numbers, same_cells

CASES = Cases()
AREAS = {"A": [1, 2], "B": [3, 4, 5, 6, 7, 8]}
AGES = [16, 35, 50, 65, 90]


def resisted(known: sdc.Microdata, safe: sdc.Microdata, link: np.ndarray | None = None) -> float:
    """Persons found by all keys and numbers; `known`: the original in the categories of the released file."""
    keys, numeric = list(safe.roles.keys), list(safe.roles.numeric)
    hits = found_likely(known.frame, safe.frame, keys, link, ties=True)
    if not numeric:
        return hits
    same = same_cells(known.frame, safe.frame, keys)
    near = (numbers(known.frame, numeric, log=False), numbers(safe.frame, numeric, log=False))
    return max(hits, found_near(*near, link=link, ties=True), found_near(*near, same, link, ties=True))


def unsafe_numbers(n: int, seed: int, *numeric: str, keys: tuple[str, ...] = ("sex",)) -> sdc.Microdata:
    """Numbers without extremes, as after a survey's own editing, beside few keys."""
    rng = np.random.default_rng(seed)
    frame = persons(n, seed).select(keys)
    drawn = {c: np.round(np.clip(rng.normal(2_500, 600, n), 900, 4_100), 0) for c in numeric}
    return sdc.read(frame.with_columns(**drawn), keys=list(keys), numeric=list(numeric))


@CASES.add("Sixteen cells of a hundred and more persons.", max_risk=0.02, most=20)
def few_keys_with_large_cells() -> Built:
    data = coarse(2_400)
    safe = sdc.protect.recode(data, variable="age", breaks=AGES)
    return data, safe, lambda: resisted(safe, safe)


@CASES.add(
    "The same with weights that have nothing to do with the keys: the data holder says they are weights.",
    max_risk=0.01,
    most=20,
    options={"accept": {"columns": ["weight"]}},
)
def large_cells_with_weights() -> Built:
    weight = pl.Series(np.random.default_rng(1).integers(40, 60, 2_400)).cast(pl.Float64)
    data = coarse(2_400)
    data = sdc.read(
        data.frame.with_columns(weight=weight), keys=data.roles.keys, sensitive="health", weight="weight"
    )
    safe = sdc.protect.recode(data, variable="age", breaks=AGES)
    return data, safe, lambda: resisted(safe, safe)


@CASES.add("Names dropped, ages in classes, rows in a new order.", max_risk=0.02, most=20)
def names_dropped() -> Built:
    data = coarse(2_400)
    named = data.frame.with_columns(pl.format("Person {}", pl.int_range(pl.len())).alias("name"))
    data = sdc.read(named, keys=data.roles.keys, sensitive="health", direct="name", keep_direct=True)
    safe = sdc.protect.recode(sdc.protect.drop(data), variable="age", breaks=AGES)
    return data, sdc.protect.shuffle_order(safe, rng=4), lambda: resisted(safe, safe)


@CASES.add("New ids and a new order after the recoding.", max_risk=0.02, most=20)
def new_ids_in_a_new_order() -> Built:
    data = coarse(2_400)
    number = pl.Series(np.random.default_rng(2).permutation(2_400) + 10_000)
    data = sdc.read(
        data.frame.with_columns(number=number), keys=data.roles.keys, sensitive="health", id="number"
    )
    wide = sdc.protect.recode(data, variable="age", breaks=AGES)
    safe = sdc.protect.shuffle_order(sdc.protect.new_ids(wide, rng=3), rng=4)
    return data, safe, lambda: resisted(wide, wide)


@CASES.add(
    "Regions in two areas, ages in classes, occupations in three groups: no cell below twenty.",
    max_risk=0.03,
    most=40,
)
def strong_recoding() -> Built:
    frame = persons(2_400, 11).select("region", "sex", "age", "occupation", "health")
    data = sdc.read(frame, keys=["region", "sex", "age", "occupation"], sensitive="health")
    safe = sdc.protect.group(data, variables=["region"], map=AREAS)
    safe = sdc.protect.recode(safe, variable="age", breaks=[16, 45, 65, 90])
    safe = sdc.protect.group(
        safe, variables=["occupation"], map={"I": [1, 2, 3], "II": [4, 5, 6], "III": list(range(7, 13))}
    )
    return data, safe, lambda: resisted(safe, safe)


@CASES.add("The telling columns were dropped by a step; two keys are left.", max_risk=0.02, most=10)
def telling_columns_dropped() -> Built:
    frame = persons(2_000, 12).select("region", "sex", "age", "occupation", "income", "health")
    data = sdc.read(
        frame, keys=["region", "sex", "age", "occupation"], numeric=["income"], sensitive="health"
    )
    safe = sdc.protect.drop(data, variables=["occupation", "income", "age"])
    safe = sdc.protect.group(safe, variables=["region"], map=AREAS)
    return data, safe, lambda: resisted(safe, safe)


@CASES.add("Rare citizens joined with the rest by a step, then large cells.", max_risk=0.03, most=40)
def rare_values_joined() -> Built:
    frame = persons(2_000, 13).select("sex", "age", "citizenship", "health")
    data = sdc.read(frame, keys=["sex", "age", "citizenship"], sensitive="health")
    safe = sdc.protect.group(data, variables=["citizenship"], map={"national": [1], "other": [2, 3, 4]})
    safe = sdc.protect.recode(safe, variable="age", breaks=AGES)
    return data, safe, lambda: resisted(safe, safe)


@CASES.add("Suppressed to cells of ten, a blank being a category of its own.", max_risk=0.05, most=90)
def suppression_after_recoding() -> Built:
    frame = persons(2_000, 14).select("region", "sex", "age", "health")
    data = sdc.read(frame, keys=["region", "sex", "age"], sensitive="health")
    wide = sdc.protect.recode(data, variable="age", breaks=AGES)
    safe = sdc.protect.suppress(wide, k=10, missing="category")
    return data, safe, lambda: resisted(wide, safe)


@CASES.add("Three in ten values kept, over cells that were large before.", max_risk=0.02, most=20)
def strong_pram() -> Built:
    data = coarse(2_000)
    wide = sdc.protect.recode(data, variable="age", breaks=AGES)
    safe = sdc.protect.pram(wide, variables=["area", "sex", "age"], stay=0.4, rng=1)
    return data, safe, lambda: resisted(wide, safe)


@CASES.add("Areas exchanged between a third of the persons, in large cells.", max_risk=0.02, most=20)
def swapping_in_large_cells() -> Built:
    data = coarse(2_000)
    wide = sdc.protect.recode(data, variable="age", breaks=AGES)
    safe = sdc.protect.swap_records(wide, geography=["area"], similar=[["sex"]], share=0.3, rng=1)
    return data, safe, lambda: resisted(wide, safe)


@CASES.add("One record in five of a large file, with weights, in large cells.", max_risk=0.02, most=20)
def sample_of_a_file() -> Built:
    data = coarse(6_000)
    number = pl.Series(np.random.default_rng(2).permutation(6_000) + 10_000)
    frame = data.frame.with_columns(number=number, weight=pl.lit(30.0))
    data = sdc.read(frame, keys=data.roles.keys, sensitive="health", id="number", weight="weight")
    wide = sdc.protect.recode(data, variable="age", breaks=AGES)
    safe = sdc.protect.sample_records(wide, share=0.2, rng=1)

    def attack() -> int:
        rows = safe.frame.with_row_index("row").select("number", "row")
        known = wide.frame.join(rows, on="number", maintain_order="left")
        return resisted(wide.with_frame(known.drop("row")), safe, known["row"].to_numpy())

    return data, sdc.protect.shuffle_order(sdc.protect.new_ids(safe, rng=3), rng=4), attack


@CASES.add("Groups of a hundred share the means of both numbers.", max_risk=0.05, most=60)
def microaggregation_in_large_groups() -> Built:
    data = unsafe_numbers(1_600, 21, "income", "rent")
    safe = sdc.protect.microaggregate(data, k=100)
    return data, safe, lambda: resisted(data, safe)


@CASES.add("Groups of fifty within each sex.", max_risk=0.05, most=60)
def microaggregation_within_sexes() -> Built:
    data = unsafe_numbers(1_600, 22, "income", "rent")
    safe = sdc.protect.microaggregate(data, k=50, by=["sex"])
    return data, safe, lambda: resisted(data, safe)


@CASES.add("Noise of three standard deviations on a number without extremes.", max_risk=0.05, most=40)
def strong_noise() -> Built:
    data = unsafe_numbers(1_600, 23, "income")
    safe = sdc.protect.add_noise(data, amount=3.0, rng=1)
    return data, safe, lambda: resisted(data, safe)


@CASES.add("Ranks exchanged over half of the file.", max_risk=0.05, most=40)
def rank_swapping_over_half_of_the_file() -> Built:
    data = unsafe_numbers(1_600, 24, "income", "rent")
    safe = sdc.protect.rank_swap(data, share=0.5, rng=1)
    return data, safe, lambda: resisted(data, safe)


@CASES.add("Rounded to thousands: four values, hundreds of persons each.", max_risk=0.02, most=20)
def coarse_rounding() -> Built:
    data = unsafe_numbers(2_000, 25, "income")
    safe = sdc.protect.round_values(data, base=1_000)
    return data, safe, lambda: resisted(safe, safe)


@CASES.add("Both tails coded and the rest rounded to thousands.", max_risk=0.02, most=20)
def tails_coded_and_rounded() -> Built:
    data = unsafe_numbers(2_000, 26, "income")
    safe = sdc.protect.bottom_code(sdc.protect.top_code(data, value=3_500), value=1_500)
    safe = sdc.protect.round_values(safe, base=1_000)
    return data, safe, lambda: resisted(safe, safe)


@CASES.add("The number became one of four classes.", max_risk=0.02, most=20)
def number_in_classes() -> Built:
    data = unsafe_numbers(2_000, 27, "income")
    safe = sdc.protect.recode(data, variable="income", breaks=[900, 2_000, 2_500, 3_000, 4_200])
    return data, safe, lambda: found_likely(safe.frame, safe.frame, ["sex", "income"], ties=True)


@CASES.add("Shuffled as a whole: every number is somebody else's.", max_risk=0.05, most=40)
def numbers_shuffled() -> Built:
    data = unsafe_numbers(1_600, 28, "income", "rent")
    safe = sdc.protect.shuffle(data, predictors=["sex"], rng=1)
    return data, safe, lambda: resisted(data, safe)


@CASES.add("Persons of households without anything that joins them, in a new order.", max_risk=0.02, most=30)
def persons_apart_from_their_households() -> Built:
    frame = (
        households(1_000, 31)
        .select("region", "sex", "age", "health")
        .sample(fraction=1, shuffle=True, seed=1)
    )
    data = sdc.read(frame, keys=["region", "sex", "age"], sensitive="health")
    safe = sdc.protect.group(data, variables=["region"], map=AREAS)
    safe = sdc.protect.recode(safe, variable="age", breaks=[0, 20, 40, 60, 95])
    return data, safe, lambda: resisted(safe, safe)


@CASES.add("Whole households of one to three, of which only area and sex are known.", max_risk=0.06, most=10)
def households_of_few_kinds() -> Built:
    frame = households(1_200, 32).filter(pl.col("size") < 4).select("home", "region", "sex", "health")
    data = sdc.read(frame, keys=["region", "sex"], household="home", sensitive="health")
    safe = sdc.protect.group(data, variables=["region"], map=AREAS)
    hidden = sdc.protect.shuffle_order(sdc.protect.new_ids(safe, rng=3), rng=4)
    return data, hidden, lambda: resisted(safe, safe)


@CASES.add("Health was randomised, too, in large cells.", max_risk=0.02, most=20)
def answers_randomised() -> Built:
    data = coarse(2_000)
    wide = sdc.protect.recode(data, variable="age", breaks=AGES)
    safe = sdc.protect.pram(wide, variables=["health"], stay=0.6, rng=1)
    return data, safe, lambda: resisted(safe, safe)
