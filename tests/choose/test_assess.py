"""assess: what applies is measured, what does not is named with its reason."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.choose.criteria import Release
from sdckit.data.effects import Effects
from sdckit.engine import duckdb_session
from sdckit.errors import EngineError, OptionError, UnknownMethodError
from sdckit.methods import registry
from sdckit.methods.registry import find, protection, utility
from sdckit.methods.spec import Compares


def test_everything_that_applies_is_measured(survey):
    protected = sdc.protect.microaggregate(survey, k=3)
    done = sdc.assess(survey, protected, max_risk=1.0)
    assert {"frequencies", "k_anonymity", "individual_risk"} <= set(done.before)
    assert set(done.before) <= set(done.after)
    assert {"missing_values", "contingency_tables", "il1s"} <= set(done.utility)
    assert done.verdict.status is not Release.RELEASABLE  # ids and order are those of the original
    assert all(c.met for c in done.verdict if c.name.startswith("re-identification"))
    assert done.seconds.keys() >= done.utility.keys()
    assert "il1s" in repr(done)


def test_who_changes_a_result_does_not_change_the_next(survey):
    names = ["individual_risk"]
    first = sdc.assess(survey, survey, measures=names).before["individual_risk"]
    columns, figures = first.parts.columns, dict(first.figures)
    first.figures["highest"] = 99
    first.parts.insert_column(0, pl.Series("mine", [0] * first.parts.height))
    first.tables.clear()
    again = sdc.assess(survey, survey, measures=names).before["individual_risk"]
    assert again.figures == figures
    assert again.parts.columns == columns
    assert "keys" in again.tables


def test_a_missing_role_is_a_reason(survey):
    less = survey.with_roles(numeric=())
    done = sdc.assess(less, less)
    assert {o.measure: o.reason for o in done.omitted}["il1s"] == "no column has the role numeric"


def test_record_measures_are_left_out_for_other_records(survey):
    sample = survey.with_frame(survey.frame.head(100))
    done = sdc.assess(survey, sample)
    reasons = {o.measure: o.reason for o in done.omitted}
    assert "different lengths (600 and 100 records)" in reasons["il1s"]
    assert "contingency_tables" in done.utility
    unlinked = {o.measure: o.reason for o in sdc.assess(survey, survey, linked=False).omitted}
    assert "the records are not the same people" in unlinked["il1s"]


def test_record_measures_are_left_out_after_a_protection_that_mixes_records(survey):
    @protection("Mix")
    def mix(data: sdc.Microdata) -> sdc.Microdata:
        """Mix the records."""
        return data.with_frame(data.frame.reverse(), effects=Effects(reorders_rows=True))

    try:
        done = sdc.assess(survey, mix(survey))
        reason = {o.measure: o.reason for o in done.omitted}["il1s"]
        assert "put the records into another order, and nothing tells which is which" in reason
    finally:
        registry.unregister("mix")


def test_options_go_to_the_measure_they_name(survey):
    done = sdc.assess(survey, survey, measures=["k_anonymity"], k_anonymity=5)
    assert done.after["k_anonymity"].options["k"] == 5
    done = sdc.assess(survey, survey, measures=["k_anonymity"], k_anonymity={"k": 4, "missing": "category"})
    assert done.after["k_anonymity"].options["missing"] == "category"


def test_a_value_alone_is_the_main_option_whatever_the_order_of_the_signature(survey):
    keys = ["sex", "region"]
    frequencies = sdc.assess(survey, survey, measures=["frequencies"], frequencies=keys).after["frequencies"]
    assert frequencies.options["keys"] == keys
    # the first option of individual_risk is not its threshold
    risk = sdc.assess(survey, survey, measures=["individual_risk"], individual_risk=0.5)
    assert next(iter(find("individual_risk").options.model_fields)) != "threshold"
    assert risk.after["individual_risk"].options["threshold"] == 0.5


def test_a_measure_without_a_main_option_wants_its_options_named(survey):
    assert not find("reidentification_risk").main
    with pytest.raises(OptionError, match=r"reidentification_risk has no main option.*Given: reid.*=0.8"):
        sdc.assess(survey, survey, reidentification_risk=0.8)
    with pytest.raises(
        OptionError, match=r"Allowed: reidentification_risk=\{option: value\} with intruders, "
    ):
        sdc.compare(survey, {"none": []}, reidentification_risk=[1])


def test_several_protected_files_give_means(survey):
    one, two = (sdc.protect.microaggregate(survey, k=k) for k in (2, 10))
    done = sdc.assess(survey, [one, two], measures=["il1s"])
    single = [sdc.utility.il1s(survey, p).value for p in (one, two)]
    assert done.utility["il1s"].value == pytest.approx(sum(single) / 2)
    assert "Mean over 2 files" in done.utility["il1s"].notes[-1]


def test_mistakes_are_named(survey):
    with pytest.raises(UnknownMethodError, match=r"no measure 'il1'|no measure 'ils'"):
        sdc.assess(survey, survey, measures=["ils"])
    with pytest.raises(OptionError, match=r"assess does not know 'k_anonimity'.*Did you mean 'k_anonymity'"):
        sdc.assess(survey, survey, k_anonimity=3)
    with pytest.raises(OptionError, match=r"Option 'k' of k_anonymity"):
        sdc.assess(survey, survey, k_anonymity=1)
    with pytest.raises(OptionError, match=r"max_risk is a share of persons. Given: 2. Allowed: 0 to 1"):
        sdc.assess(survey, survey, max_risk=2)
    with pytest.raises(OptionError, match=r"at least one protected file"):
        sdc.assess(survey, [])


def test_progress(survey):
    seen = []
    sdc.assess(survey, survey, measures=["il1s", "frequencies"], progress=lambda *a: seen.append(a))
    assert [s[1:] for s in seen] == [(0, 2), (1, 2)]


def test_data_frames_are_named_as_the_mistake(survey):
    for files in ((survey.frame, survey), (survey, survey.frame)):
        with pytest.raises(OptionError, match=r"assess takes Microdata. Given: DataFrame"):
            sdc.assess(*files)


def test_risks_of_synthetic_files_are_for_synthetic_files(survey):
    protected = sdc.protect.microaggregate(survey, k=3)
    reasons = {o.measure: o.reason for o in sdc.assess(survey, protected).omitted}
    assert "is about synthetic files" in reasons["closest_record"]
    assert "closest_record" in sdc.assess(survey, protected, linked=False).after
    assert "closest_record" in sdc.assess(survey, protected, measures=["closest_record"]).after


def test_the_risk_of_a_file_is_measured_once(survey):
    data = survey.with_roles()
    for _ in range(2):
        sdc.assess(data, data, measures=["k_anonymity"], k_anonymity=5)
    assert sum(asked[0] == "result" for asked in data.cache) == 1
    other = sdc.assess(data, data, measures=["k_anonymity"], k_anonymity=2)
    assert sum(asked[0] == "result" for asked in data.cache) == 2
    assert other.before["k_anonymity"].options["k"] == 2
    table = sdc.assess(data, data, measures=["k_map"], k_map={"population": data.frame})
    assert table.before["k_map"].value == table.after["k_map"].value


def test_one_measure_may_be_named_without_a_list(survey):
    assert list(sdc.assess(survey, survey, measures="il1s").utility) == ["il1s"]
    with pytest.raises(UnknownMethodError, match=r"no measure 'ils'"):
        sdc.assess(survey, survey, measures="ils")


@pytest.mark.parametrize("ceiling", ["0.1", True, float("nan"), [0.1]])
def test_an_accepted_risk_is_a_number(survey, ceiling):
    with pytest.raises(OptionError, match=r"max_risk must be a number. Given: "):
        sdc.assess(survey, survey, max_risk=ceiling)


def test_after_swapping_records_keep_their_place_and_a_note_says_what_moved(survey):
    swapped = sdc.protect.rank_swap(survey, variables=["income"], rank_distance=0.1, rng=1)
    done = sdc.assess(survey, swapped, measures=["il1s", "missing_values", "record_linkage", "entropy_loss"])
    assert done.utility["il1s"].value > 0
    assert done.after["record_linkage"].value < 1
    assert "rank_swap moved values of income from record to record" in done.utility["il1s"].notes[-1]
    assert not done.utility["missing_values"].notes  # says nothing of how far
    assert not done.utility["entropy_loss"].notes  # no key was swapped
    assert done.utility["entropy_loss"].value == 0


def test_a_swap_that_both_files_share_moved_nothing_between_them(survey):
    swapped = sdc.protect.rank_swap(survey, variables=["income"], rng=1)
    noisy = sdc.protect.add_noise(swapped, variables=["income"], rng=2)
    for protected in (swapped, noisy):
        assert not sdc.assess(swapped, protected, measures=["il1s"]).utility["il1s"].notes
    assert "rank_swap moved" in sdc.assess(survey, noisy, measures=["il1s"]).utility["il1s"].notes[-1]


def test_a_plug_in_that_shuffles_inside_is_compared_record_by_record(survey):
    @protection("Noise and another order")
    def noise_and_order(data: sdc.Microdata, *, rng: np.random.Generator) -> sdc.Microdata:
        """Calls two protections of ours; the last one reorders the records."""
        return sdc.protect.shuffle_order(sdc.protect.add_noise(data, variables=["income"], rng=rng), rng=rng)

    try:
        unnamed = survey.with_roles(id=None)
        noisy = sdc.protect.add_noise(unnamed, variables=["income"], rng=3)
        hidden = noise_and_order(unnamed, rng=3)
        assert [entry.method for entry in hidden.log] == ["noise_and_order"]
        assert hidden.log[0].effects.reorders_rows
        assert not hidden.frame["income"].equals(noisy.frame["income"])
        names = ["il1s", "record_linkage"]
        done, plain = (sdc.assess(unnamed, data, measures=names) for data in (hidden, noisy))
        assert done.utility["il1s"].value == pytest.approx(plain.utility["il1s"].value, rel=1e-12)
        assert done.after["record_linkage"].value == pytest.approx(plain.after["record_linkage"].value)
    finally:
        registry.unregister("noise_and_order")


def test_columns_of_the_print_do_not_run_together(survey):
    done = sdc.assess(survey, survey, measures="frequencies")
    tiny = replace(done.after["frequencies"], value=3.71528e-305)
    shown = repr(replace(done, before={"frequencies": tiny}, after={"frequencies": tiny}))
    assert "3.71528e-305  3.71528e-305" in shown


def test_names_of_measures_come_in_any_container(survey):
    names = ("frequencies", "k_anonymity")
    done = sdc.assess(survey, survey, measures=(name for name in names))
    assert set(done.after) == {*names}
    for wrong in (5, ["frequencies", 5]):
        with pytest.raises(OptionError, match="measures names measures"):
            sdc.assess(survey, survey, measures=wrong)


def test_an_own_measure_that_fails_is_left_out_with_its_reason(survey):
    try:

        @utility(
            title="Broken",
            bounds=(0, 1),
            unit="share",
            compares=Compares.DISTRIBUTIONS,
            interpretation="Never.",
        )
        def broken_here(original: sdc.Microdata, protected: sdc.Microdata) -> sdc.Result:
            """Fails."""
            raise ZeroDivisionError("nothing to share")

        done = sdc.assess(survey, survey, measures=["frequencies", "broken_here"])
        assert "frequencies" in done.after
        assert [(o.measure, o.reason) for o in done.omitted] == [
            ("broken_here", "failed with ZeroDivisionError: nothing to share")
        ]
        with pytest.raises(OptionError, match="broken_here: failed with ZeroDivisionError"):
            sdc.compare(survey, {"none": []}, utility="broken_here")
    finally:
        registry.unregister("broken_here")


def test_intruders_stay_where_a_measure_has_further_options():
    """Options of a measure are added to the intruders, who would else be the usual ones without a word."""
    data = sdc.demo.survey(n=300, seed=1).with_roles(keys=["sex", "region"], numeric=["income"])
    protected = sdc.protect.recode(data, variable="age", width=10)
    only = sdc.Intruder("colleague")
    told = sdc.assess(
        data,
        protected,
        measures="reidentification_risk",
        intruders=only,
        reidentification_risk={"targets": 2000},
    )
    assert told.after["reidentification_risk"].tables["intruders"]["intruder"].to_list() == ["colleague"]
    found = sdc.compare(
        data, {"a": []}, utility="il1s", intruders=only, reidentification_risk={"targets": 2000}
    )
    assert found.original.risk == pytest.approx(told.after["reidentification_risk"].value)


def test_files_on_different_engines_are_refused_before_any_work():
    data = sdc.demo.survey(n=60, seed=1)
    outside = sdc.read(
        duckdb_session.connection().from_arrow(data.frame.select("person_id", "sex").to_arrow()), keys="sex"
    )
    for files in ((data, outside), (outside, data)):
        with pytest.raises(EngineError, match=r"same engine.*collect"):
            sdc.assess(*files)
