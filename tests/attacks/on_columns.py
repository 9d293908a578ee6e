"""Attacks by columns nobody thought of: copies, parts, codes, texts, dates, ids, weights and the order."""

import numpy as np
import polars as pl

import sdckit as sdc
from attacks.case import Built, Cases
from attacks.people import KEYS, REGIONS, coarse, households, persons, with_keys, with_numbers
from attacks.tools import found, found_likely, inferred, most_frequent, numbers

CASES = Cases()


def safe_keys(frame: pl.DataFrame, **roles: object) -> tuple[sdc.Microdata, sdc.Microdata]:
    """Persons with three keys, and the same in cells of more than fifty persons each."""
    roles = {"keys": ["region", "sex", "age"]} | roles
    data = sdc.read(frame, **roles)
    return data, wide(data)


def wide(data: sdc.Microdata) -> sdc.Microdata:
    """Two areas, two classes of age."""
    data = sdc.protect.group(data, variables=["region"], map={"A": [1, 2], "B": [3, 4, 5, 6, 7, 8]})
    return sdc.protect.recode(data, variable="age", breaks=[16, 50, 90])


def few(n: int = 1_200, *more: str) -> pl.DataFrame:
    return persons(n).select("region", "sex", "age", *more)


def blanked(data: sdc.Microdata, column: str, share: float = 0.3) -> sdc.Microdata:
    """A column suppressed at random."""
    hit = pl.Series(np.random.default_rng(1).random(data.height) < share)
    return data.with_frame(
        data.frame.with_columns(pl.when(~hit).then(column).alias(column)), cells_suppressed=int(hit.sum())
    )


@CASES.add("The key is there a second time, under another name and as it was.", least=300)
def copy_of_a_key() -> Built:
    data, safe = safe_keys(few().with_columns(years="age"))
    known = safe.frame.with_columns(data.frame["age"].alias("years"))
    return (
        data,
        safe,
        lambda: max(
            found(known, safe.frame, ["region", "sex", "years"]),
            inferred(data.frame["age"], safe.frame["years"]),
        ),
    )


@CASES.add("The copy has other codes: a table of eight lines translates them.", least=1_100)
def copy_of_a_key_in_other_codes() -> Built:
    codes = {i: f"Z{(i * 37) % 11}" for i in range(1, 9)}
    data, safe = safe_keys(few().with_columns(zone=pl.col("region").replace_strict(codes)))
    back = {z: i for i, z in codes.items()}
    return data, safe, lambda: inferred(data.frame["region"], safe.frame["zone"].replace_strict(back))


@CASES.add("Classes of age beside the year of birth.", least=1_000)
def birth_year_beside_classes_of_age() -> Built:
    data, safe = safe_keys(few().with_columns(born=2024 - pl.col("age")))
    return data, safe, lambda: inferred(data.frame["age"], 2024 - safe.frame["born"])


@CASES.add("Age is top coded at 70, the year of birth is not.", least=150)
def top_coded_age_beside_birth_year() -> Built:
    data = sdc.read(few().with_columns(born=2024 - pl.col("age")), keys=["sex", "age"])
    safe = sdc.protect.top_code(data, variables=["age"], value=70)
    hidden = data.frame["age"] > 70
    return data, safe, lambda: inferred(data.frame["age"], 2024 - safe.frame["born"], hidden=hidden)


@CASES.add("Ten-year classes beside the last digit, kept as a number for rounding.", least=1_100)
def last_digit_of_age() -> Built:
    data = sdc.read(few().with_columns(digit=pl.col("age") % 10), keys=["sex", "age"])
    safe = sdc.protect.recode(data, variable="age", breaks=list(range(10, 101, 10)))
    decade = data.frame["age"] // 10 * 10  # what the class says
    return data, safe, lambda: inferred(data.frame["age"], decade + safe.frame["digit"])


@CASES.add(
    "Two sets of classes with different borders: together they are classes of two or three years.", least=300
)
def two_sets_of_classes() -> Built:
    data = sdc.read(few().with_columns(years="age"), keys=["sex", "age", "years"])
    safe = sdc.protect.recode(data, variable="age", width=10)
    safe = sdc.protect.recode(safe, variable="years", width=7)
    return (
        data,
        safe,
        lambda: inferred(
            data.frame["age"],
            most_frequent(safe.frame.with_columns(x=data.frame["age"]), "x", ["age", "years"]),
        ),
    )


