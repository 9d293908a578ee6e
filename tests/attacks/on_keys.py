"""Attacks on quasi-identifiers that were left, blanked, swapped or randomised too little."""

import numpy as np
import polars as pl

import sdckit as sdc
from attacks.case import Built, Cases
from attacks.people import KEYS, coarse, persons, with_keys
from attacks.tools import found, found_despite_blanks, found_likely, inferred, most_frequent

CASES = Cases()


@CASES.add("Nothing was done: most persons are alone with their six keys.", least=900)
def untouched() -> Built:
    data = with_keys()
    return data, data, lambda: found(data.frame, data.frame, KEYS)


@CASES.add("Only the names were dropped; the keys find nearly everybody.", least=900)
def only_names_dropped() -> Built:
    frame = persons().drop("income", "rent", "savings")
    frame = frame.with_columns(pl.format("Person {}", pl.int_range(frame.height)).alias("name"))
    data = sdc.read(frame, keys=KEYS, sensitive="health", direct="name", keep_direct=True)
    safe = sdc.protect.drop(data)
    return data, safe, lambda: found(data.frame, safe.frame, KEYS)


@CASES.add("The names are still in the file.", least=1_200)
def names_kept() -> Built:
    frame = persons().select("sex", "health")
    frame = frame.with_columns(pl.format("Person {}", pl.int_range(frame.height)).alias("name"))
    data = sdc.read(frame, keys=["sex"], sensitive="health", direct="name", keep_direct=True)
    return data, data, lambda: found(data.frame, data.frame, ["name"])


@CASES.add("Ten-year classes of age leave five other keys, and most persons stay alone.", least=500)
def age_in_classes_and_nothing_else() -> Built:
    data = with_keys()
    safe = sdc.protect.recode(data, variable="age", width=10)
    return data, safe, lambda: found(safe.frame, safe.frame, KEYS)


@CASES.add(
    "Blanks that match anything make the file 3-anonymous on paper; the one record that shows all of a "
    "person's values is still that person's.",
    least=40,
)
def wildcard_suppression() -> Built:
    data = with_keys()
    safe = sdc.protect.suppress(data, k=3, missing="wildcard")
    return data, safe, lambda: found_despite_blanks(data.frame, safe.frame, KEYS)


@CASES.add("Wildcards after recoding: fewer blanks, and whoever is not blanked is still alone.", least=40)
def wildcard_suppression_after_recoding() -> Built:
    data = with_keys()
    wide = sdc.protect.recode(data, variable="age", width=10)
    safe = sdc.protect.suppress(wide, k=3, missing="wildcard")
    return data, safe, lambda: found_despite_blanks(wide.frame, safe.frame, KEYS)


@CASES.add("Only three of the six keys were made 3-anonymous; the other three find the persons.", least=500)
def suppression_on_half_of_the_keys() -> Built:
    data = with_keys()
    safe = sdc.protect.suppress(data, k=3, keys=["region", "sex", "education"], missing="category")
    return data, safe, lambda: found_likely(data.frame, safe.frame, KEYS)


@CASES.add(
    "Only single values and pairs of keys are 3-anonymous; three keys together single persons out.", least=200
)
def suppression_on_pairs_of_keys() -> Built:
    data = with_keys()
    safe = sdc.protect.suppress(data, k=3, subsets=2)
    return data, safe, lambda: found_likely(data.frame, safe.frame, KEYS)


@CASES.add("Only records above a risk of one half were blanked: pairs of persons remain pairs.", least=200)
def only_the_riskiest_blanked() -> Built:
    keys = ["region", "sex", "age"]
    data = sdc.read(persons().select(*keys, "health"), keys=keys, sensitive="health")
    safe = sdc.protect.suppress_risky(data, threshold=0.9)
    return data, safe, lambda: found_despite_blanks(data.frame, safe.frame, keys, ties=True)


