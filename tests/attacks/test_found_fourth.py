"""What a fourth round of attacks found: roles taken off, years, benefits, giants, households, decimals."""

from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.people import households
from attacks.test_found import verdict
from attacks.test_found_third import AGES, N, changed, open_ones, people, released, rng
from sdckit.choose.row_order import is_random_order
from sdckit.data.record_links import source_rows


def shuffled(data: sdc.Microdata) -> sdc.Microdata:
    return sdc.protect.shuffle_order(data, rng=1)


def test_a_remark_that_is_sensitive_in_the_original_alone():
    said = [f"I, number {i}, ask for help" for i in range(N)]
    data, done = released(people(said=said), "said")
    bare = shuffled(done).with_roles(sensitive=["health"])
    assert open_ones(verdict(data, bare)) == ["columns that no risk looks at"]


def test_weights_of_households_that_only_the_original_calls_weights():
    """Whoever sorts the file by the column that was a weight sees who lives together."""
    frame = households(700, 4)
    home = frame["home"].rank("dense").cast(pl.Int64).to_numpy() - 1
    weight = pl.Series(rng(1).integers(100, 400, 700)[home]).cast(pl.Float64)
    frame = frame.select(pl.col("region") > 2, "sex", "age", "health").with_columns(weight=weight)
    data = sdc.read(frame, keys=["region", "sex", "age"], sensitive="health", weight="weight")
    done = shuffled(sdc.protect.recode(data, variable="age", breaks=[0, 20, 40, 60, 96]))
    for file in (done, done.with_roles(weight=None)):
        assert open_ones(verdict(data, file, intruders=sdc.Intruder("one"))) == ["records joined by a column"]


def test_districts_that_follow_from_what_only_the_protected_file_calls_a_key():
    code = rng(77).integers(0, 300, N)
    frame = people(code=code, district=[f"d{c % 60}" for c in code])
    data, done = released(frame, "code", strata="district")
    bare = shuffled(done).with_roles(keys=["area", "sex", "age", "code"], sensitive=["health"])
    assert "columns that no risk looks at" in open_ones(verdict(data, bare))


def years(of_cell: bool) -> tuple[sdc.Microdata, sdc.Microdata]:
    """A year of diagnosis, the same for (nearly) all with the same keys, or anybody's."""
    frame = people()
    classes = np.searchsorted([35, 50, 65], frame["age"].to_numpy(), side="right")
    cell = frame["area"].to_numpy() * 8 + (frame["sex"] == "f").to_numpy() * 4 + classes
    late = rng(1).integers(0, 2, N) * (rng(2).random(N) < 0.05)
    year = 1985 + 2 * (cell if of_cell else rng(3).permutation(cell)) + late
    data = sdc.read(
        frame.drop("health").with_columns(year=year), keys=["area", "sex", "age"], sensitive="year"
    )
    return data, shuffled(sdc.protect.recode(data, variable="age", breaks=AGES))


def test_years_of_which_all_with_the_same_keys_have_one():
    """A tenth of a year is two centuries, so that no year seemed to be learned."""
    data, done = years(of_cell=True)
    told = done.frame.group_by("area", "sex", "age").agg(pl.col("year").mode().first().alias("mode"))
    guess = done.frame.join(told, on=["area", "sex", "age"], maintain_order="left")
    assert (guess["mode"] == guess["year"]).mean() > 0.95
    assert open_ones(verdict(data, done)) == ["inference of sensitive values"]
    assert sdc.risk.attribute_inference(data, done).value > 0.95


def test_scores_on_both_sides_of_zero():
    """A tenth of a score near 0 is nothing; all with the same keys differ by a tenth of the range."""
    frame = people().drop("health")
    classes = np.searchsorted([35, 50, 65], frame["age"].to_numpy(), side="right")
    cell = frame["area"].to_numpy() * 8 + (frame["sex"] == "f").to_numpy() * 4 + classes
    score = (np.linspace(-0.15, 0.15, 16)[rng(1).permutation(16)][cell] + rng(2).normal(0, 0.01, N)).round(3)
    data = sdc.read(frame.with_columns(score=score), keys=["area", "sex", "age"], sensitive="score")
    done = shuffled(sdc.protect.recode(data, variable="age", breaks=AGES))
    middle = pl.col("score").median().over("area", "sex", "age")
    told = done.frame.select((pl.col("score") - middle).abs() < 0.03).to_series().mean()
    assert told > 0.95
    assert sdc.risk.attribute_inference(data, done).value > 0.9


