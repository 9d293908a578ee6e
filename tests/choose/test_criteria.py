"""The verdict: every criterion met, not met or not judged, and what is said of it."""

import json

import duckdb
import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit import Intruder
from sdckit.choose.criteria import Accepted, Release, Status
from sdckit.choose.plan_text import parse_text
from sdckit.errors import OptionError
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind

JUDGES = [spec.name for spec in specs(Kind.RISK) if spec.judges]
N = 1200


def frame(seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "area": rng.choice(["north", "south"], N),
            "sex": rng.choice(["f", "m"], N),
            "answer": rng.choice(["yes", "no", "perhaps"], N),
        }
    )


def people(**columns) -> sdc.Microdata:
    return sdc.read(frame().with_columns(**columns), keys=["area", "sex"], sensitive=["answer"])


def verdict(original, protected, max_risk=0.01, **options):
    return sdc.assess(original, protected, measures=JUDGES, max_risk=max_risk, **options).verdict


def criterion(found, part):
    (one,) = [c for c in found if part in c.name]
    return one


def test_large_cells_are_releasable():
    data = people()
    found = verdict(data, data)
    assert found.releasable
    assert found.status is Release.RELEASABLE
    assert found.exit_code == 0
    assert "can be released" in found.headline
    json.dumps(found.as_dict())


def test_without_an_accepted_risk_nothing_is_cleared():
    data = people()
    found = verdict(data, data, max_risk=None)
    assert found.status is Release.OPEN
    assert found.exit_code == 4
    assert "not judged" in found.headline
    assert criterion(found, "re-identification by").mends == "Say what risk is accepted."


def test_a_measure_that_was_not_taken_is_not_judged():
    data = people()
    found = sdc.assess(data, data, measures=["individual_risk"], max_risk=0.5).verdict
    assert {c.status for c in found} >= {Status.NOT_JUDGED}
    assert found.status is Release.OPEN


def test_direct_identifiers_left_or_brought_back():
    named = people(name=pl.Series([f"Person {i}" for i in range(N)]))
    kept = named.with_roles(direct=["name"])
    assert criterion(verdict(kept, kept), "direct").status is Status.NOT_MET
    dropped = sdc.read(named.frame, keys=["area", "sex"], sensitive=["answer"], direct=["name"])
    back = dropped.with_frame(named.frame)
    assert criterion(verdict(dropped, back), "direct").status is Status.NOT_MET


def test_claims_are_open_until_they_are_accepted():
    rare = people().frame.with_columns(
        area=pl.when(pl.int_range(pl.len()) < 2).then(pl.lit("isle")).otherwise("area")
    )
    rare = rare.with_columns(sex=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("f")).otherwise("sex"))
    rare = rare.with_columns(sex=pl.when(pl.int_range(pl.len()) == 1).then(pl.lit("m")).otherwise("sex"))
    data = sdc.read(rare.drop("answer"), keys=["area", "sex"])
    found = verdict(data, data, max_risk=0.05)
    claims = criterion(found, "claims of")
    assert claims.status is Status.NOT_JUDGED
    assert claims.value == 2
    assert found.status is Release.OPEN
    assert "right for 2" in found.headline
    assert "accept 2 right claims" in claims.mends
    written = parse_text(claims.in_plan)  # what a plan says is what is accepted
    assert written == {"accept": {"claims": 2}}
    assert verdict(data, data, max_risk=0.05, **written).releasable


def test_many_claims_are_not_offered_to_be_accepted():
    data = sdc.read(pl.DataFrame({"town": [f"T{i}" for i in range(60)] + ["T0"]}), keys="town")
    claims = criterion(verdict(data, data, max_risk=0.05), "claims of")
    assert claims.value >= 59
    assert claims.mends == "Protect more strongly."
    assert not claims.in_plan
    assert {place.name for place in claims.places} == {"suppress", "recode", "group"}


def test_what_accepts_columns_can_be_written_into_a_plan_whatever_they_are_called():
    answer = frame()["answer"]
    odd = {"no": answer, "a, b: c": answer, "N° é": answer}
    data = sdc.read(frame().drop("answer").with_columns(**odd), keys=["area", "sex"])
    asked = criterion(verdict(data, data), "no risk looks at")
    written = parse_text(asked.in_plan)
    assert written == {"accept": {"columns": list(odd)}}
    assert criterion(verdict(data, data, **written), "no risk looks at").met


@pytest.mark.parametrize("option", [{"sure": 1.0}, {"sure": 0.95}])
def test_options_that_look_away_do_not_clear_a_file(option):
    data = people()
    for measure in ("reidentification_risk", "attribute_inference"):
        assert not verdict(data, data, **{measure: option}).releasable
    assert not verdict(
        data, sdc.protect.drop(data, variables="sex"), revealing_columns={"gain": 0.99}
    ).releasable


