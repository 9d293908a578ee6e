"""Numbers of single persons and households that synthesize must not give away, however records are drawn."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.labels import Labels

N = 900
KEYS = ["region", "sex", "age"]


def people(seed: int = 1, **more: object) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    age = draw.integers(16, 90, N)
    return pl.DataFrame(
        {
            "region": draw.integers(1, 7, N),
            "sex": draw.choice([1, 2], N),
            "age": age,
            "income": np.round(np.exp(draw.normal(9.5 + age / 200, 0.7, N)), 2),
            "health": draw.choice(["good", "fair", "poor"], N),
            **more,
        }
    )


def read(frame: pl.DataFrame, **roles: object) -> sdc.Microdata:
    return sdc.read(frame, keys=KEYS, sensitive="health", **{"numeric": "income", **roles})


def of_few(frame: pl.DataFrame, column: str, unit: str | None = None) -> pl.Series:
    """The values of a column that fewer than five persons or households have."""
    count = pl.len() if unit is None else pl.col(unit).n_unique()
    return frame.drop_nulls(column).group_by(column).agg(count.alias("n")).filter(pl.col("n") < 5)[column]


def come_back(made: sdc.Microdata, column: str, values: pl.Series) -> int:
    return int(made.frame[column].is_in(values.implode()).sum())


@pytest.mark.parametrize(
    "options", [{"proper": True}, {"weights": "equal"}, {"proper": True, "weights": "equal"}], ids=str
)
def test_incomes_of_persons_who_are_drawn_several_times(options):
    """A bootstrap has a person several times: between two of them lies the person's own value."""
    draw = np.random.default_rng(2)
    weights = np.exp(draw.normal(5, 1, N))
    frame = people(weight=weights)
    frame = frame.with_columns(
        pl.when(pl.col("income") == pl.col("income").max())
        .then(weights.sum() / 50)
        .otherwise("weight")
        .alias("weight")
    )
    made = sdc.protect.synthesize(read(frame, weight="weight"), rng=1, **options)
    assert come_back(made, "income", of_few(frame, "income")) <= 3
    assert made.frame["income"].max() < frame["income"].max()