def test_years_that_depend_on_no_key():
    assert verdict(*years(of_cell=False)).releasable


@pytest.mark.parametrize("missing", [0, 0.6])
def test_benefits_that_follow_from_numbers_that_were_dropped(missing):
    """Who knows three numbers knows six answers, and finds 27 times as many as by the keys alone.

    Also where most have no such number, and so another answer.
    """
    names, frame, draw = ["income", "rent", "savings"], people().select("area", "sex", "health"), rng(8)
    answers = {}
    for name in names:
        x = np.exp(draw.normal(7.6, 0.5, N)).round()
        none = draw.random(N) < missing
        frame = frame.with_columns(pl.Series(name, np.where(none, np.nan, x)))
        answers |= {f"{name} below {q}": pl.Series(~none & (x < np.quantile(x, q))) for q in (0.3, 0.7)}
    frame = frame.with_columns(**answers)
    data = sdc.read(frame, keys=["area", "sex"], numeric=names, sensitive=["health", *answers])
    done = shuffled(sdc.protect.drop(data, variables=names))
    found = done.frame.select("area", "sex", *answers).n_unique() / N
    asked = verdict(data, done, max_risk=0.01)
    assert open_ones(asked) == ["columns that follow from hidden keys"]
    assert next(c.value for c in asked if not c.met) == pytest.approx(found)
    mixed = {name: values.shuffle(seed=i) for i, (name, values) in enumerate(answers.items())}
    data = sdc.read(
        frame.with_columns(**mixed), keys=["area", "sex"], numeric=names, sensitive=["health", *mixed]
    )
    assert verdict(data, shuffled(sdc.protect.drop(data, variables=names)), max_risk=0.01).releasable


def test_a_ratio_of_two_hidden_numbers_in_classes():
    """Who knows rent and income knows what part the rent is, which narrows the averages of sixty down."""
    draw = rng(1)
    income, rent = np.exp(draw.normal(7.5, 0.5, N)).round(), np.exp(draw.normal(6.5, 0.5, N)).round()
    burden = np.floor(rent / income * 20) / 20
    frame = people(income=income, rent=rent, burden=burden).drop("age", "health")
    roles = {"keys": ["area", "sex"], "numeric": ["income", "rent"], "sensitive": "burden"}
    data = sdc.read(frame, **roles)
    done = shuffled(sdc.protect.microaggregate(data, k=60, by=["sex"]))
    rows = source_rows(data, done)
    own = np.argsort(rows)
    seen = np.column_stack([np.log(done.frame[c].to_numpy()) for c in ("income", "rent")])
    away = ((np.log(np.column_stack([income, rent]))[:, None] - seen[None]) ** 2).sum(axis=2)
    same = [frame[c].to_numpy()[:, None] == done.frame[c].to_numpy()[None] for c in ("area", "sex", "burden")]
    away = np.where(np.all(same, axis=0), away, np.inf)
    best = away <= away.min(axis=1, keepdims=True) + 1e-12
    found = float((best[np.arange(N), own] / best.sum(axis=1)).mean())
    assert found > 0.18
    asked = verdict(data, done)
    assert open_ones(asked) == ["columns that follow from hidden keys"]
    assert next(c.value for c in asked if not c.met) == pytest.approx(found, abs=0.03)
    data = sdc.read(frame.with_columns(pl.col("burden").shuffle(seed=1)), **roles)
    assert verdict(data, shuffled(sdc.protect.microaggregate(data, k=60, by=["sex"]))).releasable


