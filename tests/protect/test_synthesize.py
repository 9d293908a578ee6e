"""synthesize: full and partial, what stays and what never gets out, rules, strata, weights, odd files."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import ColumnError, DataError, OptionError


@pytest.fixture(scope="module")
def persons() -> sdc.Microdata:
    """The demo survey without households: records one by one."""
    data = sdc.demo.survey(n=1_500, seed=3)
    roles = {k: v for k, v in data.roles.as_dict().items() if k not in ("household", "cluster")}
    return sdc.Microdata.of(data.frame.drop("household_id", "psu"), **roles)


@pytest.fixture(scope="module")
def made(persons) -> sdc.Microdata:
    return sdc.protect.synthesize(persons, rng=1)


def small(n=400, seed=1, **roles) -> sdc.Microdata:
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    age = rng.integers(0, 90, n)
    works = np.where(age < 15, None, rng.choice(["yes", "no"], n))
    income = np.where(works == "yes", np.round(rng.lognormal(7, 1, n)), 0.0)
    frame = pl.DataFrame({"sex": sex, "age": age, "works": works.tolist(), "income": income})
    frame = frame.with_columns(spent=(pl.col("income") * pl.Series(rng.random(n))).round(0))
    return sdc.Microdata.of(frame, **({"keys": ["sex", "age"]} | roles))


def test_records_of_a_full_synthesis_are_no_persons(persons, made):
    effects = made.log[-1].effects
    assert effects.new_records
    assert effects.renames_ids
    assert set(effects.synthesises) == set(persons.columns) - {"person_id"}
    assert made.columns == persons.columns
    assert made.frame.schema == persons.frame.schema
    assert not set(made.frame["person_id"]) & set(persons.frame["person_id"])
    assert made.labels.values == persons.labels.values
    assert not made.frame["weight"].equals(persons.frame["weight"])


def test_distributions_and_relations_are_kept(persons, made):
    for column in ("sex", "region", "education"):
        before, after = (d.frame[column].value_counts(normalize=True).sort(column) for d in (persons, made))
        both = before.join(after, on=column, how="full", nulls_equal=True).fill_null(0.0)
        assert (both["proportion"] - both["proportion_right"]).abs().max() < 0.05

    def means(data):
        return data.frame.group_by("urban").agg(pl.col("expenditure").median()).sort("urban")["expenditure"]

    assert means(made).to_list() == pytest.approx(means(persons).to_list(), rel=0.15)


def test_the_same_seed_gives_the_same_file_and_the_fit_is_kept(persons, made):
    again = sdc.protect.synthesize(persons, rng=1)
    assert again.frame.equals(made.frame)
    assert not sdc.protect.synthesize(persons, rng=2).frame.equals(made.frame)
    fits = [key for key in persons.cache if key[0] == "synthesis" and "uniques=False" in key[1]]
    assert len(fits) == len(set(fits)) > 0


def test_partial_synthesis_keeps_the_others_in_their_place(persons):
    part = sdc.protect.synthesize(persons, variables=["income", "health"], rng=1)
    kept = [c for c in persons.columns if c not in ("income", "health")]
    assert part.frame.select(kept).equals(persons.frame.select(kept))
    assert not part.frame["income"].equals(persons.frame["income"])
    effects = part.log[-1].effects
    assert effects.synthesises == ("income", "health") or set(effects.synthesises) == {"income", "health"}
    assert not effects.new_records
    # the relation with what is kept stays: nobody below 15 has an income
    young = part.frame.filter(pl.col("age") < 15)
    assert young["income"].null_count() == young.height


def test_only_the_records_that_a_measure_flags_get_new_values(persons):
    risky = {"individual_risk": {"threshold": 0.001}}
    some = sdc.protect.synthesize(persons, variables=["age", "income"], where=risky, rng=1)
    flagged = sdc.risk.individual_risk(persons, threshold=0.001).parts["above_threshold"].to_numpy()
    assert 0 < flagged.sum() < persons.height
    changed = some.frame["age"] != persons.frame["age"]
    assert not changed.filter(~flagged).any()
    assert changed.filter(flagged).any()


def test_no_extreme_number_is_released(persons, made):
    for column in ("expenditure", "savings"):
        values = persons.frame[column].drop_nulls().sort()
        outside = {*values.head(5), *values.tail(5)} - {v for v in values if (values == v).sum() > 5}
        released = made.frame[column].drop_nulls()
        assert released.is_in(list(outside)).sum() <= 1, "by chance at most"


@pytest.mark.parametrize(("n", "known", "leaf"), [(400, 15, 5), (15, 15, 5), (12, 12, 5), (400, 1, 5)])
def test_numbers_that_few_have_are_no_spikes(n, known, leaf):
    """Each of 15 numbers has more than 5 % of the records, and is one person's."""
    rng = np.random.default_rng(1)
    paid = [round(float(v), 2) for v in rng.lognormal(7, 1, known)] + [None] * (n - known)
    frame = pl.DataFrame({"sex": rng.choice(["f", "m"], n), "paid": paid})
    data = sdc.Microdata.of(frame, keys=["sex"], numeric=["paid"])
    for made in sdc.synthesize(data, m=5, seed=1, leaf=leaf):
        assert not made.frame["paid"].drop_nulls().is_in(frame["paid"].drop_nulls().implode()).any()