@CASES.add(
    "With 95 in 100 values kept, six keys agree for most persons; individual risk even rises.", least=500
)
def pram_that_changes_little() -> Built:
    data = with_keys()
    safe = sdc.protect.pram(data, variables=list(KEYS), stay=0.95, rng=1)
    return data, safe, lambda: found_likely(data.frame, safe.frame, KEYS)


@CASES.add("One key was randomised; the other five are true and find the persons.", least=500)
def pram_on_one_key() -> Built:
    data = with_keys()
    safe = sdc.protect.pram(data, variables=["citizenship"], stay=0.3, rng=1)
    return data, safe, lambda: found_likely(data.frame, safe.frame, [k for k in KEYS if k != "citizenship"])


@CASES.add("Regions of one record in twenty were exchanged: the others are where they were.", least=700)
def swapping_where_most_stay() -> Built:
    data = with_keys()
    safe = sdc.protect.swap_records(data, geography=["region"], share=0.05, rng=1)
    return data, safe, lambda: found_likely(data.frame, safe.frame, KEYS)


@CASES.add("All regions were shuffled, the other five keys were not.", least=500)
def one_key_shuffled() -> Built:
    data = with_keys()
    safe = data.with_frame(data.frame.with_columns(pl.col("region").shuffle(seed=1)))
    return data, safe, lambda: found(data.frame, safe.frame, [k for k in KEYS if k != "region"])


@CASES.add("Ages moved by at most a year: two candidates at most, and the other keys decide.", least=600)
def ages_moved_by_a_year() -> Built:
    data = with_keys()
    move = pl.Series(np.random.default_rng(3).integers(-1, 2, data.height))
    safe = data.with_frame(data.frame.with_columns(pl.col("age") + move))
    others = [k for k in KEYS if k != "age"]

    def attack() -> int:
        hits = 0
        for step in (-1, 0, 1):
            moved = data.frame.with_columns(pl.col("age") + step)
            alone = moved.join(safe.frame.group_by(*others, "age").len(), on=[*others, "age"], how="left")[
                "len"
            ]
            hits += int(((moved["age"] == safe.frame["age"]) & (alone == 1)).sum())
        return hits

    return data, safe, attack


@CASES.add("The keys have other names in the released file, so no measure looks at them.", least=900)
def keys_under_other_names() -> Built:
    data = with_keys()
    names = {k: f"v{i}" for i, k in enumerate(KEYS)}
    safe = sdc.read(data.frame.rename(names), sensitive="health")
    return data, safe, lambda: found(data.frame.rename(names), safe.frame, list(names.values()))


@CASES.add("Three keys lost their role in the released file and are in it as they were.", least=600)
def keys_that_lost_their_role() -> Built:
    data = with_keys()
    safe = sdc.protect.recode(data, variable="age", width=20).with_roles(keys=["age", "sex"])
    return data, safe, lambda: found(safe.frame, safe.frame, KEYS)


@CASES.add(
    "Two keys are in the released file only: nobody told the library that the original lacks them.", least=500
)
def keys_only_in_the_released_file() -> Built:
    whole = persons()
    data = sdc.read(
        whole.select("region", "sex", "education", "health"),
        keys=["region", "sex", "education"],
        sensitive="health",
    )
    safe = data.with_frame(data.frame.with_columns(whole["age"], whole["occupation"]))
    known = ["region", "sex", "education", "age", "occupation"]
    return data, safe, lambda: found(whole, safe.frame, known)


@CASES.add(
    "Age was dropped by hand, without a step, and its copy under another name is still there.", least=500
)
def key_dropped_and_copied_by_hand() -> Built:
    data = with_keys()
    frame = data.frame.rename({"age": "alter"})
    safe = sdc.read(frame, keys=[k for k in KEYS if k != "age"], sensitive="health")
    return (
        data,
        safe,
        lambda: found(data.frame.rename({"age": "alter"}), safe.frame, [*safe.roles.keys, "alter"]),
    )