def test_an_intruder_who_knows_less_than_the_keys_does_not_clear_them():
    data = people()
    found = verdict(data, data, intruders=[Intruder("blind", knows=["sex"])])
    assert criterion(found, "no risk looks at").status is Status.NOT_JUDGED
    assert "area" in criterion(found, "no risk looks at").why


def test_released_weights_cannot_lower_the_risk():
    rng = np.random.default_rng(2)
    data = sdc.read(
        frame().with_columns(w=rng.uniform(20, 60, N)), keys=["area", "sex", "answer"], weight="w"
    )
    inflated = data.with_frame(data.frame.with_columns(pl.col("w") * 1000))
    one, two = (sdc.risk.reidentification_risk(data, x).value for x in (data, inflated))
    assert one == pytest.approx(two)


@pytest.mark.parametrize(
    ("weights", "status"),
    [
        (np.full(N, 40.0) + np.arange(N) % 7, Status.MET),
        (np.full(N, 0.5), Status.NOT_JUDGED),
        (np.full(N, 1e8), Status.NOT_JUDGED),
        (100.0 * (np.arange(N) % 7 + 20), Status.NOT_JUDGED),
    ],
)
def test_weights_that_cannot_be(weights, status):
    data = sdc.read(frame().with_columns(w=pl.Series(weights)), keys=["area", "sex"], weight="w")
    assert criterion(verdict(data, data), "weights").status is status


def test_weights_beside_a_population():
    data = sdc.read(frame().with_columns(w=pl.Series(np.full(N, 40.0))), keys=["area", "sex"], weight="w")
    right, wrong = (verdict(data, data, accept={"population": p}) for p in (48_000, 480))
    assert criterion(right, "weights").status is Status.MET
    assert criterion(wrong, "weights").status is Status.NOT_MET
    alone = verdict(data, data, intruders=[Intruder("journalist", in_file=False)])
    assert criterion(alone, "weights").status is Status.NOT_JUDGED