@CASES.add("Regions were blanked for a third; the stratum of the sample is the region.", least=300)
def blanks_told_by_the_stratum() -> Built:
    data = sdc.read(
        few().with_columns(stratum=pl.col("region") + 100), keys=["region", "sex"], strata="stratum"
    )
    safe = blanked(data, "region")
    return (
        data,
        safe,
        lambda: inferred(
            data.frame["region"], safe.frame["stratum"] - 100, hidden=safe.frame["region"].is_null()
        ),
    )


@CASES.add("Regions were blanked person by person; other members of the household show it.", least=150)
def blanks_told_by_the_household() -> Built:
    data = sdc.read(households(), keys=["region", "sex"], household="home", sensitive="health").with_roles(
        sensitive=()
    )
    safe = blanked(data, "region")
    guess = most_frequent(safe.frame, "region", ["home"])
    return data, safe, lambda: inferred(data.frame["region"], guess, hidden=safe.frame["region"].is_null())


@CASES.add("Region was dropped, and every weight belongs to one region.", least=1_100)
def weights_that_tell_the_region() -> Built:
    weight = {1: 410.5, 2: 388.25, 3: 120.0, 4: 95.5, 5: 230.75, 6: 64.0, 7: 51.5, 8: 40.25}
    frame = few().with_columns(weight=pl.col("region").replace_strict(weight))
    data = sdc.read(frame, keys=["region", "sex"], weight="weight")
    safe = sdc.protect.drop(data, variables=["region"])
    back = {w: r for r, w in weight.items()}
    return data, safe, lambda: inferred(data.frame["region"], safe.frame["weight"].replace_strict(back))


