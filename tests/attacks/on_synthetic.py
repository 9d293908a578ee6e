"""Attacks on files that are called synthetic."""

import numpy as np
import polars as pl

import sdckit as sdc
from attacks.case import Built, Cases
from attacks.people import KEYS, persons
from attacks.tools import found, same_cells, texts

CASES = Cases()
ALL = [*KEYS, "income", "health"]


def original(n: int = 1_200) -> sdc.Microdata:
    return sdc.read(persons(n).select(ALL), keys=KEYS, numeric=["income"], sensitive="health")


def copies(data: sdc.Microdata, safe: sdc.Microdata, columns: list[str]) -> int:
    """Original persons, alone with their values, who are in the released file as they are."""
    alone = texts(data.frame, columns).filter(pl.len().over(columns) == 1)
    return alone.join(texts(safe.frame, columns).unique(), on=columns, how="semi").height


@CASES.add("A verbatim copy in another order, under the name of a synthetic file.", least=1_100)
def verbatim_copy() -> Built:
    data = original()
    safe = sdc.read(
        data.frame.sample(fraction=1, shuffle=True, seed=1), keys=KEYS, numeric=["income"], sensitive="health"
    )
    return data, safe, lambda: copies(data, safe, ALL)


@CASES.add("A generator that learned one record in five by heart.", least=200)
def a_fifth_are_copies() -> Built:
    data, others = original(), persons(1_200, seed=99).select(ALL)
    frame = pl.concat([data.frame.sample(240, seed=1), others.sample(960, seed=1)]).sample(
        fraction=1, shuffle=True, seed=2
    )
    safe = sdc.read(frame, keys=KEYS, numeric=["income"], sensitive="health")
    return data, safe, lambda: copies(data, safe, ALL)


@CASES.add("Copies with a jitter of one part in a thousand on the income.", least=1_000)
def copies_with_a_jitter() -> Built:
    data = original()
    jitter = pl.Series(np.random.default_rng(1).normal(1, 0.001, data.height))
    frame = data.frame.with_columns((pl.col("income") * jitter).round(2)).sample(
        fraction=1, shuffle=True, seed=1
    )
    safe = sdc.read(frame, keys=KEYS, numeric=["income"], sensitive="health")

    def attack() -> int:
        same = same_cells(data.frame, safe.frame, KEYS)
        ratio = data.frame["income"].to_numpy()[:, None] / safe.frame["income"].to_numpy()[None, :]
        return int(((same & (abs(ratio - 1) < 0.005)).sum(axis=1) == 1).sum())

    return data, safe, attack


@CASES.add("Only health was synthesised; six true keys say who is in the file.", least=900)
def synthetic_answers_under_true_keys() -> Built:
    data = original()
    safe = data.with_frame(data.frame.with_columns(pl.col("health", "income").shuffle(seed=3)))
    return data, safe, lambda: found(data.frame, safe.frame, KEYS)


@CASES.add("Bootstrapped: records drawn with replacement are persons.", least=600)
def bootstrap() -> Built:
    data = original()
    frame = data.frame.sample(fraction=1, with_replacement=True, seed=5)
    safe = sdc.read(frame, keys=KEYS, numeric=["income"], sensitive="health")
    return data, safe, lambda: copies(data, safe, ALL)


@CASES.add("The rare persons of the original were put into the synthetic file as they are.", least=100)
def outliers_copied() -> Built:
    data, others = original(), persons(1_200, seed=98).select(ALL)
    rare = data.frame.filter(
        (pl.col("citizenship") > 2) | (pl.col("income") > 9_000) | (pl.col("region") > 7)
    )
    frame = pl.concat([rare, others.head(1_200 - rare.height)]).sample(fraction=1, shuffle=True, seed=2)
    safe = sdc.read(frame, keys=KEYS, numeric=["income"], sensitive="health")
    return data, safe, lambda: copies(data, safe, ALL)


def held_back(n: int = 1_200) -> pl.DataFrame:
    """People of the same population who were not in the original."""
    return persons(n, seed=77).select(ALL)


CONTROL = {"closest_record": {"holdout": held_back()}, "attribute_inference": {"holdout": held_back()}}


@CASES.add("Trees without restraint: leaves of one donor repeat the records.", least=700, options=CONTROL)
def trees_that_learned_by_heart() -> Built:
    data = original()
    safe = sdc.protect.synthesize(data, leaf=1, gain=0, smooth="none", tails=0, rng=1)
    return data, safe, lambda: copies(data, safe, ALL)


@CASES.add("The same file read from elsewhere, without its log and without people held back.", least=700)
def trees_that_nobody_judged() -> Built:
    data = original()
    safe = sdc.protect.synthesize(data, leaf=1, gain=0, smooth="none", tails=0, rng=2)
    frame = safe.frame
    return (
        data,
        sdc.read(frame, keys=KEYS, numeric=["income"], sensitive="health"),
        lambda: copies(data, safe, ALL),
    )


