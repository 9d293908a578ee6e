"""What a third round of attacks found: values that few have, rows and ids made elsewhere, three columns."""

import hashlib

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.people import persons
from attacks.test_found import verdict
from sdckit.data.effects import Effects
from sdckit.risk._clues import is_partly_rounded

N = 2_400
AGES = [16, 35, 50, 65, 90]


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def people(**columns) -> pl.DataFrame:
    frame = persons(N, 3).select((pl.col("region") > 2).cast(pl.Int64).alias("area"), "sex", "age", "health")
    return frame.with_columns(**{name: pl.Series(values) for name, values in columns.items()})


def released(frame: pl.DataFrame, *sensitive: str, **roles) -> tuple[sdc.Microdata, sdc.Microdata]:
    data = sdc.read(frame, keys=["area", "sex", "age"], sensitive=["health", *sensitive], **roles)
    return data, sdc.protect.recode(data, variable="age", breaks=AGES)


def open_ones(found) -> list[str]:
    return [c.name for c in found if not c.met]


def changed(data: sdc.Microdata, what: str = "randomises", **columns) -> sdc.Microdata:
    frame = data.frame.with_columns(**{name: pl.Series(values) for name, values in columns.items()})
    return data.with_frame(frame, effects=Effects(**{what: tuple(columns)}))


def test_the_honest_file_is_released():
    assert verdict(*released(people())).releasable


@pytest.mark.parametrize("others", [None, 0.0], ids=["missing", "zero"])
def test_exact_incomes_of_those_who_have_one(others):
    """Whoever has the payroll finds two in five by their income; that others have none protects nobody."""
    pay = np.round(np.exp(rng(1).normal(8, 0.7, N)), 2)
    has = rng(2).random(N) < 0.4
    frame = people(pay=pay).with_columns(pl.when(pl.Series(has)).then("pay").otherwise(others).alias("pay"))
    data, done = released(frame, "pay")
    alone = done.frame.filter(pl.Series(has))["pay"].is_unique().mean()
    assert alone > 0.9
    assert open_ones(verdict(data, done)) == ["sensitive numbers left unchanged"]


def test_rounded_incomes_and_classes_of_their_own_name_nobody():
    pay = np.round(np.exp(rng(1).normal(8, 0.5, N)) / 500) * 500
    has = rng(2).random(N) < 0.4
    assert verdict(*released(people(pay=np.where(has, pay, 0.0)), "pay")).releasable


def test_texts_that_few_wrote():
    said = [f"I, number {i}, ask for help" if rng(i).random() < 0.3 else None for i in range(N)]
    data, done = released(people(said=said), "said")
    shuffled = sdc.protect.shuffle_order(done, rng=1)
    assert open_ones(verdict(data, shuffled)) == ["columns that no risk looks at"]


def test_the_sign_of_zero_is_not_released(tmp_path):
    """Seven columns of zeros, plus or minus, spelled the age; measures saw one value."""
    age = people()["age"].to_numpy()
    names = [f"z{i}" for i in range(7)]
    signs = {name: np.where((age >> i) & 1, -0.0, 0.0) for i, name in enumerate(names)}
    done = released(people(**signs), *names)[1]
    for file in ("z.csv", "z.parquet"):
        path = sdc.write(done, tmp_path / file)
        seen = pl.read_csv(path) if file.endswith("csv") else pl.read_parquet(path)
        assert not any(np.signbit(seen[name].to_numpy()).any() for name in names)
    assert not np.signbit(changed(done, **signs).frame["z0"].to_numpy()).any()


def test_the_sign_of_zero_in_a_database():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select 'f' as sex, -0.0::DOUBLE as x, -0.0::FLOAT as y")
    data = sdc.read(relation, keys="sex")
    kinds = [str(kind) for kind in data.frame.types]
    assert kinds == ["VARCHAR", "DOUBLE", "FLOAT"]
    assert [np.signbit(v) for v in data.frame.limit(1).fetchall()[0][1:]] == [False, False]