def test_unique_numbers_come_back_no_more_than_by_chance():
    rng = np.random.default_rng(1)
    x = np.round(rng.lognormal(10, 1, 2_000), 2)  # all of them unique
    data = sdc.Microdata.of(pl.DataFrame({"g": rng.integers(0, 5, 2_000), "x": x}), numeric="x")
    made = sdc.protect.synthesize(data, rng=1)
    assert made.frame["x"].is_in(x.tolist()).mean() < 0.01
    bare = sdc.protect.synthesize(data, smooth="none", tails=0, rng=1)
    assert bare.frame["x"].is_in(x.tolist()).all()


def test_no_record_repeats_an_original_that_is_unique_on_the_keys(persons):
    made = sdc.protect.synthesize(persons, uniques=True, rng=1)
    keys = list(persons.roles.keys)
    unique = persons.frame.group_by(keys).len().filter(pl.col("len") == 1)
    again = made.frame.join(unique, on=keys, how="semi", nulls_equal=True)
    figures = made.log[-1].figures
    assert again.height == figures.get("left_as_copies", 0)
    assert again.height < 0.002 * persons.height
    assert figures["redrawn_as_copies"] > 0


def test_leaves_of_all_records_give_independent_columns():
    data = small(1_000)
    made = sdc.protect.synthesize(data, predictors=dict.fromkeys(data.columns, ()), zeros=False, rng=1)
    assert abs(made.frame.select(pl.corr("income", "spent")).item()) < 0.15
    assert data.frame.select(pl.corr("income", "spent")).item() > 0.5


def test_rules_hold_for_every_record():
    data = small()
    rules = [{"when": "age < 15", "then": {"works": None}}, {"when": "works = 'no'", "then": {"income": 0}}]
    made = sdc.protect.synthesize(data, rules=rules, rng=1, order=["works"])
    assert made.frame.filter(pl.col("age") < 15)["works"].is_null().all()
    assert (made.frame.filter(pl.col("works") == "no")["income"] == 0).all()
    assert made.frame.filter(pl.col("age") >= 15)["works"].null_count() == 0


def test_a_rule_may_give_a_value_that_nobody_has():
    made = sdc.protect.synthesize(small(), rules=[{"when": "age > 60", "then": {"works": "retired"}}], rng=1)
    assert (made.frame.filter(pl.col("age") > 60)["works"] == "retired").all()
    assert not (made.frame.filter(pl.col("age") <= 60)["works"] == "retired").any()


def test_requirements_hold_and_computed_columns_follow():
    data = small()
    data = data.with_frame(data.frame.with_columns(left=pl.col("income") - pl.col("spent")))
    made = sdc.protect.synthesize(data, require="spent <= income", derive={"left": "income - spent"}, rng=1)
    frame = made.frame
    assert (frame["spent"] <= frame["income"]).all()
    assert (frame["left"] == frame["income"] - frame["spent"]).all()
    assert made.log[-1].figures["redrawn_by_requirements"] > 0


def test_an_expression_may_name_a_column_twice():
    asked = {"require": "NOT (spent < 0 OR spent > income + 1)"}
    asked["rules"] = [{"when": "age < 10 OR age < 15", "then": {"works": None}}]
    data = small()
    data = sdc.Microdata.of(
        data.frame.with_columns(left=pl.col("income") - pl.col("spent")), keys=["sex", "age"]
    )
    made = sdc.protect.synthesize(data, **asked, derive={"left": "income - spent + income * 0"}, rng=1)
    frame = made.frame
    assert (frame["spent"] <= frame["income"] + 1).all()
    assert (frame["left"] == frame["income"] - frame["spent"]).all()
    assert frame.filter(pl.col("age") < 15)["works"].null_count() == (frame["age"] < 15).sum()


def test_requirements_that_cannot_be_met_are_an_error():
    with pytest.raises(DataError, match=r"spent > income \+ 9000000000.*400 records"):
        sdc.protect.synthesize(small(), require=["spent > income + 9000000000"], rng=1)