def test_that_a_number_is_known_roughly_is_said_in_the_headline():
    """Noise of half a thousandth hides nobody from who knows the income exactly: three in four are found."""
    income = np.clip(rng(9).normal(2_500, 600, N), 900, 4_100).round(2)
    data = sdc.read(people(income=income).select("sex", "income"), keys="sex", numeric="income")
    noise = 1 + rng(10).uniform(-0.0005, 0.0005, N)
    done = shuffled(changed(data, income=(income * noise).round(2)))
    roughly = {"colleague": {"knows": ["keys", {"income": "10%"}]}}
    said = verdict(data, done, max_risk=0.2, intruders=roughly)
    assert "nobody knows a person's income more exactly than to 10" in said.headline
    exactly = {**roughly, "register": {"knows": ["keys", "income"]}}
    assert "income" not in verdict(data, data, max_risk=1.0, intruders=exactly).trusted
    assert verdict(data, done, max_risk=0.2).status == "not releasable"


def test_few_giants_in_a_large_file():
    """Twelve of 20,000: a sample of a thousand has none of them in half of the files."""
    n = 20_000
    for seed in range(3):
        draw = rng(seed)
        income = np.clip(draw.normal(2_500, 600, n), 900, 4_100).round(2)
        giants = draw.choice(n, 12, replace=False)
        income[giants] = np.linspace(3e4, 2e5, 12) + draw.uniform(0, 1_000, 12)
        frame = pl.DataFrame({"sex": draw.choice(["f", "m"], n), "income": income})
        data = sdc.read(frame, keys="sex", numeric="income")
        done = shuffled(changed(data, income=income + draw.normal(0, 1_800, n)))
        known, seen = frame["income"].to_numpy()[giants], done.frame["income"].to_numpy()
        nearest = np.abs(seen[None, :] - known[:, None]).argmin(axis=1)
        hits = int((source_rows(data, done)[nearest] == giants).sum())
        claims = {c.name: c for c in verdict(data, done)}["claims of register"]
        assert hits == claims.value == 12
        assert not claims.met


def homes_with_numbers(noise: float) -> tuple[sdc.Microdata, sdc.Microdata]:
    draw = rng(5)
    home = np.repeat(np.arange(500), draw.choice(4, 500) + 1)
    n = len(home)
    numbers = {c: np.clip(draw.normal(2_500, 600, n), 900, 4_100).round() for c in ("income", "rent")}
    frame = pl.DataFrame({"home": draw.permutation(500)[home] + 1_000, "sex": draw.choice(["f", "m"], n)})
    frame = frame.with_columns(**{c: pl.Series(x) for c, x in numbers.items()})
    data = sdc.read(frame, keys="sex", numeric=["income", "rent"], household="home")
    done = sdc.protect.new_ids(sdc.protect.add_noise(data, sd=noise, rng=1), rng=3)
    return data, sdc.protect.shuffle_order(done, rng=4)


def homes_found(data: sdc.Microdata, done: sdc.Microdata) -> float:
    """The share of households whose sorted numbers are nearest to those of their own released one."""
    true_home = data.frame["home"].gather(pl.Series(source_rows(data, done)))
    columns = [pl.col(c).sort_by("sex", c) for c in ("income", "rent")]
    kinds = [pl.col("sex").sort().str.join().alias("kind"), *columns]
    known = data.frame.group_by("home").agg(*kinds)
    seen = (
        done.frame.with_columns(true_home.alias("true")).group_by("home").agg(pl.col("true").first(), *kinds)
    )
    hits = 0
    for (kind,), mine in known.group_by("kind"):
        theirs = seen.filter(pl.col("kind") == kind)
        x, y = (np.hstack([f[c].to_list() for c in ("income", "rent")]) for f in (mine, theirs))
        best = ((x[:, None] - y[None]) ** 2).sum(axis=2).argmin(axis=1)
        hits += int((theirs["true"].to_numpy()[best] == mine["home"].to_numpy()).sum())
    return hits / known.height


def test_households_by_the_numbers_of_all_members():
    """Noise as large as the spread hides 99 persons in 100, and one household in six is found."""
    data, done = homes_with_numbers(1.0)
    found = homes_found(data, done)
    assert found > 0.14
    asked = verdict(data, done, max_risk=0.1)
    assert open_ones(asked) == ["numbers of whole households"]
    assert next(c.value for c in asked if not c.met) == pytest.approx(found, abs=0.02)
    knows = {"knows": ["keys", {"numeric": 0}], "unit": "household"}
    named = verdict(
        data, done, max_risk=0.1, intruders={"insider": {"knows": ["keys", "numeric"]}, "kin": knows}
    )
    assert "re-identification by kin" in open_ones(named)
    roughly = {"knows": ["keys", {"numeric": 5}], "unit": "household", "max_risk": 0.1}
    hardly = verdict(data, done, max_risk=0.1, intruders={"insider": {"knows": ["keys"]}, "kin": roughly})
    assert "numbers of whole households" in open_ones(hardly)
    assert verdict(*homes_with_numbers(3.0), max_risk=0.1).releasable