def test_rows_in_the_order_of_names_that_are_gone():
    """Rows sorted by the name are in no order that the original follows; the list of names reads them off."""
    names = pl.Series([hashlib.md5(bytes([i % 256, i // 256])).hexdigest() for i in range(N)])
    order = names.arg_sort().to_numpy()
    for keep in (True, False):
        data, done = released(people(name=names), direct="name", keep_direct=keep)
        made = Effects(reorders_rows=True, source_rows=order)
        done = done.with_frame(done.frame[order], effects=made)
        done = sdc.protect.drop(done, variables="name") if keep else done
        assert open_ones(verdict(data, done)) == ["order of the rows"]
        assert verdict(data, sdc.protect.shuffle_order(done, rng=1)).releasable


@pytest.mark.parametrize("made", ["of names", "modulo 7 the health"])
def test_ids_that_were_not_drawn_by_a_step_of_sdckit(made):
    data, done = released(people(nr=np.arange(1, N + 1)), id="nr")
    if made == "of names":
        new = [int(hashlib.md5(str(i).encode()).hexdigest()[:12], 16) for i in range(N)]
    else:
        health = data.frame["health"].replace_strict({"good": 0, "fair": 1, "poor": 2}).to_numpy()
        new = 7 * rng(4).permutation(np.arange(10**6, 10**6 + N)) + health
    frame = done.frame.with_columns(nr=pl.Series(new))
    named = done.with_frame(frame, effects=Effects(renames_ids=True, new_numbers=("nr",)))
    named = sdc.protect.shuffle_order(sdc.protect.drop(named, variables="health"), rng=1)
    assert open_ones(verdict(data, named)) == ["ids of the original"]
    assert verdict(data, sdc.protect.new_ids(named, rng=2)).releasable


def test_numbers_too_long_for_a_float():
    """Measures see one value, or none of the noise; the nearest number is the person's."""
    account = 2**60 + 100 * rng(1).permutation(N)
    data = sdc.read(people(account=account).select("sex", "account"), keys=["sex", "account"])
    noisy = account + rng(3).integers(-1, 2, N)
    assert np.array_equal(np.sort(account)[np.searchsorted(np.sort(account), noisy - 50)], account)
    done = changed(data, account=noisy)
    assert "columns that no risk looks at" in open_ones(verdict(data, done))


def test_one_value_that_all_have():
    """Whoever is known to be in the file has it."""
    frame = people().select("sex", disease=pl.lit("yes"))
    data = sdc.read(frame, keys="sex", sensitive="disease")
    assert open_ones(verdict(data, data)) == ["sensitive columns of one value"]
    assert verdict(data, data, accept={"columns": ["disease"]}).releasable


def shares(n: int) -> dict[str, np.ndarray]:
    """Three numbers of which any two say nothing, and all three the region."""
    a, b, region = (rng(s).integers(0, 8, n) for s in (111, 112, 113))
    return {"place": region, "a": a, "b": b, "c": (region - a - b) % 8}


def digits(n: int) -> dict[str, np.ndarray]:
    code = rng(103).integers(0, 1_000, n)
    places = np.array([f"P{c:03d}" for c in code])
    return {"place": places, "a": code // 100, "b": code // 10 % 10, "c": code % 10}


@pytest.mark.parametrize("made", [shares, digits])
def test_three_columns_that_tell_only_together(made):
    data = sdc.read(
        people(**made(N)), keys=["area", "sex", "age", "place"], sensitive=["health", "a", "b", "c"]
    )
    done = sdc.protect.drop(sdc.protect.recode(data, variable="age", breaks=AGES), variables="place")
    assert open_ones(verdict(data, done)) == ["columns that tell what was hidden"]


def test_a_product_of_three_numbers():
    wage, hours = np.round(rng(101).uniform(8, 60, N), 1), rng(102).integers(5, 60, N)
    weeks = rng(105).integers(4, 52, N)
    frame = people(pay=np.round(wage * hours * weeks), wage=wage, hours=hours, weeks=weeks)
    data, done = released(frame, "wage", "hours", "weeks", numeric="pay")
    done = sdc.protect.drop(done, variables="pay")
    found = sdc.risk.revealing_columns(data, done).parts.filter("alarm")
    assert found["columns"].to_list() == ["a product of wage, hours, weeks"]
    assert found["told"][0] > 0.9


@pytest.mark.parametrize("made", ["decimals of the sick", "noise of the sick"])
def test_last_digits_that_tell_who_was_protected(made):
    """Only the sick were changed, so that the last digit of the income says who is sick."""
    sick = rng(5).random(N) < 0.3
    pay = np.round(rng(201).normal(2_500, 600, N) / 10) * 10
    noise = rng(9).normal(0, 30, N)
    pay = pay + np.where(sick, noise.round(2) if made.startswith("decimals") else noise.round(), 0.0)
    data, done = released(people(health=np.where(sick, "yes", "no"), pay=pay), "pay")
    done = sdc.protect.drop(done, variables="health")
    assert ((pay % 10 != 0) == sick).mean() > 0.95
    assert open_ones(verdict(data, done, max_risk=0.2)) == ["columns that tell what was hidden"]


def test_numbers_that_are_all_rounded_alike_tell_nothing():
    draw = rng(1)
    for values in (draw.normal(size=5_000), draw.integers(0, 10**6, 5_000), draw.integers(16, 90, 5_000)):
        assert not is_partly_rounded(pl.Series(values))
    assert not is_partly_rounded(pl.Series(np.round(draw.normal(2_000, 500, 5_000), 2)))
    assert is_partly_rounded(
        pl.Series(np.round(draw.normal(2_000, 500, 5_000)) + 0.5 * (draw.random(5_000) < 0.1))
    )


def filtered(n: int = 3_000) -> tuple[sdc.Microdata, sdc.Microdata, pl.DataFrame]:
    """Six questions that only those above an age are asked; of the age nothing is released."""
    frame = persons(n, 21).select(pl.col("region") % 5, "sex", "age", "health")
    above = {f"q{i}": frame["age"] > limit for i, limit in enumerate((25, 35, 45, 55, 65, 75))}
    answers = {q: pl.Series(rng(50 + i).integers(0, 4, n)) for i, q in enumerate(above)}
    frame = frame.with_columns(**{q: pl.when(asked).then(answers[q]) for q, asked in above.items()})
    data = sdc.read(frame, keys=["region", "sex", "age"], sensitive=["health", *above])
    done = sdc.protect.shuffle_order(sdc.protect.recode(data, variable="age", breaks=[16, 90]), rng=1)
    return data, done, frame.select("region", "sex", **above)


def test_filters_of_questions_tell_classes_of_a_hidden_age():
    """Seven times as many are found as the keys alone find: it is known who was asked."""
    data, done, known = filtered()
    cells = known.group_by(known.columns).len()
    found = cells.height / data.height
    assert found > 6 * done.frame.select("region", "sex").n_unique() / data.height
    name = "columns that follow from hidden keys"
    asked = verdict(data, done, max_risk=0.01)
    assert open_ones(asked) == [name]
    assert next(c.value for c in asked if c.name == name) == pytest.approx(found)
    assert verdict(data, done, max_risk=0.05).releasable


def test_answers_that_follow_from_no_key_are_not_asked_about():
    data, done, _known = filtered()
    mixed = {q: data.frame[q].shuffle(seed=i) for i, q in enumerate(c for c in data.columns if c[0] == "q")}
    data = sdc.read(
        data.frame.with_columns(**mixed), keys=["region", "sex", "age"], sensitive=["health", *mixed]
    )
    done = sdc.protect.shuffle_order(sdc.protect.recode(data, variable="age", breaks=[16, 90]), rng=1)
    assert verdict(data, done, max_risk=0.01).releasable