def test_pairs_that_never_occur_do_not_come_up():
    rng = np.random.default_rng(2)
    a = rng.integers(0, 4, 2_000)
    b = np.where(a == 0, rng.integers(0, 2, 2_000), rng.integers(0, 4, 2_000))
    data = sdc.Microdata.of(pl.DataFrame({"a": a, "b": b}))
    apart = {"predictors": {"a": [], "b": []}}
    free = sdc.protect.synthesize(data, zeros=False, rng=1, **apart)
    assert free.frame.filter(pl.col("a") == 0, pl.col("b") > 1).height > 50
    held = sdc.protect.synthesize(data, rng=1, **apart)
    assert held.frame.filter(pl.col("a") == 0, pl.col("b") > 1).height == 0


def test_strata_are_synthesised_on_their_own():
    rng = np.random.default_rng(0)
    g = np.repeat([0, 1, 2], [300, 300, 10])
    x = np.where(g == 0, rng.normal(size=610), 100 + rng.normal(size=610))
    data = sdc.Microdata.of(pl.DataFrame({"g": g, "x": x}))
    made = sdc.protect.synthesize(data, by="g", predictors={"x": []}, rng=1)
    assert made.frame.filter(pl.col("g") == 1)["x"].min() > 50
    assert made.frame["g"].value_counts().sort("g")["count"][1] == 300
    assert made.frame.filter(pl.col("g") == 0)["x"].max() > 50, "the small stratum was pooled with it"


def test_another_size(persons):
    made = sdc.protect.synthesize(persons, size=333, rng=1)
    assert made.height == 333
    assert made.weights().sum() == pytest.approx(persons.weights().sum(), rel=0.05)


def test_weights_add_up_to_the_totals_of_the_strata(persons, made):
    before, after = (
        d.frame.group_by("stratum").agg(pl.col("weight").sum()).sort("stratum") for d in (persons, made)
    )
    assert after["weight"].to_list() == pytest.approx(before["weight"].to_list())


def test_equal_weights_draw_donors_by_weight():
    rng = np.random.default_rng(0)
    rich = rng.random(3_000) < 0.5
    data = sdc.Microdata.of(
        pl.DataFrame({"rich": rich, "w": np.where(rich, 9.0, 1.0), "x": rng.normal(size=3_000)}), weight="w"
    )
    made = sdc.protect.synthesize(data, weights="equal", rng=1)
    assert made.frame["rich"].mean() == pytest.approx(0.9, abs=0.02)
    assert made.frame["w"].n_unique() == 1
    assert made.weights().sum() == pytest.approx(data.weights().sum())


def test_proper_synthesis_learns_from_other_records_each_time(persons):
    first, second = (sdc.protect.synthesize(persons, proper=True, rng=i) for i in (1, 2))
    assert not first.frame.equals(second.frame)
    assert first.log[-1].figures["leaves"] != second.log[-1].figures["leaves"]


def test_types_dates_and_texts_survive():
    rng = np.random.default_rng(0)
    n = 300
    frame = pl.DataFrame(
        {
            "day": [date(2020, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 400, n)],
            "flag": rng.random(n) < 0.3,
            "word": pl.Series(rng.choice(["ä", "b c", "d"], n), dtype=pl.Categorical),
            "small": pl.Series(rng.integers(0, 120, n), dtype=pl.Int8),
            "name with spaces": rng.normal(size=n),
        }
    )
    made = sdc.protect.synthesize(sdc.Microdata.of(frame), rng=1)
    assert made.frame.schema == frame.schema
    assert made.frame["day"].min() >= date(2020, 1, 1)
    assert made.frame["word"].is_in(["ä", "b c", "d"]).all()


def test_direct_identifiers_are_left_out():
    data = small()
    named = sdc.Microdata.of(data.frame.with_columns(name=pl.lit("x")), keys=["sex"], direct="name")
    made = sdc.protect.synthesize(named, rng=1)
    assert "name" not in made.columns
    assert made.log[-1].effects.drops == ("name",)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [1], "b": ["x"]}),
        pl.DataFrame({"a": [7] * 30, "b": ["x"] * 30}),
        pl.DataFrame({"a": pl.Series([None] * 30, dtype=pl.Float64), "b": np.arange(30.0)}),
        pl.DataFrame({"a": pl.Series([None] * 30), "b": np.arange(30.0)}),
        pl.DataFrame({"a": [1.0, float("inf"), float("nan"), float("-inf")] * 20, "b": np.arange(80.0)}),
        pl.DataFrame({"a": (np.arange(25_000) % 5_000).astype(str), "b": np.arange(25_000) % 7}),
        pl.DataFrame({"a": np.arange(70_000.0) ** 1.5, "b": np.arange(70_000) % 3}),
    ],
    ids=["one record", "constant", "all missing", "no type", "infinite", "5,000 levels", "70,000 values"],
)
def test_odd_files(frame):
    made = sdc.protect.synthesize(sdc.Microdata.of(frame), leaf=min(5, frame.height), rng=1)
    assert made.frame.schema == frame.schema
    assert made.height == frame.height