@pytest.mark.parametrize("sharing", [2, 3, 4])
def test_incomes_that_a_few_persons_share(sharing):
    frame = people()
    shared = np.repeat(frame["income"].to_numpy()[: N // sharing + 1], sharing)[:N]
    frame = frame.with_columns(income=pl.Series(shared))
    made = sdc.protect.synthesize(read(frame), rng=1)
    assert come_back(made, "income", of_few(frame, "income")) <= 3


def homes(seed: int = 1, count: int = 300) -> pl.DataFrame:
    """Households of one to seven: one rent, and one income but for some children."""
    draw = np.random.default_rng(seed)
    size = draw.integers(1, 8, count)
    home = np.repeat(np.arange(count), size)
    head = np.append(True, home[1:] != home[:-1])
    income = np.round(np.exp(draw.normal(9.5, 0.7, count)), 2)[home]
    return pl.DataFrame(
        {
            "home": home,
            "region": draw.integers(1, 7, count)[home],
            "sex": draw.choice([1, 2], len(home)),
            "age": draw.integers(0, 90, len(home)),
            "head": head,
            "rent": np.round(np.exp(draw.normal(6.5, 0.6, count)), 2)[home],
            "income": np.where(~head & (draw.random(len(home)) < 0.01), 0.0, income),
            "health": draw.choice(["good", "fair", "poor"], len(home)),
        }
    )


@pytest.mark.parametrize("proper", [False, True])
def test_numbers_of_large_households(proper):
    """What seven members share is the number of one household, also where it is not shared by all."""
    frame = homes()
    data = read(frame, numeric=["rent", "income"], household="home")
    made = sdc.protect.synthesize(data, proper=proper, rng=1)
    for column in ("rent", "income"):
        single = of_few(frame, column, "home")
        assert come_back(made, column, single) <= 3
        assert made.frame[column].max() < frame[column].max()


def test_a_rent_of_one_household_is_no_spike():
    frame = homes(count=30).with_columns(
        pl.when(pl.col("home") == 3).then(9_999.5).otherwise("rent").alias("rent")
    )
    frame = pl.concat([frame, *[frame.filter(pl.col("home") == 3)] * 3])
    data = read(frame, numeric=["rent", "income"], household="home")
    made = sdc.protect.synthesize(data, rng=1)
    assert made.log[-1].figures["spikes"].get("rent", 0) == 0
    assert come_back(made, "rent", pl.Series([9_999.5])) == 0


def test_a_label_of_one_code_makes_no_codes_of_numbers():
    """Incomes of SPSS files have a label for −9; each income would be a category, which is drawn as it is."""
    frame = people()
    frame = frame.with_columns(
        pl.when(pl.int_range(pl.len()) % 40 == 0).then(-9.0).otherwise("income").alias("income")
    )
    data = sdc.Microdata.of(
        frame,
        keys=KEYS,
        sensitive=["health", "income"],
        labels=Labels(values={"income": {-9.0: "no answer"}, "sex": {1: "m", 2: "f"}}),
    )
    made = sdc.protect.synthesize(data, rng=1)
    assert come_back(made, "income", of_few(frame, "income")) <= 3
    assert (made.frame["income"] == -9).sum() == pytest.approx((frame["income"] == -9).sum(), abs=10)
    assert made.frame.filter(pl.col("income") != -9)["income"].min() > 0, "the code is no neighbour"
    # an intruder who reads incomes off within 10 % is not stopped by noise of 1 %
    near = frame.with_columns(
        pl.when(pl.col("income") != -9).then(pl.col("income") * 1.01).otherwise("income").alias("income")
    )
    told = sdc.risk.attribute_inference(data, data.with_frame(near), sensitive="income")
    assert told.value > 0.3


@pytest.mark.parametrize("kind", ["with cents", "far apart", "dates"])
def test_few_amounts_and_dates_are_no_categories(kind):
    """Fifteen persons have a grant: of fifteen different amounts each is that of one of them."""
    drawn = np.random.default_rng(5).lognormal(10, 1, 15)
    kinds = {
        "with cents": (0.0, drawn.round(2).tolist()),
        "far apart": (0, drawn.astype(int).tolist()),
        "dates": (None, [date(2010, 1, 1) + timedelta(days=int(x) // 20) for x in drawn]),
    }
    nothing, amounts = kinds[kind]
    frame = people(grant=pl.Series([nothing] * (N - 15) + amounts)).sample(fraction=1, shuffle=True, seed=1)
    data = sdc.read(frame, keys=KEYS, numeric="income", sensitive=["health", "grant"])
    made = sdc.protect.synthesize(data, rng=1)
    assert come_back(made, "grant", pl.Series(amounts)) == 0
    column = made.frame["grant"]
    assert len(column) - (column.null_count() if nothing is None else (column == 0).sum()) == pytest.approx(
        15, abs=12
    )


def test_counts_with_few_values_stay_counts():
    frame = people(children=np.minimum(np.random.default_rng(3).poisson(1.5, N), 8))
    made = sdc.protect.synthesize(read(frame), rng=1)
    assert set(made.frame["children"]) <= set(frame["children"])


@pytest.mark.parametrize("kind", ["one person", "one household", "one who outweighs four"])
def test_the_weight_of_a_small_stratum(kind):
    """Weights that add up to the total of a stratum with one person in it tell the weight of that person."""
    draw = np.random.default_rng(4)
    many = {"one person": 1, "one household": 6, "one who outweighs four": 5}[kind]
    area = np.append(np.repeat([1, 2, 3], 300), np.full(many, 9))
    weight = np.append(np.exp(draw.normal(5, 0.5, 900)), np.full(many, 777.125))
    home = np.append(np.arange(900), np.full(many, 900))
    if kind == "one who outweighs four":
        weight[-5:], home[-5:] = [777.125, 1, 1, 1, 1], np.arange(900, 905)
    frame = pl.DataFrame({"area": area, "w": weight, "home": home, "sex": draw.choice([1, 2], len(area))})
    data = sdc.read(frame, keys="sex", weight="w", strata="area", household="home")
    total = weight[area == 9].sum()
    sums = [
        made.frame.filter(pl.col("area") == 9)["w"].sum()
        for made in sdc.synthesize(data, m=10, seed=1)
        if made.frame["area"].is_in([9]).any()
    ]
    assert sums
    assert sum(abs(s - total) < 1e-6 for s in sums) == 0
    first = sdc.protect.synthesize(data, rng=1).frame.filter(pl.col("area") == 1)["w"].sum()
    assert first == pytest.approx(weight[area == 1].sum()), "large strata have their totals"