@pytest.mark.parametrize("known", ["keys", "numbers"])
def test_few_large_households_in_a_large_file(known):
    """Eight of 6,000 are alone with their size, whatever becomes of their members' values."""
    draw, homes = rng(0), 6_000
    size = np.full(homes, 2)
    size[draw.choice(homes, 8, replace=False)] = np.arange(8, 16)
    home = np.repeat(np.arange(homes), size)
    n = len(home)
    frame = pl.DataFrame({"home": draw.permutation(homes)[home] + 10_000, "sex": draw.choice(["f", "m"], n)})
    if known == "keys":
        work = draw.choice(list("abcdefghijklmnopqrstuvwxyz"), n)
        frame = frame.with_columns(work=work, region=draw.choice(list("abcdef"), n))
        data = sdc.read(frame, keys=["sex", "work", "region"], household="home")
        done = sdc.protect.pram(data, variables=["sex", "work", "region"], stay=0.3, rng=9)
    else:
        data = sdc.read(frame.with_columns(pay=draw.normal(2_500, 600, n)), numeric="pay", household="home")
        done = sdc.protect.add_noise(data, sd=3.0, rng=1)
    done = sdc.protect.shuffle_order(sdc.protect.new_ids(done, rng=3), rng=4)
    knows = {"knows": ["keys"] if known == "keys" else [{"pay": 0}], "unit": "household"}
    risk = sdc.risk.reidentification_risk(data, done, intruders={"kin": knows})
    assert risk.value < 0.02
    assert risk.figures["claims_right"] >= 8


@pytest.mark.parametrize("moved", [True, False])
def test_records_sorted_anew_within_the_same_keys(moved):
    """Keys agree in every row, and nobody's number: a third is found that was counted as another's."""
    income = np.exp(rng(1).normal(7.6, 0.5, N)).round(2)
    roles = {"keys": ["area", "sex", "age"], "numeric": "income", "sensitive": "health"}
    data = sdc.read(people(income=income), **roles)
    noise = pl.col("income") * (1 + pl.Series(rng(2).uniform(-0.02, 0.02, N)))
    frame = sdc.protect.recode(data, variable="age", breaks=AGES).frame.with_columns(noise.round(2))
    cell = frame.select(pl.struct("area", "sex", "age").rank("dense")).to_series().to_numpy()
    order = np.lexsort((rng(3).random(N), cell))
    places = np.arange(N)
    places[np.argsort(cell, kind="stable")] = order  # members of a cell change places among themselves
    done = sdc.read(frame[places] if moved else frame, **roles)
    true, shown = income, done.frame["income"].to_numpy()
    away = np.where(cell[None, :] == cell[:, None], np.abs(shown[None, :] - true[:, None]), np.inf)
    nearest = places[away.argmin(axis=1)] if moved else away.argmin(axis=1)
    assert (nearest == np.arange(N)).mean() > 0.3
    asked = open_ones(verdict(data, done, max_risk=0.1))
    assert ("records that belong together" in asked) == moved
    assert ("re-identification by register" in asked) != moved


def test_households_in_a_new_order_are_not_said_to_be_in_the_old_one():
    """Of two members one always stands beside the other: that is no order of the file."""
    homes = np.repeat(np.arange(300), 2)
    draw = rng(4)
    new = np.concatenate([draw.permutation([2 * h, 2 * h + 1]) for h in draw.permutation(300)])
    assert not is_random_order(new)
    assert is_random_order(new, homes[new])
    kept = np.concatenate([[2 * h, 2 * h + 1] for h in draw.permutation(300)])
    assert not is_random_order(kept, homes[kept])  # members in the order of the questionnaire
    assert not is_random_order(np.arange(600), homes)


