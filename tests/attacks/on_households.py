"""Attacks on households: persons one by one are hidden, their household is not."""

import polars as pl

import sdckit as sdc
from attacks.case import Built, Cases
from attacks.people import households
from attacks.tools import found

CASES = Cases()


def composition(frame: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """One row a household: the values of all members, sorted."""
    members = pl.concat_str([pl.col(c).cast(pl.String).fill_null("?") for c in columns], separator="/")
    return frame.group_by("home").agg(members.sort().str.join(" ").alias("members"), pl.len()).sort("home")


def households_found(true: pl.DataFrame, released: pl.DataFrame, columns: list[str]) -> int:
    """Households whose members only one released household has; numbers of households are the same here."""
    return found(composition(true, columns), composition(released, columns), ["members"])


@CASES.add("Cells of persons hold dozens; the members of a household together are one of a kind.", least=150)
def members_together() -> Built:
    data = sdc.read(households(), keys=["region", "sex", "age"], household="home", sensitive="health")
    safe = sdc.protect.recode(data, variable="age", width=20)
    safe = sdc.protect.group(safe, variables=["region"], map={"A": [1, 2], "B": [3, 4, 5, 6, 7, 8]})
    return data, safe, lambda: households_found(safe.frame, safe.frame, ["region", "sex", "age"])


@CASES.add("Ten-year classes and suppression to k = 3 by persons; large households stay unique.", least=150)
def suppressed_by_persons() -> Built:
    data = sdc.read(households(), keys=["region", "sex", "age"], household="home", sensitive="health")
    wide = sdc.protect.recode(data, variable="age", width=10)
    safe = sdc.protect.suppress(wide, k=3, missing="category")

    def attack() -> int:
        whole = safe.frame.filter(
            ~pl.any_horizontal(pl.col("region", "sex", "age").is_null()).any().over("home")
        )
        return households_found(whole, whole, ["region", "sex", "age"])

    return data, safe, attack


@CASES.add("The size of the household was coarsened; counting its members gives it back.", least=250)
def size_of_the_household_counted() -> Built:
    data = sdc.read(households().drop("health"), keys=["size", "sex"], household="home")
    safe = sdc.protect.top_code(data, variables=["size"], value=3)
    counted = safe.frame.select(pl.len().over("home").alias("size"))["size"]
    hidden = data.frame["size"] > 3
    return data, safe, lambda: int(((counted == data.frame["size"]) & hidden).sum())


@CASES.add("Household numbers were dropped; members stand together and share a region and a size.", least=300)
def households_by_their_order() -> Built:
    data = sdc.read(households().drop("health"), keys=["region", "sex", "size"], household="home")
    safe = sdc.protect.drop(data, variables=["home"])

    def attack() -> int:
        rows, right, at = safe.frame, 0, 0
        while at < rows.height:  # so many rows as the size says are one household
            size = rows["size"][at]
            right += data.frame["home"][at : at + size].n_unique() == 1
            at += size
        return right

    return data, safe, attack