@CASES.add("Household numbers begin with the region.", least=1_000)
def household_numbers_with_the_region() -> Built:
    frame = households().with_columns(home=pl.col("region") * 100_000 + pl.col("home"))
    data = sdc.read(frame.drop("health"), keys=["region", "sex"], household="home")
    safe = sdc.protect.drop(data, variables=["region"])
    return data, safe, lambda: inferred(data.frame["region"], safe.frame["home"] // 100_000)


@CASES.add("A case number that nobody gave a role holds the year of birth and the sex.", least=1_100)
def year_of_birth_inside_a_number() -> Built:
    rng = np.random.default_rng(1)
    frame = few()
    number = 10_000 * (2024 - frame["age"]) + pl.Series(rng.permutation(frame.height))
    data, safe = safe_keys(frame.with_columns(case=number))
    return data, safe, lambda: inferred(data.frame["age"], 2024 - safe.frame["case"] // 10_000)


@CASES.add("The numbers of persons in a register are still in the file.", least=1_200)
def original_ids() -> Built:
    frame = few().with_columns(register=pl.Series(np.random.default_rng(5).permutation(1_200) + 70_000))
    data = sdc.read(frame, keys=["region", "sex", "age"], id="register")
    safe = wide(data)
    return data, safe, lambda: found(data.frame, safe.frame, ["register"])


@CASES.add(
    "Ids are new, and the rows still stand in the order of the register from which they came.", least=1_200
)
def new_ids_and_the_old_order() -> Built:
    frame = few().with_columns(register=pl.int_range(1_200) + 70_000)
    data = sdc.read(frame, keys=["region", "sex", "age"], id="register")
    safe = sdc.protect.new_ids(wide(data), rng=1)
    keys = ["region", "sex", "age"]

    def attack() -> int:  # his list in the order of its numbers, in the categories of the file, row by row
        mine = wide(data.with_frame(data.frame.sort("register"))).frame
        return int((mine.select(keys).hash_rows() == safe.frame.select(keys).hash_rows()).sum())

    return data, safe, attack


@CASES.add("Incomes were averaged over large groups; the file is still sorted by income.", least=1_000)
def file_sorted_by_what_was_hidden() -> Built:
    data = with_numbers()
    data = data.with_frame(data.frame.sort("income"))
    safe = sdc.protect.add_noise(sdc.protect.microaggregate(data, k=30), amount=0.5, rng=1)
    released_elsewhere = np.sort(numbers(persons(1_200, 7), ["income"], log=False)[:, 0])
    guess = pl.Series(np.roll(released_elsewhere, 1))  # quantiles as any table of incomes gives them
    return data, safe, lambda: inferred(data.frame["income"], guess, within=0.05)


@CASES.add(
    "Region was dropped; the file is sorted by region, and how many live in each is published.", least=1_100
)
def file_sorted_by_a_dropped_key() -> Built:
    data = sdc.read(few().sort("region"), keys=["region", "sex"])
    safe = sdc.protect.drop(data, variables=["region"])
    counts = data.frame.group_by("region").len().sort("region")
    guess = pl.Series(np.repeat(counts["region"].to_numpy(), counts["len"].to_numpy()))
    return data, safe, lambda: inferred(data.frame["region"], guess)


@CASES.add("A remark of the interviewer names the person's region and age.", least=1_100)
def free_text() -> Built:
    frame = few().with_columns(
        remark=pl.format(
            "Met in {}, {} years, friendly ({})",
            pl.col("region").replace_strict(REGIONS),
            "age",
            pl.int_range(pl.len()),
        )
    )
    data, safe = safe_keys(frame)
    guess = safe.frame["remark"].str.extract(r", (\d+) years").cast(pl.Int64)
    return data, safe, lambda: inferred(data.frame["age"], guess)


@CASES.add("A detailed code of the occupation, without a role, is nearly unique.", least=800)
def nearly_unique_code() -> Built:
    code = pl.Series(np.random.default_rng(3).integers(0, 5_000, 1_200)).cast(pl.String)
    data, safe = safe_keys(few().with_columns(isco=code))
    known = safe.frame
    return data, safe, lambda: found(known, safe.frame, ["isco", "sex"])


@CASES.add("The date of birth has no role and stayed: day, sex and area find nearly everybody.", least=1_000)
def dates_without_a_role() -> Built:
    rng = np.random.default_rng(9)
    days = pl.Series(rng.integers(0, 365, 1_200)) + (2024 - 1970 - few()["age"]) * 365
    data, safe = safe_keys(few().with_columns(born=days.cast(pl.Int32).cast(pl.Date)))
    return data, safe, lambda: found(safe.frame, safe.frame, ["born", "sex"])


@CASES.add("Age was randomised; the column before the step is in the file as age_original.", least=900)
def column_before_the_step() -> Built:
    data = with_keys()
    data = data.with_frame(data.frame.with_columns(age_original="age"))
    safe = sdc.protect.pram(data, variables=list(KEYS), stay=0.4, rng=1)
    return data, safe, lambda: inferred(data.frame["age"], safe.frame["age_original"])


@CASES.add(
    "Values were blanked, and a second column tells what an imputation put there: the truth.", least=300
)
def blanks_and_their_imputation() -> Built:
    data = sdc.read(few().with_columns(region_imputed="region"), keys=["region", "sex"])
    safe = blanked(data, "region")
    return (
        data,
        safe,
        lambda: inferred(
            data.frame["region"], safe.frame["region_imputed"], hidden=safe.frame["region"].is_null()
        ),
    )


@CASES.add(
    "Area, class of size and kind of heating, each harmless, tell the municipality together.", least=1_000
)
def several_columns_tell_together() -> Built:
    rng = np.random.default_rng(4)
    town = rng.integers(0, 60, 1_200)
    frame = pl.DataFrame(
        {
            "town": town,
            "sex": rng.choice(["f", "m"], 1_200),
            "area": town % 5,
            "size": town // 5 % 4,
            "heating": town // 20,
        }
    )
    data = sdc.read(frame, keys=["town", "sex"])
    safe = sdc.protect.drop(data, variables=["town"])
    guess = safe.frame["heating"] * 20 + safe.frame["size"] * 5 + safe.frame["area"]
    return data, safe, lambda: inferred(data.frame["town"], guess)


@CASES.add("Keys in large cells, beside two columns without a role that a neighbour knows.", least=200)
def columns_without_a_role() -> Built:
    data, safe = safe_keys(few(1_200, "education", "occupation", "citizenship"))
    return (
        data,
        safe,
        lambda: found_likely(
            safe.frame, safe.frame, ["region", "sex", "age", "education", "occupation", "citizenship"]
        ),
    )


@CASES.add("Which questions were not answered is a pattern of its own for most persons.", least=900)
def pattern_of_missing_answers() -> Built:
    rng = np.random.default_rng(6)
    data = coarse(1_200)
    answers = {}
    for i in range(20):
        answered = pl.Series(rng.random(1_200) < 0.6)
        answers[f"q{i}"] = pl.select(pl.when(answered).then(pl.Series(rng.integers(1, 3, 1_200)))).to_series()
    data = data.with_frame(data.frame.with_columns(**answers))
    safe = sdc.protect.recode(data, variable="age", breaks=[16, 50, 90])
    shuffled = [
        pl.when(pl.col(q).is_not_null()).then(pl.lit(int(rng.integers(1, 3)))).alias(q) for q in answers
    ]
    safe = safe.with_frame(safe.frame.with_columns(shuffled))
    pattern = [pl.col(q).is_null().alias(q) for q in answers]
    return data, safe, lambda: found(data.frame.select(pattern), safe.frame.select(pattern), list(answers))