def test_digits_of_decimals_beyond_those_of_a_float():
    """Measures see six values, and a reader of the file the age of everybody."""
    age, base = people()["age"].to_list(), rng(1).integers(1, 7, N)
    exact = [Decimal(int(b)) + Decimal(int(a)) / Decimal(10) ** 25 for b, a in zip(base, age, strict=True)]
    for values, looked_at in ((exact, False), ([Decimal(int(b)) / 4 for b in base], True)):
        column = pl.Series(values, dtype=pl.Decimal(38, 27))
        data, done = released(people(paid=column), "paid")
        asked = open_ones(verdict(data, shuffled(done)))
        assert asked == ([] if looked_at else ["columns that no risk looks at"])


def diagnoses(of_cell: bool) -> tuple[sdc.Microdata, sdc.Microdata]:
    """Up to six diagnoses in any order; one that all in some cells have, or as many anywhere."""
    frame = people().drop("health")
    classes = np.searchsorted([35, 50, 65], frame["age"].to_numpy(), side="right")
    cell = frame["area"].to_numpy() * 8 + (frame["sex"] == "f").to_numpy() * 4 + classes
    has = rng(1).permutation(16)[cell if of_cell else rng(2).permutation(cell)] < 4
    draw, others = rng(3), ["asthma", "flu", "gout", "migraine", None]
    answers = np.array([[*draw.permutation(others)] for _ in range(N)], dtype=object)
    answers = np.hstack([np.where(has, "hiv", "none")[:, None], answers])
    answers = draw.permuted(answers, axis=1)
    columns = {f"diagnosis{i}": pl.Series(answers[:, i].tolist(), dtype=pl.String) for i in range(6)}
    data = sdc.read(frame.with_columns(**columns), keys=["area", "sex", "age"], sensitive=list(columns))
    return data, shuffled(sdc.protect.recode(data, variable="age", breaks=AGES))


def test_a_diagnosis_that_stands_in_any_of_six_columns():
    """One in six of a column says it, and everybody in the cell has it."""
    data, done = diagnoses(of_cell=True)
    ill = done.frame.select("area", "sex", "age", ill=pl.any_horizontal(pl.col("^diagnosis.*$") == "hiv"))
    cells = ill.group_by("area", "sex", "age").agg(pl.col("ill").mean(), pl.len())
    told = cells.filter(pl.col("ill") == 1)["len"].sum() / N
    assert told > 0.2
    asked = verdict(data, done)
    assert open_ones(asked) == ["inference of sensitive values"]
    assert next(c.value for c in asked if not c.met) >= told
    assert verdict(*diagnoses(of_cell=False)).releasable


def test_a_clinic_tells_the_region_of_a_municipality_in_classes_of_size():
    """Six times as many are found by who reads the region of the clinics as by the keys."""
    draw = rng(3)
    town, names = draw.integers(0, 60, 3000), draw.permutation([f"town {i:02}" for i in range(60)])
    clinic = draw.permutation(18)[town // 10 * 3 + draw.integers(0, 3, 3000)]
    people = {"town": names[town], "region": town // 10, "sex": draw.choice(["f", "m"], 3000)}
    frame = pl.DataFrame({**people, "clinic": clinic, "ill": draw.integers(0, 3, 3000)})
    data = sdc.read(frame, keys=["town", "region", "sex"], sensitive=["clinic", "ill"])
    large = {"large": [str(names[i]) for i in range(60) if i % 10 < 4]}
    steps = [
        {"group": {"variables": "town", "map": large, "rest": "small"}},
        {"drop": {"variables": "region"}},
    ]
    done = sdc.Scenario("classes of size", [*steps, "shuffle_order"]).protect(data, seed=1)
    known = pl.DataFrame({"size": town % 10 < 4, "region": town // 10, "sex": people["sex"]})
    found = known.n_unique() / 3000
    assert found == 6 * done.frame.select("town", "sex").n_unique() / 3000
    asked = verdict(data, done, max_risk=0.005)
    assert open_ones(asked) == ["columns that follow from hidden keys"]
    assert verdict(data, done, max_risk=0.01).releasable
