"""Design variances: strata, clusters, finite populations."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_estimates as naive
import sdckit as sdc
from sdckit.estimate.design import Design
from sdckit.estimate.sampling import SamplingOptions, design_of

records = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 4), st.sampled_from([0.0, 1.0, -2.0, 5.0])),
    min_size=1,
    max_size=30,
)


@given(records)
@settings(max_examples=60, deadline=None)
def test_variance_is_the_sum_over_strata(rows):
    h, c, u = zip(*rows, strict=True)
    data = sdc.read(pl.DataFrame({"h": h, "c": c, "w": [1.0] * len(h)}), strata="h", cluster="c", weight="w")
    design, _ = design_of(data)
    expected = naive.design_variance(u, h, c)
    assert design.variance(np.array(u)) == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_simple_random_sample_is_s_squared_over_n():
    x = np.array([1.0, 4.0, 7.0, 8.0])
    scores = (x - x.mean()) / 4
    assert Design.simple(np.ones(4)).variance(scores) == pytest.approx(x.var(ddof=1) / 4)


def test_finite_population_by_fraction_and_by_number():
    frame = pl.DataFrame(
        {"h": [1, 1, 2, 2], "f": [0.5, 0.5, 0.1, 0.1], "N": [4, 4, 20, 20], "x": [1.0, 3, 2, 9]}
    )
    data = sdc.read(frame, strata="h", numeric="x")
    by_share, by_number = (design_of(data, SamplingOptions(fpc=(c,)))[0] for c in ("f", "N"))
    assert by_share.fraction.tolist() == by_number.fraction.tolist() == [0.5, 0.1]
    u = np.array([1.0, 3, 2, 9])
    assert by_share.variance(u) == pytest.approx(
        naive.design_variance(u, [1, 1, 2, 2], range(4), {1: 0.5, 2: 0.1})
    )
    wrong = data.with_frame(frame.with_columns(f=pl.Series([0.5, 0.4, 0.1, 0.1])))
    with pytest.raises(sdc.SdcError, match="same throughout a stratum"):
        design_of(wrong, SamplingOptions(fpc=("f",)))
    few = data.with_frame(frame.with_columns(N=pl.lit(1.5)))
    with pytest.raises(sdc.SdcError, match="fewer sampling units"):
        design_of(few, SamplingOptions(fpc=("N",)))
    none = data.with_frame(frame.with_columns(f=pl.lit(0.0)))
    with pytest.raises(sdc.SdcError, match="positive numbers"):
        design_of(none, SamplingOptions(fpc=("f",)))


def test_a_lonely_unit_is_said_and_missing_design_values_are_kept():
    frame = pl.DataFrame({"h": ["a", "a", "b", None], "c": [1, None, 1, None], "x": [1.0, 2, 3, 4]})
    design, notes = design_of(sdc.read(frame, strata="h", cluster="c", numeric="x"))
    assert "2 strata have one sampling unit" in notes[0]
    assert len(design.stratum_of_cluster) == 4
    assert design.clusters.sum() == 4
    assert design.degrees_of_freedom == 1


def test_the_same_cluster_number_in_two_strata_is_two_clusters():
    frame = pl.DataFrame({"h": ["a", "a", "b", "b"], "c": [1, 2, 1, 2]})
    design, _ = design_of(sdc.read(frame, strata="h", cluster="c"))
    assert len(set(design.cluster.tolist())) == 4


def test_households_are_no_clusters_unless_told_and_that_is_said():
    frame = pl.DataFrame({"home": [1, 1, 2, 2], "x": [1.0, 2.0, 3.0, 4.0]})
    alone, notes = design_of(sdc.read(frame, household="home", numeric="x"))
    assert "give home the role cluster" in notes[0]
    together, said = design_of(sdc.read(frame, household="home", cluster="home", numeric="x"))
    assert (len(alone.stratum_of_cluster), len(together.stratum_of_cluster), said) == (4, 2, ())