def test_columns_without_a_role_and_those_that_name_records():
    data = people(colour=pl.Series(["red", "blue"] * (N // 2)), code=pl.Series(range(N)).shuffle(seed=1))
    looked = criterion(verdict(data, data), "no risk looks at")
    assert looked.status is Status.NOT_MET
    assert "code nearly names" in looked.why
    less = sdc.protect.drop(data, variables="code")
    assert criterion(verdict(data, less), "no risk looks at").status is Status.NOT_JUDGED
    assert criterion(verdict(data, less, accept={"columns": ["colour"]}), "no risk looks at").met


def test_ids_of_the_original_and_the_order_of_the_rows():
    numbered = sdc.read(
        frame().with_columns(nr=pl.int_range(1, N + 1)), keys=["area", "sex"], sensitive=["answer"], id="nr"
    )
    found = verdict(numbered, numbered)
    assert criterion(found, "ids").status is Status.NOT_MET
    renamed = sdc.protect.new_ids(numbered, rng=1)
    found = verdict(numbered, renamed)
    assert criterion(found, "ids").met
    assert "nr" in criterion(found, "order").why
    assert verdict(numbered, sdc.protect.shuffle_order(renamed, rng=2)).releasable
    assert verdict(numbered, renamed, accept={"order": True}).releasable


def test_numbers_left_unchanged_known_or_secret():
    rng = np.random.default_rng(5)
    money = pl.Series(rng.lognormal(8, 1, N))
    known = sdc.read(frame().with_columns(money=money), keys=["area", "sex"], numeric=["money"])
    assert criterion(verdict(known, known, max_risk=1.0), "numbers left").status is Status.NOT_MET
    secret = known.with_roles(sensitive=["money"])
    assert criterion(verdict(secret, secret), "sensitive numbers").status is Status.NOT_JUDGED
    assert not [
        c for c in verdict(secret, secret, accept={"numbers": ["money"]}) if "numbers" in c.name and not c.met
    ]


def test_rows_that_may_not_belong_together_are_not_judged():
    rng = np.random.default_rng(8)
    data = people()
    other = frame(seed=2).with_columns(pl.Series("area", rng.permutation(frame()["area"].to_numpy())))
    elsewhere = sdc.read(other, keys=["area", "sex"], sensitive=["answer"])
    assert criterion(verdict(data, elsewhere), "belong together").status is Status.NOT_JUDGED


def test_renamed_new_and_lost_columns():
    data = people()
    renamed = sdc.read(data.frame.rename({"area": "zone"}), keys=["zone", "sex"], sensitive=["answer"])
    assert criterion(verdict(data, renamed), "same columns").status is Status.NOT_JUDGED
    lost = sdc.read(data.frame.drop("area"), keys=["sex"], sensitive=["answer"])
    assert criterion(verdict(data, lost), "same columns").status is Status.NOT_JUDGED
    assert criterion(verdict(data, sdc.protect.drop(data, variables="area")), "same columns").met


def test_keys_missing_from_the_start():
    holes = people().frame.with_columns(
        area=pl.when(pl.int_range(pl.len()) % 5 == 0).then(None).otherwise("area")
    )
    data = sdc.read(holes, keys=["area", "sex"], sensitive=["answer"])
    assert criterion(verdict(data, data), "missing from the start").status is Status.NOT_JUDGED
    assert criterion(verdict(data, data, accept={"missing_keys": True}), "missing from the start").met


def test_a_verbatim_copy_is_no_synthetic_file():
    rng = np.random.default_rng(4)
    rich = frame().with_columns(age=rng.integers(0, 90, N), pay=rng.lognormal(8, 1, N))
    roles = {"keys": ["area", "sex", "age"], "numeric": ["pay"], "sensitive": ["answer"]}
    data, copy = (sdc.read(f, **roles) for f in (rich, rich.sample(fraction=1, shuffle=True, seed=1)))
    found = sdc.assess(data, copy, linked=False, max_risk=0.05).verdict
    assert found.status is Release.NOT_RELEASABLE
    assert criterion(found, "copies").status is Status.NOT_MET
    assert criterion(found, "inference").status is Status.NOT_JUDGED


def test_a_holdout_that_is_the_original_proves_nothing():
    data = people(x=pl.Series(np.random.default_rng(1).normal(size=N)))
    result = sdc.risk.attribute_inference(
        data, data.with_frame(data.frame.head(900)), holdout=data, intruders=[Intruder("n")]
    )
    assert np.isnan(result.value)
    assert "must be other people" in result.notes[0]


def test_the_list_is_the_same_out_of_memory():
    data = sdc.read(
        frame().with_columns(nr=pl.int_range(N)), keys=["area", "sex"], sensitive=["answer"], id="nr"
    )
    there = sdc.read(duckdb.from_arrow(data.frame.to_arrow()), **data.roles.as_dict())
    here, far = (sdc.assess(x, x, max_risk=0.01).verdict for x in (data, there))
    assert [c.name for c in here] == [c.name for c in far if c.name != "measures that need memory"]
    assert criterion(far, "re-identification by").value == pytest.approx(
        criterion(here, "re-identification by").value
    )
    assert not far.releasable
    for name in ("inference", "columns that tell", "ids of the original", "order of the rows"):
        assert "in memory" in criterion(far, name).mends, name


def test_what_an_engine_leaves_out_is_never_cleared():
    """All else accepted: without ids, without numbers, the order agreed to."""
    data = sdc.read(
        frame().select("area", "sex").with_columns(nr=pl.int_range(N)), keys=["area", "sex"], id="nr"
    )
    there = sdc.read(duckdb.from_arrow(data.frame.to_arrow()), **data.roles.as_dict())
    done = sdc.protect.drop(there, variables=["nr"])
    accept = {"order": True, "claims": N}
    found = sdc.assess(there, done, max_risk=1.0, accept=accept).verdict
    assert criterion(found, "measures that need memory").status is Status.NOT_JUDGED
    assert found.status is Release.OPEN


def test_a_suppression_outside_memory_is_never_cleared():
    """Also where the file is in memory afterwards: nobody has looked at what other columns tell."""
    data = sdc.read(
        frame().with_columns(nr=pl.int_range(N), sex=pl.Series(["x", *frame()["sex"][1:]])),
        keys=["area", "sex"],
        sensitive=["answer"],
        id="nr",
    )
    there = data.with_frame(duckdb.from_arrow(data.frame.to_arrow()))
    steps = ("shuffle_order", "new_ids")
    far, near = sdc.protect.suppress(there, k=3, seed=1), sdc.protect.suppress(data, k=3, seed=1)
    for name in steps:
        far, near = (getattr(sdc.protect, name)(file, rng=1) for file in (far, near))
    assert "inference_examined" not in near.log[0].figures
    assert far.log[0].figures["inference_examined"] is False
    assert verdict(data, near).releasable
    found = verdict(data, far.collect())
    assert criterion(found, "what blanked values are told by").status is Status.NOT_JUDGED
    assert not found.releasable


@pytest.mark.parametrize(
    "given", [{"claim": 3}, {"claims": -1}, {"claims": "many"}, {"columns": 3}, {"order": "yes"}, "all"]
)
def test_what_cannot_be_accepted_is_refused(given):
    with pytest.raises(OptionError, match="accept"):
        Accepted.of(given)


def test_one_accepted_claim_is_in_the_singular_but_not_where_the_number_is_not_told():
    one = Accepted.of({"claims": 1})
    assert one.in_words() == ["1 right claim"]
    assert one.in_words(lambda n: "<5") == ["<5 right claims"]