def test_very_many_columns():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(200, 6))
    x = base @ rng.normal(size=(6, 300)) + rng.normal(size=(200, 300)) / 5
    data = sdc.Microdata.of(pl.DataFrame(x, schema=[f"c {i}" for i in range(300)]))
    made = sdc.protect.synthesize(data, rng=1)
    assert made.frame.shape == (200, 300)
    assert len(made.log[-1].figures["predictors_chosen_for"]) > 200
    before, after = (np.corrcoef(d.frame.to_numpy().T) for d in (data, made))
    assert np.corrcoef(before.ravel(), after.ravel())[0, 1] > 0.5


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"derive": {"income": "MAX(age)"}}, OptionError, "one value for the whole file"),
        ({"derive": {"income": "age + sex"}}, OptionError, "An expression in derive fails"),
        ({"leaf": 500}, OptionError, "leaf is larger than the number of records"),
        ({"variables": ["nobody"]}, ColumnError, "no column 'nobody'"),
        ({"rules": [{"when": "nobody < 3", "then": {"works": "no"}}]}, ColumnError, "no column 'nobody'"),
        ({"rules": [{"when": "age <", "then": {"works": "no"}}]}, OptionError, "cannot be read"),
        ({"rules": [{"when": "age + 1", "then": {"works": "no"}}]}, OptionError, "not true or false"),
        ({"rules": [{"when": "__import__('os')", "then": {"works": "no"}}]}, OptionError, "cannot be read"),
        ({"rules": [{"when": "age < 3", "then": {"nobody": 1}}]}, ColumnError, "nobody"),
        ({"rules": [{"when": "age < 3", "then": {"income": "much"}}]}, OptionError, "cannot hold"),
        ({"require": ["1 = 1"]}, OptionError, "names no column"),
        ({"variables": ["income"], "require": ["age > 3"]}, OptionError, "no column that is drawn"),
        ({"predictors": {"sex": ["spent"]}}, OptionError, "must be drawn before"),
        ({"order": ["age"], "variables": ["income"]}, OptionError, "not synthesised"),
        ({"variables": ["income"], "size": 30}, OptionError, "fully synthetic"),
        ({"variables": ["income"], "weights": "equal"}, OptionError, "fully synthetic"),
        ({"derive": {"nobody": "age + 1"}}, ColumnError, "nobody"),
        ({"derive": {"income": "income"}}, OptionError, "computed, too"),
    ],
)
def test_refusals(options, error, text):
    with pytest.raises(error, match=text):
        sdc.protect.synthesize(small(), rng=1, **options)


@pytest.mark.parametrize("variables", [(), ("sex", "age", "works", "income", "spent")])
def test_new_records_keep_no_weights(variables):
    """Also where every column but the weight is named: the file is as new."""
    data = small()
    weighted = sdc.Microdata.of(data.frame.with_columns(w=pl.lit(2.0)), keys=["sex"], weight="w")
    with pytest.raises(OptionError, match="cannot keep weights"):
        sdc.protect.synthesize(weighted, rng=1, weights="keep", variables=variables)


def test_nothing_to_synthesise():
    data = sdc.Microdata.of(pl.DataFrame({"i": [1, 2, 3]}), id="i")
    with pytest.raises(ColumnError, match="no column to draw"):
        sdc.protect.synthesize(data, rng=1, leaf=1)


def test_weights_without_strata_add_up():
    data = small()
    rng = np.random.default_rng(0)
    frame = data.frame.with_columns(w=pl.Series(rng.lognormal(3, 1, data.height).round(1)))
    weighted = sdc.Microdata.of(frame, keys=["sex"], weight="w")
    made = sdc.protect.synthesize(weighted, rng=1)
    assert made.weights().sum() == pytest.approx(weighted.weights().sum())
    assert made.frame["w"].n_unique() > 100


@pytest.mark.parametrize("instead", [None, 0.0])
@pytest.mark.parametrize(
    "known", [[50_000.0], [80_000.0], [37_123.0, 58_211.0, 99_402.0], [5.0, 5.0, 7.0, 9.0]]
)
def test_a_number_that_a_handful_have_does_not_come_back(known, instead):
    extra = pl.Series("extra", [*known, *[instead] * (600 - len(known))], dtype=pl.Float64)
    sexes = pl.Series("sex", ["f", "m"] * 300)
    data = sdc.read(pl.DataFrame([sexes, extra]), keys="sex", numeric="extra")
    told = {value for one in sdc.synthesize(data, m=5, seed=1) for value in one.frame["extra"].drop_nulls()}
    assert not told & set(known)