@CASES.add("Only incomes were drawn anew: six true keys still say who is in the file.", least=900)
def incomes_drawn_anew_under_true_keys() -> Built:
    data = original()
    options = {"leaf": 1, "gain": 0, "smooth": "none", "tails": 0}
    safe = sdc.protect.synthesize(data, variables=["income"], rng=1, **options)
    return data, safe, lambda: found(data.frame, safe.frame, KEYS)


@CASES.add("Copies with noise above what intruders are told to tolerate, called synthetic.", least=700)
def noised_copies() -> Built:
    data = original()
    noise = pl.Series(np.exp(np.random.default_rng(2).normal(0, 0.12, data.height)))
    frame = data.frame.with_columns((pl.col("income") * noise).round(2)).sample(
        fraction=1, shuffle=True, seed=1
    )
    safe = sdc.read(frame, keys=KEYS, numeric=["income"], sensitive="health")
    return data, safe, lambda: copies(data, safe, [*KEYS, "health"])


UNLINKED = {**CONTROL, "reidentification_risk": {"holdout": held_back()}, "linked": False}


@CASES.add("A bootstrap, said not to be linked, with people held back.", least=600, options=UNLINKED)
def bootstrap_said_to_be_synthetic() -> Built:
    data = original()
    frame = data.frame.sample(fraction=1, with_replacement=True, seed=6)
    safe = sdc.read(frame, keys=KEYS, numeric=["income"], sensitive="health")
    return data, safe, lambda: copies(data, safe, ALL)


@CASES.add("Copies with one key renamed, said not to be linked.", least=700, options=UNLINKED)
def one_key_renamed() -> Built:
    data = original()
    frame = data.frame.with_columns(pl.col("region") % 8 + 1).sample(fraction=1, shuffle=True, seed=1)
    safe = sdc.read(frame, keys=KEYS, numeric=["income"], sensitive="health")
    return data, safe, lambda: copies(data, safe, [c for c in ALL if c != "region"])


@CASES.add(
    "Each person three times with noise among other people, said not to be linked.",
    least=1_000,
    options=UNLINKED,
)
def noised_copies_three_times() -> Built:
    data, rng = original(), np.random.default_rng(3)

    def noised() -> pl.DataFrame:
        factor = pl.Series(np.exp(rng.normal(0, 0.1, data.height)))
        return data.frame.with_columns((pl.col("income") * factor).round(2))

    others = persons(1_200, seed=97).select(ALL)
    frame = pl.concat([noised(), noised(), noised(), others]).sample(fraction=1, shuffle=True, seed=2)
    safe = sdc.read(frame, keys=KEYS, numeric=["income"], sensitive="health")
    return data, safe, lambda: copies(data, safe, [*KEYS, "health"])


@CASES.add("Copies with three keys renamed, said not to be linked.", least=700, options=UNLINKED)
def three_keys_renamed() -> Built:
    data = original()
    frame = data.frame.with_columns(
        pl.col("region") % 8 + 1,
        pl.col("sex").replace({"f": "m", "m": "f"}),
        pl.col("education") % 5 + 1,
    ).sample(fraction=1, shuffle=True, seed=1)
    safe = sdc.read(frame, keys=KEYS, numeric=["income"], sensitive="health")
    columns = ["age", "citizenship", "occupation", "income"]
    return data, safe, lambda: copies(data, safe, columns)


@CASES.add("Four keys shuffled: the incomes still stand beside the others.", least=700, options=UNLINKED)
def four_keys_shuffled() -> Built:
    data = original()
    moved = [pl.col(c).shuffle(seed=i) for i, c in enumerate(KEYS[:4])]
    frame = data.frame.with_columns(moved).sample(fraction=1, shuffle=True, seed=1)
    safe = sdc.read(frame, keys=KEYS, numeric=["income"], sensitive="health")
    return data, safe, lambda: copies(data, safe, ["citizenship", "occupation", "income", "health"])


@CASES.add("Two keys renamed, nobody held back and nothing sensitive.", least=700, options={"linked": False})
def renamed_and_nobody_held_back() -> Built:
    data = sdc.read(original().frame.drop("health"), keys=KEYS, numeric=["income"])
    frame = data.frame.with_columns(pl.col("region", "education") + 100).sample(
        fraction=1, shuffle=True, seed=1
    )
    safe = sdc.read(frame, keys=KEYS, numeric=["income"])
    return data, safe, lambda: copies(data, safe, ["sex", "age", "citizenship", "occupation", "income"])


def partly_of_the_original() -> pl.DataFrame:
    """People said to be held back: of nearly half the record is in the original."""
    return pl.concat([original().frame.head(540), held_back(660)])


PARTLY = {
    name: {"holdout": partly_of_the_original()}
    for name in ("closest_record", "attribute_inference", "reidentification_risk")
}


@CASES.add(
    "As many copies as people of the original among those held back.",
    least=500,
    options={**PARTLY, "linked": False},
)
def held_back_from_the_original() -> Built:
    data, others = original(), persons(660, seed=96).select(ALL)
    frame = pl.concat([data.frame.head(540), others]).sample(fraction=1, shuffle=True, seed=2)
    safe = sdc.read(frame, keys=KEYS, numeric=["income"], sensitive="health")
    return data, safe, lambda: copies(data, safe, ALL)
