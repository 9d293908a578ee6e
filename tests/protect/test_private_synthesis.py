"""Differentially private synthesis of a file: what it makes, what it promises, and what it refuses."""

from datetime import date
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.data.privacy import PrivacyUnit
from sdckit.errors import ColumnError, OptionError, RoleError
from sdckit.protect import _private_synthesis
from sdckit.protect._private_domains import domains
from sdckit.protect._private_synthesis import PrivateOptions, RecordCount, private_synthesis

LABELS = Labels({}, {"sex": {1: "man", 2: "woman"}, "age": {-9: "no answer"}})
GIVEN = {"values": {"region": ["n", "s", "w"]}, "bounds": {"age": [0, 99], "income": [0.0, 5000.0]}}


def people(n: int = 600, seed: int = 1) -> Microdata:
    rng = np.random.default_rng(seed)
    sex = rng.integers(1, 3, n)
    age = rng.integers(0, 100, n)
    frame = pl.DataFrame(
        {
            "person": np.arange(n),
            "home": np.sort(rng.integers(0, n // 3, n)),
            "region": rng.choice(["n", "s", "w"], n, p=[0.6, 0.3, 0.1]),
            "sex": sex,
            "age": np.where(rng.random(n) < 0.05, -9, age),
            "income": np.clip(1000.0 * sex + 10 * age + rng.normal(0, 100, n), 0, 5000),
            "works": age > 40,
        }
    ).with_columns(pl.when(pl.col("age") < 20).then(None).otherwise("income").alias("income"))
    roles = {"id": "person", "household": "home", "keys": ["region", "sex"], "numeric": ["age", "income"]}
    return Microdata.of(frame, labels=LABELS, **roles)


def made(data: Microdata, epsilon: float = 50.0, **options: object) -> Microdata:
    rng = np.random.default_rng(3)
    wanted = PrivateOptions(epsilon, **{"delta": 1e-6, **options})  # type: ignore[arg-type]
    return private_synthesis(data, **GIVEN, options=wanted, rng=rng)


def test_a_new_file_of_the_same_kind() -> None:
    data = people()
    new = made(data, 2000.0)
    assert new.columns == ("person", "region", "sex", "age", "income", "works")
    assert new.frame.schema == {c: t for c, t in data.frame.schema.items() if c != "home"}
    assert new.roles.household is None
    assert new.labels.values == LABELS.values
    assert new.frame["person"].to_list() == [*range(1, new.height + 1)]
    assert new.height == 600
    assert set(new.frame["region"]) == {"n", "s", "w"}
    for value in ("n", "s", "w"):
        assert abs((new.frame["region"] == value).sum() - (data.frame["region"] == value).sum()) <= 3
    ages = new.frame["age"]
    assert abs((ages == -9).sum() - (data.frame["age"] == -9).sum()) <= 3
    assert ages.filter(ages != -9).is_between(0, 99).all()
    assert abs(new.frame["income"].null_count() - data.frame["income"].null_count()) <= 3


def test_relations_of_the_tree_are_kept() -> None:
    data = people(3000)
    new = made(data, 200.0)
    for sex in (1, 2):
        means = [x.filter(pl.col("sex") == sex)["income"].mean() for x in (data.frame, new.frame)]
        assert abs(means[0] - means[1]) < 200


def test_log_has_the_promise_and_no_record_by_record_effect() -> None:
    new = made(people(), 1.0)
    (entry,) = new.log
    (loss,) = entry.effects.privacy
    assert (entry.figures["epsilon"], entry.figures["delta"], entry.figures["unit"]) == (1.0, 1e-6, "record")
    assert entry.figures["rho"] == loss.rho
    assert "ε = 1 and δ = 1e-06" in entry.figures["guarantee"]
    assert "adds to ε" in entry.figures["what_ends_it"]
    assert "cannot be repeated" in entry.figures["what_ends_it"]
    assert loss.holds
    assert entry.effects.synthesises == ("region", "sex", "age", "income", "works")
    assert entry.effects.drops == ("home",)
    assert not entry.effects.rows_known


def test_noise_does_not_come_from_the_seed() -> None:
    one, two = (made(people(), 0.5) for _ in "ab")
    assert not one.frame.equals(two.frame)
    assert one.log[0].effects.privacy[0].release != two.log[0].effects.privacy[0].release


def test_further_files_of_the_same_data_share_the_noise() -> None:
    data = people()
    options = PrivateOptions(1.0)
    sets = [
        private_synthesis(data, **GIVEN, options=options, rng=np.random.default_rng(i)) for i in (1, 1, 2)
    ]
    assert len({s.log[0].effects.privacy[0].release for s in sets}) == 1
    assert sets[0].frame.equals(sets[1].frame)
    assert not sets[0].frame.equals(sets[2].frame)
    other = private_synthesis(data, **GIVEN, options=PrivateOptions(2.0), rng=np.random.default_rng(1))
    assert other.log[0].effects.privacy[0].release != sets[0].log[0].effects.privacy[0].release


def test_an_earlier_look_at_the_data_ends_the_promise() -> None:
    data = sdc.protect.drop(people(), variables="home")
    harmless = sdc.protect.shuffle_order(data, rng=1)
    assert made(harmless).log[-1].effects.privacy[0].holds
    assert made(harmless).warnings == ()
    looked = made(sdc.protect.microaggregate(data, variables=["income"], k=3))
    assert looked.log[-1].effects.privacy[0].ended_by == ("microaggregate",)
    assert "Nothing is promised" in looked.log[-1].figures["guarantee"]
    assert any("not differentially private" in text and "microaggregate" in text for text in looked.warnings)
    after = sdc.protect.suppress(made(data), k=2)  # of the synthetic file alone
    assert not any("differentially private" in text for text in after.warnings)


@pytest.mark.parametrize(
    ("step", "options", "alone"),
    [
        ("top_code", {"variables": ["age"], "value": 85}, True),
        ("top_code", {"variables": ["age"], "share": 0.05}, False),
        ("top_code", {"variables": ["age"], "value": 85, "replacement": "mean"}, False),
        ("round_values", {"variables": ["age"], "base": 5}, True),
        ("recode", {"variable": "age", "breaks": [20, 60]}, True),
        ("recode", {"variable": "age", "groups": 4}, False),
        ("new_ids", {}, True),
        ("suppress", {"k": 3}, False),
        ("sample_records", {"share": 0.5}, False),
        ("round_values", {"variables": ["age"], "base": 5, "where": {"individual_risk": {}}}, False),
    ],
)
def test_which_steps_look_at_several_records(step: str, options: dict[str, object], alone: bool) -> None:
    done = sdc.Scenario("x", [sdc.Step(step, **options)]).protect(people(), seed=1)
    assert done.log[-1].effects.record_by_record is alone


@pytest.mark.parametrize(
    ("name", "options", "alone"),
    [
        ("keep_records", {"where": "age >= 18"}, True),
        ("keep_records", {"every": 2}, False),
        ("keep_records", {"n": 100}, False),
        ("keep_records", {"where": "age >= 18", "together": "home"}, False),
        ("drop_empty", {}, False),
        ("set_missing", {"variables": "income", "where": "age < 18"}, True),
        ("declare_missing", {"variables": "age", "codes": [30]}, True),
    ],
)
def test_a_preparation_that_looks_at_several_records_ends_the_promise(
    name: str, options: dict[str, object], alone: bool
) -> None:
    """Of every second record it depends on all records before whether somebody's is among them."""
    data = getattr(sdc.prepare, name)(people(), **options)
    (loss,) = made(sdc.protect.drop(data, variables="home")).log[-1].effects.privacy
    assert loss.holds is alone
    assert loss.ended_by == (() if alone else (name,))


def test_households_are_cut_to_so_many_members() -> None:
    data = people()
    options = PrivateOptions(5.0, unit=PrivacyUnit.HOUSEHOLD, members=2)
    rows = _private_synthesis._counted(data, options)
    kept = data.frame[rows].group_by("home").len()
    sizes = data.frame.group_by("home").len().rename({"len": "all"}).join(kept, on="home")
    assert (sizes["len"] == sizes["all"].clip(upper_bound=2)).all()
    new = made(data, 50.0, unit=PrivacyUnit.HOUSEHOLD, members=2)
    (loss,) = new.log[0].effects.privacy
    assert (loss.unit, loss.members) == (PrivacyUnit.HOUSEHOLD, 2)
    assert "household (of which at most 2 members are counted)" in loss.guarantee


def test_public_number_of_records() -> None:
    new = made(people(), 0.2, count=RecordCount.PUBLIC)
    assert new.height == 600
    assert new.log[0].effects.privacy[0].replaced
    assert "The number of records is public" in new.log[0].figures["guarantee"]
    assert made(people(), 0.01).height != 600


def test_a_large_delta_and_wrong_codes_are_warned_of() -> None:
    assert any("δ = 0.01" in text for text in made(people(), 5.0, delta=0.01).warnings)
    wrong = {"values": {**GIVEN["values"], "region": ["N", "S"]}, "bounds": GIVEN["bounds"]}
    new = private_synthesis(people(), **wrong, options=PrivateOptions(50.0), rng=np.random.default_rng(1))
    assert any("most values of region" in text for text in new.warnings)


def test_refusals() -> None:
    data = people()
    with pytest.raises(OptionError, match="without looking at the data") as refused:
        private_synthesis(data, options=PrivateOptions(1.0), rng=np.random.default_rng(1))
    assert "for region, age, income." in str(refused.value)  # sex has labels, works is yes or no
    weighted = Microdata.of(data.frame.with_columns(w=pl.lit(2.0)), labels=LABELS, weight="w")
    with pytest.raises(RoleError, match="weighted"):
        made(weighted)
    for epsilon, delta in ((0.0, 1e-6), (-1.0, 1e-6), (1.0, 0.0), (1.0, 1.0), (float("inf"), 1e-6)):
        with pytest.raises(OptionError, match="needs epsilon"):
            made(data, epsilon, delta=delta)
    with pytest.raises(OptionError, match="needs max_household"):
        made(data, unit=PrivacyUnit.HOUSEHOLD)
    with pytest.raises(OptionError, match="goes with unit"):
        made(data, members=3)
    with pytest.raises(RoleError, match="household"):
        made(data.with_roles(household=None, cluster="home"), unit=PrivacyUnit.HOUSEHOLD, members=3)
    with pytest.raises(OptionError, match="tells their sizes"):
        made(data, unit=PrivacyUnit.HOUSEHOLD, members=3, count=RecordCount.PUBLIC)
    with pytest.raises(OptionError, match="delta must be far below"):
        made(data, count=RecordCount.PUBLIC, delta=0.01)
    with pytest.raises(OptionError, match="not synthesised"):
        private_synthesis(data, variables=["home"], options=PrivateOptions(1.0), rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    ("option", "given", "error", "words"),
    [
        ("bounds", {"age": [5]}, OptionError, "two or more rising"),
        ("bounds", {"age": [9, 3]}, OptionError, "two or more rising"),
        ("bounds", {"age": ["a", "b"]}, OptionError, "do not fit"),
        ("bounds", {"region": [0, 1]}, ColumnError, "for numbers and dates"),
        ("values", {"person": [1]}, OptionError, "not synthesised"),
    ],
)
def test_refused_values(option: str, given: dict[str, list[object]], error: type, words: str) -> None:
    asked = {"values": {"region": ["n"]}, "bounds": {"age": [0, 9], "income": [0, 9]}}
    asked[option] = {**asked[option], **given}  # type: ignore[dict-item]
    with pytest.raises(error, match=words):
        private_synthesis(people(), **asked, options=PrivateOptions(1.0), rng=np.random.default_rng(1))


def test_domains_by_hand() -> None:
    frame = pl.DataFrame(
        {
            "n": [0, 4, 5, 99, -9, None],
            "x": [0.0, 0.5, 1.0, 7.0, float("nan"), None],
            "d": [date(2020, 1, 1), date(2020, 1, 2), date(2020, 12, 31), date(2030, 1, 1), None, None],
            "t": ["a", "b", "c", "?", None, "a"],
        }
    )
    data = Microdata.of(frame, labels=Labels({}, {"n": {-9: "none", 3: "three"}}))
    given = {"n": [0, 5, 10], "x": [0, 0.5, 1], "d": ["2020-01-01", "2020-12-31"]}
    n, x, d, t = domains(data, ["n", "x", "d", "t"], {"t": ["a", "b", "c"]}, given)
    assert n.encode(frame["n"]).tolist() == [0, 0, 1, 1, 2, 3]  # two classes, −9, missing
    assert x.encode(frame["x"]).tolist() == [0, 1, 1, 1, 2, 2]
    assert d.encode(frame["d"]).tolist() == [0, 0, 19, 19, 20, 20]
    assert t.encode(frame["t"]).tolist() == [0, 1, 2, 3, 3, 0]
    rng = np.random.default_rng(1)
    drawn = n.decode(np.repeat([0, 1, 2, 3], 200), rng)
    assert set(drawn[:200]) == {0, 1, 2, 3, 4}
    assert set(drawn[200:400]) == {5, 6, 7, 8, 9, 10}
    assert set(drawn[400:]) == {-9, None}
    dates = d.decode(np.repeat([0, 19, 20], 200), rng)
    assert dates.dtype == pl.Date
    assert dates.max() <= date(2020, 12, 31)
    values = x.decode(np.repeat([0, 1, 2], 100), rng)
    assert values[:100].is_between(0, 0.5).all()
    assert values[200:].null_count() == 100
    assert (values.drop_nulls() == values.drop_nulls().round(3)).all()
    assert t.decode(np.array([2, 3, 0]), rng).to_list() == ["c", None, "a"]


def test_pairs_are_nearer_than_independent_columns() -> None:
    """Total variation over all pairs on the demo survey, ε = 1: as in the design, far below independence."""
    data = sdc.demo.survey(n=4000, seed=1)
    names = ["region", "urban", "household_size", "sex", "education", "health", "labour_status", "water"]
    frame = data.frame.select(pl.col(names).cast(pl.String))
    plain = Microdata.of(frame)
    values = {c: sorted(frame[c].drop_nulls().unique()) for c in names}  # public in a test
    rng = np.random.default_rng(2)
    new = private_synthesis(plain, values=values, options=PrivateOptions(1.0), rng=rng).frame
    alone = pl.DataFrame([frame[c].shuffle(seed=i) for i, c in enumerate(names)])

    def distance(other: pl.DataFrame) -> float:
        found = []
        for pair in combinations(names, 2):
            counts = [x.group_by(pair).len().with_columns(pl.col("len") / x.height) for x in (frame, other)]
            both = counts[0].join(counts[1], on=pair, how="full", nulls_equal=True).fill_null(0)
            found.append(float((both["len"] - both["len_right"]).abs().sum()) / 2)
        return float(np.mean(found))

    assert distance(new) < 0.75 * distance(alone)


def test_estimates_say_that_the_noise_is_not_counted() -> None:
    data = people()
    new = made(data, 20.0)
    of_means = sdc.utility.indicators(data, new, indicators="mean", variables=["income"])
    of_model = sdc.utility.regression(data, new, formula="income ~ sex")
    for notes in (of_means.notes, of_model.notes):
        assert any("noise of differential privacy" in note for note in notes)
    plain = sdc.utility.indicators(data, data, indicators="mean", variables=["income"])
    assert not any("noise" in note for note in plain.notes)