@CASES.add(
    "Ages of half of the persons are missing in the original, too; those that are there find people.",
    least=250,
)
def keys_missing_from_the_start() -> Built:
    frame = persons().drop("income", "rent", "savings")
    gone = pl.Series(np.random.default_rng(1).random(frame.height) < 0.5)
    frame = frame.with_columns(pl.when(~gone).then("age").alias("age"))
    data = sdc.read(frame, keys=KEYS, sensitive="health")
    safe = sdc.protect.recode(data, variable="education", breaks=[1, 3, 6])
    return (
        data,
        safe,
        lambda: found(
            safe.frame.filter(pl.col("age").is_not_null()),
            safe.frame.filter(pl.col("age").is_not_null()),
            KEYS,
        ),
    )


@CASES.add("A random half of the records: whoever is in it and alone in the original is found.", least=400)
def sample_that_keeps_uniques() -> Built:
    frame = persons().drop("income", "rent", "savings").with_row_index("id")
    data = sdc.read(frame, keys=KEYS, sensitive="health", id="id")
    safe = sdc.protect.sample_records(data, share=0.5, rng=1)
    known = data.frame.join(
        safe.frame.with_row_index("row").select("id", "row"), on="id", maintain_order="left"
    )
    return data, safe, lambda: found(known, safe.frame, KEYS, known["row"].to_numpy())


@CASES.add("Pairs of records were taken out, persons who are alone were kept.", least=800)
def duplicates_taken_out() -> Built:
    frame = persons().drop("income", "rent", "savings").with_row_index("id")
    data = sdc.read(frame, keys=KEYS, sensitive="health", id="id")
    alone = frame.filter(pl.len().over(KEYS) == 1)
    safe = data.with_frame(alone)
    return data, safe, lambda: found(alone, safe.frame, KEYS)


@CASES.add(
    "All persons of a large cell have the same health: nobody is found, and everybody's health is told.",
    least=800,
)
def homogeneous_groups() -> Built:
    data = coarse(1_600)
    wide = sdc.protect.recode(data, variable="age", breaks=[16, 40, 60, 90])
    cell = wide.frame.select(pl.struct("area", "sex", "age").rank("dense"))["area"]
    illness = cell.cast(pl.Int64).replace_strict({i: ["good", "fair", "poor"][i % 3] for i in range(1, 40)})
    data = data.with_frame(data.frame.with_columns(illness.alias("health")))
    safe = wide.with_frame(wide.frame.with_columns(illness.alias("health")))
    return (
        data,
        safe,
        lambda: inferred(data.frame["health"], most_frequent(safe.frame, "health", ["area", "sex", "age"])),
    )


@CASES.add(
    "In large cells nine in ten earn within 2 % of each other: who knows the keys knows the income.",
    least=700,
)
def cells_with_nearly_the_same_number() -> Built:
    rng = np.random.default_rng(2)
    frame = persons(1_200).select("sex", "region")
    base = frame["region"].cast(pl.Float64) * 700 + 500
    income = (base * pl.Series(rng.normal(1, 0.005, frame.height))).round(2)
    data = sdc.read(frame.with_columns(income=income), keys=["sex", "region"], sensitive="income")
    safe = data

    def attack() -> int:
        guess = safe.frame.select(pl.col("income").median().over("sex", "region"))["income"]
        return inferred(data.frame["income"], guess, within=0.02)

    return data, safe, attack


@CASES.add(
    "Weights were written a hundred times too large: the persons are as easy to find as ever.", least=900
)
def weights_with_implied_decimals() -> Built:
    frame = persons().drop("income", "rent", "savings").with_columns(weight=pl.lit(1.25))
    data = sdc.read(
        frame.with_columns(pl.col("weight") * 10_000), keys=KEYS, sensitive="health", weight="weight"
    )
    return data, data, lambda: found(data.frame, data.frame, KEYS)
