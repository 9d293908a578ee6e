"""Files with which a hostile expert once got a false "can be released": each must stay refused."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit import Intruder
from sdckit.methods.registry import protection, specs, unregister
from sdckit.methods.spec import Kind

JUDGES = [spec.name for spec in specs(Kind.RISK) if spec.judges]
N = 1500


def rng(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def persons(n: int = N) -> pl.DataFrame:
    draw = rng()
    return pl.DataFrame(
        {
            "region": draw.integers(1, 9, n),
            "sex": draw.choice(["f", "m"], n),
            "age": draw.integers(16, 90, n),
            "occupation": draw.integers(1, 13, n),
        }
    )


def known(frame: pl.DataFrame | None = None, **roles) -> sdc.Microdata:
    frame = persons() if frame is None else frame
    return sdc.read(frame, **{"keys": ["region", "sex", "age", "occupation"], **roles})


def coarse(n: int = N, **columns) -> pl.DataFrame:
    return persons(n).select("sex").with_columns(**columns)


def verdict(original, protected, max_risk=0.05, **options):
    return sdc.assess(original, protected, measures=JUDGES, max_risk=max_risk, **options).verdict


def refused(original, protected, **options) -> bool:
    return not verdict(original, protected, **options).releasable


def test_noise_on_a_key_is_read_as_a_number():
    data = known(persons().with_columns(pl.col("age").cast(pl.Float64)))
    assert refused(data, sdc.protect.add_noise(data, variables=["age"], sd=0.01, rng=1))


@pytest.mark.parametrize(
    "change",
    [
        pl.col("pay") * 1.07,
        pl.col("pay").round(0),
        pl.when(pl.int_range(N) % 2 == 0).then("pay").otherwise(900),
    ],
)
def test_a_number_known_exactly(change):
    data = sdc.read(coarse(pay=rng().uniform(900, 4000, N)), keys="sex", numeric="pay")
    assert refused(data, data.with_frame(data.frame.with_columns(pay=change)))


def test_rows_sorted_by_hand_after_the_log():
    data = known()
    shuffled = sdc.protect.shuffle_order(data, rng=1)
    assert refused(data, shuffled.with_frame(shuffled.frame.sort("occupation", "age")))
    assert refused(shuffled, sdc.protect.round_values(data, variables=["age"], base=1))


def test_rows_moved_within_groups():
    data = known()
    parts = [
        part[[*range(40, part.height), *range(40)]]
        for part in data.frame.partition_by("sex", maintain_order=True)
    ]
    original = known(pl.concat(data.frame.partition_by("sex", maintain_order=True)))
    assert refused(original, known(pl.concat(parts)))


def test_a_list_of_files_of_the_same_people():
    data = known()
    files = [sdc.protect.pram(data, variables=["region"], stay=0.9, rng=i) for i in (1, 2)]
    assert refused(data, files)


def test_records_moved_just_beyond_close():
    x = rng().normal(size=(600, 4))
    near = np.sort(np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1)), axis=1)[:, 1]
    step = rng(2).normal(size=x.shape)
    step *= 1.4 * np.quantile(near, 0.05) / np.sqrt((step**2).sum(1))[:, None]
    files = [
        sdc.read(pl.DataFrame(x + s, schema=list("abce"))[rng(3).permutation(600)], numeric=list("abce"))
        for s in (step, -step)
    ]
    assert refused(sdc.read(pl.DataFrame(x, schema=list("abce")), numeric=list("abce")), files)


def test_a_column_called_keys():
    data = known(persons().with_columns(keys=pl.lit("x")), sensitive=["keys"])
    assert refused(data, data)


@pytest.mark.parametrize("order", ["reversed", "by sex"])
def test_an_order_that_still_follows_the_old_one(order):
    frame = coarse(nr=pl.int_range(1, N + 1, eager=True))
    data = sdc.read(frame, keys="sex", id="nr")
    renamed = sdc.protect.new_ids(data, rng=1)

    @protection("In another order")
    def turned(data: sdc.Microdata) -> sdc.Microdata:
        """Put the rows in another order, and say so."""
        rows = (
            np.arange(N)[::-1]
            if order == "reversed"
            else np.argsort(data.frame["sex"].to_numpy(), kind="stable")
        )
        effects = sdc.registry.Effects(reorders_rows=True, source_rows=rows)
        return data.with_frame(data.frame[rows], effects=effects)

    try:
        assert refused(data, turned(renamed))
    finally:
        unregister("turned")
    assert verdict(data, sdc.protect.shuffle_order(renamed, rng=2)).releasable


@pytest.mark.parametrize(
    "ids", [pl.col("nr").cast(pl.Float64), pl.col("nr") + 50_000, pl.format("R{}", "nr")]
)
def test_ids_in_another_dress(ids):
    data = sdc.read(coarse(nr=pl.int_range(1, N + 1, eager=True)), keys="sex", id="nr")
    hidden = sdc.protect.shuffle_order(data, rng=1)
    assert refused(data, hidden.with_frame(hidden.frame.with_columns(nr=ids)))


def test_a_role_in_the_protected_file_excuses_nothing():
    data = sdc.read(coarse(born=rng().permutation(N)), keys="sex")
    assert refused(data, data.with_roles(id="born"))


def test_a_sample_does_not_dilute_what_is_found_in_it():
    pairs = pl.DataFrame({"cell": np.arange(N) // 2, "rest": [1] * N})
    data = sdc.read(pairs, keys="cell")
    done = sdc.protect.sample_records(data, share=0.04, by=[], rng=1)
    value = sdc.risk.reidentification_risk(data, done, intruders=[Intruder("n")]).value
    assert value > 0.4


def test_inference_through_numbers_and_through_households():
    pay = rng().uniform(1000, 5000, N)
    ill = np.where((pay // 500) % 2 == 0, "yes", "no")
    data = sdc.read(coarse(pay=pay, ill=ill), keys="sex", numeric="pay", sensitive="ill")
    done = sdc.protect.microaggregate(data, variables="pay", k=60)
    assert sdc.risk.attribute_inference(data, done).value > 0.2
    home = np.repeat(np.arange(N // 3), 3)
    kind = np.repeat(rng().integers(0, 2, N // 3), 3)
    member = np.where(kind == 1, np.tile(["f", "f", "m"], N // 3), np.tile(["f", "m", "m"], N // 3))
    homes = pl.DataFrame({"home": home, "sex": member, "ill": np.where(kind == 1, "yes", "no")})
    families = sdc.read(homes, keys="sex", household="home", sensitive="ill")
    assert sdc.risk.attribute_inference(families, families).value > 0.9


def test_a_guess_between_two_numbers():
    pay = np.where(rng().random(N) < 0.5, 910.0, 1100.0) + rng(2).random(N)
    group = rng(3).integers(0, 15, N)
    data = sdc.read(pl.DataFrame({"group": group, "pay": pay * (1 + group)}), keys="group", sensitive="pay")
    assert sdc.risk.attribute_inference(data, data).value > 0.5


def test_weights_that_join_households():
    weight = np.repeat(rng().uniform(40, 60, N // 3), 3)
    data = sdc.read(coarse(w=weight), keys="sex", weight="w")
    assert refused(data, data)
    rounded = sdc.protect.round_values(data, variables=["w"], base=5)
    assert verdict(data, sdc.protect.shuffle_order(rounded, rng=1)).releasable


@pytest.mark.parametrize(
    "options",
    [
        {"attribute_inference": {"within": 0.0001}},
        {"attribute_inference": {"sensitive": ["occupation"]}},
        {"reidentification_risk": {"targets": 5}},
        {"closest_record": {"variables": ["sex"]}},
    ],
)
def test_options_that_see_less(options):
    data = sdc.read(
        coarse(answer=rng().choice(["x", "y", "z"], N), occupation=rng(2).integers(1, 4, N)),
        keys="sex",
        sensitive=["answer", "occupation"],
    )
    assert verdict(data, data).releasable
    assert refused(data, data, **options)


def test_households_and_all_keys_need_an_intruder():
    homes = sdc.read(coarse(home=np.repeat(np.arange(N // 3), 3)), keys="sex", household="home")
    assert refused(homes, homes, intruders=[Intruder("neighbour")])
    data = known()
    split = [
        Intruder("one", knows=["region", "sex"]),
        Intruder("two", knows=["age"]),
        Intruder("three", knows=["occupation"]),
    ]
    assert refused(data, data, max_risk=0.2, intruders=split)
